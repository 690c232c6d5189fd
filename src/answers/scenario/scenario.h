/* What a report is to be about: systems, the work, what was measured, prices, questions. A few lines are enough; what is not said gets
 * the choice a practitioner would make. Strict: unknown keys, missing units and unknown systems are refused with their place.
 *
 *     title: GPU 클러스터 성능 분석            # or {ko: ..., en: ...}
 *     systems: ["10x rtx-3090 via pcie4-no-p2p", {name: Worker-05, on: 4x rtx-pro-6000-blackwell}]
 *     workload: {model: gpt-305m, batch: 4, seq: 512}
 *     sections: [summary, comparison, scaling]     # default: all that the facts allow */
#pragma once

#include "base/yaml.h"
#include "catalog/sysexpr.h"
#include "predict/observed.h"
#include "predict/request.h"

#define JL_SCENARIO_SYSTEMS_MAX  32 /* as many as one comparison takes */
#define JL_SCENARIO_MEASURED_MAX 4096
#define JL_SCENARIO_LIST_MAX     64

struct jl_words { /* in both languages; the same text where only one was written */
	const char *ko, *en;
};

const char *jl_words_in(struct jl_words words); /* in the reader's language */

struct jl_scenario_system {
	struct jl_words name;
	const char *on; /* expression as it was written */
	struct jl_sys sys;
	struct jl_words note; /* NULLs: none */
	struct jl_where where;
};

/* A figure measured or stated by the user: samples_per_s of 8 GPUs with zero2, algbw of 125 nodes. */
struct jl_scenario_measured {
	const char *what;       /* samples_per_s, step_s, algbw_Bps, busbw_Bps, epoch_s ... */
	const char *system;     /* name or expression of a system of the scenario; NULL: the first */
	double n_gpus, n_nodes; /* NAN: not said */
	const char *mode;       /* ddp, zero1, zero2, zero3; NULL: not said */
	double size_B;          /* collectives */
	double value;           /* SI base units */
	enum jl_kind kind;
	const char *source, *date;
	struct jl_where where;
};

/* Measured results that are kept elsewhere: in the store by id, or in a file of JSON Lines. The reader of the scenario fetches them. */
struct jl_scenario_fetch {
	const char *record, *file; /* one of them */
	struct jl_where where;
};

struct jl_scenario_scaling {
	bool wanted;
	const char *system; /* name; NULL: the first with several GPUs */
	double counts[JL_SCENARIO_LIST_MAX];
	size_t n_counts;
	const char *modes[8]; /* ddp, zero2 ... */
	size_t n_modes;
};

struct jl_scenario_allreduce {
	bool wanted;
	const char *on; /* one node, e.g. aws:p5.48xlarge */
	double size_B;
	double nodes[JL_SCENARIO_LIST_MAX];
	size_t n_nodes;
};

struct jl_scenario_cost {
	bool wanted;
	const struct jl_yaml *map;
	const struct jl_yaml
		*options[JL_SCENARIO_LIST_MAX]; /* key is buy, own, rent, spot, reserve; text as in jeoul cost */
	const char *kinds[JL_SCENARIO_LIST_MAX];
	size_t n_options;
	double util_frac; /* NAN: 15 % */
	const char *kwh, *tariff, *region, *currency;
	double fx, household_J, horizon_s; /* NAN: not said */
};

/* A question of the reader. `ask` is the kind of question (jl_scenario_asks); without it the text stands alone and cannot be
 * answered: nothing is guessed from words. */
struct jl_scenario_question {
	struct jl_words text;
	const char *ask;        /* or NULL */
	const char *of;         /* name of a system; NULL: all of them */
	const char *mode;       /* ddp, zero2; NULL: all of them */
	const char *what;       /* ask: helps: the change that is meant (advice.key); NULL: any */
	double n_nodes, n_gpus; /* NAN: not said */
	struct jl_where where;
};
extern const char *const jl_scenario_asks[]; /* NULL ends */

/* A purpose or a budget: the whole catalog is searched for it. */
struct jl_scenario_recommend {
	bool wanted;
	const char *purpose, *region;                     /* or NULL */
	double budget_usd, deadline_s, power_W;           /* NAN: no limit */
	double runs, months, gpus_max, fx;                /* NAN: not said; runs a month */
	const char *only[JL_SCENARIO_LIST_MAX], *hows[8]; /* names of accelerators; buy, rent, spot */
	size_t n_only, n_hows;
	struct jl_where where;
};

struct jl_scenario {
	const char *file;
	const struct jl_yaml *root; /* where things stand in it; NULL: no file */
	struct jl_words title, subtitle;
	struct jl_scenario_system systems[JL_SCENARIO_SYSTEMS_MAX];
	size_t n_systems;
	size_t baseline; /* index of the system the others are compared with */

	struct jl_request request;   /* model and how it runs; model NULL: none */
	struct jl_observed observed; /* step_s NAN: none */
	double repeat, tune;         /* NAN: not asked for */

	struct jl_scenario_measured *measured;
	size_t n_measured;
	struct jl_scenario_fetch fetch[JL_SCENARIO_LIST_MAX];
	size_t n_fetch;
	struct jl_scenario_scaling scaling;
	struct jl_scenario_allreduce allreduce;
	struct jl_scenario_cost cost;
	const struct jl_yaml *builds; /* list of parts lists (parts/rig.h), or NULL */
	const struct jl_yaml *claims; /* list, read by report/claims.h; or NULL */
	const struct jl_yaml *inputs; /* map of named figures that the claims rest on; or NULL */
	struct jl_scenario_recommend recommend;
	struct jl_scenario_question questions[JL_SCENARIO_LIST_MAX];
	size_t n_questions;
	const char *sections[JL_SCENARIO_LIST_MAX]; /* none: all that the facts allow */
	size_t n_sections;
};

bool jl_scenario_wants(const struct jl_scenario *scenario, const char *section);

/* An empty scenario. */
struct jl_scenario jl_scenario_empty(const char *file);

/* `this` among the systems becomes the machine's own expression; how many there were. NULL: only counted. */
size_t jl_scenario_put_this(struct jl_yaml *root, const char *system);

enum jl_status jl_scenario_read(struct jl_scenario *ret_scenario, const struct jl_yaml *root,
				const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err);

/* A system by its name (either language) or expression; NULL: none of the scenario's. */
const struct jl_scenario_system *jl_scenario_find(const struct jl_scenario *scenario, const char *name);
