/* The document as one self-contained HTML file: inline style, charts and marks as SVG, no script. Every number carries its origin in the
 * markup and as a tooltip; its mark links to the source. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "document/chart_scale.h"
#include "document/escape.h"

extern const unsigned char jl_report_css[]; /* report.css */
extern const size_t jl_report_css_len;

struct page {
	struct jl_buf *out;
	const struct jl_doc *doc;
	size_t n_charts;
	bool plain; /* in a cell whose column heading has the mark */
};

/* A share as a bar; the figure is adjacent. */
static void bar_html(struct jl_buf *out, const struct jl_num *num)
{
	const double frac = fmin(1, fmax(0, num->value));

	/* no inline style: the live page's CSP forbids it */
	jl_buf_printf(out,
		      "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
		      "aria-hidden=\"true\"><rect width=\"%.1f\" height=\"8\"/></svg>",
		      100 * frac);
}

/* Links only to http and https addresses. */
static void link_html(struct jl_buf *out, const struct jl_run *run)
{
	const bool page = strncmp(run->ref, "https://", 8) == 0 || strncmp(run->ref, "http://", 7) == 0;

	if (page) {
		jl_html_put(out, "<a class=\"out\" rel=\"noreferrer\" href=\"", run->ref, "\">");
	}
	jl_html_name(out, run->text);
	jl_buf_puts(out, page ? "</a>" : "");
}

static void tagged(struct jl_buf *out, const char *tag, const char *text)
{
	jl_buf_printf(out, "<%s>", tag);
	jl_html_text(out, text);
	jl_buf_printf(out, "</%s>", tag);
}

static void ref_html(struct jl_buf *out, const struct jl_run *run)
{
	if (!*run->text)
		return;
	jl_html_put(out, " <a class=\"ref\" href=\"#", run->ref, "\">→ ");
	jl_html_text(out, run->text);
	jl_buf_puts(out, "</a>");
}

static void runs_html(const struct page *p, const struct jl_run *run)
{
	struct jl_buf *out = p->out;

	for (; run; run = run->next) {
		switch (run->kind) {
		case JL_RUN_TEXT: jl_html_text(out, run->text); break;
		case JL_RUN_SAID: jl_html_said(out, run, p->doc, !p->plain); break;
		case JL_RUN_NUM: jl_html_num(out, &run->num, p->doc, !p->plain); break;
		case JL_RUN_NAME: /* a date is not broken at its hyphens */
			jl_html_put(out,
				    strspn(run->text, "0123456789-") == strlen(run->text)
					    ? "<span class=\"name nb\" data-name=\"\">"
					    : "<span class=\"name\" data-name=\"\">",
				    run->text, "</span>");
			break;
		case JL_RUN_STRONG: /* figures in it are settings */
			jl_buf_puts(out, "<strong>");
			jl_html_said(out, &(struct jl_run){ .text = run->text }, NULL, false);
			jl_buf_puts(out, "</strong>");
			break;
		case JL_RUN_BREAK: jl_buf_puts(out, "<br>\n"); break;
		case JL_RUN_DOT: jl_buf_puts(out, " · "); break;
		case JL_RUN_BAR: bar_html(out, &run->num); break;
		case JL_RUN_LINK: link_html(out, run); break;
		case JL_RUN_REF: ref_html(out, run); break;
		case JL_RUN_ANCHOR: jl_html_put(out, "<span id=\"", run->ref, "\"></span>"); break;
		case JL_RUN_CODE: jl_html_put(out, "<code>", run->text, "</code>"); break;
		}
	}
}

static const char *mark_class(enum jl_mark mark)
{
	static const char *const classes[] = { "", "good", "warn", "bad", "unknown" };

	return classes[mark];
}

/* A verdict badge, distinct from origin marks, with alternative text. */
static void verdict_html(struct jl_buf *out, enum jl_mark mark)
{
	static const char *const en[] = { "", JL_NC("mark", "good"), JL_N("warning"), JL_N("bad"),
					  JL_NC("mark", "unknown") };
	static const char *const paths[] = { "", "M3 6.5l2.2 2.2L9.5 4", "M6 2.5v4.5M6 9v1", "M3.5 3.5l5 5m0-5l-5 5",
					     "M4.2 4.4a1.9 1.9 0 1 1 2.6 2q-.8.4-.8 1.2M6 9.2v1" };

	if (mark)
		jl_buf_printf(out,
			      "<svg class=\"m %s\" viewBox=\"0 0 12 12\" role=\"img\" aria-label=\"%s\"><circle "
			      "cx=\"6\" cy=\"6\" r=\"6\"/><path d=\"%s\"/></svg> ",
			      mark_class(mark), jl_msg(en[mark]), paths[mark]);
}

