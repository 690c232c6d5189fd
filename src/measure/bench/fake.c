/* A simulated backend for tests: times follow a formula. JEOUL_BENCH_FAKE="rate=1e10 jitter=0.01 drift=0 wrong=0 start=0": work per second,
 * relative scatter, growth of the times over 100 iterations, wrong elements to report, additional time of the first iterations. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/core.h"

struct jl_bench_state {
	double once_s, jitter, drift, wrong, start;
	double n_run;
	uint64_t seed;
};

static double setting(const char *name, double instead)
{
	const char *text = getenv("JEOUL_BENCH_FAKE");
	const size_t len = strlen(name);

	for (const char *at = text; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return strtod(at + len + 1, NULL);
	return instead;
}

static enum jl_status present(struct jl_err *err)
{
	(void)err;
	return JL_OK;
}

static bool supports(const struct jl_bench_task *task)
{
	(void)task;
	return true;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof(*s));
	const double rate = setting("rate", 1e10);

	JL_TRY(jl_got(s, err));
	*s = (struct jl_bench_state){ .once_s = 1e-6 + jl_bench_work(task) / (rate > 0 ? rate : 1e10),
				      .jitter = setting("jitter", 0.01),
				      .drift = setting("drift", 0),
				      .wrong = setting("wrong", 0),
				      .start = setting("start", 0),
				      .seed = 1 };
	*ret_state = s;
	return JL_OK;
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	(void)err;
	s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
	double u = (double)(s->seed >> 11) / 9007199254740992.0;
	*ret_s = s->once_s * (1 + s->jitter * u + s->drift * s->n_run / 100 + s->start * exp(-s->n_run / 10));
	s->n_run++;
	return JL_OK;
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	(void)err;
	*ret_n_wrong = s->wrong > 0 ? (size_t)s->wrong : 0;
	return JL_OK;
}

static void finish(struct jl_bench_state *s)
{
	jl_free(s);
}

const struct jl_bench_backend jl_bench_fake = {
	.name = "fake",
	.en = JL_N("nothing: times by a formula, for tests"),
	.present = present,
	.supports = supports,
	.prepare = prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.simulated = true,
};
