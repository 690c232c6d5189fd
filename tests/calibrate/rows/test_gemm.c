/* Set "gemm_membw": spellings, time conversions, accuracy of the shipped parameters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"
#include "score/score.h"
#include "rows/set_gemm.h"
#include "catalog/catalog.h"
#include "catalog/find.h"
#include "system/resolve.h"

enum { MAX_ROWS = 2000, MAX_GPUS = 64 };

static struct jl_gemm_cells bare(const char *kind, const char *dtype, const char *value, const char *unit)
{
	return (struct jl_gemm_cells){
		.kind = kind, .dtype = dtype, .value = value, .unit = unit, .software = "torch 2.1"
	};
}

static void products_are_timed_by_their_flop(void **state)
{
	(void)state;
	struct jl_gemm_cells cells = bare("gemm", "bfloat16", "500", "TFLOP/s");
	cells.m = "1000";
	cells.n = "2000";
	cells.k = "3000";
	struct jl_gemm_case c;
	struct jl_err err;
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_OK);
	assert_int_equal(c.of.kind, JL_GEMM_PRODUCT);
	assert_int_equal(c.of.gemm.dtype, JL_BF16);
	assert_true(fabs(c.meas_s / (2.0 * 1000 * 2000 * 3000 / 500e12) - 1.0) < 1e-12);
	cells.batch = "4";
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_OK);
	assert_true(fabs(c.meas_s / (8.0 * 1000 * 2000 * 3000 / 500e12) - 1.0) < 1e-12);
}

static void frameworks_bring_activations_their_own_way(void **state)
{
	(void)state;
	static const struct {
		const char *dtype, *software;
		enum jl_gemm_quant quant;
		enum jl_gemm_kernel kernel;
	} rows[] = {
		{ "fp8", "vllm/0.14.0", JL_QUANT_UNFUSED, JL_KERNEL_PLAIN },
		{ "fp8", "vllm/0.19.0", JL_QUANT_FUSED, JL_KERNEL_PLAIN },
		{ "fp8", "trtllm/1.0.0", JL_QUANT_FUSED, JL_KERNEL_PLAIN },
		{ "fp8_block", "vllm/0.19.0", JL_QUANT_FUSED, JL_KERNEL_BLOCK },
		{ "fp8 e4m3", "torch 2.7.1+cu128", JL_QUANT_NONE, JL_KERNEL_LIBRARY },
		{ "bfloat16", "vllm/0.14.0", JL_QUANT_NONE, JL_KERNEL_LIBRARY },
		{ "int4_wo", "trtllm/1.0.0", JL_QUANT_NONE, JL_KERNEL_LIBRARY },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct jl_gemm_cells cells = bare("gemm", rows[i].dtype, "100", "TFLOP/s");
		cells.m = cells.n = cells.k = "4096";
		cells.software = rows[i].software;
		struct jl_gemm_case c;
		struct jl_err err;
		assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_OK);
		assert_int_equal(c.of.quant, rows[i].quant);
		assert_int_equal(c.of.gemm.kernel, rows[i].kernel);
	}
}

static void links_know_their_path(void **state)
{
	(void)state;
	static const struct {
		const char *kind;
		enum jl_gemm_path path;
		int both_ways;
	} rows[] = {
		{ "p2p_unidirectional", JL_PATH_NVLINK, 0 },
		{ "p2p_unidirectional (no P2P, via host)", JL_PATH_VIA_HOST, 0 },
		{ "p2p_bidirectional (P2P driver, cross socket)", JL_PATH_PCIE_CROSS, 1 },
		{ "p2p_bidirectional PCIe5 same NUMA", JL_PATH_PCIE, 1 },
		{ "host_device_h2d bidirectional", JL_PATH_HOST, 1 },
		{ "host_device_d2h", JL_PATH_HOST, 0 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct jl_gemm_cells cells = bare(rows[i].kind, "", "20", "GB/s");
		struct jl_gemm_case c;
		struct jl_err err;
		assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_OK);
		assert_int_equal(c.of.kind, JL_GEMM_LINK);
		assert_int_equal(c.of.path, rows[i].path);
		assert_int_equal(c.of.both_ways, rows[i].both_ways);
		assert_true(fabs(c.meas_s * 20e9 - 1.0) < 1e-12);
	}
}

static void unreadable_rows_say_why(void **state)
{
	(void)state;
	struct jl_gemm_case c;
	struct jl_err err;
	struct jl_gemm_cells cells = bare("gemm", "bf16", "1", "TFLOP/s");
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_E_DATA); /* no shape */
	cells = bare("convolution", "bf16", "1", "TFLOP/s");
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "convolution"));
	cells = bare("membw_local_copy", "", "1", "parsec");
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_E_UNIT);
	cells = bare("membw_local_copy", "", "-3", "GB/s");
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_E_RANGE);
	cells = bare("membw_local_copy", "posit16", "3", "GB/s");
	assert_int_equal(jl_gemm_case_read(&c, &cells, &err), JL_E_DATA);
	cells = (struct jl_gemm_cells){ 0 };
	assert_int_not_equal(jl_gemm_case_read(&c, &cells, &err), JL_OK);
}

