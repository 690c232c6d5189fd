#include "record/record.h"
#include "topics/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/noise.h"

#define SHORT_ID 8

/* "2026-11-15 05:02", in local time. */
static const char *record_time_text(char out[32], double time_s)
{
	time_t seconds = (time_t)time_s;
	struct tm local;

	if (!localtime_r(&seconds, &local) || strftime(out, 32, "%Y-%m-%d %H:%M", &local) == 0)
		(void)snprintf(out, 32, "?");
	return out;
}

static enum jl_origin origin_of(const struct jl_record *r)
{
	return strcmp(r->origin, "measured") == 0 ? JL_MEASURED : JL_PUBLISHED;
}

/* --- one in full */

static void entry(struct jl_doc *doc, const char *label, const char *text)
{
	if (!text)
		return;
	jl_doc_entry(doc, label);
	jl_doc_name(doc, text);
}

static void items(struct jl_doc *doc, const char *label, const struct jl_record_item *list, size_t n)
{
	if (n)
		jl_doc_entry(doc, label);
	for (size_t i = 0; i < n; i++) {
		jl_doc_name(doc, i ? "\xc2\xa0· " : "");
		jl_doc_name(doc, list[i].key);
		jl_doc_text(doc, " ");
		jl_doc_name(doc,
			    list[i].text ? list[i].text : jl_record_value_text(JL_TXT, list[i].key, list[i].number));
	}
}

static void noise(struct jl_doc *doc, const struct jl_record_noise *n)
{
	const char *text = "";

	if (!isnan(n->cpu_other_frac))
		text = jl_doc_format(doc, JL_("other programs took %.0f %% of the CPU"), 100 * n->cpu_other_frac);
	if (!isnan(n->steal_frac) && n->steal_frac > 0.005)
		text = jl_doc_format(doc, JL_("%s%ssteal %.1f %%"), text, *text ? ", " : "", 100 * n->steal_frac);
	if (n->wait_frac > 0.005)
		text = jl_doc_format(doc, JL_("%s%swaited for a CPU %.0f %% of the time"), text, *text ? ", " : "",
				     100 * n->wait_frac);
	if (n->thermal || n->power)
		text = jl_doc_format(doc, "%s%s%s", text, *text ? ", " : "",
				     n->thermal ? JL_("thermal throttling") : JL_("power throttling"));
	if (n->noisy) {
		char en[JL_NOISE_WHY_MAX], own[JL_NOISE_WHY_MAX];
		const char *why = jl_noise_why(en, own, n) ? own : n->why;

		text = jl_doc_format(doc, "%s%s%s%s%s", text, *text ? "; " : "", JL_("too noisy to judge"),
				     why ? ": " : "", why ? why : "");
	}
	if (*text)
		jl_show_entry(doc, JL_("noise"), JL_MEASURED, "%s", text);
}

/* The value without the unit that its metric name states: "48.4 /s". */
static const char *short_value(char out[JL_RECORD_WORDS_MAX], const char *name, double value)
{
	return jl_record_value_text(out, jl_ends(name, "_per_s") ? "_per_s" : name, value);
}

/* "5.26 – 5.33 s": a common unit once. */
static const char *range(struct jl_doc *doc, const char *name, double lo, double hi)
{
	char a[JL_RECORD_WORDS_MAX], b[JL_RECORD_WORDS_MAX];
	const char *unit_a, *unit_b;

	if (isnan(lo) || isnan(hi))
		return "";
	unit_a = strchr(short_value(a, name, lo), ' ');
	unit_b = strchr(short_value(b, name, hi), ' ');
	if (unit_a && unit_b && strcmp(unit_a, unit_b) == 0)
		a[unit_a - a] = '\0';
	return jl_doc_format(doc, "%s – %s", a, b);
}

