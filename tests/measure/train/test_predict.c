/* What a step should take by given rates, and the rates themselves on the CPU. */
#include "models.h"

#include "catalog/find.h"
#include "../../facts/probe/machines.h"
#include "train/worker.h"

#define NEAR(a, b) assert_true(fabs((a) / (b)-1) < 1e-9)

/* hidden 128, 2 layers, 2 heads of 64, ffn 512, vocabulary 211 in 256 rows */
static struct jl_train_shape shape_of(const struct jl_model_info *model)
{
	struct jl_train_shape shape;
	struct jl_err err = { 0 };
	assert_ok(jl_train_shape(model, 1, &shape, &err));
	return shape;
}

static void arithmetic_is_split(void **state)
{
	(void)state;
	struct jl_train_shape s = shape_of(&tiny[0]);
	double layer = 3 * 128 * 128 + 128 * 128 + 2 * 512 * 128, tokens = 3 * 64;
	double attention = 7.0 * 2 * 3 * 64 * 64 * 128, all = 14.0 * 2 * 3 * 10 * 10 * 128;
	NEAR(jl_train_attention_flop(&s, 3, 64), attention);
	NEAR(jl_train_step_flop(&s, 3, 64), 6 * tokens * (2 * layer + 211 * 128) + attention);
	s = shape_of(&tiny[3]); /* all keys, logits of one token an image, 75 values of a patch in 80 */
	NEAR(jl_train_attention_flop(&s, 3, 10), all);
	NEAR(jl_train_step_flop(&s, 3, 10), 6 * 3 * (10 * 2 * layer + 51 * 128) + 4 * 3 * 9 * 80 * 128 + all);
}

static struct jl_train_result result_of(int n_workers, enum jl_train_mode mode)
{
	return (struct jl_train_result){
		.config = { .n_workers = n_workers, .mode = mode },
		.n_threads = 1,
		.rates = { .gemm_flopps = n_workers * 5e10,
			   .mem_Bps = n_workers * 1e10,
			   .allreduce_Bps = 2e9,
			   .elem_B = 4,
			   .grad_B = 4 },
	};
}

static double seconds_of(const struct jl_train_run *run, const struct jl_train_result *r)
{
	struct jl_estimate step_s = { NAN, NAN, NAN };
	struct jl_err err = { 0 };
	enum jl_status status = jl_train_predict(&step_s, run, r, &err);
	if (status != JL_OK)
		fail_msg("%s", err.en);
	assert_true(step_s.lo > 0 && step_s.lo < step_s.value && step_s.value < step_s.hi);
	return step_s.value;
}

/* What is measured takes the place of what is listed: on a CPU without records, and on a listed GPU. */
static void measured_rates_count(void **state)
{
	(void)state;
	struct jl_arena arena;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_train_run run = { .kernels = &jl_engine_cpu, .batch = 4, .seq = 256, .n_micro = 1, .cat = cat };
	struct jl_err err = { 0 };
	assert_ok(jl_find_model(&run.model, cat, "gpt-305m", &err));
	run.here = read_machine("gpuless-arm64-vm", &arena);
	struct jl_train_result r = result_of(1, JL_TRAIN_DDP);
	struct jl_train_shape s = shape_of(run.model);
	double products_s = jl_train_step_flop(&s, 4, 256) / 5e10, step_s = seconds_of(&run, &r);
	assert_true(step_s > products_s && step_s < 1.6 * products_s);
	r.rates.gemm_flopps *= 2;
	r.rates.mem_Bps *= 2;
	double fast_s = seconds_of(&run, &r);
	assert_true(fast_s > 0.45 * step_s && fast_s < 0.55 * step_s);
	/* images: tokens that see all others, and logits of one of them */
	assert_ok(jl_train_find(&run.model, cat, "vit-b-16", &arena, &err));
	struct jl_train_run text = run;
	run.seq = 197;
	s = shape_of(run.model);
	products_s = jl_train_step_flop(&s, 4, 197) / 1e11;
	double images_s = seconds_of(&run, &r);
	assert_true(images_s > products_s && images_s < 1.6 * products_s);
	run = text;
	assert_ok(jl_find_model(&run.model, cat, "gpt-305m", &err));
	/* the same operands rounded to bf16: their product is what was measured */
	run.precision = JL_TRAIN_BF16;
	NEAR(seconds_of(&run, &r), fast_s);
	/* a listed GPU: other rates than the catalog's, other seconds */
	run.kernels = &jl_engine_cuda;
	run.here = read_machine("hgx-h100-8gpu", &arena);
	r.rates = (struct jl_train_rates){ .gemm_flopps = 6e14, .mem_Bps = 3e12, .elem_B = 2, .grad_B = 2 };
	double gpu_s = seconds_of(&run, &r);
	r.rates.gemm_flopps /= 2;
	r.rates.mem_Bps /= 2;
	double slow_s = seconds_of(&run, &r);
	assert_true(slow_s > 1.5 * gpu_s && slow_s < 2.2 * gpu_s);
	/* fp8 products twice as fast: the rest of the step stays */
	struct jl_estimate fp8_s;
	run.batch = 128;
	r.rates.gemm_flopps = 6e14;
	r.rates.mem_Bps = 3e12;
	double wide_s = seconds_of(&run, &r);
	run.precision = JL_TRAIN_FP8;
	r.rates.gemm_flopps *= 2;
	assert_ok(jl_train_predict(&fp8_s, &run, &r, &err));
	assert_true(fp8_s.lo < fp8_s.value && fp8_s.value < fp8_s.hi);
	assert_true(fp8_s.value > 0.5 * wide_s && fp8_s.value < 0.95 * wide_s);
	/* one that the catalog does not know is not guessed */
	struct jl_probe_machine unknown = *run.here;
	struct jl_estimate none;
	unknown.system = NULL;
	unknown.system_why_en = "it is not listed";
	run.here = &unknown;
	assert_int_equal(jl_train_predict(&none, &run, &r, &err), JL_E_ABSENT);
	jl_arena_release(&arena);
}

