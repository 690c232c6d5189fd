/* A document that can be shown as text, Markdown, HTML or JSON: a report, or all that a command prints.
 *
 * It is built in one language. A number is never just text: it carries its value, unit, origin, source and interval, so that every
 * rendering can show where it comes from. Text may hold names with digits in them (RTX 3090, ZeRO-2); a bare number in text is a
 * mistake of the author and a test finds it in the page.
 *
 *     jl_doc_section(&doc, "scaling", "Scaling");
 *     jl_doc_para(&doc); jl_doc_text(&doc, "Ten cards reach "); jl_doc_num(&doc, &speedup); jl_doc_end(&doc);
 *     jl_doc_table(&doc, "caption", columns, n); jl_doc_cell_text(...); jl_doc_cell_num(...); jl_doc_end_row(&doc); jl_doc_end(&doc); */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "document/num.h"

struct jl_chart;

enum jl_run_kind {
	JL_RUN_TEXT,
	JL_RUN_NUM,
	JL_RUN_NAME,
	JL_RUN_STRONG,
	JL_RUN_CODE,
	JL_RUN_SAID,   /* a sentence of another module with figures in it; `num` has their origin and source */
	JL_RUN_BREAK,  /* a new line of the same paragraph */
	JL_RUN_DOT,    /* separates two pieces of a line: " · ", or a line break if the next piece does not fit */
	JL_RUN_BAR,    /* num.value: filled share, num.n_digits: cells */
	JL_RUN_LINK,   /* `text` links to `ref` */
	JL_RUN_ANCHOR, /* `ref` names this position */
	JL_RUN_REF     /* a section: `ref` is its id, `text` its title after jl_doc_resolve */
};

struct jl_run { /* part of a paragraph or cell */
	enum jl_run_kind kind;
	const char *text;
	const char *ref;
	struct jl_num num;
	struct jl_run *next;
};

enum jl_mark { JL_MARK_NONE, JL_MARK_GOOD, JL_MARK_WARN, JL_MARK_BAD, JL_MARK_UNKNOWN };

struct jl_doc_cell {
	struct jl_run *runs;
	enum jl_mark mark;
	struct jl_doc_cell *next;
};

struct jl_doc_row {
	struct jl_doc_cell *cells;
	bool strong; /* highlighted row */
	struct jl_doc_row *next;
};

struct jl_doc_column {
	const char *head;
	const char *key;  /* English key for JSON; NULL: the heading */
	const char *unit; /* shown under the heading if shared by all cells; NULL: none */
	bool right;       /* right-aligned: numbers */
	bool keep;        /* never truncated on narrow terminals */
	size_t min_width; /* minimum width when truncated; 0: 8 */
};

enum jl_doc_block_kind {
	JL_DOC_SECTION,
	JL_DOC_PARA,
	JL_DOC_ITEM,
	JL_DOC_TABLE,
	JL_DOC_CHART,
	JL_DOC_FINDING,
	JL_DOC_LEAD,   /* answer or question in a line or two, first on a page */
	JL_DOC_ENTRY,  /* labelled entry: "Bound by  gradient exchange"; adjacent ones form a list */
	JL_DOC_NOTE,   /* "Assumed: ...": method notes, in small print */
	JL_DOC_CODE,   /* preformatted lines to copy */
	JL_DOC_RULER,  /* position of a figure in a range */
	JL_DOC_MARKUP, /* pages only: `title` is HTML, escaped by its builder */
	JL_N_DOC_BLOCK_KIND
};

/* ─────┤▒▒▒▒┼▒▒▒▒├────┃ 202 GB/s, with the figure below. Log scale. */
struct jl_ruler {
	struct jl_num value;
	double lo, middle, hi; /* expected range */
	struct jl_num bound;   /* upper bound; value NAN: unknown */
};
/* Position on the ruler: 0 is the left end, 1 the right one. */
double jl_ruler_at(const struct jl_ruler *r, double value);
/* True where the bound lies within the ruler's range. */
bool jl_ruler_bounded(const struct jl_ruler *r);

