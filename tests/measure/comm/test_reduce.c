/* Reduction of every type with every operation, against plain arithmetic; conversions of 16-bit floats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "comm/reduce.h"

static double get(enum jl_comm_type type, const void *data, size_t i)
{
	switch (type) {
	case JL_COMM_INT8: return ((const int8_t *)data)[i];
	case JL_COMM_UINT8: return ((const uint8_t *)data)[i];
	case JL_COMM_INT32: return ((const int32_t *)data)[i];
	case JL_COMM_UINT32: return ((const uint32_t *)data)[i];
	case JL_COMM_INT64: return (double)((const int64_t *)data)[i];
	case JL_COMM_UINT64: return (double)((const uint64_t *)data)[i];
	case JL_COMM_HALF: return (double)jl_half_to_float(((const uint16_t *)data)[i]);
	case JL_COMM_FLOAT: return (double)((const float *)data)[i];
	case JL_COMM_DOUBLE: return ((const double *)data)[i];
	case JL_COMM_BF16: return (double)jl_bf16_to_float(((const uint16_t *)data)[i]);
	case JL_N_COMM_TYPE: break;
	}
	return NAN;
}

static void put(enum jl_comm_type type, void *data, size_t i, double value)
{
	switch (type) {
	case JL_COMM_INT8: ((int8_t *)data)[i] = (int8_t)value; break;
	case JL_COMM_UINT8: ((uint8_t *)data)[i] = (uint8_t)value; break;
	case JL_COMM_INT32: ((int32_t *)data)[i] = (int32_t)value; break;
	case JL_COMM_UINT32: ((uint32_t *)data)[i] = (uint32_t)value; break;
	case JL_COMM_INT64: ((int64_t *)data)[i] = (int64_t)value; break;
	case JL_COMM_UINT64: ((uint64_t *)data)[i] = (uint64_t)value; break;
	case JL_COMM_HALF: ((uint16_t *)data)[i] = jl_float_to_half((float)value); break;
	case JL_COMM_FLOAT: ((float *)data)[i] = (float)value; break;
	case JL_COMM_DOUBLE: ((double *)data)[i] = value; break;
	case JL_COMM_BF16: ((uint16_t *)data)[i] = jl_float_to_bf16((float)value); break;
	case JL_N_COMM_TYPE: break;
	}
}

static double fold(enum jl_redop op, double a, double b)
{
	return op == JL_RED_PROD ? a * b : op == JL_RED_MIN ? fmin(a, b) : op == JL_RED_MAX ? fmax(a, b) : a + b;
}

static void every_type_and_op(void **state)
{
	enum { N = 5003, SRCS = 4 };
	static unsigned char memory[SRCS + 1][N * 8 + 64];

	(void)state;
	for (int type = 0; type < JL_N_COMM_TYPE; type++)
		for (int op = 0; op < JL_N_REDOP; op++)
			for (int n_srcs = 1; n_srcs <= SRCS; n_srcs++) {
				const void *srcs[SRCS];
				/* the second destination is a source: in place */
				void *dsts[2] = { memory[SRCS], memory[0] };
				static double wanted[N];

				for (size_t i = 0; i < N; i++) {
					wanted[i] = NAN;
					for (int s = 0; s < n_srcs; s++) {
						const double v = (double)((i * 7 + (size_t)s * 3) % 4) +
								 4.0 * (op == JL_RED_AVG);
						const double x = op == JL_RED_PROD ? 1 + fmod(v, 3) : v;

						put((enum jl_comm_type)type, memory[s], i, x);
						wanted[i] = s ? fold((enum jl_redop)op, wanted[i], x) : x;
					}
					if (op == JL_RED_AVG)
						wanted[i] /= n_srcs;
					if (op == JL_RED_AVG && type < JL_COMM_HALF)
						wanted[i] = trunc(wanted[i]);
				}
				for (int s = 0; s < SRCS; s++)
					srcs[s] = memory[s];
				jl_reduce(&(struct jl_reduce){ .type = (enum jl_comm_type)type,
							       .op = (enum jl_redop)op,
							       .srcs = srcs,
							       .n_srcs = n_srcs,
							       .dsts = dsts,
							       .n_dsts = 2,
							       .count = N,
							       .stream = n_srcs & 1 });
				for (size_t i = 0; i < N; i++) {
					double as_type;

					put((enum jl_comm_type)type, memory[1], 0, wanted[i]);
					as_type = get((enum jl_comm_type)type, memory[1], 0);
					assert_true(fabs(get((enum jl_comm_type)type, dsts[0], i) - as_type) <=
						    1e-6 * fabs(as_type));
					assert_true(get((enum jl_comm_type)type, dsts[1], i) ==
						    get((enum jl_comm_type)type, dsts[0], i));
				}
			}
}

static void integers_wrap(void **state)
{
	const int8_t a[] = { 127, -128, 100 }, b[] = { 1, -1, 100 };
	int8_t out[3];
	const void *srcs[] = { a, b };
	void *dsts[] = { out };
	struct jl_reduce r = { .type = JL_COMM_INT8, .srcs = srcs, .n_srcs = 2, .dsts = dsts, .n_dsts = 1, .count = 3 };

	(void)state;
	jl_reduce(&r);
	assert_int_equal(out[0], -128);
	assert_int_equal(out[1], 127);
	r.op = JL_RED_AVG; /* of the exact sum: no wrap */
	jl_reduce(&r);
	assert_int_equal(out[2], 100);
	assert_int_equal(out[0], 64);
}

static void sixteen_bits_round_trip(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 65536; bits++) {
		const float half = jl_half_to_float((unsigned short)bits),
			    bf16 = jl_bf16_to_float((unsigned short)bits);

		if (isnan(half))
			assert_true(isnan(jl_half_to_float(jl_float_to_half(half))));
		else
			assert_int_equal(jl_float_to_half(half), bits);
		if (isnan(bf16))
			assert_true(isnan(jl_bf16_to_float(jl_float_to_bf16(bf16))));
		else
			assert_int_equal(jl_float_to_bf16(bf16), bits);
	}
	assert_int_equal(jl_float_to_half(1.0f), 0x3c00);
	assert_int_equal(jl_float_to_half(65504.0f), 0x7bff);
	assert_int_equal(jl_float_to_half(65520.0f), 0x7c00); /* ties to even: infinity */
	assert_int_equal(jl_float_to_half(1.0f + 0x1p-11f), 0x3c00);
	assert_int_equal(jl_float_to_half(0x1p-24f), 1);
	assert_int_equal(jl_float_to_bf16(1.0f + 0x1p-8f), 0x3f80);
	assert_int_equal(jl_float_to_bf16(1.0f + 3 * 0x1p-8f), 0x3f82);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_op),
		cmocka_unit_test(integers_wrap),
		cmocka_unit_test(sixteen_bits_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
