#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "recommend/recommend.h"

struct fixture {
	struct jl_arena arena;
	struct jl_purposes purposes;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct jl_err err;

	jl_arena_init(&f.arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_purposes_embedded(&f.purposes, &f.arena, &err), JL_OK);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	jl_arena_release(&((struct fixture *)*state)->arena);
	return 0;
}

static struct jl_recommend_ask ask_for(struct fixture *f, const char *purpose)
{
	struct jl_recommend_ask ask = jl_recommend_ask_empty();
	const struct jl_purpose *p;
	struct jl_err err;

	ask.cat = jl_catalog_embedded();
	assert_int_equal(jl_date_parse(&ask.today, "2026-11-15", &err), JL_OK);
	assert_int_equal(jl_purpose_find(&p, &f->purposes, purpose, &err), JL_OK);
	jl_recommend_purpose(&ask, p);
	return ask;
}

static struct jl_recommendation run(struct fixture *f, const struct jl_recommend_ask *ask)
{
	struct jl_recommendation r;
	struct jl_err err;

	if (jl_recommend_run(&r, ask, &f->arena, &err))
		fail_msg("%s", err.en);
	return r;
}

/* By the definition, not by the sweep that made the flags. */
static void front_is_what_nothing_beats(void **state)
{
	struct fixture *f = *state;
	const struct jl_recommend_ask ask = ask_for(f, "finetune-7b");
	const struct jl_recommendation r = run(f, &ask);
	size_t n_front = 0;

	assert_true(r.n >= 8000);
	assert_true(r.n_ok > 100 && r.pick >= 0);
	for (size_t i = 0; i < r.n_ok; i += 7) {
		const struct jl_candidate *c = &r.items[i];
		bool beaten = false;

		for (size_t k = 0; !beaten && k < r.n_ok; k++)
			beaten = r.items[k].cost_usd.value < c->cost_usd.value &&
				 r.items[k].setup->run_s.value < c->setup->run_s.value;
		if (c->on_front)
			assert_false(beaten);
	}
	for (size_t i = 0; i < r.n_ok; i++)
		n_front += r.items[i].on_front;
	assert_true(n_front >= 2);
	assert_true(r.items[0].on_front && r.items[r.fastest].on_front);
	for (int i = 0; i < r.fastest; i++) /* what nobody can tell from the fastest is not cheaper */
		assert_true(0.99 * r.items[i].setup->run_s.value > r.items[r.fastest].setup->run_s.value);
}

/* An old price is not told where the same is offered for a newer one that counts. */
static void old_prices_are_the_reason(void **state)
{
	struct fixture *f = *state;

	for (size_t p = 0; p < f->purposes.n; p++) {
		struct jl_recommend_ask ask = ask_for(f, f->purposes.items[p].id);

		ask.deadline_s = ask.wait_s / 4;
		const struct jl_recommendation r = run(f, &ask);

		for (size_t k = 0; k < r.n_rejected; k++) {
			const struct jl_candidate *c = &r.items[r.rejected[k]];

			for (size_t i = 0; c->against == JL_AGAINST_PRICE && i < r.n; i++)
				assert_false(r.items[i].setup->sys.gpu == c->setup->sys.gpu &&
					     r.items[i].how == c->how &&
					     ask.today - r.items[i].price_day <= ask.rent_days_max);
		}
	}
}

static void every_candidate_is_judged(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "cv-research");
	struct jl_recommendation r;
	size_t sum = 0;

	ask.budget_usd = 20000;
	ask.power_W = 1500;
	r = run(f, &ask);
	for (int a = 0; a < JL_N_AGAINST; a++)
		sum += r.n_against[a];
	assert_int_equal(sum, r.n);
	for (size_t i = 0; i < r.n; i++) {
		const struct jl_candidate *c = &r.items[i];

		assert_true((c->against == JL_AGAINST_NOTHING) == (i < r.n_ok));
		if (i >= r.n_ok)
			continue;
		assert_true(c->cost_usd.value <= 20000 && c->cost_usd.lo <= c->cost_usd.value &&
			    c->cost_usd.value <= c->cost_usd.hi);
		assert_true(c->setup->run_s.value <= ask.wait_s);
		assert_true(c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT || c->setup->peak_W <= 1500);
		assert_true(c->how == JL_HOW_NEW || c->how == JL_HOW_USED || ask.today - c->price_day <= 365);
	}
}

