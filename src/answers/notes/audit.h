/* A note as written (Markdown, plain text or HTML, Korean or English): its figures with unit and place, its tables, the hardware
 * that it names; and what of it cannot be right.
 *
 *     bytes -> read.c (markup hidden, lines, sections) -> figures.c (value, unit, how exactly it was written) -> mentions.c (hardware)
 *           -> grids.c (tables and lists of "key: value" as rows and columns) -> rules -> findings.c (roots, what follows from them)
 *
 * The text that the rules see is as long as what was given: markup is blanked, never taken out, so that an offset is the same in both.
 * Everything is bounded; what lies beyond a limit is counted in `struct jl_audit_note`, not dropped in silence. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "catalog/catalog.h"

#define JL_AUDIT_MAX_B        ((size_t)32 << 20)
#define JL_AUDIT_LINES_MAX    1500000
#define JL_AUDIT_FIGURES_MAX  400000
#define JL_AUDIT_MENTIONS_MAX 100000
#define JL_AUDIT_ENTITIES_MAX 2000
#define JL_AUDIT_GRIDS_MAX    20000
#define JL_AUDIT_ROWS_MAX     400 /* of one table */
#define JL_AUDIT_COLS_MAX     24
#define JL_AUDIT_FINDINGS_MAX 4000
#define JL_AUDIT_LINE_MAX     20000 /* bytes of a line that is read as sentences */

/* What a figure is a number of. */
enum jl_qty {
	JL_Q_NUMBER,
	JL_Q_PERCENT,
	JL_Q_RATIO, /* 1.9x, 2배 */
	JL_Q_TIME,
	JL_Q_BYTES,
	JL_Q_BYTE_RATE,
	JL_Q_FLOP_RATE,
	JL_Q_POWER,
	JL_Q_ENERGY,
	JL_Q_FREQUENCY,
	JL_Q_USD,
	JL_Q_KRW,
	JL_Q_USD_RATE,
	JL_Q_USD_ENERGY,
	JL_Q_COUNT_RATE, /* samples/s */
	JL_Q_PARAMS,     /* 7B, 305M */
	JL_Q_COUNT,      /* 4개, 8 GPUs, 2 nodes */
	JL_Q_GENERATION, /* 3세대 */
	JL_Q_GPU_TIME,   /* GPU-hours: of one GPU */
	JL_N_Q
};

enum {
	JL_FIG_ABOUT = 1,
	JL_FIG_RANGE = 2,
	JL_FIG_LEAST = 4,
	JL_FIG_MOST = 8,
	JL_FIG_COMMAS = 16,
	JL_FIG_APPENDED = 32,
	JL_FIG_POWER = 64, /* 8.09e22 */
	JL_FIG_OPEN = JL_FIG_RANGE | JL_FIG_LEAST | JL_FIG_MOST
};

struct jl_figure {
	uint32_t at, len; /* with sign of money and unit, in the text */
	uint32_t num_at;  /* the digits alone */
	uint16_t num_len, unit_len;
	uint32_t line; /* index of its line */
	double lo, hi; /* SI; the same where it is no range */
	double digit;  /* one of the last digit written, SI */
	double scale;  /* one of its unit, SI */
	uint8_t qty, flags, decimals;
};

enum jl_line_kind { JL_LINE_TEXT, JL_LINE_BLANK, JL_LINE_HEAD, JL_LINE_CODE, JL_LINE_FENCE, JL_LINE_ROW, JL_LINE_RULE };

struct jl_line {
	uint32_t at, len; /* in the text */
	uint32_t section; /* line of the heading above it + 1; 0: none */
	uint32_t fig;     /* its first figure */
	uint32_t mention;
	uint16_t n_figs, n_mentions;
	uint8_t kind, level; /* level: of a heading */
};

/* What a spelling names. */
struct jl_entity {
	const struct jl_gpu *gpus[12]; /* the variants it may mean */
	size_t n_gpus;
	const struct jl_system *system;
	const struct jl_family *family; /* an architecture: Hopper */
};

struct jl_mention {
	uint32_t at, len, line;
	uint32_t entity; /* index */
	uint32_t count;  /* "4x V100", "RTX 3090 x10"; 0: none written */
};

enum jl_grid_kind { JL_GRID_TABLE, JL_GRID_RECORDS, JL_GRID_PRINTED /* by a program */ };

struct jl_cell {
	uint32_t at, len;
	int32_t fig;     /* the figure that is its value; -1: none */
	int32_t mention; /* hardware that it names; -1: none */
};

