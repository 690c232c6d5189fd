/* The code around the GPU on machines that have none: stand-ins for the driver, cuBLASLt and NCCL (tests/fakes). Every
 * task of the two backends, a training step, and then all of it again with each driver call failing once: it must say
 * so and give everything back. */
#include "../train/models.h"

#include <dlfcn.h>

#include "bench/backend.h"
#include "gpu/cuda.h"
#include "train/decode.h"
#include "train/records.h"
#include "train/run.h"

static size_t (*held)(void);
static int (*recount)(void);

static int use_fakes(void **state)
{
	(void)state;
	const char *cuda = getenv("JEOUL_FAKE_CUDA"), *lt = getenv("JEOUL_FAKE_CUBLASLT"),
		   *nccl = getenv("JEOUL_FAKE_NCCL");
	if (!cuda || !lt || !nccl || !jl_gpu_has_kernels())
		return 0;
	setenv("JEOUL_CUDA", cuda, 1);
	setenv("JEOUL_CUBLASLT", lt, 1);
	setenv("JEOUL_NCCL", nccl, 1);
	setenv("JEOUL_NVML", getenv("JEOUL_FAKE_NVML") ? getenv("JEOUL_FAKE_NVML") : "", 1);
	void *handle = dlopen(cuda, RTLD_NOW);
	assert_non_null(handle);
	*(void **)&held = dlsym(handle, "fake_cuda_held");
	*(void **)&recount = dlsym(handle, "fake_cuda_recount");
	assert_non_null(held);
	assert_non_null(recount);
	return 0;
}

static void need_fakes(void)
{
	if (!held) {
		print_message("skipped: built without GPU kernels, or not started by ctest\n");
		skip();
	}
}

static const struct jl_bench_task tasks[] = {
	{ .kind = JL_BENCH_GEMM, .dtype = JL_FP32, .m = 17, .n = 24, .k = 9 },
	{ .kind = JL_BENCH_GEMM, .dtype = JL_TF32, .m = 16, .n = 16, .k = 16 },
	{ .kind = JL_BENCH_GEMM, .dtype = JL_BF16, .m = 16, .n = 32, .k = 40 },
	{ .kind = JL_BENCH_GEMM, .dtype = JL_FP16, .m = 16, .n = 8, .k = 8 },
	{ .kind = JL_BENCH_GEMM, .dtype = JL_FP8, .m = 16, .n = 16, .k = 32, .device = 1 },
	{ .kind = JL_BENCH_TRIAD, .size_B = 4096 },
	{ .kind = JL_BENCH_COPY, .size_B = 4096, .device = 1 },
	{ .kind = JL_BENCH_H2D, .size_B = 4096, .pinned = true },
	{ .kind = JL_BENCH_H2D, .size_B = 4096 },
	{ .kind = JL_BENCH_D2H, .size_B = 1004, .pinned = true },
	{ .kind = JL_BENCH_D2H, .size_B = 4096 },
	{ .kind = JL_BENCH_D2D, .size_B = 4096 },
	{ .kind = JL_BENCH_D2D, .size_B = 4096, .device = 0, .peer = 1 },
	{ .kind = JL_BENCH_D2D, .size_B = 4096, .device = 1, .peer = 2 }, /* these two do not reach each other */
};

static enum jl_status run_task(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
			       struct jl_err *err)
{
	struct jl_bench_state *state = NULL;
	struct jl_record_noise noise = jl_record_noise_unknown();
	double once_s = -1;
	size_t n_wrong = 99;
	assert_true(backend->supports(task));
	enum jl_status status = backend->prepare(task, &state, err);
	if (status == JL_OK)
		status = backend->run_once(state, &once_s, err);
	if (status == JL_OK)
		status = backend->verify(state, &n_wrong, err);
	if (status == JL_OK) {
		assert_true(once_s >= 0);
		assert_int_equal(n_wrong, 0);
	}
	if (status == JL_OK && backend->watch)
		backend->watch(state, &noise);
	backend->finish(state);
	return status;
}

