/* An audited note in the forms that others read: a page with the note and marks in its margin, Markdown with footnotes, SARIF for editors
 * and CI, and a diff that puts the corrected figures in. */
#include "topics/memo.h"

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

static struct at *in_order(const struct jl_memo *note, bool all, size_t *ret_n)
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

/* A stretch of the file that is safe to show: what was blanked as no text is a question mark. */
static const char *shown(const struct jl_memo *note, struct jl_buf *scratch, uint32_t at, uint32_t len)
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

static uint32_t line_end(const struct jl_memo *note, size_t l)
{
	return l + 1 < note->n_raw_lines ? note->raw_line_at[l + 1] - 1 : (uint32_t)note->len;
}

/* --- the page */

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;margin:0;color:#222;background:#fff}main{max-width:1200px;margin:0 "
	"auto;padding:1rem}h1{font-size:1.3rem;overflow-wrap:anywhere}p,li{word-break:keep-all;overflow-wrap:anywhere}."
	"l{display:grid;grid-template-columns:3.2rem minmax(0,1fr) "
	"minmax(0,24rem);column-gap:1rem}.n{color:#888;text-align:right;user-select:none}.t{white-space:pre-wrap;"
	"overflow-wrap:anywhere;font-family:ui-monospace,monospace;font-size:13px}mark{background:#fff0b3;border-"
	"bottom:2px solid "
	"#b58900}mark.wrong{background:#ffd9d6;border-color:#c0392b}mark.compatible{background:#e3f4e4;border-color:#"
	"2e7d32}details{font-size:13px;border-left:3px solid #b58900;padding-left:.5rem;margin:.1rem "
	"0}details.wrong{border-color:#c0392b}details.compatible{border-color:#2e7d32}ol{padding-left:1.6rem}summary{"
	"cursor:pointer}dl{margin:.2rem 0;display:grid;grid-template-columns:auto "
	"1fr;column-gap:.6rem}dt{color:#666}dd{margin:0}@media(max-width:800px){.l{grid-template-columns:2.4rem "
	"1fr}.g{grid-column:2}}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}mark{background:#"
	"4a3f10;color:inherit}mark.wrong{background:#5a211d}mark.compatible{background:#1d3a20}a{color:#8ab4f8}dt{"
	"color:#aaa}}@media print{details{break-inside:avoid}}";

static void pair_html(struct jl_buf *out, const char *label, const char *text)
{
	if (!*text)
		return;
	jl_buf_printf(out, "<dt>%s</dt><dd>", label);
	jl_html_escape(out, text);
	jl_buf_puts(out, "</dd>");
}

/* What follows from a root, each with a link to its line. */
static void consequences_html(struct jl_buf *out, const struct jl_memo *note, size_t root)
{
	size_t n = 0;

	for (size_t i = 0; i < note->n_findings; i++)
		if (note->findings[i].root == (int32_t)root && note->findings[i].shown) {
			const struct jl_said_finding *f = &note->findings[i];

			if (n++)
				jl_buf_puts(out, ", ");
			else
				jl_buf_printf(out, "<p>%s: ", JL_("what follows from it"));
			jl_buf_printf(out, "<a href=\"#L%u\">L%u</a> ", f->line, f->line);
			jl_html_escape(out, f->written);
		}
	if (n)
		jl_buf_puts(out, "</p>");
}

/* The roots, each once, above the note. */
static void roots_html(struct jl_buf *out, const struct jl_memo *note, bool all)
{
	jl_buf_puts(out, "<ol>");
	for (size_t i = 0; i < note->n_findings; i++) {
		const struct jl_said_finding *f = &note->findings[i];
		size_t n = 0;

		if (f->root >= 0 || f->verdict > JL_MEMO_UNLIKELY || !jl_audited_is_said(f, all))
			continue;
		for (size_t k = 0; k < note->n_findings; k++)
			n += note->findings[k].root == (int32_t)i && note->findings[k].shown;
		jl_buf_printf(out, "<li><a href=\"#L%u\">L%u</a> ", f->line, f->line);
		jl_html_escape(out, f->written);
		jl_buf_printf(out, " (%s)", jl_audited_verdict(f->verdict));
		if (n) {
			jl_buf_puts(out, " ");
			jl_buf_printf(out, JL_("and %zu that follow from it"), n);
		}
		jl_buf_puts(out, "</li>");
	}
	jl_buf_puts(out, "</ol>");
}

