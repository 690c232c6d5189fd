/* One job has one answer: whichever command is asked, its time and its money are the same. 500 random jobs; a
 * sanitizer, which has seen every branch by then, sees 100. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "cost/study.h"
#include "plan/search.h"
#include "plan/way.h"
#include "goodput/goodput.h"
#include "predict/compare.h"
#include "predict/kind.h"
#include "predict/technique.h"
#include "recommend/recommend.h"
#include "serve/infer.h"
#include "serve/serve.h"

#define N_JOBS (JL_TEST_SANITIZED ? 100 : 500)

static uint64_t seed = 20261115;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % n;
}

static const char *const models[] = { "gpt2-124m",  "gpt2-355m", "bert-large",   "gpt3-1.3b",  "llama-2-7b",
				      "llama-3-8b", "resnet-50", "mixtral-8x7b", "llama-2-13b" };
static const char *const systems[] = { "rtx-4090",
				       "h100-sxm5",
				       "aws:p4d.24xlarge",
				       "aws:p5.48xlarge",
				       "8x rtx-a5000",
				       "2x aws:p5.48xlarge",
				       "4x aws:p5.48xlarge",
				       "8x l40s",
				       "8x h200-sxm",
				       "a10g",
				       "4x l4" };

static struct jl_request random_job(void)
{
	static const double batches[] = { NAN, NAN, 64, 256, 1024 };
	static const int formats[] = { JL_UNSET, JL_UNSET, JL_UNSET, JL_BF16, JL_FP16 };
	static const int frameworks[] = { JL_UNSET, JL_UNSET, JL_UNSET, JL_FW_COMPILED, JL_FW_MEGATRON };
	static const int tunes[] = { JL_UNSET, JL_UNSET, JL_UNSET, JL_TUNE_FULL, JL_TUNE_LORA, JL_TUNE_LORA };
	struct jl_request req = jl_request_empty();

	req.model = models[pick(sizeof models / sizeof *models)];
	req.system = systems[pick(sizeof systems / sizeof *systems)];
	req.global_batch = batches[pick(5)];
	req.dtype = formats[pick(5)];
	req.framework = frameworks[pick(5)];
	req.samples = 1e6 * (1 + pick(50));
	req.tune = strcmp(req.model, "resnet-50") == 0 ? JL_UNSET : tunes[pick(6)];
	if (req.tune == JL_TUNE_LORA && pick(2))
		req.base = JL_BASE_NF4;
	return req;
}

static void same(double a, double b, const char *who, const struct jl_request *req)
{
	if (!(fabs(a / b - 1) < 1e-6))
		fail_msg("%s: %g, predict: %g (%s on %s, batch %g)", who, a, b, req->model, req->system,
			 req->global_batch);
}

static void ask_cost(const struct jl_job *job, const struct jl_request *req, const struct jl_catalog *cat,
		     struct jl_arena *arena)
{
	static struct jl_cost_study study;
	struct jl_err err;

	memset(&study, 0, sizeof study);
	study.setting = (struct jl_cost_setting){ .currency = JL_USD,
						  .start_day = cat->today,
						  .horizon_days = 365,
						  .util_ppm = 150000,
						  .per_kWh = jl_money_from(0.12, JL_USD),
						  .pue_ppm = 1000000 };
	study.runs_per_month = NAN;
	study.n_options = 1;
	if (jl_cost_option_parse(&study.options[0], JL_COST_RENT, req->system, NULL, cat, arena, &err)) {
		assert_true(isnan(job->prediction.rent.usdps));
		return;
	}
	if (jl_cost_study_make(&study, req, cat, arena, &err))
		fail_msg("%s", err.en);
	if (job->prediction.room == JL_ROOM_NONE) {
		assert_false(study.work[0].known);
		return;
	}
	assert_true(study.work[0].known);
	same(study.work[0].run_s.value, job->prediction.run_s.value, "cost, time", req);
	same(study.work[0].run_s.hi, job->prediction.run_s.hi, "cost, slow end", req);
	const struct jl_elapsed elapsed = jl_goodput_elapsed(cat, &job->how, &job->prediction);

	same(study.work[0].elapsed_s.value, elapsed.time_s.value, "cost, time with failures", req);
	same(study.work[0].run_cost.value, elapsed.cost_usd.value, "cost, money", req);
}

static void ask_compare(const struct jl_job *job, const struct jl_request *req, const struct jl_catalog *cat)
{
	static struct jl_compare compare;
	struct jl_err err;

	compare.n_rows = 1;
	compare.epochs = compare.repeat = compare.tune = compare.pue = NAN;
	compare.rows[0].machine = job->how.machine;
	assert_int_equal(jl_compare_model(&compare, cat, &job->how.subject, req, &err), JL_OK);
	same(compare.rows[0].at[JL_AT_SAME_BATCH].run_s.value, job->prediction.run_s.value, "compare", req);
}

static void ask_fit(const struct jl_job *job, const struct jl_request *req, const struct jl_catalog *cat)
{
	static struct jl_technique rows[JL_TECHNIQUES_MAX];
	size_t n;
	struct jl_err err;

	assert_int_equal(jl_techniques(rows, &n, cat, &job->how.subject, &job->how.machine, req, &err), JL_OK);
	assert_string_equal(rows[0].key, "usual");
	if (rows[0].how.global_batch == job->how.global_batch)
		same(rows[0].weight.step.step_s, job->prediction.step_s.value, "fit", req);
}

static void ask_plan(const struct jl_job *job, const struct jl_request *req, const struct jl_catalog *cat)
{
	static struct jl_plan_site site;
	static struct jl_plan_result result;
	struct jl_plan_ask ask = { .site = &site,
				   .memory_frac = JL_TIGHT_FRAC,
				   .n_best = 1,
				   .n_threads = 1,
				   .mark_value = NAN,
				   .gpu_usdps = NAN };
	struct jl_case how;
	struct jl_prediction p;
	struct jl_err err;

	if (!job->how.subject.kind->is_cut)
		return;
	assert_int_equal(jl_plan_site_make(&site, cat, req, &job->how.subject, &job->how.machine, &err), JL_OK);
	assert_true(site.has_usual);
	same(site.usual.prediction.run_s.value, job->prediction.run_s.value, "plan's beginning", req);
	same(site.base.shard.seq, job->how.shard.seq, "plan's sequence", req);
	if (job->prediction.room != JL_ROOM_FITS || pick(15)) /* a search takes its time */
		return;
	assert_true(site.global_batch == job->how.global_batch);
	assert_int_equal(jl_plan_search(&result, &ask, &err), JL_OK);
	assert_true(result.top.n > 0);
	jl_plan_way_case(&how, &site, &result.top.best[0].way);
	jl_predict(&p, cat, &how);
	/* it may find something faster, never with other numbers, and says what it changed */
	if (p.step_s.value > job->prediction.step_s.value * 1.000001)
		fail_msg("plan: %g s is slower than predict's %g (%s on %s, batch %g)", p.step_s.value,
			 job->prediction.step_s.value, req->model, req->system, req->global_batch);
	assert_int_equal(how.shard.dtype, job->how.shard.dtype);
	same(p.rent.usdps * 1e6 + 1, job->prediction.rent.usdps * 1e6 + 1, "plan's rent", req);
	jl_plan_note_changes(&how, &site, &p);
	assert_true(strstr(how.notes.items[how.notes.n - 1].en, "jeoul predict") != NULL);
}

