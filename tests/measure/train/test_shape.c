/* Counts of parameters, what is refused, first weights, tokens. */
#include "models.h"

#include <unistd.h>

#include "program/transformer.h"

static const struct jl_model_info gpt_305m = { .id = "gpt-305m",
					       .family = "gpt2",
					       .n_layers = 16,
					       .hidden = 1024,
					       .heads = 16,
					       .kv_heads = 16,
					       .head_dim = 64,
					       .ffn = 4096,
					       .vocab = 50257,
					       .positions = 512,
					       .bias = true,
					       .final_norm = true };

static void counts(void **state)
{
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	(void)state;
	assert_ok(jl_train_shape(&gpt_305m, 1, &shape, &err));
	assert_int_equal(shape.n_params, 304992256);
	assert_int_equal(shape.vocab_pad, 50304);
	assert_int_equal(shape.n_units, 18);
	/* every model of the catalog that is taken has as many parameters as it should */
	const struct jl_catalog *catalog = jl_catalog_embedded();
	size_t n_taken = 0;
	for (size_t i = 0; i < catalog->n_models; i++) {
		const struct jl_model_info *info = &catalog->models[i];
		if (jl_train_shape(info, 3, &shape, &err) != JL_OK) {
			assert_non_null(strstr(err.en, info->id));
			continue;
		}
		n_taken++;
		for (size_t k = 0; k < JL_N_UNIT_KIND; k++)
			assert_int_equal(shape.unit_n[k] % ((size_t)3 * JL_TRAIN_ALIGN), 0);
		struct jl_transformer model; /* the same count as the workload's own */
		jl_transformer_from_catalog(&model, info);
		double wanted = jl_transformer_params(&model).total;
		if (fabs((double)shape.n_params - wanted) > 0.5)
			fail_msg("%s: %zu parameters, not %.0f", info->id, shape.n_params, wanted);
	}
	print_message("%zu of %zu models of the catalog can be trained\n", n_taken, catalog->n_models);
	assert_true(n_taken > 30);
}

static void refused(void **state)
{
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	(void)state;
	struct jl_model_info info = gpt_305m;
	info.moe.n_experts = 8, info.moe.top_k = 2, info.moe.expert_ffn = 64;
	assert_int_equal(jl_train_shape(&info, 1, &shape, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "mixture"));
	assert_non_null(strstr(err.text, "MoE"));
	info = gpt_305m;
	info.family = "bert";
	assert_int_equal(jl_train_shape(&info, 1, &shape, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "encoder"));
}

/* Networks of the catalog that are plain vision transformers, with the counts of torchvision and timm. */
static void images(void **state)
{
	static const struct {
		const char *name;
		size_t n_params, seq;
	} known[] = { { "vit-b-16", 86567656, 197 },
		      { "vit_b_32", 88224232, 50 },
		      { "vit-l/16", 304326632, 197 },
		      { "vit_large_patch14_224", 304203752, 257 },
		      { "vit_h_14", 632045800, 257 },
		      { "vit_small_patch16_224", 22050664, 197 },
		      { "vit_base_patch16_384", 86859496, 577 } };
	static const char *const others[] = { "resnet50", "deit3_large_patch16_224", "beit_base_patch16_224",
					      "vit_large_patch14_dinov2", "vit_small_r26_s32_224" };
	struct jl_err err = { 0 };
	struct jl_arena arena;
	const struct jl_model_info *info;
	struct jl_train_shape shape;
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		assert_ok(jl_train_find(&info, jl_catalog_embedded(), known[i].name, &arena, &err));
		assert_ok(jl_train_shape(info, 2, &shape, &err));
		print_message("%s: %zu\n", known[i].name, shape.n_params);
		assert_int_equal(shape.n_params, known[i].n_params);
		assert_int_equal(shape.patches + 1, known[i].seq);
		assert_int_equal(shape.vocab, 1000);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(jl_train_find(&info, jl_catalog_embedded(), others[i], &arena, &err), JL_E_NOTFOUND);
	assert_ok(jl_train_find(&info, jl_catalog_embedded(), "gpt-305m", &arena, &err));
	assert_string_equal(info->id, "gpt-305m");
	jl_arena_release(&arena);
}

