/* A request for a prediction as given: unset members stay unset until choose.c decides them and notes why. */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/dtype.h"
#include "base/err.h"
#include "timeline/step.h"

#define JL_UNSET (-1) /* of choices; numbers that were not given are NAN */

/* A model by its dimensions; all NAN: none given. */
struct jl_shape {
	double layers, hidden, heads, kv_heads, ffn, vocab;
};

/* A network by the figures that model tables print; gmac NAN: none given. */
struct jl_figures {
	double gmac, mact, params_m;
	const char *kind; /* what kind of operators; NULL: conv */
};

/* A plan as far as it was given. */
struct jl_ask_plan {
	double dp, tp, pp, vpp, cp, ep;
	int sp;       /* 0 or 1 */
	int overlap;  /* 0 or 1: collectives of tp behind the products beside them */
	int zero;     /* 0 to 3 */
	double shard; /* ranks that ZeRO cuts over; 0: all; not for a person to say */
};

enum jl_layout {
	JL_LAYOUT_FIRST,
	JL_LAYOUT_LAST
}; /* of pictures in memory: channels first (PyTorch's default) or last */

struct jl_request {
	const char *model; /* id in the catalog, or path of a config.json; NULL: `shape` */
	struct jl_shape shape;
	const char *system; /* as in catalog/sysexpr.h */

	double batch; /* samples of one worker and forward pass */
	double micro_batch, global_batch, accumulate, seq;
	struct jl_ask_plan plan;
	int dtype;        /* enum jl_dtype */
	int framework;    /* enum jl_framework */
	const char *code; /* id of a codebase (parameters/codebase.h); NULL: not named */
	bool own_kernels; /* by this program's own engine on a GPU, whose kernels are known */
	int recompute;    /* enum jl_recompute */
	int flash;
	int states;                /* 0: fp32 weights under autocast, or as the framework does; 1: everything in bf16 */
	double launch_s;           /* host time of a kernel launch, measured; NAN: as the framework is known to need */
	int optimizer;             /* enum jl_optimizer */
	int layout;                /* enum jl_layout */
	int offload;               /* enum jl_offload, any of them; 0: none */
	bool forward;              /* inference: the forward pass of a network that is no transformer */
	bool unsaid;               /* without notes */
	struct jl_figures figures; /* of a network that is given by them */

	int tune, base;      /* enum jl_tune_kind, enum jl_base; tune JL_UNSET: training from scratch */
	double rank;         /* of adapters */
	unsigned targets;    /* enum jl_target; 0: all */
	double tuned_layers; /* JL_TUNE_LAYERS: so many */
	double mean_seq;     /* tokens of a sample on average, where seq is the longest */
	double expert_load;  /* of the fullest experts, of the mean */
	int method;          /* enum jl_method */
	double group;        /* answers to one prompt (GRPO) */
	double generated;    /* tokens of one */
	int packed;          /* samples are laid end to end: no padding */

	int input;          /* enum jl_input_kind */
	double cpu_threads; /* of one host */
	double storage_Bps; /* of one host */
	double sample_B;    /* read for one sample */
	double sample_s;    /* of one thread for one sample */
	double ram_B;       /* of one host */
	double host_W;      /* what one host draws beside its accelerators */

	double samples, tokens, steps_per_epoch, epochs; /* how long the run is */
	double pue;
};

static inline double jl_given_or(double value, double fallback)
{
	return isnan(value) ? fallback : value;
}

/* Nothing given. */
struct jl_request jl_request_empty(void);

/* "dp=8,tp=4,zero=1" into `plan`; keys that are not in the text stay as they are. */
enum jl_status jl_request_parallel(struct jl_ask_plan *plan, const char *text, struct jl_err *err);

/* "optimizer,params,activations" -> enum jl_offload; "none" is 0. */
#define JL_OFFLOAD_TEXT_MAX 48
const char *jl_offload_text(char out[JL_OFFLOAD_TEXT_MAX], unsigned offload); /* those words */
enum jl_status jl_request_offload(int *ret_offload, const char *text, struct jl_err *err);