static size_t cell_width(const struct jl_doc_cell *cell)
{
	size_t n = 0;

	for (const struct jl_run *run = cell->runs; run; run = run->next)
		n += run->text ? jl_utf8_width(run->text) : 8;
	return n;
}

/* Cells with sentences get a minimum width on narrow screens; short names are not broken. */
static const char *cell_class(const struct jl_doc_cell *cell, const struct jl_doc_column *column, bool first)
{
	const size_t width = cell_width(cell);

	if (!first && width == 1 && cell->runs->text && strcmp(cell->runs->text, "—") == 0)
		return column->right ? "r no" : "no";
	return column->right ? "r" : width > 36 ? "long" : first && width <= 22 ? "nb" : NULL;
}

/* `head`: heading of each cell, for tables shown row by row on a phone; NULL: none. */
static void cell_html(const struct page *p, const struct jl_doc_cell *cell, const struct jl_doc_column *column,
		      bool first, const char *head)
{
	const char *tag = first ? "th scope=\"row\"" : "td", *class = cell_class(cell, column, first);

	jl_buf_printf(p->out, "<%s", tag);
	if (class)
		jl_buf_printf(p->out, " class=\"%s\"", class);
	if (head && *head)
		jl_html_put(p->out, " data-h=\"", head, "\"");
	jl_buf_puts(p->out, ">");
	verdict_html(p->out, cell->mark);
	runs_html(p, cell->runs);
	jl_buf_puts(p->out, first ? "</th>" : "</td>");
}

/* A title; figures in it are given by the user and have no origin. */
static void title_html(struct jl_buf *out, const char *title)
{
	jl_html_said(out, &(struct jl_run){ .text = title ? title : "" }, NULL, false);
}

#define MANY_COLUMNS 4 /* more than fit on a phone */

static bool has_heads(const struct jl_doc_block *b)
{
	for (size_t i = 0; i < b->n_columns; i++)
		if (b->columns[i].head && *b->columns[i].head)
			return true;
	return false;
}

static void heads_html(struct jl_buf *out, const struct jl_doc_block *b)
{
	jl_buf_puts(out, "\n<thead><tr>");
	for (size_t i = 0; i < b->n_columns; i++) {
		jl_buf_printf(out, "<th scope=\"col\"%s>", b->columns[i].right ? " class=\"r\"" : "");
		title_html(out, b->columns[i].head);
		jl_html_origin(out, jl_doc_column_origin(b, i));
		if (b->columns[i].unit) {
			jl_html_put(out, "<small> ", b->columns[i].unit, "</small>");
		}
		jl_buf_puts(out, "</th>");
	}
	jl_buf_puts(out, "</tr></thead>");
}

static void table_html(const struct page *p, const struct jl_doc_block *b)
{
	struct jl_buf *out = p->out;
	struct page inner = *p;

	const bool many = has_heads(b) && b->n_columns >= MANY_COLUMNS;

	/* keeps a short table on one sheet */
	jl_buf_printf(out, "<div class=\"wide%s%s\" tabindex=\"0\"><table>", b->n_rows <= 14 ? " short" : "",
		      many ? " many" : "");
	if (b->title) {
		jl_buf_puts(out, "<caption>");
		title_html(out, b->title);
		jl_buf_puts(out, "</caption>");
	}
	if (has_heads(b))
		heads_html(out, b);
	jl_buf_puts(out, "\n<tbody>\n");
	for (const struct jl_doc_row *row = b->rows; row; row = row->next) {
		size_t i = 0;

		jl_buf_puts(out, row->strong ? "<tr class=\"strong\">" : "<tr>");
		for (const struct jl_doc_cell *cell = row->cells; cell && i < b->n_columns; cell = cell->next, i++) {
			const enum jl_origin origin = jl_doc_column_origin(b, i);
			char head[128] = "";

			if (many && (i || b->columns[i].right))
				snprintf(head, sizeof head, "%s%s%s", b->columns[i].head ? b->columns[i].head : "",
					 origin ? " " : "", origin ? jl_origin_mark(origin) : "");
			inner.plain = origin != JL_ORIGIN_NONE;
			cell_html(&inner, cell, &b->columns[i], i == 0, head);
		}
		for (; i < b->n_columns; i++)
			jl_buf_puts(out, "<td></td>");
		jl_buf_puts(out, "</tr>\n");
	}
	jl_buf_puts(out, "</tbody></table></div>\n");
}

