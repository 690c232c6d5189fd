/* A Chrome trace as torch.profiler (Kineto) writes it, plain or gzipped, event by event in bounded memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define JL_KINETO_EVENT_MAX ((size_t)256 << 10) /* bytes of one event; longer ones (long stacks) are passed over */

/* Of one event; texts are valid during the call and are as in the file: escapes are not undone. */
struct jl_kineto_event {
	const char *category, *name; /* "" where there is none */
	const char *dims;            /* "Input Dims"; "" */
	double start_us, took_us;
	double thread, correlation, external_id; /* NAN: none */
};

/* Reading ends at the first result that is not JL_OK. */
typedef enum jl_status jl_kineto_sink(void *ctx, const struct jl_kineto_event *event, struct jl_err *err);

/* True where the file begins as such a trace. */
bool jl_kineto_is(const char *path);
/* JL_E_PARSE: it is none, or ends in the middle of an event. gpu: name of the first device that it lists; "" where it lists none. */
enum jl_status jl_kineto_read(const char *path, char *ret_gpu, size_t gpu_size, jl_kineto_sink *sink, void *ctx,
			      struct jl_err *err);