static void reason_html(struct jl_buf *out, const struct jl_memo *note, const struct jl_said_finding *f)
{
	jl_buf_printf(out, "<details class=\"%s\"><summary>", jl_memo_verdict_key(f->verdict));
	jl_html_escape(out, f->figure >= 0 ? f->written : JL_("this"));
	jl_buf_printf(out, ": %s</summary><p>", jl_audited_verdict(f->verdict));
	jl_html_escape(out, jl_audited_why(f));
	jl_buf_puts(out, "</p><dl>");
	pair_html(out, JL_("written"), f->figure >= 0 ? f->written : "");
	pair_html(out, JL_("from the note's premises"), f->premises);
	pair_html(out, JL_("listed or estimated"), f->estimate);
	if (f->source)
		pair_html(out, JL_("source"), f->source);
	jl_buf_puts(out, "</dl>");
	if (f->impossible_premise)
		jl_buf_printf(out, "<p>%s</p>",
			      JL_("What the premises give is no correction: they are in doubt themselves."));
	consequences_html(out, note, (size_t)(f - note->findings));
	if (f->root >= 0)
		jl_buf_printf(out, "<p>%s <a href=\"#L%u\">L%u</a></p>", JL_("follows from"),
			      note->findings[f->root].line, note->findings[f->root].line);
	jl_buf_puts(out, "</details>");
}

/* One line of the note with its marks; `list` begins with the first finding that is not before it. Returns how many are in it. */
static size_t line_html(struct jl_buf *out, const struct jl_memo *note, size_t l, const struct at *list, size_t n,
			struct jl_buf *scratch)
{
	const uint32_t end = line_end(note, l);
	uint32_t at = note->raw_line_at[l];
	size_t k = 0;

	jl_buf_printf(out, "<div class=\"l\" id=\"L%zu\"><span class=\"n\">%zu</span><span class=\"t\">", l + 1, l + 1);
	for (; k < n && list[k].at < end; k++) {
		const struct jl_said_finding *f = &note->findings[list[k].index];
		const uint32_t stop = f->at + f->len < end ? f->at + f->len : end;

		if (f->at < at)
			continue;
		jl_html_escape(out, shown(note, scratch, at, f->at - at));
		jl_buf_printf(out, "<mark class=\"%s\">", jl_memo_verdict_key(f->verdict));
		jl_html_escape(out, shown(note, scratch, f->at, stop - f->at));
		jl_buf_puts(out, "</mark>");
		at = stop;
	}
	jl_html_escape(out, shown(note, scratch, at, end - at));
	jl_buf_puts(out, "</span><span class=\"g\">");
	for (size_t i = 0; i < k; i++)
		reason_html(out, note, &note->findings[list[i].index]);
	jl_buf_puts(out, "</span></div>\n");
	return k;
}

void jl_audited_page(struct jl_buf *out, const struct jl_memo *note, bool all)
{
	size_t n, k = 0;
	const struct at *list = in_order(note, all, &n);
	struct jl_buf scratch;

	if (!list)
		return;
	jl_buf_init(&scratch, JL_MEMO_MAX_B * 4);
	jl_buf_printf(out,
		      "<!doctype html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
		      "content=\"width=device-width\"><title>",
		      jl_lang()->code);
	jl_html_escape(out, note->file);
	jl_buf_printf(out, "</title><style>%s</style></head><body><main><h1>", style);
	jl_html_escape(out, note->file);
	jl_buf_puts(out, "</h1><p>");
	jl_buf_printf(out, JL_("%zu figure{/s}, %zu error{/s} of {its/their} own, %zu doubt{/s}"), note->n_figures,
		      note->n_roots, note->n_doubts);
	for (int v = 0; v < JL_N_MEMO_VERDICT; v++)
		if (note->n[v])
			jl_buf_printf(out, " · %s %zu", jl_audited_verdict((enum jl_memo_verdict)v), note->n[v]);
	jl_buf_puts(out, "</p>\n");
	if (note->n_roots + note->n_doubts)
		roots_html(out, note, all);
	for (size_t l = 0; l < note->n_raw_lines; l++)
		k += line_html(out, note, l, list + k, n - k, &scratch);
	jl_buf_puts(out, "</main></body></html>\n");
	jl_buf_release(&scratch);
}

