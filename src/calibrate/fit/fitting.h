/* One set during a fit or analysis. Private to calibrate/fit (calibrate.c fits, table.c analyses the parameters). */
#pragma once

#include "fit/calibrate.h"
#include "rows/set_rows.h"
#include "score/validate.h"

#define FITTING_FILES_MAX 16

struct work {
	const struct jl_calibrate_in *in;
	struct jl_arena *arena;
	struct jl_catalog cat; /* parameters fitted so far, and old ones of later sets */
	struct jl_param_info *params;
	size_t n_params, room;
	struct jl_calibration *out;
};

/* One set during its fit. */
struct fitting {
	const struct jl_set_ops *ops;
	struct jl_set_data *data;
	struct jl_set_rows rows;
	double *x;
	double *base; /* predictions with x, one per row */
	unsigned char *only;
	struct jl_known known;
	size_t end[FITTING_FILES_MAX]; /* per file of the set: index after its last row */
};

/* Reads the files of f->ops; f->data stays NULL if there are none. */
enum jl_status jl_fitting_load(struct work *w, struct fitting *f, struct jl_err *err);
/* Number of rows whose prediction changes when parameter j moves slightly; leaves those predictions in f->rows. */
int jl_fitting_rows(struct fitting *f, const struct jl_param *param, size_t j);
