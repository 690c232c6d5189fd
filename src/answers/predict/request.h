/* A prediction request as given: unset members stay unset until choose.c sets them and notes why. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/dtype.h"
#include "base/err.h"
#include "timeline/step.h"

#define JL_UNSET (-1) /* for enumerations; unset numbers are NAN */

/* A model's dimensions; all NAN: not given. */
struct jl_shape {
	double layers, hidden, heads, kv_heads, ffn, vocab;
};

/* A network's figures as in tables of models; gmac NAN: not given. */
struct jl_figures {
	double gmac, mact, params_m;
	const char *kind; /* kind of operators; NULL: conv */
};

/* A plan, partly given. */
struct jl_ask_plan {
	double dp, tp, pp, vpp, cp, ep;
	int sp;       /* 0 or 1 */
	int overlap;  /* 0 or 1: overlap tensor-parallel collectives with products */
	int zero;     /* 0 to 3 */
	double shard; /* number of ranks that ZeRO shards over; 0: all; internal */
};

enum jl_layout {
	JL_LAYOUT_FIRST,
	JL_LAYOUT_LAST
}; /* memory layout of images: channels first (PyTorch's default) or last */

struct jl_request {
	const char *model; /* catalog id, or path of a config.json; NULL: see `shape` */
	struct jl_shape shape;
	const char *system; /* system expression (catalog/sysexpr.h) */

	double batch; /* samples per worker and forward pass */
	double micro_batch, global_batch, accumulate, seq;
	struct jl_ask_plan plan;
	int dtype;        /* enum jl_dtype */
	int framework;    /* enum jl_framework */
	const char *code; /* id of a codebase (parameters/codebase.h); NULL: not given */
	bool own_kernels; /* run by this program's own GPU engine, whose kernels are known */
	int recompute;    /* enum jl_recompute */
	int flash;
	int states;         /* 0: the framework's default, e.g. fp32 weights under autocast; 1: everything in bf16 */
	double launch_s;    /* measured host time per kernel launch; NAN: the framework's default */
	double host_step_s; /* measured small step of PyTorch on this host; NAN: usual hosts */
	int optimizer;      /* enum jl_optimizer */
	int layout;         /* enum jl_layout */
	int offload;        /* enum jl_offload bits; 0: none */
	bool forward;       /* inference: forward pass of a network that is not a transformer */
	bool unsaid;        /* creates no notes */
	struct jl_figures figures; /* if given by figures */

	int tune, base;      /* enum jl_tune_kind, enum jl_base; tune JL_UNSET: training from scratch */
	double rank;         /* adapter rank */
	unsigned targets;    /* enum jl_target; 0: all */
	double tuned_layers; /* JL_TUNE_LAYERS: number of layers */
	double mean_seq;     /* mean tokens per sample; seq is the longest */
	double expert_load;  /* load of the fullest experts relative to the mean */
	int method;          /* enum jl_method */
	double group;        /* answers per prompt (GRPO) */
	double generated;    /* tokens per answer */
	int packed;          /* samples are concatenated without padding */

	int input;          /* enum jl_input_kind */
	double cpu_threads; /* per host */
	double storage_Bps; /* per host */
	double sample_B;    /* bytes read per sample */
	double sample_s;    /* CPU time of one thread per sample */
	double ram_B;       /* per host */
	double host_W;      /* power of a host without accelerators */

	double samples, tokens, steps_per_epoch, epochs; /* length of the run */
	double pue;
};

static inline double jl_given_or(double value, double fallback)
{
	return isnan(value) ? fallback : value;
}

/* A request without any options. */
struct jl_request jl_request_empty(void);

/* Parses "dp=8,tp=4,zero=1" into `plan`; other members are unchanged. */
enum jl_status jl_request_parallel(struct jl_ask_plan *plan, const char *text, struct jl_err *err);

/* Parses "optimizer,params,activations" to enum jl_offload; "none" is 0. */
#define JL_OFFLOAD_TEXT_MAX 48
const char *jl_offload_text(char out[JL_OFFLOAD_TEXT_MAX], unsigned offload); /* the inverse */
enum jl_status jl_request_offload(int *ret_offload, const char *text, struct jl_err *err);
