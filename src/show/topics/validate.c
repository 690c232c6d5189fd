#include "topics/validate.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "score/scorecard.h"

#define WORST_MAX ((size_t)1 << 16) /* of a row's explanation */

/* A set, with the memory figures of its rows. */
static bool is_shown(const struct jl_validated *in, const struct jl_validate_line *line)
{
	const struct jl_set_ops *ops = in->set ? jl_set_by_name(in->set) : NULL;

	return !in->set || strcmp(in->set, line->set) == 0 || (!line->ops && ops && strcmp(in->set, ops->name) == 0);
}

static bool is_unscored_shown(const struct jl_validated *in, const struct jl_unscored *u)
{
	return !in->set || strcmp(in->set, u->file->set) == 0;
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

/* --- tables */

/* An empty cell for a missing figure. */
static void cell(struct jl_doc *doc, const char *format, double value)
{
	jl_doc_cell(doc, JL_MARK_NONE);
	if (!isnan(value))
		jl_show_sourced(doc, JL_MEASURED, format, value);
}

/* How far off, from a distance in logarithms: "8.2 %", "+0.2 %", and "5.1x" from twice as much on. */
static const char *off_text(struct jl_doc *doc, double ln, bool is_signed)
{
	const double percent = 100 * expm1(ln);

	if (percent >= 100)
		return jl_doc_format(doc, JL_("%.2gx"), 1 + percent / 100);
	return jl_doc_format(doc, is_signed ? "%+.1f %%" : fabs(percent) < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

static void off_cell(struct jl_doc *doc, double ln, bool is_signed)
{
	if (isnan(ln))
		jl_doc_cell_text(doc, "");
	else
		JL_CELLS(doc, JL_FIGURE_TEXT(off_text(doc, ln, is_signed), JL_MEASURED));
}

/* The name, "522" or "510/522" where some are not scored, then as many of the figures as the table has. */
static void score_row(struct jl_doc *doc, const char *name, const struct jl_score *s, const struct jl_score *naive)
{
	JL_CELLS(doc, JL_NAMED(name),
		 JL_FIGURE_TEXT(s->n_scored == s->n_rows ? jl_doc_format(doc, "%zu", s->n_rows)
							 : jl_doc_format(doc, "%zu/%zu", s->n_scored, s->n_rows),
				JL_MEASURED));
	if (s->n_scored || !naive) {
		off_cell(doc, s->median_abs_ln, false);
		off_cell(doc, s->p90_abs_ln, false);
		if (naive)
			off_cell(doc, s->macro_median_abs_ln, false);
		off_cell(doc, s->bias_ln, true);
		cell(doc, "%.0f %%", 100.0 * s->coverage_frac);
	}
	if (s->n_scored && naive)
		off_cell(doc, fmin(naive[0].median_abs_ln, naive[1].median_abs_ln), false);
	jl_doc_end_row(doc, false);
}

static void sets(struct jl_doc *doc, const struct jl_validated *in)
{
	jl_show_table(doc, NULL, "t8fffffff", JL_N("set|scored|median|p90|macro|bias|in 80 %|naive"));
	for (size_t i = 0; i < in->v->n_lines; i++)
		if (is_shown(in, &in->v->lines[i]))
			score_row(doc, in->v->lines[i].set, &in->v->lines[i].score, in->v->lines[i].naive);
	JL_NOTE(doc, NULL, JL_ORIGIN_NONE,
		"median, p90: how far predictions are off, either way · macro: mean of the medians of what is left out "
		"together · bias: median error, + is predicted too much · in 80 %: measurements inside the 80 % "
		"interval · naive: the median of the better of two plain guesses (--all)");
}

/* Of several sets: best and worst median, and the total in their intervals. */
struct summary {
	size_t n_sets;
	double n_scored, least_ln, most_ln, inside;
};

static void sum_up(struct summary *io, double n_scored, double median_ln, double coverage_frac)
{
	io->least_ln = io->n_sets ? fmin(io->least_ln, median_ln) : median_ln;
	io->most_ln = io->n_sets ? fmax(io->most_ln, median_ln) : median_ln;
	io->inside += n_scored * coverage_frac;
	io->n_scored += n_scored;
	io->n_sets++;
}

/* This release's score card for the shown sets: each row predicted without its source. */
static struct summary unseen_of(struct jl_doc *doc, const struct jl_validated *in)
{
	struct jl_unseen *card = jl_arena_array(doc->arena, JL_UNSEEN_MAX, sizeof(*card));
	const size_t n = card ? jl_scorecard_unseen(card, doc->arena) : 0;
	struct summary sum = { .n_sets = 0 };

	for (size_t i = 0; i < in->v->n_lines; i++)
		for (size_t k = 0; k < n && is_shown(in, &in->v->lines[i]); k++)
			if (strcmp(card[k].set, in->v->lines[i].set) == 0 &&
			    (double)in->v->lines[i].score.n_rows >=
				    card[k].n_scored) /* user's rows are not in the score card */
				sum_up(&sum, card[k].n_scored, card[k].median_abs_ln, card[k].coverage_frac);
	return sum;
}

static void say(struct jl_doc *doc, const struct summary *sum, const char *one, const char *several)
{
	JL_SENTENCE(doc, sum->n_sets == 1 ? one : several, JL_FIG(jl_num_share(expm1(sum->least_ln), JL_MEASURED)),
		    JL_FIG(jl_num_share(expm1(sum->most_ln), JL_MEASURED)),
		    JL_FIG(jl_num_share(sum->inside / sum->n_scored, JL_MEASURED)));
}

/* Left-out results first. Counts figures, not rows: some rows have two, such as a rate and memory. */
static void lead(struct jl_doc *doc, const struct jl_validated *in)
{
	static const char *const en[JL_N_LEAVE_OUT] = {
		"", JL_N("split_group"), JL_N("GPU"), JL_N("framework"), JL_N("link"), JL_N("source"), JL_N("codebase")
	};
	const struct summary none = { .n_sets = 0 };
	const struct summary unseen = in->v->held_out ? none : unseen_of(doc, in);
	struct summary shown = { .n_sets = 0 };
	size_t n_figures = 0, n_sets = 0;

	for (size_t i = 0; i < in->v->n_lines; i++)
		if (is_shown(in, &in->v->lines[i])) {
			const struct jl_score *s = &in->v->lines[i].score;

			n_figures += s->n_rows;
			n_sets++;
			if (s->n_scored)
				sum_up(&shown, (double)s->n_scored, s->median_abs_ln, s->coverage_frac);
		}
	JL_LEAD(doc, JL_("Published measurements and predictions"));
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%s of %s scored"),
		      jl_units_text(JL_TXT, shown.n_scored, JL_K_NUMBER, 12),
		      jl_units_text(JL_TXT, (double)n_figures, JL_K_NUMBER, 12));
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%zu set{/s}"), n_sets);
	jl_doc_break(doc);
	if (unseen.n_sets) {
		say(doc, &unseen,
		    JL_("Sources that the fit has not seen: half of the predictions are off by less than |1; |3 of the "
			"measurements lie in the interval, which promises 80 %."),
		    JL_("Sources that the fit has not seen: half of the predictions of a set are off by less than |1 "
			"in "
			"the best of them and |2 in the hardest; |3 of the measurements lie in the interval, which "
			"promises 80 %."));
		jl_doc_lead(doc);
		if (shown.n_scored > 0)
			say(doc, &shown,
			    JL_("Below, with parameters fitted on these rows too: |1, and |3 in the interval. "
				"--leave-out source excludes each row's source from the fit."),
			    JL_("Below, with parameters fitted on these rows too: |1 to |2, and |3 in the interval. "
				"--leave-out source excludes each row's source from the fit."));
		return;
	}
	if (shown.n_scored > 0)
		say(doc, &shown,
		    JL_("Half of the predictions are off by less than |1; |3 of the measurements lie in the interval, "
			"which promises 80 %."),
		    JL_("Half of the predictions of a set are off by less than |1 in the best of them and |2 in the "
			"hardest; |3 of the measurements lie in the interval, which promises 80 %."));
	jl_doc_lead(doc);
	if (in->v->held_out)
		jl_doc_textf(doc, JL_("Each row is predicted by parameters that were fitted without its %s."),
			     jl_msg(en[in->v->left_out]));
	else
		JL_SHOW(doc, "With the shipped parameters, which were fitted on data/validation: for those rows use "
			     "--leave-out source.");
}

/* Note on a table of rows predicted without their sources. */
static void sources(struct jl_doc *doc, const struct jl_validation *v)
{
	const char *text = "";

	for (size_t i = 0; i < v->n_lines; i++)
		if (v->lines[i].by_group)
			text = jl_doc_format(doc, "%s%s%s", text, *text ? ", " : "", v->lines[i].set);
	if (*text)
		jl_show_note(doc, NULL, JL_ORIGIN_NONE, "%s%s", JL_("one source, so its groups are left out instead: "),
			     text);
	if (v->n_pairs)
		jl_show_note(doc, NULL, JL_MEASURED, JL_("ratios of two predictions: %.0f %% of %zu pairs inside"),
			     100.0 * (double)v->n_pairs_in / (double)v->n_pairs, v->n_pairs);
}

static void labels(struct jl_doc *doc, const struct jl_validate_line *line)
{
	static const char *const heads[JL_N_BY] = { JL_N("GPU|scored|median|p90|bias|in 80 %"),
						    JL_N("framework|scored|median|p90|bias|in 80 %"),
						    JL_N("link|scored|median|p90|bias|in 80 %"),
						    JL_N("codebase|scored|median|p90|bias|in 80 %") };

	for (int kind = 0; kind < JL_N_BY; kind++) {
		if (line->n_by[kind])
			jl_show_table(doc, NULL, "t12fffff", heads[kind]);
		for (size_t i = 0; i < line->n_by[kind]; i++)
			score_row(doc, jl_msg(line->by[kind][i].label), &line->by[kind][i].score, NULL);
	}
}

static enum jl_kind kind_of(const struct jl_validate_line *line)
{
	return strcmp(line->unit, "W") == 0 ? JL_K_POWER : strcmp(line->unit, "B") == 0 ? JL_K_BYTES : JL_K_TIME;
}

static void worst(struct jl_doc *doc, const struct jl_validated *in, const struct jl_validate_line *line)
{
	size_t *index = jl_arena_array(doc->arena, in->n_worst + 1, sizeof *index);
	const size_t n = index ? jl_validate_worst(line, in->n_worst, index) : 0;
	struct jl_buf why;

	if (n)
		jl_doc_subsection(doc, "worst", JL_("The worst rows"));
	jl_buf_init(&why, WORST_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct jl_set_row *row = line->rows[index[i]];
		const struct jl_validate_file *file = jl_validate_file_of(in->v, line, index[i]);

		jl_buf_reset(&why);
		jl_buf_printf(&why, "%s:%zu: ", file ? file->path : "", row->line);
		jl_buf_printf(&why, JL_("%s, %s: predicted %s, measured %s (%.2fx): "), row->gpu, row->what,
			      jl_value_text(JL_TXT, row->pred, kind_of(line), row->is_memory),
			      jl_value_text(JL_TXT, row->meas, kind_of(line), row->is_memory), row->pred / row->meas);
		jl_validate_explain(in->v, line, index[i], &why);
		jl_doc_note(doc, JL_MARK_NONE, NULL);
		jl_doc_name(doc, jl_buf_text(&why));
		jl_buf_reset(&why);
		jl_validate_command(in->v, line, index[i], &why);
		if (jl_buf_text(&why)[0]) {
			jl_doc_note(doc, JL_MARK_NONE, NULL);
			jl_doc_name(doc, jl_buf_text(&why));
		}
	}
	jl_buf_release(&why);
}

static void unscored(struct jl_doc *doc, const struct jl_validated *in)
{
	struct jl_buf text;
	bool any = false;

	jl_buf_init(&text, (size_t)64 << 20);
	for (size_t i = 0; i < in->n_unscored; i++) {
		const struct jl_unscored *u = &in->unscored[i];

		if (!is_unscored_shown(in, u))
			continue;
		if (!any)
			jl_doc_subsection(doc, "unscored", JL_("Not scored"));
		any = true;
		jl_buf_reset(&text);
		jl_buf_printf(&text, "%s:", u->file->path);
		jl_validate_line_ranges(&text, u, (size_t)-1);
		jl_buf_printf(&text, ": %s", u->text);
		jl_doc_note(doc, JL_MARK_NONE, NULL);
		jl_doc_name(doc, jl_buf_text(&text));
	}
	jl_buf_release(&text);
}

void jl_show_validated(struct jl_doc *doc, const struct jl_validated *in)
{
	lead(doc, in);
	sets(doc, in);
	sources(doc, in->v);
	for (size_t i = 0; i < in->v->n_lines; i++) {
		const struct jl_validate_line *l = &in->v->lines[i];

		if (!is_shown(in, l) || !l->score.n_scored || (!in->all && !in->n_worst))
			continue;
		jl_doc_subsection(doc, l->set,
				  jl_doc_format(doc, JL_("%s · groups: %zu · parameters: %zu"), l->set,
						l->score.n_groups, l->n_param));
		for (int b = 0; in->all && b < JL_N_BASELINE; b++)
			jl_show_note(doc, NULL, JL_MEASURED, JL_("naive: %s: median %s, p90 %s"),
				     jl_msg(l->naive_names[b]), off_text(doc, l->naive[b].median_abs_ln, false),
				     off_text(doc, l->naive[b].p90_abs_ln, false));
		if (in->all)
			labels(doc, l);
		worst(doc, in, l);
	}
	if (in->all)
		unscored(doc, in);
	else
		jl_show_note(doc, NULL, JL_ORIGIN_NONE,
			     JL_("By GPU, framework and link, and rows not scored: --all; the worst rows: --worst N"));
}

/* --- JSON */

static const struct jl_field score_rows[] = {
	{ JL_FIELD_AS(jl_score, SIZE, n_rows, "rows") }, { JL_FIELD_AS(jl_score, SIZE, n_scored, "scored") },
	{ JL_FIELD(jl_score, NUMBER, median_abs_ln) },   { JL_FIELD(jl_score, NUMBER, p90_abs_ln) },
	{ JL_FIELD(jl_score, NUMBER, bias_ln) },
};
static const struct jl_schema score_fields = JL_SCHEMA("score", jl_score, score_rows);

/* The key names the property of the rows: "gpu", "framework". */
#define BY(KEY, LABEL)                                                                                                 \
	static const struct jl_field KEY##_rows[] = {                                                                  \
		{ JL_FIELD_AS(jl_validate_by, TEXT, label, LABEL) },                                                   \
		{ JL_FIELD(jl_validate_by, SUB, score), .sub = &score_fields, .flags = JL_FF_FLAT },                   \
		{ JL_FIELD_AS(jl_validate_by, NUMBER, score.coverage_frac, "coverage80") },                            \
	};                                                                                                             \
	static const struct jl_schema KEY##_fields = JL_SCHEMA(#KEY, jl_validate_by, KEY##_rows)
BY(by_gpu, "gpu");
BY(by_framework, "framework");
BY(by_link, "link");
BY(by_codebase, "codebase");

/* "listed rate x 0.8" -> "listed_rate_x_0_8" */
static void key_of(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		if (isalnum((unsigned char)*name))
			out[n++] = (char)tolower((unsigned char)*name);
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	}
	while (n && out[n - 1] == '_')
		n--;
	out[n] = '\0';
}

