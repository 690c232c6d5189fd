/* One builder for each topic: takes a result and adds its text, tables and charts to a document. Commands print that document,
 * reports put it among their sections; no other place has words for it. This header has what the builders share. */
#pragma once

#include "document/chart.h"
#include "predict/predict.h"

#define JL_METHOD "docs/METHOD.md"

/* Writes text, translated to the document's language, into the open element (heading, paragraph, cell). */
#define JL_SHOW(doc, en) jl_doc_text((doc), JL_(en))

/* The lead of a page: the question or the answer. */
#define JL_LEAD(doc, text) (jl_doc_lead(doc), jl_doc_strong((doc), (text)))

/* A whole sentence as one message, "|1 is about |2 faster", in which |1 to |9 are what is filled in: each language has its own order, and
 * an ending behind one ("|1{은/는}") follows its last sound. */
struct jl_slot {
	struct jl_num num;
	const char *name, *text,
		*said; /* in place of the figure: a name given by the user; words; a figure that is written already */
	enum jl_origin origin; /* of what is said */
	enum jl_mark mark;     /* of a cell */
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

/* Numbers by where they come from. `unit` is for plain numbers. */
struct jl_num jl_num_plain(double value, enum jl_kind kind, const char *unit, enum jl_origin origin,
			   const char *source);
struct jl_num jl_num_estimate(struct jl_estimate estimate, enum jl_kind kind, const char *unit);
struct jl_num jl_num_fact(const struct jl_fact *fact, enum jl_kind kind);
/* Estimated by docs/METHOD.md without an interval; `text`: as it is written there, NULL: as its kind is. */
struct jl_num jl_num_about(double value, enum jl_kind kind, const char *text);
struct jl_num jl_num_times(double ratio); /* "1.9x", estimated */
struct jl_num jl_num_count(double n);     /* of what was given: batches, GPUs */
struct jl_num jl_num_given(double value, enum jl_kind kind, const char *unit);
struct jl_num jl_num_share(double frac, enum jl_origin origin); /* "17 %" */
/* A figure with its interval: "0.87 s (0.64–1.2)". */
struct jl_num jl_num_wide(struct jl_estimate estimate, enum jl_kind kind);
/* "1.5–14 d": both ends in the unit of the longest. */
struct jl_num jl_num_ends(struct jl_doc *doc, const struct jl_estimate *estimate, double like_s);
/* The same, written as people do there: "19,252", "2,271". `text` is copied when it enters a document. */
struct jl_num jl_num_written(struct jl_num num, const char *text);

/* A time in the unit that suits `like_s`, so that two of them can be set beside each other: 2.4 d → 1.0 d. */
struct jl_num jl_num_time_like(struct jl_num num, double like_s);
/* A range as one figure, "98–202 GB/s": from `num` to `hi`, the unit once. */
struct jl_num jl_show_span(struct jl_doc *doc, struct jl_num num, double hi);

void jl_show_num(struct jl_doc *doc, struct jl_num num);  /* into what is open */
void jl_show_cell(struct jl_doc *doc, struct jl_num num); /* a cell; a dash where it is not known */

struct jl_show_head {
	const char *en; /* a message; or English and what is read, JL_HEAD_BOTH between them */
	int how;        /* enum jl_column; false and true: text and figures */
};
enum jl_column {
	JL_COLUMN_TEXT,   /* cut where the terminal is narrow */
	JL_COLUMN_FIGURE, /* to the right */
	JL_COLUMN_KEEP    /* text that is never cut, a figure with its interval */
};
#define JL_HEAD_BOTH       "\x1f"
#define JL_COLUMN_LEAST(n) (JL_COLUMN_TEXT | (n) << 8) /* text that is never cut below so many columns */
void jl_show_columns(struct jl_doc *doc, const char *title, const struct jl_show_head *heads, size_t n);
/* The same where all heads are known: one message, "set|rows", and a letter a column: t text, f figures, k kept; "t12": never below 12. */
void jl_show_table(struct jl_doc *doc, const char *title, const char *how, const char *heads);

/* A chart in the arena with nothing in it; NULL: out of memory (the document knows). */
struct jl_chart *jl_show_chart(struct jl_doc *doc, enum jl_chart_kind kind, const char *title, size_t n_series);
struct jl_chart_point *jl_show_series(struct jl_doc *doc, struct jl_chart *chart, size_t i, const char *name,
				      enum jl_origin origin, size_t n_points);

/* A part of a step's time or of memory looks the same in every chart: by its English name. */
int jl_part_look(const char *en);

/* Without a name its kind is its name: "rent" as the reader says it. */
const char *jl_option_name(const char *name);

/* A figure behind a node's name, with its origin. */
void jl_show_node_num(struct jl_doc *doc, struct jl_tree_node *node, struct jl_num num);

/* A note of one text: "Price: rent: 2.14 USD/h"; its figures have this origin and source. */
void jl_show_note(struct jl_doc *doc, const char *label, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same behind a label, as an entry: "Bound by  compute: ..."; "" goes on below the last one. */
void jl_show_entry(struct jl_doc *doc, const char *label, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Both where it is a sentence without figures to fill in. */
#define JL_NOTE(doc, label, origin, en)  jl_show_note((doc), (label), (origin), "%s", JL_(en))
#define JL_ENTRY(doc, label, origin, en) jl_show_entry((doc), (label), (origin), "%s", JL_(en))
/* Into what is open; a piece is one of several: "batch 4 · sequence 512". */
void jl_show_sourced(struct jl_doc *doc, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void jl_show_piece(struct jl_doc *doc, enum jl_origin origin, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Text in the document's arena; "" where there is no memory. */
const char *jl_doc_format(struct jl_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *jl_percent_text(struct jl_doc *doc, double frac); /* "17 %": whole ones */
struct jl_num jl_show_share(struct jl_doc *doc, double frac); /* the same as an estimated figure */

/* "0.87 s (0.64–1.2)"; "46 (38–55)": two digits, with separators. */
const char *jl_estimate_text(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *estimate, enum jl_kind kind);
const char *jl_about_range_text(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *estimate);
/* A quantity as people write it: memory in binary prefixes, numbers bare. */
const char *jl_value_text(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, bool is_memory);
/* "2025-10-27, old ⚠": rents move, so an old one is marked. */
bool jl_date_is_old(const char *date, long today);
#define JL_DATED_MAX 64
const char *jl_dated_text(char out[JL_DATED_MAX], const char *date, long today);
/* Three digits, "59.1", "1,050": no cost is known better, never with an exponent. */
const char *jl_rounded_text(struct jl_doc *doc, double value);
/* The same of won: "451,000,000 KRW"; in Korean "4억 5,100만 원", whose number alone is "4억 5,100만". */
const char *jl_krw_text(struct jl_doc *doc, double won);
const char *jl_krw_number_text(struct jl_doc *doc, double won);
/* "1 USD = 1,460 KRW (2025-11-14, old ⚠: give today's with --fx)": the one place that states a rate. */
const char *jl_show_fx(struct jl_doc *doc, double krw_per_usd, const char *date, long today);

/* How names that others might read otherwise were read, and what to write for those. */
void jl_show_readings(struct jl_doc *doc, const struct jl_readings *readings);

/* "Assumed: ...": choices that were made for the person, each with the option of the command that would say it otherwise. `options`: the
 * names of those that the command has, NULL at the end; NULL: no command. */
void jl_show_assumed(struct jl_doc *doc, const struct jl_notes *notes, const char *const *options);

/* For a wide interval: which inputs would narrow it, and to what; where only a measurement would, that. */
struct jl_narrow;
void jl_show_narrow(struct jl_doc *doc, const struct jl_estimate *answer_s, const struct jl_narrow *found, size_t n);

/* How a model is cut over devices, a piece each; "PP 4×2": each stage has two parts of the layers. */
void jl_show_cut_pieces(struct jl_doc *doc, const struct jl_plan *p);
const char *jl_show_recompute(const struct jl_plan *p);
/* "ZeRO-1, TP 8+SP, selective recompute, micro-batch 1": what of a case may differ from a system to the next. `micro_batch` NAN: not said. */
#define JL_CUT_TEXT_MAX 160
const char *jl_show_cut(char out[JL_CUT_TEXT_MAX], const struct jl_plan *plan, double micro_batch);

/* --- Topics whose results are plain structs of other modules; larger topics have their own headers. */
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
/* All findings of a command; of a report those that stand against it. */
void jl_show_build(struct jl_doc *doc, const struct jl_build_answer *answer, bool all);
void jl_show_upgrades(struct jl_doc *doc, const struct jl_upgrade_answer *answer, long today);

/* How its devices are joined; `fabric`: what its links do, NULL where it is not known. */
struct jl_fabric;
void jl_show_topology(struct jl_doc *doc, const char *title, const struct jl_sys *sys, const struct jl_fabric *fabric);

/* Verdicts: one in full, or a table of many with the worst in full. */
struct jl_trace_view;
void jl_show_trace(struct jl_doc *doc, const struct jl_trace_view *view, const char *where);
struct jl_run_view;
void jl_show_run(struct jl_doc *doc, const struct jl_run_view *view, const char *where);
void jl_show_check(struct jl_doc *doc, const struct jl_check_answer *answer);
/* The verdicts in one sentence, and one mark for all: good only if more figures were judged than could not be judged. */
void jl_show_verdicts(struct jl_doc *doc, const struct jl_check_answer *answer);
enum jl_mark jl_check_mark(const struct jl_check_answer *answer);
/* The smallest slow-down that the check would notice, or that it can notice none. */
struct jl_expect;
void jl_show_power(struct jl_doc *doc, const struct jl_expect *expect);
/* collective.c: which PCIe lanes two cards of a desktop are taken to have. */
void jl_show_lanes(struct jl_doc *doc);

/* A cluster on one page. */
/* `ended`: why it ended early, NULL: it did not. */
void jl_show_cluster(struct jl_doc *doc, const struct jl_cluster *cluster, const char *over, const char *ended);

/* Machines of a fleet against each other. */
void jl_show_nodes(struct jl_doc *doc, const struct jl_nodes *nodes);

/* How a machine stood a long load. */
void jl_show_soak(struct jl_doc *doc, const struct jl_soak *soak, const char *what);

/* A served model under a load: how fast, what bounds it, what it costs, how to start it. */
/* Where a request is longer than the model was made for: says so. */
void jl_show_context(struct jl_doc *doc, double tokens, double context);
void jl_show_infer(struct jl_doc *doc, const struct jl_infer *a);

/* The best way to run it: on one system, over kinds and numbers of GPUs, the largest batch; and every technique that makes it fit. */
void jl_show_plan(struct jl_doc *doc, const struct jl_plan_answer *answer, long today);
void jl_show_fleet(struct jl_doc *doc, const struct jl_fleet_answer *answer, long today);
void jl_show_batches(struct jl_doc *doc, const struct jl_batch_answer *answer);
void jl_show_fit(struct jl_doc *doc, const struct jl_fit *fit);

/* What a cluster delivers of a run. `options`: as in jl_show_assumed. */
/* A row of a table of several systems. */
void jl_show_goodput_row(struct jl_doc *doc, const struct jl_goodput *goodput, bool first);
void jl_show_goodput(struct jl_doc *doc, const struct jl_goodput *goodput, const char *const *options);
void jl_show_elapsed(struct jl_doc *doc, const struct jl_elapsed *elapsed,
		     const struct jl_prediction *prediction); /* an entry; none where no run was asked for */
/* An amount in the answer's currency, with its unit. */
struct jl_num jl_goodput_money(struct jl_doc *doc, const struct jl_goodput *goodput, double usd);
void jl_show_campus(struct jl_doc *doc, const struct jl_goodput *goodput, bool after); /* entries; after them tables */
void jl_show_whole_run(struct jl_doc *doc, const struct jl_goodput *goodput);          /* an entry */

/* Inside the topic. */
void jl_show_plan_case(struct jl_doc *doc, const char *label, const struct jl_case *c); /* an entry: how it is cut */
void jl_show_searched(struct jl_doc *doc, const struct jl_plan_effort *effort);

/* A recommendation: the pick and why, the best of each way to have it, what nothing beats, what to beware of. */
void jl_show_recommended(struct jl_doc *doc, const struct jl_recommended *answer);

/* For reports: "2 × 8x h100-sxm5", who sells it, and a table of candidates (their places in the list). */
const char *jl_show_machines(struct jl_doc *doc, const struct jl_candidate *candidate);
const char *jl_show_seller(struct jl_doc *doc, const struct jl_candidate *candidate);
void jl_show_candidates(struct jl_doc *doc, const struct jl_recommended *answer, const char *title, const int *rows,
			size_t n);
struct jl_num jl_num_run(const struct jl_candidate *candidate);  /* of one run, or one token */
struct jl_num jl_num_cost(const struct jl_candidate *candidate); /* of all the work */
void jl_show_caveats(struct jl_doc *doc, const struct jl_recommended *answer);

/* Records as people read them: a page of one, rows of many, what became of them in a store. */

/* A page with all facts of a record. */
void jl_show_record(struct jl_doc *doc, const struct jl_record *record);

/* Rows of `jeoul store list` and of `jeoul import`: a table is opened, and each record is a row. */
void jl_show_stored_table(struct jl_doc *doc);
void jl_show_stored_row(struct jl_doc *doc, const struct jl_record *record);
void jl_show_imported_table(struct jl_doc *doc);
void jl_show_imported_row(struct jl_doc *doc, const struct jl_record *record);
