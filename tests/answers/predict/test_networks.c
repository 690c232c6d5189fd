/* Networks that are lists of operators, weighed as cases: step, memory, input, advice, comparison. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "predict/kind.h"
#include "predict/answer.h"
#include "predict/compare.h"
#include "predict/technique.h"
#include "program/tune.h"

static struct jl_arena arena;
static const struct jl_catalog *cat;

static int setup(void **state)
{
	(void)state;
	cat = jl_catalog_embedded();
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_request ask(const char *model, const char *system, double batch)
{
	struct jl_request req = jl_request_empty();

	req.model = model;
	req.system = system;
	req.batch = batch;
	req.dtype = JL_FP16;
	return req;
}

static struct jl_case make(const struct jl_request *req)
{
	struct jl_case c = { .n_gpus = 0 };
	struct jl_err err = { 0 };

	if (jl_case_make(&c, cat, req, &arena, &err))
		fail_msg("%s on %s: %s", req->model, req->system, err.en);
	return c;
}

static struct jl_prediction predict(const struct jl_request *req)
{
	const struct jl_case c = make(req);
	struct jl_prediction p;

	jl_predict(&p, cat, &c);
	return p;
}

static double most_of(const struct jl_request *req)
{
	const struct jl_case c = make(req);

	return jl_case_max_micro_batch_within(&c, 1);
}

static double sum_of_parts(const struct jl_step_cost *step)
{
	double sum = 0;

	for (size_t i = 0; i < JL_N_PART; i++)
		sum += jl_part_s(step, i);
	return sum;
}

static void test_every_network_on_many_systems(void **state)
{
	static const char *const systems[] = { "rtx-3090",        "dgx-h100",
					       "2x(8x rtx-3090)", "dgx-station-v100-32gb",
					       "cpu:i9-13900k",   "4x dgx-a100-80gb" };
	struct jl_convnet_list list;

	(void)state;
	assert_int_equal(jl_convnets(&list, jl_catalog_embedded(), &arena, NULL), JL_OK);
	assert_true(list.n_nets >= 13);
	for (size_t n = 0; n < list.n_nets; n++)
		for (size_t s = 0; s < sizeof(systems) / sizeof(*systems); s++) {
			struct jl_request req = ask(list.nets[n].id, systems[s], NAN);
			struct jl_prediction p;

			req.dtype = JL_UNSET;
			p = predict(&req);
			assert_true(p.step_s.lo < p.step_s.value && p.step_s.value < p.step_s.hi);
			assert_true(fabs(sum_of_parts(&p.step) / p.step_s.value - 1) < 1e-9);
			assert_true(p.memory.total_B > 0);
			if (list.nets[n].n_params < 5e8)
				assert_true(p.max_micro_batch >= 1 && p.room != JL_ROOM_NONE);
			assert_true(p.power_W > 0 && p.energy_J.lo < p.energy_J.hi);
			/* Winograd spares multiplications that are counted */
			assert_true(p.mfu_frac > 0 && p.mfu_frac < 1.1);
			assert_true(fabs(p.kind_frac[0] + p.kind_frac[1] + p.kind_frac[2] - 1) < 1e-9);
			assert_true(isnan(p.tokens_per_s.value) && p.units_per_s.value > 0);
		}
}

/* Published throughputs of one machine, four of five inside an interval of 80 %: docs/SCORECARD.md has the rest. */
static void test_published_runs(void **state)
{
	static const struct {
		const char *model, *system;
		double batch, samples_per_s;
	} runs[] = {
		/* github.com/lambdal/deeplearning-benchmark, amp; as in data/validation/train_other.csv */
		{ "resnet-50", "rtx-4090", 448, 1301 },      { "resnet-50", "h100-sxm5", 1280, 2787 },
		{ "resnet-50", "dgx-h100", 1280, 22045 },    { "resnet-50", "8x v100-sxm2-16gb", 256, 6174 },
		{ "ssd300-resnet50", "rtx-4090", 140, 379 },
	};
	int n_inside = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct jl_request req = ask(runs[i].model, runs[i].system, runs[i].batch);
		struct jl_prediction p;

		req.input = JL_INPUT_SYNTHETIC;
		p = predict(&req);
		n_inside += p.samples_per_s.lo < runs[i].samples_per_s && p.samples_per_s.hi > runs[i].samples_per_s;
		if (fabs(log(p.samples_per_s.value / runs[i].samples_per_s)) > log(1.25))
			fail_msg("%s on %s: %g, published %g", runs[i].model, runs[i].system, p.samples_per_s.value,
				 runs[i].samples_per_s);
	}
	assert_true(n_inside >= 4);
}

