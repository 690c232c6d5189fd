/* One builder per topic: adds a result's text, tables and charts to a document. Commands print the document, reports include it; all wording
 * is here. This header has the common parts. */
#pragma once

#include "document/chart.h"
#include "predict/predict.h"

#define JL_METHOD "docs/METHOD.md"

/* Writes text, translated to the document's language, into the open element (heading, paragraph, cell). */
#define JL_SHOW(doc, en) jl_doc_text((doc), JL_(en))

/* The lead of a page: the question or the answer. */
#define JL_LEAD(doc, text) (jl_doc_lead(doc), jl_doc_strong((doc), (text)))

/* A sentence as one message, "|1 is about |2 faster", with |1 to |9 filled in: each language has its own order, and an ending after a slot
 * ("|1{은/는}") follows its last sound. */
struct jl_slot {
	struct jl_num num;
	const char *name, *text, *said; /* replaces the figure: a user's name; words; a formatted figure */
	enum jl_origin origin;          /* of the text */
	enum jl_mark mark;              /* of a cell */
};
/* clang-format off */
#define JL_FIG(n)             { .num = (n) }
#define JL_COUNT(n)           JL_FIG(jl_num_count((double)(n)))
#define JL_SHARE(frac)        JL_FIG(jl_num_share((frac), JL_ESTIMATED))
#define JL_WIDE(e, kind)      JL_FIG(jl_num_wide((e), (kind)))
#define JL_ABOUT(value, kind) JL_FIG(jl_num_digits(jl_num_about((value), (kind), NULL), 2))
#define JL_MEM(size_B)        JL_FIG(jl_num_about((size_B), JL_K_BYTES, jl_memory_text(JL_TXT, (size_B))))
#define JL_NAMED(n)           { .name = (n) }
#define JL_WORD(t)            { .text = (t) }
#define JL_FIGURE_TEXT(t, o)         { .said = (t), .origin = (o) }
#define JL_MARKED(m, t)       { .text = (t), .mark = (m) }
/* clang-format on */
#define JL_SENTENCE(doc, message, ...)                                                                                 \
	jl_show_sentence((doc), (message), (const struct jl_slot[]){ __VA_ARGS__ },                                    \
			 sizeof((const struct jl_slot[]){ __VA_ARGS__ }) / sizeof(struct jl_slot))
void jl_show_sentence(struct jl_doc *doc, const char *text, const struct jl_slot *slots, size_t n);
/* Cells of a row, or a whole one, of the same: JL_ROW(doc, is_best, JL_NAMED(gpu->id), JL_FIG(jl_num_count(n))). */
#define JL_CELLS(doc, ...)                                                                                             \
	jl_show_cells((doc), (const struct jl_slot[]){ __VA_ARGS__ },                                                  \
		      sizeof((const struct jl_slot[]){ __VA_ARGS__ }) / sizeof(struct jl_slot))
#define JL_ROW(doc, strong, ...) (JL_CELLS((doc), __VA_ARGS__), jl_doc_end_row((doc), (strong)))
void jl_show_cells(struct jl_doc *doc, const struct jl_slot *slots, size_t n);

/* Numbers by origin. `unit` is for plain numbers. */
struct jl_num jl_num_plain(double value, enum jl_kind kind, const char *unit, enum jl_origin origin,
			   const char *source);
struct jl_num jl_num_estimate(struct jl_estimate estimate, enum jl_kind kind, const char *unit);
struct jl_num jl_num_fact(const struct jl_fact *fact, enum jl_kind kind);
/* Estimated by docs/METHOD.md without an interval; `text`: given format, NULL: by kind. */
struct jl_num jl_num_about(double value, enum jl_kind kind, const char *text);
struct jl_num jl_num_times(double ratio); /* "1.9x", estimated */
struct jl_num jl_num_count(double n);     /* of given values: batches, GPUs */
struct jl_num jl_num_given(double value, enum jl_kind kind, const char *unit);
struct jl_num jl_num_share(double frac, enum jl_origin origin); /* "17 %" */
/* A figure with its interval: "0.87 s (0.64–1.2)". */
struct jl_num jl_num_wide(struct jl_estimate estimate, enum jl_kind kind);
/* "1.5–14 d": both ends in the unit of the longest. */
struct jl_num jl_num_ends(struct jl_doc *doc, const struct jl_estimate *estimate, double like_s);
/* Formatted as usual: "19,252", "2,271". `text` is copied when it enters a document. */
struct jl_num jl_num_written(struct jl_num num, const char *text);

