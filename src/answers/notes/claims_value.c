/* Arithmetic on values with dimensions. */
#include "notes/claims_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXPONENT_MAX 8

static const char *const dim_names[JL_N_DIM] = { "s", "B", "FLOP", "OP", "J", "m", "g", "USD", "KRW" };

#define DIM(...) ((struct jl_dim){ .e = { __VA_ARGS__ } })

static struct jl_dim kind_dim(enum jl_kind kind)
{
	switch (kind) {
	case JL_K_BYTES: return DIM([JL_DIM_B] = 1);
	case JL_K_BYTE_RATE: return DIM([JL_DIM_B] = 1, [JL_DIM_S] = -1);
	case JL_K_TIME: return DIM([JL_DIM_S] = 1);
	case JL_K_FREQUENCY:
	case JL_K_COUNT_RATE: return DIM([JL_DIM_S] = -1);
	case JL_K_FLOP: return DIM([JL_DIM_FLOP] = 1);
	case JL_K_FLOP_RATE: return DIM([JL_DIM_FLOP] = 1, [JL_DIM_S] = -1);
	case JL_K_OP_RATE: return DIM([JL_DIM_OP] = 1, [JL_DIM_S] = -1);
	case JL_K_POWER: return DIM([JL_DIM_J] = 1, [JL_DIM_S] = -1);
	case JL_K_ENERGY: return DIM([JL_DIM_J] = 1);
	case JL_K_LENGTH: return DIM([JL_DIM_M] = 1);
	case JL_K_MASS: return DIM([JL_DIM_G] = 1);
	case JL_K_USD:
	case JL_K_MONEY: return DIM([JL_DIM_USD] = 1);
	case JL_K_KRW: return DIM([JL_DIM_KRW] = 1);
	case JL_K_USD_RATE: return DIM([JL_DIM_USD] = 1, [JL_DIM_S] = -1);
	case JL_K_USD_ENERGY: return DIM([JL_DIM_USD] = 1, [JL_DIM_J] = -1);
	case JL_K_KRW_ENERGY: return DIM([JL_DIM_KRW] = 1, [JL_DIM_J] = -1);
	case JL_K_MASS_ENERGY: return DIM([JL_DIM_G] = 1, [JL_DIM_J] = -1);
	case JL_K_NUMBER:
	case JL_K_FRACTION:
	case JL_N_KIND: break;
	}
	return DIM(0);
}

struct jl_val jl_val_range(double v, double lo, double hi, enum jl_kind kind, bool estimate)
{
	return (struct jl_val){ .v = v, .lo = lo, .hi = hi, .dim = kind_dim(kind), .estimate = estimate };
}

struct jl_val jl_val_of(double v, enum jl_kind kind)
{
	return jl_val_range(v, v, v, kind, false);
}

struct jl_val jl_val_number(double v)
{
	return jl_val_of(v, JL_K_NUMBER);
}

bool jl_dim_same(const struct jl_dim *a, const struct jl_dim *b)
{
	return memcmp(a->e, b->e, sizeof a->e) == 0;
}

bool jl_dim_none(const struct jl_dim *dim)
{
	const struct jl_dim none = DIM(0);

	return jl_dim_same(dim, &none);
}

const char *jl_dim_text(char out[JL_DIM_TEXT_MAX], const struct jl_dim *dim)
{
	size_t len = 0;

	out[0] = '\0';
	for (int side = 1; side >= -1; side -= 2)
		for (int i = 0; i < JL_N_DIM; i++) {
			const int e = side * dim->e[i];

			if (e <= 0 || len >= JL_DIM_TEXT_MAX - 12)
				continue;
			if (side < 0 && !len)
				len += (size_t)snprintf(out + len, JL_DIM_TEXT_MAX - len, "1");
			if (len)
				out[len++] = side < 0 ? '/' : '*';
			len += (size_t)snprintf(out + len, JL_DIM_TEXT_MAX - len, e > 1 ? "%s^%d" : "%s", dim_names[i],
						e);
		}
	return len ? out : "1";
}

struct jl_val jl_val_negated(const struct jl_val *a)
{
	struct jl_val r = *a;

	r.v = -a->v;
	r.lo = -a->hi;
	r.hi = -a->lo;
	return r;
}

static double by(char op, double a, double b)
{
	return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
}

/* Evaluates all corners of two intervals. Exact for all four operators, since divisors that contain zero are rejected earlier. */
static void corners(struct jl_val *r, char op, const struct jl_val *a, const struct jl_val *b)
{
	const double as[2] = { a->lo, a->hi }, bs[2] = { b->lo, b->hi };

	r->v = by(op, a->v, b->v);
	r->lo = INFINITY;
	r->hi = -INFINITY;
	for (int i = 0; i < 4; i++) {
		const double x = by(op, as[i / 2], bs[i % 2]);

		r->lo = fmin(r->lo, x);
		r->hi = fmax(r->hi, x);
	}
}

