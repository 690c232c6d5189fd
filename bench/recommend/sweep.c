/* Candidates per second of `jeoul recommend`: each purpose over the whole catalog, one thread, CPU time, minimum of three. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/units.h"
#include "recommend/recommend.h"

static int one(const struct jl_purpose *purpose, bool last)
{
	double least_s = INFINITY;
	size_t n = 0, n_setups = 0;

	for (int i = 0; i < 3; i++) {
		struct jl_recommend_ask ask = jl_recommend_ask_empty();
		struct jl_recommendation r;
		struct jl_arena arena;
		struct jl_err err;
		double start_s;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		ask.cat = jl_catalog_embedded();
		ask.n_threads = 1;
		if (jl_date_parse(&ask.today, "2026-11-15", &err))
			return EXIT_FAILURE;
		jl_recommend_purpose(&ask, purpose);
		start_s = jl_clock_cpu_s();
		if (jl_recommend_run(&r, &ask, &arena, &err)) {
			fprintf(stderr, "%s\n", err.en);
			return EXIT_FAILURE;
		}
		least_s = fmin(least_s, jl_clock_cpu_s() - start_s);
		n = r.n;
		n_setups = r.n_setups;
		jl_arena_release(&arena);
	}
	printf("  { \"purpose\": \"%s\", \"n_candidates\": %zu, \"n_setups\": %zu, \"cpu_s\": %.4f, "
	       "\"candidates_per_s\": %.0f }%s\n",
	       purpose->id, n, n_setups, least_s, (double)n / least_s, last ? "" : ",");
	return EXIT_SUCCESS;
}

int main(void)
{
	struct jl_purposes list;
	struct jl_arena arena;
	struct jl_err err;
	int code = EXIT_SUCCESS;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_purposes_embedded(&list, &arena, &err)) {
		fprintf(stderr, "%s\n", err.en);
		return EXIT_FAILURE;
	}
	printf("[\n");
	for (size_t i = 0; code == EXIT_SUCCESS && i < list.n; i++)
		code = one(&list.items[i], i + 1 == list.n);
	printf("]\n");
	jl_arena_release(&arena);
	return code;
}
