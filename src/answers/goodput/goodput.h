/* What a cluster delivers of a training run: failures, checkpoints, restarts, spare nodes, stragglers; the expected end, the losses by cause, and
 * what would save most. Independent of documents and options. */
#pragma once

#include "base/fields.h"
#include "goodput/campus.h"
#include "goodput/rates.h"
#include "import/runlog.h"

enum jl_checkpoint {
	JL_CHECKPOINT_BLOCKING, /* the job waits until the store has it */
	JL_CHECKPOINT_ASYNC,    /* the job waits for the copy to host memory */
	JL_CHECKPOINT_MEMORY,   /* copies in the memory of other hosts; the store once a day */
	JL_CHECKPOINT_TIERED,   /* the same, the store as often as pays */
	JL_N_CHECKPOINT
};
extern const char *const jl_checkpoints[JL_N_CHECKPOINT + 1];             /* as options have them */
extern const struct jl_choice jl_checkpoint_choices[JL_N_CHECKPOINT + 1]; /* as JSON has them */

/* After a failure. */
enum jl_recovery {
	JL_RECOVERY_RESTART, /* all processes start again, on a spare where a node is out */
	JL_RECOVERY_SWAP,    /* a host that stands by takes the place, the other processes stay */
	JL_RECOVERY_ELASTIC, /* the other replicas go on; the failed one comes back when its nodes do */
	JL_N_RECOVERY
};
extern const char *const jl_recoveries[JL_N_RECOVERY + 1];
extern const struct jl_choice jl_recovery_choices[JL_N_RECOVERY + 1];

/* Options as given; NAN, NULL or JL_UNSET: not given. */
struct jl_goodput_ask {
	int checkpoint; /* enum jl_checkpoint */
	int recovery;   /* enum jl_recovery */
	double checkpoint_B, interval_s, store_Bps, load_Bps;
	double detect_s, restart_s, repair_s, n_spares;
	double jitter_frac, congestion_frac;
	double planned_per_day;          /* stops of the job */
	double stall_s;                  /* each checkpoint holds the job so long */
	const struct jl_run_spent *seen; /* of the job's own log; NULL: none */
	double seen_steps, left_steps;   /* in it, and after it */
	const char *site;
	double node_per_day, job_per_day; /* failures */
	double mttf_s;                    /* of the job, in place of both */
	double n_failures, observed_s;    /* counted on this job */
	long start_day, today;
	double krw_per_usd; /* amounts are shown in won; NAN: in dollars */
	const char *fx_date;
	struct jl_campus_ask campus;
};
struct jl_goodput_ask jl_goodput_ask_empty(void);

/* The rest of a job that its log shows so far: steps, checkpoints, stalls and restarts as they were; what was said stays as it was said. Where the
 * log does not say how many steps are planned, the length that was asked for is taken. */
enum jl_status jl_goodput_take_log(struct jl_job *io_job, struct jl_goodput_ask *io_ask, const struct jl_runlog *log,
				   const struct jl_run_spent *spent, struct jl_err *err);

/* With nothing left open. Plain data: may be copied and changed to ask "what if". */
struct jl_goodput_setting {
	double n_gpus, n_nodes, per_node, step_s;
	double most_s; /* between checkpoints: no longer than the run */
	enum jl_checkpoint checkpoint;
	double checkpoint_B, store_Bps, interval_s; /* interval NAN: the best */
	double save_s, plain_ratio;  /* of a write, whatever the size; a blocking one takes so many times as long */
	double load_Bps, load_ratio; /* rate NAN: a load takes so many times as long as a write */
	double stall_s;              /* each checkpoint holds the job so long; NAN: by its size and rates */
	double stage_Bps, stage_s, peer_Bps, memory_frac;
	double detect_s, restart_s, repair_s;
	double node_frac; /* of failures: a node is taken out */
	double link_frac; /* of failures: a link */
	double one_frac;  /* of failures: one replica, where replicas are kept apart */
	int n_spares;
	double paid_spares; /* nodes; default spares are shared with other jobs */
	enum jl_recovery recovery;
	double swap_s;       /* what takes a restart's place where processes stay */
	double replica_frac; /* of the job: what stops with one failure, a replica or a group that states are cut over */
	bool groups_fit;     /* memory has room for all states in each of 8 groups */
	bool states_cut;     /* over all replicas: without one of them the others go back to the checkpoint */
	double exchange_frac; /* of the step: exchanges between GPUs that nothing hides */
	double planned_hz;
	double throttle_frac; /* of the step: clocks under a cap of power */
	double straggle_frac; /* of the step: the slowest of many nodes, beyond what a predicted step has */
};

/* Where the elapsed time goes. */
enum jl_cause {
	JL_CAUSE_USEFUL,
	JL_CAUSE_CHECKPOINT,
	JL_CAUSE_LOST,
	JL_CAUSE_DETECT,
	JL_CAUSE_WAIT,
	JL_CAUSE_RESTART,
	JL_CAUSE_PLANNED,
	JL_CAUSE_STRAGGLE,
	JL_CAUSE_THROTTLE,
	JL_N_CAUSE
};
struct jl_cause_info {
	const char *key, *en;
};
extern const struct jl_cause_info jl_causes[JL_N_CAUSE];

