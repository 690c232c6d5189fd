/* Hugging Face config.json files: keys, parameter counts, limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/modelfile.h"

static enum jl_status parse(struct jl_hfconfig *config, const char *text, struct jl_arena *arena, struct jl_err *err)
{
	*err = (struct jl_err){ 0 };
	return jl_hfconfig_parse(config, text, strlen(text), "config.json", arena, err);
}

/* Keys that matter, as in the models' own files; parameter counts as in their checkpoints. */
static const struct {
	const char *text;
	double params;
} published[] = {
	{ "{\"model_type\":\"gpt2\",\"n_layer\":12,\"n_embd\":768,\"n_head\":12,\"n_positions\":1024,\"n_ctx\":1024,"
	  "\"n_inner\":null,"
	  "\"vocab_size\":50257,\"resid_pdrop\":0.1}",
	  124439808 },
	{ "{\"model_type\":\"gpt_neox\",\"num_hidden_layers\":44,\"hidden_size\":6144,\"num_attention_heads\":64,"
	  "\"intermediate_size\":24576,"
	  "\"vocab_size\":50432,\"max_position_embeddings\":2048,\"tie_word_embeddings\":false}",
	  20554567680 },
	{ "{\"model_type\":\"opt\",\"num_hidden_layers\":24,\"hidden_size\":2048,\"num_attention_heads\":32,\"ffn_"
	  "dim\":8192,"
	  "\"vocab_size\":50272,\"max_position_embeddings\":2048}",
	  1315758080 },
	{ "{\"model_type\":\"llama\",\"num_hidden_layers\":32,\"hidden_size\":4096,\"num_attention_heads\":32,\"num_"
	  "key_value_heads\":8,"
	  "\"intermediate_size\":14336,\"vocab_size\":128256,\"max_position_embeddings\":8192,\"tie_word_embeddings\":"
	  "false,"
	  "\"attention_bias\":false}",
	  8030261248 },
	{ "{\"model_type\":\"mistral\",\"num_hidden_layers\":32,\"hidden_size\":4096,\"num_attention_heads\":32,\"num_"
	  "key_value_heads\":8,"
	  "\"intermediate_size\":14336,\"vocab_size\":32000,\"max_position_embeddings\":32768,\"head_dim\":null}",
	  7241732096 },
	{ "{\"model_type\":\"mixtral\",\"num_hidden_layers\":32,\"hidden_size\":4096,\"num_attention_heads\":32,\"num_"
	  "key_value_heads\":8,"
	  "\"intermediate_size\":14336,\"vocab_size\":32000,\"num_local_experts\":8,\"num_experts_per_tok\":2}",
	  46702792704 },
	{ "{\"model_type\":\"qwen2\",\"num_hidden_layers\":28,\"hidden_size\":3584,\"num_attention_heads\":28,\"num_"
	  "key_value_heads\":4,"
	  "\"intermediate_size\":18944,\"vocab_size\":152064,\"tie_word_embeddings\":false}",
	  7615616512 },
	{ "{\"model_type\":\"qwen3\",\"num_hidden_layers\":36,\"hidden_size\":4096,\"num_attention_heads\":32,\"num_"
	  "key_value_heads\":8,"
	  "\"head_dim\":128,\"intermediate_size\":12288,\"vocab_size\":151936,\"attention_bias\":false}",
	  8190735360 },
	{ "{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":48,\"hidden_size\":2048,\"num_attention_heads\":32,"
	  "\"num_key_value_heads\":4,"
	  "\"head_dim\":128,\"intermediate_size\":6144,\"moe_intermediate_size\":768,\"num_experts\":128,\"num_experts_"
	  "per_tok\":8,"
	  "\"vocab_size\":151936}",
	  30532122624 },
	{ "{\"model_type\":\"gemma\",\"num_hidden_layers\":18,\"hidden_size\":2048,\"num_attention_heads\":8,\"num_key_"
	  "value_heads\":1,"
	  "\"head_dim\":256,\"intermediate_size\":16384,\"vocab_size\":256000}",
	  2506172416 },
	{ "{\"model_type\":\"gemma2\",\"num_hidden_layers\":42,\"hidden_size\":3584,\"num_attention_heads\":16,\"num_"
	  "key_value_heads\":8,"
	  "\"head_dim\":256,\"intermediate_size\":14336,\"vocab_size\":256000}",
	  9241705984 },
	{ "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":26,"
	  "\"hidden_size\":1152,"
	  "\"num_attention_heads\":4,\"num_key_value_heads\":1,\"head_dim\":256,\"intermediate_size\":6912,\"vocab_"
	  "size\":262144}}",
	  999885952 },
	{ "{\"model_type\":\"deepseek_v2\",\"num_hidden_layers\":27,\"hidden_size\":2048,\"num_attention_heads\":16,"
	  "\"num_key_value_heads\":16,"
	  "\"intermediate_size\":10944,\"moe_intermediate_size\":1408,\"n_routed_experts\":64,\"num_experts_per_tok\":"
	  "6,\"n_shared_experts\":2,"
	  "\"first_k_dense_replace\":1,\"kv_lora_rank\":512,\"q_lora_rank\":null,\"qk_rope_head_dim\":64,\"qk_nope_"
	  "head_dim\":128,"
	  "\"v_head_dim\":128,\"vocab_size\":102400}",
	  15706484224 },
	{ "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"hidden_size\":7168,\"num_attention_heads\":128,"
	  "\"intermediate_size\":18432,"
	  "\"moe_intermediate_size\":2048,\"n_routed_experts\":256,\"num_experts_per_tok\":8,\"n_shared_experts\":1,"
	  "\"first_k_dense_replace\":3,"
	  "\"kv_lora_rank\":512,\"q_lora_rank\":1536,\"qk_rope_head_dim\":64,\"qk_nope_head_dim\":128,\"v_head_dim\":"
	  "128,"
	  "\"vocab_size\":129280}",
	  671026404352 },
};