struct jl_grid { /* rows and columns; row 0 holds the heads, column 0 the labels */
	enum jl_grid_kind kind;
	uint32_t first_line, last_line;
	uint32_t n_rows, n_cols;
	struct jl_cell *cells; /* n_rows * n_cols */
	uint32_t *labels;      /* of each row: a hash of what it is called; 0: nothing */
	bool has_heads;
	bool sideways; /* what is measured stands in rows, what it is measured on in columns */
};

enum jl_audit_verdict {
	JL_AUDIT_WRONG,      /* does not follow from the note's own figures, or exceeds a bound */
	JL_AUDIT_DIFFERS,    /* from what is listed or defined */
	JL_AUDIT_UNLIKELY,   /* outside the 80 % interval of jeoul's estimate */
	JL_AUDIT_COMPATIBLE, /* inside it */
	JL_AUDIT_CONFIRMED,  /* follows exactly, or is what is listed */
	JL_AUDIT_CANNOT,     /* cannot be checked: no reference value */
	JL_AUDIT_GIVEN,      /* others follow from it */
	JL_N_AUDIT_VERDICT
};

#define JL_AUDIT_TEXT_MAX 320
#define JL_SHOULD_MAX     64

struct jl_audit_finding { /* one thing that is not right, and why */
	enum jl_audit_verdict verdict;
	const char *rule; /* "arithmetic", "table", "same-fact", "listed", "order", "bound", "expected", "confusion" */
	uint32_t at, len; /* in the note, as bytes */
	uint32_t line, column; /* from 1; column in characters */
	int32_t figure;        /* -1: words */
	const char *written;
	char premises[JL_SHOULD_MAX];                        /* what the note's own figures give; "": nothing */
	char estimate[JL_SHOULD_MAX];                        /* jeoul's, or what is listed */
	char en[JL_AUDIT_TEXT_MAX], text[JL_AUDIT_TEXT_MAX]; /* why: in English, and as the reader sees it */
	const char *source;                                  /* of what is listed; NULL */
	const struct jl_entity *about;                       /* hardware that it is about, where that is known */
	int32_t root;            /* index of the finding that it follows from; -1: it is one itself */
	bool shown;              /* its rule holds elsewhere or is a definition; others are for --all */
	bool beside;             /* compatible, but just outside the interval: no reader is to take it for one inside */
	bool impossible_premise; /* `premises` follows from figures that cannot be: not offered as a correction */
	char fix[JL_SHOULD_MAX]; /* what to write instead of the figure; "": nothing */
};

struct jl_audit_note {
	const char *file;
	const char *raw;
	size_t len;
	char *text;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	uint32_t *raw_line_at; /* where each line of the file begins */
	size_t n_raw_lines;
	struct jl_line *lines;
	size_t n_lines;
	struct jl_figure *figures;
	size_t n_figures;
	uint8_t *verdicts;   /* enum jl_audit_verdict of each figure */
	int32_t *finding_of; /* index of the finding on each figure + 1; 0: none */
	struct jl_entity *entities;
	size_t n_entities;
	struct jl_mention *mentions;
	size_t n_mentions;
	struct jl_grid *grids;
	size_t n_grids;
	struct jl_audit_finding *findings;
	size_t n_findings;
	size_t n[JL_N_AUDIT_VERDICT];                        /* figures */
	size_t n_shown, n_roots, n_doubts, n_hidden_by_rule; /* roots are wrong or differ, doubts unlikely */
	bool is_html;
	bool cut;               /* more figures, tables or findings than are looked at */
	size_t n_too_long;      /* lines and tables that are left out, wherever they stand */
	uint32_t too_long_line; /* where the first of them begins, from 1 */
	size_t n_replaced;      /* bytes that were no text: invalid UTF-8, control and direction characters */
	double work;            /* comparisons left for tables */
	size_t n_exact,
		n_open; /* sums of rounded figures that come out to the last digit, and that need the rounding */
};

/* Reads and judges. `text` is not changed and must outlive the note; `name` decides whether it is HTML. */
enum jl_status jl_audit_note_run(struct jl_audit_note **ret_note, const char *text, size_t len, const char *name,
				 const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* Is this a note, or a scenario with hand-written claims? By the name, else by how it begins. */
bool jl_audit_is_note(const char *name, const char *text, size_t len);

const char *jl_audit_verdict_key(enum jl_audit_verdict verdict); /* "wrong", "differs", ... */

/* Line (from 1) and column (characters, from 1) of an offset in the file. */
void jl_audit_place(const struct jl_audit_note *note, uint32_t at, uint32_t *ret_line, uint32_t *ret_column);
