#include "cli/validate_view.h"

#include <math.h>
#include <string.h>

#include "cli/view.h"

/* A set is shown with the memory of its rows. */
bool jl_validate_shown(const struct jl_validate_show *show, const struct jl_validate_line *line)
{
	if (!show->set || strcmp(show->set, line->set) == 0)
		return true;
	const struct jl_set_ops *ops = jl_set_by_name(show->set);

	return !line->ops && ops && strcmp(show->set, ops->name) == 0;
}

/* "522", or "510/522" where some are not scored. */
static void scored(struct jl_table *table, const struct jl_score *s)
{
	if (s->n_scored == s->n_rows)
		jl_table_printf(table, "%zu", s->n_rows);
	else
		jl_table_printf(table, "%zu/%zu", s->n_scored, s->n_rows);
}

/* Cells that stay empty where there is no figure. */
static void ratio(struct jl_table *table, double value)
{
	if (isnan(value))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, "%.3f", value);
}

static void bias(struct jl_table *table, double value)
{
	if (isnan(value))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, "%+.3f", value);
}

static void share(struct jl_table *table, double frac)
{
	if (isnan(frac))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, "%.0f %%", 100.0 * frac);
}

static void wrap(struct jl_cli *cli, size_t indent, const char *text)
{
	jl_buf_pad(&cli->out, ' ', indent);
	jl_view_flow(cli, indent, indent + 4, text);
}

