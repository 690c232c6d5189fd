/* A captured program as a subject of predictions: parsed once, evaluated for each case. */
#pragma once

#include "predict/predict.h"
#include "program/peak.h"
#include "program/timeline.h"

struct jl_captured {
	struct jl_program p;
	struct jl_call_work *works; /* per kind of call */
	struct jl_program_peak peak;
	int n_workspaces;    /* threads that call the BLAS library */
	enum jl_dtype dtype; /* format of most products */
	size_t n_unknown;    /* kinds of calls missing in the table of operators */
	double unknown_calls;
	const char *unknown; /* names of the first ones */
	bool listed;         /* listed from recipes of transformers' code instead of captured */
	const char *codes;   /* e.g. "transformers 5.17.0, torch 2.11.0" */
};

/* Parses `text` of a program file; `name` is used in messages. */
enum jl_status jl_captured_parse(struct jl_captured **ret_captured, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_captured_read(struct jl_captured **ret_captured, const char *path, struct jl_arena *arena,
				struct jl_err *err);

/* Times of the kinds of calls for a case; `ret_costs` has an entry per kind. Returns a factor on all device times for what the power limit
 * returns between products. */
double jl_captured_price(const struct jl_captured *captured, const struct jl_case *c, struct jl_call_cost *ret_costs);
struct jl_timeline_in jl_captured_timeline_in(const struct jl_case *c, const struct jl_call_cost *costs,
					      double device_ratio, const struct jl_program_fit *fit);
/* Timeline of a case's step; NAN if out of memory. */
void jl_captured_timeline(struct jl_timeline *ret_timeline, const struct jl_case *c);

/* Time by module: numbered siblings are one row ("layers.*"), children follow their parent. Values include all descendants. */
struct jl_module_cost {
	const char *name; /* last part of its path */
	const char *type;
	size_t parent; /* row; row 0 is the root */
	int depth;
	double n; /* number of modules in this row */
	double device_s, host_s, n_kernels, n_calls, flop, moved_B, peak_B;
};
struct jl_modules {
	size_t n;
	struct jl_module_cost *rows;
};
#define JL_MODULE_ROWS_MAX 4096
/* `in` NULL: only values that do not depend on a device. */
enum jl_status jl_captured_modules(struct jl_modules *ret_modules, const struct jl_captured *captured,
				   const struct jl_timeline_in *in, struct jl_arena *arena, struct jl_err *err);

/* The same for a case, with times. */
enum jl_status jl_case_modules(struct jl_modules *ret_modules, const struct jl_case *c, struct jl_arena *arena,
			       struct jl_err *err);

/* e.g. "aten.addmm bf16 8192x4096 ..." */
const char *jl_captured_kind_text(const struct jl_captured *captured, size_t kind, struct jl_arena *arena);
