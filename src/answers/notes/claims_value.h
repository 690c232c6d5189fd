/* Values with a dimension, for the expressions of claims. Seconds and bytes cannot be added, nor dollars and won. Ranges (0.4..0.6 s) and
 * intervals of estimates are propagated. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/units.h"

enum jl_base_dim {
	JL_DIM_S,
	JL_DIM_B,
	JL_DIM_FLOP,
	JL_DIM_OP,
	JL_DIM_J,
	JL_DIM_M,
	JL_DIM_G,
	JL_DIM_USD,
	JL_DIM_KRW,
	JL_N_DIM
};

struct jl_dim {
	signed char e[JL_N_DIM]; /* exponents, e.g. W is J^1 s^-1 */
};

struct jl_val {
	double v, lo, hi; /* SI base units; lo = v = hi if exact */
	struct jl_dim dim;
	bool estimate; /* lo and hi are an estimate's interval, not a written range */
};

struct jl_val jl_val_number(double v);
struct jl_val jl_val_of(double v, enum jl_kind kind);
struct jl_val jl_val_range(double v, double lo, double hi, enum jl_kind kind, bool estimate);

bool jl_dim_same(const struct jl_dim *a, const struct jl_dim *b);
bool jl_dim_none(const struct jl_dim *dim);
/* "s", "B/s", "USD/s", for messages. Returns `out`. */
#define JL_DIM_TEXT_MAX 64
const char *jl_dim_text(char out[JL_DIM_TEXT_MAX], const struct jl_dim *dim);

/* op is + - * or /. JL_E_UNIT: incompatible units; JL_E_RANGE: division by zero or overflow. */
enum jl_status jl_val_apply(struct jl_val *ret_val, char op, const struct jl_val *a, const struct jl_val *b,
			    struct jl_err *err);
struct jl_val jl_val_negated(const struct jl_val *a);

/* Finds a unit by name: h, GB, kWh, USD, TFLOPS, samples. */
bool jl_unit_value(struct jl_val *ret_val, const char *name, size_t len);
