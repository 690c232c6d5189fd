/* Every set fitted from its priors, in the order of jl_sets: what catalog/params.yaml ships. Reads texts, allocates in an
 * arena, prints nothing. The same texts and catalog give the same text, digit by digit. */
#pragma once

#include "base/buf.h"
#include "rows/set.h"

#define JL_CALIBRATE_SETS_MAX 24

struct jl_calibrate_file {
	const char *name; /* as in jl_set_ops.files: train_llm */
	const char *path; /* what messages call it */
	const char *text;
	size_t len;
};

/* What a set's fit found. */
struct jl_calibrated {
	const struct jl_set_ops *ops;
	size_t n_rows;  /* read */
	size_t n_resid; /* of them scored: what the fit minimises */
	size_t n_param; /* that these rows know */
	double median_abs_ln, p90_abs_ln;
};

struct jl_calibration {
	struct jl_calibrated sets[JL_CALIBRATE_SETS_MAX];
	size_t n_sets;
	size_t n_width_param; /* of intervals (interval.*); 0: not every set was there, and they stay as they are */
	const struct jl_param_info *params; /* in the order of their ids */
	size_t n_params;
};

struct jl_calibrate_in {
	const char *only;             /* fit this set alone, the others keep what they have; NULL: all */
	const struct jl_catalog *cat; /* facts; its parameters are kept for sets that have no file here */
	const struct jl_calibrate_file *files;
	size_t n_files;
	void (*progress)(void *ctx, const char *set, size_t done, size_t total); /* NULL: no progress is reported */
	void *ctx;
};

enum jl_status jl_calibrate(struct jl_calibration *ret_calibration, const struct jl_calibrate_in *in,
			    struct jl_arena *arena, struct jl_err *err);

/* Every parameter at its shipped value, as CSV: prior, value, what is left of the prior's width when the rows have spoken, rows and sources
 * that know it. */
enum jl_status jl_calibrate_table(struct jl_buf *out, const struct jl_calibrate_in *in, struct jl_arena *arena,
				  struct jl_err *err);

/* The text of catalog/params.yaml. */
void jl_calibrate_yaml(struct jl_buf *out, const struct jl_calibration *calibration);
