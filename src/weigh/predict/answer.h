/* All that a prediction says: how it runs, what follows, what would help; series of them; and what people reckon by hand, beside it. */
#pragma once

#include "predict/advise.h"
#include "predict/collective_case.h"
#include "predict/explain.h"

struct jl_predicted {
	struct jl_case how;
	struct jl_prediction p;
	size_t n_advice;
	struct jl_advice advice[JL_ADVICE_MAX];
	double speedup, efficiency_frac; /* of a series: over its first, and that by device */
};
enum jl_status jl_predicted_make(struct jl_predicted *ret_predicted, const struct jl_catalog *cat,
				 const struct jl_request *req, struct jl_arena *arena, struct jl_err *err);

/* "gpus=1,2,4" or "nodes=2,4,8". */
#define JL_SWEEP_MAX 64
enum jl_sweep_over { JL_SWEEP_GPUS, JL_SWEEP_NODES, JL_N_SWEEP };
struct jl_sweep_list {
	enum jl_sweep_over over;
	size_t n;
	int values[JL_SWEEP_MAX];
};
enum jl_status jl_sweep_parse(struct jl_sweep_list *ret_list, const char *text, struct jl_err *err);

/* One request on the first N devices, or on N such hosts. */
struct jl_sweep {
	size_t n;
	struct jl_predicted *rows;
	const struct jl_predicted *last; /* has the advice */
};
enum jl_status jl_sweep_make(struct jl_sweep *ret_sweep, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *list, struct jl_arena *arena, struct jl_err *err);
/* Do both run alike, but for how many devices there are? */
bool jl_case_alike(const struct jl_case *a, const struct jl_case *b);

/* One collective, or the same over a list (NULL: the system as it is). */
struct jl_collective_series {
	struct jl_collective_ask ask;
	struct jl_sys sys;
	size_t n;
	struct jl_collective_case *cases;
};
enum jl_status jl_collective_series_make(struct jl_collective_series *ret_series, const struct jl_catalog *cat,
					 const struct jl_collective_ask *ask, const char *system, const char *list,
					 struct jl_arena *arena, struct jl_err *err);

/* By hand and by the full model. `baseline` NULL: the device that such comparisons are made with. */
#define JL_EXPLAINED_BASELINE "v100-dgxs-32gb"
#define JL_QUOTED_BPS         1555e9 /* Dettmers, "Which GPU(s) to get for deep learning": an A100 ... */
#define JL_QUOTED_BASE_BPS    900e9  /* ... and a V100 */
#define JL_N_EXAMPLE          2
struct jl_explained {
	struct jl_case how, base;
	struct jl_explain e;
	struct jl_cycles cycles[JL_N_EXAMPLE];
	struct jl_product_time products[JL_N_EXAMPLE];
};
enum jl_status jl_explained_make(struct jl_explained *ret_explained, const struct jl_catalog *cat,
				 const struct jl_request *req, const char *baseline, struct jl_arena *arena,
				 struct jl_err *err);