static void every_task(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "3", 1);
	assert_ok(jl_bench_cuda.present(&err));
	assert_non_null(strstr(jl_bench_cuda.versions(), "cuda_driver=13.0"));
	for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
		assert_ok(run_task(&jl_bench_cuda, &tasks[i], &err));
		assert_int_equal(held(), 0);
	}
}

static void every_collective(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "3", 1);
	assert_ok(jl_bench_nccl.present(&err));
	assert_string_equal(jl_bench_nccl.versions(), "nccl=2.28.9");
	for (int coll = 0; coll < JL_COLL_BARRIER; coll++)
		for (int op = 0; op < JL_N_REDOP; op++)
			for (int n = 1; n <= 3; n++)
				for (int in_place = 0; in_place < 2; in_place++) {
					struct jl_bench_task task = { .kind = JL_BENCH_COLL,
								      .coll = (enum jl_coll)coll,
								      .type = JL_COMM_FLOAT,
								      .op = (enum jl_redop)op,
								      .size_B = 1200,
								      .root = n - 1,
								      .n_gpus = n,
								      .in_place = in_place };
					if (!jl_bench_nccl.supports(&task)) {
						assert_true(in_place);
						continue;
					}
					assert_ok(run_task(&jl_bench_nccl, &task, &err));
				}
	assert_int_equal(held(), 0);
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	struct jl_bench_state *s = NULL;
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "2", 1);
	struct jl_bench_task task = { .kind = JL_BENCH_COPY, .size_B = 4096, .device = 2 };
	assert_int_equal(jl_bench_cuda.prepare(&task, &s, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "no GPU 2"));
	assert_non_null(strstr(err.text, "2개"));
	setenv("FAKE_CUDA_MEM_B", "1000000", 1);
	task = (struct jl_bench_task){ .kind = JL_BENCH_COPY, .size_B = 800000 };
	assert_int_equal(jl_bench_cuda.prepare(&task, &s, &err), JL_E_NOMEM);
	assert_non_null(strstr(err.en, "Fake GPU 0"));
	assert_non_null(strstr(err.en, "free"));
	unsetenv("FAKE_CUDA_MEM_B");
	task = (struct jl_bench_task){ .kind = JL_BENCH_COLL, .type = JL_COMM_FLOAT, .size_B = 64, .n_gpus = 3 };
	assert_int_equal(jl_bench_nccl.prepare(&task, &s, &err), JL_E_RANGE);
	task = (struct jl_bench_task){ .kind = JL_BENCH_GEMM, .dtype = JL_INT8, .m = 8, .n = 8, .k = 8 };
	assert_false(jl_bench_cuda.supports(&task));
	task = (struct jl_bench_task){ .kind = JL_BENCH_COPY, .size_B = 24 };
	assert_false(jl_bench_cuda.supports(&task));
	assert_int_equal(held(), 0);
}

/* A few steps of a tiny model, the last of them recorded and replayed. Its kernels do nothing here: losses are zero. */
static enum jl_status train(const struct jl_model_info *model, enum jl_train_precision precision, size_t seq,
			    struct jl_err *err)
{
	struct jl_train_shape shape;
	struct jl_engine *engine = NULL;
	struct jl_trainer *trainer = NULL;
	int32_t in[64] = { 0 }, out[64] = { 0 };
	double loss = -1;
	assert_int_equal(jl_train_shape(model, 1, &shape, err), JL_OK);
	struct jl_trainer_in setting = jl_trainer_defaults;
	setting.shape = &shape;
	setting.n_samples = 1;
	setting.seq = seq;
	setting.clip = 1;
	enum jl_status status = jl_engine_cuda.create(&(struct jl_engine_in){ .precision = precision, .device = 1 },
						      &engine, err);
	if (status == JL_OK)
		status = jl_trainer_create(engine, &setting, &trainer, err);
	for (int step = 0; status == JL_OK && step < 3; step++)
		status = jl_trainer_step(trainer, in, out, &loss, err);
	if (status == JL_OK) {
		assert_true(loss == 0);
		assert_true(engine->peak_B >= engine->used_B && engine->used_B > 0);
		assert_true(jl_engine_cuda.available_B(engine) > 0);
		assert_non_null(strstr(jl_engine_cuda.versions(engine), "cublaslt=13.1.0"));
	}
	jl_trainer_destroy(trainer);
	jl_engine_cuda.destroy(engine);
	return status;
}