static void test_counts_are_the_published_ones(void **state)
{
	struct jl_arena arena;
	struct jl_hfconfig config;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		if (parse(&config, published[i].text, &arena, &err))
			fail_msg("%s", err.en);
		if (jl_transformer_params(&config.model).total != published[i].params)
			fail_msg("%s: %.0f, not %.0f", config.type, jl_transformer_params(&config.model).total,
				 published[i].params);
	}
	jl_arena_release(&arena);
}

static void test_windows_are_read(void **state)
{
	static const struct {
		const char *text;
		double window, local_frac;
	} files[] = {
		{ "\"sliding_window\":512,\"sliding_window_pattern\":6", 512, 5.0 / 6 },
		{ "\"sliding_window\":4096,\"sliding_window_pattern\":\"LLLG\"", 4096, 0.75 },
		{ "\"sliding_window\":128,\"layer_types\":[\"sliding_attention\",\"full_attention\"]", 128, 0.5 },
		{ "\"sliding_window\":4096", 4096, 1 },
		{ "\"sliding_window\":null", 0, 0 },
		{ "\"sliding_window\":4096,\"use_sliding_window\":false", 0, 0 },
	};
	struct jl_arena arena;
	struct jl_hfconfig config;
	struct jl_err err;
	char text[512];

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		(void)snprintf(text, sizeof(text),
			       "{\"model_type\":\"llama\",\"num_hidden_layers\":12,\"hidden_size\":1024,"
			       "\"num_attention_heads\":8,\"intermediate_size\":4096,\"vocab_size\":1000,%s}",
			       files[i].text);
		assert_int_equal(parse(&config, text, &arena, &err), JL_OK);
		assert_float_equal(config.model.window, files[i].window, 0);
		assert_float_equal(config.model.local_frac, files[i].local_frac, 1e-12);
	}
	jl_arena_release(&arena);
}

static void test_bert_is_an_encoder(void **state)
{
	const char *text =
		"{\"model_type\":\"bert\",\"num_hidden_layers\":24,\"hidden_size\":1024,\"num_attention_heads\":16,"
		"\"intermediate_size\":4096,\"vocab_size\":30522,\"max_position_embeddings\":512,\"type_vocab_size\":2,"
		"\"hidden_dropout_prob\":0.1}";
	struct jl_arena arena;
	struct jl_hfconfig config;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(parse(&config, text, &arena, &err), JL_OK);
	assert_true(!config.model.causal && config.model.head == JL_HEAD_MLM && config.model.dropout &&
		    config.seq == 512);
	/* 335,141,888 and the masked-LM head: a dense layer, a norm, a bias over the vocabulary */
	assert_true(jl_transformer_params(&config.model).total == 335141888 + 1024 * 1024 + 1024 + 2048 + 30522);
	jl_arena_release(&arena);
}

