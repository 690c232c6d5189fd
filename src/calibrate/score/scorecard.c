/* Writes the scorecard as Markdown, and its history as CSV. */
#include "score/scorecard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* |ln(pred/meas)| with the row's source left out */
static const struct jl_goal goals[] = {
	{ "train_llm", 0.07, 0.22 },     { "train_vtrain", 0.05, 0.15 }, { "collectives", 0.08, 0.30 },
	{ "gemm_membw", 0.07, 0.22 },    { "train_other", 0.10, 0.30 },  { "power", 0.09, 0.30 },
	{ JL_MEMORY_LINE, 0.06, 0.20 },  { "finetune", 0.15, 0.40 },     { "finetune_memory", 0.08, 0.20 },
	{ "moe_and_large", 0.10, 0.30 },
};

/* NULL: none */
static const struct jl_goal *scorecard_goal(const char *set)
{
	for (size_t i = 0; i < JL_LEN(goals); i++)
		if (strcmp(goals[i].set, set) == 0)
			return &goals[i];
	return NULL;
}

static const char *const history_columns[] = { "version",       "mode",       "set",
					       "rows",          "scored",     "n_parameters",
					       "median_abs_ln", "p90_abs_ln", "macro_median_abs_ln",
					       "bias_ln",       "coverage80", NULL };

static void put_round(struct jl_csv_writer *w, double value)
{
	char text[32];

	if (isnan(value)) {
		jl_csv_put_text(w, "");
		return;
	}
	(void)snprintf(text, sizeof(text), "%.5f", value);
	jl_csv_put_text(w, text);
}

static void put_history(struct jl_csv_writer *w, const char *version, const char *mode, const struct jl_validation *v)
{
	for (size_t i = 0; i < v->n_lines; i++) {
		const struct jl_validate_line *line = &v->lines[i];

		if (line->score.n_scored == 0)
			continue;
		jl_csv_put_text(w, version);
		jl_csv_put_text(w, mode);
		jl_csv_put_text(w, line->set);
		jl_csv_put_number(w, (double)line->score.n_rows);
		jl_csv_put_number(w, (double)line->score.n_scored);
		jl_csv_put_number(w, (double)line->n_param);
		put_round(w, line->score.median_abs_ln);
		put_round(w, line->score.p90_abs_ln);
		put_round(w, line->score.macro_median_abs_ln);
		put_round(w, line->score.bias_ln);
		put_round(w, line->score.coverage_frac);
		jl_csv_end_row(w);
	}
}

static enum jl_status keep_others(struct jl_csv_writer *w, const char *old, const char *version, struct jl_err *err)
{
	struct jl_csv csv;
	size_t at[16], n = 0;
	enum jl_status status = JL_OK;

	if (old[strspn(old, " \r\n")] == '\0')
		return JL_OK;
	JL_TRY(jl_csv_open(&csv, old, strlen(old), "scorecard-history.csv", err));
	for (; history_columns[n] && !status; n++)
		status = jl_csv_need(&csv, history_columns[n], &at[n], err);
	while (jl_csv_more(&csv, &status, err)) {
		if (strcmp(jl_csv_text(&csv, at[0]), version) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			jl_csv_put_text(w, jl_csv_text(&csv, at[i]));
		jl_csv_end_row(w);
	}
	jl_csv_release(&csv);
	return status;
}

enum jl_status jl_scorecard_history(struct jl_buf *out, const struct jl_scorecard *card, const char *old,
				    struct jl_err *err)
{
	struct jl_csv_writer w;