static void write_baseline(struct jl_json *json, const void *record)
{
	const struct jl_validate_line *l = record;
	char key[80];

	jl_json_object(json);
	for (int b = 0; b < JL_N_BASELINE && l->naive_names[b]; b++) {
		key_of(key, sizeof key, l->naive_names[b]);
		jl_json_key(json, key);
		jl_json_pack(json, "{name:s median_abs_ln:f p90_abs_ln:f scored:z}", jl_msg(l->naive_names[b]),
			     l->naive[b].median_abs_ln, l->naive[b].p90_abs_ln, l->naive[b].n_scored);
	}
	jl_json_end_object(json);
}

JL_BOOL_OF(is_by_group, jl_validate_line, r->by_group);
JL_TEXT_OF(group_word, jl_validate_line, r ? "group" : NULL);

#define L(TYPE, MEMBER, KEY) JL_FIELD_AS(jl_validate_line, TYPE, MEMBER, KEY)
static const struct jl_field line_rows[] = {
	{ JL_FIELD(jl_validate_line, TEXT, set) },
	{ JL_FIELD(jl_validate_line, TEXT, unit) },
	{ JL_FIELD(jl_validate_line, SUB, score), .sub = &score_fields, .flags = JL_FF_FLAT },
	{ L(NUMBER, score.macro_median_abs_ln, "macro_median_abs_ln") },
	{ L(SIZE, score.n_groups, "groups") },
	{ L(NUMBER, score.coverage_frac, "coverage80") },
	{ L(SIZE, n_param, "n_parameters") },
	{ L(NUMBER, macro_coverage_frac, "macro_coverage80") },
	{ L(SIZE, n_sources, "sources") },
	{ JL_FIELD_TEXT_OF("left_out", group_word), .when = is_by_group },
	{ .member = "baseline", .type = JL_F_WRITTEN, .write = write_baseline },
	{ JL_FIELD_MANY(jl_validate_line, LIST, by[JL_BY_GPU], n_by[JL_BY_GPU], "by_gpu", &by_gpu_fields) },
	{ JL_FIELD_MANY(jl_validate_line, LIST, by[JL_BY_FRAMEWORK], n_by[JL_BY_FRAMEWORK], "by_framework",
			&by_framework_fields) },
	{ JL_FIELD_MANY(jl_validate_line, LIST, by[JL_BY_LINK], n_by[JL_BY_LINK], "by_link", &by_link_fields) },
	{ JL_FIELD_MANY(jl_validate_line, LIST, by[JL_BY_CODE], n_by[JL_BY_CODE], "by_codebase", &by_codebase_fields) },
};
static const struct jl_schema line_fields = JL_SCHEMA("set", jl_validate_line, line_rows);