/* Batches that published runs filled their cards with (the same source): they ran, so they must fit, and not by half. */
static void test_published_batches_fit(void **state)
{
	static const struct {
		const char *model, *system;
		double batch;
		enum jl_dtype dtype;
	} runs[] = {
		{ "resnet-50", "a40", 496, JL_FP32 },          { "resnet-50", "rtx-2080-ti", 100, JL_FP32 },
		{ "resnet-50", "titan-rtx", 448, JL_FP16 },    { "ssd", "rtx-4090", 80, JL_FP32 },
		{ "maskrcnn", "rtx-a6000", 32, JL_FP32 },      { "transformer-xl-large", "a40", 32, JL_FP16 },
		{ "waveglow", "v100-sxm2-32gb", 30, JL_FP16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct jl_request req = ask(runs[i].model, runs[i].system, runs[i].batch);
		struct jl_prediction p;

		req.dtype = (int)runs[i].dtype;
		p = predict(&req);
		if (p.room == JL_ROOM_NONE || p.memory.total_B < 0.4 * p.capacity_B)
			fail_msg("%s on %s at %g: %.3g of %.3g GB", runs[i].model, runs[i].system, runs[i].batch,
				 p.memory.total_B / 1e9, p.capacity_B / 1e9);
		/* they ran: without the margin that a choice leaves free */
		assert_true(most_of(&req) >= runs[i].batch && most_of(&req) >= p.max_micro_batch);
	}
}

static void test_input_pipeline_bounds(void **state)
{
	struct jl_request req = ask("resnet-50", "dgx-h100", 256);
	struct jl_prediction free_run, few, disk;
	struct jl_advice advice[JL_ADVICE_MAX];
	struct jl_case c;
	size_t n;

	(void)state;
	req.input = JL_INPUT_SYNTHETIC;
	free_run = predict(&req);
	assert_true(free_run.step.input_s == 0 && free_run.input.input_s == 0);
	req.input = JL_UNSET;
	req.cpu_threads = 16;
	few = predict(&req);
	assert_true(few.step.input_s > 0 && few.step_s.value > free_run.step_s.value);
	assert_true(fabs(few.step_s.value / few.input.input_s - 1) < 1e-9);
	c = make(&req);
	n = jl_advise(advice, cat, &c, &arena);
	assert_true(n >= 2);
	for (size_t i = 0; i < n; i++)
		assert_true(strcmp(advice[i].key, "compile") != 0 && strcmp(advice[i].key, "zero") != 0);
	req.cpu_threads = NAN;
	req.storage_Bps = 200e6;
	disk = predict(&req);
	assert_true(disk.input.storage_s > disk.input.threads_s);
	/* 108 kB a picture: 200 MB/s bring 1,850 of them */
	assert_true(fabs(disk.samples_per_s.value - 200e6 / 108e3) < 1);
	c = make(&req);
	n = jl_advise(advice, cat, &c, &arena);
	assert_true(n >= 1 && strcmp(advice[0].key, "storage") == 0);
}

/* What makes a decoder faster is tried on networks too, and where pictures lie in memory beside it. */
static void test_networks_are_advised(void **state)
{
	struct jl_request req = ask("resnet-50", "a100-sxm4-80gb", 256);
	struct jl_advice advice[JL_ADVICE_MAX];
	struct jl_case c;

	(void)state;
	req.input = JL_INPUT_SYNTHETIC;
	c = make(&req);
	assert_true(jl_advise(advice, cat, &c, &arena) >= 2);
	assert_string_equal(advice[0].key, "compile");
	assert_string_equal(advice[1].key, "layout");
	for (int i = 0; i < 2; i++) { /* advice is what asking for it gives */
		struct jl_request then = req;

		*(i ? &then.layout : &then.framework) = i ? (int)JL_LAYOUT_LAST : (int)JL_FW_COMPILED;
		assert_true(fabs(predict(&then).step_s.value / advice[i].step_s_after - 1) < 1e-9);
	}
	req.framework = JL_FW_COMPILED;
	c = make(&req);
	for (size_t n = jl_advise(advice, cat, &c, &arena); n-- > 0;)
		assert_true(strcmp(advice[n].key, "compile") != 0 && strcmp(advice[n].key, "layout") != 0);
}

static void test_transformers_are_never_bound_by_tokens(void **state)
{
	struct jl_request req = ask("gpt-305m", "dgx-h100", 8);

	(void)state;
	assert_true(predict(&req).step.input_s == 0);
	req.storage_Bps = 1e3; /* a kilobyte a second is too slow even for tokens */
	assert_true(predict(&req).step.input_s > 0);
}

static void test_words_of_transformers_are_refused(void **state)
{
	struct jl_request bad[9];
	struct jl_case c;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < 9; i++)
		bad[i] = ask("resnet-50", "dgx-h100", 64);
	bad[0].plan.tp = 2;
	bad[1].plan.zero = 2;
	bad[2].seq = 512;
	bad[3].dtype = JL_FP8;
	bad[4].offload = JL_OFFLOAD_OPTIMIZER;
	bad[5].plan.dp = 4;
	bad[6].recompute = JL_RECOMPUTE_FULL;
	bad[7].states = 1;
	bad[8].optimizer = JL_OPT_MUON;
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(jl_case_make(&c, cat, &bad[i], &arena, &err), JL_E_USAGE);
}

