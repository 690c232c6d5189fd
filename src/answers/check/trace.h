/* Time of a profiled training step by cause, and the changes that would save most. Uses measured kernels only: no model, no catalog. */
#pragma once

#include "base/fields.h"
#include "check/machine_findings.h"
#include "check/verdict.h"

enum jl_trace_part {
	JL_TRACE_COMPUTE,
	JL_TRACE_EXCHANGE,
	JL_TRACE_HOST,
	JL_TRACE_DATA,
	JL_TRACE_OTHER,
	JL_N_TRACE_PART
};
extern const char *const jl_trace_parts[JL_N_TRACE_PART +
					1]; /* as in JSON: computing, exposed exchange, waiting for host, data, other */

struct jl_trace_finding {
	const char *key;   /* in JSON: "fp32_products" */
	double won_s;      /* of one step; upper bound of the saving */
	double won_frac;   /* share of the step */
	double n_per_step; /* kernels, calls or copies */
	char example[160]; /* a kernel's name */
	struct jl_bitext what, todo;
};

struct jl_trace_kernel {
	char name[160];
	double n, time_s; /* of one step */
};

#define JL_TRACE_FINDINGS_MAX 16
#define JL_TRACE_KERNELS_MAX  12
#define JL_TRACE_LEAST_FRAC   0.02 /* of the step: smaller findings are omitted */
#define JL_TRACE_BAD_FRAC     0.10 /* a finding of this share: low, as for training logs */
#define JL_TRACE_BAD_HOST     0.20 /* ... for waits on the host, which the profiler slows */

struct jl_trace_view {
	char gpu[96];
	double n_steps, step_s;
	double part_s[JL_N_TRACE_PART]; /* of one step; sum is step_s */
	double n_kernels;               /* of one step */
	enum jl_verdict verdict;        /* normal or low */
	size_t n_findings;
	struct jl_trace_finding findings[JL_TRACE_FINDINGS_MAX]; /* largest saving first */
	size_t n_top;
	struct jl_trace_kernel top[JL_TRACE_KERNELS_MAX]; /* by time */
};

enum jl_status jl_trace_judge(struct jl_trace_view *ret_view, const char *path, struct jl_err *err);

extern const struct jl_schema jl_trace_fields; /* struct jl_trace_view */
