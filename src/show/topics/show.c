#include "topics/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/narrow.h"

#define COLUMNS_MAX 16

struct jl_num jl_num_plain(double value, enum jl_kind kind, const char *unit, enum jl_origin origin, const char *source)
{
	return (struct jl_num){
		.value = value, .lo = NAN, .hi = NAN, .kind = kind, .unit = unit, .origin = origin, .source = source
	};
}

struct jl_num jl_num_estimate(struct jl_estimate e, enum jl_kind kind, const char *unit)
{
	return (struct jl_num){ .value = e.value,
				.lo = e.lo,
				.hi = e.hi,
				.kind = kind,
				.unit = unit,
				.n_digits = 2 + (e.value >= 100 && kind == JL_K_NUMBER),
				.origin = JL_ESTIMATED,
				.source = JL_METHOD };
}

struct jl_num jl_num_fact(const struct jl_fact *fact, enum jl_kind kind)
{
	return (struct jl_num){ .value = fact->value,
				.lo = fact->lo,
				.hi = fact->hi,
				.kind = kind,
				.origin = fact->origin,
				.source = fact->source,
				.date = fact->date,
				.note = fact->note };
}

struct jl_num jl_num_given(double value, enum jl_kind kind, const char *unit)
{
	struct jl_num num = jl_num_plain(value, kind, unit, JL_ORIGIN_NONE, NULL);

	num.n_digits = kind == JL_K_NUMBER ? 6 : 0;
	return num;
}

struct jl_num jl_num_count(double n)
{
	return jl_num_given(n, JL_K_NUMBER, NULL);
}

struct jl_num jl_num_about(double value, enum jl_kind kind, const char *text)
{
	return jl_num_written(jl_num_plain(value, kind, NULL, JL_ESTIMATED, JL_METHOD), text);
}

struct jl_num jl_num_wide(struct jl_estimate estimate, enum jl_kind kind)
{
	return jl_num_ranged(jl_num_digits(jl_num_estimate(estimate, kind, NULL), 2));
}

struct jl_num jl_num_ends(struct jl_doc *doc, const struct jl_estimate *e, double like_s)
{
	const struct jl_num lo = jl_num_about(e->lo, JL_K_TIME, NULL), hi = jl_num_about(e->hi, JL_K_TIME, NULL);

	return jl_show_span(doc, jl_num_digits(jl_num_time_like(lo, like_s), 2), jl_num_time_like(hi, like_s).value);
}

struct jl_num jl_num_times(double ratio)
{
	return jl_num_plain(ratio, JL_K_NUMBER, "x", JL_ESTIMATED, JL_METHOD);
}

struct jl_num jl_num_share(double frac, enum jl_origin origin)
{
	struct jl_num num = jl_num_plain(frac, JL_K_FRACTION, NULL, origin, origin == JL_ESTIMATED ? JL_METHOD : NULL);

	num.n_digits = 2;
	return num;
}

struct jl_num jl_num_written(struct jl_num num, const char *text)
{
	num.text = text;
	return num;
}

void jl_show_num(struct jl_doc *doc, struct jl_num num)
{
	jl_doc_num(doc, &num);
}

void jl_show_cell(struct jl_doc *doc, struct jl_num num)
{
	if (isnan(num.value))
		jl_doc_cell_text(doc, "—");
	else
		jl_doc_cell_num(doc, &num);
}

void jl_show_cells(struct jl_doc *doc, const struct jl_slot *slots, size_t n)
{
	for (const struct jl_slot *s = slots; s < slots + n; s++) {
		if (!s->name && !s->text && !s->said) {
			jl_show_cell(doc, s->num);
			continue;
		}
		jl_doc_cell(doc, s->mark);
		if (s->said)
			jl_doc_sourced(doc, s->said, s->origin, NULL);
		else
			jl_doc_run(doc, s->name ? JL_RUN_NAME : JL_RUN_TEXT, s->name ? s->name : s->text, NULL);
	}
}

static const char *head_of(const char *en)
{
	const char *both = en ? strchr(en, *JL_HEAD_BOTH) : NULL;

	return both ? both + 1 : jl_msg(en);
}

/* The English of a message without its context. */
static const char *key_of(struct jl_doc *doc, const char *en)
{
	const char *sense = en ? strchr(en, '\004') : NULL;

	if (!en)
		return NULL;
	en = sense ? sense + 1 : en;
	return jl_doc_format(doc, "%.*s", (int)strcspn(en, JL_HEAD_BOTH), en);
}

