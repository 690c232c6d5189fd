/* Cache for fits: most parameters affect one family or engine only, so other rows keep their residuals. Two entries per key; the less recently used
 * one is replaced. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct jl_kept {
	size_t physics_B, n_keys, n_rows;
	unsigned char *physics; /* three slots per key: two cached, one requested */
	unsigned char *state;   /* per key: filled slots, last used slot, known in this round */
	double *r;              /* two residuals per row */
};

enum jl_status jl_kept_make(struct jl_kept *ret_kept, size_t physics_B, size_t n_keys, size_t n_rows,
			    struct jl_err *err);
void jl_kept_release(struct jl_kept *kept);
/* Starts a round with a new vector of parameters. */
void jl_kept_begin(struct jl_kept *kept);
/* NULL: the key's physics is known in this round; else where to write it before jl_kept_settle. */
void *jl_kept_ask(struct jl_kept *kept, size_t key);
void jl_kept_settle(struct jl_kept *kept, size_t key);
/* The key's physics, and the slot of a row's residual; *ret_fresh: the residual must be computed. */
const void *jl_kept_at(const struct jl_kept *kept, size_t key, size_t row, double **ret_r, bool *ret_fresh);
