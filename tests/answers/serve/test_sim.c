/* The simulator: what must hold for every load, and what can be reckoned by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "serve/load.h"

#define N_MAX 4000

/* A pass that takes a millisecond, and ten microseconds for each token. */
static double plain_s(const void *ctx, const struct jl_pass *p)
{
	(void)ctx;
	return 1e-3 + 1e-5 * (p->n_seqs * p->n_drafted + p->prompt_tokens) + 1e-9 * p->n_seqs * p->context;
}

static struct jl_arrival arrivals[N_MAX];
static struct jl_served_request served[N_MAX];

static struct jl_sim_setup setup_of(int engine, double kv_tokens)
{
	return (struct jl_sim_setup){ .policy = jl_policy_of(engine),
				      .workers = { .n = 1, .pass_s = plain_s, .kv_tokens = kv_tokens } };
}

static struct jl_sim_result run(const struct jl_sim_setup *setup, const struct jl_load *load)
{
	struct jl_sim_result r;
	struct jl_err err;

	assert_int_equal(jl_simulate(&r, setup, load, served, NULL, &err), JL_OK);
	return r;
}

static void check_conserved(const struct jl_load *load, const struct jl_sim_result *r)
{
	int64_t answers = 0, n_refused = 0;

	assert_int_equal(r->n_ended + r->n_refused, load->n);
	assert_int_equal(r->blocks_left, 0);
	for (size_t i = 0; i < load->n; i++) {
		if (isnan(served[i].last_s)) {
			n_refused++;
			continue;
		}
		answers += load->arrivals[i].answer;
		assert_true(served[i].first_s > served[i].arrival_s);
		assert_true(served[i].last_s >= served[i].first_s);
	}
	assert_int_equal(r->n_refused, n_refused);
	assert_int_equal(r->answer_tokens, answers);
	assert_true(r->kv_max_frac <= 1.0);
	assert_true(r->busy_frac <= 1.0 + 1e-9);
}

/* Loads and set-ups by dice: nothing is lost, nothing stays behind, and the same dice give the same answer. */
static void test_nothing_is_lost(void **state)
{
	struct jl_dice dice = { 7 };
	const int engines[] = { jl_engine_by_text("vllm"), jl_engine_by_text("sglang"), jl_engine_by_text("trtllm") };
	bool preempted = false, refused = false;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct jl_sim_setup s = setup_of(engines[i % 3], 200 + 20000 * jl_dice_unit(&dice));
		struct jl_load_ask ask = { .n = 1 + (size_t)(400 * jl_dice_unit(&dice)),
					   .lengths = { .prompt = 1 + 3000 * jl_dice_unit(&dice),
							.answer = 1 + 400 * jl_dice_unit(&dice),
							.least_frac = 0.1,
							.spread_ln = i % 5 == 0 ? 1.0 : 0.0,
							.cached_frac = i % 4 == 0 ? 0.5 : 0.0 },
					   .rate_hz = 1 + 100 * jl_dice_unit(&dice),
					   .burst = i % 7 == 0 ? 10 : 1,
					   .concurrency = i % 2 ? 1 + (int)(60 * jl_dice_unit(&dice)) : 0,
					   .seed = (uint64_t)i };
		struct jl_load load;

		s.workers.n = 1 + i % 3;
		if (i % 6 == 0) {
			s.prompts = s.workers;
			s.transfer_s = 1e-3;
			s.transfer_token_s = 1e-6;
		}
		s.front_s = i % 2 ? 1e-4 : 0;
		s.front_token_s = i % 3 ? 1e-6 : 0;
		s.first_s = 1e-3;
		if (i % 8 == 0) {
			s.n_draft = 3;
			s.accept_frac = jl_dice_unit(&dice);
		}
		jl_load_make(&load, arrivals, &ask);
		const struct jl_sim_result once = run(&s, &load);

		check_conserved(&load, &once);
		preempted |= once.n_preempted > 0;
		refused |= once.n_refused > 0;
		const struct jl_sim_result again = run(&s, &load);

		assert_memory_equal(&once.ttft_s, &again.ttft_s, sizeof(once.ttft_s));
		assert_true(once.span_s == again.span_s || once.n_ended == 0);
	}
	assert_true(preempted);
	assert_true(refused);
}