void jl_show_columns(struct jl_doc *doc, const char *title, const struct jl_show_head *heads, size_t n)
{
	struct jl_doc_column *columns = jl_arena_array(doc->arena, n, sizeof *columns);

	if (!columns) {
		doc->failed = JL_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < n; i++)
		columns[i] = (struct jl_doc_column){ .head = head_of(heads[i].en),
						     .key = key_of(doc, heads[i].en),
						     .right = heads[i].how == JL_COLUMN_FIGURE,
						     .keep = heads[i].how == JL_COLUMN_KEEP,
						     .min_width = heads[i].how >> 8 ? (size_t)heads[i].how >> 8
								  : i == 0          ? 10
										    : 0 };
	jl_doc_table(doc, title, columns, n);
}

void jl_show_table(struct jl_doc *doc, const char *title, const char *how, const char *heads)
{
	const char *en = heads, *said = jl_msg(heads);
	struct jl_show_head list[COLUMNS_MAX];
	size_t n = 0;

	for (char *end; *how && n < COLUMNS_MAX; how = end, n++) {
		const size_t len = strcspn(en, "|"), said_len = strcspn(said, "|");

		list[n].en = jl_doc_format(doc, "%.*s" JL_HEAD_BOTH "%.*s", (int)len, en, (int)said_len, said);
		list[n].how = *how == 'f' ? JL_COLUMN_FIGURE : *how == 'k' ? JL_COLUMN_KEEP : JL_COLUMN_TEXT;
		list[n].how |= (int)strtol(how + 1, &end, 10) << 8; /* text: JL_COLUMN_LEAST */
		en += len + (en[len] == '|');
		said += said_len + (said[said_len] == '|');
	}
	jl_show_columns(doc, title, list, n);
}

static const char *slot_run(struct jl_doc *doc, const struct jl_slot *slot)
{
	struct jl_buf shown;
	const char *kept;

	if (slot->name) {
		jl_doc_name(doc, slot->name);
		return slot->name;
	}
	if (slot->text || slot->said) {
		kept = slot->text ? slot->text : slot->said;
		jl_doc_sourced(doc, kept, slot->text ? JL_ORIGIN_NONE : slot->origin,
			       slot->said && slot->origin == JL_ESTIMATED ? JL_METHOD : NULL);
		return kept;
	}
	jl_doc_num(doc, &slot->num);
	jl_buf_init(&shown, 4096);
	jl_num_print(&shown, &slot->num);
	kept = jl_doc_format(doc, "%s", jl_buf_text(&shown));
	jl_buf_release(&shown);
	return kept;
}

void jl_show_sentence(struct jl_doc *doc, const char *text, const struct jl_slot *slots, size_t n)
{
	const char *before = "";

	while (*text) {
		const size_t len = strcspn(text, "|"), known = strlen(before);
		char piece[512], room[JL_MSG_FORMAT_MAX], whole[1024];

		snprintf(piece, sizeof piece, "%.*s", (int)len, text);
		snprintf(whole, sizeof whole, "%.500s%s", before, jl_msg_hide(room, piece));
		jl_msg_resolve(whole);
		if (whole[known < 500 ? known : 500])
			jl_doc_text(doc, whole + (known < 500 ? known : 500));
		text += len;
		if (*text && text[1] > '0' && (size_t)(text[1] - '0') <= n)
			before = slot_run(doc, &slots[text[1] - '1']);
		text += *text ? 1 + (text[1] != '\0') : 0;
	}
}

struct jl_num jl_num_time_like(struct jl_num num, double like_s)
{
	static const struct {
		double from_s, unit_s;
		const char *unit;
	} rungs[] = { { 2 * 365 * 86400.0, 365 * 86400.0, "y" },
		      { 2 * 86400.0, 86400.0, "d" },
		      { 3600, 3600, "h" },
		      { 120, 60, "min" },
		      { 1, 1, "s" } };

	for (size_t i = 0; i < JL_LEN(rungs); i++)
		if (like_s >= rungs[i].from_s) {
			num.value /= rungs[i].unit_s;
			num.lo /= rungs[i].unit_s;
			num.hi /= rungs[i].unit_s;
			num.kind = JL_K_NUMBER;
			num.unit = rungs[i].unit;
			num.n_digits = 2 + (num.value >= 100);
			return num;
		}
	return num;
}

