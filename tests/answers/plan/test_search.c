/* The search against a brute force that knows nothing of items, bounds, rounds or threads. */
#include "problems.h"

#include <pthread.h>

#include "base/budget.h"

#define N_PROBLEMS (JL_TEST_SANITIZED ? 40 : 250)
#define N_SITES(rows)                                                                                                  \
	(JL_TEST_SANITIZED ? 1 : sizeof(rows) / sizeof(*(rows))) /* the larger ones take the same way for longer */
#define VALUES_MAX 256

struct brute {
	const struct jl_plan_ask *ask;
	struct jl_case c;
	double limit_B;
	long long n_fit;
	struct jl_plan_top top;
	bool ok[JL_N_AXIS][VALUES_MAX]; /* asked once: the loops below are long */
};

/* Plain insertion into a sorted list with one entry a cut. */
static void keep(struct brute *b, const struct jl_plan_way *way, double value)
{
	struct jl_plan_top *top = &b->top;
	struct jl_plan_found all[JL_PLAN_BEST_MAX + 1];
	const struct jl_plan_found found = { .way = *way, .value = value };
	int n = 0, placed = 0;

	for (int i = 0; i < top->n; i++) {
		const struct jl_plan_found *old = &top->best[i];
		const int first = value < old->value ||
				  (value == old->value && jl_plan_way_compare(way, &old->way) < 0);

		if (!placed && first) {
			all[n++] = found;
			placed = 1;
		}
		if (jl_plan_way_same_cut(&old->way, way)) {
			if (!placed) /* the old one is better */
				return;
			continue;
		}
		all[n++] = *old;
	}
	if (!placed)
		all[n++] = found;
	top->n = n < top->room ? n : top->room;
	memcpy(top->best, all, (size_t)top->n * sizeof(*all));
}

static int allowed(const struct brute *b, const struct jl_plan_way *w, double dp)
{
	return b->ok[JL_AXIS_OFFLOAD][w->offload] && b->ok[JL_AXIS_ZERO][w->zero] &&
	       b->ok[JL_AXIS_RECOMPUTE][w->recompute] && b->ok[JL_AXIS_OVERLAP][w->tp_async || w->keep] &&
	       b->ok[JL_AXIS_HSDP][w->in_host] && b->ok[JL_AXIS_SP][w->sp] && b->ok[JL_AXIS_FP8][w->dtype == JL_FP8] &&
	       b->ok[JL_AXIS_TP][w->tp] && b->ok[JL_AXIS_PP][w->pp] && b->ok[JL_AXIS_CP][w->cp] &&
	       b->ok[JL_AXIS_EP][w->ep] && b->ok[JL_AXIS_VPP][w->vpp] && b->ok[JL_AXIS_DP][(int)dp] &&
	       b->ok[JL_AXIS_MICRO_BATCH][w->micro_batch];
}

static void weigh(struct brute *b, const struct jl_plan_way *w)
{
	const struct jl_plan_site *site = b->ask->site;
	const double dp = jl_plan_way_dp(site, w);
	struct jl_case_price weight;

	if (!allowed(b, w, dp) || !jl_plan_way_runs(site, w))
		return;
	if (w->cp > 1 && site->base.shard.seq / w->cp < 128)
		return;
	jl_plan_way_case(&b->c, site, w);
	if (jl_case_check(&b->c, NULL))
		return;
	weight = jl_case_price(&b->c);
	if (weight.memory.total_B > b->limit_B || jl_case_room(&b->c, &weight) == JL_ROOM_NONE)
		return;
	b->n_fit++;
	keep(b, w, jl_plan_value(b->ask, &b->c, &weight.step));
}