/* Workers that share a machine: each has its part of it, and waits for the others as long as their all-reduce takes. */
static void messages(void **state)
{
	(void)state;
	struct jl_arena arena;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_train_run run = { .kernels = &jl_engine_cpu, .batch = 1, .seq = 64, .n_micro = 1, .cat = cat };
	struct jl_err err = { 0 };
	assert_ok(jl_find_model(&run.model, cat, "gpt-305m", &err));
	run.here = read_machine("gpuless-arm64-vm", &arena);
	struct jl_train_result alone = result_of(1, JL_TRAIN_DDP), two = result_of(2, JL_TRAIN_DDP);
	double alone_s = seconds_of(&run, &alone), two_s = seconds_of(&run, &two);
	assert_true(two_s > alone_s);
	two.rates.allreduce_Bps /= 10;
	double slow_s = seconds_of(&run, &two), message_s = 4.0 * (double)shape_of(run.model).n_params / 2e8;
	assert_true(slow_s > two_s + 0.3 * message_s && slow_s < alone_s + 1.5 * message_s);
	for (int mode = 0; mode < JL_N_TRAIN_MODE; mode++) {
		two.config.mode = (enum jl_train_mode)mode;
		assert_true(seconds_of(&run, &two) > alone_s);
	}
	jl_arena_release(&arena);
}

/* `bench infer` on one H200, 384 tokens of a prompt and 128 of an answer: bare passes, no server around them. */
static void passes_are_near_what_was_measured(void **state)
{
	(void)state;
	static const struct {
		const char *model;
		enum jl_train_precision precision;
		size_t batch;
		double first_s, token_s;
	} seen[] = { { "gpt-305m", JL_TRAIN_BF16, 1, 0.928e-3, 0.606e-3 },
		     { "gpt-305m", JL_TRAIN_BF16, 8, 2.77e-3, 0.857e-3 },
		     { "gpt-305m", JL_TRAIN_BF16, 32, 9.73e-3, 0.983e-3 },
		     { "gpt-305m", JL_TRAIN_FP8, 1, 0.916e-3, 0.485e-3 },
		     { "gpt-305m", JL_TRAIN_FP8, 8, 2.28e-3, 0.638e-3 },
		     { "gpt-305m", JL_TRAIN_FP8, 32, 7.74e-3, 0.957e-3 },
		     { "llama-3-8b", JL_TRAIN_FP8, 1, 5.77e-3, 2.87e-3 },
		     { "llama-3-8b", JL_TRAIN_FP8, 8, 36.7e-3, 3.06e-3 },
		     { "llama-3-8b", JL_TRAIN_FP8, 32, 160e-3, 5.00e-3 } };
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_probe_machine h200 = { .system = "h200-sxm" };
	struct jl_train_run run = { .kernels = &jl_engine_cuda, .batch = 1, .seq = 384 };
	struct jl_err err = { 0 };
	int n_inside = 0;
	run.answer = 128;
	run.cat = cat;
	run.here = &h200;
	for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
		assert_ok(jl_find_model(&run.model, cat, seen[i].model, &err));
		run.precision = seen[i].precision;
		/* the listed rates */
		struct jl_train_result r = { .config = { .n_workers = 1, .batch = seen[i].batch },
					     .rates = { .elem_B = 2, .grad_B = 2 } };
		jl_decode_predict(&r, &run);
		print_message("%s %s, batch %zu: %.3f and %.3f ms\n", seen[i].model,
			      jl_train_precision_names[seen[i].precision], seen[i].batch,
			      1e3 * r.first_predicted_s.value, 1e3 * r.predicted_s.value);
		n_inside += r.first_predicted_s.lo < seen[i].first_s && seen[i].first_s < r.first_predicted_s.hi;
		n_inside += r.predicted_s.lo < seen[i].token_s && seen[i].token_s < r.predicted_s.hi;
		assert_true(fabs(log(r.first_predicted_s.value / seen[i].first_s)) < log(1.5));
		assert_true(fabs(log(r.predicted_s.value / seen[i].token_s)) < log(1.6));
	}
	print_message("%d of 18 inside\n", n_inside);
	assert_true(n_inside >= 16); /* intervals hold 80 % */
}

/* Of every tiny model; the buffers are given back. */
static void rates_on_the_cpu(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	struct jl_engine *engine = NULL;
	if (jl_engine_cpu.present(&err) != JL_OK) {
		print_message("skipped: %s\n", err.en);
		skip();
	}
	assert_ok(jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = 1 }, &engine, &err));
	for (int m = 0; m < N_TINY; m++) {
		struct jl_train_shape s = shape_of(&tiny[m]);
		struct jl_train_work_shape work = { .shape = &s, .n_samples = 2, .seq = TINY_SEQ };
		size_t used_B = engine->used_B;
		struct jl_train_rates rates;
		assert_ok(jl_train_measure_rates(engine, &work, NULL, NULL, &rates, &err));
		assert_true(rates.gemm_flopps > 0 && rates.mem_Bps > 0 && rates.elem_B == 4 && rates.grad_B == 4);
		assert_int_equal(engine->used_B, used_B);
	}
	jl_engine_cpu.destroy(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_is_split),
		cmocka_unit_test(measured_rates_count),
		cmocka_unit_test(messages),
		cmocka_unit_test(passes_are_near_what_was_measured),
		cmocka_unit_test(rates_on_the_cpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
