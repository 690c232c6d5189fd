/* The same weights and tokens give the same losses as PyTorch over 20 steps. */
#include "models.h"

#include "base/csv.h"

#define MAX_TEXT 65536

static void read_reference(const char *model, double *ret_losses)
{
	static char text[MAX_TEXT];
	struct jl_err err = { 0 };
	struct jl_csv csv;
	bool more = true;
	FILE *file = fopen(JL_SOURCE_DIR "/tests/fixtures/train/reference.csv", "re");
	assert_non_null(file);
	size_t len = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	const char *body = memchr(text, '\n', len); /* the first line is a comment */
	assert_non_null(body);
	assert_ok(jl_csv_open(&csv, body + 1, len - (size_t)(body + 1 - text), "reference.csv", &err));
	size_t n = 0;
	while (jl_csv_next(&csv, &more, &err) == JL_OK && more) {
		double loss;
		if (strcmp(jl_csv_text(&csv, 0), model) != 0 || strcmp(jl_csv_text(&csv, 1), "fp32") != 0)
			continue;
		assert_ok(jl_csv_number(&csv, 3, &loss, &err));
		assert_true(n < TINY_STEPS);
		ret_losses[n++] = loss;
	}
	jl_csv_release(&csv);
	assert_int_equal(n, TINY_STEPS);
}

static void losses_are_pytorchs(void **state)
{
	(void)state;
	for (size_t m = 0; m < N_TRAINED; m++) {
		struct jl_err err = { 0 };
		struct jl_train_shape shape;
		struct jl_tokens tokens;
		struct jl_engine *engine;
		struct jl_trainer *train;
		int32_t in[TINY_BATCH * TINY_SEQ], out[TINY_BATCH * TINY_SEQ];
		double wanted[TINY_STEPS], worst = 0;
		read_reference(tiny[m].id, wanted);
		assert_ok(jl_train_shape(&tiny[m], 1, &shape, &err));
		assert_ok(jl_tokens_open(&tokens, NULL, shape.vocab, tiny_inputs(&tiny[m]), &err));
		assert_ok(jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = 2 }, &engine, &err));
		struct jl_trainer_in setting = jl_trainer_defaults;
		setting.shape = &shape;
		setting.n_samples = TINY_BATCH;
		setting.seq = tiny_seq(&tiny[m]);
		setting.lr = TINY_LR;
		assert_ok(jl_trainer_create(engine, &setting, &train, &err));
		for (size_t step = 0; step < TINY_STEPS; step++) {
			double loss;
			tiny_batch(&tokens, &tiny[m], step * TINY_BATCH, TINY_BATCH, in, out);
			assert_ok(jl_trainer_step(train, in, out, &loss, &err));
			double off = fabs(loss - wanted[step]) / wanted[step];
			worst = off > worst ? off : worst;
		}
		print_message("%s: largest relative difference %.2g\n", tiny[m].id, worst);
		assert_true(worst <= 1e-4);
		jl_trainer_destroy(train);
		jl_engine_cpu.destroy(engine);
		jl_tokens_close(&tokens);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(losses_are_pytorchs) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