/* All settings of the memory axes. */
static void all_tails(struct brute *b, struct jl_plan_way w)
{
	const int has_link = b->ask->site->base.machine.dev.host_Bps > 0;

	for (int i = 0; i < 4 * 2 * 2 * 8 * 3; i++) {
		w.zero = (unsigned char)(i % 4);
		w.keep = (unsigned char)(i / 4 % 2);
		w.in_host = (unsigned char)(i / 8 % 2);
		w.offload = (unsigned char)(i / 16 % 8);
		w.recompute = (unsigned char)(i / 128);
		if (!w.offload || has_link)
			weigh(b, &w);
	}
}

static void all_runs(struct brute *b, struct jl_plan_way w)
{
	const struct jl_plan_site *site = b->ask->site;
	const enum jl_dtype own = site->base.shard.dtype;
	const int fp8 = site->any_format && own == JL_BF16 && site->base.machine.dev.peak_flopps[JL_FP8] > 0;

	for (int i = 0; i < 2 * 2 * 2 * 2; i++) {
		w.sp = (unsigned char)(i % 2);
		w.tp_async = (unsigned char)(i / 2 % 2);
		w.dtype = (unsigned char)(i / 4 % 2 ? JL_FP8 : own);
		w.framework = (unsigned char)(i / 8 ? JL_FW_MEGATRON : JL_FW_EAGER);
		if (i / 4 % 2 && !fp8)
			continue;
		all_tails(b, w);
	}
}

static void brute_force(struct brute *b)
{
	const struct jl_plan_site *site = b->ask->site;
	const int n = site->base.n_gpus, layers = (int)site->base.subject.model.n_layers;
	const int n_experts = (int)site->base.subject.model.moe.n_experts;

	for (int axis = 0; axis < JL_N_AXIS; axis++)
		for (int value = 0; value < VALUES_MAX; value++)
			b->ok[axis][value] = jl_plan_allows(&b->ask->narrow, (enum jl_plan_axis)axis, value);
	for (int tp = 1; tp <= n; tp++)
		for (int pp = 1; tp * pp <= n; pp++)
			for (int cp = 1; tp * pp * cp <= n; cp++)
				for (int ep = 1; ep <= (n_experts > 1 ? n_experts : 1); ep++)
					for (int micro = 1; micro <= (int)site->global_batch; micro++)
						for (int vpp = 1; vpp <= (pp > 1 ? (layers + 2) / pp : 1); vpp++) {
							const double dp = (double)n / (tp * pp * cp);
							const struct jl_plan_way w = { .tp = tp,
										       .pp = pp,
										       .cp = cp,
										       .ep = ep,
										       .vpp = vpp,
										       .micro_batch = micro };

							if (dp == floor(dp) &&
							    fmod(site->global_batch, dp * micro) == 0)
								all_runs(b, w);
						}
}

static void random_problem(struct jl_plan_site *site, struct jl_plan_ask *ask, struct jl_arena *arena)
{
	static const char *const models[] = { "gpt-305m",     "gpt2-1.5b",  "llama-3-8b",
					      "mixtral-8x7b", "bert-large", "gpt3-175b" };
	static const char *const systems[] = { "rtx-3090",        "2x rtx-3090",      "4x l40s",
					       "dgx-a100-80gb",   "4x h100-sxm5",     "2x(2x a100-sxm4-80gb)",
					       "3x(2x rtx-4090)", "6x v100-sxm2-32gb" };
	static const char *const bans[] = { "offload", "recompute", "overlap", "pp", "tp",
					    "cp",      "zero3",     "hsdp",    "sp", "vpp" };
	static const double batches[] = { 1, 2, 3, 4, 6 };
	struct jl_request req = jl_request_empty();

	req.model = models[pick(sizeof(models) / sizeof(*models))];
	req.system = systems[pick(sizeof(systems) / sizeof(*systems))];
	req.global_batch = batches[pick(5)];
	req.seq = pick(2) ? 256 : 512;
	req.flash = pick(4) ? JL_UNSET : 0;
	make_site(site, &req, arena);
	*ask = plain_ask(site);
	ask->objective = (enum jl_plan_objective)pick(JL_N_PLAN_OBJECTIVE);
	ask->memory_frac = 0.5 + 0.01 * pick(50);
	ask->n_threads = 1 + (int)pick(3);
	ask->n_best = 1 + (int)pick(6);
	for (int i = 0; i < 3; i++)
		assert_int_equal(jl_plan_forbid(&ask->narrow, bans[pick(sizeof(bans) / sizeof(*bans))], NULL), JL_OK);
	if (pick(8) == 0)
		assert_int_equal(jl_plan_fix(&ask->narrow, pick(2) ? "tp=2" : "zero=1", NULL), JL_OK);
}

