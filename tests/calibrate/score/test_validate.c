/* Every row is scored or has a reason; statistics match score.h; no set is worse than in the last scorecard. */
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
#include "score/near.h"
#include "score/scorecard.h"
#include "rows/set_collectives.h"
#include "rows/set_gemm.h"
#include "rows/set_llm.h"
#include "rows/set_other.h"
#include "rows/set_power.h"
#include "rows/set_rows.h"
#include "rows/set_serve.h"
#include "score/validate.h"
#include "system/resolve.h"

static struct jl_arena arena;
static struct jl_validation shipped;

/* under sanitizers: every sixth row of each set, as only the execution matters */
enum { EVERY = JL_TEST_SANITIZED ? 6 : 1 };

/* Keeps the header and every `every`-th row; these files have no line breaks in cells. Returns the length. */
static size_t thin(char *text, size_t len, size_t every)
{
	size_t to = 0, line = 0;

	for (size_t at = 0, end; at < len; at = end, line++) {
		const char *stop = memchr(text + at, '\n', len - at);

		end = stop ? (size_t)(stop - text) + 1 : len;
		if (line && (line - 1) % every)
			continue;
		memmove(text + to, text + at, end - at);
		to += end - at;
	}
	return to;
}

static void add(struct jl_validation *v, const char *name, size_t every)
{
	char path[1024];
	struct jl_buf text;
	struct jl_err err;

	(void)snprintf(path, sizeof(path), "%s/data/validation/%s.csv", JL_SOURCE_DIR, name);
	if (jl_buf_read_file(&text, path, (size_t)1 << 28, &err) != JL_OK)
		fail_msg("%s", err.en);
	text.len = thin(text.data, text.len, every);
	if (jl_validation_add(v, path, jl_buf_text(&text), text.len, NULL, &err) != JL_OK)
		fail_msg("%s", err.en);
	jl_buf_release(&text);
}

static void run(struct jl_validation *v, bool left_out)
{
	struct jl_err err;

	if (jl_validation_run(
		    v, &(struct jl_validate_options){ .leave_out = left_out ? JL_LEAVE_GROUP : JL_LEAVE_NOTHING },
		    &err) != JL_OK)
		fail_msg("%s", err.en);
}

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, (size_t)1 << 30);
	jl_validation_init(&shipped, jl_catalog_embedded(), &arena);
	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++)
		for (const char *const *file = (*ops)->files; *file; file++)
			add(&shipped, *file, EVERY);
	run(&shipped, false);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static void test_every_row_is_scored(void **state)
{
	static const struct {
		const char *set;
		size_t n_rows;
	} sets[] = { { "train_llm", 864 },  { "train_vtrain", 973 }, { "train_other", 1505 }, { "collectives", 1293 },
		     { "gemm_membw", 522 }, { "power", 515 },        { "memory", 155 } };
	/* newer sources state less: unscored rows have a reason */
	static const struct {
		const char *set;
		size_t n_scored;
		double median;
	} newer[] = { { "finetune", 260, 0.25 },
		      { "finetune_memory", 295, 0.15 },
		      { "moe_and_large", 225, 0.2 },
		      { "other_train", 310, 0.25 },
		      { "other_memory", 45, 0.2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		const struct jl_validate_line *line = jl_validation_line(&shipped, sets[i].set);

		assert_non_null(line);
		assert_true(line->score.n_rows >= sets[i].n_rows / EVERY);
		assert_true((double)line->score.n_scored >= (EVERY > 1 ? 0.9 : 0.97) * (double)line->score.n_rows);
		if (EVERY > 1)
			continue;
		assert_true(line->score.median_abs_ln < 0.2 && line->score.coverage_frac > 0.5);
		/* predictions beat the naive baselines */
		for (int b = 0; b < JL_N_BASELINE; b++)
			assert_true(line->naive[b].median_abs_ln > line->score.median_abs_ln);
	}
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++) {
		const struct jl_validate_line *line = jl_validation_line(&shipped, newer[i].set);

		assert_non_null(line);
		if (EVERY > 1)
			continue;
		assert_true(line->score.n_scored >= newer[i].n_scored && line->score.median_abs_ln < newer[i].median);
		for (int b = 0; b < JL_N_BASELINE; b++)
			assert_true(line->naive[b].median_abs_ln > line->score.median_abs_ln);
	}
}