static void metrics(struct jl_doc *doc, const struct jl_record *r)
{
	const enum jl_origin origin = origin_of(r);

	if (!r->n_metrics)
		return;
	jl_show_table(doc, NULL, "kffff", JL_N("figure|median|95 % interval|from – to|n"));
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct jl_stats *s = &r->metrics[i].value;
		const char *name = r->metrics[i].name;

		JL_CELLS(doc, JL_NAMED(name), JL_FIGURE_TEXT(short_value(JL_TXT, name, s->median), origin),
			 JL_FIGURE_TEXT(range(doc, name, s->lo95, s->hi95), origin));
		JL_ROW(doc, false, JL_FIGURE_TEXT(range(doc, name, s->min, s->max), origin),
		       JL_WORD(s->n ? jl_doc_format(doc, "%zu", s->n) : ""));
	}
}

void jl_show_record(struct jl_doc *doc, const struct jl_record *r)
{
	char text[JL_RECORD_WORDS_MAX];

	jl_doc_lead(doc);
	jl_doc_name(doc, r->kind);
	if (*jl_record_what(text, r))
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", text);
	if (*jl_record_result(text, r))
		jl_show_piece(doc, origin_of(r), "%s", text);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", origin_of(r) == JL_MEASURED ? JL_("● measured") : JL_("◆ imported"));
	entry(doc, "id", r->id);
	entry(doc, JL_C("of the day", "time"), record_time_text(JL_TXT, r->time_s));
	entry(doc, JL_("by"), r->backend);
	entry(doc, JL_("machine"), r->machine_name ? r->machine_name : r->machine);
	entry(doc, JL_("run"), r->run);
	entry(doc, JL_("source"), r->source);
	entry(doc, JL_C("text", "line"), r->line);
	items(doc, JL_C("of a record", "parameters"), r->params, r->n_params);
	items(doc, JL_("versions"), r->versions, r->n_versions);
	noise(doc, &r->noise);
	entry(doc, JL_("note"), r->note);
	metrics(doc, r);
	if (r->n_samples)
		jl_show_note(doc, NULL, JL_ORIGIN_NONE, JL_("%zu raw samples; --json shows them"), r->n_samples);
}

/* --- rows */

static void result_cell(struct jl_doc *doc, const struct jl_record *r)
{
	JL_CELLS(doc, JL_FIGURE_TEXT(jl_record_result(JL_TXT, r), origin_of(r)));
}

void jl_show_stored_table(struct jl_doc *doc)
{
	jl_show_table(doc, NULL, "kkkt22ft4", JL_N("id|time|kind|what|result|by"));
}

void jl_show_stored_row(struct jl_doc *doc, const struct jl_record *r)
{
	jl_doc_cell_name(doc, r->id + JL_RECORD_ID_LEN - SHORT_ID);
	jl_doc_cell_name(doc, record_time_text(JL_TXT, r->time_s) + 2); /* 26-11-15 */
	JL_CELLS(doc, JL_NAMED(jl_doc_format(doc, "%s%s", r->kind, r->noise.noisy ? " ~" : "")),
		 JL_NAMED(jl_record_what(JL_TXT, r)));
	result_cell(doc, r);
	JL_ROW(doc, false, JL_NAMED(r->backend));
}

void jl_show_imported_table(struct jl_doc *doc)
{
	jl_show_table(doc, NULL, "fktfk", JL_N("line|kind|what|result|"));
}

void jl_show_imported_row(struct jl_doc *doc, const struct jl_record *r)
{
	const char *colon = r->source ? strrchr(r->source, ':') : NULL;

	JL_CELLS(doc, JL_NAMED(colon ? colon + 1 : ""), JL_NAMED(r->kind), JL_NAMED(jl_record_what(JL_TXT, r)));
	result_cell(doc, r);
	jl_doc_cell(doc, JL_MARK_NONE);
	if (r->n_metrics > 1) {
		const struct jl_record_metric *second = &r->metrics[1];
		const char *named = strstr(second->name, "_per_s"); /* the unit is named: 48.8 samples/s */

		jl_show_sourced(doc, origin_of(r), "%.*s%s%s", named ? 0 : (int)strcspn(second->name, "_"),
				second->name, named ? "" : " ",
				jl_record_value_text(JL_TXT, second->name, second->value.median));
	}
	jl_doc_end_row(doc, false);
}