static void same_top(const struct jl_plan_top *a, const struct jl_plan_top *b)
{
	assert_int_equal(a->n, b->n);
	for (int i = 0; i < a->n; i++) {
		assert_true(fabs(a->best[i].value / b->best[i].value - 1) <= 1e-9);
		assert_int_equal(jl_plan_way_compare(&a->best[i].way, &b->best[i].way), 0);
	}
}

static void equals_brute_force(void **state)
{
	static struct jl_plan_site site;
	static struct brute b;
	long long n_all = 0, n_found = 0;

	(void)state;
	for (int i = 0; i < N_PROBLEMS; i++) {
		struct jl_plan_ask ask;
		struct jl_plan_result pruned, whole;
		struct jl_arena arena;
		struct jl_prediction p;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		random_problem(&site, &ask, &arena);
		b.ask = &ask;
		b.limit_B = site.base.machine.dev.mem_B * ask.memory_frac;
		b.n_fit = 0;
		b.top.n = 0;
		b.top.room = ask.n_best;
		brute_force(&b);
		search(&pruned, &ask);
		ask.no_prune = true;
		search(&whole, &ask);
		same_top(&pruned.top, &b.top);
		same_top(&whole.top, &b.top);
		assert_int_equal(whole.tally.n_evaluated, b.n_fit);
		assert_int_equal(whole.tally.n_slower, 0);
		assert_int_equal(jl_plan_n_configurations(&pruned.tally), jl_plan_n_configurations(&whole.tally));
		if (b.top.n) { /* and the public prediction of the winner says the same */
			jl_plan_way_case(&b.c, &site, &whole.top.best[0].way);
			jl_predict(&p, jl_catalog_embedded(), &b.c);
			assert_true(fabs(p.step_s.value / whole.top.best[0].step_s - 1) <= 1e-9);
			assert_true(fabs(p.memory.total_B / whole.top.best[0].memory_B - 1) <= 1e-9);
			n_found++;
		}
		n_all += b.n_fit;
		jl_arena_release(&arena);
	}
	print_message("%lld plans weighed one by one, %lld problems with a plan\n", n_all, n_found);
	assert_true(n_found > N_PROBLEMS / 2 && n_all > 40LL * N_PROBLEMS);
}

static void same_tally(const struct jl_plan_tally *a, const struct jl_plan_tally *b)
{
	assert_int_equal(a->n_evaluated, b->n_evaluated);
	assert_int_equal(a->n_memory, b->n_memory);
	assert_int_equal(a->n_host, b->n_host);
	assert_int_equal(a->n_framework, b->n_framework);
	assert_int_equal(a->n_slower, b->n_slower);
	assert_int_equal(a->n_shape, b->n_shape);
}

static void large_site(struct jl_plan_site *site, struct jl_arena *arena)
{
	struct jl_request req = jl_request_empty();

	req.model = "gpt3-175b";
	req.system = "8x dgx-a100-80gb";
	req.global_batch = 64;
	make_site(site, &req, arena);
}

static void same_for_any_number_of_threads(void **state)
{
	static struct jl_plan_site site;
	struct jl_arena arena;
	struct jl_plan_result one, several;
	struct jl_plan_ask ask;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	large_site(&site, &arena);
	ask = plain_ask(&site);
	search(&one, &ask);
	for (int n = 2; n <= 7; n += JL_TEST_SANITIZED ? 5 : 1) {
		ask.n_threads = n;
		search(&several, &ask);
		same_top(&one.top, &several.top);
		same_tally(&one.tally, &several.tally);
	}
	jl_arena_release(&arena);
}