static void test_serving_is_scored_row_by_row(void **state)
{
	static const char *const sets[] = { "infer_llm", "serve_load", "serve_silicon" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct jl_validate_line *line = jl_validation_line(&shipped, sets[i]);

		assert_non_null(line);
		assert_true(line->score.n_rows > 900 / EVERY);
		assert_true((double)line->score.n_scored >= 0.97 * (double)line->score.n_rows);
		if (EVERY > 1)
			continue;
		assert_true(line->score.median_abs_ln < 0.3 && line->score.coverage_frac > 0.5);
		for (int b = 0; b < JL_N_BASELINE; b++)
			assert_true(line->naive[b].median_abs_ln > line->score.median_abs_ln);
	}
}

static int by_measurement(const void *a, const void *b)
{
	const struct jl_set_row *x = *(const struct jl_set_row *const *)a, *y = *(const struct jl_set_row *const *)b;
	const int gpu = strcmp(x->gpu, y->gpu), what = strcmp(x->what, y->what);

	return fabs(x->meas / y->meas - 1) > 1e-9 ? (x->meas < y->meas ? -1 : 1) : gpu ? gpu : what;
}

/* Server times have all their digits: two equal ones are one measurement published twice. */
static void test_no_run_of_a_server_counts_twice(void **state)
{
	const struct jl_validate_line *line = jl_validation_line(&shipped, "serve_silicon");
	const struct jl_set_row **rows = jl_arena_alloc(&arena, line->n_rows * sizeof(*rows));

	(void)state;
	assert_non_null(rows);
	size_t n = 0;

	for (size_t i = 0; i < line->n_rows; i++)
		if (line->rows[i]->meas > 0) /* scored rows */
			rows[n++] = line->rows[i];
	assert_true(n > 1);
	qsort(rows, n, sizeof(*rows), by_measurement);
	for (size_t i = 1; i < n; i++)
		assert_int_not_equal(by_measurement(&rows[i - 1], &rows[i]), 0);
}

/* Prediction minimised by the fit, computed with the set's own functions. */
static double fitted(const struct jl_validate_family *family, const struct jl_set_row *row)
{
	const struct jl_set_data *data = family->data;
	const char *name = family->ops->name;

	if (strcmp(name, "finetune") == 0 || strcmp(name, "moe_and_large") == 0 || strcmp(name, "other_train") == 0)
		return row->pred; /* the fit calls jl_case_price, as jl_predict does */
	if (strcmp(name, "train_llm") == 0) {
		struct jl_llm_prediction p;

		jl_llm_predict((const struct jl_llm_row *)data->cases + row->item, family->x, NULL, &p);
		return row->is_memory ? p.mem_B : p.step_s;
	}
	if (strcmp(name, "train_other") == 0) {
		const struct jl_other_row *c = (const struct jl_other_row *)data->cases + row->item;

		/* transformer blocks use parameters from transformer runs, not from this fit */
		if (jl_convnet_has_blocks(c->net) && !c->host->spells_blocks)
			return row->pred;
		return jl_other_cost(c, family->x).step_s;
	}
	if (strcmp(name, "collectives") == 0)
		return jl_coll_predict_s(family->x, (const struct jl_coll_case *)data->cases + row->item, NULL);
	if (strcmp(name, "power") == 0) {
		const struct jl_power_row *c = (const struct jl_power_row *)data->cases + row->item;
		const struct jl_power_fit fit = jl_power_fit_of(family->x);

		return c->meas_W * exp(jl_power_ln_ratio(c, &fit));
	}
	if (strcmp(name, "gemm_membw") == 0) {
		const struct jl_gemm_case *c = (const struct jl_gemm_case *)data->cases + row->item;
		struct jl_gemm_shared shared;
		struct jl_device dev;

		jl_resolve_device(&dev, data->cat, data->gpus.gpus[c->gpu]);
		jl_gemm_resolve(family->x, c->gpu, &dev);
		jl_gemm_shared_at(family->x, &shared);
		return jl_device_case_s(&dev, &shared, &c->of);
	}
	if (strstr(name, "_ops"))
		return row->pred; /* fit and score call the same function */
	const struct jl_serve_row *c = (const struct jl_serve_row *)data->cases + row->item;
	const enum jl_serve_scope scope = strcmp(name, "infer_llm") == 0 ? JL_SCOPE_INFER : JL_SCOPE_SERVE;
	const struct jl_serve_fit fit = jl_serve_scope_of(c->run.engine) == scope
						? jl_serve_fit_of(scope, family->x, c->dev.arch, c->run.engine)
						: jl_serve_shipped(data->cat, c->dev.arch,
								   c->run.engine); /* fitted to another set's loads */

	return jl_serve_plan_s(c->plan, &c->dev, &fit, c->run.metric, NULL);
}

