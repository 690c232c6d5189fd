/* Judges a measured figure. Figures have an uncertainty (interval, noise), expectations a range and a hard bound. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/record.h"

enum jl_verdict {
	JL_VERDICT_FIRST,      /* nothing to compare it with yet */
	JL_VERDICT_UNJUDGED,   /* the range is so wide that it includes bad figures */
	JL_VERDICT_NOISY,      /* noisy: no verdict */
	JL_VERDICT_GOOD,       /* better than expected */
	JL_VERDICT_NORMAL,     /* in the expected range */
	JL_VERDICT_LOW,        /* worse, beyond the measurement's uncertainty */
	JL_VERDICT_HIGH,       /* above the best of such devices, although below the bound */
	JL_VERDICT_IMPOSSIBLE, /* above the hardware's limit: the figure or the description of the system is wrong */
	JL_VERDICT_WRONG,      /* the tool that measured it found wrong results */
	JL_N_VERDICT
};

struct jl_figure {
	double value;
	double lo95, hi95; /* NAN: not known */
	bool noisy, less_is_better;
	bool steady; /* noisy, but the noise does not affect the figure: judged */
};

struct jl_expect {
	double lo, value, hi; /* the 80 % interval, as `predict` gives it; NAN: no expectation */
	double bound;         /* NAN: none known */
	/* Thresholds of low (one healthy system in 1,000 below) and good (one in forty above). 0: lo and hi */
	double low, high;
	double most;   /* highest figure of a healthy system, as far as known; 0: not known */
	double notice; /* slow-down called low in 95 of 100 cases; 0: not known */
	bool unproven; /* an estimate never compared with healthy systems: only the bound is used */
};
#define JL_EXPECT_NONE                                                                                                 \
	((struct jl_expect){ .lo = __builtin_nan(""),                                                                  \
			     .value = __builtin_nan(""),                                                               \
			     .hi = __builtin_nan(""),                                                                  \
			     .bound = __builtin_nan("") })

/* Factor on half an 80 % interval: one healthy system in 1,000 lies below; one in twenty above. For normal errors, and intervals that hold 87
 * to 90 of 100 published figures (docs/METHOD.md). */
#define JL_VERDICT_LOW_WIDER 2.0
#define JL_VERDICT_TOP_WIDER 1.07
/* An expectation that cannot detect a slow-down of 1.5 times gives no verdict in the lower half of its range. */
#define JL_NOTICE_MOST 1.5
bool jl_expect_can_judge(const struct jl_expect *expect);

/* The bound applies to noisy figures too: noise never increases a rate. Low requires the whole interval of the figure to be outside. If the
 * range cannot detect a slow system, its lower half is not judged, unless the bound is so near that no healthy system is 1.5 times as fast. */
enum jl_verdict jl_verdict_of(const struct jl_figure *figure, const struct jl_expect *expect);
/* True for a normal figure outside the range, within its own uncertainty. */
bool jl_verdict_at_edge(const struct jl_figure *figure, const struct jl_expect *expect);
bool jl_verdict_is_bad(enum jl_verdict verdict);      /* low, too high, impossible or wrong: exit code 3 */
int jl_verdict_weight(enum jl_verdict verdict);       /* order of severity, the largest first */
const char *jl_verdict_name(enum jl_verdict verdict); /* in JSON: "normal" */
const char *jl_verdict_word(enum jl_verdict verdict);

/* The judged figure of a record: `metric`, or its first one if NULL. NAN: none. */
struct jl_figure jl_figure_of(const struct jl_record *record, const char *metric);

/* True if two records measure the same thing: kind, backend and parameters, without outcomes. */
bool jl_check_alike(const struct jl_record *a, const struct jl_record *b);

bool jl_check_on_gpu(const struct jl_record *record);

/* Small messages between processes of one host, and kernels of a few microseconds: random factor of 2. */
bool jl_check_jumps_by_itself(const struct jl_record *record);

/* Expectation from earlier quiet runs of the same thing: wider with fewer runs and larger spread. `records` newest first, mixed kinds; other
 * kinds, the same run and noisy records are ignored; at most JL_HISTORY_MAX count. */
#define JL_HISTORY_MAX     50
#define JL_HISTORY_TRUSTED 3 /* quiet runs after which a machine's history is used */
struct jl_history {
	size_t n, n_noisy;
	double drift_frac; /* newer half over older half (medians), minus 1; NAN: fewer than six runs */
	double spread_ln; /* run-to-run standard deviation (ln): robust, with a minimum for bimodal kinds; NAN: too few */
	struct jl_expect expect;
};
void jl_check_history(struct jl_history *ret_history, const struct jl_record *now,
		      const struct jl_record *const *records, size_t n_records, bool unsteady);

/* Detects hosts that run the same thing at different speeds in different processes, each quiet by its own account: neighbours on a shared
 * host, placement of processes and pages. Affects all figures of the host. */
#define JL_JUMP_TIMES 1.5
struct jl_steadiness {
	size_t n_figures; /* measured three times and more */
	size_t n_jumps;   /* of these, alternating by JL_JUMP_TIMES or more */
	double worst_times;
};
void jl_check_steadiness(struct jl_steadiness *ret, const struct jl_record *const *records, size_t n_records);

/* Compares two runs. A change counts if it exceeds JL_CHANGE_LEAST and the run-to-run spread, the intervals are disjoint, and the samples (if
 * any) are unlikely to share one distribution. */
#define JL_CHANGE_LEAST_FRAC 0.05
#define JL_CHANGE_P          0.01
struct jl_change {
	double ratio; /* now over before; above 1: better */
	double p;     /* probability of one common distribution; NAN: too few samples */
	double least; /* smallest relative change that counts */
	bool apart;   /* the 95 % intervals do not touch */
	enum jl_verdict verdict;
};
enum jl_status jl_check_change(struct jl_change *ret_change, const struct jl_record *now,
			       const struct jl_record *before, double spread_ln, struct jl_arena *arena,
			       struct jl_err *err);
