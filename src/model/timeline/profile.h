/* Framework profile: host cost, fusion and overlap of a training step. Pure data. */
#pragma once

enum jl_framework {
	JL_FW_EAGER,    /* PyTorch and similar, operator by operator */
	JL_FW_COMPILED, /* torch.compile, XLA: fused streams, few launches */
	JL_FW_MEGATRON, /* Megatron-LM, NeMo and similar: hand-fused kernels, no compiler */
	JL_FW_NATIVE,   /* one program of hand-written kernels, or a static graph */
	JL_FW_APEX,     /* PyTorch scripts of 2018 to 2022: apex mixed precision, unfused attention */
	JL_FW_GENERAL,  /* unknown: between the others */
	JL_FW_FUSED,    /* PyTorch eager with hand-fused kernels for fine-tuning (Unsloth, Liger); host cost of eager */
	JL_N_FRAMEWORK
};

/* Which operations of a layer are separate kernels. */
enum jl_fusion {
	JL_FUSION_HAND,     /* norms, activations and residuals hand-fused with their neighbours */
	JL_FUSION_NONE,     /* one kernel per operation */
	JL_FUSION_COMPILER, /* a compiler fuses elementwise operations and norms */
	JL_FUSION_OWN /* jeoul's own engine: activations fused into products, residuals into norms, all memory-bound */
};

/* Hand-written: no casts for autocast, gradient sums inside products. */
static inline int jl_fusion_by_hand(enum jl_fusion fusion)
{
	return fusion == JL_FUSION_HAND || fusion == JL_FUSION_OWN;
}

struct jl_profile {
	double launch_s;          /* host seconds per kernel launch */
	double comm_launch_s;     /* host and synchronisation seconds per collective inside a layer */
	double stream_frac;       /* bytes moved by streams / by perfectly fused kernels */
	double dp_overlap_frac;   /* share of the gradient exchange that can hide behind the backward pass */
	double fsdp_overlap_frac; /* share of the parameter all-gather that can hide behind computation */
	double tp_overlap_frac;   /* share of the collectives inside a layer that hides behind products */
	double contention_frac;   /* slow-down of computation per hidden second of communication */
	double bucket_B;          /* bytes per gradient bucket */
	double step_s;            /* fixed host seconds per step */
	double optimizer_kernels; /* optimizer launches per layer */
	double straggler_frac;    /* share of the step lost to stragglers per doubling of devices */
	double cool_frac;         /* throttled products recover this many seconds per second of other work */
	enum jl_fusion fusion;
	int frees_grads;       /* gradients are freed after each step, not zeroed */
	int pads;              /* products are padded to 16-byte rows, as compilers and hand-written kernels do */
	int portable_flash;    /* the framework's own fused attention instead of the vendor's */
	double gather_s;       /* host seconds to gather and free one piece of sharded weights, launches excluded */
	double more_frac;      /* device work missing from the kernel list / work in the list */
	double optimizer_frac; /* bytes moved by the optimizer / by one fused pass */
};

/* Values before any fit. */
struct jl_profile jl_profile_default(enum jl_framework framework);
enum jl_fusion jl_framework_fusion(enum jl_framework framework);
#define JL_FW_HUB JL_N_FRAMEWORK /* queries only: code of Hugging Face transformers, given as operator lists */
const char *jl_framework_name(enum jl_framework framework); /* name in fitted parameters */
const char *jl_framework_word(enum jl_framework framework); /* name for display */