struct jl_doc_block {
	enum jl_doc_block_kind kind;
	const char *id;    /* section: stable, for links and JSON */
	const char *title; /* section, table, finding; label of an entry or note; text of code */
	const char *label; /* table: shown after this label, like an entry; NULL: no label */
	bool asked;        /* finding: the title is a user's question; its figures are given */
	int level;         /* section: 2 or 3 */
	enum jl_mark mark; /* finding, note, entry */
	bool gap;          /* preceded by an empty line */
	bool fold;         /* section: details; collapsed on a page */
	bool numbered;     /* item */
	bool picture;      /* chart: only in graphic output; a terminal shows the table */
	bool sketch;       /* table: only without graphics */
	struct jl_run *runs;
	const struct jl_doc_column *columns;
	size_t n_columns;
	struct jl_doc_row *rows;
	size_t n_rows;
	const struct jl_chart *chart;
	const struct jl_ruler *ruler;
	struct jl_doc_block *next;
};

/* Sources of the document's figures. On a page, a mark links to "s1", "s2", ... by index. */
struct jl_doc_source {
	enum jl_origin origin;
	const char *id, *date; /* as in figures; or NULL */
	size_t n;              /* number of figures */
};
#define JL_DOC_SOURCES_MAX 64

struct jl_doc {
	struct jl_arena *arena;
	const char *title, *subtitle;
	const char *date; /* YYYY-MM-DD of creation */
	struct jl_doc_block *blocks, *last;
	size_t n_blocks;
	const struct jl_doc_source *sources; /* used in it */
	size_t n_sources;
	enum jl_status failed; /* out of memory or too large: sticks */
	bool gap;              /* the next block stands apart */
	bool brief;            /* what is assumed is one line */
	bool wide;             /* charts as wide as the live page's column, not as a report's */
	bool flush;            /* tables begin at the edge of a terminal: lists, which people cut and sort */
	/* where the next run goes */
	struct jl_run **tail;
	struct jl_doc_row **row_tail;
	struct jl_doc_cell **cell_tail;
};

#define JL_DOC_BLOCKS_MAX 20000
#define JL_DOC_ROWS_MAX   20000 /* per table */

void jl_doc_init(struct jl_doc *doc, struct jl_arena *arena, const char *title);

void jl_doc_section(struct jl_doc *doc, const char *id, const char *title);
void jl_doc_subsection(struct jl_doc *doc, const char *id, const char *title);
/* Opens a block for the calls below. */
void jl_doc_open(struct jl_doc *doc, enum jl_doc_block_kind kind, enum jl_mark mark, const char *title);
#define jl_doc_para(DOC) jl_doc_open((DOC), JL_DOC_PARA, JL_MARK_NONE, NULL)
#define jl_doc_item(DOC) jl_doc_open((DOC), JL_DOC_ITEM, JL_MARK_NONE, NULL) /* list item */
#define jl_doc_lead(DOC) jl_doc_open((DOC), JL_DOC_LEAD, JL_MARK_NONE, NULL)
#define jl_doc_entry(DOC, LABEL)                                                                                       \
	jl_doc_open((DOC), JL_DOC_ENTRY, JL_MARK_NONE, (LABEL)) /* "": continues the previous one */
#define jl_doc_note(DOC, MARK, TEXT) jl_doc_open((DOC), JL_DOC_NOTE, (MARK), (TEXT))       /* NULL: no label */
#define jl_doc_lines(DOC, TEXT)      jl_doc_open((DOC), JL_DOC_CODE, JL_MARK_NONE, (TEXT)) /* preformatted */
/* Title and severity of a finding; text for reason and remedy follows. */
#define jl_doc_finding(DOC, MARK, TEXT) jl_doc_open((DOC), JL_DOC_FINDING, (MARK), (TEXT))
void jl_doc_step(struct jl_doc *doc);                                /* of a numbered list */
void jl_doc_ruler(struct jl_doc *doc, const struct jl_ruler *ruler); /* copied */
void jl_doc_gap(struct jl_doc *doc);                                 /* empty line before the next block */
void jl_doc_fold(struct jl_doc *doc);                                /* collapses the section just opened */
/* Cuts the document to the one-page brief: the part before the first section. */
void jl_doc_shorten(struct jl_doc *doc);

