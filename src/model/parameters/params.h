/* Fitted parameters by name: what they are, and the values that the catalog ships (catalog/params.yaml, written by
 * `jeoul calibrate --fit`). A vector of them becomes a device, a link, a profile in the other files of this room. */
#pragma once

#include <stddef.h>

#include "catalog/catalog.h"

/* Parameters are positive and fitted as ln x. */
struct jl_param {
	char name[80];    /* gemm.family.hopper.mem_frac: as the catalog's id */
	const char *unit; /* "1", "s", "B/s", ... */
	double lo, hi;
	double prior;       /* expected before any row: what a parameter without rows keeps */
	double prior_sd_ln; /* how far, as ln, a fit may go from it before the data must insist */
};

/* The name from its parts: "gemm.family.", "hopper", "mem_frac". Without printf, because a prediction puts hundreds together. */
void jl_param_name(struct jl_param *param, const char *head, const char *owner, const char *tail);

/* A table says each once, PARAMS(X) with X(place, name, unit, lo, hi, prior, sd): an enum of the places and the rows follow. */
#define JL_PARAM_PLACE(place, ...) place,
#define JL_PARAM_ROW(place, ...)   { __VA_ARGS__ },

/* One vector: what stands at each place. */
struct jl_param_list {
	size_t n;
	const struct jl_param *table; /* NULL: `at` says it */
	void (*at)(const void *ctx, size_t i, struct jl_param *ret_param);
	const void *ctx;
	/* what `ctx` says, where that is all that the names depend on: read once, kept by the thread; NULL: not kept */
	const char *key;
};
void jl_param_of(const struct jl_param_list *list, size_t i, struct jl_param *ret_param);

/* Where a catalog's parameters lie and, unless it is the one built in, what they come to: what was read from them holds as long as this is the same. */
struct jl_params_mark {
	const struct jl_param_info *params;
	size_t n;
	double sum;
};
struct jl_params_mark jl_params_mark(const struct jl_catalog *cat);
bool jl_params_same(const struct jl_params_mark *a, const struct jl_params_mark *b);

/* The catalog's values of all of them; the prior where it has none. */
void jl_params_read(const struct jl_catalog *cat, const struct jl_param_list *list, double *ret_x);
void jl_params_start(const struct jl_param_list *list, double *ret_x); /* the priors */

/* True where rows measure a parameter whose name begins with `prefix`, which ends with a dot. */
bool jl_params_seen(const struct jl_catalog *cat, const char *prefix);

/* A vector whose last `n_own` are one GPU's own, and those before it shared by all; ctx NULL: none are one GPU's. True where that GPU has rows. */
bool jl_params_own(const struct jl_catalog *cat, struct jl_param_list list, size_t n_own, double *ret_x);