/* A thriftier way, where memory may not do at the large end of its interval, is one that predict prices the same. */
static void ask_thrifty(const struct jl_setup *s, const struct jl_job *job, const struct jl_request *req,
			const struct jl_catalog *cat, struct jl_arena *arena)
{
	static struct jl_job same_way;
	struct jl_request again = *req;
	struct jl_err err;

	assert_true(job->how.shard.micro_batch == 1 &&
		    job->prediction.memory_B.hi > JL_TIGHT_FRAC * job->prediction.capacity_B);
	assert_true(s->memory_hi_frac <= JL_TIGHT_FRAC);
	again.plan.tp = s->tp;
	again.plan.pp = s->pp;
	again.plan.vpp = s->pp > 1 ? s->vpp : NAN;
	again.plan.zero = s->zero;
	again.recompute = (int)s->recompute;
	again.micro_batch = s->micro_batch;
	assert_int_equal(jl_job_make(&same_way, cat, &again, arena, &err), JL_OK);
	same(s->run_s.value, same_way.prediction.run_s.value, "recommend, a thriftier way", req);
}

static int n_recommended[2]; /* of which adapters */

static void ask_recommend(const struct jl_job *job, const struct jl_request *req, const struct jl_catalog *cat,
			  struct jl_arena *arena)
{
	struct jl_recommend_ask ask = jl_recommend_ask_empty();
	struct jl_recommendation r;
	struct jl_err err;