static char *whole_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	long len = ftell(f);
	assert_true(len > 0);
	rewind(f);
	char *text = malloc((size_t)len);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)len, f), (size_t)len);
	fclose(f);
	*ret_len = (size_t)len;
	return text;
}

static struct jl_gemm_case cases[MAX_ROWS];
static struct jl_device devices[MAX_GPUS];
static char ids[MAX_GPUS][64];

static int gpu_index(const char *text, size_t *n_gpu)
{
	const struct jl_gpu *gpu;
	struct jl_err err;
	if (jl_find_gpu(&gpu, jl_catalog_embedded(), text, &err) != JL_OK)
		fail_msg("%s", err.en);
	for (size_t i = 0; i < *n_gpu; i++)
		if (strcmp(ids[i], gpu->id) == 0)
			return (int)i;
	assert_true(*n_gpu < MAX_GPUS);
	snprintf(ids[*n_gpu], sizeof(ids[0]), "%s", gpu->id);
	jl_resolve_device(&devices[*n_gpu], jl_catalog_embedded(), gpu);
	return (int)(*n_gpu)++;
}

static size_t load(size_t *ret_n_gpu)
{
	size_t len, n = 0, n_gpu = 0;
	char *text = whole_file(JL_SOURCE_DIR "/data/validation/gemm_membw.csv", &len);
	struct jl_csv csv;
	struct jl_err err;
	if (jl_csv_open(&csv, text, len, "gemm_membw.csv", &err) != JL_OK)
		fail_msg("%s", err.en);
	static const char *const names[12] = { "kind", "gpu",   "dtype", "batch", "m",          "n",
					       "k",    "bytes", "value", "unit",  "latency_us", "software" };
	for (;;) {
		bool more;
		if (jl_csv_next(&csv, &more, &err) != JL_OK)
			fail_msg("%s", err.en);
		if (!more)
			break;
		const char *cell[12];
		for (size_t i = 0; i < 12; i++)
			cell[i] = jl_csv_text(&csv, jl_csv_find(&csv, names[i]));
		const struct jl_gemm_cells cells = { cell[0], cell[1], cell[2], cell[3], cell[4],  cell[5],
						     cell[6], cell[7], cell[8], cell[9], cell[10], cell[11] };
		assert_true(n < MAX_ROWS);
		if (jl_gemm_case_read(&cases[n], &cells, &err) != JL_OK)
			fail_msg("row %zu: %s", n + 1, err.en);
		cases[n++].gpu = gpu_index(cell[1], &n_gpu);
	}
	jl_csv_release(&csv);
	free(text);
	*ret_n_gpu = n_gpu;
	return n;
}

/* Reads and predicts every row; the median error of the shipped parameters is at most 6 %. */
/* ln(pred/meas) of every row with the given parameters. */
static void ln_ratios(const struct jl_gemm_set *set, const double *x, double *ret_ln)
{
	struct jl_gemm_shared shared;
	jl_gemm_shared_at(x, &shared);
	for (size_t i = 0; i < set->n_case; i++) {
		const struct jl_gemm_case *c = &set->cases[i];
		struct jl_device dev = set->devices[c->gpu];
		jl_gemm_resolve(x, c->gpu, &dev);
		ret_ln[i] = log(jl_device_case_s(&dev, &shared, &c->of) / c->meas_s);
	}
}