/* The score uses jl_predict and related functions, the fit lower-level ones: both must agree for every row, with the catalog's single interval
 * model; and measured kinds must be recorded as measured. */
static void test_what_is_scored_is_what_is_answered(void **state)
{
	const struct jl_known known = jl_known_of(jl_catalog_embedded());

	(void)state;
	for (size_t f = 0; f < shipped.n_families; f++) {
		const struct jl_validate_family *family = &shipped.families[f];

		for (size_t i = 0; i < family->rows.n; i++) {
			const struct jl_set_row *row = &family->rows.rows[i];

			if (row->unscored)
				continue;
			if (!(fabs(log(row->pred / fitted(family, row))) < 1e-9))
				fail_msg("%s:%zu: %.12g is answered, %.12g fitted", family->ops->name, row->line,
					 row->pred, fitted(family, row));
			if (!(fabs(row->half_ln - jl_half_ln(&known.widths, row->answer, &row->doubt)) < 1e-9))
				fail_msg("%s:%zu: an interval of its own", family->ops->name, row->line);
			if (row->doubt.x[JL_DOUBT_GPU] + row->doubt.x[JL_DOUBT_FAMILY] + row->doubt.x[JL_DOUBT_KIND] +
					    row->doubt.x[JL_DOUBT_LINK] !=
				    0.0 ||
			    row->doubt.x[JL_DOUBT_FAR] > 1e-6)
				fail_msg("%s:%zu: measured, and not known as that", family->ops->name, row->line);
		}
	}
}

static void test_labels_cover_the_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < shipped.n_lines; i++) {
		const struct jl_validate_line *line = &shipped.lines[i];
		size_t n = 0;

		if (!line->score.n_scored)
			continue;
		for (size_t k = 0; k < line->n_by[JL_BY_GPU]; k++)
			n += line->by[JL_BY_GPU][k].score.n_scored;
		assert_int_equal(n, line->score.n_scored);
	}
}

static void test_the_worst_come_first(void **state)
{
	const struct jl_validate_line *line = jl_validation_line(&shipped, "train_llm");
	size_t index[20];
	struct jl_buf why;

	(void)state;
	assert_int_equal(jl_validate_worst(line, 20, index), 20);
	for (size_t i = 1; i < 20; i++)
		assert_true(fabs(jl_validate_ln(line->rows[index[i]])) <=
			    fabs(jl_validate_ln(line->rows[index[i - 1]])));
	jl_buf_init(&why, 4096);
	jl_validate_explain(&shipped, line, index[0], &why);
	assert_true(strstr(jl_buf_text(&why), "%") != NULL);
	jl_buf_release(&why);
}

/* Two runs over the groups of the smallest set: bitwise equal, and different from the shipped score. */
static void test_groups_left_out(void **state)
{
	static struct jl_validation v[2];
	const struct jl_validate_line *a, *b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		jl_validation_init(&v[i], jl_catalog_embedded(), &arena);
		add(&v[i], "power", 1);
		run(&v[i], true);
	}
	a = jl_validation_line(&v[0], "power");
	b = jl_validation_line(&v[1], "power");
	assert_int_equal(a->score.n_groups, 2);
	for (size_t i = 0; i < a->n_rows; i++)
		assert_memory_equal(&a->rows[i]->pred, &b->rows[i]->pred, sizeof(double));
	assert_true(a->score.median_abs_ln != jl_validation_line(&shipped, "power")->score.median_abs_ln);
	assert_true(a->score.median_abs_ln < 0.11);
}