/* Into the open paragraph, item, finding or cell. Text is copied. */
void jl_doc_run(struct jl_doc *doc, enum jl_run_kind kind, const char *text, const char *ref);
#define jl_doc_text(DOC, TEXT)      jl_doc_run((DOC), JL_RUN_TEXT, (TEXT), NULL)
#define jl_doc_strong(DOC, TEXT)    jl_doc_run((DOC), JL_RUN_STRONG, (TEXT), NULL)
#define jl_doc_code(DOC, TEXT)      jl_doc_run((DOC), JL_RUN_CODE, (TEXT), NULL)
#define jl_doc_dot(DOC)             jl_doc_run((DOC), JL_RUN_DOT, " · ", NULL)
#define jl_doc_break(DOC)           jl_doc_run((DOC), JL_RUN_BREAK, "\n", NULL)
#define jl_doc_link(DOC, TEXT, URL) jl_doc_run((DOC), JL_RUN_LINK, (TEXT), (URL))
#define jl_doc_anchor(DOC, ID)      jl_doc_run((DOC), JL_RUN_ANCHOR, "", (ID))
/* "RTX 3090", "10x rtx-3090 via pcie4-no-p2p": names with digits */
#define jl_doc_name(DOC, TEXT) jl_doc_run((DOC), JL_RUN_NAME, (TEXT), NULL)
/* "→ Scaling": reference. Nothing if the document has no such section. */
#define jl_doc_ref(DOC, ID) jl_doc_run((DOC), JL_RUN_REF, "", (ID))
void jl_doc_textf(struct jl_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void jl_doc_num(struct jl_doc *doc, const struct jl_num *num);
/* A sentence from elsewhere (a finding, a note, an error): its figures all have this origin and source. */
void jl_doc_sourced(struct jl_doc *doc, const char *text, enum jl_origin origin, const char *source);
void jl_doc_bar(struct jl_doc *doc, double frac, int n_cells);

/* Call after all sections: resolves the titles of references. */
void jl_doc_resolve(struct jl_doc *doc);

/* Removes the blocks added since. */
struct jl_doc_place {
	struct jl_doc_block *last;
	size_t n_blocks;
};
struct jl_doc_place jl_doc_here(const struct jl_doc *doc);
void jl_doc_back(struct jl_doc *doc, struct jl_doc_place place);

/* Sources of the figures so far, each once; returns their number. */
size_t jl_doc_sources(const struct jl_doc *doc, struct jl_doc_source ret_sources[JL_DOC_SOURCES_MAX]);
/* Index of the source of a figure; n: not among them. */
size_t jl_doc_source_of(const struct jl_doc_source *sources, size_t n, const struct jl_num *num);

/* Common origin of a column's figures, shown in its heading; JL_ORIGIN_NONE: mixed. */
enum jl_origin jl_doc_column_origin(const struct jl_doc_block *block, size_t column);

/* `columns` must outlive the document. */
void jl_doc_table(struct jl_doc *doc, const char *title, const struct jl_doc_column *columns, size_t n_columns);
/* After a label, like an entry; columns without headings. */
void jl_doc_entry_table(struct jl_doc *doc, const char *label, const struct jl_doc_column *columns, size_t n_columns);
void jl_doc_cell(struct jl_doc *doc, enum jl_mark mark); /* opens a cell; the calls above fill it */
void jl_doc_cell_text(struct jl_doc *doc, const char *text);
void jl_doc_cell_name(struct jl_doc *doc, const char *text);
void jl_doc_cell_num(struct jl_doc *doc, const struct jl_num *num);
void jl_doc_end_row(struct jl_doc *doc, bool strong);

void jl_doc_chart(struct jl_doc *doc, const struct jl_chart *chart);   /* must outlive the document */
void jl_doc_picture(struct jl_doc *doc, const struct jl_chart *chart); /* only in graphic output */
void jl_doc_sketch(struct jl_doc *doc);                                /* makes the last table text-only */

/* Output formats. None loses data: JSON holds every number with its metadata. */
/* Terminal output of a command: no underlined headings, no marks after figures. */
enum jl_status jl_doc_to_terminal(const struct jl_doc *doc, size_t width, bool colour, struct jl_buf *out,
				  struct jl_err *err);
/* A report as text. */
enum jl_status jl_doc_to_text(const struct jl_doc *doc, size_t width, bool colour, struct jl_buf *out,
			      struct jl_err *err);
enum jl_status jl_doc_to_markdown(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err);
enum jl_status jl_doc_to_html(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err);
/* Body of that page, for a page with its own head. */
enum jl_status jl_doc_to_fragment(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err);
enum jl_status jl_doc_to_json(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err);

const char *jl_mark_text(enum jl_mark mark);       /* "✓" "!" "✗" "?" or "" */
const char *jl_origin_word(enum jl_origin origin); /* "measured", ... "given" in the user's language */
