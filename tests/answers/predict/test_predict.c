/* What is chosen, what is refused, what is advised. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "predict/answer.h"
#include "predict/count.h"
#include "predict/technique.h"

static struct jl_arena arena;
static struct jl_err err;

static int setup(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	err = (struct jl_err){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_request ask(const char *model, const char *system)
{
	struct jl_request req = jl_request_empty();

	req.model = model;
	req.system = system;
	return req;
}

static struct jl_case make(const struct jl_request *req)
{
	struct jl_case c;

	if (jl_case_make(&c, jl_catalog_embedded(), req, &arena, &err))
		fail_msg("%s", err.en);
	return c;
}

static int has_note(const struct jl_case *c, const char *key)
{
	for (size_t i = 0; i < c->notes.n; i++)
		if (strcmp(c->notes.items[i].key, key) == 0 && c->notes.items[i].en[0] && c->notes.items[i].text[0])
			return 1;
	return 0;
}

static void test_choices_follow_the_gpu(void **state)
{
	static const struct {
		const char *system;
		enum jl_dtype dtype;
		int flash;
	} rows[] = { { "dgx-h100", JL_BF16, 1 },
		     { "dgx-station-v100-32gb", JL_FP16, 1 },
		     { "rtx-3090", JL_BF16, 1 },
		     { "cpu:i9-13900k", JL_FP32, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct jl_request req = ask("gpt2-124m", rows[i].system);
		const struct jl_case c = make(&req);

		assert_int_equal(c.shard.dtype, rows[i].dtype);
		assert_int_equal(c.shard.flash, rows[i].flash);
		assert_true(has_note(&c, "precision") && has_note(&c, "flash") && has_note(&c, "batch") &&
			    has_note(&c, "seq"));
		assert_int_equal(c.framework, JL_FW_EAGER);
	}
}

static void test_what_is_given_is_kept_and_not_noted(void **state)
{
	struct jl_request req = ask("llama-3-8b", "dgx-h100");
	struct jl_case c;

	(void)state;
	req.dtype = JL_FP8;
	req.flash = 0;
	req.seq = 4096;
	req.framework = JL_FW_NATIVE;
	req.recompute = JL_RECOMPUTE_FULL;
	req.plan.zero = 1;
	req.batch = 2;
	c = make(&req);
	assert_true(c.shard.dtype == JL_FP8 && c.shard.act_dtype == JL_BF16 && !c.shard.flash && c.shard.seq == 4096);
	assert_true(c.framework == JL_FW_NATIVE && c.plan.recompute == JL_RECOMPUTE_FULL && c.plan.zero == 1 &&
		    c.global_batch == 16);
	assert_false(has_note(&c, "precision") || has_note(&c, "flash") || has_note(&c, "seq") ||
		     has_note(&c, "framework") || has_note(&c, "batch"));
}

static void test_cuts_are_as_small_as_fits(void **state)
{
	struct jl_request req = ask("gpt2-124m", "8x rtx-3090");
	struct jl_case c = make(&req);

	(void)state;
	assert_true(c.plan.dp == 8 && c.plan.tp == 1 && c.plan.pp == 1);
	req.recompute = JL_RECOMPUTE_FULL; /* asked for, not needed: no reason to look for a cut */
	c = make(&req);
	assert_true(c.plan.dp == 8 && c.framework == JL_FW_EAGER);
	req = ask("llama-3-8b", "dgx-h100");
	c = make(&req);
	assert_true(c.plan.tp * c.plan.pp == 1 && c.plan.zero >= 2);
	assert_true(c.plan.shard == 0);
	req = ask("llama-2-7b", "8x b200"); /* whole states fit, and leave room for half a pass */
	c = make(&req);
	assert_true(c.plan.dp == 8 && c.plan.zero >= 2 && c.shard.micro_batch >= 4);
	req.global_batch = 32;
	c = make(&req);
	assert_true(c.plan.zero >= 2 && c.plan.n_micro == 1);
	req = ask("llama-3-8b", "125x aws:p5.48xlarge"); /* over many hosts states are cut inside each */
	c = make(&req);
	assert_true(c.plan.tp * c.plan.pp == 1 && c.plan.zero >= 2 && c.plan.shard == 8);
	req = ask("gpt3-175b", "16x dgx-a100-80gb"); /* a batch that keeps its stages full */
	req.global_batch = 2048;
	c = make(&req);
	assert_true(c.plan.tp * c.plan.pp > 1 && c.framework == JL_FW_MEGATRON && c.plan.sp && c.plan.tp <= 8);
	assert_true(jl_case_price(&c).memory.total_B <= c.machine.dev.mem_B);
	req = ask("gpt3-175b", "rtx-3090"); /* cannot fit: said, not refused */
	c = make(&req);
	assert_true(jl_case_price(&c).memory.total_B > c.machine.dev.mem_B && jl_case_max_micro_batch(&c) == 0);
}

