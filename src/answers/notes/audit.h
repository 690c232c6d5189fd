/* Audits a note (Markdown, plain text or HTML; Korean or English): finds its figures with unit and place, its tables, the hardware it names, and
 * errors in them.
 *
 * bytes -> read.c (markup hidden, lines, sections) -> figures.c (value, unit, precision as written) -> mentions.c (hardware) ->
 * grids.c (tables and lists of "key: value" as rows and columns) -> rules -> findings.c (root causes and their consequences)
 *
 * The text passed to the rules has the same length as the input: markup is blanked, not removed, so that offsets are equal in both. All sizes
 * are bounded; `struct jl_audit_note` counts what exceeds a limit. */
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
#define JL_AUDIT_ROWS_MAX     400 /* per table */
#define JL_AUDIT_COLS_MAX     24
#define JL_AUDIT_FINDINGS_MAX 4000
#define JL_AUDIT_LINE_MAX     20000 /* longer lines are not parsed as sentences */

/* Quantity of a figure. */
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
	JL_Q_COUNT_RATE, /* e.g. samples/s */
	JL_Q_PARAMS,     /* 7B, 305M */
	JL_Q_COUNT,      /* 4개, 8 GPUs, 2 nodes */
	JL_Q_GENERATION, /* 3세대 */
	JL_Q_GPU_TIME,   /* GPU-hours */
	JL_N_Q
};

enum {
	JL_FIG_ABOUT = 1,
	JL_FIG_RANGE = 2,
	JL_FIG_LEAST = 4,
	JL_FIG_MOST = 8,
	JL_FIG_COMMAS = 16,
	JL_FIG_APPENDED = 32,
	JL_FIG_POWER = 64, /* power of ten: 8.09e22 */
	JL_FIG_OPEN = JL_FIG_RANGE | JL_FIG_LEAST | JL_FIG_MOST
};

struct jl_figure {
	uint32_t at, len; /* in the text, including currency sign and unit */
	uint32_t num_at;  /* digits only */
	uint16_t num_len, unit_len;
	uint32_t line; /* index of its line */
	double lo, hi; /* SI; equal unless it is a range */
	double digit;  /* value of one in the last written digit, SI */
	double scale;  /* value of its unit, SI */
	uint8_t qty, flags, decimals;
};

enum jl_line_kind { JL_LINE_TEXT, JL_LINE_BLANK, JL_LINE_HEAD, JL_LINE_CODE, JL_LINE_FENCE, JL_LINE_ROW, JL_LINE_RULE };

struct jl_line {
	uint32_t at, len; /* in the text */
	uint32_t section; /* line of the heading above + 1; 0: none */
	uint32_t fig;     /* index of its first figure */
	uint32_t mention;
	uint16_t n_figs, n_mentions;
	uint8_t kind, level; /* level of a heading */
};

/* Hardware that a name refers to. */
struct jl_entity {
	const struct jl_gpu *gpus[12]; /* possible variants */
	size_t n_gpus;
	const struct jl_system *system;
	const struct jl_family *family; /* an architecture, e.g. Hopper */
};

struct jl_mention {
	uint32_t at, len, line;
	uint32_t entity; /* index of the entity */
	uint32_t count;  /* from "4x V100", "RTX 3090 x10"; 0: none */
};

enum jl_grid_kind { JL_GRID_TABLE, JL_GRID_RECORDS, JL_GRID_PRINTED /* by a program */ };

struct jl_cell {
	uint32_t at, len;
	int32_t fig;     /* index of the figure that is its value; -1: none */
	int32_t mention; /* index of the hardware that it names; -1: none */
};

struct jl_grid { /* row 0 holds the headers, column 0 the labels */
	enum jl_grid_kind kind;
	uint32_t first_line, last_line;
	uint32_t n_rows, n_cols;
	struct jl_cell *cells; /* n_rows * n_cols */
	uint32_t *labels;      /* hash of each row's label; 0: none */
	bool has_heads;
	bool sideways; /* transposed: metrics in rows, systems in columns */
};

