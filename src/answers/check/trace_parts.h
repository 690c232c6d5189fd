/* A profiler's trace in memory: kernels, their launches, host spans. Private to trace.c and trace_read.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define JL_TRACE_NAMES_MAX 8192

/* Class of a kernel, by its name. */
enum kernel_class {
	K_EXCHANGE,
	K_PRODUCT_FP32,
	K_PRODUCT_ODD,
	K_ATTENTION_FP32,
	K_LAYOUT,
	K_NORM_NCHW,
	K_DROPOUT,
	K_CAST,
	K_SOFTMAX,
	K_PAGEABLE,
	K_COPY,
	K_MULTI_TENSOR,
	K_PRODUCT,
	K_OTHER,
	N_KERNEL_CLASS
};
/* Operator that launched it, if more specific than the kernel. */
enum op { OP_NONE, OP_SOFTMAX, OP_MASK, OP_BATCHED, OP_DROPOUT };

/* Sorted by the first member. */
struct on_gpu {
	double from_us, to_us;
	uint32_t correlation;
	uint16_t name;
	uint8_t is;
};
struct launch { /* host side, by correlation id */
	uint32_t correlation, external;
	double from_us, to_us;
};
struct span {
	double from_us, to_us;
};
enum span_kind { SPAN_LOADER, SPAN_OPTIMIZER, SPAN_SYNC, SPAN_STEP, N_SPAN };
struct called {
	uint32_t external;
	uint8_t op;
};

/* Growable arrays with limits. */
struct list {
	void *data;
	size_t n, room;
};

struct trace {
	struct list gpu, launches, spans[N_SPAN], called;
	struct {
		char name[160];
		double n, time_us;
	} names[JL_TRACE_NAMES_MAX];
	size_t n_names, n_steps;                /* n_steps: marked on the host */
	uint16_t slots[4 * JL_TRACE_NAMES_MAX]; /* hash of a name to its number + 1 */
};

/* Reads and sorts; `io_trace` is zero before; jl_trace_free frees it in any case. */
enum jl_status jl_trace_read(struct trace *io_trace, const char *path, char *ret_gpu, size_t gpu_size,
			     struct jl_err *err);
void jl_trace_free(struct trace *trace);
/* Launch of a kernel; NULL: not in the trace. */
const struct launch *jl_trace_launch(const struct trace *trace, const struct on_gpu *g);
enum op jl_trace_op(const struct trace *trace, const struct launch *launch);
/* Spans are sorted and disjoint: tests for a span within [from, to], and sums their overlap with it. */
bool jl_trace_meets(const struct list *spans, double from_us, double to_us);
double jl_trace_shared_us(const struct list *spans, double from_us, double to_us);
