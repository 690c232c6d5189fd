/* What a cluster delivers of a training run: failures, checkpoints, restarts, spare nodes, stragglers; expected end, losses by cause, most
 * effective changes. Independent of documents and options. */
#pragma once

#include "base/fields.h"
#include "goodput/campus.h"
#include "goodput/rates.h"
#include "import/runlog.h"

enum jl_checkpoint {
	JL_CHECKPOINT_BLOCKING, /* the job waits until the store has it */
	JL_CHECKPOINT_ASYNC,    /* the job waits only for the copy to host memory */
	JL_CHECKPOINT_MEMORY,   /* copies in other hosts' memory; the store once a day */
	JL_CHECKPOINT_TIERED,   /* as above, the store at the optimal interval */
	JL_N_CHECKPOINT
};
extern const char *const jl_checkpoints[JL_N_CHECKPOINT + 1];             /* option names */
extern const struct jl_choice jl_checkpoint_choices[JL_N_CHECKPOINT + 1]; /* JSON names */

/* Recovery after a failure. */
enum jl_recovery {
	JL_RECOVERY_RESTART, /* all processes restart, on a spare if a node is out */
	JL_RECOVERY_SWAP,    /* a standby host takes over, other processes stay */
	JL_RECOVERY_ELASTIC, /* the other replicas continue; the failed one returns with its nodes */
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
	double planned_per_day;          /* planned stops of the job */
	double stall_s;                  /* time that each checkpoint stalls the job */
	const struct jl_run_spent *seen; /* from the job's own log; NULL: none */
	double seen_steps, left_steps;   /* logged; remaining */
	const char *site;
	double node_per_day, job_per_day; /* failures */
	double mttf_s;                    /* mean time to failure of the job, replaces both */
	double n_failures, observed_s;    /* failures counted on this job */
	long start_day, today;
	double krw_per_usd; /* amounts in won; NAN: in dollars */
	const char *fx_date;
	struct jl_campus_ask campus;
};
struct jl_goodput_ask jl_goodput_ask_empty(void);

/* Sets up the rest of a job from its log so far: steps, checkpoints, stalls and restarts as logged; given options keep precedence. If the log
 * has no planned number of steps, the requested length is used. */
enum jl_status jl_goodput_take_log(struct jl_job *io_job, struct jl_goodput_ask *io_ask, const struct jl_runlog *log,
				   const struct jl_run_spent *spent, struct jl_err *err);

/* Complete setting. Plain data: may be copied and modified for what-if questions. */
struct jl_goodput_setting {
	double n_gpus, n_nodes, per_node, step_s;
	double most_s; /* between checkpoints: at most the run */
	enum jl_checkpoint checkpoint;
	double checkpoint_B, store_Bps, interval_s; /* interval NAN: optimal */
	double save_s, plain_ratio;                 /* fixed time of a write; ratio of a blocking to a plain write */
	double load_Bps, load_ratio;                /* rate NAN: a load takes this ratio of a write */
	double stall_s; /* time that each checkpoint stalls the job; NAN: computed from size and rates */
	double stage_Bps, stage_s, peer_Bps, memory_frac;
	double detect_s, restart_s, repair_s;
	double node_frac; /* share of failures that take a node out */
	double link_frac; /* share of link failures */
	double one_frac;  /* share of failures of a single replica, with elastic recovery */
	int n_spares;
	double paid_spares; /* nodes paid for; default spares are shared with other jobs */
	enum jl_recovery recovery;
	double swap_s;        /* replaces the restart where processes stay */
	double replica_frac;  /* share of the job stopped by one failure: a replica, or a group with split states */
	bool groups_fit;      /* memory suffices for all states in each of 8 groups */
	bool states_cut;      /* states are split over all replicas: the others return to the checkpoint */
	double exchange_frac; /* share of the step: exposed communication between GPUs */
	double planned_hz;
	double throttle_frac; /* share of the step: clocks under a power cap */
	double straggle_frac; /* share of the step: the slowest of many nodes, beyond the predicted step */
};

/* Causes of elapsed time. */
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

/* One configuration, evaluated in the long run. */
struct jl_goodput_point {
	struct jl_cycle cycle;   /* with its intervals set */
	double frac[JL_N_CAUSE]; /* of the elapsed time; sum is 1 */
	double effective_frac;   /* time in effective steps / elapsed: the figure that papers report */
	double wait_s;           /* for a node, per failure */
	double planned_s;        /* each planned stop */
	bool copies;             /* in other hosts' memory */
	bool goes_on;            /* elastic: the other replicas continue from the failed step */
};
/* Level with the optimal interval: in-memory copies if any, else checkpoints. */
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
	bool own;                /* this is the job's own size */
};
#define JL_GOODPUT_SIZES_MAX 8
#define JL_GOODPUT_HELPS_MAX 16
struct jl_goodput_help {
	const char *key, *en;
	double effective_frac; /* with the change */
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
	double store_interval_s; /* NAN: no in-memory copies */
	struct jl_estimate effective_frac, goodput_frac;
	struct jl_calendar calendar;
	struct jl_campus campus;
	double simulated_frac;    /* effective, by simulation at the median rate */
	bool progresses;          /* false: it never ends */
	bool whole_run;           /* times are of the run; else of 30 days */
	double plain_s;           /* the run without failures */
	struct jl_estimate run_s; /* with failures, and its interval */
	struct jl_estimate elapsed_s;
	struct jl_goodput_part parts[JL_N_CAUSE];
	double spare_gpu_s, spare_usd;   /* idle spares */
	double unused_gpu_s, unused_usd; /* rented in blocks or for a minimum time, unused */
	double rent_usd;                 /* total: job, spares, unused */
	struct jl_goodput_kind kinds[JL_N_FAILURE];
	size_t n_sizes, n_helps;
	struct jl_goodput_size sizes[JL_GOODPUT_SIZES_MAX];
	struct jl_goodput_help helps[JL_GOODPUT_HELPS_MAX];
	const char *idle[JL_GOODPUT_HELPS_MAX]; /* changes with negligible savings */
	size_t n_idle;
	int spares_enough; /* fewest spares with almost no waiting, at the upper end of the failure rate */
	struct jl_notes notes;
};

enum jl_status jl_goodput_weigh(struct jl_goodput *ret_goodput, const struct jl_catalog *cat, const struct jl_job *job,
				const struct jl_goodput_ask *ask, struct jl_err *err);

/* Short form with default failures, for other commands. Times are NAN without a run length. The interval is that of jl_goodput_weigh. */
struct jl_elapsed {
	double useful_frac;
	struct jl_estimate time_s, cost_usd;
};
struct jl_elapsed jl_goodput_elapsed(const struct jl_catalog *cat, const struct jl_case *c,
				     const struct jl_prediction *prediction);
extern const struct jl_schema jl_elapsed_fields;

/* useful share of elapsed time below which a run is said to make no progress */
#define JL_GOODPUT_LEAST_FRAC 0.01

/* Effective share with the uncertainty of rates and times: median and the interval that holds `share`. */
struct jl_estimate jl_goodput_effective(const struct jl_catalog *cat, const struct jl_goodput_setting *setting,
					const struct jl_rates *rates, double share);
/* A setting for a size with default options: compared with published runs. */
void jl_goodput_default(struct jl_goodput_setting *ret_setting, const struct jl_catalog *cat, double n_nodes,
			double per_node, double checkpoint_B, double step_s);

/* Module-internal: most effective changes, ranked; the run at other sizes. */
void jl_goodput_advise(struct jl_goodput *g);

extern const struct jl_schema jl_goodput_fields;