/* One request alone: its prompt in pieces of the budget, then a pass for each token. */
static void test_one_request_by_hand(void **state)
{
	const struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 1e6);
	const struct jl_load load = { .arrivals = arrivals, .n = 1 };

	(void)state;
	arrivals[0] = (struct jl_arrival){ .prompt = 16384, .answer = 101 };
	const struct jl_sim_result r = run(&s, &load);

	assert_true(fabs(r.ttft_s.mean - (2 * 1e-3 + 16384 * 1e-5)) < 1e-3);
	assert_true(fabs(r.tpot_s.mean - (1e-3 + 1e-5 + 1e-9 * 16434)) < 1e-6);
	assert_int_equal(r.n_passes, 102);
	assert_int_equal(r.prompt_tokens, 16384);
}

/* The front end works beside the passes: it costs its time once, and holds back only what it cannot take in. */
static void test_front_end_works_beside(void **state)
{
	struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 1e6);
	const struct jl_load_ask ask = {
		.n = 3000, .lengths = { .prompt = 200, .answer = 20, .least_frac = 1 }, .concurrency = 300, .seed = 3
	};
	struct jl_load load;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	const struct jl_sim_result open = run(&s, &load);
	const double free_hz = open.requests_per_s;

	s.front_s = 0.05 / free_hz;
	s.front_token_s = 0.25 / free_hz / 200;
	assert_true(run(&s, &load).requests_per_s > 0.95 * free_hz);
	s.front_token_s = 1.95 / free_hz / 200; /* of each request at once */
	assert_true(run(&s, &load).requests_per_s > 0.95 * free_hz);
	s.front_s = 2 / free_hz;
	const struct jl_sim_result held = run(&s, &load);

	assert_true(fabs(held.requests_per_s / free_hz - 0.5) < 0.02);
	assert_true(held.batch_mean < 0.5 * open.batch_mean);
}

/* A prefix that is there already is not computed; drafted tokens that are right shorten the answer. */
static void test_cache_and_drafts_save_time(void **state)
{
	struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 1e6);
	const struct jl_load load = { .arrivals = arrivals, .n = 1 };

	(void)state;
	arrivals[0] = (struct jl_arrival){ .prompt = 8000, .answer = 101 };
	const struct jl_sim_result plain = run(&s, &load);

	arrivals[0].cached = 7000;
	const struct jl_sim_result cached = run(&s, &load);

	assert_int_equal(cached.prompt_tokens, 1000);
	assert_true(cached.ttft_s.mean < 0.2 * plain.ttft_s.mean);
	s.n_draft = 1;
	s.accept_frac = 1.0;
	const struct jl_sim_result drafted = run(&s, &load);

	assert_true(fabs(drafted.tpot_s.mean / plain.tpot_s.mean - 0.5) < 0.02);
	assert_true(fabs(jl_draft_gain(3, 0.5) - 1.875) < 1e-12);
}

/* Prompts first stop the answers; mixed passes slow them all. Machines of their own for prompts do neither. */
static void test_policies_differ_where_they_should(void **state)
{
	const struct jl_load_ask ask = {
		.n = 400, .lengths = { .prompt = 4000, .answer = 200, .least_frac = 0.8 }, .concurrency = 32, .seed = 1
	};
	struct jl_sim_setup mixed = setup_of(jl_engine_by_text("vllm"), 1e7),
			    first = setup_of(jl_engine_by_text("sglang"), 1e7);
	struct jl_sim_setup apart = mixed;
	struct jl_load load;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	apart.prompts = apart.workers;
	const struct jl_sim_result m = run(&mixed, &load), f = run(&first, &load), a = run(&apart, &load);

	assert_true(f.itl_s.p50 < m.itl_s.p99);
	assert_true(f.itl_s.p99 > 5 * f.itl_s.p50);
	assert_true(a.itl_s.p99 < 2 * a.itl_s.p50);
	assert_true(a.prompt_busy_frac > 0.1 && m.prompt_busy_frac == 0);
}

/* Twice as many requests as there is room for: the others wait, whoever schedules, and blocks never run over. */
static void test_a_full_cache_makes_requests_wait(void **state)
{
	const struct jl_load_ask ask = {
		.n = 200, .lengths = { .prompt = 500, .answer = 500, .least_frac = 0.8 }, .concurrency = 50, .seed = 3
	};
	struct jl_load load;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	const struct jl_sim_setup vllm = setup_of(jl_engine_by_text("vllm"), 20000),
				  trt = setup_of(jl_engine_by_text("trtllm"), 20000);
	const struct jl_sim_result v = run(&vllm, &load), t = run(&trt, &load);

	assert_true(v.n_preempted > 0);
	assert_int_equal(t.n_preempted, 0);
	assert_true(v.prompt_tokens > t.prompt_tokens);
	assert_true(v.kv_max_frac > 0.97);
	assert_true(t.batch_mean < 30 && v.batch_mean < 50);
}

