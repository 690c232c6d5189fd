/* Several workers: the same as one with all their samples, in every mode; less memory each; one that dies is named. */
#include "models.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "train/run.h"

#define MOST 16

struct seen {
	struct jl_train_result *results[MOST];
	size_t n;
	bool kill;
	double killed_s, told_s;
};

static bool keep(void *ctx, const struct jl_train_result *result)
{
	struct seen *seen = ctx;
	assert_true(seen->n < MOST);
	seen->results[seen->n] = malloc(sizeof *result);
	assert_non_null(seen->results[seen->n]);
	*seen->results[seen->n++] = *result;
	seen->told_s = jl_clock_s();
	return true;
}

static void forget(struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		free(seen->results[i]);
	*seen = (struct seen){ 0 };
}

static struct jl_train_run setting(const struct jl_model_info *model, struct seen *seen)
{
	return (struct jl_train_run){ .model = model,
				      .kernels = &jl_engine_cpu,
				      .seq = tiny_seq(model),
				      .n_micro = 1,
				      .n_steps = 5,
				      .n_threads = 1,
				      .lr = TINY_LR,
				      .no_rates = true,
				      .done = keep,
				      .ctx = seen };
}

static double loss_of(struct jl_train_run run, int n_workers, enum jl_train_mode mode)
{
	struct jl_err err = { 0 };
	struct seen seen = { 0 };
	run.ctx = &seen;
	run.configs[0] = (struct jl_train_config){ .n_workers = n_workers, .mode = mode };
	run.n_configs = 1;
	assert_ok(jl_train_run(&run, NULL, &err));
	assert_int_equal(seen.n, 1);
	if (seen.results[0]->status != JL_OK)
		fail_msg("%s", seen.results[0]->err.en);
	double loss = seen.results[0]->loss_last;
	/* four images of 51 classes are too few for that */
	assert_true(run.model->patch > 0 || loss < seen.results[0]->loss_first);
	assert_int_equal(seen.results[0]->n_steps, 5);
	forget(&seen);
	return loss;
}

static void workers_equal_one(void **state)
{
	(void)state;
	for (size_t m = 0; m < N_TRAINED; m++) {
		struct jl_train_run run = setting(&tiny[m], NULL);
		run.batch = 4;
		double alone = loss_of(run, 1, JL_TRAIN_DDP);
		for (int mode = JL_TRAIN_DDP; mode < JL_N_TRAIN_MODE; mode++) {
			run.batch = 2;
			run.n_micro = 1;
			double two = loss_of(run, 2, (enum jl_train_mode)mode);
			run.batch = 1;
			double four = loss_of(run, 4, (enum jl_train_mode)mode);
			run.n_micro = 2; /* two workers, two micro-batches of one sample */
			double micro = loss_of(run, 2, (enum jl_train_mode)mode);
			run.recompute = true; /* the same numbers, made twice */
			assert_true(loss_of(run, 2, (enum jl_train_mode)mode) == micro);
			run.recompute = false;
			print_message("%s %s: 2 workers %+.1e, 4 workers %+.1e, accumulated %+.1e\n", tiny[m].id,
				      jl_train_mode_names[mode], two / alone - 1, four / alone - 1, micro / alone - 1);
			assert_true(fabs(two / alone - 1) < 2e-6);
			assert_true(fabs(four / alone - 1) < 2e-6);
			assert_true(fabs(micro / alone - 1) < 2e-6);
		}
	}
}

/* State bytes of one worker follow the textbook: with 4 bytes each for parameter, gradient and two moments. */
static void shards_are_smaller(void **state)
{
	struct jl_err err = { 0 };
	struct jl_engine *engine;
	struct jl_train_shape shape;
	(void)state;
	static const double wanted[JL_N_TRAIN_MODE][3] = {
		{ 1, 1, 2 }, { 1, 1, 0.5 }, { 1, 0.25, 0.5 }, { 0.25, 0.25, 0.5 }
	};
	assert_ok(jl_train_shape(&tiny[0], 4, &shape, &err));
	assert_ok(jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = 1 }, &engine, &err));
	struct jl_comm comm = { .rank = 1, .n_ranks = 4 };
	for (int mode = 0; mode < JL_N_TRAIN_MODE; mode++) {
		struct jl_trainer_in in = jl_trainer_defaults;
		in.shape = &shape;
		in.mode = (enum jl_train_mode)mode;
		in.seq = TINY_SEQ;
		in.comm = &comm;
		struct jl_trainer_memory memory = jl_trainer_memory(engine, &in);
		double all_B = 4.0 * (double)(shape.unit_n[0] + shape.n_layers * shape.unit_n[1] + shape.unit_n[2]);
		assert_true(fabs(memory.param_B / all_B - wanted[mode][0]) < 0.01);
		assert_true(fabs(memory.grad_B / all_B - wanted[mode][1]) < 0.01);
		assert_true(fabs(memory.optim_B / all_B - wanted[mode][2]) < 0.01);
	}
	jl_engine_cpu.destroy(engine);
}