static void test_batches(void **state)
{
	struct jl_request req = ask("gpt-305m", "4x rtx-3090");
	struct jl_case c;

	(void)state;
	req.batch = 4;
	req.accumulate = 3;
	c = make(&req);
	assert_true(c.shard.micro_batch == 4 && c.plan.n_micro == 3 && c.global_batch == 48);
	req.accumulate = NAN;
	req.micro_batch = 2;
	c = make(&req);
	assert_true(c.shard.micro_batch == 2 && c.plan.n_micro == 2 && c.global_batch == 16);
	req = ask("gpt-305m", "4x rtx-3090");
	req.global_batch = 4096;
	c = make(&req);
	assert_true(c.global_batch == 4096 && c.shard.micro_batch * c.plan.n_micro == 1024);
	assert_true(jl_case_price(&c).memory.total_B <= c.machine.dev.mem_B);
}

static void test_largest_batch_is_the_largest(void **state)
{
	struct jl_request req = ask("gpt-305m", "rtx-3090");
	struct jl_case c;
	double most;

	(void)state;
	req.batch = 4;
	c = make(&req);
	most = jl_case_max_micro_batch(&c);
	assert_true(most >= 4);
	c.shard.micro_batch = most;
	assert_true(jl_case_price(&c).memory.total_B <= (1 - JL_MEMORY_MARGIN_FRAC) * c.machine.dev.mem_B);
	c.shard.micro_batch = most + 1;
	assert_true(jl_case_price(&c).memory.total_B > (1 - JL_MEMORY_MARGIN_FRAC) * c.machine.dev.mem_B);
	assert_true(jl_case_max_micro_batch_within(&c, 1) >= most && jl_case_max_micro_batch_within(&c, 0.01) == 0);
}

/* A step of the system's own default cut, and of that of another system with the same links. */
static double step_of(const char *model, const char *system, double global_batch, const struct jl_case *like)
{
	struct jl_request req = ask(model, system);
	struct jl_case c;

	req.global_batch = global_batch;
	if (like) {
		req.plan.tp = like->plan.tp;
		req.plan.pp = like->plan.pp;
		req.plan.vpp = 1; /* the search stops at small cuts; interleaved larger ones are for plan */
		req.plan.zero = like->plan.zero;
		req.recompute = (int)like->plan.recompute;
		req.micro_batch = like->shard.micro_batch;
	}
	c = make(&req);
	assert_true(jl_case_room(&c, &(struct jl_case_price){ .memory = jl_case_price(&c).memory }) == JL_ROOM_FITS);
	return jl_case_price(&c).step.step_s;
}

