/* `jeoul validate --json`: stable keys, English, units in them. */
#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "cli/validate_view.h"

static void score_json(struct jl_json *json, const struct jl_score *s)
{
	jl_json_put_integer(json, "rows", (long long)s->n_rows);
	jl_json_put_integer(json, "scored", (long long)s->n_scored);
	jl_json_put_number(json, "median_abs_ln", s->median_abs_ln);
	jl_json_put_number(json, "p90_abs_ln", s->p90_abs_ln);
	jl_json_put_number(json, "bias_ln", s->bias_ln);
}

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

static void baseline_json(struct jl_json *json, const struct jl_validate_line *l)
{
	char key[80];

	jl_json_put_object(json, "baseline");
	for (int b = 0; b < JL_N_BASELINE && l->naive_names[b]; b++) {
		key_of(key, sizeof(key), l->naive_names[b]);
		jl_json_put_object(json, key);
		jl_json_put_string(json, "name", l->naive_names[b]);
		jl_json_put_number(json, "median_abs_ln", l->naive[b].median_abs_ln);
		jl_json_put_number(json, "p90_abs_ln", l->naive[b].p90_abs_ln);
		jl_json_put_integer(json, "scored", (long long)l->naive[b].n_scored);
		jl_json_end_object(json);
	}
	jl_json_end_object(json);
}

static void worst_json(struct jl_cli *cli, struct jl_json *json, const struct jl_validation *v,
		       const struct jl_validate_line *l, size_t max)
{
	size_t *index = jl_arena_array(&cli->arena, max + 1, sizeof(*index));
	const size_t n = index ? jl_validate_worst(l, max, index) : 0;
	struct jl_buf why;

	jl_buf_init(&why, (size_t)1 << 16);
	jl_json_put_array(json, "worst");
	for (size_t i = 0; i < n; i++) {
		const struct jl_set_row *row = l->rows[index[i]];
		const struct jl_validate_file *file = jl_validate_file_of(v, l, index[i]);
		const struct jl_language *reader;

		jl_buf_reset(&why);
		reader = jl_lang_set(jl_languages[0]); /* as every text of the JSON */
		jl_validate_explain(v, l, index[i], &why);
		jl_lang_set(reader);
		jl_json_object(json);
		jl_json_put_string(json, "file", file ? file->path : NULL);
		jl_json_put_integer(json, "line", (long long)row->line);
		jl_json_put_string(json, "source", row->source);
		jl_json_put_string(json, "url", row->url);
		jl_json_put_string(json, "gpu", row->gpu);
		jl_json_put_string(json, "what", row->what);
		jl_json_put_number(json, "predicted", row->pred);
		jl_json_put_number(json, "measured", row->meas);
		jl_json_put_number(json, "half_width_ln", row->half_ln);
		jl_json_put_string(json, "why", jl_buf_text(&why));
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_buf_release(&why);
}

static void line_json(struct jl_cli *cli, struct jl_json *json, const struct jl_validation *v,
		      const struct jl_validate_line *l, size_t n_worst)
{
	static const char *const keys[JL_N_BY] = { "by_gpu", "by_framework", "by_link" };
	static const char *const names[JL_N_BY] = { "gpu", "framework", "link" };

	jl_json_object(json);
	jl_json_put_string(json, "set", l->set);
	jl_json_put_string(json, "unit", l->unit);
	score_json(json, &l->score);
	jl_json_put_number(json, "macro_median_abs_ln", l->score.macro_median_abs_ln);
	jl_json_put_integer(json, "groups", (long long)l->score.n_groups);
	jl_json_put_number(json, "coverage80", l->score.coverage_frac);
	jl_json_put_integer(json, "n_parameters", (long long)l->n_param);
	jl_json_put_number(json, "macro_coverage80", l->macro_coverage_frac);
	jl_json_put_integer(json, "sources", (long long)l->n_sources);
	if (l->by_group)
		jl_json_put_string(json, "left_out", "group");
	baseline_json(json, l);
	for (int kind = 0; kind < JL_N_BY; kind++) {
		jl_json_put_array(json, keys[kind]);
		for (size_t i = 0; i < l->n_by[kind]; i++) {
			jl_json_object(json);
			jl_json_put_string(json, names[kind], l->by[kind][i].label);
			score_json(json, &l->by[kind][i].score);
			jl_json_put_number(json, "coverage80", l->by[kind][i].score.coverage_frac);
			jl_json_end_object(json);
		}
		jl_json_end_array(json);
	}
	if (n_worst)
		worst_json(cli, json, v, l, n_worst);
	jl_json_end_object(json);
}

static void unscored_json(struct jl_json *json, const struct jl_unscored *list, size_t n, const char *set)
{
	jl_json_put_array(json, "unscored");
	for (size_t i = 0; i < n; i++) {
		struct jl_buf lines;

		if (set && strcmp(set, list[i].file->set) != 0)
			continue;
		jl_buf_init(&lines, (size_t)64 << 20);
		jl_validate_line_ranges(&lines, &list[i], (size_t)-1);
		jl_json_object(json);
		jl_json_put_string(json, "file", list[i].file->path);
		jl_json_put_string(json, "set", list[i].file->set);
		jl_json_put_integer(json, "rows", (long long)list[i].n);
		jl_json_put_string(json, "lines", jl_buf_text(&lines));
		jl_json_put_string(json, "reason", list[i].en);
		jl_json_end_object(json);
		jl_buf_release(&lines);
	}
	jl_json_end_array(json);
}

enum jl_status jl_validate_json(struct jl_cli *cli, const struct jl_validation *v, const struct jl_validate_show *show,
				struct jl_err *err)
{
	struct jl_unscored *list;
	struct jl_json json;
	size_t n;

	JL_TRY(jl_validate_unscored(v, &list, &n, err));
	static const char *const parameters[JL_N_LEAVE_OUT] = { "shipped",        "leave_one_group_out",
								"leave_gpu_out",  "leave_framework_out",
								"leave_link_out", "leave_source_out" };

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "parameters", parameters[v->left_out]);
	jl_json_put_array(&json, "sets");
	for (size_t i = 0; i < v->n_lines; i++)
		if (jl_validate_shown(show, &v->lines[i]))
			line_json(cli, &json, v, &v->lines[i], show->n_worst);
	jl_json_end_array(&json);
	if (v->n_pairs) {
		jl_json_put_object(&json, "ratios");
		jl_json_put_integer(&json, "pairs", (long long)v->n_pairs);
		jl_json_put_number(&json, "coverage80", (double)v->n_pairs_in / (double)v->n_pairs);
		jl_json_end_object(&json);
	}
	unscored_json(&json, list, n, show->set);
	jl_json_end_object(&json);
	jl_json_finish(&json);
	return JL_OK;
}
