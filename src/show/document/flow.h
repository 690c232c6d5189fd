/* Internal: shared by the plain text formats (terminal, text, Markdown). */
#pragma once

#include "document/chart.h"
#include "document/wrap.h"

struct jl_sink {
	const struct jl_doc *doc;
	struct jl_buf *out;
	struct jl_err *err;
	size_t width; /* 0: Markdown */
	bool colour;
	bool page;           /* output of a command, not a report */
	bool cell;           /* in a table cell: long addresses may be broken */
	bool plain;          /* in a cell whose column heading has the mark */
	size_t label_column; /* column of the text after a label */
};

static inline bool jl_sink_is_markdown(const struct jl_sink *s)
{
	return s->width == 0;
}

/* The escape sequence if colour is enabled, else "". */
static inline const char *jl_sink_colour(const struct jl_sink *s, const char *sequence)
{
	return s->colour ? sequence : "";
}

/* Removes control characters, which a terminal would execute. The second keeps line ends. */
void jl_terminal_safe(struct jl_buf *out, const char *text);
void jl_terminal_lines_safe(struct jl_buf *out, const char *text);
/* Markdown-escaped text: no markup, link, picture or HTML; no line ends. */
void jl_markdown_safe(struct jl_buf *out, const char *text);
/* In backticks, more of them than in `text`; `block`: on separate lines. */
void jl_markdown_code(struct jl_buf *out, const char *text, bool block);

/* Runs as one text; numbers stay with their units. */
void jl_flow_runs(const struct jl_sink *s, const struct jl_run *run, struct jl_buf *out);
enum jl_status jl_flow_table(const struct jl_sink *s, const struct jl_doc_block *b, size_t indent);
/* Colour of a verdict in command output, "" without one; a report has a sign. */
const char *jl_flow_mark_colour(const struct jl_sink *s, enum jl_mark mark);
/* "● measured · ...": legend of the marks, under the title. */
void jl_flow_legend(struct jl_buf *out);
/* Error: output too large. */
enum jl_status jl_flow_failed(const struct jl_sink *s);