/* More memory must not lead to a slower choice: whatever the smaller card chooses fits the larger one too. */
static void test_more_memory_is_never_a_slower_choice(void **state)
{
	static const struct {
		const char *model, *small, *large;
		double batch;
	} rows[] = { { "llama-3-70b", "64x dgx-h100", "64x dgx-h200", 512 },
		     { "llama-3-70b", "8x dgx-h100", "8x dgx-h200", 512 },
		     { "gpt3-175b", "16x dgx-h100", "16x dgx-h200", 256 },
		     { "llama-3-70b", "8x dgx-a100-40gb", "8x dgx-a100-80gb", 256 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct jl_request req = ask(rows[i].model, rows[i].small);
		struct jl_case c;
		double own_s, like_s;

		req.global_batch = rows[i].batch;
		c = make(&req);
		own_s = step_of(rows[i].model, rows[i].large, rows[i].batch, NULL);
		like_s = step_of(rows[i].model, rows[i].large, rows[i].batch, &c);
		if (own_s > 1.011 * like_s)
			fail_msg("%s on %s: %.3f s by choice, %.3f s as on %s", rows[i].model, rows[i].large, own_s,
				 like_s, rows[i].small);
	}
}

/* What is assumed and what is advised must not contradict each other. */
static void test_advice_keeps_the_margin(void **state)
{
	static const char *const systems[] = { "dgx-h100", "dgx-a100-80gb", "8x rtx-4090", "2x dgx-h100" };

	(void)state;
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++) {
		const struct jl_request req = ask("llama-3-8b", systems[i]);
		const struct jl_case c = make(&req);
		struct jl_advice advice[JL_ADVICE_MAX];
		const size_t n = jl_advise(advice, jl_catalog_embedded(), &c, &arena);
		struct jl_case without = c;
		bool advised = false;

		without.plan.recompute = JL_RECOMPUTE_NONE;
		for (size_t k = 0; k < n; k++)
			advised |= strcmp(advice[k].key, "less_recompute") == 0;
		if (c.plan.recompute == JL_RECOMPUTE_SELECTIVE)
			assert_true(!advised && jl_case_price(&without).memory.total_B >
							(1 - JL_MEMORY_MARGIN_FRAC) * c.machine.dev.mem_B);
	}
}

static void test_words_without_effect_are_refused(void **state)
{
	struct jl_request req = ask("gpt2-124m", "cpu:i9-13900k");
	struct jl_case c;

	(void)state;
	req.flash = 1;
	assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	req.system = "rtx-3090";
	assert_true(make(&req).shard.flash == 1);
	req.flash = JL_UNSET;
	req.input = JL_INPUT_IMAGES;
	assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	req.model = "resnet-50";
	assert_true(make(&req).input.kind == JL_INPUT_IMAGES);
	req.host_W = 1e6;
	assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	req.host_W = 1e3;
	assert_true(make(&req).machine.host_idle_W == 1e3);
}

static void test_impossible_plans_say_what_would_be_right(void **state)
{
	static const struct {
		const char *parallel, *says;
		double global_batch, micro_batch, accumulate;
	} bad[] = {
		{ "tp=3", "divisor of 8", NAN, NAN, NAN }, { "tp=8,dp=2", "take dp=1", NAN, NAN, NAN },
		{ "dp=3", "take dp=8", NAN, NAN, NAN },    { "vpp=2", "pp", NAN, NAN, NAN },
		{ "ep=2", "experts", NAN, NAN, NAN },      { "zero=4", "zero", NAN, NAN, NAN },
		{ "xp=2", "dp=", NAN, NAN, NAN },          { "tp", "dp=4,tp=2", NAN, NAN, NAN },
		{ "", "take 8 or 16", 13, NAN, NAN },      { "", "multiple of 3", 16, 3, NAN },
		{ "", "multiple of 5", 16, NAN, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct jl_request req = ask("llama-3-8b", "dgx-h100");
		struct jl_case c;
		enum jl_status status = jl_request_parallel(&req.plan, bad[i].parallel, &err);

		req.global_batch = bad[i].global_batch;
		req.micro_batch = bad[i].micro_batch;
		req.accumulate = bad[i].accumulate;
		if (!status)
			status = jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err);
		if (status == JL_OK || !strstr(err.en, bad[i].says) || !err.text[0])
			fail_msg("%s: status %d, '%s'", bad[i].parallel, (int)status, err.en);
	}
}

