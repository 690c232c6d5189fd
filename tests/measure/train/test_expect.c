/* What a step should take: by hand from given rates, and the rates themselves on the CPU. */
#include "models.h"

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

static struct jl_train_run run_of(const struct jl_engine_kernels *kernels)
{
	return (struct jl_train_run){ .model = &tiny[0], .kernels = kernels, .batch = 3, .seq = 64, .n_micro = 1 };
}

static void arithmetic_is_split(void **state)
{
	(void)state;
	struct jl_train_shape s = shape_of(&tiny[0]);
	double layer = 3 * 128 * 128 + 128 * 128 + 2 * 512 * 128, tokens = 3 * 64;
	double attention = 7.0 * 2 * 3 * 64 * 64 * 128;
	NEAR(jl_train_attention_flop(&s, 3, 64), attention);
	NEAR(jl_train_step_flop(&s, 3, 64), 6 * tokens * (2 * layer + 211 * 128) + attention);
}

/* One rate for all, as on a CPU. */
static void one_rate(void **state)
{
	(void)state;
	struct jl_train_shape s = shape_of(&tiny[0]);
	struct jl_train_run run = run_of(&jl_engine_cpu);
	struct jl_train_config alone = { .n_workers = 1 };
	struct jl_train_rates rates = {
		.gemm_flopps = 1e9, .step_flopps = NAN, .attn_flopps = NAN, .mem_Bps = 1e10, .elem_B = 4, .grad_B = 4
	};
	struct jl_train_expect e = jl_train_expected(&s, &run, &alone, &rates);
	NEAR(e.compute_s, jl_train_step_flop(&s, 3, 64) / 1e9);
	assert_true(e.comm_s == 0);
	NEAR(e.step_s, e.compute_s + e.pass_s);
	NEAR(e.lo_s, 0.9 * e.step_s);
	NEAR(e.hi_s, 1.1 * e.step_s);
}

/* Products and attention by their own rates; what is left moves bytes of the elements' size. */
static void rates_by_shape(void **state)
{
	(void)state;
	struct jl_train_shape s = shape_of(&tiny[0]);
	struct jl_train_run run = run_of(&jl_engine_cuda);
	struct jl_train_config alone = { .n_workers = 1 };
	struct jl_train_rates rates = {
		.gemm_flopps = 9e9, .step_flopps = 2e9, .attn_flopps = 1e9, .mem_Bps = 1e10, .elem_B = 2, .grad_B = 2
	};
	double all = jl_train_step_flop(&s, 3, 64), attention = jl_train_attention_flop(&s, 3, 64),
	       n = (double)s.n_params;
	struct jl_train_expect e = jl_train_expected(&s, &run, &alone, &rates);
	NEAR(e.compute_s, (all - attention) / 2e9 + attention / 1e9);
	NEAR(e.pass_s * 1e10, 2.0 * 3 * 64 * (2 * 16 * 128 + 5 * 128 + 3 * 256) + 28 * n);
	rates.elem_B = rates.grad_B = 4;
	NEAR(jl_train_expected(&s, &run, &alone, &rates).pass_s * 1e10,
	     4.0 * 3 * 64 * (2 * 16 * 128 + 5 * 128 + 3 * 256) + 28 * n);
}

/* Gradients of two bytes are half the message. */
static void messages(void **state)
{
	(void)state;
	struct jl_train_shape s = shape_of(&tiny[0]);
	struct jl_train_run run = run_of(&jl_engine_cpu);
	double n = (double)s.n_params;
	run.n_micro = 3;
	for (double size_B = 2; size_B <= 4; size_B += 2) {
		const double wanted_B[JL_N_TRAIN_MODE] = { size_B * n, size_B * n, size_B * n * 2, size_B * n * 4.5 };
		struct jl_train_rates rates = { .gemm_flopps = 1e9,
						.step_flopps = NAN,
						.mem_Bps = 1e10,
						.allreduce_Bps = 1e8,
						.elem_B = size_B,
						.grad_B = size_B };
		for (int mode = 0; mode < JL_N_TRAIN_MODE; mode++) {
			struct jl_train_config config = { .n_workers = 2, .mode = (enum jl_train_mode)mode };
			struct jl_train_expect e = jl_train_expected(&s, &run, &config, &rates);
			NEAR(e.comm_s * 1e8, wanted_B[mode]);
			assert_true(e.lo_s < e.step_s && e.step_s < e.hi_s);
		}
	}
}

/* Every product of every tiny model in its own shape; the buffers are given back. */
static void parts_on_the_cpu(void **state)
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
		double products_s = NAN, attention_s = NAN;
		assert_ok(jl_train_measure_parts(engine, &work, NULL, &products_s, &attention_s, &err));
		assert_true(products_s > 0 && attention_s > 0);
		assert_int_equal(engine->used_B, used_B);
		struct jl_train_rates rates;
		assert_ok(jl_train_measure_rates(engine, &work, NULL, NULL, &rates, &err));
		assert_true(rates.gemm_flopps > 0 && rates.mem_Bps > 0 && rates.elem_B == 4 && rates.grad_B == 4);
		assert_true(isnan(rates.step_flopps) && isnan(rates.attn_flopps));
	}
	jl_engine_cpu.destroy(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_is_split), cmocka_unit_test(one_rate),
		cmocka_unit_test(rates_by_shape),      cmocka_unit_test(messages),
		cmocka_unit_test(parts_on_the_cpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
