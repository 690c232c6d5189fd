/* The validation set power: published average power of GPUs and of whole nodes at work. */
#ifndef JL_BELIEF_SET_POWER_H
#define JL_BELIEF_SET_POWER_H

#include <stddef.h>

#include "base/err.h"
#include "model/power.h"
#include "physics/power_params.h"

/* The columns that are read; NULL or "" where empty. */
struct jl_power_cells {
	const char *gpu, *n_gpus, *workload, *model, *precision, *batch, *power_limit_w, *avg_power_w_total,
		*avg_power_w_per_gpu, *scope, *throughput, *throughput_unit;
};

struct jl_power_find {
	enum jl_status (*device)(void *ctx, const char *text, struct jl_device *ret_dev, struct jl_err *err);
	void *ctx;
	const struct jl_catalog *cat; /* models that are served */
};

enum jl_power_assumed {
	JL_POWER_ASSUMED_ACTIVITY = 1, /* what the work moves and computes is not known: a typical share of the TDP */
	JL_POWER_ASSUMED_HOST = 2      /* the node's other parts */
};

struct jl_power_row {
	struct jl_device dev;
	struct jl_power_in in; /* of one GPU */
	double activity_frac;  /* NAN, or: demand above idle, as a share of what is between idle and the cap */
	int n_gpus;
	double host_W; /* the node's other parts; 0 where the boards alone are measured */
	double meas_W; /* of the whole scope */
	unsigned assumed;
};

enum jl_status jl_power_row_read(struct jl_power_row *ret_row, const struct jl_power_cells *cells,
				 const struct jl_power_find *find, struct jl_err *err);

/* Predicted power of the row's scope. */
double jl_power_row_W(const struct jl_power_row *row, const struct jl_power_fit *fit);
double jl_power_ln_ratio(const struct jl_power_row *row, const struct jl_power_fit *fit);

/* Fits on the rows where use[i] is not 0 (NULL: all). x: start in, best out. */
enum jl_status jl_power_solve(const struct jl_power_row *rows, size_t n_rows, const unsigned char *use, double *x,
			      double *ret_cost, struct jl_err *err);

#endif
