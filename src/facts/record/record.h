/* A measured fact as it is kept and exchanged: what was measured, how, where, how noisy it was, and by whom.
 *
 * Benchmarks and the reader of other tools' output both make records; the store keeps them, `check` judges them,
 * reports show them. The exchange form is JSON Lines, one record a line; unknown keys of a newer version survive a
 * round trip. */
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
#define JL_RECORD_ITEMS_MAX   256 /* parameters, metrics, versions: each */
#define JL_RECORD_KEY_MAX     64  /* letters, digits and _ ; begins with a letter */
#define JL_RECORD_STRING_MAX  8192
#define JL_RECORD_TEXT_MAX_B  ((size_t)32 << 20) /* one record as a line: a million samples fit */

/* What a benchmark or a log says of itself: "dtype" = "bf16", "size_B" = 268435456. Numbers carry their unit in the key. */
struct jl_record_item {
	const char *key;
	const char *text; /* NULL: it is a number */
	double number;
};

struct jl_record_metric {
	const char *name; /* unit last: algbw_Bps, gemm_flopps, step_s, samples_per_s */
	bool less_is_better;
	struct jl_stats value; /* of its samples; NAN: not known; only the median must be there */
};

/* Above these a result is noisy: no verdict is built on it (docs/cmd/bench.md). */
#define JL_NOISE_CPU_OTHER_FRAC 0.05
#define JL_NOISE_STEAL_FRAC     0.02
#define JL_NOISE_WAIT_FRAC      0.20
#define JL_NOISE_CLOCK_FRAC     0.90
#define JL_NOISE_DRIFT_FRAC     0.10

/* What disturbed the measurement. NAN: could not be seen. */
struct jl_record_noise {
	double cpu_other_frac; /* share of all CPU time that other processes took while we measured */
	double steal_frac;     /* ... that the hypervisor took */
	double wait_frac; /* of the time: threads of ours were ready and had no CPU; their sum, so all that was lost at most */
	double clock_frac;   /* lowest clock over the highest that was seen */
	double drift_frac;   /* last quarter of the samples over the first, minus 1 */
	bool thermal, power; /* throttling was reported */
	/* of a GPU: its clock under load and at most, its power limit and the default one, what holds the clock down (a key of
	 * jl_clock_causes; NULL: nothing), the largest other process on it and its memory */
	double clock_Hz, clock_max_Hz, limit_W, limit_default_W;
	const char *held_by, *neighbour;
#define JL_NEIGHBOUR_MAX 96
	double neighbour_B;
	bool noisy;      /* the verdict of the benchmark's core: no judgement is to be built on this */
	const char *why; /* one line, or NULL */
};

struct jl_record {
	const char *id;           /* JL_RECORD_ID_LEN characters */
	double time_s;            /* since 1970, UTC */
	const char *kind;         /* gemm memory link net allreduce ... train */
	const char *backend;      /* cpu shm mpi cuda nccl fake; the tool's name when imported */
	const char *origin;       /* "measured" here by this program, or "imported" */
	const char *source;       /* imported: file:line; otherwise NULL */
	const char *line;         /* imported: the line itself */
	const char *machine;      /* fingerprint of the machine (probe), or NULL */
	const char *machine_name; /* what a person calls it: "2x Neoverse-V1, no GPU" */
	const char *node;         /* which of the machines that are built alike; NULL: not said */
	const char *run;          /* records of one run of the command share this id */
	const char *note;

	const struct jl_record_item *params;
	size_t n_params;
	const struct jl_record_metric *metrics; /* the first is the one that is judged */
	size_t n_metrics;
	const struct jl_record_item *versions; /* jeoul, kernel, driver, cuda, nccl, mpi, blas */
	size_t n_versions;
	const double *samples_s; /* raw: seconds of each iteration; NULL where the source has none */
	size_t n_samples;
	struct jl_record_noise noise;
	const char *extra_json; /* keys at the top that this version does not know, as an object; NULL: none */
};

/* A fresh id; ids made later sort later. Safe from several threads and after fork. */
enum jl_status jl_record_new_id(char ret_id[JL_RECORD_ID_LEN + 1], struct jl_err *err);
/* The same id for the same time, place in the source and bytes: a log that is imported twice is stored once. Of one
 * time, a later `place` sorts later. */
void jl_record_content_id(char ret_id[JL_RECORD_ID_LEN + 1], double time_s, size_t place, const void *data, size_t len);
bool jl_record_is_id(const char *text);

/* Seconds since 1970, UTC. */
double jl_record_now_s(void);

/* All numbers unknown: what a metric and the noise begin with. */
struct jl_stats jl_summary_unknown(void);
struct jl_stats jl_summary_of(double value); /* a single figure: n = 1, the interval not known */
struct jl_record_noise jl_record_noise_unknown(void);

/* What the reader would refuse: ids, names without a unit, numbers that are no numbers, limits. The store asks before it keeps. */
enum jl_status jl_record_check(const struct jl_record *record, struct jl_err *err);

/* One line of JSON, without the newline. */
void jl_record_write(const struct jl_record *record, struct jl_buf *out);
/* Checks everything: types, limits, units, ids. What it points to lies in the arena. */
enum jl_status jl_record_read(const char *text, size_t len, struct jl_arena *arena, struct jl_record *ret_record,
			      struct jl_err *err);

const struct jl_record_item *jl_record_param(const struct jl_record *record, const char *key);
double jl_record_number(const struct jl_record *record, const char *key);    /* NAN: none */
const char *jl_record_text(const struct jl_record *record, const char *key); /* NULL: none */
const struct jl_record_metric *jl_record_metric(const struct jl_record *record, const char *name);

/* A record in words (words.c); each returns `out`. */
#define JL_RECORD_WORDS_MAX 160
/* "algbw_Bps", 1.56e11 → "156 GB/s". */
const char *jl_record_value_text(char out[JL_RECORD_WORDS_MAX], const char *name, double value);
/* "256 MiB float, 8 ranks": what was measured, from the parameters. */
const char *jl_record_what(char out[JL_RECORD_WORDS_MAX], const struct jl_record *record);
/* The figure that is judged; empty where the record has none. */
const char *jl_record_result(char out[JL_RECORD_WORDS_MAX], const struct jl_record *record);

/* A record in the making: what was measured and how, one thing after another. */
/* Texts must live as long as the record that is made of it. */
#define JL_DRAFT_PARAMS_MAX  200
#define JL_DRAFT_METRICS_MAX 32

struct jl_draft {
	const char *kind, *backend;
	double time_s; /* NAN: not known */
	/* of what is read from a log: where, the line itself, the second of two records of one line */
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
void jl_draft_number(struct jl_draft *draft, const char *key, double value);   /* NAN: left out */
void jl_draft_text(struct jl_draft *draft, const char *key, const char *text); /* NULL: left out */
void jl_draft_version(struct jl_draft *draft, const char *key, const char *text);
/* Left out where the value is not a positive number. */
void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value);
void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_stats *summary);
/* What was put together so far; it points into the draft. */
struct jl_record jl_draft_record(const struct jl_draft *draft);