/* Ranks as threads that meet at a barrier. */
struct ranks {
	int n;
	pthread_barrier_t barrier;
	struct jl_plan_share shares[4];
	const struct jl_plan_site *site;
	struct jl_plan_result results[4];
	struct jl_plan_team teams[4];
};

struct member {
	struct ranks *all;
	int rank;
};

static enum jl_status meet(void *ctx, const void *mine, size_t size_B, void *ret_all, struct jl_err *err)
{
	struct member *m = ctx;

	(void)err;
	memcpy(&m->all->shares[m->rank], mine, size_B);
	pthread_barrier_wait(&m->all->barrier);
	memcpy(ret_all, m->all->shares, (size_t)m->all->n * size_B);
	pthread_barrier_wait(&m->all->barrier);
	return JL_OK;
}

static void *run_rank(void *arg)
{
	struct member *m = arg;
	const struct jl_plan_team team = { .rank = m->rank, .n = m->all->n, .gather = meet, .ctx = m };
	struct jl_plan_ask ask = plain_ask(m->all->site);

	ask.team = &team;
	if (jl_plan_search(&m->all->results[m->rank], &ask, NULL))
		m->all->results[m->rank].top.n = -1;
	return NULL;
}

static void same_for_any_number_of_ranks(void **state)
{
	static struct jl_plan_site site;
	static struct ranks ranks;
	struct jl_arena arena;
	struct jl_plan_result alone;
	struct jl_plan_ask ask;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	large_site(&site, &arena);
	ask = plain_ask(&site);
	search(&alone, &ask);
	for (int n = 2; n <= 4; n++) {
		pthread_t threads[4];
		struct member members[4];

		ranks.n = n;
		ranks.site = &site;
		pthread_barrier_init(&ranks.barrier, NULL, (unsigned)n);
		for (int i = 0; i < n; i++) {
			members[i] = (struct member){ &ranks, i };
			assert_int_equal(pthread_create(&threads[i], NULL, run_rank, &members[i]), 0);
		}
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&ranks.barrier);
		for (int i = 0; i < n; i++) {
			same_top(&alone.top, &ranks.results[i].top);
			same_tally(&alone.tally, &ranks.results[i].tally);
		}
	}
	jl_arena_release(&arena);
}

static void stops_when_told(void **state)
{
	static struct jl_plan_site site;
	struct jl_budget budget;
	struct jl_arena arena;
	struct jl_plan_result result;
	struct jl_plan_ask ask;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	large_site(&site, &arena);
	ask = plain_ask(&site);
	jl_budget_init(&budget, 0, 0);
	jl_budget_cancel(&budget);
	ask.budget = &budget;
	search(&result, &ask);
	assert_true(result.stopped);
	assert_int_equal(result.tally.n_evaluated, 0);
	jl_arena_release(&arena);
}

static void nearest_miss_is_the_least(void **state)
{
	static struct jl_plan_site site;
	struct jl_arena arena;
	struct jl_plan_result result;
	struct jl_request req = jl_request_empty();
	struct jl_plan_ask ask;
	struct jl_case c;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	req.model = "llama-3-70b";
	req.system = "2x rtx-4090";
	req.global_batch = 4;
	make_site(&site, &req, &arena);
	ask = plain_ask(&site);
	assert_int_equal(jl_plan_forbid(&ask.narrow, "offload", NULL), JL_OK);
	search(&result, &ask);
	assert_int_equal(result.top.n, 0);
	assert_int_equal(result.tally.n_evaluated, 0);
	assert_true(result.miss.memory_B > site.base.machine.dev.mem_B * ask.memory_frac);
	jl_plan_way_case(&c, &site, &result.miss.way);
	assert_true(fabs(jl_case_price(&c).memory.total_B / result.miss.memory_B - 1) < 1e-12);
	/* Room for exactly that: then it is the plan. */
	ask.memory_frac = result.miss.memory_B / site.base.machine.dev.mem_B * (1 + 1e-12);
	search(&result, &ask);
	assert_int_equal(result.top.n, 1);
	jl_arena_release(&arena);
}