/* One way to run it, weighed in the long run. */
struct jl_goodput_point {
	struct jl_cycle cycle;   /* its intervals set */
	double frac[JL_N_CAUSE]; /* of the elapsed time; sum is 1 */
	double effective_frac;   /* time in steps that count / elapsed: what papers print */
	double wait_s;           /* for a node, each failure */
	double planned_s;        /* each planned stop */
	bool copies;             /* in the memory of other hosts */
	bool goes_on;            /* the other replicas, from the step that failed */
};
/* What is written as often as pays: copies in memory where there are any, else checkpoints. */
const struct jl_level *jl_goodput_written(const struct jl_goodput_point *point);
double jl_goodput_write_s(const struct jl_goodput_setting *setting);
double jl_goodput_load_s(const struct jl_goodput_setting *setting);
void jl_goodput_point(struct jl_goodput_point *ret_point, const struct jl_goodput_setting *setting, double rate_hz);

struct jl_goodput_part {
	const char *key, *en;
	double frac, time_s, gpu_s, energy_J, cost_usd; /* NAN: not known */
};
struct jl_goodput_kind {
	const char *key, *en;
	double share_frac, n_failures; /* of the run, or of 30 days */
	double lost_gpu_s, cost_usd;
};
struct jl_goodput_size {
	double n_gpus;
	struct jl_estimate mttf_s;
	double interval_s;
	struct jl_estimate effective_frac;
	double frac[JL_N_CAUSE]; /* of the elapsed time */
	bool own;                /* the job's */
};
#define JL_GOODPUT_SIZES_MAX 8
#define JL_GOODPUT_HELPS_MAX 16
struct jl_goodput_help {
	const char *key, *en;
	double effective_frac; /* after */
	double saved_s, saved_gpu_s, saved_usd;
};

struct jl_goodput {
	const struct jl_job *job;
	struct jl_goodput_ask ask;
	struct jl_goodput_setting setting;
	struct jl_rates rates;
	struct jl_estimate failures_per_day, mttf_s;
	struct jl_goodput_point point; /* at the median rate */
	double interval_best_s, interval_young_s, interval_daly_s;
	double store_interval_s; /* NAN: there are no copies in memory */
	struct jl_estimate effective_frac, goodput_frac;
	struct jl_calendar calendar;
	struct jl_campus campus;
	double simulated_frac;    /* effective, by simulation at the median rate */
	bool progresses;          /* false: it never ends */
	bool whole_run;           /* times are of the run; else of 30 days */
	double plain_s;           /* the run if nothing stopped it */
	struct jl_estimate run_s; /* the same with its interval */
	struct jl_estimate elapsed_s;
	struct jl_goodput_part parts[JL_N_CAUSE];
	double spare_gpu_s, spare_usd;   /* what idle spares take */
	double unused_gpu_s, unused_usd; /* rented in blocks or for a least time, and not needed */
	double rent_usd;                 /* all of it: the parts, spares, what is not used */
	struct jl_goodput_kind kinds[JL_N_FAILURE];
	size_t n_sizes, n_helps;
	struct jl_goodput_size sizes[JL_GOODPUT_SIZES_MAX];
	struct jl_goodput_help helps[JL_GOODPUT_HELPS_MAX];
	const char *idle[JL_GOODPUT_HELPS_MAX]; /* changes that would save next to nothing */
	size_t n_idle;
	int spares_enough; /* the fewest with which next to no time is waited for a node, at the upper end of the failure rate */
	struct jl_notes notes;
};

enum jl_status jl_goodput_weigh(struct jl_goodput *ret_goodput, const struct jl_catalog *cat, const struct jl_job *job,
				const struct jl_goodput_ask *ask, struct jl_err *err);

/* The same in short, where nothing is said of failures: what other commands print and rank by. Where no length of a run is given times are NAN. The
 * interval is that of jl_goodput_weigh. */
struct jl_elapsed {
	double useful_frac;
	struct jl_estimate time_s, cost_usd;
};
struct jl_elapsed jl_goodput_elapsed(const struct jl_catalog *cat, const struct jl_case *c,
				     const struct jl_prediction *prediction);
extern const struct jl_schema jl_elapsed_fields;

/* Of the elapsed time: with less useful a run is said to make no progress. */
#define JL_GOODPUT_LEAST_FRAC 0.01

/* Effective share with what is not known of rates and times: median and the interval that holds `share`. */
struct jl_estimate jl_goodput_effective(const struct jl_catalog *cat, const struct jl_goodput_setting *setting,
					const struct jl_rates *rates, double share);
/* A setting for a size, all else as people have it: what published runs are compared with. */
void jl_goodput_default(struct jl_goodput_setting *ret_setting, const struct jl_catalog *cat, double n_nodes,
			double per_node, double checkpoint_B, double step_s);

/* Inside the room: what would save most, ranked; how the run goes at other sizes. */
void jl_goodput_advise(struct jl_goodput *g);

extern const struct jl_schema jl_goodput_fields;