static const struct jl_field row_rows[] = {
	{ JL_FIELD(jl_set_row, SIZE, line) },
	{ JL_FIELD(jl_set_row, TEXT, source) },
	{ JL_FIELD(jl_set_row, TEXT, url) },
	{ JL_FIELD(jl_set_row, TEXT, gpu) },
	{ JL_FIELD(jl_set_row, TEXT, what) },
	{ JL_FIELD_AS(jl_set_row, NUMBER, pred, "predicted") },
	{ JL_FIELD_AS(jl_set_row, NUMBER, meas, "measured") },
	{ JL_FIELD_AS(jl_set_row, NUMBER, half_ln, "half_width_ln") },
};
static const struct jl_schema row_fields = JL_SCHEMA("row", jl_set_row, row_rows);

/* Non-zero contributions to the interval's width. */
static void write_doubt(struct jl_json *json, const struct jl_doubt *doubt)
{
	jl_json_key(json, "reasons");
	jl_json_object(json);
	for (int i = 0; i < JL_N_DOUBT; i++)
		if (doubt->x[i] != 0)
			jl_json_put_number(json, jl_reason_id((enum jl_reason)i), doubt->x[i]);
	jl_json_end_object(json);
}

static void write_worst(struct jl_json *json, const struct jl_validated *in, const struct jl_validate_line *l)
{
	size_t *index = jl_arena_array(in->v->arena, in->n_worst + 1, sizeof *index);
	const size_t n = index ? jl_validate_worst(l, in->n_worst, index) : 0;
	const struct jl_language *reader = jl_lang_set(jl_languages[0]); /* as all texts of the JSON */
	struct jl_buf why;

	jl_buf_init(&why, WORST_MAX);
	jl_json_put_array(json, "worst");
	for (size_t i = 0; i < n; i++) {
		const struct jl_validate_file *file = jl_validate_file_of(in->v, l, index[i]);

		jl_buf_reset(&why);
		jl_validate_explain(in->v, l, index[i], &why);
		jl_json_object(json);
		jl_json_put_string(json, "file", file ? file->path : NULL);
		jl_fields_put(json, &row_fields, l->rows[index[i]]);
		jl_json_put_string(json, "why", jl_buf_text(&why));
		write_doubt(json, &l->rows[index[i]]->doubt);
		jl_buf_reset(&why);
		jl_validate_command(in->v, l, index[i], &why);
		if (jl_buf_text(&why)[0])
			jl_json_put_string(json, "command", jl_buf_text(&why));
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_buf_release(&why);
	jl_lang_set(reader);
}

static void write_sets(struct jl_json *json, const void *record)
{
	const struct jl_validated *in = record;

	jl_json_array(json);
	for (size_t i = 0; i < in->v->n_lines; i++) {
		if (!is_shown(in, &in->v->lines[i]))
			continue;
		jl_json_object(json);
		jl_fields_put(json, &line_fields, &in->v->lines[i]);
		if (in->n_worst)
			write_worst(json, in, &in->v->lines[i]);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void write_unscored(struct jl_json *json, const void *record)
{
	const struct jl_validated *in = record;

	jl_json_array(json);
	for (size_t i = 0; i < in->n_unscored; i++) {
		const struct jl_unscored *u = &in->unscored[i];
		struct jl_buf lines;

		if (!is_unscored_shown(in, u))
			continue;
		jl_buf_init(&lines, (size_t)64 << 20);
		jl_validate_line_ranges(&lines, u, (size_t)-1);
		jl_json_pack(json, "{file:s set:s rows:z lines:s reason:s}", u->file->path, u->file->set, u->n,
			     jl_buf_text(&lines), u->en);
		jl_buf_release(&lines);
	}
	jl_json_end_array(json);
}

static const char *const fitted_without[JL_N_LEAVE_OUT] = { "shipped",           "leave_one_group_out",
							    "leave_gpu_out",     "leave_framework_out",
							    "leave_link_out",    "leave_source_out",
							    "leave_codebase_out" };
JL_TEXT_OF(parameters, jl_validated, fitted_without[r->v->left_out]);

JL_BOOL_OF(has_pairs, jl_validated, r->v->n_pairs > 0);
JL_NUMBER_OF(pairs, jl_validated, (double)r->v->n_pairs);
JL_NUMBER_OF(pairs_in, jl_validated, (double)r->v->n_pairs_in / (double)r->v->n_pairs);

static const struct jl_field ratio_rows[] = {
	{ JL_FIELD_NUMBER_OF("pairs", pairs) },
	{ JL_FIELD_NUMBER_OF("coverage80", pairs_in) },
};
static const struct jl_schema ratio_fields = JL_SCHEMA("ratios", jl_validated, ratio_rows);

static const struct jl_field rows[] = {
	{ JL_FIELD_TEXT_OF("parameters", parameters) },
	{ .member = "sets", .type = JL_F_WRITTEN, .write = write_sets },
	{ JL_FIELD_GROUP("ratios", &ratio_fields), .when = has_pairs },
	{ .member = "unscored", .type = JL_F_WRITTEN, .write = write_unscored },
};
const struct jl_schema jl_validated_fields = JL_SCHEMA("validate", jl_validated, rows);
