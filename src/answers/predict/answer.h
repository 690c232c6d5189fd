/* The whole answer of a prediction: plan, results, advice; series of predictions; estimates by hand. */
#pragma once

#include "predict/collective_case.h"
#include "predict/predict.h"
#include "predict/program_case.h"
#include "predict/recipe.h"

/* Two estimates that people make by hand, beside what the full model says, and where they part ways: memory bandwidth of one device over
 * that of another, and the cycles of a small product with and without tensor cores. Pure. */
/* The product of two n x n matrices on 8 SMs of 8 warps: what each kind of access and operation takes, one after the other. Of the
 * worked example (n 32); larger products do its rounds (n / 32)^3 times, its loads (n / 32)^2 times. */
struct jl_cycles {
	double n;
	double n_load, n_shared, n_ffma;                 /* without tensor cores */
	double n_tensor_load, n_tensor_shared, n_tensor; /* with them */
	double without_cycles, with_cycles;
};
#define JL_CYCLES_GLOBAL 200.0 /* one load from device memory */
#define JL_CYCLES_SHARED 20.0  /* one access of shared memory */
#define JL_CYCLES_FFMA   4.0   /* one fused multiply-add of a warp */
#define JL_CYCLES_TENSOR 1.0   /* one 4x4 product of a tensor core */
struct jl_cycles jl_explain_cycles(double n);

/* One n x n x n product on a device as the full model prices it. */
struct jl_product_time {
	double n;
	double vector_s, tensor_s;           /* fp32; 16-bit */
	double vector_cycles, tensor_cycles; /* at the boost clock */
};
struct jl_product_time jl_explain_product(const struct jl_device *dev, double n);

/* Where the time of a step goes, as far as different rates decide it; attention counts with the products. */
enum jl_explain_part { JL_EX_MATRIX, JL_EX_MEMORY, JL_EX_HOST, JL_EX_LINKS, JL_EX_OTHER, JL_N_EX };
extern const char *const jl_explain_parts[JL_N_EX]; /* as people read them */

struct jl_explain {
	double bandwidth_ratio;    /* listed memory bandwidth of one device / the baseline's */
	double device_ratio;       /* how many devices / the baseline's */
	double rate_ratio;         /* listed matrix rate of one device in its format / the baseline's */
	double model_ratio;        /* full model: samples a second / the baseline's */
	double model_device_ratio; /* the same for one device of each */
	double part_s[JL_N_EX], base_part_s[JL_N_EX]; /* of a step for one sample and device; each sums to its time */
	enum jl_explain_part largest;                 /* which part of the baseline's time is the longest */
};

/* Both cases weigh the same model. */
void jl_explain(struct jl_explain *ret_explain, const struct jl_case *c, const struct jl_case *base);

/* What would help: changes to a case, each tried with the model, ranked by what they gain. */
#define JL_ADVICE_MAX 3

struct jl_advice {
	const char *key; /* the kind of change, in JSON */
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
	int n_gpus; /* where it was tried */
	double step_s_before, step_s_after;
	double samples_per_s_before, samples_per_s_after;
	double half_ln_before, half_ln_after; /* how sure they are: half of the 80 % interval, as ln */
	double alone_samples_per_s;           /* of one GPU, for speed-ups; NAN: not compared with */
	double global_batch;                  /* after */
	bool makes_it_fit;                    /* the case itself does not fit */
	bool tight;                           /* with it the case fits, but hardly */
};

/* How many times as fast; `measured_per_s` in place of what was predicted for before, where it is known (else NAN). */
struct jl_estimate jl_advice_gain(const struct jl_advice *advice, const struct jl_widths *widths,
				  double measured_per_s);

/* At most JL_ADVICE_MAX that fit in memory and gain at least JL_ADVICE_GAIN_FRAC, best first; returns how many. */
#define JL_ADVICE_GAIN_FRAC 0.03
size_t jl_advise(struct jl_advice ret_advice[JL_ADVICE_MAX], const struct jl_catalog *cat, const struct jl_case *c,
		 struct jl_arena *arena);

/* Rate of one of the GPUs alone; NAN where they are not replicas. */
double jl_alone_samples_per_s(const struct jl_case *c);

struct jl_predicted {
	struct jl_case how;
	struct jl_prediction p;
	size_t n_advice;
	struct jl_advice advice[JL_ADVICE_MAX];
	struct jl_modules modules; /* of a captured program: where its time goes */
	/* of a series: over its base, and that by device; NAN where that runs another recipe */
	double speedup, efficiency_frac;
	enum jl_recipe recipe;
	struct jl_scaled_gain above; /* where the efficiency is above JL_EFFICIENCY_PLAIN: what makes it so */
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

/* One request on the first N devices, or on N such hosts: as the largest N runs it, at every N. */
struct jl_sweep {
	size_t n;
	struct jl_predicted *rows;
	const struct jl_predicted
		*base; /* what the others are compared with: the first that fits and runs the recipe */
	bool changes;  /* a row that fits runs another recipe */
	const struct jl_predicted *last; /* has the advice */
};
enum jl_status jl_sweep_make(struct jl_sweep *ret_sweep, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *text, struct jl_arena *arena, struct jl_err *err);

/* One collective, or the same over a list (NULL: the system as it is). */
struct jl_collective_series {
	struct jl_collective_ask ask;
	struct jl_sys sys;
	size_t n;
	struct jl_collective_case *cases;
};
enum jl_status jl_collective_series_make(struct jl_collective_series *ret_series, const struct jl_catalog *cat,
					 const struct jl_collective_ask *ask, const char *system, const char *text,
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
