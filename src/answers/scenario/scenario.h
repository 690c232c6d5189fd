/* A scenario: systems, workload, measurements, prices and questions of a report. A few lines suffice; missing values get usual defaults. Parsing
 * is strict: unknown keys, missing units and unknown systems are errors with their place.
 *
 * title: GPU 클러스터 성능 분석 # or {ko: ..., en: ...}
 * systems: ["10x rtx-3090 via pcie4-no-p2p", {name: Worker-05, on: 4x rtx-pro-6000-blackwell}]
 * workload: {model: gpt-305m, batch: 4, seq: 512}
 * sections: [summary, comparison, scaling] # default: all that the facts allow */
#pragma once

#include "base/yaml.h"
#include "catalog/sysexpr.h"
#include "predict/observed.h"
#include "predict/request.h"

#define JL_SCENARIO_SYSTEMS_MAX  32 /* limit of one comparison */
#define JL_SCENARIO_MEASURED_MAX 4096
#define JL_SCENARIO_LIST_MAX     64

struct jl_words { /* text in both languages; equal if only one was given */
	const char *ko, *en;
};

const char *jl_words_in(struct jl_words words); /* in the user's language */

struct jl_scenario_system {
	struct jl_words name;
	const char *on; /* system expression as written */
	struct jl_sys sys;
	struct jl_words note; /* NULLs: no note */
	struct jl_where where;
};

/* A value that the user measured or states, e.g. samples_per_s of 8 GPUs with zero2, algbw of 125 nodes. */
struct jl_scenario_measured {
	const char *what;       /* samples_per_s, step_s, algbw_Bps, busbw_Bps, epoch_s ... */
	const char *system;     /* name or expression of a system in the scenario; NULL: the first */
	double n_gpus, n_nodes; /* NAN: not given */
	const char *mode;       /* ddp, zero1, zero2, zero3; NULL: not given */
	double size_B;          /* of a collective */
	double value;           /* SI base units */
	enum jl_kind kind;
	const char *source, *date;
	struct jl_where where;
};

/* A reference to measurements in the store (by id) or in a JSON Lines file. The caller loads them. */
struct jl_scenario_fetch {
	const char *record, *file; /* exactly one is set */
	struct jl_where where;
};

struct jl_scenario_scaling {
	bool wanted;
	const char *system; /* name; NULL: the first system with several GPUs */
	double counts[JL_SCENARIO_LIST_MAX];
	size_t n_counts;
	const char *modes[8]; /* ddp, zero2 ... */
	size_t n_modes;
};

struct jl_scenario_allreduce {
	bool wanted;
	const char *on; /* one node, e.g. aws:p5.48xlarge; replicated */
	double size_B;
	double nodes[JL_SCENARIO_LIST_MAX];
	size_t n_nodes;
};

struct jl_scenario_cost {
	bool wanted;
	const struct jl_yaml *map;
	const struct jl_yaml *options[JL_SCENARIO_LIST_MAX]; /* key: its kind; text as in jeoul cost */
	const char *kinds[JL_SCENARIO_LIST_MAX];
	size_t n_options;
	double util_frac; /* NAN: 15 % */
	const char *kwh, *tariff, *region, *currency;
	double fx, household_J, horizon_s; /* NAN: not given */
};

/* A question of the reader. `ask` is its kind (jl_scenario_asks). Without it the question cannot be answered: the text is not interpreted. */
struct jl_scenario_question {
	struct jl_words text;
	const char *ask;        /* or NULL */
	const char *of;         /* name of a system; NULL: all */
	const char *mode;       /* ddp, zero2, ...; NULL: all */
	const char *what;       /* for ask: helps, the change in question (advice.key); NULL: any */
	double n_nodes, n_gpus; /* NAN: not given */
	struct jl_where where;
};
extern const char *const jl_scenario_asks[]; /* NULL-terminated */

/* A purpose or a budget: recommends from the whole catalog. */
struct jl_scenario_recommend {
	bool wanted;
	const char *purpose, *region;                     /* may be NULL */
	double budget_usd, deadline_s, power_W;           /* limits; NAN: none */
	double runs, months, gpus_max, fx;                /* runs per month; NAN: not given */
	const char *only[JL_SCENARIO_LIST_MAX], *hows[8]; /* accelerators; buy, rent, spot */
	size_t n_only, n_hows;
	struct jl_where where;
};

struct jl_scenario {
	const char *file;
	const struct jl_yaml *root; /* source positions for messages; NULL: no file */
	struct jl_words title, subtitle;
	struct jl_scenario_system systems[JL_SCENARIO_SYSTEMS_MAX];
	size_t n_systems;
	size_t baseline; /* index of the reference system of comparisons */

	struct jl_request request;   /* model and settings; model NULL: none */
	struct jl_observed observed; /* step_s NAN: no observed run */
	double repeat, tune;         /* NAN: not requested */

	struct jl_scenario_measured *measured;
	size_t n_measured;
	struct jl_scenario_fetch fetch[JL_SCENARIO_LIST_MAX];
	size_t n_fetch;
	struct jl_scenario_scaling scaling;
	struct jl_scenario_allreduce allreduce;
	struct jl_scenario_cost cost;
	const struct jl_yaml *builds; /* list of parts lists (build/rig.h), or NULL */
	const struct jl_yaml *claims; /* list for report/claims.h, or NULL */
	const struct jl_yaml *inputs; /* map of named values used by the claims, or NULL */
	struct jl_scenario_recommend recommend;
	struct jl_scenario_question questions[JL_SCENARIO_LIST_MAX];
	size_t n_questions;
	const char *sections[JL_SCENARIO_LIST_MAX]; /* empty: all that the facts allow */
	size_t n_sections;
};

bool jl_scenario_wants(const struct jl_scenario *scenario, const char *section);

struct jl_scenario jl_scenario_empty(const char *file);

/* Replaces `this` among the systems by `system`; returns the number of occurrences. NULL: counts only. */
size_t jl_scenario_put_this(struct jl_yaml *root, const char *system);

enum jl_status jl_scenario_read(struct jl_scenario *ret_scenario, const struct jl_yaml *root,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* Finds a system by name (in either language) or expression; NULL: not in the scenario. */
const struct jl_scenario_system *jl_scenario_find(const struct jl_scenario *scenario, const char *name);