/* Prompts and tokens of a tiny model, recorded and replayed. */
static enum jl_status answer(const struct jl_model_info *model, enum jl_train_precision precision, size_t seq,
			     struct jl_err *err)
{
	struct jl_train_shape shape;
	struct jl_engine *engine = NULL;
	struct jl_trainer *decoder = NULL;
	int32_t in[64] = { 0 }, out[2];
	assert_int_equal(jl_train_shape(model, 1, &shape, err), JL_OK);
	struct jl_trainer_in setting = jl_trainer_defaults;
	setting.shape = &shape;
	setting.n_samples = 2;
	setting.seq = seq;
	setting.max_tokens = 64;
	enum jl_status status = jl_engine_cuda.create(&(struct jl_engine_in){ .precision = precision }, &engine, err);
	if (status == JL_OK)
		status = jl_trainer_create(engine, &setting, &decoder, err);
	for (size_t n = 2; status == JL_OK && n > 0; n--)
		for (int round = 0; status == JL_OK && round < 3; round++) {
			status = jl_decode_prompt(decoder, in, n, out, err);
			if (status == JL_OK)
				status = jl_decode_next(decoder, 4, out, err);
		}
	jl_trainer_destroy(decoder);
	jl_engine_cuda.destroy(engine);
	return status;
}

/* Smaller than the reference models: the stand-in multiplies one number at a time. */
static struct jl_model_info small(const struct jl_model_info *model)
{
	struct jl_model_info m = *model;
	m.n_layers = 1;
	m.heads = m.kv_heads = 1;
	m.head_dim = 64;
	m.hidden = 64;
	m.ffn = 64;
	m.vocab = 100;
	return m;
}

static void training_steps(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "2", 1);
	for (int plain = 0; plain < 2; plain++)
		for (int m = 0; m < N_TINY; m++) {
			struct jl_model_info model = small(&tiny[m]);
			setenv("FAKE_LT_PLAIN", plain ? "1" : "0", 1);
			assert_ok(train(&model, plain ? JL_TRAIN_BF16 : JL_TRAIN_TF32, 40, &err));
			assert_int_equal(held(), 0);
			assert_ok(train(&model, JL_TRAIN_FP8, 32, &err));
			assert_int_equal(held(), 0);
			assert_ok(answer(&model, plain ? JL_TRAIN_BF16 : JL_TRAIN_FP32, 20, &err));
			assert_int_equal(held(), 0);
			assert_ok(
				answer(&model, JL_TRAIN_FP8, 19, &err)); /* 38 tokens, then 19: both ways of products */
			assert_int_equal(held(), 0);
		}
	/* images: what tokens have in common with them, and what they are refused */
	struct jl_model_info vit = small(&tiny[3]);
	for (int p = 0; p < JL_TRAIN_FP8; p++)
		assert_ok(train(&vit, (enum jl_train_precision)p, 10, &err));
	assert_int_equal(train(&vit, JL_TRAIN_FP8, 10, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "takes images"));
	assert_int_equal(train(&vit, JL_TRAIN_BF16, 9, &err), JL_E_RANGE);
	assert_int_equal(answer(&vit, JL_TRAIN_BF16, 10, &err), JL_E_RANGE);
	assert_int_equal(held(), 0);
	setenv("FAKE_LT_PLAIN", "0", 1);
}

/* Answers as `bench infer` measures them in fp8: half the weights, and the record says so. */
static bool keep(void *ctx, const struct jl_train_result *result);