static void test_published_run_before_any_fit(void **state)
{
	struct jl_request req = ask("gpt3-175b", "8x dgx-a100-80gb");
	struct jl_case c;
	struct jl_prediction p;

	(void)state;
	assert_int_equal(jl_request_parallel(&req.plan, "tp=8,pp=8,vpp=3,sp=1", &err), JL_OK);
	req.global_batch = 64;
	req.micro_batch = 1;
	req.recompute = JL_RECOMPUTE_SELECTIVE;
	req.flash = 0;
	c = make(&req);
	jl_predict(&p, jl_catalog_embedded(), &c);
	/* arXiv:2205.05198, table 5: 13.75 s */
	if (fabs(log(p.step_s.value / 13.75)) > log(1.2))
		fail_msg("%.2f s, measured 13.75 s", p.step_s.value);
	assert_true(p.room != JL_ROOM_NONE);
}

static void test_runs_and_money(void **state)
{
	struct jl_request req = ask("gpt-305m", "4x rtx-3090");
	struct jl_case c;
	struct jl_prediction p, step;

	(void)state;
	req.batch = 4;
	c = make(&req);
	jl_predict(&step, jl_catalog_embedded(), &c);
	assert_true(!step.whole_run && isnan(step.run_s.value));
	req.samples = 1601; /* 100 steps of 16 and one that is not full */
	req.epochs = 3;
	req.pue = 1.5;
	c = make(&req);
	jl_predict(&p, jl_catalog_embedded(), &c);
	assert_true(p.steps_per_epoch == 101 && p.whole_run);
	assert_true(fabs(p.run_s.value / (303 * p.step_s.value) - 1) < 1e-12);
	assert_true(fabs(p.energy_J.value / (1.5 * 303 * step.energy_J.value) - 1) < 1e-9);
	assert_true(p.rent.usdps > 0 && p.rent.date &&
		    fabs(p.cost_usd.value / (p.run_s.value * 4 * p.rent.usdps) - 1) < 1e-12);
}

static void test_rent_of_a_cloud_offer_is_its_own(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_sys sys;
	struct jl_rent rent;

	(void)state;
	assert_int_equal(jl_sys_parse(&sys, cat, "aws:p5.48xlarge", &arena, &err), JL_OK);
	rent = jl_rent_find(cat, &sys);
	assert_string_equal(rent.item, "p5.48xlarge");
	assert_int_equal(jl_sys_parse(&sys, cat, "8x h100-sxm5", &arena, &err), JL_OK);
	assert_true(jl_rent_find(cat, &sys).usdps <= rent.usdps);
}

static void test_advice_is_ranked_and_fits(void **state)
{
	struct jl_request req = ask("gpt-305m", "10x rtx-3090 via pcie4-no-p2p");
	struct jl_advice advice[JL_ADVICE_MAX];
	struct jl_case c;
	size_t n;
	int bridge = 0;

	(void)state;
	req.batch = 4;
	req.plan.zero = 0;
	c = make(&req);
	n = jl_advise(advice, jl_catalog_embedded(), &c, &arena);
	assert_true(n == 3);
	for (size_t i = 0; i < n; i++) {
		const double gain = advice[i].samples_per_s_after / advice[i].samples_per_s_before;

		assert_true(gain >= 1 + JL_ADVICE_GAIN_FRAC && advice[i].en[0] && advice[i].text[0]);
		assert_true(i == 0 || gain <= advice[i - 1].samples_per_s_after / advice[i - 1].samples_per_s_before);
		bridge |= strcmp(advice[i].key, "nvlink_bridge") == 0;
	}
	assert_true(bridge);
	req = ask("gpt2-1.5b", "rtx-3090"); /* does not fit: what makes it fit */
	req.batch = 8;
	req.recompute = JL_RECOMPUTE_NONE;
	c = make(&req);
	n = jl_advise(advice, jl_catalog_embedded(), &c, &arena);
	assert_true(n >= 1 && advice[0].makes_it_fit);
}