/* The time is the predictor's own, on the system as a person would write it. */
static void times_are_the_predictors(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "kaggle");
	struct jl_recommendation r;
	int n_seen = 0;

	ask.n_only = 2;
	ask.only[0] = jl_gpu_by_id(ask.cat, "rtx-3090");
	ask.only[1] = jl_gpu_by_id(ask.cat, "rtx-4090");
	r = run(f, &ask);
	for (size_t i = 0; i < r.n_ok && n_seen < 20; i++) {
		const struct jl_setup *s = r.items[i].setup;
		struct jl_request req = ask.run;
		struct jl_prediction p;
		struct jl_case c;
		struct jl_err err;

		/* what is shown can be asked for: the batch divides, and is at most a tenth above the one wanted */
		assert_true(fmod(s->global_batch, s->dp) == 0 && s->global_batch >= req.global_batch &&
			    s->global_batch <= 1.1 * req.global_batch);
		assert_true(s->dp * s->micro_batch * s->n_micro == s->global_batch);
		req.global_batch = s->global_batch;
		req.system = s->text;
		assert_int_equal(jl_case_make(&c, ask.cat, &req, &f->arena, &err), JL_OK);
		jl_predict(&p, ask.cat, &c);
		assert_true(fabs(p.run_s.value / s->run_s.value - 1) < 1e-9);
		n_seen++;
	}
	assert_true(n_seen >= 3);
}

static void threads_do_not_matter(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "serve-70b");
	struct jl_recommendation one, two;

	ask.n_threads = 1;
	one = run(f, &ask);
	ask.n_threads = 3;
	two = run(f, &ask);
	assert_int_equal(one.n_ok, two.n_ok);
	assert_int_equal(one.pick, two.pick);
	for (size_t i = 0; i < one.n_ok; i++)
		assert_true(one.items[i].cost_usd.value == two.items[i].cost_usd.value &&
			    strcmp(one.items[i].setup->text, two.items[i].setup->text) == 0);
}

static void share_of_use_is_cheaper(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "kaggle");
	struct jl_recommendation whole, part;

	ask.hows = 1U << JL_HOW_NEW;
	whole = run(f, &ask);
	ask.util_frac = 0.5;
	part = run(f, &ask);
	assert_true(part.items[part.pick].cost_usd.value < whole.items[whole.pick].cost_usd.value);
}

/* One seller's offer is one machine; a price counts its days from the date that is shown. */
static void offers_are_what_they_are(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "cluster");
	struct jl_recommendation r;

	ask.rent_days_max = 1000; /* the marketplace's snapshot is more than a year old */
	r = run(f, &ask);
	assert_true(r.n_against[JL_AGAINST_OFFER] > 0);
	for (size_t i = 0; i < r.n; i++) {
		const struct jl_candidate *c = &r.items[i];
		long day;

		if (i < r.n_ok && c->setup->sys.n_nodes > 1 && c->price)
			assert_true(jl_price_may_repeat(c->price) || c->how == JL_HOW_NEW || c->how == JL_HOW_USED);
		if (c->price)
			assert_true(c->how == JL_HOW_NEW || c->how == JL_HOW_USED || jl_price_is_machine(c->price));
		if (c->price_date && jl_date_parse(&day, c->price_date, NULL) == JL_OK)
			assert_int_equal(c->price_day, day);
	}
}

/* What one machine does in an hour is not spread over several; a load that fewer machines carry is not either. */
static void no_more_machines_than_needed(void **state)
{
	static const char *const purposes[] = { "kaggle", "learning", "serve-70b" };
	struct fixture *f = *state;

	for (size_t k = 0; k < sizeof purposes / sizeof *purposes; k++) {
		const struct jl_recommend_ask ask = ask_for(f, purposes[k]);
		const struct jl_recommendation r = run(f, &ask);

		assert_true(r.n_against[JL_AGAINST_SPARE] > 0);
		for (size_t i = 0; i < r.n_ok; i++) {
			const struct jl_setup *s = r.items[i].setup;

			assert_true(s->sys.n_nodes == 1 || s->run_s.hi > 600 || ask.task == JL_TASK_SERVE);
			assert_true(s->sys.n_nodes == 1 || ask.task != JL_TASK_SERVE ||
				    s->per_s.lo < 4 * ask.tokens_per_s || s->run_s.hi > ask.wait_s / 4);
		}
	}
}

/* Who buys pays all of it: a share of use does not bring a machine into the budget. */
static void budgets_hold_for_the_purchase(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "kaggle");
	struct jl_recommendation r;

	ask.hows = 1U << JL_HOW_NEW | 1U << JL_HOW_USED;
	ask.util_frac = 0.15;
	ask.budget_usd = 3000;
	r = run(f, &ask);
	assert_true(r.n_ok > 0);
	for (size_t i = 0; i < r.n_ok; i++)
		assert_true(r.items[i].unit_usd * r.items[i].setup->sys.n_nodes <= 3000);
}