/* Korthikanti et al. 2022, table 5 with sequence parallelism and selective recompute: rows of train_llm.csv, group
 * korthikanti2022. fp16, no flash attention. */
static void published_plans_rank_high(void **state)
{
	static const struct {
		const char *model, *system;
		double batch;
		int pp, vpp;
	} rows[] = { { "gpt3-175b", "8x dgx-a100-80gb", 64, 8, 3 },
		     { "megatron-turing-530b", "35x dgx-a100-80gb", 280, 35, 3 },
		     { "megatron-1t", "64x dgx-a100-80gb", 512, 64, 1 } };
	static struct jl_plan_site site;

	(void)state;
	for (size_t i = 0; i < N_SITES(rows); i++) {
		const struct jl_plan_way way = { .tp = 8,
						 .sp = 1,
						 .pp = rows[i].pp,
						 .vpp = rows[i].vpp,
						 .cp = 1,
						 .ep = 1,
						 .micro_batch = 1,
						 .recompute = JL_RECOMPUTE_SELECTIVE,
						 .dtype = JL_FP16,
						 .framework = JL_FW_MEGATRON };
		struct jl_request req = jl_request_empty();
		struct jl_plan_result result;
		struct jl_plan_ask ask;
		struct jl_arena arena;
		struct jl_case c;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		req.model = rows[i].model;
		req.system = rows[i].system;
		req.global_batch = rows[i].batch;
		req.seq = 2048;
		req.flash = 0;
		req.dtype = JL_FP16;
		make_site(&site, &req, &arena);
		jl_plan_way_case(&c, &site, &way);
		assert_int_equal(jl_case_check(&c, NULL), JL_OK);
		ask = plain_ask(&site);
		ask.memory_frac = 1;
		ask.no_prune = true;
		ask.mark_value = jl_case_price(&c).step.step_s;
		search(&result, &ask);
		assert_true((double)result.tally.n_better < 0.05 * (double)result.tally.n_evaluated);
		print_message("%s: %lld of %lld that fit are better\n", rows[i].model, result.tally.n_better,
			      result.tally.n_evaluated);
		jl_arena_release(&arena);
	}
}

/* The spaces that a well-known planner walks. */
static void spaces_are_covered(void **state)
{
	static const struct {
		const char *system;
		double batch, least;
	} rows[] = { { "8x dgx-a100-80gb", 64, 48968 },
		     { "64x dgx-a100-80gb", 512, 137260 },
		     { "512x dgx-a100-80gb", 1536, 198296 } };
	static struct jl_plan_site site;

	(void)state;
	for (size_t i = 0; i < N_SITES(rows); i++) {
		struct jl_request req = jl_request_empty();
		struct jl_plan_result result;
		struct jl_plan_ask ask;
		struct jl_arena arena;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		req.model = "gpt3-175b";
		req.system = rows[i].system;
		req.global_batch = rows[i].batch;
		make_site(&site, &req, &arena);
		ask = plain_ask(&site);
		search(&result, &ask);
		/* Branches that do not divide are not even needed for it. */
		assert_true((double)(jl_plan_n_configurations(&result.tally) - result.tally.n_shape) >= rows[i].least);
		jl_arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_brute_force),           cmocka_unit_test(same_for_any_number_of_threads),
		cmocka_unit_test(same_for_any_number_of_ranks), cmocka_unit_test(stops_when_told),
		cmocka_unit_test(nearest_miss_is_the_least),    cmocka_unit_test(published_plans_rank_high),
		cmocka_unit_test(spaces_are_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