enum jl_audit_verdict {
	JL_AUDIT_WRONG,      /* contradicts the note's own figures, or exceeds a bound */
	JL_AUDIT_DIFFERS,    /* contradicts a listed value or a definition */
	JL_AUDIT_UNLIKELY,   /* outside the 80 % interval of jeoul's estimate */
	JL_AUDIT_COMPATIBLE, /* inside the interval */
	JL_AUDIT_CONFIRMED,  /* derived exactly, or equals the listed value */
	JL_AUDIT_CANNOT,     /* no reference value */
	JL_AUDIT_GIVEN,      /* an input of other figures */
	JL_N_AUDIT_VERDICT
};

#define JL_AUDIT_TEXT_MAX 320
#define JL_SHOULD_MAX     64

struct jl_audit_finding { /* an error and its reason */
	enum jl_audit_verdict verdict;
	const char *rule; /* "arithmetic", "table", "same-fact", "listed", "order", "bound", "expected", "confusion" */
	uint32_t at, len; /* byte offset in the note */
	uint32_t line, column; /* from 1; column in characters */
	int32_t figure;        /* -1: words instead of a figure */
	const char *written;
	char premises[JL_SHOULD_MAX];                        /* value by the note's own figures; "": none */
	char estimate[JL_SHOULD_MAX];                        /* jeoul's estimate, or the listed value */
	char en[JL_AUDIT_TEXT_MAX], text[JL_AUDIT_TEXT_MAX]; /* reason in English and in the user's language */
	const char *source;                                  /* source of the listed value; NULL: none */
	const struct jl_entity *about;                       /* hardware concerned; NULL: unknown */
	int32_t root;                                        /* index of the root finding; -1: this is a root */
	bool shown;                                          /* certain enough to be shown; others appear with --all */
	bool beside;             /* compatible, but slightly outside the interval: must not be displayed as inside */
	bool impossible_premise; /* `premises` is computed from impossible figures: not offered as a correction */
	char fix[JL_SHOULD_MAX]; /* replacement for the figure; "": none */
};

struct jl_audit_note {
	const char *file;
	const char *raw;
	size_t len;
	char *text;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	uint32_t *raw_line_at; /* start of each line in the file */
	size_t n_raw_lines;
	struct jl_line *lines;
	size_t n_lines;
	struct jl_figure *figures;
	size_t n_figures;
	uint8_t *verdicts;   /* enum jl_audit_verdict per figure */
	int32_t *finding_of; /* index of the figure's finding + 1; 0: none */
	struct jl_entity *entities;
	size_t n_entities;
	struct jl_mention *mentions;
	size_t n_mentions;
	struct jl_grid *grids;
	size_t n_grids;
	struct jl_audit_finding *findings;
	size_t n_findings;
	size_t n[JL_N_AUDIT_VERDICT];                        /* number of figures per verdict */
	size_t n_shown, n_roots, n_doubts, n_hidden_by_rule; /* roots: wrong or differing; doubts: unlikely */
	bool is_html;
	bool cut;               /* limits of figures, tables or findings were exceeded */
	size_t n_too_long;      /* lines and tables skipped for their size */
	uint32_t too_long_line; /* first of these, from 1 */
	size_t n_replaced;      /* bytes replaced: invalid UTF-8, control and direction characters */
	double work;            /* remaining comparisons for tables */
	size_t n_exact,
		n_open; /* sums of rounded figures that match to the last digit; that match only within rounding */
};

/* Parses and checks a note. `text` is not modified and must outlive the note; `name` determines whether it is HTML. */
enum jl_status jl_audit_note_run(struct jl_audit_note **ret_note, const char *text, size_t len, const char *name,
				 const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* True for a note, false for a scenario with hand-written claims; decides by name, otherwise by the first lines. */
bool jl_audit_is_note(const char *name, const char *text, size_t len);

const char *jl_audit_verdict_key(enum jl_audit_verdict verdict); /* "wrong", "differs", ... */

/* Line (from 1) and column (in characters, from 1) of an offset. */
void jl_audit_place(const struct jl_audit_note *note, uint32_t at, uint32_t *ret_line, uint32_t *ret_column);
