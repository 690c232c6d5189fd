/* The document as Markdown. Estimated numbers have a mark; HTML and JSON have source and interval. */

#include "document/flow.h"

static void paragraph(const struct jl_sink *s, const struct jl_doc_block *b, const char *first, const char *last)
{
	struct jl_buf text;

	jl_buf_init(&text, (size_t)16 * JL_DOC_ROWS_MAX);
	jl_flow_runs(s, b->runs, &text);
	jl_buf_puts(s->out, first);
	jl_buf_puts(s->out, jl_buf_text(&text));
	jl_buf_puts(s->out, last);
	jl_buf_release(&text);
}

/* "**Assumed**: ..." */
static void labelled(const struct jl_sink *s, const struct jl_doc_block *b, const char *first, const char *last)
{
	jl_buf_puts(s->out, first);
	if (b->title && *b->title) {
		jl_buf_puts(s->out, "**");
		jl_markdown_safe(s->out, b->title);
		jl_buf_puts(s->out, "**: ");
	}
	paragraph(s, b, "", last);
}

static void heading(const struct jl_sink *s, const struct jl_doc_block *b)
{
	jl_buf_puts(s->out, b->level == 2 ? "## " : "### ");
	jl_markdown_safe(s->out, b->title);
	jl_buf_puts(s->out, "\n\n");
}

static void finding(const struct jl_sink *s, const struct jl_doc_block *b)
{
	jl_buf_printf(s->out, "**%s%s", jl_mark_text(b->mark), b->mark ? " " : "");
	jl_markdown_safe(s->out, b->title ? b->title : "");
	jl_buf_puts(s->out, "**  \n");
	paragraph(s, b, "", "\n\n");
}

static enum jl_status table(const struct jl_sink *s, const struct jl_doc_block *b)
{
	const char *title = b->title ? b->title : b->label;
	enum jl_status status;

	if (title) {
		jl_markdown_safe(s->out, title);
		jl_buf_puts(s->out, "\n\n");
	}
	status = jl_flow_table(s, b, 0);
	jl_buf_putc(s->out, '\n');
	return status;
}

static enum jl_status chart(const struct jl_sink *s, const struct jl_chart *c)
{
	struct jl_buf alt, lines;
	enum jl_status status;

	jl_buf_init(&alt, 1 << 16);
	jl_buf_init(&lines, s->out->limit_B);
	jl_chart_alt(&alt, c);
	jl_buf_puts(s->out, "*");
	jl_markdown_safe(s->out, jl_buf_text(&alt));
	jl_buf_puts(s->out, "*\n\n");
	status = jl_chart_to_text(c, 80, &lines, s->err);
	if (lines.len) /* the block supplies the last line end */
		lines.data[--lines.len] = '\0';
	jl_markdown_code(s->out, jl_buf_text(&lines), true);
	jl_buf_puts(s->out, "\n\n");
	jl_buf_release(&alt);
	jl_buf_release(&lines);
	return status;
}

static void ruler(const struct jl_sink *s, const struct jl_ruler *r)
{
	jl_num_print(s->out, &r->value);
	if (r->bound.value > 0) {
		jl_buf_puts(s->out, " / ");
		jl_num_print(s->out, &r->bound);
	}
	jl_buf_puts(s->out, "\n\n");
}

static enum jl_status block(const struct jl_sink *s, const struct jl_doc_block *b)
{
	switch (b->kind) {
	case JL_DOC_SECTION: heading(s, b); break;
	case JL_DOC_PARA:
	case JL_DOC_LEAD: paragraph(s, b, "", "\n\n"); break;
	case JL_DOC_ITEM: paragraph(s, b, b->numbered ? "1. " : "- ", "\n"); break;
	case JL_DOC_TABLE: return table(s, b);
	case JL_DOC_CHART: return chart(s, b->chart);
	case JL_DOC_FINDING: finding(s, b); break;
	case JL_DOC_ENTRY:
	case JL_DOC_NOTE: labelled(s, b, "- ", "\n"); break;
	case JL_DOC_CODE:
		jl_markdown_code(s->out, b->title, true);
		jl_buf_puts(s->out, "\n\n");
		break;
	case JL_DOC_RULER: ruler(s, b->ruler); break;
	case JL_DOC_MARKUP:
	case JL_N_DOC_BLOCK_KIND: break;
	}
	return JL_OK;
}

static bool is_listed(const struct jl_doc_block *b)
{
	return b->kind == JL_DOC_ITEM || b->kind == JL_DOC_ENTRY || b->kind == JL_DOC_NOTE;
}

enum jl_status jl_doc_to_markdown(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err)
{
	const struct jl_sink s = { .doc = doc, .out = out, .err = err };
	const struct jl_doc_block *before = NULL;
	enum jl_status status = JL_OK;

	JL_TRY(jl_flow_failed(&s));
	jl_buf_puts(out, "# ");
	jl_markdown_safe(out, doc->title ? doc->title : "");
	jl_buf_puts(out, "\n\n");
	if (doc->subtitle) {
		jl_markdown_safe(out, doc->subtitle);
		jl_buf_puts(out, "\n\n");
	}
	if (doc->date)
		jl_buf_printf(out, "%s · jeoul 저울\n\n", doc->date);
	jl_flow_legend(out);
	jl_buf_putc(out, '\n');
	for (const struct jl_doc_block *b = doc->blocks; !status && b; before = b, b = b->next) {
		if (before && is_listed(before) && !is_listed(b))
			jl_buf_putc(out, '\n');
		status = block(&s, b);
	}
	return status ? status : jl_flow_failed(&s);
}