struct jl_num jl_show_span(struct jl_doc *doc, struct jl_num num, double hi)
{
	struct jl_num both = num;
	struct jl_buf text;
	const char *unit;
	size_t digits;

	/* the upper end determines the unit of both */
	both.value = both.hi = hi;
	both.lo = num.value;
	both.n_digits = num.n_digits ? num.n_digits : 2;
	both.show_interval = true;
	jl_buf_init(&text, 256);
	jl_num_print(&text, &both); /* "202 GB/s (98–202)" */
	unit = jl_buf_text(&text);
	digits = strspn(unit, "0123456789.,");
	if (strstr(unit, " (") && strstr(unit, "–"))
		num.text = jl_doc_format(doc, "%.*s–%.*s%.*s", (int)strcspn(strstr(unit, " (") + 2, "\xe2"),
					 strstr(unit, " (") + 2, (int)digits, unit,
					 (int)(strstr(unit, " (") - unit) - (int)digits, unit + digits);
	jl_buf_release(&text);
	num.lo = num.value;
	num.hi = hi;
	return num;
}

struct jl_chart *jl_show_chart(struct jl_doc *doc, enum jl_chart_kind kind, const char *title, size_t n_series)
{
	struct jl_chart *chart = jl_arena_alloc(doc->arena, sizeof *chart);
	struct jl_chart_series *series = jl_arena_array(doc->arena, n_series + 1, sizeof *series);

	if (!chart || !series) {
		doc->failed = JL_E_NOMEM;
		return NULL;
	}
	*chart = (struct jl_chart){ .kind = kind,
				    .title = title,
				    .series = series,
				    .n_series = n_series,
				    .x = { .lo = NAN, .hi = NAN },
				    .y = { .lo = NAN, .hi = NAN } };
	return chart;
}

struct jl_chart_point *jl_show_series(struct jl_doc *doc, struct jl_chart *chart, size_t i, const char *name,
				      enum jl_origin origin, size_t n_points)
{
	struct jl_chart_point *points = jl_arena_array(doc->arena, n_points + 1, sizeof *points);

	if (!points) {
		doc->failed = JL_E_NOMEM;
		return NULL;
	}
	for (size_t k = 0; k <= n_points; k++)
		points[k] = (struct jl_chart_point){ .x = NAN, .y = NAN, .lo = NAN, .hi = NAN };
	chart->series[i] = (struct jl_chart_series){ .name = name,
						     .origin = origin,
						     .source = origin == JL_ESTIMATED ? JL_METHOD : NULL,
						     .points = points,
						     .n_points = n_points };
	return points;
}

const char *jl_option_name(const char *name)
{
	static const char *const kinds[] = { JL_NC("option", "buy"), JL_NC("option", "own"), JL_NC("option", "rent"),
					     JL_NC("option", "spot"), JL_NC("option", "reserve") };

	for (size_t i = 0; i < JL_LEN(kinds); i++)
		if (strcmp(strchr(kinds[i], '\004') + 1, name) == 0)
			return jl_msg(kinds[i]);
	return name;
}

int jl_part_look(const char *en)
{
	static const char *const parts[] = { "compute matrix products",
					     "host host launches",
					     "gradient exchange links",
					     "optimizer",
					     "rest",
					     "pipeline bubble",
					     "weights",
					     "activations",
					     "memory streams",
					     "gradients",
					     "buffers",
					     "context",
					     "tensor parallel",
					     "expert all-to-all",
					     "context parallel",
					     "pipeline sends",
					     "contention",
					     "offload",
					     "generation",
					     "input" };
	const char *mark = strchr(en, '\004'), *name = mark ? mark + 1 : en, *at;

	for (int i = 0; i < (int)JL_LEN(parts); i++)
		if ((at = strstr(parts[i], name)) != NULL && (at == parts[i] || at[strlen(name)] == '\0'))
			return i + 1;
	return 0;
}

void jl_show_node_num(struct jl_doc *doc, struct jl_tree_node *node, struct jl_num num)
{
	struct jl_num *kept = jl_arena_alloc(doc->arena, sizeof *kept);
	struct jl_buf text;

	if (!kept || isnan(num.value))
		return;
	*kept = num;
	jl_buf_init(&text, 4096);
	jl_num_print(&text, kept);
	node->num = kept;
	node->detail = jl_arena_strdup(doc->arena, jl_buf_text(&text));
	jl_buf_release(&text);
}