/* Nothing will do: the one that misses least, and by what. */
static void the_nearest_is_told(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "serve-70b");
	struct jl_recommendation r;

	ask.budget_usd = 2000;
	r = run(f, &ask);
	assert_true(r.pick < 0 && r.nearest >= 0);
	assert_int_equal(r.items[r.nearest].against, JL_AGAINST_BUDGET);
	for (size_t i = 0; i < r.n; i++)
		if (r.items[i].against == JL_AGAINST_BUDGET && r.items[i].how == JL_HOW_RENT)
			assert_true(r.items[i].cost_usd.value >= r.items[r.nearest].cost_usd.value);
	ask = ask_for(f, "kaggle");
	ask.deadline_s = 1e-3;
	r = run(f, &ask);
	assert_int_equal(r.items[r.nearest].against, JL_AGAINST_WAIT);
}

/* The format that is asked for is the one that serves. */
static void serving_keeps_the_format(void **state)
{
	static const struct {
		enum jl_dtype dtype;
		double bits;
	} cases[] = { { JL_FP16, 16 }, { JL_BF16, 16 }, { JL_FP8, 8 } };
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "serve-70b");
	struct jl_recommendation r;
	struct jl_err err;

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		ask.run.dtype = (int)cases[k].dtype;
		r = run(f, &ask);
		assert_true(r.n_ok > 0);
		for (size_t i = 0; i < r.n_ok; i++)
			assert_true(r.items[i].setup->weight_bits == cases[k].bits);
	}
	ask.run.dtype = JL_TF32;
	assert_int_equal(jl_recommend_run(&r, &ask, &f->arena, &err), JL_E_USAGE);
}

static void bad_purposes_are_refused(void **state)
{
	static const char *const texts[] = {
		"purposes: []\n",
		"purposes:\n  - id: a\n",
		"purposes:\n  - {id: a, en: b, ko: c, task: fly, model: m}\n",
		"purposes:\n  - {id: a, en: b, ko: c, task: train, model: m, runs: 0}\n",
		"purposes:\n  - {id: a, en: b, ko: c, task: train, model: m, wait: 5}\n",
		"purposes:\n  - {id: a, en: b, ko: c, task: train, model: m, colour: red}\n",
	};
	struct fixture *f = *state;
	struct jl_purposes list;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct jl_err err;

		assert_int_not_equal(jl_purposes_parse(&list, texts[i], strlen(texts[i]), "test", &f->arena, &err),
				     JL_OK);
		assert_true(err.en[0] && err.text[0]);
	}
}

/* What nobody who knows the field would sign is not picked, whatever is asked. */
static void picks_are_what_an_expert_signs(void **state)
{
	struct fixture *f = *state;
	static const unsigned hows[] = { 0, 1U << JL_HOW_NEW, 1U << JL_HOW_NEW | 1U << JL_HOW_USED, 1U << JL_HOW_RENT };

	/* under a sanitizer each purpose with one of the ways to get machines, in turn */
	for (size_t k = 0; k < f->purposes.n; k++)
		for (size_t h = JL_TEST_SANITIZED ? k % JL_LEN(hows) : 0; h < JL_LEN(hows);
		     h += JL_TEST_SANITIZED ? JL_LEN(hows) : 1) {
			struct jl_recommend_ask ask = ask_for(f, f->purposes.items[k].id);
			struct jl_recommendation r;
			const struct jl_candidate *c;
			const struct jl_sys *sys;

			ask.hows = hows[h];
			r = run(f, &ask);
			if (r.pick < 0)
				continue;
			c = &r.items[r.pick];
			sys = &c->setup->sys;
			/* software, tensor cores, a size that people run */
			assert_string_equal(c->setup->support->value, "yes");
			assert_true(c->setup->tensor_cores && sys->gpu->year >= 2018);
			assert_true(sys->n_per_node == 1 || sys->n_per_node == 2 || sys->n_per_node == 4 ||
				    sys->n_per_node == 8 || sys->system);
			assert_true(sys->n_nodes == 1 || sys->n_per_node >= 8 || ask.task == JL_TASK_SERVE);
			/* memory with its margin; every limit also at the worst end */
			assert_true(!(c->setup->memory_frac > JL_TIGHT_FRAC) || ask.task == JL_TASK_SERVE);
			assert_true(c->setup->run_s.hi <= ask.wait_s &&
				    c->setup->run_s.hi <= 2 * c->setup->run_s.value);
			assert_true(c->setup->gpu_seen || c->setup->family_seen);
			assert_true(ask.today - c->price_day <= JL_PRICE_STALE_DAYS);
			/* nothing is clearly cheaper and clearly faster in as few machines and bits, nothing shown costs ten times as much */
			for (size_t i = 0; i < r.n_ok; i++) {
				assert_false(r.items[i].cost_usd.value < 0.95 * c->cost_usd.value &&
					     r.items[i].setup->run_s.value < 0.95 * c->setup->run_s.value &&
					     r.items[i].setup->sys.n_nodes <= sys->n_nodes &&
					     r.items[i].setup->weight_bits >= c->setup->weight_bits);
				assert_true(r.items[i].cost_usd.value <= 10 * r.items[0].cost_usd.value);
			}
			assert_true(r.runner_up < 0 || r.items[r.runner_up].setup->sys.gpu != sys->gpu);
			for (size_t i = 0; i < r.n_rejected; i++) {
				struct jl_reason_text said;

				assert_int_not_equal(r.items[r.rejected[i]].against, JL_AGAINST_NOTHING);
				jl_recommend_against(&said, &r, &r.items[r.rejected[i]], &ask);
				assert_true(said.en[0] && said.text[0] && !strstr(said.en, "nan"));
			}
		}
}

