/* Chrome traces by torch.profiler (Kineto), plain or gzipped, event by event in bounded memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define JL_KINETO_EVENT_MAX ((size_t)256 << 10) /* bytes per event; longer ones (long stacks) are skipped */

/* One event; texts are valid during the call, with escapes as in the file. */
struct jl_kineto_event {
	const char *category, *name; /* "": none */
	const char *dims;            /* "Input Dims"; "": none */
	double start_us, took_us;
	double thread, correlation, external_id; /* NAN: none */
};

/* Reading stops at the first status other than JL_OK. */
typedef enum jl_status jl_kineto_sink(void *ctx, const struct jl_kineto_event *event, struct jl_err *err);

/* True if the file begins like such a trace. */
bool jl_kineto_is(const char *path);
/* JL_E_PARSE: not a trace, or truncated. gpu: name of the first listed device; "": none. */
enum jl_status jl_kineto_read(const char *path, char *ret_gpu, size_t gpu_size, jl_kineto_sink *sink, void *ctx,
			      struct jl_err *err);
