/* An audited note in exchange formats: an HTML page with margin notes, Markdown with footnotes, SARIF for editors and CI, and a diff with the
 * corrected figures. */
#include "topics/audit_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "document/escape.h"

/* --- findings in the order of the text */

struct at {
	uint32_t at;
	size_t index;
};

static int by_at(const void *a, const void *b)
{
	const struct at *x = a, *y = b;

	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->index < y->index ? -1 : x->index > y->index;
}

static struct at *in_order(const struct jl_audit_note *note, bool all, size_t *ret_n)
{
	struct at *list = jl_arena_array(note->arena, note->n_findings + 1, sizeof *list);

	*ret_n = 0;
	for (size_t i = 0; list && i < note->n_findings; i++)
		if (jl_audited_is_said(&note->findings[i], all))
			list[(*ret_n)++] = (struct at){ note->findings[i].at, i };
	if (list)
		qsort(list, *ret_n, sizeof *list, by_at);
	return list;
}

/* A part of the file made safe to show: removed bytes become question marks. */
static const char *shown(const struct jl_audit_note *note, struct jl_buf *scratch, uint32_t at, uint32_t len)
{
	jl_buf_reset(scratch);
	for (uint32_t i = at; i < at + len;) {
		uint32_t c;
		const size_t n = jl_utf8_decode(note->raw + i, note->len - i, &c);

		if (!n || c == 0 || c == '\r' || (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) ||
		    (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f))
			jl_buf_puts(scratch, c == '\r' && n ? "" : "?");
		else
			jl_buf_add(scratch, note->raw + i, n);
		i += (uint32_t)(n ? n : 1);
	}
	return jl_buf_text(scratch);
}

static uint32_t line_end(const struct jl_audit_note *note, size_t l)
{
	return l + 1 < note->n_raw_lines ? note->raw_line_at[l + 1] - 1 : (uint32_t)note->len;
}

/* --- the page */

/* The verdict and the correct figure, or the finding that it follows from; the reasons are in the findings above the note. */
static void reason_html(struct jl_buf *out, const struct jl_audit_note *note, const struct jl_audit_finding *f)
{
	jl_buf_printf(out, "<aside class=\"%s\"><b>%s</b> ", jl_audit_verdict_key(f->verdict), jl_audited_verdict(f));
	jl_html_escape(out, jl_audited_recomputed(note, f));
	if (f->root >= 0)
		jl_buf_printf(out, "<br>%s <a href=\"#L%u\">L%u</a>", JL_("follows from"), note->findings[f->root].line,
			      note->findings[f->root].line);
	jl_buf_puts(out, "</aside>");
}

/* The text of one line; of a Markdown table row, one cell. */
static void text_html(struct jl_buf *out, const char *text, bool row)
{
	const char *bar;

	for (; row && (bar = strchr(text, '|')) != NULL; text = bar + 1) {
		char part[1024];

		snprintf(part, sizeof part, "%.*s", (int)(bar - text), text);
		jl_html_escape(out, part);
		jl_buf_puts(out, "</span><span>");
	}
	jl_html_escape(out, text);
}

static bool is_row(const struct jl_audit_note *note, uint32_t at, uint32_t end)
{
	return end - at > 2 && end - at < 1024 && note->raw[at] == '|' &&
	       memchr(note->raw + at + 1, '|', end - at - 1) != NULL;
}

/* |---|:--:| */
static bool is_rule(const struct jl_audit_note *note, uint32_t at, uint32_t end)
{
	while (at < end && strchr("|-: \t\r", note->raw[at]))
		at++;
	return at == end;
}

/* One line of the note with its marks; `list` starts with the first finding at or after it. Returns the number inside. */
static size_t line_html(struct jl_buf *out, const struct jl_audit_note *note, size_t l, const struct at *list, size_t n,
			struct jl_buf *scratch)
{
	const uint32_t end = line_end(note, l);
	uint32_t at = note->raw_line_at[l];
	const bool row = is_row(note, at, end);
	size_t k = 0;