/* The findings of those who tried it first, by name. */
static void first_findings_are_gone(void **state)
{
	struct fixture *f = *state;
	struct jl_recommend_ask ask = ask_for(f, "finetune-7b");
	struct jl_recommendation r;
	struct jl_sys sys;
	struct jl_reason_text said;
	struct jl_err err;
	int at;

	/* 4 million won: a card with 24 GB, not one of 16 GB to the brim */
	ask.hows = 1U << JL_HOW_NEW | 1U << JL_HOW_USED;
	ask.budget_usd = 4e6 / 1400;
	r = run(f, &ask);
	assert_true(r.pick >= 0 && r.items[r.pick].setup->sys.gpu->mem_B.value > 20e9);
	ask = ask_for(f, "finetune-70b");
	ask.hows = 1U << JL_HOW_NEW | 1U << JL_HOW_USED;
	r = run(f, &ask);
	assert_true(r.pick >= 0 && !strstr(r.items[r.pick].setup->sys.gpu->id, "quadro"));
	ask = ask_for(f, "kaggle");
	r = run(f, &ask);
	assert_true(r.pick >= 0 && strcmp(r.items[r.pick].setup->sys.gpu->id, "t4g") != 0);
	assert_int_equal(jl_sys_parse(&sys, ask.cat, "t4g", &f->arena, &err), JL_OK);
	at = jl_recommend_find(&r, &sys);
	assert_true(at >= 0);
	jl_recommend_against(&said, &r, &r.items[at], &ask);
	assert_non_null(strstr(said.en, "ARM"));
	ask = ask_for(f, "learning");
	ask.hows = 1U << JL_HOW_NEW;
	r = run(f, &ask);
	assert_true(r.pick >= 0 && r.items[r.pick].setup->sys.gpu->year >= 2021);
	ask = ask_for(f, "nlp-research");
	ask.budget_usd = 3000;
	r = run(f, &ask);
	assert_true(r.pick >= 0 && r.items[r.pick].setup->sys.n_per_node <= 2);
}

/* Every purpose names a model that there is, and its numbers are whole. */
static void purposes_are_sound(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->purposes.n, 10);
	for (size_t i = 0; i < f->purposes.n; i++) {
		const struct jl_purpose *p = &f->purposes.items[i];
		const struct jl_recommend_ask ask = ask_for(f, p->id);
		struct jl_subject subject;
		struct jl_err err;

		assert_int_equal(jl_subject_find(&subject, ask.cat, &ask.run, &f->arena, &err), JL_OK);
		assert_true(ask.months > 0 && ask.wait_s > 0);
		if (p->task != JL_TASK_SERVE)
			assert_true(ask.runs_per_month > 0 && ask.run.global_batch > 0 &&
				    (ask.run.samples > 0) != (ask.run.tokens > 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(front_is_what_nothing_beats, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_prices_are_the_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_candidate_is_judged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times_are_the_predictors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_do_not_matter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(share_of_use_is_cheaper, set_up, tear_down),
		cmocka_unit_test_setup_teardown(offers_are_what_they_are, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_more_machines_than_needed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(budgets_hold_for_the_purchase, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_nearest_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(serving_keeps_the_format, set_up, tear_down),
		cmocka_unit_test_setup_teardown(picks_are_what_an_expert_signs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(first_findings_are_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bad_purposes_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(purposes_are_sound, set_up, tear_down),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