#define SHAPE(layers, hidden, heads, vocab)                                                                            \
	"{\"model_type\":\"llama\",\"num_hidden_layers\":" layers ",\"hidden_size\":" hidden                           \
	",\"num_attention_heads\":" heads ",\"intermediate_size\":11008,\"vocab_size\":" vocab "}"

static void test_hostile_files_get_one_clear_line(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "not JSON" },
		{ "{", "not JSON" },
		{ "[]", "model_type" },
		{ "7", "not JSON" },
		{ "{}", "model_type" },
		{ "{\"model_type\":7}", "model_type" },
		{ "{\"model_type\":\"x\\ny\\u001b[31m\"}", "x?y" },
		{ "{\"model_type\":\"llama\"}", "num_hidden_layers" },
		{ SHAPE("1e18", "4096", "32", "32000"), "num_hidden_layers" },
		{ SHAPE("1000000000000000000", "4096", "32", "32000"), "num_hidden_layers" },
		{ SHAPE("99999999999999999999999999", "4096", "32", "32000"), "not JSON" },
		{ SHAPE("1e999", "4096", "32", "32000"), "not JSON" },
		{ SHAPE("NaN", "4096", "32", "32000"), "not JSON" },
		{ SHAPE("-3", "4096", "32", "32000"), "num_hidden_layers" },
		{ SHAPE("\"32\"", "4096", "32", "32000"), "num_hidden_layers" },
		{ SHAPE("32.5", "4096", "32", "32000"), "layers" },
		{ SHAPE("0", "4096", "32", "32000"), "layers" },
		{ SHAPE("32", "4096", "0", "32000"), "heads" },
		{ SHAPE("32", "4096", "33", "32000"), "head_dim" },
		{ SHAPE("32", "4096", "32", "0"), "vocab" },
		{ "{\"model_type\":\"llama\",\"model_type\":\"llama\"}", "not JSON" },
		{ "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":1,\"hidden_size\":64,\"num_attention_heads\":"
		  "4,\"vocab_size\":10,"
		  "\"kv_lora_rank\":4,\"qk_rope_head_dim\":0,\"qk_nope_head_dim\":1,\"v_head_dim\":1}",
		  "qk_rope_head_dim" },
	};
	struct jl_arena arena;
	struct jl_hfconfig config;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (parse(&config, bad[i].text, &arena, &err) == JL_OK)
			fail_msg("taken: %s", bad[i].text);
		if (!strstr(err.en, bad[i].says) || strchr(err.en, '\n') || strchr(err.text, '\n') || !err.text[0] ||
		    strchr(err.en, 033))
			fail_msg("%s: '%s' / '%s'", bad[i].text, err.en, err.text);
	}
	jl_arena_release(&arena);
}

static void test_deep_nesting_is_refused(void **state)
{
	const size_t depth = 1000000;
	char *text = malloc(depth + 1);
	struct jl_arena arena;
	struct jl_hfconfig config;
	struct jl_err err;

	(void)state;
	assert_non_null(text);
	memset(text, '[', depth);
	text[depth] = '\0';
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_not_equal(parse(&config, text, &arena, &err), JL_OK);
	assert_null(strchr(err.en, '\n'));
	jl_arena_release(&arena);
	free(text);
}

static void test_large_files_are_not_read(void **state)
{
	char path[] = P_tmpdir "/jeoul-config-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct jl_arena arena;
	struct jl_modelfile model;
	struct jl_err err = { 0 };

	(void)state;
	assert_non_null(file);
	assert_int_equal(fseek(file, 500L << 20, SEEK_SET), 0); /* a sparse file */
	fputc('}', file);
	fclose(file);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_modelfile_read(&model, jl_catalog_embedded(), path, &arena, &err), JL_E_LIMIT);
	assert_int_equal(jl_modelfile_read(&model, jl_catalog_embedded(), "/nowhere/config.json", &arena, &err),
			 JL_E_NOTFOUND);
	jl_arena_release(&arena);
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_the_published_ones),    cmocka_unit_test(test_bert_is_an_encoder),
		cmocka_unit_test(test_hostile_files_get_one_clear_line), cmocka_unit_test(test_deep_nesting_is_refused),
		cmocka_unit_test(test_large_files_are_not_read),         cmocka_unit_test(test_windows_are_read),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