static void shipped_physics_fits_the_rows(void **state)
{
	(void)state;
	static double ln[MAX_ROWS], scratch[MAX_ROWS];
	size_t n_gpu, n = load(&n_gpu);
	assert_true(n >= 522);
	for (size_t i = 0; i < n; i++) {
		double x[400];
		struct jl_device dev = devices[cases[i].gpu];
		struct jl_gemm_shared shared;
		assert_true(jl_gemm_params(1, NULL).n <= 400);
		jl_gemm_resolve(x, jl_gemm_read(jl_catalog_embedded(), ids[cases[i].gpu], x) ? 0 : -1, &dev);
		jl_gemm_shared_at(x, &shared);
		ln[i] = log(jl_device_case_s(&dev, &shared, &cases[i].of) / cases[i].meas_s);
		assert_true(isfinite(ln[i]));
	}
	const struct jl_score score = jl_score_rows(&(struct jl_score_in){ .n = n, .ln_ratio = ln }, scratch);
	assert_true(score.median_abs_ln < 0.06);
	assert_true(score.p90_abs_ln < 0.21);
	assert_true(fabs(score.bias_ln) < 0.03);
}

static void a_fit_finds_the_shipped_values_and_does_not_wander(void **state)
{
	(void)state;
	size_t n_gpu, n = load(&n_gpu);
	if (JL_TEST_SANITIZED) /* under sanitizers only the execution matters, not the result */
		for (size_t i = 0; i * 8 < n; i++)
			cases[i] = cases[i * 8];
	n = JL_TEST_SANITIZED ? (n + 7) / 8 : n;
	const struct jl_param_list params = jl_gemm_params(n_gpu, NULL);
	const size_t n_param = params.n;
	const struct jl_gemm_set set = { .n_case = n, .cases = cases, .n_gpu = n_gpu, .devices = devices };
	double *x = malloc(n_param * sizeof(*x)), *y = malloc((n_param + JL_GEMM_MAX_PARAMS) * sizeof(*y)), cost = NAN,
	       start_cost;
	static double ln[MAX_ROWS], scratch[MAX_ROWS];
	struct jl_err err;
	assert_non_null(x);
	assert_non_null(y);
	for (size_t i = 0; i < n_param; i++) {
		struct jl_param p;
		jl_param_of(&params, i, &p);
		assert_true(p.lo <= p.prior && p.prior <= p.hi && p.prior_sd_ln > 0.0);
		x[i] = y[i] = p.prior;
	}
	ln_ratios(&set, x, ln);
	start_cost = jl_score_rows(&(struct jl_score_in){ .n = n, .ln_ratio = ln }, scratch).median_abs_ln;
	if (jl_gemm_fit(&set, NULL, x, &cost, &err) != JL_OK)
		fail_msg("%s", err.en);
	ln_ratios(&set, x, ln);
	assert_true(jl_score_rows(&(struct jl_score_in){ .n = n, .ln_ratio = ln }, scratch).median_abs_ln < start_cost);
	for (size_t i = 0; i < n_param; i++) {
		struct jl_param p;
		jl_param_of(&params, i, &p);
		assert_true(x[i] >= p.lo && x[i] <= p.hi);
	}
	jl_gemm_read(jl_catalog_embedded(), NULL, y);
	for (size_t i = 0; i < jl_gemm_params(0, NULL).n; i++)
		assert_true(JL_TEST_SANITIZED || fabs(log(x[i] / y[i])) < 0.7);
	free(x);
	free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_timed_by_their_flop),
		cmocka_unit_test(frameworks_bring_activations_their_own_way),
		cmocka_unit_test(links_know_their_path),
		cmocka_unit_test(unreadable_rows_say_why),
		cmocka_unit_test(shipped_physics_fits_the_rows),
		cmocka_unit_test(a_fit_finds_the_shipped_values_and_does_not_wander),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