/* Appends a sentence without figures. */
static void said(struct jl_doc *doc, enum jl_origin origin, const char *format, va_list args)
{
	char text[1024];

	jl_vformat(text, sizeof text, format, args);
	jl_doc_sourced(doc, text, origin, origin == JL_ESTIMATED ? JL_METHOD : NULL);
}

void jl_show_sourced(struct jl_doc *doc, enum jl_origin origin, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	said(doc, origin, format, args);
	va_end(args);
}

void jl_show_note(struct jl_doc *doc, const char *label, enum jl_origin origin, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	jl_doc_note(doc, JL_MARK_NONE, label);
	said(doc, origin, format, args);
	va_end(args);
}

void jl_show_entry(struct jl_doc *doc, const char *label, enum jl_origin origin, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	jl_doc_entry(doc, label);
	said(doc, origin, format, args);
	va_end(args);
}

void jl_show_piece(struct jl_doc *doc, enum jl_origin origin, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (doc->last && doc->last->runs)
		jl_doc_dot(doc);
	said(doc, origin, format, args);
	va_end(args);
}

const char *jl_doc_format(struct jl_doc *doc, const char *format, ...)
{
	char text[1024];
	const char *kept;
	va_list args;

	va_start(args, format);
	jl_vformat(text, sizeof text, format, args);
	va_end(args);
	kept = jl_arena_strdup(doc->arena, text);
	if (!kept)
		doc->failed = JL_E_NOMEM;
	return kept ? kept : "";
}

const char *jl_percent_text(struct jl_doc *doc, double frac)
{
	return jl_doc_format(doc, "%.0f %%", 100 * frac);
}

struct jl_num jl_show_share(struct jl_doc *doc, double frac)
{
	return jl_num_written(jl_num_share(frac, JL_ESTIMATED), jl_percent_text(doc, frac));
}

const char *jl_estimate_text(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *e, enum jl_kind kind)
{
	return jl_range_text(out, e->value, e->lo, e->hi, kind);
}

const char *jl_about_range_text(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *e)
{
	snprintf(out, JL_RANGE_TEXT_MAX, "%.40s (%.40s–%.40s)", jl_about_text(JL_TXT, e->value),
		 jl_about_text(JL_TXT, e->lo), jl_about_text(JL_TXT, e->hi));
	return out;
}

/* 16896 -> "16,896" */
static void with_separators(char out[JL_UNITS_TEXT_MAX], double whole, const char *unit)
{
	const size_t len = strlen(jl_grouped_text(out, whole));

	snprintf(out + len, JL_UNITS_TEXT_MAX - len, "%s%s", *unit ? " " : "", unit);
}

const char *jl_value_text(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, bool is_memory)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t i = 0;

	if (kind == JL_K_NUMBER && floor(value) == value && fabs(value) < 1e15) {
		with_separators(out, value, "");
		return out;
	}
	/* Chip rates are compared in tera units. */
	if ((kind == JL_K_FLOP_RATE || kind == JL_K_OP_RATE) && value >= 1e15 && value < 1e17) {
		with_separators(out, value / 1e12, kind == JL_K_OP_RATE ? "TOP/s" : "TFLOP/s");
		return out;
	}
	/* Memory in binary units: 80 GiB, not 85.9 GB. */
	if (kind != JL_K_BYTES || !is_memory || isnan(value))
		return jl_units_text(out, value, kind, 4);
	while (value >= 1024 && i + 1 < JL_LEN(names)) {
		value /= 1024;
		i++;
	}
	snprintf(out, JL_UNITS_TEXT_MAX, "%.4g %s", value, names[i]);
	return out;
}

bool jl_date_is_old(const char *date, long today)
{
	const long old_days = 90;
	long day;

	return date && jl_date_parse(&day, date, NULL) == JL_OK && today - day > old_days;
}

const char *jl_dated_text(char out[JL_DATED_MAX], const char *date, long today)
{
	jl_format(out, JL_DATED_MAX, "%.40s%s", date ? date : "?", jl_date_is_old(date, today) ? JL_(", old ⚠") : "");
	return out;
}

