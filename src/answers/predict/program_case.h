/* A captured program as a subject of predictions: read once, priced for each case. */
#pragma once

#include "predict/predict.h"
#include "program/peak.h"
#include "program/timeline.h"

struct jl_captured {
	struct jl_program p;
	struct jl_call_work *works; /* of each kind of call */
	struct jl_program_peak peak;
	int n_workspaces;    /* threads that multiply by the vendor's library */
	enum jl_dtype dtype; /* of most of its products */
	size_t n_unknown;    /* kinds of calls that the table of operators does not know */
	double unknown_calls;
	const char *unknown; /* names of the first of them */
	bool listed;         /* by recipes of transformers' code: nothing was captured */
	const char *codes;   /* "transformers 5.17.0, torch 2.11.0" */
};

/* `text` of a program file, called `name` in messages. */
enum jl_status jl_captured_parse(struct jl_captured **ret_captured, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_captured_read(struct jl_captured **ret_captured, const char *path, struct jl_arena *arena,
				struct jl_err *err);

/* Prices of its kinds of calls for a case; `ret_costs` has one for each kind. Returns the ratio of all device times that the power limit
 * gives back between products. */
double jl_captured_price(const struct jl_captured *captured, const struct jl_case *c, struct jl_call_cost *ret_costs);
struct jl_timeline_in jl_captured_timeline_in(const struct jl_case *c, const struct jl_call_cost *costs,
					      double device_ratio, const struct jl_program_fit *fit);
/* The step of a case; NAN where memory ran out. */
void jl_captured_timeline(struct jl_timeline *ret_timeline, const struct jl_case *c);

/* Where time goes by module: numbered neighbours are one row ("layers.*"), children behind their parent. Sums are of all that is below. */
struct jl_module_cost {
	const char *name; /* the last part of its path */
	const char *type;
	size_t parent; /* row; the first is the root */
	int depth;
	double n; /* modules that the row stands for */
	double device_s, host_s, n_kernels, n_calls, flop, moved_B, peak_B;
};
struct jl_modules {
	size_t n;
	struct jl_module_cost *rows;
};
#define JL_MODULE_ROWS_MAX 4096
/* `in` NULL: only what does not depend on a device. */
enum jl_status jl_captured_modules(struct jl_modules *ret_modules, const struct jl_captured *captured,
				   const struct jl_timeline_in *in, struct jl_arena *arena, struct jl_err *err);

/* The same of a case, priced. */
enum jl_status jl_case_modules(struct jl_modules *ret_modules, const struct jl_case *c, struct jl_arena *arena,
			       struct jl_err *err);

/* "aten.addmm bf16 8192x4096 ..." */
const char *jl_captured_kind_text(const struct jl_captured *captured, size_t kind, struct jl_arena *arena);