static void test_slower_things_are_never_faster(void **state)
{
	struct jl_request req = ask("resnet-50", "dgx-h100", 256);
	struct jl_case c = make(&req), slow = c;
	const double step_s = jl_case_price(&c).step.step_s;

	(void)state;
	slow.machine.conv_bus_Bps /= 100;
	assert_true(jl_case_price(&slow).step.step_s >= step_s);
	slow = c;
	slow.machine.fabric.intra.rate_Bps /= 1000;
	assert_true(jl_case_price(&slow).step.step_s > step_s);
	slow = c;
	slow.machine.dev.mem_Bps /= 2;
	assert_true(jl_case_price(&slow).step.step_s > step_s);
	slow = c;
	slow.plan.n_micro = 2; /* two passes of the same batch: all but twice as long */
	slow.global_batch *= 2;
	assert_true(jl_case_price(&slow).step.step_s > 1.8 * step_s && jl_case_price(&slow).step.step_s < 2 * step_s);
}

static void test_one_gpu_is_dp_1(void **state)
{
	struct jl_request req = ask("resnet-50", "rtx-3090", 128), one = req;

	(void)state;
	one.plan.dp = 1;
	assert_true(predict(&req).step_s.value == predict(&one).step_s.value);
	assert_true(predict(&req).step.dp_s == 0);
}

static void test_compare_and_techniques(void **state)
{
	static const char *const systems[] = { "dgx-station-v100-32gb", "rtx-4090", "cpu:i9-13900k" };
	struct jl_request req = ask("resnet-50", NULL, 64);
	struct jl_compare *compare = jl_arena_alloc(&arena, sizeof(*compare));
	struct jl_technique *rows = jl_arena_array(&arena, JL_TECHNIQUES_MAX, sizeof(*rows));
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;
	size_t n = 0;

	(void)state;
	req.dtype = JL_UNSET;
	req.samples = 1281167;
	assert_int_equal(jl_subject_find(&subject, cat, &req, &arena, NULL), JL_OK);
	compare->epochs = compare->pue = compare->repeat = compare->tune = NAN;
	compare->n_rows = 3;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(jl_sys_parse(&sys, cat, systems[i], &arena, NULL), JL_OK);
		assert_int_equal(jl_machine_make(&compare->rows[i].machine, cat, &sys, NULL), JL_OK);
	}
	assert_int_equal(jl_compare_model(compare, cat, &subject, &req, NULL), JL_OK);
	for (size_t i = 0; i < 3; i++) {
		const struct jl_compare_at *at = &compare->rows[i].at[JL_AT_SAME_BATCH];

		assert_true(at->possible && at->fits && at->batch == 256 && at->batches == 5005);
		assert_true(at->energy_J.value > 0 && at->host_power);
	}
	assert_true(compare->rows[2].at[JL_AT_SAME_BATCH].speedup.hi < 0.1);
	/* what does not fit in one pass fits in several */
	assert_int_equal(jl_sys_parse(&sys, cat, "rtx-3080", &arena, NULL), JL_OK);
	assert_int_equal(jl_machine_make(&machine, cat, &sys, NULL), JL_OK);
	req = ask("resnet-50", "rtx-3080", 512);
	assert_int_equal(jl_techniques(rows, &n, cat, &subject, &machine, &req, NULL), JL_OK);
	assert_int_equal(n, 4);
	assert_string_equal(rows[0].key, "usual");
	assert_true(rows[2].room == JL_ROOM_NONE && rows[3].room == JL_ROOM_FITS && rows[3].how.plan.n_micro > 1);
}

static struct jl_sample two_units(const struct jl_subject *subject)
{
	struct jl_sample sample = jl_kind_network.sample(subject);

	sample.units *= 2;
	return sample;
}

static struct jl_case_price twice_as_long(const struct jl_case *c)
{
	struct jl_case_price w = jl_kind_network.weigh(c);

	w.step.step_s *= 2;
	return w;
}