	jl_buf_printf(out, "<div class=\"l%s\" id=\"L%zu\"><span class=\"no\">%zu</span><span class=\"%s\">%s",
		      row && is_rule(note, at, end) ? " rule" : "", l + 1, l + 1, row ? "row" : "t",
		      row ? "<span>" : "");
	at += row; /* the row's leading bar */
	for (; k < n && list[k].at < end; k++) {
		const struct jl_audit_finding *f = &note->findings[list[k].index];
		const uint32_t stop = f->at + f->len < end ? f->at + f->len : end;

		if (f->at < at)
			continue;
		text_html(out, shown(note, scratch, at, f->at - at), row);
		jl_buf_printf(out, "<mark class=\"%s\">", jl_audit_verdict_key(f->verdict));
		jl_html_escape(out, shown(note, scratch, f->at, stop - f->at));
		jl_buf_puts(out, "</mark>");
		at = stop;
	}
	text_html(out, shown(note, scratch, at, end - at), row);
	jl_buf_printf(out, "%s</span><span class=\"g\">", row ? "</span>" : "");
	for (size_t i = 0; i < k; i++)
		reason_html(out, note, &note->findings[list[i].index]);
	jl_buf_puts(out, "</span></div>\n");
	return k;
}

/* Verdict counts as one bar. */
static void strip_html(struct jl_buf *out, const struct jl_audit_note *note)
{
	double x = 0;

	if (!note->n_figures)
		return;
	jl_buf_puts(out,
		    "<svg class=\"strip\" viewBox=\"0 0 100 2\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
	for (int v = 0; v < JL_N_AUDIT_VERDICT; v++) {
		const double w = 100.0 * (double)note->n[v] / (double)note->n_figures;

		jl_buf_printf(out, "<rect class=\"%s\" x=\"%.2f\" width=\"%.2f\" height=\"2\"/>",
			      jl_audit_verdict_key((enum jl_audit_verdict)v), x, w > 0.2 ? w - 0.2 : w);
		x += w;
	}
	jl_buf_puts(out, "</svg>\n");
}

/* Adds HTML markup for pages only; `write` fills a buffer. */
static void markup(struct jl_doc *doc, struct jl_buf *text)
{
	jl_doc_open(doc, JL_DOC_MARKUP, JL_MARK_NONE, jl_arena_strdup(doc->arena, jl_buf_text(text)));
	jl_buf_reset(text);
}

void jl_audited_strip(struct jl_doc *doc, const struct jl_audit_note *note)
{
	struct jl_buf out;

	jl_buf_init(&out, 4096);
	strip_html(&out, note);
	markup(doc, &out);
	jl_buf_release(&out);
}

void jl_audited_text(struct jl_doc *doc, const struct jl_audit_note *note, bool all)
{
	size_t n, k = 0;
	const struct at *list = in_order(note, all, &n);
	struct jl_buf scratch, out;

	if (!list)
		return;
	jl_buf_init(&scratch, JL_AUDIT_MAX_B * 4);
	jl_buf_init(&out, JL_AUDIT_MAX_B * 32);
	jl_buf_printf(&out, "<h2 id=\"note\">%s</h2>\n<div class=\"audit\">\n", JL_("The note"));
	for (size_t l = 0; l < note->n_raw_lines; l++)
		k += line_html(&out, note, l, list + k, n - k, &scratch);
	jl_buf_puts(&out, "</div>\n");
	markup(doc, &out);
	jl_buf_release(&out);
	jl_buf_release(&scratch);
}

/* The note's heading, else its file name. */
static const char *title_of(const struct jl_audit_note *note)
{
	const char *slash = strrchr(note->file, '/');

	for (size_t l = 0; l < note->n_raw_lines && l < 40; l++) {
		const uint32_t at = note->raw_line_at[l], end = line_end(note, l);

		if (end - at > 2 && note->raw[at] == '#' && note->raw[at + 1] == ' ')
			return jl_arena_printf(note->arena, "%.*s", (int)(end - at - 2), note->raw + at + 2);
	}
	return slash ? slash + 1 : note->file;
}

enum jl_status jl_audited_page(struct jl_buf *out, const struct jl_audit_note *note, bool all, const char *date,
			       struct jl_err *err)
{
	struct jl_doc doc;

	jl_doc_init(&doc, note->arena, title_of(note));
	doc.date = jl_arena_strdup(note->arena, date);
	jl_show_audited(&doc, note, all);
	return jl_doc_to_html(&doc, out, err);
}

/* --- Markdown */

static bool is_fence(const struct jl_audit_note *note, size_t l)
{
	uint32_t at = note->raw_line_at[l];

	while (at < note->len && (note->raw[at] == ' ' || note->raw[at] == '\t'))
		at++;
	return note->len - at >= 3 && (memcmp(note->raw + at, "```", 3) == 0 || memcmp(note->raw + at, "~~~", 3) == 0);
}

static void footnote(struct jl_buf *out, const struct jl_audit_finding *f, size_t number)
{
	jl_buf_printf(out, "\n[^jeoul%zu]: **%s** ", number, jl_audited_verdict(f));
	jl_buf_puts(out, jl_audited_why(f));
	if (*f->premises)
		jl_buf_printf(out, JL_("; from the note's premises: %s%s"), f->premises,
			      f->impossible_premise ? JL_(" (no correction: the premises are in doubt)") : "");
	if (*f->estimate)
		jl_buf_printf(out, JL_("; listed or estimated: %s"), f->estimate);
	if (f->root >= 0)
		jl_buf_puts(out, JL_("; a consequence"));
	jl_buf_putc(out, '\n');
}

void jl_audited_markdown(struct jl_buf *out, const struct jl_audit_note *note, bool all)
{
	size_t n, k = 0, waiting = 0;
	const struct at *list = in_order(note, all, &n);
	struct jl_buf scratch;
	bool in_code = false;

	if (!list)
		return;
	jl_buf_init(&scratch, JL_AUDIT_MAX_B * 4);
	for (size_t l = 0; l < note->n_raw_lines; l++) {
		const bool fence = is_fence(note, l);
		const uint32_t end = line_end(note, l);
		uint32_t at = note->raw_line_at[l];

		for (; k < n && list[k].at < end; k++) {
			const struct jl_audit_finding *f = &note->findings[list[k].index];
			const uint32_t stop = f->at + f->len < end ? f->at + f->len : end;

			if (in_code || stop < at) {
				waiting++; /* code has no footnotes: they follow the block */
				continue;
			}
			jl_buf_puts(out, shown(note, &scratch, at, stop - at));
			jl_buf_printf(out, "[^jeoul%zu]", k + 1);
			at = stop;
		}
		jl_buf_puts(out, shown(note, &scratch, at, end - at));
		jl_buf_putc(out, '\n');
		in_code ^= fence;
		if (fence && !in_code && waiting) {
			jl_buf_putc(out, '\n');
			for (; waiting; waiting--)
				jl_buf_printf(out, "[^jeoul%zu]", k - waiting + 1);
			jl_buf_putc(out, '\n');
		}
	}
	for (size_t i = 0; i < n; i++)
		footnote(out, &note->findings[list[i].index], i + 1);
	jl_buf_release(&scratch);
}

/* --- SARIF */

static const struct {
	const char *id, *en;
} rules[] = {
	{ "arithmetic", "Arithmetic that the note does itself" },
	{ "table", "A row that differs from what the other rows bear out" },
	{ "same-fact", "The same fact with different values" },
	{ "batches", "An epoch is the same samples whatever the batch" },
	{ "listed", "A figure of named hardware that is not what is listed" },
	{ "order", "Percentiles rise, and shares of a whole are all of it" },
	{ "bound", "More than the hardware can do" },
	{ "expected", "Outside the interval of jeoul's estimate" },
	{ "confusion", "A known confusion in words" },
};

static void region(struct jl_json *json, const struct jl_audit_note *note, uint32_t at, uint32_t len)
{
	uint32_t line, column, end_line, end_column;

	jl_audit_place(note, at, &line, &column);
	jl_audit_place(note, at + len, &end_line, &end_column);
	jl_json_pack(json, "{startLine:i startColumn:i endLine:i endColumn:i}", (int)line, (int)column, (int)end_line,
		     (int)end_column);
}

/* The file name as a URI reference (RFC 3986). */
static const char *uri(const struct jl_audit_note *note)
{
	static const char hex[] = "0123456789ABCDEF",
			  plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	char *out = jl_arena_alloc(note->arena, strlen(note->file) * 3 + 1);
	size_t n = 0;

	for (const char *c = note->file; out && *c; c++) {
		if (strchr(plain, *c)) {
			out[n++] = *c;
			continue;
		}
		out[n++] = '%';
		out[n++] = hex[(unsigned char)*c >> 4];
		out[n++] = hex[*c & 15];
	}
	return out ? out : "";
}

static void location(struct jl_json *json, const struct jl_audit_note *note, const struct jl_audit_finding *f)
{
	jl_json_pack(json, "[{physicalLocation:{artifactLocation:{uri:s} region:", uri(note));
	region(json, note, f->at, f->len);
	jl_json_pack(json, "}}]");
}

static void fix_sarif(struct jl_json *json, const struct jl_audit_note *note, const struct jl_audit_finding *f)
{
	jl_json_pack(json,
		     "fixes:[{artifactChanges:[{artifactLocation:{uri:s} replacements:[{deletedRegion:", uri(note));
	region(json, note, note->figures[f->figure].num_at, note->figures[f->figure].num_len);
	jl_json_pack(json, "insertedContent:{text:s}}]}]}]", f->fix);
}

bool jl_audited_is_fixable(const struct jl_audit_note *note, const struct jl_audit_finding *f)
{
	return f->shown && *f->fix && f->figure >= 0 && !f->impossible_premise && f->verdict <= JL_AUDIT_DIFFERS &&
	       !(note->figures[f->figure].flags & (JL_FIG_RANGE | JL_FIG_APPENDED));
}

static void result(struct jl_json *json, const struct jl_audit_note *note, const struct jl_audit_finding *f)
{
	jl_json_pack(json, "{ruleId:s level:s message:{text:s} locations:", f->rule,
		     f->verdict == JL_AUDIT_WRONG      ? "error"
		     : f->verdict <= JL_AUDIT_UNLIKELY ? "warning"
						       : "note",
		     jl_arena_printf(note->arena, "%s: %s. %s%s%s", f->written, jl_audited_verdict(f),
				     jl_audited_why(f), *f->premises ? " → " : "", f->premises));
	location(json, note, f);
	if (f->root >= 0) {
		jl_json_key(json, "relatedLocations");
		location(json, note, &note->findings[f->root]);
	}
	if (jl_audited_is_fixable(note, f))
		fix_sarif(json, note, f);
	jl_json_end_object(json);
}

void jl_audited_sarif(struct jl_buf *out, const struct jl_audit_note *note, bool all, const char *version)
{
	size_t n;
	const struct at *list = in_order(note, all, &n);
	struct jl_json json;

	jl_json_init(&json, out, true);
	jl_json_pack(&json, "{$schema:s version:s runs:[{tool:{driver:{name:s version:s rules:[",
		     "https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", "jeoul", version);
	for (size_t i = 0; i < JL_LEN(rules); i++)
		jl_json_pack(&json, "{id:s shortDescription:{text:s}}", rules[i].id, rules[i].en);
	jl_json_pack(&json, "]}} columnKind:s results:[", "unicodeCodePoints");
	for (size_t i = 0; list && i < n; i++)
		result(&json, note, &note->findings[list[i].index]);
	jl_json_pack(&json, "]}]}");
	jl_json_finish(&json);
}