const char *jl_show_recompute(const struct jl_plan *p)
{
	return p->recompute == JL_RECOMPUTE_FULL ? JL_("full recompute") : JL_("selective recompute");
}

void jl_show_cut_pieces(struct jl_doc *doc, const struct jl_plan *p)
{
	if (p->tp > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, "TP %.0f%s%s", p->tp, p->sp ? "+SP" : "",
			      p->tp_async ? JL_(" overlapped") : "");
	if (p->pp > 1 && p->n_chunks > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, "PP %.0f×%.0f%s", p->pp, p->n_chunks, JL_(" interleaved"));
	else if (p->pp > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, "PP %.0f", p->pp);
	if (p->cp > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, "CP %.0f", p->cp);
	if (p->ep > 1)
		jl_show_piece(doc, JL_ORIGIN_NONE, "EP %.0f", p->ep);
}

const char *jl_show_cut(char out[JL_CUT_TEXT_MAX], const struct jl_plan *p, double micro_batch)
{
	static const char *const states[] = { "DDP", "ZeRO-1", "ZeRO-2", "FSDP" };
	struct jl_buf text;

	jl_buf_init(&text, JL_CUT_TEXT_MAX);
	if (p->dp > 1 || p->zero) /* one copy exchanges nothing */
		jl_buf_printf(&text, ", %s", p->zero == 3 && p->shard > 0 ? "HSDP" : states[p->zero]);
	if (p->tp > 1)
		jl_buf_printf(&text, ", TP %.0f%s%s", p->tp, p->sp ? "+SP" : "", p->tp_async ? JL_(" overlapped") : "");
	if (p->pp > 1)
		jl_buf_printf(&text, ", PP %.0f", p->pp);
	if (p->n_chunks > 1)
		jl_buf_printf(&text, "×%.0f", p->n_chunks);
	if (p->cp > 1)
		jl_buf_printf(&text, ", CP %.0f", p->cp);
	if (p->ep > 1)
		jl_buf_printf(&text, ", EP %.0f", p->ep);
	if (p->recompute != JL_RECOMPUTE_NONE)
		jl_buf_printf(&text, ", %s", jl_show_recompute(p));
	if (p->offload)
		jl_buf_printf(&text, ", %s", JL_("offload"));
	if (!isnan(micro_batch))
		jl_buf_printf(&text, JL_(", micro-batch %.0f"), micro_batch);
	snprintf(out, JL_CUT_TEXT_MAX, "%s", text.len > 2 ? jl_buf_text(&text) + 2 : JL_("one copy, not divided"));
	jl_buf_release(&text);
	return out;
}

void jl_show_narrow(struct jl_doc *doc, const struct jl_estimate *answer_s, const struct jl_narrow *found, size_t n)
{
	if (!n && answer_s->hi > JL_NARROW_WIDE * answer_s->lo) {
		jl_doc_entry(doc, JL_C("interval", "Range"));
		JL_SENTENCE(doc, JL_("a minute's measurement there turns |1 into one figure"),
			    JL_FIG(jl_num_ends(doc, answer_s, answer_s->hi)));
	}
	for (size_t i = 0; i < n; i++) {
		const struct jl_narrow *f = &found[i];
		const double like_s = f->before.hi;
		const char *colon = strchr(f->key, ':');

		jl_doc_entry(doc, i ? "" : JL_C("interval", "Range"));
		jl_doc_text(doc, jl_msg(f->en));
		JL_SENTENCE(doc, f->is[1] ? JL_(": |1 becomes |2 (|3) or |4 (|5)") : JL_(": |1 becomes |2"),
			    JL_FIG(jl_num_ends(doc, &f->before, like_s)),
			    JL_FIG(jl_num_ends(doc, &f->after[0], like_s)), JL_WORD(f->is[1] ? jl_msg(f->is[0]) : ""),
			    JL_FIG(jl_num_ends(doc, &f->after[f->is[1] ? 1 : 0], like_s)),
			    JL_WORD(f->is[1] ? jl_msg(f->is[1]) : ""));
		if (!colon) /* a command; else an option or a scenario key */
			jl_doc_textf(doc, " (%s)", f->key);
		else if (colon[1])
			jl_doc_textf(doc, " (--%.*s%s)", (int)(colon - f->key), f->key, colon + 1);
	}
}