	jl_csv_writer_init(&w, out);
	for (size_t i = 0; history_columns[i]; i++)
		jl_csv_put_text(&w, history_columns[i]);
	jl_csv_end_row(&w);
	JL_TRY(keep_others(&w, old, card->version, err));
	put_history(&w, card->version, "source-out", card->by_source);
	put_history(&w, card->version, "left-out", card->by_group);
	put_history(&w, card->version, "shipped", card->shipped);
	return JL_OK;
}

static void verdict(struct jl_buf *out, double value, double goal)
{
	if (isnan(goal))
		jl_buf_puts(out, "");
	else if (value <= goal)
		jl_buf_printf(out, " ✅ ≤ %.2f", goal);
	else
		jl_buf_printf(out, " ❌ %.3f above %.2f", value - goal, goal);
}

/* Headline table: rows predicted without their sources. Sets with one source are marked, because they say little about others. */
static void headline(struct jl_buf *out, const struct jl_validation *v)
{
	jl_buf_puts(out, "| set | sources | scored | median | p90 | macro | bias | in 80 % | by source | parameters | "
			 "naive guesses (median) |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
	for (size_t i = 0; i < v->n_lines; i++) {
		const struct jl_validate_line *l = &v->lines[i];
		const struct jl_goal *goal = scorecard_goal(l->set);

		jl_buf_printf(out, "| %s | %zu%s | %zu of %zu |", l->set, l->n_sources,
			      l->by_group ? " (by group)" : "", l->score.n_scored, l->score.n_rows);
		if (l->score.n_scored == 0) {
			jl_buf_puts(out, " | | | | | | | |\n");
			continue;
		}
		jl_buf_printf(out, " %.3f", l->score.median_abs_ln);
		verdict(out, l->score.median_abs_ln, goal ? goal->median : NAN);
		jl_buf_printf(out, " | %.3f", l->score.p90_abs_ln);
		verdict(out, l->score.p90_abs_ln, goal ? goal->p90 : NAN);
		jl_buf_printf(out, " | %.3f | %+.3f | %.0f %% | %.0f %% | %zu |", l->score.macro_median_abs_ln,
			      l->score.bias_ln, 100.0 * l->score.coverage_frac, 100.0 * l->macro_coverage_frac,
			      l->n_param);
		for (int b = 0; b < JL_N_BASELINE; b++)
			jl_buf_printf(out, "%s %s: %.2f", b ? ";" : "", l->naive_names[b], l->naive[b].median_abs_ln);
		jl_buf_puts(out, " |\n");
	}
	jl_buf_putc(out, '\n');
	if (v->n_pairs)
		jl_buf_printf(out,
			      "Of %zu pairs of rows that give one model of one source on two devices, the ratio of the "
			      "two predictions holds the measured one in its 80 %% interval in %.0f %%.\n\n",
			      v->n_pairs, 100.0 * (double)v->n_pairs_in / (double)v->n_pairs);
}

/* Easier modes, with the shipped intervals: group left out, and in-sample. */
static void beside(struct jl_buf *out, const struct jl_scorecard *card)
{
	const struct jl_validation *const modes[] = { card->by_group, card->shipped };

	jl_buf_puts(out, "| set | group left out: median | p90 | in 80 % | in sample: median | p90 | in 80 % |\n"
			 "|---|---:|---:|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < card->by_source->n_lines; i++) {
		jl_buf_printf(out, "| %s |", card->by_source->lines[i].set);
		for (size_t m = 0; m < JL_LEN(modes); m++) {
			const struct jl_score *s = &modes[m]->lines[i].score;

			if (s->n_scored)
				jl_buf_printf(out, " %.3f | %.3f | %.0f %% |", s->median_abs_ln, s->p90_abs_ln,
					      100.0 * s->coverage_frac);
			else
				jl_buf_puts(out, " | | |");
		}
		jl_buf_puts(out, "\n");
	}
	jl_buf_putc(out, '\n');
}

static void labels(struct jl_buf *out, const struct jl_validate_line *line)
{
	static const char *const heads[JL_N_BY] = { "GPU", "framework", "link", "codebase" };

	for (int kind = 0; kind < JL_N_BY; kind++) {
		if (line->n_by[kind] < 2)
			continue;
		jl_buf_printf(out, "| %s | rows | median | p90 | bias | in 80 %% |\n|---|---:|---:|---:|---:|---:|\n",
			      heads[kind]);
		for (size_t i = 0; i < line->n_by[kind]; i++) {
			const struct jl_validate_by *by = &line->by[kind][i];

			jl_buf_printf(out, "| %s | %zu | %.3f | %.3f | %+.3f | %.0f %% |\n", by->label,
				      by->score.n_scored, by->score.median_abs_ln, by->score.p90_abs_ln,
				      by->score.bias_ln, 100.0 * by->score.coverage_frac);
		}
		jl_buf_putc(out, '\n');
	}
}

struct code_sums {
	size_t n;
	double bias_ln, inside_frac;
};

/* Codebases that train transformers: one line per codebase and set, and their mean, in which each counts once. */
static void codebases(struct jl_buf *out, const struct jl_validation *v)
{
	double biases[JL_VALIDATE_LINES_MAX * JL_VALIDATE_CODES_MAX];
	struct code_sums sums = { 0 };

	jl_buf_puts(out, "| set | codebase | rows | median | bias | in 80 % |\n|---|---|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < v->n_lines; i++) {
		const struct jl_validate_line *line = &v->lines[i];

		if (!line->ops || !line->ops->has_codebases)
			continue;
		for (size_t k = 0; k < line->n_by[JL_BY_CODE] && k < JL_VALIDATE_CODES_MAX; k++) {
			const struct jl_validate_by *by = &line->by[JL_BY_CODE][k];

			if (!by->score.n_scored)
				continue;
			biases[sums.n++] = by->score.bias_ln;
			sums.bias_ln += by->score.bias_ln;
			sums.inside_frac += by->score.coverage_frac;
			jl_buf_printf(out, "| %s | %s | %zu | %.3f | %+.3f | %.0f %% |\n", line->set, by->label,
				      by->score.n_scored, by->score.median_abs_ln, by->score.bias_ln,
				      100.0 * by->score.coverage_frac);
		}
	}
	if (sums.n)
		jl_buf_printf(
			out, "\nBias in the middle over these %zu: %+.3f, mean %+.3f; inside 80 %%, mean: %.0f %%.\n\n",
			sums.n, jl_score_quantile(biases, sums.n, 0.5), sums.bias_ln / (double)sums.n,
			100.0 * sums.inside_frac / (double)sums.n);
}

static const char *file_name(const struct jl_validation *v, const struct jl_validate_line *line, size_t index)
{
	const size_t f = line->family[index];
	const size_t at = (size_t)(line->rows[index] - v->families[f].rows.rows);

	for (size_t i = 0; i < v->n_files; i++)
		if (v->files[i].family == f && at >= v->files[i].first && at < v->files[i].first + v->files[i].n)
			return strrchr(v->files[i].path, '/') ? strrchr(v->files[i].path, '/') + 1 : v->files[i].path;
	return "";
}

static void worst(struct jl_buf *out, const struct jl_validation *v, const struct jl_validate_line *line)
{
	enum { N_WORST = 8 };
	size_t index[N_WORST];
	const size_t n = jl_validate_worst(line, N_WORST, index);

	jl_buf_puts(out, "| row | what | predicted / measured | where the prediction goes |\n|---|---|---:|---|\n");
	for (size_t i = 0; i < n; i++) {
		const struct jl_set_row *row = line->rows[index[i]];
		const struct jl_language *reader;

		jl_buf_printf(out, "| %s:%zu | %s, %s | %.2f | ", file_name(v, line, index[i]), row->line, row->gpu,
			      row->what, row->pred / row->meas);
		reader = jl_lang_set(jl_languages[0]); /* the scorecard is in English */
		jl_validate_explain(v, line, index[i], out);
		jl_lang_set(reader);
		jl_buf_puts(out, " |\n");
	}
	jl_buf_putc(out, '\n');
}

static enum jl_status put_unscored(struct jl_buf *out, const struct jl_validation *v, struct jl_err *err)
{
	struct jl_unscored *list;
	size_t n;

	JL_TRY(jl_validate_unscored(v, &list, &n, err));
	jl_buf_puts(out, "## Not scored\n\n");
	for (size_t i = 0; i < n; i++) {
		const char *slash = strrchr(list[i].file->path, '/');

		jl_buf_printf(out, "- %s, lines ", slash ? slash + 1 : list[i].file->path);
		jl_validate_line_ranges(out, &list[i], 40);
		jl_buf_printf(out, ": %s\n", list[i].en);
	}
	jl_buf_puts(out, n ? "\n" : "Nothing.\n\n");
	return JL_OK;
}

static enum jl_status put_history_table(struct jl_buf *out, const char *history, struct jl_err *err)
{
	struct jl_csv csv;
	enum jl_status status = JL_OK;

	JL_TRY(jl_csv_open(&csv, history, strlen(history), "scorecard-history.csv", err));
	jl_buf_puts(out, "## Releases\n\n| version | set | scored | median, source left out | p90 | in 80 % |\n"
			 "|---|---|---:|---:|---:|---:|\n");
	while (jl_csv_more(&csv, &status, err)) {
		if (strcmp(jl_csv_text(&csv, 1), "source-out") == 0)
			jl_buf_printf(out, "| %s | %s | %s | %s | %s | %s |\n", jl_csv_text(&csv, 0),
				      jl_csv_text(&csv, 2), jl_csv_text(&csv, 4), jl_csv_text(&csv, 6),
				      jl_csv_text(&csv, 7), jl_csv_text(&csv, 10));
	}
	jl_csv_release(&csv);
	return status;
}

enum jl_status jl_scorecard_markdown(struct jl_buf *out, const struct jl_scorecard *card, const char *history,
				     struct jl_err *err)
{
	enum jl_status status;

	jl_buf_printf(out,
		      "# Score card of jeoul %s\n\n"
		      "Written by `make scorecard`; do not edit. How wrong the program is on published measurements\n"
		      "(`data/validation`), said before anybody else has to: every row is scored or listed with its "
		      "reason.\n\n"
		      "The figures are |ln(predicted / measured)|: 0.10 is 10 %% off. Each row is predicted by "
		      "parameters that were\n"
		      "fitted without any row of its source, and its interval is as wide as the other sources ask for: "
		      "neither has seen it.\n"
		      "Where a set has one source, its groups (GPUs, or models) are left out one after the other "
		      "instead. *macro*: mean\n"
		      "over sources of each one's median. *bias*: median of ln(predicted / measured). *in 80 %%*: "
		      "share of the measurements\n"
		      "inside the stated 80 %% interval; 75 to 85 %% is right. *by source*: the mean over sources of "
		      "that share, so that a\n"
		      "source with most of the rows counts once. Few sources say little about the next one. "
		      "*parameters*: how many the rows\n"
		      "have moved from their priors; sets of one fit share them. Marks are against the goals for "
		      "unseen sources.\n\n",
		      card->version);
	headline(out, card->by_source);
	jl_buf_puts(out, "Beside it, easier: without the row's group alone (its source's rows of other GPUs stay), and "
			 "with the shipped parameters,\nwhich were fitted on these rows:\n\n");
	beside(out, card);
	jl_buf_puts(out,
		    "## Codebases\n\nTraining of transformers: each row is predicted, and its interval found, without "
		    "any row of its codebase.\n\n");
	codebases(out, card->by_code);
	for (size_t i = 0; i < card->by_source->n_lines; i++) {
		const struct jl_validate_line *line = &card->by_source->lines[i];

		if (line->score.n_scored == 0)
			continue;
		jl_buf_printf(out, "## %s\n\n![%s: predicted against measured](scorecard/%s.svg)\n\n", line->set,
			      line->set, line->set);
		labels(out, line);
		jl_buf_puts(out, "The worst rows:\n\n");
		worst(out, card->by_source, line);
	}
	status = put_unscored(out, card->by_source, err);
	return status ? status : put_history_table(out, history, err);
}

extern const unsigned char jl_scorecard_text[]; /* docs/scorecard-history.csv */
extern const size_t jl_scorecard_text_len;

size_t jl_scorecard_unseen(struct jl_unseen ret_sets[JL_UNSEEN_MAX], struct jl_arena *arena)
{
	static const char *const keys[] = { "scored", "median_abs_ln", "p90_abs_ln", "coverage80" };
	const char *text = (const char *)jl_scorecard_text, *last = text + jl_scorecard_text_len - 1;
	enum jl_status status = JL_OK;
	struct jl_csv csv;
	struct jl_err ignored;
	size_t n = 0;

	while (last > text && last[-1] != '\n') /* its line begins with the version */
		last--;
	if (jl_csv_open(&csv, text, jl_scorecard_text_len, "scorecard", &ignored))
		return 0;
	while (n < JL_UNSEEN_MAX && jl_csv_more(&csv, &status, &ignored)) {
		double x[JL_LEN(keys)];

		if (strncmp(last, jl_csv_text(&csv, 0), strcspn(last, ",")) != 0 ||
		    strcmp(jl_csv_text(&csv, 1), "source-out") != 0)
			continue;
		for (size_t i = 0; i < JL_LEN(keys); i++)
			if (jl_csv_number(&csv, jl_csv_find(&csv, keys[i]), &x[i], &ignored))
				x[i] = NAN;
		ret_sets[n] = (struct jl_unseen){ jl_arena_strdup(arena, jl_csv_text(&csv, 2)), x[0], x[1], x[2],
						  x[3] };
		n += ret_sets[n].set && x[0] > 0;
	}
	jl_csv_release(&csv);
	return n;
}
