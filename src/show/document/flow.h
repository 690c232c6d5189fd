/* Inside the document: what its forms of plain text share (terminal, text, Markdown). */
#pragma once

#include "document/chart.h"
#include "document/wrap.h"

struct jl_sink {
	const struct jl_doc *doc;
	struct jl_buf *out;
	struct jl_err *err;
	size_t width; /* 0: Markdown */
	bool colour;
	bool page;           /* what a command prints, not a report */
	bool cell;           /* in a table, where a long address can go on below */
	bool plain;          /* in a cell whose column has the mark of the figures */
	size_t label_column; /* where the text behind a label begins */
};

static inline bool jl_sink_is_markdown(const struct jl_sink *s)
{
	return s->width == 0;
}

/* The escape sequence where the sink has colour, else "". */
static inline const char *jl_sink_colour(const struct jl_sink *s, const char *sequence)
{
	return s->colour ? sequence : "";
}

/* A terminal takes control characters for orders: none of them comes through. The second keeps the ends of lines. */
void jl_terminal_safe(struct jl_buf *out, const char *text);
void jl_terminal_lines_safe(struct jl_buf *out, const char *text);
/* Text in Markdown: nothing of it is markup, a link, a picture or HTML; no line ends. */
void jl_markdown_safe(struct jl_buf *out, const char *text);
/* Between backticks, more of them than `text` has; `block`: in separate lines. */
void jl_markdown_code(struct jl_buf *out, const char *text, bool block);

/* Runs as one text; numbers keep to their units. */
void jl_flow_runs(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out);
enum jl_status jl_flow_table(const struct jl_sink *s, const struct jl_doc_block *b, size_t indent);
/* A verdict's colour in what a command prints, "" without one; a report has its sign instead. */
const char *jl_flow_mark_colour(const struct jl_sink *s, enum jl_mark mark);
/* "● measured · ...": what the marks of a report mean, under its title. */
void jl_flow_legend(struct jl_buf *out);
/* The whole of it did not fit. */
enum jl_status jl_flow_failed(const struct jl_sink *s);