static void test_techniques_cost_what_they_cost(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	static struct jl_technique rows[JL_TECHNIQUES_MAX];
	const struct jl_request req = ask("llama-3-8b", "dgx-a100-80gb");
	const struct jl_case c = make(&req);
	const struct jl_technique *zero3 = NULL, *mixed = NULL, *full = NULL;
	size_t n;

	(void)state;
	assert_int_equal(jl_techniques(rows, &n, cat, &c.subject, &c.machine, &req, &err), JL_OK);
	for (size_t i = 0; i < n; i++) {
		zero3 = strcmp(rows[i].key, "zero3") == 0 ? &rows[i] : zero3;
		mixed = strcmp(rows[i].key, "mixed") == 0 ? &rows[i] : mixed;
		full = strcmp(rows[i].key, "recompute_full") == 0 ? &rows[i] : full;
		assert_true(!rows[i].possible || rows[i].how.global_batch == 8);
	}
	for (size_t i = 0; i < n; i++)
		if (strstr(rows[i].en, "offload all") && rows[i].possible)
			assert_true(rows[i].how.plan.offload ==
				    (JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS | JL_OFFLOAD_ACTIVATIONS));
	assert_true(zero3 && mixed && full && zero3->room != JL_ROOM_NONE && mixed->room == JL_ROOM_NONE);
	assert_true(full->weight.memory.total_B < mixed->weight.memory.total_B &&
		    full->weight.step.step_s > mixed->weight.step.step_s);
}

static void test_counts_sum(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_convnet_list nets;

	(void)state;
	for (size_t i = 0; i < cat->n_models; i++) {
		struct jl_request req = jl_request_empty();
		struct jl_subject subject;
		struct jl_counts counts;
		double sum = 0;

		req.model = cat->models[i].id;
		assert_int_equal(jl_subject_find(&subject, cat, &req, &arena, &err), JL_OK);
		jl_count_transformer(&counts, &subject.model, 2, 1024);
		for (size_t k = 0; k < counts.n; k++)
			sum += counts.rows[k].params;
		if (fabs(sum - jl_transformer_params(&subject.model).total) > 0.5)
			fail_msg("%s: layers have %.0f parameters, the model %.0f", req.model, sum,
				 jl_transformer_params(&subject.model).total);
	}
	assert_int_equal(jl_convnets(&nets, jl_catalog_embedded(), &arena, &err), JL_OK);
	assert_non_null(jl_convnet_find(&nets, "resnet-50"));
	struct jl_counts counts;

	jl_count_convnet(&counts, jl_convnet_find(&nets, "resnet-50"), 1);
	assert_true(fabs(counts.total.fwd_flop / 2 / 4.11e9 - 1) < 0.002 && counts.total.params == 25557032);
}

static void test_shapes_from_flags(void **state)
{
	struct jl_request req = ask(NULL, "rtx-3090");
	struct jl_case c;

	(void)state;
	assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	req.shape = (struct jl_shape){
		.layers = 12, .hidden = 768, .heads = 12, .kv_heads = NAN, .ffn = NAN, .vocab = NAN
	};
	req.seq = 1024;
	c = make(&req);
	assert_true(jl_transformer_params(&c.subject.model).total == 124439808 && has_note(&c, "model"));
	req.shape.heads = 7;
	assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	req = ask("resnet-5000", "rtx-3090");
	assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &req, &arena, &err), JL_E_NOTFOUND);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_choices_follow_the_gpu),
		TEST(test_what_is_given_is_kept_and_not_noted),
		TEST(test_cuts_are_as_small_as_fits),
		TEST(test_batches),
		TEST(test_largest_batch_is_the_largest),
		TEST(test_more_memory_is_never_a_slower_choice),
		TEST(test_advice_keeps_the_margin),
		TEST(test_words_without_effect_are_refused),
		TEST(test_impossible_plans_say_what_would_be_right),
		TEST(test_published_run_before_any_fit),
		TEST(test_runs_and_money),
		TEST(test_rent_of_a_cloud_offer_is_its_own),
		TEST(test_advice_is_ranked_and_fits),
		TEST(test_techniques_cost_what_they_cost),
		TEST(test_counts_sum),
		TEST(test_shapes_from_flags),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
