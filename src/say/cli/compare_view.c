#include "cli/compare_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/predict_view.h"

/* What was measured is said to three digits and without an interval; the rest to two, with it. */
static void time_cell(struct jl_table *table, const struct jl_estimate *e, bool range)
{
	char exact[JL_UNITS_TEXT_MAX], text[JL_RANGE_TEXT_MAX];

	if (isnan(e->value))
		jl_table_cell(table, "?");
	else if (e->lo == e->hi || !range)
		jl_table_cell(table, jl_units_text(exact, e->value, JL_K_TIME, e->lo == e->hi ? 3 : 2));
	else
		jl_table_cell(table, jl_view_range(text, e, JL_K_TIME));
}

/* Decimals that leave two digits: 0.015, 0.32, 2.0, 15. */
static int decimals(double ratio)
{
	return ratio > 0 && ratio < 9.95 ? (int)fmin(6, 1 - floor(log10(ratio) + 1e-9)) : 0;
}

static void speed_cell(struct jl_table *table, const struct jl_estimate *e)
{
	if (e->lo == e->hi)
		jl_table_printf(table, "%.2fx", e->value);
	else
		jl_table_printf(table, "%.*fx (%.*f–%.*f)", decimals(e->value), e->value, decimals(e->lo), e->lo,
				decimals(e->hi), e->hi);
}

/* kWh to two digits; small runs in the unit that reads. */
static void energy_cell(struct jl_table *table, const struct jl_estimate *e)
{
	char value[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];
	const double kWh = 3.6e6;

	if (isnan(e->value))
		jl_table_cell(table, "?");
	else if (e->lo == e->hi)
		jl_table_cell(table, jl_view_about(value, e->value / kWh));
	else
		jl_table_printf(table, "%s (%s–%s)", jl_view_about(value, e->value / kWh),
				jl_view_about(lo, e->lo / kWh), jl_view_about(hi, e->hi / kWh));
}

static void count_cell(struct jl_table *table, double value)
{
	char text[JL_UNITS_TEXT_MAX];

	jl_table_cell(table, isnan(value) ? "?" : jl_view_value(text, value, JL_K_NUMBER, false));
}

static void heading(struct jl_cli *cli, const char *text)
{
	jl_buf_printf(&cli->out, "\n%s%s%s\n", jl_view_bold(cli), text, jl_view_reset(cli));
}

