/* jeoul predict --near: the published measurements most like what was asked, and how wrong the program is on them. */
#include <math.h>
#include <string.h>

#include "belief/near.h"
#include "cli/predict_near.h"
#include "cli/validate_view.h"
#include "cli/view.h"

#define NEAR_MAX    10
#define ARENA_MAX_B ((size_t)1 << 30)

static enum jl_status print_table(struct jl_cli *cli, const struct jl_validation *v, const struct jl_near *near,
				  size_t n, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("published run"), .flexible = true, .min_width = 20 },
		{ .head = "GPU" },
		{ .head = JL_("off by"), .align = JL_RIGHT },
		{ .head = JL_("row") },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, 4);
	for (size_t i = 0; i < n; i++) {
		const struct jl_set_row *row = near[i].line->rows[near[i].index];
		const struct jl_validate_file *file = jl_validate_file_of(v, near[i].line, near[i].index);

		jl_table_printf(&table, "%s, %s", row->what, row->framework);
		jl_table_cell(&table, row->gpu);
		jl_table_printf(&table, "%+.0f %%", 100.0 * (row->pred / row->meas - 1.0));
		jl_table_printf(&table, "%s:%zu", file ? file->set : "", row->line);
		jl_table_end_row(&table);
	}
	jl_buf_printf(&cli->out, "\n%s%s%s\n", jl_view_bold(cli),
		      JL_("Near it: the published runs most like this one, predicted by the shipped parameters"),
		      jl_view_reset(cli));
	return jl_view_table(cli, &table, 2, err);
}

static void put_json(struct jl_json *json, const struct jl_validation *v, const struct jl_near *near, size_t n)
{
	jl_json_put_array(json, "near");
	for (size_t i = 0; i < n; i++) {
		const struct jl_set_row *row = near[i].line->rows[near[i].index];
		const struct jl_validate_file *file = jl_validate_file_of(v, near[i].line, near[i].index);

		jl_json_object(json);
		jl_json_put_string(json, "set", file ? file->set : "");
		jl_json_put_integer(json, "line", (long long)row->line);
		jl_json_put_string(json, "source", row->source);
		jl_json_put_string(json, "gpu", row->gpu);
		jl_json_put_string(json, "framework", row->framework);
		jl_json_put_string(json, "what", row->what);
		jl_json_put_number(json, "measured_s", row->meas);
		jl_json_put_number(json, "predicted_s", row->pred);
		jl_json_put_number(json, "ln_ratio", jl_validate_ln(row));
		jl_json_put_number(json, "distance", near[i].distance);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

enum jl_status jl_predict_near(struct jl_cli *cli, const struct jl_case *c, struct jl_json *json, struct jl_err *err)
{
	const struct jl_near_ask ask = jl_near_case(c);
	struct jl_near near[NEAR_MAX];
	struct jl_arena arena;
	size_t n = 0;

	jl_arena_init(&arena, ARENA_MAX_B);
	struct jl_validation *v = jl_arena_alloc(&arena, sizeof(*v));
	enum jl_status status = v ? JL_OK : jl_fail_nomem(err);

	if (!status) {
		jl_validation_init(v, cli->cat, &arena);
		status = jl_validate_add_shipped(cli, v, c->subject.net ? "train_other" : "train_llm", err);
	}
	if (!status)
		status = jl_validation_run(v, &(struct jl_validate_options){ .leave_out = JL_LEAVE_NOTHING }, err);
	if (!status)
		n = jl_near_rows(v, &ask, NEAR_MAX, near);
	if (!status && json)
		put_json(json, v, near, n);
	else if (!status)
		status = print_table(cli, v, near, n, err);
	jl_arena_release(&arena);
	return status;
}
