/* Fitted parameters by name: metadata, and the values in catalog/params.yaml (written by `jeoul calibrate --fit`). Other files of this module turn
 * vectors of them into devices, links and profiles. */
#pragma once

#include <stddef.h>

#include "catalog/catalog.h"

/* Parameters are positive and fitted as ln x. */
struct jl_param {
	char name[80];    /* gemm.family.hopper.mem_frac: id in the catalog */
	const char *unit; /* "1", "s", "B/s", ... */
	double lo, hi;
	double prior;       /* value without rows */
	double prior_sd_ln; /* standard deviation of the prior, as ln */
};

/* Builds the name from its parts: "gemm.family.", "hopper", "mem_frac". Avoids snprintf, because a prediction builds hundreds of names. */
void jl_param_name(struct jl_param *param, const char *head, const char *owner, const char *tail);

/* X-macro tables of parameters: PARAMS(X) with X(place, name, unit, lo, hi, prior, sd) defines the enum of indices and the rows. */
#define JL_PARAM_PLACE(place, ...) place,
#define JL_PARAM_ROW(place, ...)   { __VA_ARGS__ },

/* Describes one vector of parameters. */
struct jl_param_list {
	size_t n;
	const struct jl_param *table; /* rows of the parameters; NULL: call `at` */
	void (*at)(const void *ctx, size_t i, struct jl_param *ret_param);
	const void *ctx;
	/* cache key: all that the names depend on besides the catalog; NULL: do not cache */
	const char *key;
};
void jl_param_of(const struct jl_param_list *list, size_t i, struct jl_param *ret_param);

/* Identifies a catalog's parameters: address and, unless built in, a hash of the values. Cached results are valid while it is equal. */
struct jl_params_mark {
	const struct jl_param_info *params;
	size_t n;
	double sum;
};
struct jl_params_mark jl_params_mark(const struct jl_catalog *cat);
bool jl_params_same(const struct jl_params_mark *a, const struct jl_params_mark *b);

/* Reads all values from the catalog; missing ones get the prior. */
void jl_params_read(const struct jl_catalog *cat, const struct jl_param_list *list, double *ret_x);
void jl_params_start(const struct jl_param_list *list, double *ret_x); /* sets all to their priors */

/* True if rows measured a parameter whose name begins with `prefix` (which ends with a dot). */
bool jl_params_seen(const struct jl_catalog *cat, const char *prefix);

/* Reads a vector whose last `n_own` values are one GPU's factors. ctx NULL: no GPU. True if that GPU was measured. */
bool jl_params_own(const struct jl_catalog *cat, struct jl_param_list list, size_t n_own, double *ret_x);