/* Little's law: requests in the system = rate x time in it. */
/* Room in the host: what is thrown back is brought back instead of computed again, and nothing is lost. */
static void test_the_host_keeps_what_is_thrown_back(void **state)
{
	const struct jl_load_ask ask = {
		.n = 600, .lengths = { .prompt = 700, .answer = 500, .least_frac = 0.5 }, .concurrency = 64, .seed = 3
	};
	struct jl_sim_setup setup = setup_of(jl_engine_by_text("vllm"), 20000);
	struct jl_load load;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	const struct jl_sim_result again = run(&setup, &load);

	assert_true(again.n_preempted > 10);
	setup.host_tokens = 1e6;
	setup.host_token_s = 1e-9;
	const struct jl_sim_result kept = run(&setup, &load);

	check_conserved(&load, &kept);
	assert_true(kept.n_preempted > 10);
	assert_true(kept.prompt_tokens < again.prompt_tokens);
	assert_true(kept.e2e_s.mean < again.e2e_s.mean);
	setup.host_token_s = 1e-3; /* a way that is too slow */
	const struct jl_sim_result slow = run(&setup, &load);

	check_conserved(&load, &slow);
	assert_true(slow.e2e_s.mean > kept.e2e_s.mean);
	setup.host_tokens = 600; /* for one at a time, at most */
	const struct jl_sim_result few = run(&setup, &load);

	check_conserved(&load, &few);
	assert_true(few.prompt_tokens > kept.prompt_tokens);
}

/* Sessions by dice: every prompt token is computed or found, no tier holds more than it has room for, and nothing stays behind. */
static void test_sessions_conserve_tokens_and_blocks(void **state)
{
	struct jl_dice dice = { 11 };
	const int engines[] = { jl_engine_by_text("vllm"), jl_engine_by_text("sglang"), jl_engine_by_text("trtllm") };
	int64_t found[JL_N_KV_TIER] = { 0 }, missed = 0;
	bool preempted = false, refused = false;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct jl_sim_setup s = setup_of(engines[i % 3], 1000 + 30000 * jl_dice_unit(&dice));
		const struct jl_load_ask ask = { .turns = 1 + (int)(9 * jl_dice_unit(&dice)),
						 .n = 1 + (size_t)(600 * jl_dice_unit(&dice)),
						 .lengths = { .prompt = 1 + 1500 * jl_dice_unit(&dice),
							      .answer = 1 + 200 * jl_dice_unit(&dice),
							      .spread_ln = 0.5,
							      .cached_frac = i % 5 == 0 ? 0.3 : 0.0 },
						 .turn_tokens = 1 + 400 * jl_dice_unit(&dice),
						 .wait_s = 3 * jl_dice_unit(&dice),
						 .rate_hz = 1 + 10 * jl_dice_unit(&dice),
						 .burst = 1,
						 .concurrency = i % 4 ? 1 + (int)(40 * jl_dice_unit(&dice)) : 0,
						 .seed = (uint64_t)i };
		int64_t prompts = 0, all;
		struct jl_load load;

		s.workers.n = 1 + i % 2;
		s.host_tokens = i % 3 ? 40000 * jl_dice_unit(&dice) : 0;
		s.disk_tokens = i % 9 > 4 ? 80000 * jl_dice_unit(&dice) : 0;
		s.host_token_s = 1e-6;
		s.disk_token_s = 1e-5;
		jl_load_make(&load, arrivals, &ask);
		const struct jl_sim_result r = run(&s, &load);

		check_conserved(&load, &r);
		for (size_t k = 0; k < load.n; k++)
			prompts += isnan(served[k].last_s) ? 0 : load.arrivals[k].prompt;
		all = r.prompt_tokens;
		for (int k = 0; k < JL_N_KV_TIER; k++) {
			assert_in_range(r.found_tokens[k], 0, prompts + r.again_tokens);
			assert_true(r.held_frac[k] <= 1);
			all += r.found_tokens[k];
			found[k] += r.found_tokens[k];
		}
		assert_int_equal(all, prompts + r.again_tokens);
		preempted |= r.n_preempted > 0;
		refused |= r.n_refused > 0;
		missed += r.missed_tokens;
	}
	assert_true(preempted && refused && missed > 0);
	assert_true(found[JL_KV_DEVICE] > 0 && found[JL_KV_HOST] > 0 && found[JL_KV_DISK] > 0);
}

