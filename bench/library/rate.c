/* Requests per second of libjeoul on one core, as JSON: small predictions, all different (computed) and repeated (cached). Prints JSON. */
#include <stdio.h>
#include <time.h>

#include "jeoul/jeoul.h"

#define N_DIFFERENT 4000
#define N_AGAIN     400000
#define N_ROUND     1000

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double rate(struct jeoul *jeoul, int n, int n_kinds)
{
	const double begin_s = now_s();
	struct jeoul_error error;
	char request[128];

	for (int i = 0; i < n; i++) {
		char *answer = NULL;

		(void)snprintf(request, sizeof(request),
			       "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\",\"batch\":4,\"seq\":%d}",
			       64 + i % n_kinds);
		if (jeoul_ask(jeoul, "predict", request, &answer, &error)) {
			fprintf(stderr, "%s\n", error.text);
			return 0;
		}
		jeoul_free(answer);
	}
	return n / (now_s() - begin_s);
}

int main(void)
{
	struct jeoul *jeoul = jeoul_open(NULL, NULL);
	const double different = jeoul ? rate(jeoul, N_DIFFERENT, N_DIFFERENT) : 0;
	const double again = jeoul ? (rate(jeoul, N_ROUND, 200), rate(jeoul, N_AGAIN, 200)) : 0;

	printf("{\"different_per_s\": %.0f, \"again_per_s\": %.0f}\n", different, again);
	jeoul_close(jeoul);
	return different > 0 && again > 0 ? 0 : 1;
}
