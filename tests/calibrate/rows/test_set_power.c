/* Reads data/validation/power.csv with the catalog's GPUs; predicts each GPU by the other's fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parameters/arch.h"
#include "row_cells.h"
#include "base/csv.h"
#include "score/score.h"
#include "rows/set_power.h"
#include "catalog/find.h"
#include "system/resolve.h"

#define MAX_ROWS 2048

static struct jl_power_row rows[MAX_ROWS];
static size_t n_rows;

static enum jl_status find_device(void *ctx, const char *text, struct jl_power_row *row, struct jl_err *err)
{
	(void)ctx;
	const enum jl_status status = jl_find_gpu(&row->gpu, jl_catalog_embedded(), text, err);

	if (status == JL_OK)
		jl_resolve_device(&row->dev, jl_catalog_embedded(), row->gpu);
	return status;
}

static struct jl_power_find find = { .device = find_device };

/* A row as written in its source. */
#define RUN_CELLS                                                                                                      \
	gpu, n_gpus, workload, model, precision, batch, power_limit_w, avg_power_w_total, avg_power_w_per_gpu, scope,  \
		throughput, throughput_unit
struct power_run {
	jl_cell RUN_CELLS;
};

static enum jl_status read_run(struct jl_power_row *ret_row, const struct power_run *run, struct jl_err *err)
{
	const struct row_cells_of row = { CELL_NAMES(RUN_CELLS), (const jl_cell *)(const void *)run };
	struct jl_power_cells cells;
	struct jl_arena arena;

	jl_arena_init(&arena, 1 << 20);
	enum jl_status status = row_cells_fill((jl_cell *)(void *)&cells, CELL_NAMES(JL_POWER_CELLS), &row, "power",
					       &arena, err);

	if (!status)
		status = jl_power_row_read(ret_row, &cells, &find, err);
	jl_arena_release(&arena);
	return status;
}

static int load(void **state)
{
	(void)state;
	static const char path[] = JL_SOURCE_DIR "/data/validation/power.csv";
	struct jl_err err = { .en = "" };
	struct jl_buf text;
	struct jl_csv csv;
	bool more = true;

	find.cat = jl_catalog_embedded();
	if (jl_buf_read_file(&text, path, (size_t)1 << 26, &err) != JL_OK ||
	    jl_csv_open(&csv, jl_buf_text(&text), text.len, path, &err) != JL_OK)
		goto fail;
	while (jl_csv_next(&csv, &more, &err) == JL_OK && more && n_rows < MAX_ROWS) {
#define CELL(name) .name = jl_csv_text(&csv, jl_csv_find(&csv, #name))
		const struct power_run run = { CELL(gpu),
					       CELL(n_gpus),
					       CELL(workload),
					       CELL(model),
					       CELL(precision),
					       CELL(batch),
					       CELL(power_limit_w),
					       CELL(avg_power_w_total),
					       CELL(avg_power_w_per_gpu),
					       CELL(scope),
					       CELL(throughput),
					       CELL(throughput_unit) };

		if (read_run(&rows[n_rows], &run, &err) != JL_OK)
			goto fail;
		n_rows++;
	}
	jl_csv_release(&csv);
	jl_buf_release(&text);
	return 0;
fail:
	print_error("%s\n", err.en);
	return 1;
}

static void test_every_row_is_read(void **state)
{
	(void)state;
	assert_int_equal(n_rows, 515);
	for (size_t i = 0; i < n_rows; i++) {
		assert_int_equal(rows[i].assumed, 0);
		assert_true(rows[i].ask.work.moved_Bps > 0 && rows[i].ask.work.moved_Bps < rows[i].dev.mem_Bps);
		assert_true(rows[i].ask.work.flopps > 0);
	}
}

static void test_each_gpu_from_the_other(void **state)
{
	(void)state;
	static double ln_ratio[MAX_ROWS], scratch[MAX_ROWS];
	static unsigned char use[MAX_ROWS];
	const int archs[] = { jl_arch_by_id("hopper"), jl_arch_by_id("blackwell-dc") };

	for (size_t k = 0; k < 2; k++) {
		double x[16], cost;
		struct jl_err err;

		for (size_t i = 0; i < n_rows; i++)
			use[i] = rows[i].dev.arch != archs[k];
		jl_params_start(&jl_power_params, x);
		assert_int_equal(jl_power_solve(rows, n_rows, use, x, &cost, &err), JL_OK);
		const struct jl_power_fit fit = jl_power_fit_of(x);

		for (size_t i = 0; i < n_rows; i++) {
			if (!use[i])
				ln_ratio[i] = jl_power_ln_ratio(&rows[i], &fit);
		}
	}
	const struct jl_score s = jl_score_rows(&(struct jl_score_in){ .n = n_rows, .ln_ratio = ln_ratio }, scratch);

	print_message("held out: median %.3f, p90 %.3f\n", s.median_abs_ln, s.p90_abs_ln);
	assert_true(s.median_abs_ln < 0.10 && s.p90_abs_ln < 0.30);
}

/* Kinds of rows that the file lacks: training under a power limit, and a whole node. */
static void test_other_kinds_of_rows(void **state)
{
	(void)state;
	const struct jl_power_fit fit = jl_power_shipped(jl_catalog_embedded());
	struct power_run cells = { .gpu = "A40",
				   .n_gpus = "1",
				   .workload = "training",
				   .model = "resnet50",
				   .batch = "256",
				   .power_limit_w = "125",
				   .avg_power_w_per_gpu = "124",
				   .scope = "GPU board (NVML)",
				   .throughput = "1800",
				   .throughput_unit = "s/epoch (imagenet)" };
	struct jl_power_row row;
	struct jl_err err;

	assert_int_equal(read_run(&row, &cells, &err), JL_OK);
	assert_int_equal(row.assumed, JL_POWER_ASSUMED_ACTIVITY);
	assert_true(jl_power_ask_W(&row.dev, &fit, &row.ask) <= 125);
	assert_true(fabs(jl_power_ln_ratio(&row, &fit)) < 0.1);
	cells.power_limit_w = "";
	assert_int_equal(read_run(&row, &cells, &err), JL_OK);
	assert_true(jl_power_ask_W(&row.dev, &fit, &row.ask) > 150 && jl_power_ask_W(&row.dev, &fit, &row.ask) <= 300);

	const struct power_run node = { .gpu = "H100 SXM 80GB",
					.n_gpus = "8",
					.model = "various",
					.workload = "AI training, computationally intensive",
					.avg_power_w_total = "7752",
					.scope = "whole 8-GPU node (0.76*10200, derived)" };

	assert_int_equal(read_run(&row, &node, &err), JL_OK);
	assert_true(row.assumed & JL_POWER_ASSUMED_HOST);
	assert_true(fabs(jl_power_ln_ratio(&row, &fit)) < 0.2);
	cells.avg_power_w_per_gpu = "";
	assert_int_equal(read_run(&row, &cells, &err), JL_E_DATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_is_read),
		cmocka_unit_test(test_each_gpu_from_the_other),
		cmocka_unit_test(test_other_kinds_of_rows),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