/* One session by hand: later turns compute what is new, and the last token of an answer, whose keys nobody made; no more than whole blocks. */
static void test_a_session_by_hand(void **state)
{
	struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 1e6);
	const struct jl_load load = { .arrivals = arrivals, .n = 3 };

	(void)state;
	arrivals[0] = (struct jl_arrival){ .prompt = 1600, .answer = 160 };
	arrivals[1] = (struct jl_arrival){ .at_s = 5, .prompt = 1860, .answer = 161, .shared = 1760 };
	arrivals[2] = (struct jl_arrival){ .at_s = 2, .prompt = 3000, .answer = 10, .shared = 2021 };
	const struct jl_sim_result r = run(&s, &load);

	check_conserved(&load, &r);
	assert_int_equal(r.prompt_tokens, 1600 + (1860 - 1744) + (3000 - 2016));
	assert_int_equal(r.found_tokens[JL_KV_DEVICE], 1744 + 2016);
	assert_int_equal(r.missed_tokens, 16 + 5);
	assert_true(fabs(served[1].arrival_s - served[0].last_s - 5) < 1e-9);
	assert_true(fabs(r.later_s.mean / (1e-3 + 1e-5 * 0.5 * (116 + 984)) - 1) < 0.03);
}

/* More sessions than the device holds between their turns: host memory keeps what else is computed again, drives more of it. */
static void test_tiers_keep_what_the_device_cannot(void **state)
{
	const struct jl_load_ask ask = { .turns = 6,
					 .n = 1200,
					 .lengths = { .prompt = 2000, .answer = 100, .least_frac = 0.8 },
					 .turn_tokens = 300,
					 .wait_s = 4,
					 .concurrency = 40,
					 .seed = 2 };
	struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 40000);
	struct jl_load load;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	const struct jl_sim_result none = run(&s, &load);

	assert_true(none.missed_tokens > none.found_tokens[JL_KV_DEVICE]);
	assert_int_equal(none.found_tokens[JL_KV_HOST], 0);
	s.host_tokens = 60000;
	s.host_token_s = 1e-7;
	const struct jl_sim_result host = run(&s, &load);

	s.disk_tokens = 1e6;
	s.disk_token_s = 1e-6;
	const struct jl_sim_result disk = run(&s, &load);

	assert_true((double)host.missed_tokens < 0.8 * (double)none.missed_tokens);
	assert_true((double)disk.missed_tokens < 0.2 * (double)none.missed_tokens);
	assert_true(host.later_s.mean < none.later_s.mean && disk.later_s.mean < host.later_s.mean);
	s.disk_token_s = 1e-3; /* drives that are slower than computing it */
	assert_true(run(&s, &load).later_s.mean > none.later_s.mean);
}

static void test_littles_law(void **state)
{
	const struct jl_load_ask ask = { .n = 4000,
					 .lengths = { .prompt = 300, .answer = 100, .least_frac = 0.5 },
					 .rate_hz = 40,
					 .burst = 1,
					 .seed = 5 };
	const struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 1e6);
	struct jl_load load;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	const struct jl_sim_result r = run(&s, &load);

	assert_true(fabs(r.requests_per_s / 40 - 1) < 0.05);
	assert_true(r.batch_mean > 0.5 * 40 * (r.e2e_s.mean - r.ttft_s.mean));
	assert_true(r.ttft_s.p50 <= r.ttft_s.p90 && r.ttft_s.p90 <= r.ttft_s.p99);
}

/* Answers that end at any token keep their mean, none is longer than the longest; all of a job's requests are there at the start. */
static void test_answers_that_end_by_themselves(void **state)
{
	struct jl_load_ask ask = { .n = 4000,
				   .lengths = { .prompt = 50, .answer = 300, .answer_most = 1024 },
				   .rate_hz = INFINITY,
				   .seed = 2 };
	struct jl_load load;
	double sum = 0, most = 0, short_ones = 0;

	(void)state;
	jl_load_make(&load, arrivals, &ask);
	for (size_t i = 0; i < ask.n; i++) {
		assert_true(arrivals[i].at_s == 0 && arrivals[i].answer >= 1);
		sum += arrivals[i].answer;
		most = fmax(most, arrivals[i].answer);
		short_ones += arrivals[i].answer <= 100;
	}
	assert_true(fabs(sum / 4000 / 300 - 1) < 0.04);
	assert_true(most == 1024);
	/* a third of the mean: 1 - exp(-1/3) of those without an end */
	assert_true(short_ones / 4000 > 0.24 && short_ones / 4000 < 0.31);
	ask.lengths.answer_most = 300;
	jl_load_make(&load, arrivals, &ask);
	for (size_t i = 0; i < ask.n; i++)
		assert_true(arrivals[i].answer >= 299 && arrivals[i].answer <= 300);
}