/* A time in the unit of `like_s`, for comparisons: 2.4 d → 1.0 d. */
struct jl_num jl_num_time_like(struct jl_num num, double like_s);
/* A range as one figure, "98–202 GB/s": from `num` to `hi`, the unit once. */
struct jl_num jl_show_span(struct jl_doc *doc, struct jl_num num, double hi);

void jl_show_num(struct jl_doc *doc, struct jl_num num);  /* into the open element */
void jl_show_cell(struct jl_doc *doc, struct jl_num num); /* a cell; a dash if unknown */

struct jl_show_head {
	const char *en; /* a message; or English and displayed text separated by JL_HEAD_BOTH */
	int how;        /* enum jl_column; false and true: text and figures */
};
enum jl_column {
	JL_COLUMN_TEXT,   /* truncated on narrow terminals */
	JL_COLUMN_FIGURE, /* right-aligned */
	JL_COLUMN_KEEP    /* never truncated, a figure with its interval */
};
#define JL_HEAD_BOTH       "\x1f"
#define JL_COLUMN_LEAST(n) (JL_COLUMN_TEXT | (n) << 8) /* text never truncated below this width */
void jl_show_columns(struct jl_doc *doc, const char *title, const struct jl_show_head *heads, size_t n);
/* All headings in one message, "set|rows", with a letter per column: t text, f figures, k kept; "t12": at least 12 wide. */
void jl_show_table(struct jl_doc *doc, const char *title, const char *how, const char *heads);

/* An empty chart in the arena; NULL: out of memory (recorded in the document). */
struct jl_chart *jl_show_chart(struct jl_doc *doc, enum jl_chart_kind kind, const char *title, size_t n_series);
struct jl_chart_point *jl_show_series(struct jl_doc *doc, struct jl_chart *chart, size_t i, const char *name,
				      enum jl_origin origin, size_t n_points);

/* A part of a step's time or of memory looks the same in every chart: by its English name. */
int jl_part_look(const char *en);

/* Display name; without a name its kind: "rent". */
const char *jl_option_name(const char *name);

/* A figure behind a node's name, with its origin. */
void jl_show_node_num(struct jl_doc *doc, struct jl_tree_node *node, struct jl_num num);