static enum jl_status print_sets(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_show *show,
				 struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("set"), .flexible = true, .min_width = 8 },
		{ .head = JL_("scored"), .align = JL_RIGHT },
		{ .head = JL_("median"), .align = JL_RIGHT },
		{ .head = "p90", .align = JL_RIGHT },
		{ .head = JL_("macro"), .align = JL_RIGHT },
		{ .head = JL_("bias"), .align = JL_RIGHT },
		{ .head = JL_("in 80 %"), .align = JL_RIGHT },
		{ .head = JL_("naive"), .align = JL_RIGHT },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, 8);
	for (size_t i = 0; i < v->n_lines; i++) {
		const struct jl_validate_line *l = &v->lines[i];

		if (!jl_validate_shown(show, l))
			continue;
		jl_table_cell(&table, l->set);
		scored(&table, &l->score);
		if (l->score.n_scored == 0) {
			jl_table_end_row(&table);
			continue;
		}
		ratio(&table, l->score.median_abs_ln);
		ratio(&table, l->score.p90_abs_ln);
		ratio(&table, l->score.macro_median_abs_ln);
		bias(&table, l->score.bias_ln);
		share(&table, l->score.coverage_frac);
		jl_table_printf(&table, "%.2f  %.2f", l->naive[0].median_abs_ln, l->naive[1].median_abs_ln);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

/* Figures, not rows of files: some rows have two, such as a rate and the memory that the run took. */
static void print_head(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_show *show)
{
	size_t n_figures = 0, n_scored = 0, n_sets = 0;
	char scored[JL_UNITS_TEXT_MAX], figures[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < v->n_lines; i++) {
		const struct jl_validate_line *l = &v->lines[i];

		if (!jl_validate_shown(show, l))
			continue;
		n_figures += l->score.n_rows;
		n_scored += l->score.n_scored;
		n_sets++;
	}
	(void)jl_units_text(scored, (double)n_scored, JL_K_NUMBER, 12);
	(void)jl_units_text(figures, (double)n_figures, JL_K_NUMBER, 12);
	jl_buf_printf(&cli->out, "%s%s%s · ", jl_view_bold(cli), JL_("Published measurements and predictions"),
		      jl_view_reset(cli));
	jl_buf_printf(&cli->out, JL_("%s of %s scored · "), scored, figures);
	jl_buf_printf(&cli->out, JL_("%zu set{/s}\n"), n_sets);
	static const char *const en[JL_N_LEAVE_OUT] = { "",           JL_N("split_group"),
							JL_N("GPU"),  JL_N("framework"),
							JL_N("link"), JL_N("source") };

	wrap(cli, 0,
	     v->held_out ? jl_arena_printf(&cli->arena,
					   JL_("Each row is predicted by parameters that were fitted without its %s."),
					   jl_msg(en[v->left_out]))
			 : JL_("With the shipped parameters, which were fitted on data/validation: on those rows "
			       "--leave-out source is the honest figure."));
	jl_buf_putc(&cli->out, '\n');
}

static void print_legend(struct jl_cli *cli)
{
	wrap(cli, 2,
	     JL_("median, p90 of |ln(predicted/measured)|: 0.10 is 10 % off · macro: mean of the medians of what is "
		 "left out together · "
		 "bias: median of ln(predicted/measured) · in 80 %: measurements inside the 80 % interval · naive: "
		 "medians of two plain guesses, named below"));
}

/* What the reader must know of a table of rows without their sources. */
static void print_sources(struct jl_cli *cli, const struct jl_validation *v)
{
	const char *between = JL_("one source, so its groups are left out instead: ");
	const char *text = "";

	for (size_t i = 0; i < v->n_lines; i++) {
		if (!v->lines[i].by_group)
			continue;
		text = jl_arena_printf(&cli->arena, "%s%s%s", text, between, v->lines[i].set);
		between = ", ";
	}
	if (text && *text)
		wrap(cli, 2, text);
	if (v->n_pairs)
		wrap(cli, 2,
		     jl_arena_printf(&cli->arena, JL_("ratios of two predictions: %.0f %% of %zu pairs inside"),
				     100.0 * (double)v->n_pairs_in / (double)v->n_pairs, v->n_pairs));
}

static enum jl_status print_labels(struct jl_cli *cli, const struct jl_validate_line *line, struct jl_err *err)
{
	const char *const heads[JL_N_BY] = { "GPU", JL_("framework"), JL_("link") };
	enum jl_status status = JL_OK;

	for (int kind = 0; kind < JL_N_BY && !status; kind++) {
		const struct jl_table_column columns[] = {
			{ .head = heads[kind], .flexible = true, .min_width = 12 },
			{ .head = JL_("scored"), .align = JL_RIGHT },
			{ .head = JL_("median"), .align = JL_RIGHT },
			{ .head = "p90", .align = JL_RIGHT },
			{ .head = JL_("bias"), .align = JL_RIGHT },
			{ .head = JL_("in 80 %"), .align = JL_RIGHT },
		};
		struct jl_table table;

		if (line->n_by[kind] == 0)
			continue;
		jl_table_init(&table, &cli->arena, columns, 6);
		for (size_t i = 0; i < line->n_by[kind]; i++) {
			const struct jl_validate_by *by = &line->by[kind][i];

			jl_table_cell(&table, by->label);
			scored(&table, &by->score);
			ratio(&table, by->score.median_abs_ln);
			ratio(&table, by->score.p90_abs_ln);
			bias(&table, by->score.bias_ln);
			share(&table, by->score.coverage_frac);
			jl_table_end_row(&table);
		}
		status = jl_view_table(cli, &table, 2, err);
		jl_buf_putc(&cli->out, '\n');
	}
	return status;
}

const struct jl_validate_file *jl_validate_file_of(const struct jl_validation *v, const struct jl_validate_line *line,
						   size_t index)
{
	const size_t at = (size_t)(line->rows[index] - v->families[line->family[index]].rows.rows);

	for (size_t i = 0; i < v->n_files; i++)
		if (v->files[i].family == line->family[index] && at >= v->files[i].first &&
		    at < v->files[i].first + v->files[i].n)
			return &v->files[i];
	return NULL;
}

static enum jl_kind kind_of(const struct jl_validate_line *line)
{
	return strcmp(line->unit, "W") == 0 ? JL_K_POWER : strcmp(line->unit, "B") == 0 ? JL_K_BYTES : JL_K_TIME;
}

static void print_worst(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_line *line,
			size_t max)
{
	size_t *index = jl_arena_array(&cli->arena, max + 1, sizeof(*index));
	const size_t n = index ? jl_validate_worst(line, max, index) : 0;
	char pred[JL_UNITS_TEXT_MAX], meas[JL_UNITS_TEXT_MAX];
	struct jl_buf why;

	if (n)
		jl_buf_printf(&cli->out, JL_("  The worst rows\n"));
	jl_buf_init(&why, (size_t)1 << 16);
	for (size_t i = 0; i < n; i++) {
		const struct jl_set_row *row = line->rows[index[i]];
		const struct jl_validate_file *file = jl_validate_file_of(v, line, index[i]);
		const bool memory = row->is_memory;

		jl_buf_reset(&why);
		jl_buf_printf(&why, "%s:%zu: ", file ? file->path : "", row->line);
		jl_buf_printf(&why, JL_("%s, %s: predicted %s, measured %s (%.2fx): "), row->gpu, row->what,
			      jl_view_value(pred, row->pred, kind_of(line), memory),
			      jl_view_value(meas, row->meas, kind_of(line), memory), row->pred / row->meas);
		jl_validate_explain(v, line, index[i], &why);
		wrap(cli, 2, jl_buf_text(&why));
	}
	jl_buf_release(&why);
}

static enum jl_status print_unscored(struct jl_cli *cli, const struct jl_validation *v,
				     const struct jl_validate_show *show, struct jl_err *err)
{
	struct jl_unscored *list;
	size_t n;
	struct jl_buf text;
	const enum jl_status status = jl_validate_unscored(v, &list, &n, err);
	bool any = false;

	if (status)
		return status;
	jl_buf_init(&text, (size_t)64 << 20);
	for (size_t i = 0; i < n; i++) {
		if (show->set && strcmp(show->set, list[i].file->set) != 0)
			continue;
		if (!any)
			jl_buf_printf(&cli->out, JL_("%sNot scored%s\n"), jl_view_bold(cli), jl_view_reset(cli));
		any = true;
		jl_buf_reset(&text);
		jl_buf_printf(&text, "%s:", list[i].file->path);
		jl_validate_line_ranges(&text, &list[i], (size_t)-1);
		jl_buf_printf(&text, ": %s", list[i].text);
		wrap(cli, 2, jl_buf_text(&text));
	}
	jl_buf_release(&text);
	return JL_OK;
}

static enum jl_status print_line(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_line *l,
				 size_t n_worst, struct jl_err *err)
{
	enum jl_status status;

	jl_buf_printf(&cli->out, JL_("%s%s%s · groups: %zu · parameters: %zu\n"), jl_view_bold(cli), l->set,
		      jl_view_reset(cli), l->score.n_groups, l->n_param);
	for (int b = 0; b < JL_N_BASELINE; b++)
		jl_buf_printf(&cli->out, JL_("  naive: %s: median %.3f, p90 %.3f\n"), l->naive_names[b],
			      l->naive[b].median_abs_ln, l->naive[b].p90_abs_ln);
	status = print_labels(cli, l, err);
	if (!status && n_worst) {
		print_worst(cli, v, l, n_worst);
		jl_buf_putc(&cli->out, '\n');
	}
	return status;
}

enum jl_status jl_validate_print(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_show *show,
				 struct jl_err *err)
{
	enum jl_status status;

	print_head(cli, v, show);
	status = print_sets(cli, v, show, err);
	print_legend(cli);
	print_sources(cli, v);
	jl_buf_putc(&cli->out, '\n');
	for (size_t i = 0; i < v->n_lines && !status; i++)
		if (jl_validate_shown(show, &v->lines[i]) && v->lines[i].score.n_scored)
			status = print_line(cli, v, &v->lines[i], show->n_worst, err);
	return status ? status : print_unscored(cli, v, show, err);
}
