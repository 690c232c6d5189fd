/* Is a measured figure what it should be? Figures come with their own doubt (interval, noise), expectations with
 * theirs (range, hard bound). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/record.h"

enum jl_verdict {
	JL_VERDICT_FIRST,      /* nothing to compare it with yet */
	JL_VERDICT_UNJUDGED,   /* the range is so wide that a bad figure would lie in it */
	JL_VERDICT_NOISY,      /* unsteady, on a disturbed machine: withheld */
	JL_VERDICT_GOOD,       /* better than expected */
	JL_VERDICT_NORMAL,     /* in the expected range */
	JL_VERDICT_LOW,        /* worse, and not by the doubt of the measurement */
	JL_VERDICT_HIGH,       /* better than such a device does, below its bound as it may be */
	JL_VERDICT_IMPOSSIBLE, /* beyond what the hardware can do: the figure, or what is said of the system, is wrong */
	JL_VERDICT_WRONG,      /* the tool that measured it found wrong results */
	JL_N_VERDICT
};

struct jl_figure {
	double value;
	double lo95, hi95; /* NAN: not known */
	bool noisy, less_is_better;
	bool steady; /* noisy, but by what does not move the figure: it is judged */
};

struct jl_expect {
	double lo, value, hi; /* the 80 % interval, as `predict` gives it; NAN: no expectation */
	double bound;         /* NAN: none known */
	/* What it takes to be called low (one healthy system in 1,000 lies below) or good (one in forty above). 0: lo and hi themselves */
	double low, high;
	double most;   /* more than any healthy one reaches, as far as is known; 0: not known */
	double notice; /* a system that is so many times as slow is called low in 95 of 100 cases; 0: not known */
	bool unproven; /* an estimate that was never held against healthy systems: only the bound speaks */
};
#define JL_EXPECT_NONE                                                                                                 \
	((struct jl_expect){ .lo = __builtin_nan(""),                                                                  \
			     .value = __builtin_nan(""),                                                               \
			     .hi = __builtin_nan(""),                                                                  \
			     .bound = __builtin_nan("") })

/* Half an 80 % interval, times this: one in 1,000 lies below; one in twenty lies above. Of normal errors, and as the intervals hold 87 to
 * 90 of 100 published figures (docs/METHOD.md). */
#define JL_VERDICT_LOW_WIDER 2.0
#define JL_VERDICT_TOP_WIDER 1.07
/* An expectation that would not notice a system 1.5 times as slow says nothing about a figure in its lower half. */
#define JL_NOTICE_MOST 1.5
bool jl_expect_can_judge(const struct jl_expect *expect);

/* A bound holds also for what was measured on a noisy machine: nothing disturbs a figure upwards. Low only where
 * all of the figure's interval is outside. Where the range could not notice a slow system, what lies in its lower half is not judged unless the
 * bound is so near that no healthy system is 1.5 times as fast. */
enum jl_verdict jl_verdict_of(const struct jl_figure *figure, const struct jl_expect *expect);
/* Normal although outside the range: by the doubt of the figure alone. */
bool jl_verdict_at_edge(const struct jl_figure *figure, const struct jl_expect *expect);
bool jl_verdict_is_bad(enum jl_verdict verdict);      /* low, too high, impossible or wrong: exit code 3 */
int jl_verdict_weight(enum jl_verdict verdict);       /* of several the one to look at first has the largest */
const char *jl_verdict_name(enum jl_verdict verdict); /* in JSON: "normal" */
const char *jl_verdict_word(enum jl_verdict verdict);

/* The figure of a record that is judged: `metric`, or its first one where that is NULL. NAN: it has none. */
struct jl_figure jl_figure_of(const struct jl_record *record, const char *metric);

/* Do two records tell of the same thing: kind, backend and parameters, apart from those that only say how it went? */
bool jl_check_alike(const struct jl_record *a, const struct jl_record *b);

bool jl_check_on_gpu(const struct jl_record *record);

/* Small messages between processes of one host, kernels of a few microseconds: twice as fast or slow by chance. */
bool jl_check_jumps_by_itself(const struct jl_record *record);

/* What earlier undisturbed runs of the same thing let expect: the wider, the fewer there are and the more they
 * differ. `records` newest first, in any mixture; those that are not like `now`, are of its run or are noisy do
 * not count, and no more than the newest JL_HISTORY_MAX do. */
#define JL_HISTORY_MAX     50
#define JL_HISTORY_TRUSTED 3 /* quiet runs of a machine that say what is usual there */
struct jl_history {
	size_t n, n_noisy;
	double drift_frac; /* median of the newer half over that of the older, minus 1; NAN: fewer than six runs */
	double spread_ln;  /* standard deviation between runs, as ln: robust, and not below what is usual where runs are
			     known to jump; NAN: too few to say */
	struct jl_expect expect;
};
void jl_check_history(struct jl_history *ret_history, const struct jl_record *now,
		      const struct jl_record *const *records, size_t n_records, bool unsteady);

/* Does the host do the same thing at different speeds in fresh processes, each of them undisturbed by its own account?
 * Neighbours on a shared host, placement of processes and pages. What it does to one figure it may do to others. */
#define JL_JUMP_TIMES 1.5
struct jl_steadiness {
	size_t n_figures; /* measured three times and more */
	size_t n_jumps;   /* of them, those that went back and forth by JL_JUMP_TIMES and more */
	double worst_times;
};
void jl_check_steadiness(struct jl_steadiness *ret, const struct jl_record *const *records, size_t n_records);

/* One run against another. A change counts where it is larger than JL_CHANGE_LEAST and than what differs between runs anyway, the intervals
 * do not touch, and the samples (where there are some) are unlikely to be of one distribution. */
#define JL_CHANGE_LEAST_FRAC 0.05
#define JL_CHANGE_P          0.01
struct jl_change {
	double ratio; /* now over before; above 1: better */
	double p;     /* that both are of one distribution; NAN: too few samples */
	double least; /* relative change that would count */
	bool apart;   /* the 95 % intervals do not touch */
	enum jl_verdict verdict;
};
enum jl_status jl_check_change(struct jl_change *ret_change, const struct jl_record *now,
			       const struct jl_record *before, double spread_ln, struct jl_arena *arena,
			       struct jl_err *err);