/* Fails if a set is worse than the last scorecard's shipped score by more than `tolerance`. Sets missing there pass. */
static enum jl_status compare_with(const char *history, const struct jl_validation *card, double tolerance,
				   struct jl_err *err)
{
	struct jl_csv csv;
	double was[JL_VALIDATE_LINES_MAX];
	bool more = true;
	size_t set, mode, median;
	enum jl_status status = jl_csv_open(&csv, history, strlen(history), "scorecard-history.csv", err);

	if (status)
		return status;
	for (size_t i = 0; i < card->n_lines; i++)
		was[i] = NAN;
	status = jl_csv_need(&csv, "set", &set, err);
	if (!status)
		status = jl_csv_need(&csv, "mode", &mode, err);
	if (!status)
		status = jl_csv_need(&csv, "median_abs_ln", &median, err);
	while (!status) {
		status = jl_csv_next(&csv, &more, err);
		if (status || !more)
			break;
		for (size_t i = 0; i < card->n_lines && !status; i++)
			if (strcmp(jl_csv_text(&csv, mode), "shipped") == 0 &&
			    strcmp(jl_csv_text(&csv, set), card->lines[i].set) == 0)
				status = jl_csv_number(&csv, median, &was[i], err);
	}
	for (size_t i = 0; i < card->n_lines && !status; i++) {
		const double now = card->lines[i].score.median_abs_ln;

		if (now > was[i] * (1.0 + tolerance) + 1e-5 || (isnan(now) && !isnan(was[i])))
			status = jl_fail(err, JL_E_DATA, "%s is worse than the last score card: median %.4f, was %.4f",
					 card->lines[i].set, now, was[i]);
	}
	jl_csv_release(&csv);
	return status;
}

/* A set with several sources: neither prediction nor interval of a row uses its own source; bitwise reproducible. */
static void test_sources_left_out(void **state)
{
	static struct jl_validation v[2];
	struct jl_err err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		jl_validation_init(&v[i], jl_catalog_embedded(), &arena);
		add(&v[i], "collectives", EVERY);
		add(&v[i], "power", EVERY);
		assert_int_equal(
			jl_validation_run(&v[i], &(struct jl_validate_options){ .leave_out = JL_LEAVE_SOURCE }, &err),
			JL_OK);
	}
	const struct jl_validate_line *a = jl_validation_line(&v[0], "collectives"),
				      *b = jl_validation_line(&v[1], "collectives"),
				      *power = jl_validation_line(&v[0], "power");

	assert_true(a->n_sources > 10 && !a->by_group && a->score.n_groups == a->n_sources);
	assert_true(power->n_sources == 1 && power->by_group && power->score.n_groups == 2);
	assert_true(a->macro_coverage_frac > 0.6 && a->macro_coverage_frac < 0.95);
	assert_true(a->score.median_abs_ln > jl_validation_line(&shipped, "collectives")->score.median_abs_ln);
	for (size_t i = 0; i < a->n_rows; i++) {
		assert_memory_equal(&a->rows[i]->pred, &b->rows[i]->pred, sizeof(double));
		assert_memory_equal(&a->rows[i]->half_ln, &b->rows[i]->half_ln, sizeof(double));
	}
}

static void test_the_nearest_rows(void **state)
{
	const struct jl_validate_line *line = jl_validation_line(&shipped, "train_llm");
	const struct jl_set_row *row = line->rows[100];
	struct jl_near_ask ask = { .answer = row->answer };
	struct jl_near near[10];

	(void)state;
	memcpy(ask.kind, row->kind, sizeof(ask.kind));
	memcpy(ask.extent_ln, row->extent_ln, sizeof(ask.extent_ln));
	assert_int_equal(jl_near_rows(&shipped, &ask, 10, near), 10);
	assert_true(near[0].distance == 0.0);
	for (size_t i = 1; i < 10; i++)
		assert_true(near[i].distance >= near[i - 1].distance);
	ask.answer = JL_ASKED_NETWORK;
	assert_int_equal(jl_near_rows(&shipped, &ask, 3, near), 3);
	assert_true(strcmp(near[0].line->set, "train_other") == 0 || strcmp(near[0].line->set, "other_train") == 0);
}

