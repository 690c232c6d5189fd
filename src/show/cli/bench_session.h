/* What the commands of `jeoul bench` share: one run with its records, the store, progress, Ctrl-C. */
#pragma once

#include "base/progress.h"
#include "bench/records.h"
#include "cli/command.h"
#include "store/store.h"

/* Options of every benchmark. */
#define JL_BENCH_OPTIONS                                                                                               \
	JL_O_AMOUNT("time", "TIME", JL_K_TIME, JL_N("how long it may take in all, e.g. \"10 s\""),                     \
		    JL_WITHIN(0.01, 86400, JL_N("write something from 10 ms to 1 d"))),                                \
		JL_O_TEXT("backend", "NAME", JL_N("what measures ('jeoul bench list' shows them)")),                   \
		JL_O_TEXT("node", "NAME",                                                                              \
			  JL_N("which machine of a fleet this is (default: JEOUL_NODE or SLURMD_NODENAME)")),          \
		JL_O_TEXT("note", "TEXT", JL_N("kept with the results")),                                              \
		JL_O_FLAG("no-store", JL_N("do not keep the results"))

#define JL_BENCH_DIR JL_O_TEXT("dir", "DIR", JL_N("whose storage (default: here); a file is made in it and goes again"))

struct jl_bench_session {
	struct jl_cli *cli;
	struct jl_bench_where where;
	char run[JL_RECORD_ID_LEN + 1];
	const struct jl_bench_backend *backend;
	bool silent; /* not rank 0: measures, but prints and stores nothing */
	size_t n_records, n_stored, n_noisy;
	double n_wrong;
	char why[JL_NOISE_WHY_MAX]; /* of the noisiest result */
	struct jl_record_noise noise;
	struct jl_store *store;
	bool store_failed;
	struct jl_progress progress;
	double n_tasks, n_done; /* for the progress line */
};

/* Fleets name their machines (--node, JEOUL_NODE, SLURMD_NODENAME); NULL: not named. */
const char *jl_bench_node_name(const struct jl_cli *cli);

enum jl_status jl_bench_begin(struct jl_bench_session *session, struct jl_cli *cli, struct jl_err *err);
/* Stores one result, and prints it with --json. */
void jl_bench_keep(struct jl_bench_session *session, const struct jl_bench_result *result);
/* The record gets an id and all that those of a run share. `versions`: "key=value key=value"; NULL: the backend's. */
void jl_bench_keep_record(struct jl_bench_session *session, const struct jl_record *given, const char *versions);
/* The progress line begins; the number of tasks is known by now. */
void jl_bench_draw(struct jl_bench_session *session);
/* Closes what is open when something was measured, also after a failure; passes `status` on. */
enum jl_status jl_bench_close(struct jl_bench_session *session, enum jl_status status);

/* Ctrl-C was pressed once (the second time ends the program). As jl_bench_plan.stop. */
bool jl_bench_stop(void *ctx);
/* As jl_bench_plan.progress; ctx is the session. */
void jl_bench_progress(void *ctx, double frac);
void jl_bench_watch_keys(void);

/* The backend that --backend names, or the first of `names` that is present. */
enum jl_status jl_bench_choose(struct jl_bench_session *session, const char *const *names, struct jl_err *err);

/* Write out what there is: rows stream as they are done. */
void jl_bench_flush(struct jl_bench_session *session);

/* --time divided by n tasks; `instead` when it is not given. */
double jl_bench_time_s(const struct jl_cli *cli, size_t n_tasks, double instead);