static void answers_in_fp8(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	struct jl_model_info model = small(&tiny[2]);
	struct jl_train_shape shape;
	double param_B[2];
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "2", 1);
	assert_ok(jl_train_shape(&tiny[2], 1, &shape, &err));
	for (int i = 0; i < 2; i++) {
		struct jl_trainer_in in = jl_trainer_defaults;
		struct jl_engine *engine = NULL;
		in.shape = &shape, in.n_samples = 2, in.seq = 16, in.max_tokens = 32;
		assert_ok(jl_engine_cuda.create(&(struct jl_engine_in){ .precision = i ? JL_TRAIN_FP8 : JL_TRAIN_BF16 },
						&engine, &err));
		param_B[i] = jl_trainer_memory(engine, &in).param_B;
		jl_engine_cuda.destroy(engine);
	}
	assert_true(param_B[1] < 0.6 * param_B[0] && param_B[1] > 0.5 * param_B[0]); /* the table of tokens stays */
	struct jl_train_result *r = malloc(sizeof *r);
	assert_non_null(r);
	const struct jl_train_run run = { .model = &model,
					  .kernels = &jl_engine_cuda,
					  .precision = JL_TRAIN_FP8,
					  .batch = 3,
					  .seq = 13,
					  .answer = 5,
					  .time_s = 0.01,
					  .no_rates = true,
					  .configs = { { .n_workers = 1, .batch = 3 } },
					  .n_configs = 1,
					  .done = keep,
					  .ctx = r };
	assert_ok(jl_decode_run(&run, &err));
	assert_true(r->status == JL_OK && r->n_samples > 0 && r->mem_B > 0);
	struct jl_draft draft;
	const struct jl_record record = jl_train_record(&draft, r, &run);
	bool said = false;
	for (size_t i = 0; i < record.n_params; i++)
		said = said || (!strcmp(record.params[i].key, "precision") && record.params[i].text &&
				!strcmp(record.params[i].text, "fp8"));
	assert_true(said && !strcmp(record.kind, "infer"));
	assert_int_equal(held(), 0);
	free(r);
}

/* fp8 is refused in one line where the library cannot multiply it. */
static void fp8_refused(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	struct jl_model_info model = small(&tiny[0]);
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "2", 1);
	assert_int_equal(train(&model, JL_TRAIN_FP8, 40, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "multiple of 16 tokens"));
	model.ffn = 72;
	assert_int_equal(answer(&model, JL_TRAIN_FP8, 16, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "72"));
	assert_int_equal(train(&model, JL_TRAIN_FP8, 32, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "72"));
	setenv("FAKE_CUDA_CC", "8", 1);
	assert_int_equal(train(&model, JL_TRAIN_FP8, 32, &err), JL_E_ABSENT);
	assert_non_null(strstr(err.en, "compute capability 8.0"));
	assert_int_equal(answer(&model, JL_TRAIN_FP8, 16, &err), JL_E_ABSENT);
	unsetenv("FAKE_CUDA_CC");
	assert_int_equal(held(), 0);
}

/* A run as `bench train` makes it, in a worker of its own: rates of all parts, energy by NVML's counter, all gradients. */
static bool keep(void *ctx, const struct jl_train_result *result)
{
	*(struct jl_train_result *)ctx = *result;
	return true;
}

static void a_whole_run(void **state)
{
	(void)state;
	struct jl_err err = { 0 };
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "2", 1);
	struct jl_model_info model = small(&tiny[0]);
	struct jl_train_result *r = malloc(sizeof *r);
	assert_non_null(r);
	struct jl_train_run run = { .model = &model,
				    .kernels = &jl_engine_cuda,
				    .precision = JL_TRAIN_BF16,
				    .batch = 16,
				    .seq = 64,
				    .n_micro = 1,
				    .time_s = 0.6, /* 10,000 launches of a recorded step take longer */
				    .configs = { { .n_workers = 1 } },
				    .n_configs = 1,
				    .done = keep,
				    .ctx = r };
	assert_ok(jl_train_run(&run, NULL, &err));
	if (r->status != JL_OK)
		fail_msg("%s", r->err.en);
	assert_true(r->rates.gemm_flopps > 0 && r->rates.mem_Bps > 0);
	assert_true(r->rates.elem_B == 2 && r->rates.grad_B == 2);
	assert_true(isnan(r->predicted_s.value)); /* of no machine that is known */
	/* two reads of the counter, 25 J apart, over all steps */
	assert_string_equal(r->energy_from, "NVML");
	print_message("%g J a step, %zu steps\n", r->energy_J, r->n_steps);
	assert_true(fabs(r->energy_J * (double)r->n_steps - 25) < 1e-6);
	struct jl_train_shape shape;
	assert_ok(jl_train_shape(&model, 1, &shape, &err));
	assert_true(r->grad_B == 2.0 * (double)shape.n_params);
	run.precision = JL_TRAIN_FP8;
	assert_ok(jl_train_run(&run, NULL, &err));
	if (r->status != JL_OK)
		fail_msg("%s", r->err.en);
	assert_true(r->rates.gemm_flopps > 0 && r->rates.elem_B == 2);
	/* steps that are over before the counter moves have no figure */
	run.precision = JL_TRAIN_BF16;
	run.time_s = 0;
	run.n_steps = 2;
	run.batch = 1;
	run.seq = 8;
	assert_ok(jl_train_run(&run, NULL, &err));
	assert_true(isnan(r->energy_J));
	free(r);
}