/* With recompute a layer keeps what it gets, and one of them the rest. */
static void recompute_keeps_less(void **state)
{
	struct jl_err err = { 0 };
	struct jl_engine *engine;
	struct jl_train_shape shape;
	double act_B[2];
	(void)state;
	assert_ok(jl_train_shape(&tiny[0], 1, &shape, &err));
	assert_ok(jl_engine_cpu.create(&(struct jl_engine_in){ .n_threads = 1 }, &engine, &err));
	for (int again = 0; again < 2; again++) {
		struct jl_trainer_in in = jl_trainer_defaults;
		in.shape = &shape;
		in.seq = TINY_SEQ;
		in.recompute = again;
		act_B[again] = jl_trainer_memory(engine, &in).act_B;
	}
	double input_B = 4.0 * (double)(jl_trainer_defaults.n_samples * TINY_SEQ * shape.hidden);
	double rest_B = (act_B[0] - (double)shape.n_layers * input_B) / (double)shape.n_layers;
	assert_true(shape.n_layers > 1 && act_B[1] < act_B[0]);
	assert_true(fabs(act_B[1] / ((double)shape.n_layers * input_B + rest_B) - 1) < 0.05);
	jl_engine_cpu.destroy(engine);
}

/* Kills the youngest child of this process. */
static bool kill_one(void *ctx, const struct jl_train_config *config, size_t n_steps)
{
	struct seen *seen = ctx;
	char path[64];
	int pid, last = 0;
	if (!seen->kill || config->n_workers != 3 || n_steps < 2)
		return true;
	snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (fscanf(file, "%d", &pid) == 1)
		last = pid;
	fclose(file);
	assert_true(last > 0);
	assert_int_equal(kill(last, SIGKILL), 0);
	seen->kill = false;
	seen->killed_s = jl_clock_s();
	return true;
}

static void dead_worker_is_named(void **state)
{
	struct jl_err err = { 0 };
	struct seen seen = { .kill = true };
	(void)state;
	struct jl_train_run run = setting(&tiny[0], &seen);
	run.batch = 2;
	run.tick = kill_one;
	run.n_steps = 0;
	run.time_s = 2;
	run.configs[0] = (struct jl_train_config){ .n_workers = 1 };
	run.configs[1] = (struct jl_train_config){ .n_workers = 3, .mode = JL_TRAIN_ZERO2 };
	run.configs[2] = (struct jl_train_config){ .n_workers = 2 };
	run.n_configs = 3;
	assert_ok(jl_train_run(&run, NULL, &err));
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.results[0]->status, JL_OK);
	assert_true(seen.results[1]->status != JL_OK);
	assert_int_equal(seen.results[1]->dead_rank, 2);
	assert_non_null(strstr(seen.results[1]->err.en, "rank 2"));
	assert_int_equal(seen.results[2]->status, JL_OK);
	assert_true(seen.killed_s > 0);
	forget(&seen);
}

static bool note_time(void *ctx, const struct jl_train_result *result)
{
	struct seen *seen = ctx;
	bool more = keep(ctx, result);
	if (result->status != JL_OK)
		assert_true(jl_clock_s() - seen->killed_s < 10);
	return more;
}

static void death_is_told_soon(void **state)
{
	struct jl_err err = { 0 };
	struct seen seen = { .kill = true };
	(void)state;
	struct jl_train_run run = setting(&tiny[0], &seen);
	run.batch = 2;
	run.tick = kill_one;
	run.done = note_time;
	run.n_steps = JL_TRAIN_STEPS_MAX - 1;
	run.configs[0] = (struct jl_train_config){ .n_workers = 3 };
	run.n_configs = 1;
	assert_ok(jl_train_run(&run, NULL, &err));
	assert_true(seen.results[0]->status != JL_OK);
	forget(&seen);
}

static void too_little_memory(void **state)
{
	struct jl_err err = { 0 };
	struct seen seen = { 0 };
	(void)state;
	struct jl_model_info huge = tiny[0];
	huge.hidden = 8192;
	huge.heads = 128;
	huge.kv_heads = 128;
	huge.ffn = 32768;
	huge.n_layers = 200;
	struct jl_train_run run = setting(&huge, &seen);
	run.batch = 2;
	run.configs[0] = (struct jl_train_config){ .n_workers = 1 };
	run.n_configs = 1;
	assert_ok(jl_train_run(&run, NULL, &err));
	assert_int_equal(seen.results[0]->status, JL_E_LIMIT);
	assert_non_null(strstr(seen.results[0]->err.en, "too little memory"));
	assert_non_null(strstr(seen.results[0]->err.text, "메모리 부족"));
	forget(&seen);
	/* a batch that does not fit says which one does */
	huge = tiny[0];
	run.model = &huge;
	run.batch = (size_t)1 << 20;
	assert_ok(jl_train_run(&run, NULL, &err));
	assert_int_equal(seen.results[0]->status, JL_E_LIMIT);
	assert_non_null(strstr(seen.results[0]->err.en, "--batch"));
	forget(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards_are_smaller),   cmocka_unit_test(workers_equal_one),
		cmocka_unit_test(dead_worker_is_named), cmocka_unit_test(death_is_told_soon),
		cmocka_unit_test(too_little_memory),    cmocka_unit_test(recompute_keeps_less),
	};
	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
