/* The largest and the fastest batch of each system. */
#include <math.h>
#include <stdio.h>

#include "cli/plan_view.h"

static void batch_cell(struct jl_table *table, const struct jl_batch_point *p)
{
	if (p->batch >= 1 && p->batch != p->worker)
		jl_table_printf(table, "%.0f (%.0f×%.0f)", p->batch, p->batch / p->worker, p->worker);
	else if (p->batch >= 1)
		jl_table_printf(table, "%.0f", p->batch);
	else
		jl_table_cell(table, "–");
}

static void rate_cell(struct jl_table *table, const struct jl_batch_point *p)
{
	const struct jl_estimate *e = &p->prediction.samples_per_s;
	char value[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];

	if (p->batch >= 1)
		jl_table_printf(table, "%s (%s–%s)", jl_about_text(value, e->value), jl_about_text(lo, e->lo),
				jl_about_text(hi, e->hi));
	else
		jl_table_cell(table, "–");
}

enum jl_status jl_view_batches(struct jl_cli *cli, const struct jl_batch_row *rows, size_t n, struct jl_err *err)
{
	const double base = rows[0].limit.fastest.prediction.samples_per_s.value;
	const struct jl_table_column columns[] = {
		{ .head = JL_("system"), .flexible = true, .min_width = 18 },
		{ .head = JL_("largest") },
		{ .head = JL_("fastest") },
		{ .head = JL_("samples/s") },
		{ .head = JL_("speed"), .align = JL_RIGHT },
		{ .head = JL_("at most") },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, 6);
	for (size_t i = 0; i < n; i++) {
		const struct jl_batch_limit *l = &rows[i].limit;

		jl_table_cell(&table, rows[i].system);
		batch_cell(&table, &l->largest);
		batch_cell(&table, &l->fastest);
		rate_cell(&table, &l->fastest);
		if (l->fastest.batch >= 1 && base > 0)
			jl_table_printf(&table, "%.2fx", l->fastest.prediction.samples_per_s.value / base);
		else
			jl_table_cell(&table, "–");
		batch_cell(&table, &l->most);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void point_json(struct jl_json *json, const char *key, const struct jl_batch_point *p)
{
	jl_json_put_object(json, key);
	jl_json_put_number(json, "batch", p->batch);
	jl_json_put_number(json, "batch_per_worker", p->worker);
	if (p->batch >= 1) {
		jl_fields_put(json, &jl_case_fields, &p->how);
		jl_fields_put(json, &jl_prediction_fields, &p->prediction);
	}
	jl_json_end_object(json);
}

void jl_view_batches_json(struct jl_json *json, const struct jl_batch_row *rows, size_t n)
{
	jl_json_put_array(json, "systems");
	for (size_t i = 0; i < n; i++) {
		jl_json_object(json);
		jl_json_put_string(json, "system", rows[i].system);
		point_json(json, "largest", &rows[i].limit.largest);
		point_json(json, "fastest", &rows[i].limit.fastest);
		point_json(json, "with_every_means", &rows[i].limit.most);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}