/* Nothing but its row says what a kind of workload is: a changed row is another kind. */
static void test_a_kind_is_a_row(void **state)
{
	struct jl_workload_kind mine = jl_kind_network;
	const struct jl_request req = ask("resnet-50", "dgx-h100", 64);
	struct jl_prediction p, q;
	struct jl_case c;
	struct jl_counts counts;

	(void)state;
	assert_int_equal(jl_case_make(&c, cat, &req, &arena, NULL), JL_OK);
	assert_ptr_equal(c.subject.kind, &jl_kind_network);
	jl_predict(&p, cat, &c);
	mine.sample = two_units;
	mine.answer = JL_ASKED_PROMPT; /* whose interval it takes */
	mine.weigh = twice_as_long;
	c.subject.kind = &mine;
	jl_predict(&q, cat, &c);
	assert_true(q.step_s.value == p.step_s.value);
	assert_true(fabs(q.units_per_s.value / p.units_per_s.value - 2) < 1e-12);
	assert_true(q.half_ln != p.half_ln && q.spread_frac != p.spread_frac);
	assert_true(jl_case_price(&c).step.step_s == 2 * p.step.step_s);
	mine.count(&counts, &c.subject, 1, NAN);
	assert_true(counts.total.params == jl_subject_params(&c.subject));
}

/* Small steps wait for the host: as slow as it is, and as unsure as it is unknown. Pictures whose channels lie last need no turning. */
static void test_host_and_layout(void **state)
{
	struct jl_request req = ask("vit_small_patch16_224", "h200-sxm", 8);
	const double server_s = make(&req).profile.launch_s;
	struct jl_prediction small, large, first;

	(void)state;
	req.input = JL_INPUT_SYNTHETIC;
	small = predict(&req);
	req.batch = 1024;
	large = predict(&req);
	assert_true(small.step.host_s > 0.5 * small.step.step_s && large.step.host_s < 0.05 * large.step.step_s);
	assert_true(small.half_ln > 1.2 * large.half_ln);
	req.batch = 8;
	req.launch_s = 1e-3;
	assert_true(predict(&req).step_s.value > 4 * small.step_s.value);
	req.launch_s = 1e-6;
	assert_true(predict(&req).step_s.value < 0.7 * small.step_s.value);
	req.system = "rtx-3090"; /* desktops launch faster than the virtual machines of servers */
	req.launch_s = NAN;
	assert_true(make(&req).profile.launch_s < 0.6 * server_s);
	req = ask("resnet-50", "h200-sxm", 256);
	req.input = JL_INPUT_SYNTHETIC;
	first = predict(&req);
	req.layout = JL_LAYOUT_LAST;
	assert_true(predict(&req).step_s.value < 0.8 * first.step_s.value);
	req.optimizer = JL_OPT_FUSED;
	req.model = "vit_base_patch16_224";
	assert_true(make(&req).plan.optimizer_moved_B == 28);
}

/* An optimizer that is asked for has the states of the table that language models use; SGD keeps a recipe's momentum. */
static void test_optimizers(void **state)
{
	struct jl_request req = ask("sdxl", "h100-sxm5", 1);
	const struct jl_prediction own = predict(&req);

	(void)state;
	req.optimizer = JL_OPT_ADAMW8;
	assert_true(fabs(predict(&req).memory.optimizer_B / own.memory.optimizer_B - 2.03 / 8) < 1e-9);
	assert_true(predict(&req).step.optimizer_s < own.step.optimizer_s);
	req.optimizer = JL_OPT_SGD;
	assert_true(predict(&req).memory.optimizer_B == 0);
	req.optimizer = JL_OPT_ADAFACTOR; /* thousands of small launches */
	assert_true(predict(&req).step.host_s > 2 * own.step.host_s);
	req = ask("resnet-50", "rtx-4090", 64);
	const struct jl_prediction momentum = predict(&req);

	req.optimizer = JL_OPT_SGD;
	assert_true(predict(&req).memory.total_B == momentum.memory.total_B);
	req.optimizer = JL_OPT_FOREACH;
	assert_true(predict(&req).memory.optimizer_B == 2 * momentum.memory.optimizer_B);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_network_on_many_systems),
		TEST(test_published_runs),
		TEST(test_published_batches_fit),
		TEST(test_input_pipeline_bounds),
		TEST(test_networks_are_advised),
		TEST(test_transformers_are_never_bound_by_tokens),
		TEST(test_words_of_transformers_are_refused),
		TEST(test_slower_things_are_never_faster),
		TEST(test_one_gpu_is_dp_1),
		TEST(test_compare_and_techniques),
		TEST(test_a_kind_is_a_row),
		TEST(test_host_and_layout),
		TEST(test_optimizers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