/* Lets the n-th driver call fail: each of the first 30, then as many spread over the rest; ten under a sanitizer. */
static void fail_each(enum jl_status (*run)(struct jl_err *err))
{
	enum { N_EACH = 30, N_MORE = JL_TEST_SANITIZED ? 10 : N_EACH };
	struct jl_err err = { 0 };
	int n_failed = 0;
	recount();
	assert_ok(run(&err));
	int n_calls = recount();
	assert_true(n_calls > 20);
	for (int at = 1; at <= n_calls; at += at < N_EACH ? 1 : 1 + n_calls / N_MORE) {
		char text[16];
		snprintf(text, sizeof text, "%d", at);
		setenv("FAKE_CUDA_FAIL_AT", text, 1);
		recount();
		n_failed += run(&err) != JL_OK;
		assert_int_equal(held(), 0);
	}
	unsetenv("FAKE_CUDA_FAIL_AT");
	/* setting the context on the way out may fail unnoticed; hardly anything else may */
	assert_true(n_failed > 10);
}

static enum jl_status some_tasks(struct jl_err *err)
{
	static const size_t chosen[] = { 2, 5, 6, 7, 8, 12 };
	enum jl_status status = JL_OK;
	for (size_t i = 0; status == JL_OK && i < sizeof chosen / sizeof *chosen; i++)
		status = run_task(&jl_bench_cuda, &tasks[chosen[i]], err);
	const struct jl_bench_task coll = {
		.kind = JL_BENCH_COLL, .coll = JL_COLL_ALLREDUCE, .type = JL_COMM_FLOAT, .size_B = 256, .n_gpus = 2
	};
	return status == JL_OK ? run_task(&jl_bench_nccl, &coll, err) : status;
}

static enum jl_status a_training(struct jl_err *err)
{
	struct jl_model_info model = small(&tiny[0]);
	model.vocab = 64;
	return train(&model, JL_TRAIN_TF32, 8, err);
}

static enum jl_status some_images(struct jl_err *err)
{
	struct jl_model_info model = small(&tiny[3]);
	return train(&model, JL_TRAIN_BF16, 10, err);
}

static enum jl_status some_answers(struct jl_err *err)
{
	struct jl_model_info model = small(&tiny[0]);
	model.vocab = 64;
	return answer(&model, JL_TRAIN_FP8, 20, err); /* the prompts by one way, tokens by another */
}

static void every_call_may_fail(void **state)
{
	(void)state;
	need_fakes();
	setenv("FAKE_CUDA_GPUS", "3", 1);
	fail_each(some_tasks);
	fail_each(some_answers);
	fail_each(a_training);
	fail_each(some_images);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_task),
		cmocka_unit_test(every_collective),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(training_steps),
		cmocka_unit_test(answers_in_fp8),
		cmocka_unit_test(fp8_refused),
		cmocka_unit_test(a_whole_run),
		cmocka_unit_test(every_call_may_fail),
	};
	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, use_fakes, NULL);
}
