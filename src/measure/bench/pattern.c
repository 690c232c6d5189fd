/* Creates and checks the test data of collectives. */
#include "bench/pattern.h"

#include <stdint.h>
#include <string.h>

#include "comm/reduce.h"

#define P JL_PATTERN_PERIOD

static bool in_parts(enum jl_coll coll)
{
	return jl_coll_shapes[coll].deals || jl_coll_shapes[coll].gathers;
}

size_t jl_pattern_count(const struct jl_bench_task *task, int n_ranks)
{
	const size_t size_B = jl_comm_type_B(task->type), n = task->size_B / size_B, step = 16 / size_B;
	size_t count = in_parts(task->coll) ? n / (size_t)n_ranks : n;

	if (in_parts(task->coll) && count > step)
		count -= count % step; /* parts are multiples of 16 bytes, as in nccl-tests */
	return count ? count : 1;
}

size_t jl_pattern_size_B(const struct jl_bench_task *task, int n_ranks)
{
	return jl_pattern_count(task, n_ranks) * jl_comm_type_B(task->type) *
	       (in_parts(task->coll) ? (size_t)n_ranks : 1);
}

struct jl_coll_call jl_pattern_call(const struct jl_bench_task *task, int rank, int n_ranks, char *send, char *recv)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[task->coll];
	const size_t count = jl_pattern_count(task, n_ranks), own_B = (size_t)rank * count * jl_comm_type_B(task->type);

	if (task->in_place)
		recv = send;
	if (task->in_place && shape->gathers && !shape->deals)
		send += own_B;
	if (task->in_place && shape->deals && !shape->gathers)
		recv += own_B;
	return (struct jl_coll_call){ .coll = task->coll,
				      .type = task->type,
				      .op = task->op,
				      .root = task->root,
				      .count = count,
				      .send = send,
				      .recv = recv };
}

static uint64_t mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15u;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ (x >> 32);
}

/* Element j of the data that `rank` sends. Sums stay below 121 (exact in int8 and bfloat16); products are powers of two up to 8. */
static unsigned value(const struct jl_pattern *p, int rank, size_t j)
{
	const size_t n = (size_t)p->n_ranks, r = (size_t)rank;
	const uint64_t h = mix(j * 4099 + r + 1);

	if (!jl_coll_reduces(p->task->coll))
		return (unsigned)(h % 120);
	switch (p->task->op) {
	case JL_RED_PROD: return (r + j) % n < j % 4 ? 2 : 1;
	case JL_RED_MIN:
	case JL_RED_MAX: return (unsigned)(h % 120);
	case JL_RED_SUM:
	case JL_RED_AVG:
	case JL_N_REDOP: break;
	}
	if (n > 60)
		return (r + j) % n < 100;
	return (unsigned)(h % (120 / n + 1 > 8 ? 8 : 120 / n + 1));
}

static unsigned reduced(const struct jl_pattern *p, size_t j)
{
	unsigned all = value(p, 0, j);

	for (int r = 1; r < p->n_ranks; r++) {
		const unsigned v = value(p, r, j);

		switch (p->task->op) {
		case JL_RED_PROD: all *= v; break;
		case JL_RED_MIN: all = v < all ? v : all; break;
		case JL_RED_MAX: all = v > all ? v : all; break;
		case JL_RED_SUM:
		case JL_RED_AVG:
		case JL_N_REDOP: all += v; break;
		}
	}
	return all;
}

/* Stores `v` / `n` in the element type: integers truncate, floats round once. */
static void put(enum jl_comm_type type, char *to, unsigned v, unsigned n)
{
	const uint64_t whole = v / n;
	const float f = (float)v / (float)n;
	const double d = (double)v / (double)n;
	uint16_t h;

	switch (type) {
	case JL_COMM_HALF: h = jl_float_to_half(f), memcpy(to, &h, sizeof(h)); break;
	case JL_COMM_BF16: h = jl_float_to_bf16(f), memcpy(to, &h, sizeof(h)); break;
	case JL_COMM_FLOAT: memcpy(to, &f, sizeof(f)); break;
	case JL_COMM_DOUBLE: memcpy(to, &d, sizeof(d)); break;
	case JL_COMM_INT8:
	case JL_COMM_UINT8: *(unsigned char *)to = (unsigned char)whole; break;
	case JL_COMM_INT32:
	case JL_COMM_UINT32: memcpy(to, &(uint32_t){ (uint32_t)whole }, 4); break;
	case JL_COMM_INT64:
	case JL_COMM_UINT64: memcpy(to, &whole, 8); break;
	case JL_N_COMM_TYPE: break;
	}
}

/* One period of the data that `rank` sends; rank -1: of the reduced result. */
static void make_period(const struct jl_pattern *p, int rank, char ret_period[P * 8])
{
	const size_t size_B = jl_comm_type_B(p->task->type);
	const bool average = rank < 0 && p->task->op == JL_RED_AVG;

	for (size_t j = 0; j < P; j++)
		put(p->task->type, ret_period + j * size_B, rank < 0 ? reduced(p, j) : value(p, rank, j),
		    average ? (unsigned)p->n_ranks : 1);
}

/* Writes elements [from, from + n) of the repeated period. */
static void lay(const char *period, size_t size_B, size_t from, char *to, size_t n)
{
	for (size_t i = 0; i < n;) {
		const size_t at = (from + i) % P, len = P - at < n - i ? P - at : n - i;

		memcpy(to + i * size_B, period + at * size_B, len * size_B);
		i += len;
	}
}

static size_t differ(const char *period, size_t size_B, size_t from, const char *got, size_t n)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n;) {
		const size_t at = (from + i) % P, len = P - at < n - i ? P - at : n - i;

		if (memcmp(got + i * size_B, period + at * size_B, len * size_B) != 0)
			for (size_t k = 0; k < len; k++)
				n_wrong += memcmp(got + (i + k) * size_B, period + (at + k) * size_B, size_B) != 0;
		i += len;
	}
	return n_wrong;
}

void jl_pattern_fill(const struct jl_pattern *p, void *send)
{
	const bool parts = jl_coll_shapes[p->task->coll].deals;
	char period[P * 8];

	make_period(p, p->rank, period);
	lay(period, jl_comm_type_B(p->task->type), 0, send, p->count * (parts ? (size_t)p->n_ranks : 1));
}

size_t jl_pattern_wrong(const struct jl_pattern *p, const void *recv)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[p->task->coll];
	const struct jl_coll_call call = { .coll = p->task->coll, .root = p->task->root };
	const size_t size_B = jl_comm_type_B(p->task->type), rank = (size_t)p->rank, n = (size_t)p->n_ranks,
		     from = shape->deals ? rank * p->count : 0;
	char period[P * 8];
	size_t n_wrong = 0;

	if (!jl_coll_receives(&call, rank))
		return 0;
	for (size_t r = 0; r < (shape->gathers ? n : 1); r++) {
		make_period(p, shape->reduces ? -1 : (int)(shape->gathers ? r : jl_coll_source(&call, rank, n)),
			    period);
		n_wrong += differ(period, size_B, from, (const char *)recv + r * p->count * size_B, p->count);
	}
	return n_wrong;
}
