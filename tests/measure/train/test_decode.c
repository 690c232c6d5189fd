/* Prompts and tokens one by one give what whole forward passes give; int8 weights stay near; nothing is allocated that is not said. */
#include "decode_same.h"

static struct jl_engine *cpu(int n_threads)
{
	struct jl_err err = { 0 };
	struct jl_engine *engine = NULL;
	assert_ok(jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = n_threads }, &engine, &err));
	return engine;
}

static void tokens_are_those_of_whole_passes(void **state)
{
	(void)state;
	static struct decoded plain, int8, alone;
	struct jl_engine *engine = cpu(2);
	for (size_t m = 0; m < N_TINY; m++) {
		struct jl_err err = { 0 };
		struct jl_train_shape shape;
		int32_t prompts[DECODE_BATCH * DECODE_PROMPT];
		size_t n_other, used_B = engine->used_B;
		assert_ok(jl_train_shape(&tiny[m], 1, &shape, &err));
		decode_prompts(shape.vocab, prompts);
		struct jl_trainer *decoder = decoder_of(engine, &shape, DECODE_PROMPT, false);
		decode_all(decoder, prompts, DECODE_BATCH, &plain);
		double off = decode_differs(engine, &shape, false, prompts, &plain, 1e-4, &n_other);
		print_message("%s: logits differ by %.2g, %zu tokens\n", tiny[m].id, off, n_other);
		assert_true(off <= 1e-4 && n_other == 0);
		/* samples do not see each other, and what a smaller batch left behind is not seen either */
		for (size_t s = 0; s < DECODE_BATCH; s++) {
			decode_all(decoder, prompts + s * DECODE_PROMPT, 1, &alone);
			for (size_t i = 0; i < DECODE_ANSWER; i++) {
				assert_int_equal(alone.tokens[i][0], plain.tokens[i][s]);
				assert_true(decode_off(alone.logits[i], plain.logits[i] + s * shape.vocab,
						       shape.vocab) <= 1e-4);
			}
		}
		jl_trainer_destroy(decoder);
		decoder = decoder_of(engine, &shape, DECODE_PROMPT, true);
		decode_all(decoder, prompts, DECODE_BATCH, &int8);
		double rounded = decode_off(int8.logits[0], plain.logits[0], DECODE_BATCH * shape.vocab);
		off = decode_differs(engine, &shape, true, prompts, &int8, 1e-4, &n_other);
		print_message("%s int8: %.2g from fp32, logits differ by %.2g, %zu tokens\n", tiny[m].id, rounded, off,
			      n_other);
		assert_true(rounded > 0 && rounded <= 0.03 && off <= 1e-4 && n_other == 0);
		jl_trainer_destroy(decoder);
		assert_int_equal(engine->used_B, used_B);
	}
	jl_engine_cpu.destroy(engine);
}

/* Weights, keys and values, and little else; int8 weights are a quarter. */
static void memory_is_accounted(void **state)
{
	(void)state;
	struct jl_engine *engine = cpu(1);
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	assert_ok(jl_train_shape(&tiny[2], 1, &shape, &err));
	struct jl_trainer_in in = jl_trainer_defaults;
	in.shape = &shape;
	in.n_samples = 2;
	in.seq = 8;
	in.max_tokens = 40;
	struct jl_trainer_memory m = jl_trainer_memory(engine, &in);
	assert_true(m.kv_B == 2.0 * 2 * 2 * 40 * 64 * 4); /* keys and values, layers, samples, one head of 64 */
	assert_true(m.param_B >= 4.0 * (double)shape.n_params &&
		    m.param_B < 4.2 * (double)shape.n_params + 4 * 128 * 64);
	assert_true(m.grad_B == 0 && m.optim_B == 0);
	assert_true(m.total_B == m.param_B + m.kv_B + m.act_B + m.work_B);
	struct jl_trainer *decoder;
	assert_ok(jl_trainer_create(engine, &in, &decoder, &err));
	assert_true((double)engine->used_B == m.total_B);
	/* products' weights and norms once, a row of the table not counted; 10 tokens of 2 samples */
	double products = 2 * (256.0 * 128 + 128 * 128 + 640 * 128 + 128 * 320 + 2 * 128) + 256 * 128 + 128;
	assert_true(jl_decode_read_B(decoder, 2, 10) == 4 * (products + 2.0 * 2 * 10 * 2 * 64));
	int32_t tokens[2];
	assert_int_equal(jl_decode_prompt(decoder, (int32_t[16]){ 1, 2, 3 }, 2, tokens, &err), JL_OK);
	assert_int_equal(jl_decode_next(decoder, 33, tokens, &err), JL_E_RANGE);
	assert_non_null(strstr(err.text, "room for 40"));
	assert_ok(jl_decode_next(decoder, 32, tokens, &err));
	jl_trainer_destroy(decoder);
	in.int8 = true;
	assert_true(jl_trainer_memory(engine, &in).param_B < 0.5 * m.param_B); /* the table stays as it is */
	/* more tokens than positions, products that an engine does not have */
	assert_ok(jl_train_shape(&tiny[0], 1, &shape, &err));
	in.max_tokens = 65;
	assert_int_equal(jl_trainer_create(engine, &in, &decoder, &err), JL_E_RANGE);
	jl_engine_cpu.destroy(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_those_of_whole_passes),
		cmocka_unit_test(memory_is_accounted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
