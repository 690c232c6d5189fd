/* How a framework runs a step: what it costs the host, what it fuses, what it overlaps. Pure data. */
#pragma once

enum jl_framework {
	JL_FW_EAGER,    /* PyTorch and kin, operator by operator */
	JL_FW_COMPILED, /* torch.compile, XLA: fused streams, few launches */
	JL_FW_MEGATRON, /* Megatron-LM, NeMo, and kin: hand-fused kernels, no compiler */
	JL_FW_NATIVE,   /* one program of hand-written kernels or a static graph */
	JL_FW_APEX,     /* PyTorch scripts of 2018 to 2022: apex's mixed precision, attention written out */
	JL_FW_GENERAL,  /* not known: between the others */
	JL_FW_FUSED,    /* PyTorch eager with kernels fused by hand for tuning (Unsloth, Liger); its host is eager's */
	JL_N_FRAMEWORK
};

/* Which operations of a layer are kernels of their own. */
enum jl_fusion {
	JL_FUSION_HAND,     /* norms, activations, residuals fused with what stands beside them, by hand */
	JL_FUSION_NONE,     /* each operation is one */
	JL_FUSION_COMPILER, /* a compiler joins what is point by point, and norms with it */
	JL_FUSION_OWN /* this program's engine: activations inside products, residuals inside norms, all at the memory's pace */
};

/* Written by hand: nothing is cast for autocast, sums of gradients are part of products. */
static inline int jl_fusion_by_hand(enum jl_fusion fusion)
{
	return fusion == JL_FUSION_HAND || fusion == JL_FUSION_OWN;
}

struct jl_profile {
	double launch_s;          /* host seconds a kernel launch */
	double comm_launch_s;     /* host and synchronisation seconds a collective inside a layer */
	double stream_frac;       /* bytes that streams move / bytes that perfectly fused kernels would move */
	double dp_overlap_frac;   /* share of the gradient exchange that may hide behind the backward pass */
	double fsdp_overlap_frac; /* share of gathering parameters that may hide behind computing */
	double tp_overlap_frac;   /* share of the collectives inside a layer that hides behind products */
	double contention_frac;   /* what a hidden second of communication costs computing */
	double bucket_B;          /* gradients are exchanged in pieces of this size */
	double step_s;            /* fixed host seconds a step */
	double optimizer_kernels; /* launches that the optimizer makes for one layer */
	double straggler_frac; /* share of the step that is lost to waiting, each time the number of devices doubles */
	double cool_frac;      /* seconds that hot products get back for each second of other work */
	enum jl_fusion fusion;
	int frees_grads; /* gradients are freed after each step, not filled with zeros */
	int pads; /* products whose rows do not start on 16 bytes are padded: a compiler does it, and who writes kernels by hand */
	int portable_flash;    /* fused attention of the framework's own, not the vendor's for the architecture */
	double gather_s;       /* host seconds to gather and free one piece of cut weights, beyond its launches */
	double more_frac;      /* device work beyond what the list of kernels has, of that work */
	double optimizer_frac; /* bytes that the optimizer moves / bytes that one fused pass would move */
};

/* Values before any fit. */
struct jl_profile jl_profile_default(enum jl_framework framework);
enum jl_fusion jl_framework_fusion(enum jl_framework framework);
#define JL_FW_HUB JL_N_FRAMEWORK /* only asked for: Hugging Face transformers' own code, which is listed */
const char *jl_framework_name(enum jl_framework framework); /* as fitted parameters have it */
const char *jl_framework_word(enum jl_framework framework); /* as people write it */