	ask.cat = cat;
	ask.today = cat->today;
	ask.run = *req;
	ask.task = req->tune == JL_TUNE_LORA ? JL_TASK_LORA : JL_TASK_TRAIN;
	ask.n_only = 1;
	ask.only[0] = job->how.machine.sys.gpu;
	ask.n_threads = 1;
	ask.rent_days_max = 10000;
	ask.per_node = job->how.machine.sys.n_per_node;
	ask.gpus_max = job->how.n_gpus;
	ask.months = 12;
	ask.setup_s = 0; /* predict rents for the run alone */
	jl_recommend_defaults(&ask);
	assert_int_equal(jl_recommend_run(&r, &ask, arena, &err), JL_OK);
	for (size_t i = 0; i < r.n; i++) {
		const struct jl_candidate *c = &r.items[i];

		if (c->how != JL_HOW_RENT || c->price != job->prediction.rent.price || isnan(c->cost_usd.value) ||
		    strcmp(c->setup->text, job->how.machine.sys.text) != 0 || c->setup->offload ||
		    c->setup->global_batch != job->how.global_batch)
			continue;
		if (c->setup->zero != job->how.plan.zero || c->setup->recompute != job->how.plan.recompute ||
		    c->setup->tp != job->how.plan.tp || c->setup->pp != job->how.plan.pp ||
		    c->setup->vpp != job->how.plan.n_chunks || c->setup->micro_batch != job->how.shard.micro_batch) {
			ask_thrifty(c->setup, job, req, cat, arena);
			return;
		}
		same(c->setup->run_s.value, job->prediction.run_s.value, "recommend, time", req);
		same(c->cost_usd.value, jl_goodput_elapsed(cat, &job->how, &job->prediction).cost_usd.value,
		     "recommend, money", req);
		n_recommended[req->tune == JL_TUNE_LORA]++;
		return;
	}
}

static void one_job_has_one_answer(void **state)
{
	struct jl_catalog cat = *jl_catalog_embedded();
	static struct jl_job job;
	int n = 0;

	(void)state;
	assert_int_equal(jl_date_parse(&cat.today, "2026-11-15", NULL), JL_OK);
	for (int i = 0; i < N_JOBS; i++) {
		const struct jl_request req = random_job();
		struct jl_arena arena;
		struct jl_err err;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		if (jl_job_make(&job, &cat, &req, &arena, &err) == JL_OK) {
			if (req.tune != JL_UNSET) /* what people tune with, and it is said */
				assert_true(job.how.shard.seq <= 2048);
			ask_cost(&job, &req, &cat, &arena);
			ask_compare(&job, &req, &cat);
			ask_fit(&job, &req, &cat);
			ask_plan(&job, &req, &cat);
			ask_recommend(&job, &req, &cat, &arena);
			n++;
		}
		jl_arena_release(&arena);
	}
	assert_true(n > N_JOBS * 3 / 4);
	assert_true(n_recommended[0] > N_JOBS / 10 && n_recommended[1] > N_JOBS / 25);
}