/* --- Markdown */

static bool is_fence(const struct jl_memo *note, size_t l)
{
	uint32_t at = note->raw_line_at[l];

	while (at < note->len && (note->raw[at] == ' ' || note->raw[at] == '\t'))
		at++;
	return note->len - at >= 3 && (memcmp(note->raw + at, "```", 3) == 0 || memcmp(note->raw + at, "~~~", 3) == 0);
}

static void footnote(struct jl_buf *out, const struct jl_said_finding *f, size_t number)
{
	jl_buf_printf(out, "\n[^jeoul%zu]: **%s** ", number, jl_audited_verdict(f->verdict));
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

void jl_audited_markdown(struct jl_buf *out, const struct jl_memo *note, bool all)
{
	size_t n, k = 0, waiting = 0;
	const struct at *list = in_order(note, all, &n);
	struct jl_buf scratch;
	bool in_code = false;

	if (!list)
		return;
	jl_buf_init(&scratch, JL_MEMO_MAX_B * 4);
	for (size_t l = 0; l < note->n_raw_lines; l++) {
		const bool fence = is_fence(note, l);
		const uint32_t end = line_end(note, l);
		uint32_t at = note->raw_line_at[l];

		for (; k < n && list[k].at < end; k++) {
			const struct jl_said_finding *f = &note->findings[list[k].index];
			const uint32_t stop = f->at + f->len < end ? f->at + f->len : end;

			if (in_code || stop < at) {
				waiting++; /* code shows no footnotes: they go behind the block */
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

static void region(struct jl_json *json, const struct jl_memo *note, uint32_t at, uint32_t len)
{
	uint32_t line, column, end_line, end_column;

	jl_memo_place(note, at, &line, &column);
	jl_memo_place(note, at + len, &end_line, &end_column);
	jl_json_pack(json, "{startLine:i startColumn:i endLine:i endColumn:i}", (int)line, (int)column, (int)end_line,
		     (int)end_column);
}

/* The file's name as a reference of RFC 3986. */
static const char *uri(const struct jl_memo *note)
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

static void location(struct jl_json *json, const struct jl_memo *note, const struct jl_said_finding *f)
{
	jl_json_pack(json, "[{physicalLocation:{artifactLocation:{uri:s} region:", uri(note));
	region(json, note, f->at, f->len);
	jl_json_pack(json, "}}]");
}

static void fix_sarif(struct jl_json *json, const struct jl_memo *note, const struct jl_said_finding *f)
{
	jl_json_pack(json,
		     "fixes:[{artifactChanges:[{artifactLocation:{uri:s} replacements:[{deletedRegion:", uri(note));
	region(json, note, note->figures[f->figure].num_at, note->figures[f->figure].num_len);
	jl_json_pack(json, "insertedContent:{text:s}}]}]}]", f->fix);
}

bool jl_audited_is_fixable(const struct jl_memo *note, const struct jl_said_finding *f)
{
	return f->shown && *f->fix && f->figure >= 0 && !f->impossible_premise && f->verdict <= JL_MEMO_DIFFERS &&
	       !(note->figures[f->figure].flags & (JL_FIG_RANGE | JL_FIG_APPENDED));
}

static void result(struct jl_json *json, const struct jl_memo *note, const struct jl_said_finding *f)
{
	jl_json_pack(json, "{ruleId:s level:s message:{text:s} locations:", f->rule,
		     f->verdict == JL_MEMO_WRONG      ? "error"
		     : f->verdict <= JL_MEMO_UNLIKELY ? "warning"
						      : "note",
		     jl_arena_printf(note->arena, "%s: %s. %s%s%s", f->written, jl_audited_verdict(f->verdict),
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

void jl_audited_sarif(struct jl_buf *out, const struct jl_memo *note, bool all, const char *version)
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
