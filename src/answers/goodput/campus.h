/* Site of a job: racks, power with cooling and its cap, carbon, rental minima, network fabrics. */
#pragma once

#include "predict/predict.h"

/* Options as given; NAN: not given. */
struct jl_campus_ask {
	double cap_W;      /* of the building */
	double rack_W;     /* limit of one rack */
	double carbon_gpJ; /* of the grid */
	int grid;          /* selected grid: index in jl_grids */
	double block_gpus; /* rental block size */
	double least_s;    /* minimum rental time */
	double oversub;    /* oversubscription of the fabric: bandwidth below over above */
	bool fabrics;
};

/* Network topologies. The job's own network is assumed to be the first. */
enum jl_fabric_kind {
	JL_FABRIC_RAIL,            /* rail-optimised, non-blocking */
	JL_FABRIC_TAPERED,         /* pods with a narrower uplink; hosts in pod order */
	JL_FABRIC_TAPERED_APART,   /* as above, hosts scattered */
	JL_FABRIC_DRAGONFLY,       /* fully connected groups; hosts in group order */
	JL_FABRIC_DRAGONFLY_APART, /* as above, hosts scattered */
	JL_N_FABRIC_KIND
};
struct jl_fabric_row {
	double n_gpus;
	double step_s[JL_N_FABRIC_KIND]; /* with the job's samples per GPU */
};
#define JL_FABRIC_ROWS_MAX 10

struct jl_campus {
	double n_racks, hosts_a_rack, rack_W; /* racks by the maximum power of hosts */
	double machines_W, site_W;            /* average while the job computes; with cooling */
	double standing_W;                    /* with cooling, while the job waits or restarts: GPUs idle */
	double cap_W;                         /* NAN: none */
	double gpu_frac;                      /* dynamic GPU power left under the cap; 1: all */
	double slow_frac;                     /* relative increase of the step time */
	double tokens_per_MWh;                /* NAN: no tokens */
	double energy_J;                      /* of the run, or of 30 days; NAN: it never ends */
	struct {
		const char *grid, *source, *date;
		double g_per_kWh, co2_g;
	} grids[4];
	size_t n_grids;
	double paid_gpus, paid_s, paid_usd, unused_usd; /* with rental blocks or a minimum time; NAN: not asked for */
	double oversub;
	size_t n_rows;
	struct jl_fabric_row rows[JL_FABRIC_ROWS_MAX];
};

struct jl_campus_ask jl_campus_ask_empty(void);

/* Grids with CO2 data in the catalog, by option name; the first two are the default. */
extern const char *const jl_grids[];

/* Applies a power cap to the steps: JL_E_RANGE if idle machines exceed it. */
enum jl_status jl_campus_cap(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job,
			     struct jl_err *err);
/* Completes the result once the job's duration, useful share and energy are known. `n_gpus`: with spares. */
void jl_campus_weigh(struct jl_campus *campus, const struct jl_campus_ask *ask, const struct jl_job *job,
		     const struct jl_catalog *cat, double n_gpus, double elapsed_s, double useful_frac);