/* The same requests at once, asked of infer. */
static void ask_infer(const struct jl_serve_answer *answer, const struct jl_serve_ask *one,
		      const struct jl_machine *machine, const struct jl_catalog *cat)
{
	static struct jl_infer infer;
	const struct jl_infer_ask ask = { .model = one->model,
					  .model_name = one->model->id,
					  .weights = one->weights,
					  .kind = JL_LOAD_CLOSED,
					  .concurrency = one->n_requests,
					  .prompt = one->prompt,
					  .answer = one->output,
					  .n_gpus = one->n_gpus,
					  .n_copies = 1,
					  .n_stages = 1,
					  .n_ep = 1,
					  .burst = 1,
					  .host_B = NAN,
					  .kv_tokens = NAN,
					  .ttft_max_s = NAN,
					  .tpot_max_s = NAN,
					  .usd_per_kWh = 0.12,
					  .pue = 1,
					  .seed = 1 };
	struct jl_err err;

	if (jl_infer(&infer, cat, machine, &ask, &err))
		fail_msg("%s", err.en);
	if (!(fabs(infer.tpot_s.mean.value / answer->tpot_s.value - 1) < 1e-9 &&
	      fabs(infer.tpot_s.mean.hi / answer->tpot_s.hi - 1) < 1e-9 &&
	      fabs(infer.ttft_s.mean.value / answer->ttft_s.value - 1) < 1e-9 &&
	      fabs(infer.output_tps.value / answer->total_tps.value - 1) < 1e-9))
		fail_msg("%s on %s: infer %g s a token, %g s first, %g tokens/s; predict %g, %g, %g", one->model->id,
			 machine->sys.text, infer.tpot_s.mean.value, infer.ttft_s.mean.value, infer.output_tps.value,
			 answer->tpot_s.value, answer->ttft_s.value, answer->total_tps.value);
}

/* A served model takes as long in recommend, which weighs alike machines once, as where predict --serve asks for one. */
static void one_served_load_has_one_answer(void **state)
{
	static const char *const served[] = { "llama-3-8b", "llama-3-70b", "mixtral-8x7b" };
	struct jl_catalog cat = *jl_catalog_embedded();
	size_t n = 0;

	(void)state;
	assert_int_equal(jl_date_parse(&cat.today, "2026-11-15", NULL), JL_OK);
	for (size_t m = 0; m < sizeof served / sizeof *served; m++) {
		struct jl_recommend_ask ask = jl_recommend_ask_empty();
		struct jl_recommendation r;
		struct jl_arena arena;
		struct jl_err err;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		ask.cat = &cat;
		ask.today = cat.today;
		ask.task = JL_TASK_SERVE;
		ask.run.model = served[m];
		ask.concurrency = 16;
		ask.context = 4096;
		ask.tokens_per_s = 200;
		ask.months = 12;
		ask.n_threads = 1;
		assert_int_equal(jl_recommend_run(&r, &ask, &arena, &err), JL_OK);
		for (size_t i = 0; i < r.n_ok; i += JL_TEST_SANITIZED ? 35 : 7) {
			const struct jl_setup *s = r.items[i].setup;
			const char *formats[] = { "int4", s->sys.gpu->fp8_dense_flopps.value > 0 ? "fp8" : "int8",
						  NULL };
			struct jl_serve_ask one = { .model = jl_model_by_id(&cat, served[m]),
						    .weights = formats[s->weight_bits == 4   ? 0
								       : s->weight_bits == 8 ? 1
											     : 2],
						    .n_gpus = (int)s->tp,
						    .n_requests = ceil(ask.concurrency / s->dp),
						    .prompt = 3072,
						    .output = 1024 };
			struct jl_serve_answer answer;
			struct jl_machine machine;

			assert_int_equal(jl_machine_make(&machine, &cat, &s->sys, &err), JL_OK);
			assert_int_equal(jl_serve_predict(&answer, &cat, &machine, &one, &err), JL_OK);
			if (!(fabs(answer.tpot_s.value / s->run_s.value - 1) < 1e-6 &&
			      fabs(answer.tpot_s.hi / s->run_s.hi - 1) < 1e-6))
				fail_msg("%s on %s: recommend %g s a token, predict %g s", served[m], s->text,
					 s->run_s.value, answer.tpot_s.value);
			ask_infer(&answer, &one, &machine, &cat);
			n++;
		}
		jl_arena_release(&arena);
	}
	assert_true(n > (JL_TEST_SANITIZED ? 6 : 30));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_job_has_one_answer),
					    cmocka_unit_test(one_served_load_has_one_answer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