static void chart_origins(struct jl_buf *out, const struct jl_chart *chart)
{
	unsigned done = 0;

	for (size_t i = 0; i < chart->n_series; i++) {
		const enum jl_origin origin = chart->series[i].origin;

		if (!(done & 1u << origin))
			jl_html_origin(out, origin);
		done |= 1u << origin;
	}
}

static void tree_rows(struct jl_doc *doc, const struct jl_tree_node *node, int depth)
{
	struct jl_buf name;

	jl_buf_init(&name, 4096);
	for (int i = 0; i < depth; i++)
		jl_buf_puts(&name, "– ");
	jl_buf_puts(&name, node->name);
	if (node->narrowest)
		jl_buf_printf(&name, " (%s)", node->narrowest);
	jl_doc_cell_name(doc, jl_buf_text(&name));
	jl_buf_release(&name);
	if (node->num)
		jl_doc_cell_num(doc, node->num);
	else
		jl_doc_cell_text(doc, "");
	jl_doc_end_row(doc, false);
	for (size_t i = 0; i < node->n_children; i++)
		tree_rows(doc, &node->children[i], depth + 1);
}

/* A chart's data as a table, for screen readers and copying. Spans include their start, scatter points their x. */
static enum jl_status chart_table(struct page *p, const struct jl_chart *c)
{
	const bool scatter = c->kind == JL_CHART_SCATTER, placed = scatter || (c->n_lanes && !c->no_legend),
		   named = c->n_series > 1 && !c->no_legend;
	const struct jl_doc_column all[] = { { .head = c->x.label && !scatter ? c->x.label : JL_("part") },
					     { .head = JL_("what") },
					     { .head = scatter ? c->x.label : JL_("begins"), .right = true },
					     { .head = c->y.label ? c->y.label : JL_("value"), .right = true } };
	struct jl_doc_column columns[JL_LEN(all)];
	struct jl_doc doc;
	size_t n = 0;

	for (size_t i = 0; i < JL_LEN(all); i++)
		if ((i != 1 || named) && (i != 2 || placed)) /* tree: name and value */
			columns[n++] = all[i];
	jl_doc_init(&doc, p->doc->arena, NULL);
	jl_doc_table(&doc, NULL, columns, n);
	if (c->kind == JL_CHART_TREE)
		tree_rows(&doc, c->tree, 0);
	for (size_t i = 0; i < c->n_series; i++)
		for (size_t k = 0; k < c->series[i].n_points && !c->series[i].joined; k++) {
			const struct jl_chart_point *at = &c->series[i].points[k];
			struct jl_num num = jl_num_ranged(jl_chart_num(c, &c->series[i], at)), begins = num;

			if (isnan(at->y))
				continue;
			const bool along = scatter || !at->label; /* its axis position, not its start */

			begins.value = along ? at->x : at->from;
			begins.kind = along ? c->x.kind : c->y.kind;
			begins.unit = along ? c->x.unit : c->y.unit;
			begins.lo = begins.hi = NAN;
			begins.binary = !along && num.binary;
			if (at->label)
				jl_doc_cell_name(&doc, at->label);
			else
				jl_doc_cell_num(&doc, &begins);
			if (named)
				jl_doc_cell_name(&doc, c->series[i].name);
			if (placed)
				jl_doc_cell_num(&doc, &begins);
			jl_doc_cell_num(&doc, &num);
			jl_doc_end_row(&doc, false);
		}
	if (doc.failed)
		return doc.failed;
	struct jl_buf csv;

	jl_buf_init(&csv, 1 << 20);
	jl_chart_to_csv(c, &csv);
	jl_html_put(p->out, "<details class=\"data\" data-csv=\"", jl_buf_text(&csv), "\">");
	jl_buf_release(&csv);
	jl_html_put(p->out, "<summary>", JL_("As a table"), "</summary>\n");
	table_html(p, doc.blocks);
	jl_buf_puts(p->out, "</details>\n");
	return JL_OK;
}

/* Two versions, for a page and for a phone, where letters would be too small; CSS shows one. */
static enum jl_status chart_html(struct page *p, const struct jl_chart *chart, struct jl_err *err)
{
	char prefix[24], slim[24];
	enum jl_status status;

