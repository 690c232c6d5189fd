/* What a site is to a job: racks, power with cooling and its cap, carbon, rental minima, fabrics of the network. */
#pragma once

#include "predict/predict.h"

/* What was said; NAN: not. */
struct jl_campus_ask {
	double cap_W;      /* of the building */
	double rack_W;     /* that a rack may draw */
	double carbon_gpJ; /* of the grid */
	int grid;          /* one by name: index of jl_grids */
	double block_gpus; /* rented in blocks of so many */
	double least_s;    /* for at least so long */
	double oversub;    /* of the fabric, below it to above it */
	bool fabrics;
};

/* How hosts are joined. The job's own network is taken to be the first. */
enum jl_fabric_kind {
	JL_FABRIC_RAIL,            /* rail-optimised, non-blocking */
	JL_FABRIC_TAPERED,         /* pods whose way up is narrower; hosts in the order of pods */
	JL_FABRIC_TAPERED_APART,   /* the same, hosts anywhere */
	JL_FABRIC_DRAGONFLY,       /* groups, each joined to each; hosts in the order of groups */
	JL_FABRIC_DRAGONFLY_APART, /* the same, hosts anywhere */
	JL_N_FABRIC_KIND
};
struct jl_fabric_row {
	double n_gpus;
	double step_s[JL_N_FABRIC_KIND]; /* as many samples for each GPU as the job has */
};
#define JL_FABRIC_ROWS_MAX 10

struct jl_campus {
	double n_racks, hosts_a_rack, rack_W; /* racks by what hosts draw at most */
	double machines_W, site_W;            /* on average while the job computes; with cooling */
	double standing_W;                    /* with cooling, while it waits or restarts: GPUs are idle */
	double cap_W;                         /* NAN: none */
	double gpu_frac;                      /* of what GPUs would draw above idle: left under the cap; 1: all */
	double slow_frac;                     /* steps take so much longer */
	double tokens_per_MWh;                /* NAN: no tokens */
	double energy_J;                      /* of the run, or of 30 days; NAN: it does not end */
	struct {
		const char *grid, *source, *date;
		double g_per_kWh, co2_g;
	} grids[4];
	size_t n_grids;
	double paid_gpus, paid_s, paid_usd,
		unused_usd; /* where blocks or a least time are rented; NAN: not asked for */
	double oversub;
	size_t n_rows;
	struct jl_fabric_row rows[JL_FABRIC_ROWS_MAX];
};

struct jl_campus_ask jl_campus_ask_empty(void);

/* Grids whose CO2 the catalog has, as options name them; the first two are shown where none is named. */
extern const char *const jl_grids[];

/* Steps under a cap of power: JL_E_RANGE where idle machines draw more. */
enum jl_status jl_campus_cap(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job,
			     struct jl_err *err);
/* The rest, once it is known how long the job takes, how much of that is useful, and its energy. `n_gpus`: with spares. */
void jl_campus_weigh(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job,
		     const struct jl_catalog *cat, double n_gpus, double elapsed_s, double useful_frac);
