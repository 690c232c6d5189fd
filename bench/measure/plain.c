/* Reference loops for `jeoul bench gemm` and `jeoul bench memory`: a plain OpenBLAS call, and triad compiled with OpenMP. Usage: plain gemm N
 * SECONDS or plain triad BYTES SECONDS; prints median and best rate per second. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS_MAX 100000

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, long n)
{
#pragma omp parallel for schedule(static)
	for (long i = 0; i < n; i++)
		a[i] = b[i] + 3.0 * c[i];
}

int main(int argc, char **argv)
{
	static double times[RUNS_MAX];
	const int is_gemm = argc > 3 && strcmp(argv[1], "gemm") == 0;
	const long size = argc > 3 ? atol(argv[2]) : 0, n = is_gemm ? size : size / 8;
	const double seconds = argc > 3 ? atof(argv[3]) : 0,
		     work = is_gemm ? 2.0 * (double)n * (double)n * (double)n : 24.0 * (double)n;
	const size_t count = is_gemm ? (size_t)(n * n) : (size_t)n;
	float *fa = NULL, *fb = NULL, *fc = NULL;
	double *a = NULL, *b = NULL, *c = NULL, start_s;
	int n_runs = 0;

	if (n <= 0)
		return 2;
	if (is_gemm) {
		fa = malloc(count * 4), fb = malloc(count * 4), fc = malloc(count * 4);
		for (size_t i = 0; i < count; i++)
			fa[i] = (float)(i % 5) - 2, fb[i] = (float)(i % 7) - 3, fc[i] = 0;
	} else {
		a = aligned_alloc(64, count * 8), b = aligned_alloc(64, count * 8), c = aligned_alloc(64, count * 8);
#pragma omp parallel for schedule(static)
		for (long i = 0; i < n; i++)
			a[i] = 0, b[i] = (double)(i % 1021), c[i] = (double)(i % 509);
	}
	start_s = now_s();
	for (int i = 0; n_runs < RUNS_MAX && (i < 5 || now_s() - start_s < seconds); i++) {
		const double from_s = now_s();

		if (is_gemm)
			cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, fa, (int)n,
				    fb, (int)n, 0, fc, (int)n);
		else
			triad(a, b, c, n);
		if (i >= 2)
			times[n_runs++] = now_s() - from_s;
	}
	qsort(times, (size_t)n_runs, sizeof(*times), by_value);
	printf("%.6g %.6g %d\n", work / times[n_runs / 2], work / times[0], n_runs);
	return 0;
}