	snprintf(prefix, sizeof prefix, "c%zu", ++p->n_charts);
	snprintf(slim, sizeof slim, "n%zu", p->n_charts);
	jl_buf_puts(p->out, "<figure><figcaption>");
	jl_html_name(p->out, chart->title ? chart->title : "");
	chart_origins(p->out, chart);
	jl_buf_puts(p->out, "</figcaption>\n");
	status = jl_chart_to_svg(chart, prefix, p->doc->wide ? JL_SVG_WIDE : JL_SVG_WIDTH, p->out, err);
	JL_THEN(status, jl_chart_to_svg(chart, slim, JL_SVG_SLIM, p->out, err));
	if (chart->tabled && !status && chart_table(p, chart))
		status = jl_fail_nomem(err);
	jl_buf_puts(p->out, "</figure>\n");
	return status;
}

/* A question is a heading. */
static void finding_html(const struct page *p, const struct jl_doc_block *b)
{
	struct jl_buf *out = p->out;

	jl_buf_printf(out, b->asked ? "<section class=\"ask %s\"><h2>" : "<div class=\"finding %s\"><p class=\"what\">",
		      mark_class(b->mark));
	verdict_html(out, b->mark);
	if (b->asked)
		title_html(out, b->title);
	else
		jl_html_text(out, b->title ? b->title : "");
	jl_buf_puts(out, b->asked ? "</h2>" : "</p>");
	if (b->runs) {
		jl_buf_puts(out, "<p>");
		runs_html(p, b->runs);
		jl_buf_puts(out, "</p>");
	}
	jl_buf_puts(out, b->asked ? "</section>\n" : "</div>\n");
}

/* The legend of the marks, placed before their first use. */
static void legend_html(struct jl_buf *out)
{
	static const enum jl_origin order[] = { JL_MEASURED, JL_PUBLISHED, JL_LISTED, JL_ESTIMATED };

	jl_buf_puts(out, "<p class=\"sub legend\">");
	for (size_t i = 0; i < JL_LEN(order); i++) {
		jl_buf_puts(out, "<span>");
		jl_html_origin(out, order[i]);
		jl_buf_printf(out, " %s</span> ", jl_origin_word(order[i]));
	}
	jl_buf_printf(out, "<span>%s</span></p>", JL_("no mark: given"));
}

static void head_html(struct jl_buf *out, const struct jl_doc *doc)
{
	jl_buf_printf(out,
		      "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		      "'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
		      jl_lang()->code);
	jl_html_escape(out, doc->title);
	jl_buf_puts(out, "</title>\n<style>\n");
	jl_buf_add(out, (const char *)jl_report_css, jl_report_css_len);
	jl_buf_puts(out, "</style>\n</head>\n<body>\n<main>\n<header><h1>");
	jl_html_name(out, doc->title);
	jl_buf_puts(out, "</h1><p class=\"sub\">");
	if (doc->subtitle) {
		jl_html_name(out, doc->subtitle);
		jl_buf_puts(out, " · ");
	}
	if (doc->date)
		jl_buf_printf(out, "<time datetime=\"%s\">%s</time> · jeoul 저울", doc->date, doc->date);
	jl_buf_puts(out, "</p>");
	legend_html(out);
	jl_buf_puts(out, "</header>\n");
}

static void section_html(struct jl_buf *out, const struct jl_doc_block *b)
{
	jl_buf_printf(out, b->fold ? "<details><summary><h%d id=\"" : "<h%d id=\"", b->level);
	jl_html_escape(out, b->id);
	jl_buf_puts(out, "\">");
	title_html(out, b->title);
	jl_buf_printf(out, b->fold ? "</h%d></summary>\n" : "</h%d>\n", b->level);
}

/* "Bound by": gradient exchange */
static enum jl_status entry_html(const struct page *p, const struct jl_doc_block *b)
{
	const char *label = b->kind == JL_DOC_TABLE ? b->label : b->title;

	tagged(p->out, "dt", label ? label : "");
	jl_buf_puts(p->out, "<dd>");
	if (b->kind == JL_DOC_TABLE)
		table_html(p, b);
	else
		runs_html(p, b->runs);
	jl_buf_puts(p->out, "</dd>\n");
	return JL_OK;
}

static void note_html(const struct page *p, const struct jl_doc_block *b)
{
	jl_buf_puts(p->out, "<p class=\"note\">");
	verdict_html(p->out, b->mark);
	if (b->title) {
		tagged(p->out, "b", b->title);
		jl_buf_puts(p->out, " ");
	}
	runs_html(p, b->runs);
	jl_buf_puts(p->out, "</p>\n");
}