static void test_hostile_loads_get_one_line(void **state)
{
	const struct jl_sim_setup s = setup_of(jl_engine_by_text("vllm"), 1e6);
	struct jl_load load = { .arrivals = arrivals, .n = 2 };
	struct jl_sim_result r;
	struct jl_err err;

	(void)state;
	arrivals[0] = (struct jl_arrival){ .prompt = 1000000000, .answer = 1 };
	arrivals[1] = (struct jl_arrival){ .prompt = 1, .answer = 1 };
	assert_int_equal(jl_simulate(&r, &s, &load, NULL, NULL, &err), JL_E_RANGE);
	arrivals[0] = (struct jl_arrival){ .at_s = -1, .prompt = 1, .answer = 1 };
	assert_int_equal(jl_simulate(&r, &s, &load, NULL, NULL, &err), JL_E_RANGE);
	arrivals[0] = (struct jl_arrival){ .prompt = 9, .answer = 1, .shared = 3 };
	assert_int_equal(jl_simulate(&r, &s, &load, NULL, NULL, &err), JL_E_RANGE);
	load.n = (size_t)JL_SERVING_REQUESTS_MAX + 1;
	assert_int_equal(jl_simulate(&r, &s, &load, NULL, NULL, &err), JL_E_LIMIT);
}

static enum jl_status read_trace(const char *text, size_t *ret_n, struct jl_arrival *ret_first, struct jl_err *err)
{
	struct jl_arrival *a = NULL;
	bool timed;
	const enum jl_status status = jl_arrivals_read(&a, ret_n, &timed, text, strlen(text), "t", err);

	if (!status)
		*ret_first = a[0];
	jl_free(a);
	return status;
}

static void test_traces(void **state)
{
	struct jl_arrival first;
	struct jl_err err;
	size_t n;

	(void)state;
	assert_int_equal(read_trace("arrival_s,input_tokens,output_tokens\n2,30,4\n0.5,10,20\n", &n, &first, &err),
			 JL_OK);
	assert_int_equal(n, 2);
	assert_int_equal(first.prompt, 10);
	assert_int_equal(
		read_trace("{\"timestamp\": 0, \"input_length\": 7, \"output_length\": 3}\n\n", &n, &first, &err),
		JL_OK);
	assert_int_equal(first.answer, 3);
	assert_int_equal(read_trace("arrival_s,input_tokens,output_tokens\n-2,30,4\n", &n, &first, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "t:2:"));
	assert_int_equal(read_trace("arrival_s,input_tokens,output_tokens\n2,1e9,4\n", &n, &first, &err), JL_E_RANGE);
	assert_int_equal(read_trace("arrival_s,tokens\n2,1\n", &n, &first, &err), JL_E_NOTFOUND);
	assert_int_equal(read_trace("{\"a\": \n", &n, &first, &err), JL_E_PARSE);
	assert_int_equal(read_trace("input_tokens,output_tokens\n", &n, &first, &err), JL_E_DATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_one_request_by_hand),
		cmocka_unit_test(test_front_end_works_beside),
		cmocka_unit_test(test_cache_and_drafts_save_time),
		cmocka_unit_test(test_policies_differ_where_they_should),
		cmocka_unit_test(test_a_full_cache_makes_requests_wait),
		cmocka_unit_test(test_the_host_keeps_what_is_thrown_back),
		cmocka_unit_test(test_sessions_conserve_tokens_and_blocks),
		cmocka_unit_test(test_a_session_by_hand),
		cmocka_unit_test(test_tiers_keep_what_the_device_cannot),
		cmocka_unit_test(test_littles_law),
		cmocka_unit_test(test_answers_that_end_by_themselves),
		cmocka_unit_test(test_hostile_loads_get_one_line),
		cmocka_unit_test(test_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