static enum jl_status same_table(struct jl_cli *cli, const struct jl_compare *compare, struct jl_err *err)
{
	const enum jl_lang lang = cli->lang;
	const struct jl_table_column columns[] = {
		{ .head = JL_T(lang, "system", "시스템"), .flexible = true, .min_width = 10 },
		{ .head = JL_T(lang, "passes", "누적"), .align = JL_RIGHT },
		{ .head = JL_T(lang, "step", "스텝") },
		{ .head = JL_T(lang, "speed", "배속") },
		{ .head = JL_T(lang, "epoch", "에폭") },
	};
	const bool epochs = !isnan(compare->rows[0].at[JL_AT_SAME_BATCH].batches);
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, epochs ? 5 : 4);
	for (size_t i = 0; i < compare->n_rows; i++) {
		const struct jl_compare_at *at = &compare->rows[i].at[JL_AT_SAME_BATCH];

		jl_table_cell(&table, compare->rows[i].system);
		if (!at->possible || !at->fits) {
			jl_table_cell(&table, "–");
			jl_table_cell(&table,
				      at->possible ? JL_T(lang, "no fit", "불가") : JL_T(lang, "not so", "불가능"));
			jl_table_end_row(&table);
			continue;
		}
		count_cell(&table, at->n_passes);
		time_cell(&table, &at->step_s, !epochs);
		speed_cell(&table, &at->speedup);
		if (epochs)
			time_cell(&table, &at->epoch_s, true);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static enum jl_status largest_table(struct jl_cli *cli, const struct jl_compare *compare, struct jl_err *err)
{
	const enum jl_lang lang = cli->lang;
	const struct jl_table_column columns[] = {
		{ .head = JL_T(lang, "system", "시스템"), .flexible = true, .min_width = 10 },
		{ .head = JL_T(lang, "batch", "배치"), .align = JL_RIGHT },
		{ .head = JL_T(lang, "step", "스텝") },
		{ .head = JL_T(lang, "speed", "배속") },
		{ .head = JL_T(lang, "batches", "배치 수"), .align = JL_RIGHT },
		{ .head = JL_T(lang, "epoch", "에폭") },
	};
	const bool epochs = !isnan(compare->rows[0].at[JL_AT_SAME_BATCH].batches);
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, epochs ? 6 : 4);
	for (size_t i = 0; i < compare->n_rows; i++) {
		const struct jl_compare_row *row = &compare->rows[i];
		const struct jl_compare_at *at = &row->at[JL_AT_LARGEST_BATCH];

		jl_table_cell(&table, row->system);
		if (!at->possible || !(row->limit >= 1)) {
			jl_table_cell(&table, "–");
			jl_table_cell(&table, JL_T(lang, "no fit", "불가"));
			jl_table_end_row(&table);
			continue;
		}
		count_cell(&table, at->batch);
		time_cell(&table, &at->step_s, !epochs);
		speed_cell(&table, &at->speedup);
		if (epochs) {
			count_cell(&table, at->batches);
			time_cell(&table, &at->epoch_s, true);
		}
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static enum jl_status whole_table(struct jl_cli *cli, const struct jl_compare *compare, struct jl_err *err)
{
	const enum jl_lang lang = cli->lang;
	char run[48], repeat[48], tune[48];
	struct jl_table_column columns[5] = {
		{ .head = JL_T(lang, "system", "시스템"), .flexible = true, .min_width = 10 },
		{ .head = run },
		{ .head = "kWh" }
	};
	size_t n = 3;
	const bool has_repeat = !isnan(compare->repeat), has_tune = !isnan(compare->tune);
	struct jl_table table;

	snprintf(run, sizeof(run), JL_T(lang, "%.0f epoch%s", "%.0f에폭%s"), compare->epochs,
		 lang == JL_EN && compare->epochs > 1 ? "s" : "");
	snprintf(repeat, sizeof(repeat), JL_T(lang, "x %.0f training%s", "학습 %.0f회%.0s"), compare->repeat,
		 compare->repeat > 1 ? "s" : "");
	snprintf(tune, sizeof(tune), JL_T(lang, "x %.0f trial%s", "튜닝 %.0f회%.0s"), compare->tune,
		 compare->tune > 1 ? "s" : "");
	if (has_repeat)
		columns[n++] = (struct jl_table_column){ .head = repeat };
	if (has_tune)
		columns[n++] = (struct jl_table_column){ .head = tune };
	jl_table_init(&table, &cli->arena, columns, n);
	for (size_t i = 0; i < compare->n_rows; i++) {
		const struct jl_compare_at *at = &compare->rows[i].at[JL_AT_SAME_BATCH];

		if (!at->possible || !at->fits)
			continue;
		jl_table_cell(&table, compare->rows[i].system);
		time_cell(&table, &at->run_s, true);
		energy_cell(&table, &at->energy_J);
		if (has_repeat)
			time_cell(&table, &at->repeat_s, false);
		if (has_tune)
			time_cell(&table, &at->tune_s, false);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static const char *share(char out[64], const char *what, double least, double most)
{
	if (round(100 * least) == round(100 * most))
		snprintf(out, 64, "%s %.0f %%", what, 100 * most);
	else
		snprintf(out, 64, "%s %.0f–%.0f %%", what, 100 * least, 100 * most);
	return out;
}

static void observed_head(struct jl_cli *cli, const struct jl_compare *compare, const struct jl_observed *run)
{
	const struct jl_compare_row *base = &compare->rows[0];
	struct jl_step_share mid, least, most;
	char step[JL_UNITS_TEXT_MAX], epoch[JL_UNITS_TEXT_MAX], n[JL_UNITS_TEXT_MAX], a[64];

	jl_observed_split(&mid, &least, &most, run, &base->machine);
	jl_buf_printf(&cli->out,
		      JL_T(cli->lang, "%s a batch of %.0f on %s  ✅ observed\n", "%s / 배치 %.0f, %s  ✅ 실측\n"),
		      jl_units_text(step, run->step_s, JL_K_TIME, 4), run->batch, base->system);
	if (!isnan(run->batches))
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "%s batches an epoch: %s an epoch\n", "에폭당 배치 %s개: 에폭당 %s\n"),
			      jl_view_value(n, run->batches, JL_K_NUMBER, false),
			      jl_units_text(epoch, run->batches * run->step_s, JL_K_TIME, 3));
	jl_buf_printf(&cli->out, "%s, %s\n", JL_T(cli->lang, jl_mixes[run->kind].en, jl_mixes[run->kind].ko),
		      run->dtype == JL_UNSET ? JL_T(cli->lang, "fp32 or fp16", "fp32 또는 fp16")
					     : jl_dtype_name((enum jl_dtype)run->dtype));
	jl_buf_printf(&cli->out, "%s%s", JL_T(cli->lang, "assumed mix: ", "가정한 비중: "),
		      share(a, JL_T(cli->lang, "matrix", "행렬"), least.matrix, most.matrix));
	jl_buf_printf(&cli->out, ", %s", share(a, JL_T(cli->lang, "memory", "메모리"), least.memory, most.memory));
	jl_buf_printf(&cli->out, ", %s", share(a, JL_T(cli->lang, "host", "호스트"), least.host, most.host));
	jl_buf_printf(&cli->out, ", %s\n", share(a, JL_T(cli->lang, "links", "통신"), least.links, most.links));
}

static void model_head(struct jl_cli *cli, const struct jl_compare_page *page)
{
	const struct jl_compare_row *base = &page->compare->rows[0];

	jl_buf_printf(&cli->out, JL_T(cli->lang, "%s · baseline %s · batch %.0f\n", "%s · 기준 %s · 배치 %.0f\n"),
		      page->subject->name, base->system, base->at[JL_AT_SAME_BATCH].batch);
}

static void reasons(struct jl_cli *cli, const struct jl_compare *compare)
{
	for (size_t i = 0; i < compare->n_rows; i++) {
		const struct jl_compare_at *at = &compare->rows[i].at[JL_AT_SAME_BATCH];

		if (!at->possible)
			jl_view_wrapped(cli, 2, compare->rows[i].system, jl_err_text(&at->why, cli->lang));
	}
}

/* A model that is cut differently from system to system is: so that nobody takes the difference for the hardware's alone. */
static void settings(struct jl_cli *cli, const struct jl_compare *compare)
{
	char first[JL_CUT_TEXT_MAX] = "", how[JL_CUT_TEXT_MAX];
	const char *text = "";
	bool differ = false;

	for (size_t i = 0; i < compare->n_rows && text; i++) {
		const struct jl_compare_row *row = &compare->rows[i];

		if (!row->at[JL_AT_SAME_BATCH].possible || !(row->plan.dp >= 1))
			continue;
		jl_view_cut(how, cli, &row->plan, NAN); /* passes are in the table */
		if (i == 0)
			memcpy(first, how, sizeof(first));
		differ |= strcmp(first, how) != 0;
		jl_view_cut(how, cli, &row->plan, row->at[JL_AT_SAME_BATCH].micro_batch);
		text = jl_arena_printf(&cli->arena, "%s%s%s: %s", text, *text ? "; " : "", row->system, how);
	}
	if (differ && text)
		jl_view_wrapped(cli, 2, JL_T(cli->lang, "settings", "설정"), text);
}

static bool is_option(const struct jl_cli *cli, const char *key)
{
	for (const struct jl_option *o = cli->command->options; o && o->name; o++)
		if (strcmp(o->name, key) == 0)
			return true;
	return false;
}

/* Each with the option that would say it otherwise, where there is one; one paragraph. */
static void assumed(struct jl_cli *cli, const struct jl_notes *notes)
{
	const char *text = "";

	for (size_t i = 0; i < notes->n && text; i++) {
		const struct jl_note *note = &notes->items[i];
		const bool option = is_option(cli, note->key);

		text = jl_arena_printf(&cli->arena, "%s%s%s%s%s%s", text, i ? " · " : "",
				       JL_T(cli->lang, note->en, note->ko), option ? " (--" : "",
				       option ? note->key : "", option ? ")" : "");
	}
	if (notes->n && text)
		jl_view_wrapped(cli, 2, JL_T(cli->lang, "assumed", "가정"), text);
}

static void foot(struct jl_cli *cli, const struct jl_compare_page *page)
{
	const char *const of_model = JL_T(
		cli->lang,
		"80 %% intervals; speed is samples a second over the baseline's at its batch; what fits leaves "
		"%.0f %% of the memory free",
		"80 %% 범위. 배속은 초당 샘플 수를 기준 시스템과 비교한 값. 메모리 %.0f %%는 비워 둠");
	const char *text = page->run
				   ? JL_T(cli->lang,
					  "intervals span every corner of the mix; speed is samples a second over the "
					  "observed run's",
					  "범위는 가정한 비중의 모든 끝을 포함. 배속은 초당 샘플 수를 실측과 비교한 값")
				   : jl_arena_printf(&cli->arena, of_model, 100 * JL_MEMORY_MARGIN_FRAC);

	jl_buf_putc(&cli->out, '\n');
	reasons(cli, page->compare);
	settings(cli, page->compare);
	jl_view_wrapped(cli, 2, JL_T(cli->lang, "⚠ estimated", "⚠ 추정"), text ? text : "");
	assumed(cli, &page->compare->notes);
}

enum jl_status jl_view_compare(struct jl_cli *cli, const struct jl_compare_page *page, struct jl_err *err)
{
	const struct jl_compare *compare = page->compare;
	const struct jl_compare_at *base = &compare->rows[0].at[JL_AT_SAME_BATCH];
	char text[256], batches[JL_UNITS_TEXT_MAX];
	enum jl_status status;

	if (page->run)
		observed_head(cli, compare, page->run);
	else
		model_head(cli, page);
	snprintf(text, sizeof(text),
		 isnan(base->batches)
			 ? JL_T(cli->lang, "At the same batch, %.0f: the same training", "같은 배치 %.0f: 같은 학습")
			 : JL_T(cli->lang, "At the same batch, %.0f: the same training, %s batches an epoch",
				"같은 배치 %.0f: 같은 학습, 에폭당 %s개"),
		 base->batch, jl_view_value(batches, base->batches, JL_K_NUMBER, false));
	heading(cli, text);
	status = same_table(cli, compare, err);
	heading(cli, page->run
			     ? JL_T(cli->lang, "At the largest batch that is sure to fit in one pass: another training",
				    "한 번에 확실히 들어가는 가장 큰 배치에서: 다른 학습")
			     : JL_T(cli->lang, "At the largest batch that fits in one pass: another training",
				    "한 번에 들어가는 가장 큰 배치에서: 다른 학습"));
	if (!status)
		status = largest_table(cli, compare, err);
	if (!status && !isnan(base->batches)) {
		heading(cli, JL_T(cli->lang, "The whole, at the same batch", "전체, 같은 배치에서"));
		status = whole_table(cli, compare, err);
	}
	foot(cli, page);
	return status;
}

static void known_json(struct jl_json *json, const char *key, const struct jl_estimate *e)
{
	if (!isnan(e->value))
		jl_view_estimate_json(json, key, e);
}

static void at_json(struct jl_json *json, const char *key, const struct jl_compare_at *at)
{
	jl_json_put_object(json, key);
	jl_json_put_bool(json, "possible", at->possible);
	if (!at->possible) {
		jl_json_put_string(json, "reason", at->why.en);
		jl_json_end_object(json);
		return;
	}
	jl_json_put_bool(json, "fits", at->fits);
	jl_json_put_number(json, "batch", at->batch);
	jl_json_put_number(json, "micro_batch", at->micro_batch);
	jl_json_put_number(json, "n_passes", at->n_passes);
	if (!isnan(at->batches))
		jl_json_put_number(json, "batches_per_epoch", at->batches);
	known_json(json, "step_s", &at->step_s);
	known_json(json, "epoch_s", &at->epoch_s);
	known_json(json, "run_s", &at->run_s);
	known_json(json, "repeat_s", &at->repeat_s);
	known_json(json, "tune_s", &at->tune_s);
	known_json(json, "speedup", &at->speedup);
	known_json(json, "energy_J", &at->energy_J);
	jl_json_put_bool(json, "energy_with_hosts", at->host_power);
	if (!isnan(at->part_s.matrix)) {
		jl_json_put_object(json, "breakdown_s");
		jl_json_put_number(json, "matrix", at->part_s.matrix);
		jl_json_put_number(json, "memory", at->part_s.memory);
		jl_json_put_number(json, "host", at->part_s.host);
		jl_json_put_number(json, "links", at->part_s.links);
		jl_json_end_object(json);
	}
	jl_json_end_object(json);
}

static void plan_json(struct jl_json *json, const struct jl_plan *p)
{
	static const char *const recomputes[JL_N_RECOMPUTE] = { "none", "selective", "full" };

	jl_json_put_object(json, "parallel");
	jl_json_put_number(json, "dp", p->dp);
	jl_json_put_number(json, "tp", p->tp);
	jl_json_put_number(json, "pp", p->pp);
	jl_json_put_number(json, "cp", p->cp);
	jl_json_put_number(json, "ep", p->ep);
	jl_json_put_number(json, "zero", p->zero);
	jl_json_end_object(json);
	jl_json_put_string(json, "recompute", recomputes[p->recompute]);
}

static void row_json(struct jl_json *json, const struct jl_compare_row *row)
{
	jl_json_put_string(json, "system", row->system);
	jl_json_put_integer(json, "n_devices", row->n_devices);
	jl_json_put_string(json, "origin", row->observed ? "observed" : "estimated");
	jl_json_put_number(json, "batch_limit_per_device", row->limit);
	if (row->plan.dp >= 1)
		plan_json(json, &row->plan);
	at_json(json, "at_same_batch", &row->at[JL_AT_SAME_BATCH]);
	at_json(json, "at_largest_batch", &row->at[JL_AT_LARGEST_BATCH]);
}

static void mix_json(struct jl_json *json, const struct jl_observed *run, const struct jl_machine *base)
{
	struct jl_step_share mid, least, most;

	jl_observed_split(&mid, &least, &most, run, base);
	jl_json_put_object(json, "mix");
	jl_view_estimate_json(json, "matrix_frac", &(struct jl_estimate){ mid.matrix, least.matrix, most.matrix });
	jl_view_estimate_json(json, "memory_frac", &(struct jl_estimate){ mid.memory, least.memory, most.memory });
	jl_view_estimate_json(json, "host_frac", &(struct jl_estimate){ mid.host, least.host, most.host });
	jl_view_estimate_json(json, "links_frac", &(struct jl_estimate){ mid.links, least.links, most.links });
	jl_json_end_object(json);
}

static void observed_json(struct jl_json *json, const struct jl_observed *run, const struct jl_machine *base)
{
	jl_json_put_object(json, "observed");
	jl_json_put_number(json, "step_s", run->step_s);
	jl_json_put_number(json, "batch", run->batch);
	if (!isnan(run->batches)) {
		jl_json_put_number(json, "batches_per_epoch", run->batches);
		jl_json_put_number(json, "epoch_s", run->batches * run->step_s);
	}
	jl_json_put_string(json, "kind", jl_mixes[run->kind].id);
	jl_json_put_string(json, "precision", run->dtype == JL_UNSET ? NULL : jl_dtype_name((enum jl_dtype)run->dtype));
	mix_json(json, run, base);
	jl_json_end_object(json);
}

void jl_view_compare_json(struct jl_cli *cli, const struct jl_compare_page *page)
{
	const struct jl_compare *compare = page->compare;
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	if (page->run)
		observed_json(&json, page->run, &compare->rows[0].machine);
	else
		jl_json_put_string(&json, "model", page->subject->id);
	jl_json_put_number(&json, "epochs", compare->epochs);
	if (!isnan(compare->repeat))
		jl_json_put_number(&json, "repeat", compare->repeat);
	if (!isnan(compare->tune))
		jl_json_put_number(&json, "tune", compare->tune);
	jl_json_put_number(&json, "pue", compare->pue);
	jl_json_put_object(&json, "baseline");
	row_json(&json, &compare->rows[0]);
	jl_json_end_object(&json);
	jl_json_put_array(&json, "systems");
	for (size_t i = 1; i < compare->n_rows; i++) {
		jl_json_object(&json);
		row_json(&json, &compare->rows[i]);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_put_array(&json, "assumptions");
	for (size_t i = 0; i < compare->notes.n; i++) {
		jl_json_object(&json);
		jl_json_put_string(&json, "key", compare->notes.items[i].key);
		jl_json_put_string(&json, "text", compare->notes.items[i].en);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}