static enum jl_status combine_dims(struct jl_dim *dim, char op, const struct jl_dim *a, const struct jl_dim *b,
				   struct jl_err *err)
{
	char left[JL_DIM_TEXT_MAX], right[JL_DIM_TEXT_MAX];

	if (op == '+' || op == '-') {
		*dim = *a;
		if (jl_dim_same(a, b))
			return JL_OK;
		return jl_fail(err, JL_E_UNIT, "'%c' between %s and %s: the units differ", op, jl_dim_text(left, a),
			       jl_dim_text(right, b));
	}
	for (int i = 0; i < JL_N_DIM; i++) {
		const int e = a->e[i] + (op == '*' ? b->e[i] : -b->e[i]);

		if (e > EXPONENT_MAX || e < -EXPONENT_MAX)
			return jl_fail(err, JL_E_UNIT, "a unit to a power above %d", EXPONENT_MAX);
		dim->e[i] = (signed char)e;
	}
	return JL_OK;
}

enum jl_status jl_val_apply(struct jl_val *ret_val, char op, const struct jl_val *a, const struct jl_val *b,
			    struct jl_err *err)
{
	struct jl_val r = { .estimate = a->estimate || b->estimate };

	JL_TRY(combine_dims(&r.dim, op, &a->dim, &b->dim, err));
	if (op == '/' && (b->lo <= 0 && b->hi >= 0))
		return jl_fail(err, JL_E_RANGE, "a division by zero");
	corners(&r, op, a, b);
	if (!isfinite(r.v) || !isfinite(r.lo) || !isfinite(r.hi))
		return jl_fail(err, JL_E_RANGE, "the result is too large");
	*ret_val = r;
	return JL_OK;
}

/* Unit spellings. Decimal prefixes of B, FLOP, W, Wh, J, Hz are added below. */
static const struct {
	const char *name;
	double factor;
	enum jl_kind kind;
} units[] = {
	{ "s", 1, JL_K_TIME },
	{ "ms", 1e-3, JL_K_TIME },
	{ "us", 1e-6, JL_K_TIME },
	{ "min", 60, JL_K_TIME },
	{ "h", 3600, JL_K_TIME },
	{ "d", 86400, JL_K_TIME },
	{ "days", 86400, JL_K_TIME },
	{ "weeks", 604800, JL_K_TIME },
	{ "months", 2628000, JL_K_TIME },
	{ "years", 31536000, JL_K_TIME },
	{ "KiB", 1024, JL_K_BYTES },
	{ "MiB", 1048576, JL_K_BYTES },
	{ "GiB", 1073741824, JL_K_BYTES },
	{ "TiB", 1099511627776, JL_K_BYTES },
	{ "Gbit", 125e6, JL_K_BYTES },
	{ "Mbit", 125e3, JL_K_BYTES },
	{ "USD", 1, JL_K_USD },
	{ "KRW", 1, JL_K_KRW },
	{ "mm", 1e-3, JL_K_LENGTH },
	{ "g", 1, JL_K_MASS },
	{ "samples", 1, JL_K_NUMBER },
	{ "tokens", 1, JL_K_NUMBER },
	{ "x", 1, JL_K_NUMBER },
};

static const struct {
	const char *name;
	double factor;
	enum jl_kind kind;
} prefixed[] = {
	{ "B", 1, JL_K_BYTES },     { "FLOP", 1, JL_K_FLOP },    { "FLOPS", 1, JL_K_FLOP_RATE },
	{ "OPS", 1, JL_K_OP_RATE }, { "W", 1, JL_K_POWER },      { "Wh", 3600, JL_K_ENERGY },
	{ "J", 1, JL_K_ENERGY },    { "Hz", 1, JL_K_FREQUENCY },
};

bool jl_unit_value(struct jl_val *ret_val, const char *name, size_t len)
{
	static const struct {
		char letter;
		double factor;
	} prefixes[] = { { 'k', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 }, { 'T', 1e12 }, { 'P', 1e15 } };
	double factor = 1;

	for (size_t i = 0; i < JL_LEN(units); i++)
		if (strlen(units[i].name) == len && memcmp(units[i].name, name, len) == 0) {
			*ret_val = jl_val_of(units[i].factor, units[i].kind);
			return true;
		}
	for (size_t i = 0; len > 1 && i < JL_LEN(prefixes) && factor < 2; i++)
		if (name[0] == prefixes[i].letter)
			factor = prefixes[i].factor;
	for (int skip = 0; skip <= (factor > 1 ? 1 : 0); skip++)
		for (size_t i = 0; i < JL_LEN(prefixed); i++)
			if (strlen(prefixed[i].name) == len - (size_t)skip &&
			    memcmp(prefixed[i].name, name + skip, len - (size_t)skip) == 0) {
				*ret_val = jl_val_of(prefixed[i].factor * (skip ? factor : 1), prefixed[i].kind);
				return true;
			}
	return false;
}