/* No set may get worse than in the last scorecard, with a tolerance of 2 % for differences between fits. */
static void test_no_set_is_worse_than_the_last_card(void **state)
{
	struct jl_buf history;
	struct jl_err err;

	(void)state;
	if (jl_buf_read_file(&history, JL_SOURCE_DIR "/docs/scorecard-history.csv", (size_t)1 << 24, &err) != JL_OK)
		fail_msg("%s", err.en);
	if (compare_with(jl_buf_text(&history), &shipped, 0.02, &err) != JL_OK && EVERY == 1)
		fail_msg("%s", err.en);
	jl_buf_release(&history);
}

static void test_a_worse_set_is_named(void **state)
{
	static const char better[] =
		"version,mode,set,median_abs_ln\n0.0.1,left-out,power,0.001\n0.0.1,shipped,power,0.001\n";
	struct jl_err err;

	(void)state;
	assert_int_equal(compare_with(better, &shipped, 0.02, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "power"));
}

static void test_the_history_keeps_other_versions(void **state)
{
	const struct jl_scorecard old = { .version = "0.0.1",
					  .by_source = &shipped,
					  .by_group = &shipped,
					  .by_code = &shipped,
					  .shipped = &shipped };
	const struct jl_scorecard new = { .version = "0.0.2",
					  .by_source = &shipped,
					  .by_group = &shipped,
					  .by_code = &shipped,
					  .shipped = &shipped };
	struct jl_buf a, b, c, page;
	struct jl_err err;

	(void)state;
	jl_buf_init(&a, 1 << 20);
	jl_buf_init(&b, 1 << 20);
	jl_buf_init(&c, 1 << 20);
	jl_buf_init(&page, 1 << 22);
	assert_int_equal(jl_scorecard_history(&a, &old, "", &err), JL_OK);
	assert_int_equal(jl_scorecard_history(&b, &new, jl_buf_text(&a), &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&b), "0.0.1,source-out,power"));
	assert_non_null(strstr(jl_buf_text(&b), "0.0.1,left-out,power"));
	assert_non_null(strstr(jl_buf_text(&b), "0.0.2,shipped,power"));
	assert_int_equal(jl_scorecard_history(&c, &new, jl_buf_text(&b), &err), JL_OK);
	assert_string_equal(jl_buf_text(&b), jl_buf_text(&c));
	assert_int_equal(compare_with(jl_buf_text(&b), &shipped, 0.02, &err), JL_OK);
	assert_int_equal(jl_scorecard_markdown(&page, &new, jl_buf_text(&b), &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&page), "scorecard/train_llm.svg"));
	assert_non_null(strstr(jl_buf_text(&page), "| train_llm | nemo |"));
	jl_buf_release(&a);
	jl_buf_release(&b);
	jl_buf_release(&c);
	jl_buf_release(&page);
}

static void test_plots(void **state)
{
	struct jl_buf svg;

	(void)state;
	jl_buf_init(&svg, 1 << 22);
	assert_true(jl_scorecard_svg(&svg, jl_validation_line(&shipped, "collectives")));
	assert_non_null(strstr(jl_buf_text(&svg), "</svg>"));
	assert_null(strstr(jl_buf_text(&svg), "nan"));
	assert_null(strstr(jl_buf_text(&svg), "inf"));
	assert_true(jl_scorecard_svg(&svg, jl_validation_line(&shipped, "infer_llm")));
	jl_buf_release(&svg);
}

/* A file from elsewhere. */
static enum jl_status add_text(struct jl_validation *v, const char *text, const char *set, struct jl_err *err)
{
	jl_validation_init(v, jl_catalog_embedded(), &arena);
	return jl_validation_add(v, "theirs.csv", text, strlen(text), set, err);
}

#define COLL "collective,bytes,n_gpus,n_nodes,gpu,intra_link,latency_us"

