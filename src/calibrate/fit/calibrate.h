/* Fits all sets from their priors in the order of jl_sets; the result is catalog/params.yaml. Reads texts, allocates in an arena, prints nothing.
 * Deterministic to the last digit. */
#pragma once

#include "base/buf.h"
#include "rows/set.h"

#define JL_CALIBRATE_SETS_MAX 24

struct jl_calibrate_file {
	const char *name; /* as in jl_set_ops.files: train_llm */
	const char *path; /* name for messages */
	const char *text;
	size_t len;
};

/* Result of a set's fit. */
struct jl_calibrated {
	const struct jl_set_ops *ops;
	size_t n_rows;
	size_t n_resid; /* residuals minimised */
	size_t n_param; /* parameters that affect these rows */
	double median_abs_ln, p90_abs_ln;
};

struct jl_calibration {
	struct jl_calibrated sets[JL_CALIBRATE_SETS_MAX];
	size_t n_sets;
	size_t n_width_param; /* parameters of intervals (interval.*); 0: a set was missing, so they were not fitted */
	const struct jl_param_info *params; /* sorted by id */
	size_t n_params;
};

struct jl_calibrate_in {
	const char *only;             /* fit only this set, keeping the values of the others; NULL: all */
	const struct jl_catalog *cat; /* facts; its parameters are kept for sets without a file here */
	const struct jl_calibrate_file *files;
	size_t n_files;
	void (*progress)(void *ctx, const char *set, size_t done, size_t total); /* NULL: no progress reports */
	void *ctx;
};

enum jl_status jl_calibrate(struct jl_calibration *ret_calibration, const struct jl_calibrate_in *in,
			    struct jl_arena *arena, struct jl_err *err);

/* Table of every parameter at its shipped value, as CSV: prior, value, posterior width / prior width, number of rows and sources that constrain it.
 */
enum jl_status jl_calibrate_table(struct jl_buf *out, const struct jl_calibrate_in *in, struct jl_arena *arena,
				  struct jl_err *err);

/* Text of catalog/params.yaml. */
void jl_calibrate_yaml(struct jl_buf *out, const struct jl_calibration *calibration);
