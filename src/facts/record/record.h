/* A measurement as stored and exchanged: what was measured, how, where, with how much noise, and by whom.
 *
 * Made by benchmarks and by importers; stored by the store, judged by `check`, shown in reports. The exchange format is JSON Lines, one record per
 * line; unknown keys of newer versions are preserved. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/stats.h"

#define JL_RECORD_VERSION     1
#define JL_RECORD_ID_LEN      26 /* time-ordered, Crockford base 32: 48 bits of milliseconds, 80 random bits */
#define JL_RECORD_SAMPLES_MAX 1000000
#define JL_RECORD_ITEMS_MAX   256 /* each of parameters, metrics, versions */
#define JL_RECORD_KEY_MAX     64  /* letters, digits and _ ; begins with a letter */
#define JL_RECORD_STRING_MAX  8192
#define JL_RECORD_TEXT_MAX_B  ((size_t)32 << 20) /* a record's line: enough for a million samples */

/* A parameter or version: "dtype" = "bf16", "size_B" = 268435456. Keys of numbers end with their unit. */
struct jl_record_item {
	const char *key;
	const char *text; /* NULL: the item is a number */
	double number;
};

struct jl_record_metric {
	const char *name; /* unit last: algbw_Bps, gemm_flopps, step_s, samples_per_s */
	bool less_is_better;
	struct jl_stats value; /* statistics of its samples; NAN: unknown; only the median is mandatory */
};

/* Above these a measurement is noisy and gives no verdict (docs/cmd/bench.md). */
#define JL_NOISE_CPU_OTHER_FRAC 0.05
#define JL_NOISE_STEAL_FRAC     0.02
#define JL_NOISE_WAIT_FRAC      0.20
#define JL_NOISE_CLOCK_FRAC     0.90
#define JL_NOISE_DRIFT_FRAC     0.10
#define JL_NOISE_STOPPED_FRAC   0.01 /* by a CPU quota */

/* Disturbances during the measurement. NAN: unknown. */
struct jl_record_noise {
	double cpu_other_frac; /* share of all CPU time used by other processes */
	double steal_frac;     /* share taken by the hypervisor (steal) */
	/* time that own threads were runnable without a CPU, summed over threads: upper bound on the lost share */
	double wait_frac;
	double clock_frac; /* lowest / highest clock seen */
	double drift_frac; /* median of the last quarter of samples / of the first, minus 1 */
	/* CPU quota of the own cgroup in CPUs, CPUs online, share of CPU time that the quota withheld */
	double quota_cpus, n_cpus, throttled_frac;
	bool thermal, power; /* throttling was reported */
	/* GPU: clock under load and maximum, power limit and default, reason for a reduced clock (JL_HELD_* of probe/nvml.h; NULL: none), largest
	 * other process and its memory */
	double clock_Hz, clock_max_Hz, limit_W, limit_default_W;
	const char *held_by, *neighbour;
#define JL_NEIGHBOUR_MAX 96
	double neighbour_B;
	bool noisy;      /* verdict of the benchmark core: too noisy for a judgement */
	const char *why; /* one line; NULL: none */
};

struct jl_record {
	const char *id;           /* JL_RECORD_ID_LEN characters */
	double time_s;            /* seconds since 1970, UTC */
	const char *kind;         /* gemm memory link net allreduce ... train */
	const char *backend;      /* cpu shm mpi cuda nccl fake; imported: name of the tool */
	const char *origin;       /* "measured" here by this program, or "imported" */
	const char *source;       /* imported: file:line; else NULL */
	const char *line;         /* imported: the line itself */
	const char *machine;      /* fingerprint of the machine (probe); NULL: unknown */
	const char *machine_name; /* display name: "2x Neoverse-V1, no GPU" */
	const char *node;         /* distinguishes identically built machines; NULL: unstated */
	const char *run;          /* id shared by the records of one run of the command */
	const char *note;