/* The range with its middle, the bound and the figure. */
static void ruler_html(const struct page *p, const struct jl_ruler *r)
{
	const double lo = 100 * jl_ruler_at(r, r->lo), hi = 100 * jl_ruler_at(r, r->hi);
	struct jl_buf *out = p->out;

	jl_buf_puts(out,
		    "<p class=\"ruler\"><svg viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
	jl_buf_printf(out, "<path d=\"M0 3H100\"/><rect x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"6\"/>", lo, hi - lo);
	jl_buf_printf(out, "<path class=\"mid\" d=\"M%.2f 0V6\"/>", 100 * jl_ruler_at(r, r->middle));
	if (jl_ruler_bounded(r))
		jl_buf_printf(out, "<path class=\"b\" d=\"M%.2f 0V6\"/>", 100 * jl_ruler_at(r, r->bound.value));
	jl_buf_printf(out, "<path class=\"v\" d=\"M%.2f 0V6\"/></svg>", 100 * jl_ruler_at(r, r->value.value));
	jl_html_num(out, &r->value, p->doc, true);
	jl_buf_puts(out, "</p>\n");
}

/* Adjacent blocks of one kind share an element. */
static const char *group_of(const struct jl_doc_block *b)
{
	if (b && b->kind == JL_DOC_ITEM)
		return b->numbered ? "ol" : "ul";
	if (b && (b->kind == JL_DOC_ENTRY || (b->kind == JL_DOC_TABLE && b->label)))
		return "dl";
	return NULL;
}

static void groups_html(struct jl_buf *out, const struct jl_doc_block *before, const struct jl_doc_block *b)
{
	const char *was = group_of(before), *is = group_of(b);

	if (was == is || (was && is && strcmp(was, is) == 0))
		return;
	if (was)
		jl_buf_printf(out, "</%s>\n", was);
	if (is)
		jl_buf_printf(out, "<%s>\n", is);
}

static enum jl_status block_html(struct page *p, const struct jl_doc_block *b, struct jl_err *err)
{
	struct jl_buf *out = p->out;

	if (group_of(b) && b->kind != JL_DOC_ITEM)
		return entry_html(p, b);
	switch (b->kind) {
	case JL_DOC_SECTION: section_html(out, b); break;
	case JL_DOC_PARA:
	case JL_DOC_LEAD:
	case JL_DOC_ITEM:
		jl_buf_puts(out, b->kind == JL_DOC_ITEM   ? "<li>"
				 : b->kind == JL_DOC_LEAD ? "<p class=\"lead\">"
							  : "<p>");
		runs_html(p, b->runs);
		jl_buf_puts(out, b->kind == JL_DOC_ITEM ? "</li>\n" : "</p>\n");
		break;
	case JL_DOC_TABLE:
		if (!b->sketch)
			table_html(p, b);
		break;
	case JL_DOC_CHART: return chart_html(p, b->chart, err);
	case JL_DOC_FINDING: finding_html(p, b); break;
	case JL_DOC_NOTE: note_html(p, b); break;
	case JL_DOC_RULER: ruler_html(p, b->ruler); break;
	case JL_DOC_CODE: jl_html_put(out, "<pre><code>", b->title, "</code></pre>\n"); break;
	case JL_DOC_MARKUP: jl_buf_puts(out, b->title); break;
	case JL_DOC_ENTRY:
	case JL_N_DOC_BLOCK_KIND: break;
	}
	return JL_OK;
}

enum jl_status jl_doc_to_fragment(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err)
{
	struct page p = { .out = out, .doc = doc };
	const struct jl_doc_block *before = NULL;
	bool folded = false;

	if (doc->failed)
		return jl_fail(err, doc->failed, "the report is too large");
	jl_html_origin_shapes(out);
	for (const struct jl_doc_block *b = doc->blocks; b; before = b, b = b->next) {

		groups_html(out, before, b);
		if (b->kind == JL_DOC_SECTION && b->level == 2) {
			jl_buf_puts(out, folded ? "</details>\n" : "");
			folded = b->fold;
		}
		JL_TRY(block_html(&p, b, err));
	}
	groups_html(out, before, NULL);
	jl_buf_puts(out, folded ? "</details>\n" : "");
	return out->failed ? jl_fail(err, JL_E_LIMIT, "the report is too large") : JL_OK;
}

enum jl_status jl_doc_to_html(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err)
{
	enum jl_status status;

	head_html(out, doc);
	status = jl_doc_to_fragment(doc, out, err);
	jl_buf_puts(out, "</main>\n</body>\n</html>\n");
	return status ? status : out->failed ? jl_fail(err, JL_E_LIMIT, "the report is too large") : JL_OK;
}
