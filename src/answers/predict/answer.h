/* The whole answer of a prediction: plan, results, advice; series of predictions; estimates by hand. */
#pragma once

#include "predict/collective_case.h"
#include "predict/predict.h"
#include "predict/program_case.h"
#include "predict/recipe.h"

/* Two estimates that are usually made by hand, next to the full model: the ratio of two devices' memory bandwidths, and the cycles of a small
 * matrix product with and without tensor cores. Pure. */
/* The product of two n x n matrices on 8 SMs with 8 warps each: cycles of each kind of access and operation, executed serially. Counts are those
 * of the worked example (n 32), scaled by (n / 32)^3 for compute rounds and (n / 32)^2 for loads. */
struct jl_cycles {
	double n;
	double n_load, n_shared, n_ffma;                 /* counts without tensor cores */
	double n_tensor_load, n_tensor_shared, n_tensor; /* counts with tensor cores */
	double without_cycles, with_cycles;
};
#define JL_CYCLES_GLOBAL 200.0 /* cycles of a load from device memory */
#define JL_CYCLES_SHARED 20.0  /* cycles of an access to shared memory */
#define JL_CYCLES_FFMA   4.0   /* cycles of a warp's fused multiply-add */
#define JL_CYCLES_TENSOR 1.0   /* cycles of a tensor core's 4x4 product */
struct jl_cycles jl_explain_cycles(double n);

/* An n x n x n product by the full model. */
struct jl_product_time {
	double n;
	double vector_s, tensor_s;           /* fp32 on vector units; 16-bit on tensor cores */
	double vector_cycles, tensor_cycles; /* at boost clock */
};
struct jl_product_time jl_explain_product(const struct jl_device *dev, double n);

/* Parts of a step's time by the rate that limits them; attention counts as matrix products. */
enum jl_explain_part { JL_EX_MATRIX, JL_EX_MEMORY, JL_EX_HOST, JL_EX_LINKS, JL_EX_OTHER, JL_N_EX };
extern const char *const jl_explain_parts[JL_N_EX]; /* display names */

struct jl_explain {
	double bandwidth_ratio;    /* listed memory bandwidth per device, relative to the baseline */
	double device_ratio;       /* number of devices, relative to the baseline */
	double rate_ratio;         /* listed matrix rate per device in its format, relative to the baseline */
	double model_ratio;        /* full model: samples/s relative to the baseline */
	double model_device_ratio; /* the same per device */
	/* seconds per step for one sample and device; each array sums to the total */
	double part_s[JL_N_EX], base_part_s[JL_N_EX];
	enum jl_explain_part largest; /* longest part of the baseline's time */
};

/* Both cases must have the same model. */
void jl_explain(struct jl_explain *ret_explain, const struct jl_case *c, const struct jl_case *base);

/* Advice: changes to a case, each evaluated by the model, ranked by gain. */
#define JL_ADVICE_MAX 3

struct jl_advice {
	const char *key; /* kind of change, for JSON */
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
	int n_gpus; /* number of GPUs for which it was evaluated */
	double step_s_before, step_s_after;
	double samples_per_s_before, samples_per_s_after;
	double half_ln_before, half_ln_after; /* half-widths of the 80 % intervals, as ln */
	double alone_samples_per_s;           /* a single GPU, for speedups; NAN: no comparison */
	double global_batch;                  /* after the change */
	bool makes_it_fit;                    /* the base case does not fit */
	bool tight;                           /* after the change the case barely fits */
};

/* Speedup by the advice. `measured_per_s` (NAN: unknown) replaces the predicted rate before the change. */
struct jl_estimate jl_advice_gain(const struct jl_advice *advice, const struct jl_widths *widths,
				  double measured_per_s);

/* Finds up to JL_ADVICE_MAX changes that fit in memory and gain at least JL_ADVICE_GAIN_FRAC, best first; returns their number. */
#define JL_ADVICE_GAIN_FRAC 0.03
size_t jl_advise(struct jl_advice ret_advice[JL_ADVICE_MAX], const struct jl_catalog *cat, const struct jl_case *c,
		 struct jl_arena *arena);

/* Rate of one GPU alone; NAN if the GPUs are not data-parallel replicas. */
double jl_alone_samples_per_s(const struct jl_case *c);

struct jl_predicted {
	struct jl_case how;
	struct jl_prediction p;
	size_t n_advice;
	struct jl_advice advice[JL_ADVICE_MAX];
	struct jl_modules modules; /* captured programs: time by module */
	/* in a series: relative to its base; NAN if the base runs another recipe */
	struct jl_estimate speedup; /* what is doubtful in both cancels */
	double efficiency_frac;
	enum jl_recipe recipe;
	struct jl_scaled_gain above; /* cause of an efficiency above JL_EFFICIENCY_PLAIN */
};
enum jl_status jl_predicted_make(struct jl_predicted *ret_predicted, const struct jl_catalog *cat,
				 const struct jl_request *req, struct jl_arena *arena, struct jl_err *err);

/* Series: "gpus=1,2,4" or "nodes=2,4,8". */
#define JL_SWEEP_MAX 64
enum jl_sweep_over { JL_SWEEP_GPUS, JL_SWEEP_NODES, JL_N_SWEEP };
struct jl_sweep_list {
	enum jl_sweep_over over;
	size_t n;
	int values[JL_SWEEP_MAX];
};

/* One request on the first N devices, or on N hosts, with the recipe of the largest N. */
struct jl_sweep {
	size_t n;
	struct jl_predicted *rows;
	const struct jl_predicted *base; /* reference of the speedups: the first row that fits and runs the recipe */
	bool changes;                    /* a row that fits runs another recipe */
	const struct jl_predicted *last; /* the row with the advice */
	struct jl_estimate alone_per_s;  /* one GPU by itself, if it runs differently from the recipe; NAN: none */
};
enum jl_status jl_sweep_make(struct jl_sweep *ret_sweep, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *text, struct jl_arena *arena, struct jl_err *err);

/* One collective, or the same over a list (text NULL: the system as given). */
struct jl_collective_series {
	struct jl_collective_ask ask;
	struct jl_sys sys;
	size_t n;
	struct jl_collective_case *cases;
};
enum jl_status jl_collective_series_make(struct jl_collective_series *ret_series, const struct jl_catalog *cat,
					 const struct jl_collective_ask *ask, const char *system, const char *text,
					 struct jl_arena *arena, struct jl_err *err);

/* Estimates by hand and by the full model. `baseline` NULL: the usual device of such comparisons. */
#define JL_EXPLAINED_BASELINE "v100-dgxs-32gb"
#define JL_QUOTED_BPS         1555e9 /* A100 in Dettmers, "Which GPU(s) to get for deep learning" */
#define JL_QUOTED_BASE_BPS    900e9  /* V100 in the same source */
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