	const struct jl_record_item *params;
	size_t n_params;
	const struct jl_record_metric *metrics; /* the first is the one that is judged */
	size_t n_metrics;
	const struct jl_record_item *versions; /* jeoul, kernel, driver, cuda, nccl, mpi, blas */
	size_t n_versions;
	const double *samples_s; /* raw seconds per iteration; NULL: the source has none */
	size_t n_samples;
	struct jl_record_noise noise;
	const char *extra_json; /* unknown top-level keys as a JSON object; NULL: none */
};

/* New id; later ids sort later. Thread-safe and fork-safe. */
enum jl_status jl_record_new_id(char ret_id[JL_RECORD_ID_LEN + 1], struct jl_err *err);
/* Deterministic id from time, position in the source and content, so that a log imported twice is stored once. At equal times a larger `place`
 * sorts later. */
void jl_record_content_id(char ret_id[JL_RECORD_ID_LEN + 1], double time_s, size_t place, const void *data, size_t len);
bool jl_record_is_id(const char *text);

/* Seconds since 1970, UTC. */
double jl_record_now_s(void);

/* All values unknown: initial state of metrics and noise. */
struct jl_stats jl_summary_unknown(void);
struct jl_stats jl_summary_of(double value); /* single value: n = 1, interval unknown */
struct jl_record_noise jl_record_noise_unknown(void);

/* Applies the reader's checks: ids, units in names, finite numbers, limits. The store calls it before storing. */
enum jl_status jl_record_check(const struct jl_record *record, struct jl_err *err);

/* One line of JSON without the newline. */
void jl_record_write(const struct jl_record *record, struct jl_buf *out);
/* Parses and validates: types, limits, units, ids. The result is allocated in the arena. */
enum jl_status jl_record_read(const char *text, size_t len, struct jl_arena *arena, struct jl_record *ret_record,
			      struct jl_err *err);

const struct jl_record_item *jl_record_param(const struct jl_record *record, const char *key);
double jl_record_number(const struct jl_record *record, const char *key);    /* NAN: none */
const char *jl_record_text(const struct jl_record *record, const char *key); /* NULL: none */
const struct jl_record_metric *jl_record_metric(const struct jl_record *record, const char *name);

/* Texts for display (words.c); each function returns `out`. */
#define JL_RECORD_WORDS_MAX 160
/* "algbw_Bps", 1.56e11 → "156 GB/s". */
const char *jl_record_value_text(char out[JL_RECORD_WORDS_MAX], const char *name, double value);
/* "256 MiB float, 8 ranks": what was measured, from the parameters. */
const char *jl_record_what(char out[JL_RECORD_WORDS_MAX], const struct jl_record *record);
/* The judged value; empty if the record has none. */
const char *jl_record_result(char out[JL_RECORD_WORDS_MAX], const struct jl_record *record);

/* A record under construction. */
/* Texts must outlive the record made from it. */
#define JL_DRAFT_PARAMS_MAX  200
#define JL_DRAFT_METRICS_MAX 32

struct jl_draft {
	const char *kind, *backend;
	double time_s; /* NAN: unknown */
	/* imported: lines of the source, the text of the line, and index among records of one line */
	size_t line, last_line;
	const char *text;
	bool second;
	struct jl_record_item params[JL_DRAFT_PARAMS_MAX];
	size_t n_params;
	struct jl_record_metric metrics[JL_DRAFT_METRICS_MAX];
	size_t n_metrics;
	struct jl_record_item versions[16];
	size_t n_versions;
	const double *samples_s;
	size_t n_samples;
};

void jl_draft_begin(struct jl_draft *draft, const char *kind, const char *backend, size_t line, const char *text);
void jl_draft_number(struct jl_draft *draft, const char *key, double value);   /* NAN: skipped */
void jl_draft_text(struct jl_draft *draft, const char *key, const char *text); /* NULL: skipped */
void jl_draft_version(struct jl_draft *draft, const char *key, const char *text);
/* Skipped if the value is not positive. */
void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value);
void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_stats *summary);
/* The record built so far; it refers to the draft. */
struct jl_record jl_draft_record(const struct jl_draft *draft);