static void test_files_of_others(void **state)
{
	static struct jl_validation v;
	struct jl_unscored *list;
	struct jl_err err;
	size_t n;

	(void)state;
	/* byte order mark, CRLF, unknown GPU, missing number, negative number, nothing measured */
	assert_int_equal(add_text(&v,
				  "\xef\xbb\xbf" COLL "\r\n"
				  "all_reduce,1048576,8,1,H100 SXM 80GB,NVSwitch,50\r\n"
				  "all_reduce,1048576,8,1,Voodoo 2,NVSwitch,50\r\n"
				  "all_reduce,1048576,8,1,H100 SXM 80GB,NVSwitch,nan\r\n"
				  "all_reduce,1048576,8,1,H100 SXM 80GB,NVSwitch,-5\r\n"
				  "all_reduce,1048576,8,1,H100 SXM 80GB,NVSwitch,\r\n",
				  NULL, &err),
			 JL_OK);
	run(&v, false);
	assert_int_equal(v.lines[0].score.n_rows, 5);
	assert_int_equal(v.lines[0].score.n_scored, 1);
	assert_int_equal(jl_validate_unscored(&v, &list, &n, &err), JL_OK);
	assert_int_equal(n, 4);
	assert_int_equal(list[0].lines[0], 3);
	assert_non_null(strstr(list[0].en, "Voodoo 2"));
	assert_non_null(strstr(list[1].en, "latency_us"));
	assert_non_null(strstr(list[1].en, "column 7"));
	assert_non_null(strstr(list[2].en, "-5"));
	assert_non_null(strstr(list[3].en, "empty"));
}

static void test_malformed_files_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{ "collective;bytes;n_gpus\nall_reduce;1;2\n", "theirs.csv:1:1: columns look separated by" },
		{ "collective,bytes,n_gpus,n_nodes,gpu,latency_us\n", "intra_link" },
		{ "shoe,size\n1,2\n", "theirs.csv:1:1: these columns fit no set" },
		{ COLL "\nall_reduce,1048576,8,1,H100 SXM 80GB,NVSwitch\n", "theirs.csv:2" },
		{ COLL "\nall_reduce,1048576,8,1,\"H100,NVSwitch,50\n", "theirs.csv:2:24" },
		{ "", "no header" },
	};
	static struct jl_validation v;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_not_equal(add_text(&v, files[i].text, NULL, &err), JL_OK);
		if (!strstr(err.en, files[i].says))
			fail_msg("%s", err.en);
	}
	assert_int_equal(add_text(&v, COLL "\n", "colectives", &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "did you mean 'collectives'"));
	assert_int_equal(add_text(&v, COLL "\n", "gemm_membw", &err), JL_E_NOTFOUND);
}

static void test_a_file_without_rows(void **state)
{
	static struct jl_validation v;
	struct jl_err err;

	(void)state;
	assert_int_equal(add_text(&v, COLL "\n", NULL, &err), JL_OK);
	run(&v, false);
	assert_int_equal(v.lines[0].score.n_rows, 0);
	assert_true(isnan(v.lines[0].score.median_abs_ln));
	assert_int_equal(add_text(&v, COLL "\n", NULL, &err), JL_OK);
	run(&v, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_is_scored),
		cmocka_unit_test(test_serving_is_scored_row_by_row),
		cmocka_unit_test(test_no_run_of_a_server_counts_twice),
		cmocka_unit_test(test_what_is_scored_is_what_is_answered),
		cmocka_unit_test(test_sources_left_out),
		cmocka_unit_test(test_the_nearest_rows),
		cmocka_unit_test(test_labels_cover_the_rows),
		cmocka_unit_test(test_the_worst_come_first),
		cmocka_unit_test(test_groups_left_out),
		cmocka_unit_test(test_no_set_is_worse_than_the_last_card),
		cmocka_unit_test(test_a_worse_set_is_named),
		cmocka_unit_test(test_the_history_keeps_other_versions),
		cmocka_unit_test(test_plots),
		cmocka_unit_test(test_files_of_others),
		cmocka_unit_test(test_malformed_files_are_refused),
		cmocka_unit_test(test_a_file_without_rows),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
