/* Most parameters of a fit are of one family or engine: what the rows of the others gave is kept. Two sets of physics of each key, the
 * one that was used less recently makes room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct jl_kept {
	size_t physics_B, n_keys, n_rows;
	unsigned char *physics; /* two of each key */
	unsigned char *state;   /* of each key: filled, which was last, whether it is known in this round */
	double *r;              /* two of each row */
};

enum jl_status jl_kept_make(struct jl_kept *ret_kept, size_t physics_B, size_t n_keys, size_t n_rows,
			    struct jl_err *err);
void jl_kept_release(struct jl_kept *kept);
/* A new vector of parameters. */
void jl_kept_begin(struct jl_kept *kept);
/* NULL: this key's physics is known in this round; else where to write it, and then settle. */
void *jl_kept_ask(struct jl_kept *kept, size_t key);
void jl_kept_settle(struct jl_kept *kept, size_t key);
/* The key's physics, and the place of a row's residual; *ret_fresh: not computed yet. */
const void *jl_kept_at(const struct jl_kept *kept, size_t key, size_t row, double **ret_r, bool *ret_fresh);