/* Any part of a unit has the same weights as the whole. */
static void weights(void **state)
{
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	(void)state;
	assert_ok(jl_train_shape(&tiny[1], 3, &shape, &err));
	size_t n = shape.unit_n[JL_UNIT_LAYER], third = n / 3;
	float *whole = calloc(n, sizeof *whole), *part = calloc(third, sizeof *part), *other = calloc(n, sizeof *other);
	assert_true(whole && part && other);
	jl_train_init(&shape, 1, 2, 0, n, whole);
	for (size_t i = 0; i < 3; i++) {
		jl_train_init(&shape, 1, 2, i * third, third, part);
		assert_memory_equal(part, whole + i * third, third * sizeof *part);
	}
	jl_train_init(&shape, 1, 3, 0, n, other);
	assert_memory_not_equal(other, whole, n * sizeof *whole);
	const struct jl_tensor_place *qkv = &shape.weights[JL_W_QKV];
	double sum = 0, square = 0, count = (double)(qkv->rows * qkv->cols);
	for (size_t i = 0; i < qkv->rows * qkv->cols; i++) {
		sum += (double)whole[qkv->at + i];
		square += (double)whole[qkv->at + i] * (double)whole[qkv->at + i];
	}
	assert_true(fabs(sum / count) < 1e-3);
	assert_true(fabs(sqrt(square / count) - 0.02) < 1e-3);
	free(whole), free(part), free(other);
}

static const char *file_of(const void *bytes, size_t n, const char *suffix)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/jl-tokens-XXXXXX%s", suffix);
	int fd = mkstemps(path, (int)strlen(suffix));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
	return path;
}

static void token_files(void **state)
{
	struct jl_err err = { 0 };
	struct jl_tokens tokens;
	int32_t in[4], out[4];
	(void)state;
	static const unsigned char good[] = { 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0 };
	const char *path = file_of(good, sizeof good, ".bin");
	assert_ok(jl_tokens_open(&tokens, path, 12, 4, &err));
	jl_tokens_sample(&tokens, 3, in, out); /* two samples in the file: the fourth is the second */
	assert_int_equal(in[0], 6);
	assert_int_equal(out[3], 10);
	jl_tokens_close(&tokens);
	assert_int_equal(jl_tokens_open(&tokens, path, 11, 4, &err), JL_E_DATA); /* 11 is outside */
	assert_non_null(strstr(err.en, "token 10 (byte 20) is 11"));
	assert_int_equal(jl_tokens_open(&tokens, path, 12, 11, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "11 tokens"));
	unlink(path);
	path = file_of(good, 21, ".bin");
	assert_int_equal(jl_tokens_open(&tokens, path, 12, 4, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "byte 20"));
	unlink(path);
	path = file_of(good, 0, ".bin");
	assert_int_equal(jl_tokens_open(&tokens, path, 12, 4, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "empty"));
	unlink(path);
	static const unsigned char wide[] = { 1, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0 };
	path = file_of(wide, sizeof wide, ".u32");
	assert_ok(jl_tokens_open(&tokens, path, 70000, 2, &err));
	jl_tokens_sample(&tokens, 0, in, out);
	assert_int_equal(in[1], 65536);
	jl_tokens_close(&tokens);
	unlink(path);
	assert_int_equal(jl_tokens_open(&tokens, "/nonexistent/tokens", 10, 4, &err), JL_E_IO);
	assert_int_equal(jl_tokens_open(&tokens, "/", 10, 4, &err), JL_E_IO);
}

static void synthetic(void **state)
{
	struct jl_err err = { 0 };
	struct jl_tokens tokens;
	int32_t in[64], out[64];
	size_t follow = 0, n = 0;
	(void)state;
	assert_ok(jl_tokens_open(&tokens, NULL, 50257, 64, &err));
	for (uint64_t s = 0; s < 50; s++) {
		jl_tokens_sample(&tokens, s, in, out);
		for (size_t i = 0; i < 64; i++, n++) {
			assert_true(in[i] >= 0 && in[i] < 50257);
			assert_true(i == 63 || out[i] == in[i + 1]);
			follow += (size_t)(out[i] == (7 * in[i] + 3) % 50257);
		}
	}
	assert_true(fabs((double)follow / (double)n - 0.5) < 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(counts),      cmocka_unit_test(refused),
					    cmocka_unit_test(images),      cmocka_unit_test(weights),
					    cmocka_unit_test(token_files), cmocka_unit_test(synthetic) };
	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