/* A note of one text: "Price: rent: 2.14 USD/h"; its figures have this origin and source. */
void jl_show_note(struct jl_doc *doc, const char *label, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A labelled entry: "Bound by  compute: ..."; label "" continues the previous one. */
void jl_show_entry(struct jl_doc *doc, const char *label, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Both, for a sentence without slots. */
#define JL_NOTE(doc, label, origin, en)  jl_show_note((doc), (label), (origin), "%s", JL_(en))
#define JL_ENTRY(doc, label, origin, en) jl_show_entry((doc), (label), (origin), "%s", JL_(en))
/* Into the open element; pieces are separated: "batch 4 · sequence 512". */
void jl_show_sourced(struct jl_doc *doc, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void jl_show_piece(struct jl_doc *doc, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Text in the document's arena; "" if out of memory. */
const char *jl_doc_format(struct jl_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *jl_percent_text(struct jl_doc *doc, double frac); /* "17 %": whole ones */
struct jl_num jl_show_share(struct jl_doc *doc, double frac); /* the same as an estimated figure */

/* "0.87 s (0.64–1.2)"; "46 (38–55)": two digits, with separators. */
const char *jl_estimate_text(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *estimate, enum jl_kind kind);
const char *jl_about_range_text(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *estimate);
/* A quantity as usually written: memory in binary units, bare numbers. */
const char *jl_value_text(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, bool is_memory);
/* "2025-10-27, old ⚠": old rents are marked. */
bool jl_date_is_old(const char *date, long today);
#define JL_DATED_MAX 64
const char *jl_dated_text(char out[JL_DATED_MAX], const char *date, long today);
/* Three digits, "59.1", "1,050": the precision of costs; no exponent. */
const char *jl_rounded_text(struct jl_doc *doc, double value);
/* The same of won: "451,000,000 KRW"; in Korean "4억 5,100만 원", whose number alone is "4억 5,100만". */
const char *jl_krw_text(struct jl_doc *doc, double won);
const char *jl_krw_number_text(struct jl_doc *doc, double won);
/* "1 USD = 1,460 KRW (2025-11-14, old ⚠: give today's with --fx)": the only text with an exchange rate. */
const char *jl_show_fx(struct jl_doc *doc, double krw_per_usd, const char *date, long today);

/* How ambiguous names were read, and how to write the alternatives. */
void jl_show_readings(struct jl_doc *doc, const struct jl_readings *readings);

/* "Assumed: ...": defaults, each with the option that changes it. `options`: options of the command, NULL-terminated; NULL: no command. */
void jl_show_assumed(struct jl_doc *doc, const struct jl_notes *notes, const char *const *options);

/* For a wide interval: inputs that would narrow it, and the result; else a measurement. */
struct jl_narrow;
void jl_show_narrow(struct jl_doc *doc, const struct jl_estimate *answer_s, const struct jl_narrow *found, size_t n);

/* Parallel layout, one piece each; "PP 4×2": each stage has two chunks of layers. */
void jl_show_cut_pieces(struct jl_doc *doc, const struct jl_plan *p);
const char *jl_show_recompute(const struct jl_plan *p);
/* "ZeRO-1, TP 8+SP, selective recompute, micro-batch 1": settings that may differ between systems. `micro_batch` NAN: omitted. */
#define JL_CUT_TEXT_MAX 160
const char *jl_show_cut(char out[JL_CUT_TEXT_MAX], const struct jl_plan *plan, double micro_batch);

/* --- Topics with plain result structs of other modules; larger topics have their own headers. */
struct jl_build_answer;
struct jl_upgrade_answer;
struct jl_check_answer;
struct jl_cluster;
struct jl_nodes;
struct jl_soak;
struct jl_infer;
struct jl_plan_answer;
struct jl_fleet_answer;
struct jl_goodput;
struct jl_elapsed;
struct jl_batch_answer;
struct jl_fit;
struct jl_case;
struct jl_plan_effort;
struct jl_recommended;
struct jl_candidate;
struct jl_record;

/* Documents of `jeoul build`: findings on a parts list, and upgrades. */
/* All findings of a command; in a report only problems. */
void jl_show_build(struct jl_doc *doc, const struct jl_build_answer *answer, bool all);
void jl_show_upgrades(struct jl_doc *doc, const struct jl_upgrade_answer *answer, long today);

/* Topology of its devices; `fabric`: rates of its links, NULL if unknown. */
struct jl_fabric;
void jl_show_topology(struct jl_doc *doc, const char *title, const struct jl_sys *sys, const struct jl_fabric *fabric);

/* Verdicts: one in full, or a table with the worst in full. */
struct jl_trace_view;
void jl_show_trace(struct jl_doc *doc, const struct jl_trace_view *view, const char *where);
struct jl_run_view;
void jl_show_run(struct jl_doc *doc, const struct jl_run_view *view, const char *where);
void jl_show_check(struct jl_doc *doc, const struct jl_check_answer *answer);
/* Summary of the verdicts in a sentence and one mark: good only if more figures were judged than not. */
void jl_show_verdicts(struct jl_doc *doc, const struct jl_check_answer *answer);
enum jl_mark jl_check_mark(const struct jl_check_answer *answer);
/* Smallest slow-down that the check detects, or none. */
struct jl_expect;
void jl_show_power(struct jl_doc *doc, const struct jl_expect *expect);
/* collective.c: assumed PCIe lanes of two desktop cards. */
void jl_show_lanes(struct jl_doc *doc);

/* A cluster on one page. */
/* `ended`: reason of an early end, NULL: complete. */
void jl_show_cluster(struct jl_doc *doc, const struct jl_cluster *cluster, const char *over, const char *ended);

/* Machines of a fleet, compared with each other. */
void jl_show_nodes(struct jl_doc *doc, const struct jl_nodes *nodes);

/* Result of a long load test of a machine. */
void jl_show_soak(struct jl_doc *doc, const struct jl_soak *soak, const char *what);

/* A served model under a load: speed, bottleneck, cost, command lines. */
/* Warns if a request exceeds the model's context. */
void jl_show_context(struct jl_doc *doc, double tokens, double context);
void jl_show_infer(struct jl_doc *doc, const struct jl_infer *a);

/* Best plan: on one system, over kinds and numbers of GPUs, the largest batch; and all techniques that make it fit. */
void jl_show_plan(struct jl_doc *doc, const struct jl_plan_answer *answer, long today);
void jl_show_fleet(struct jl_doc *doc, const struct jl_fleet_answer *answer, long today);
void jl_show_batches(struct jl_doc *doc, const struct jl_batch_answer *answer);
void jl_show_fit(struct jl_doc *doc, const struct jl_fit *fit);

/* Goodput of a run. `options`: as in jl_show_assumed. */
/* A row of a table of several systems. */
void jl_show_goodput_row(struct jl_doc *doc, const struct jl_goodput *goodput, bool first);
void jl_show_goodput(struct jl_doc *doc, const struct jl_goodput *goodput, const char *const *options);
void jl_show_elapsed(struct jl_doc *doc, const struct jl_elapsed *elapsed,
		     const struct jl_prediction *prediction); /* an entry; none without a requested run */
/* An amount in the answer's currency, with its unit. */
struct jl_num jl_goodput_money(struct jl_doc *doc, const struct jl_goodput *goodput, double usd);
void jl_show_campus(struct jl_doc *doc, const struct jl_goodput *goodput, bool after); /* entries; after them tables */
void jl_show_whole_run(struct jl_doc *doc, const struct jl_goodput *goodput);          /* an entry */

/* Inside the topic. */
void jl_show_plan_case(struct jl_doc *doc, const char *label, const struct jl_case *c); /* an entry: the layout */
void jl_show_searched(struct jl_doc *doc, const struct jl_plan_effort *effort);

/* A recommendation: the pick and its reason, the best option of each kind, the Pareto front, warnings. */
void jl_show_recommended(struct jl_doc *doc, const struct jl_recommended *answer);

/* For reports: "2 × 8x h100-sxm5", its provider, and a table of candidates (list indices). */
const char *jl_show_machines(struct jl_doc *doc, const struct jl_candidate *candidate);
const char *jl_show_seller(struct jl_doc *doc, const struct jl_candidate *candidate);
void jl_show_candidates(struct jl_doc *doc, const struct jl_recommended *answer, const char *title, const int *rows,
			size_t n);
struct jl_num jl_num_run(const struct jl_candidate *candidate);  /* of one run, or one token */
struct jl_num jl_num_cost(const struct jl_candidate *candidate); /* of all the work */
void jl_show_caveats(struct jl_doc *doc, const struct jl_recommended *answer);

/* Records: one page, rows, and their fate in a store. */

/* A page with all facts of a record. */
void jl_show_record(struct jl_doc *doc, const struct jl_record *record);

/* Rows of `jeoul store list` and of `jeoul import`: opens a table, each record is a row. */
void jl_show_stored_table(struct jl_doc *doc);
void jl_show_stored_row(struct jl_doc *doc, const struct jl_record *record);
void jl_show_imported_table(struct jl_doc *doc);
void jl_show_imported_row(struct jl_doc *doc, const struct jl_record *record);
