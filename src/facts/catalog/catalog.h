/* What is listed: accelerators, CPUs, links, systems, prices, tariffs, rules, models, and where each figure comes from.
 *
 * The catalog is written as YAML and CSV under catalog/, checked and compiled into the program at build time (no parsing at start),
 * and can be overlaid at run time by files of the same form. Records are read-only and live as long as the catalog. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fact.h"
#include "base/priors.h"
#include "base/units.h"

#define JL_NAME_MAX 128 /* bytes of a name that may be asked for */

struct jl_source {
	const char *id;
	const char *title;
	const char *url;
	const char *date;      /* retrieved, or the source's own date */
	enum jl_origin origin; /* what its figures are, unless a value says otherwise */
	const char *note;
};

/* Where sources disagree: both values are kept, and which one is used. */
struct jl_conflict {
	const char *field;  /* the record's key, e.g. "mem_rate" */
	const char *other;  /* the value that was not used, as text with unit */
	const char *source; /* who says so */
	const char *why;    /* why the used one is used */
};

/* The facts of an accelerator. X(member, YAML key, kind, English label, Korean label) */
#define JL_GPU_FACTS(X)                                                                                                \
	X(mem_B, "mem", JL_K_BYTES, JL_N("memory"))                                                                    \
	X(mem_Bps, "mem_rate", JL_K_BYTE_RATE, JL_N("memory bandwidth"))                                               \
	X(l2_B, "l2", JL_K_BYTES, JL_N("L2 cache"))                                                                    \
	X(fp64_flopps, "fp64", JL_K_FLOP_RATE, JL_N("FP64"))                                                           \
	X(fp32_flopps, "fp32", JL_K_FLOP_RATE, JL_N("FP32 (no tensor cores)"))                                         \
	X(tf32_dense_flopps, "tf32_dense", JL_K_FLOP_RATE, JL_N("TF32 tensor, dense"))                                 \
	X(fp16_dense_flopps, "fp16_dense", JL_K_FLOP_RATE, JL_N("FP16 tensor, dense, FP16 accumulate"))                \
	X(fp16_fp32acc_dense_flopps, "fp16_fp32acc_dense", JL_K_FLOP_RATE,                                             \
	  JL_N("FP16 tensor, dense, FP32 accumulate"))                                                                 \
	X(bf16_dense_flopps, "bf16_dense", JL_K_FLOP_RATE, JL_N("BF16 tensor, dense"))                                 \
	X(fp8_dense_flopps, "fp8_dense", JL_K_FLOP_RATE, JL_N("FP8 tensor, dense"))                                    \
	X(fp4_dense_flopps, "fp4_dense", JL_K_FLOP_RATE, JL_N("FP4 tensor, dense"))                                    \
	X(int8_dense_opps, "int8_dense", JL_K_OP_RATE, JL_N("INT8 tensor, dense"))                                     \
	X(tf32_sparse_flopps, "tf32_sparse", JL_K_FLOP_RATE, JL_N("TF32 tensor, sparse 2:4"))                          \
	X(fp16_sparse_flopps, "fp16_sparse", JL_K_FLOP_RATE, JL_N("FP16 tensor, sparse 2:4"))                          \
	X(bf16_sparse_flopps, "bf16_sparse", JL_K_FLOP_RATE, JL_N("BF16 tensor, sparse 2:4"))                          \
	X(fp8_sparse_flopps, "fp8_sparse", JL_K_FLOP_RATE, JL_N("FP8 tensor, sparse 2:4"))                             \
	X(int8_sparse_opps, "int8_sparse", JL_K_OP_RATE, JL_N("INT8 tensor, sparse 2:4"))                              \
	X(n_core, "cores", JL_K_NUMBER, JL_N("CUDA cores / stream processors"))                                        \
	X(n_sm, "sms", JL_K_NUMBER, JL_N("SMs / compute units"))                                                       \
	X(n_tensor_core, "tensor_cores", JL_K_NUMBER, JL_N("tensor cores"))                                            \
	X(boost_Hz, "boost", JL_K_FREQUENCY, JL_N("boost clock"))                                                      \
	X(tdp_W, "tdp", JL_K_POWER, JL_N("power limit (TDP)"))                                                         \
	X(link_bothway_Bps, "link_bothway", JL_K_BYTE_RATE, JL_N("GPU link, both ways"))                               \
	X(link_oneway_Bps, "link_oneway", JL_K_BYTE_RATE, JL_N("GPU link, one way"))                                   \
	X(suggested_psu_W, "suggested_psu", JL_K_POWER, JL_N("suggested power supply"))                                \
	X(length_m, "length", JL_K_LENGTH, JL_N("card length"))                                                        \
	X(n_slots, "slots", JL_K_NUMBER, JL_N("slots"))                                                                \
	X(msrp_usd, "msrp", JL_K_USD, JL_N("list price at launch"))

enum jl_p2p_support { JL_P2P_UNKNOWN, JL_P2P_YES, JL_P2P_NO, JL_P2P_DRIVER_DISABLED };

struct jl_gpu {
	const char *id;             /* h100-sxm5 */
	const char *name;           /* H100 SXM5 80GB */
	const char *const *aliases; /* further spellings; NULL-terminated, may be NULL */
	const char *vendor;
	const char *family; /* id in families.yaml: hopper, ada, ampere-dc, ampere-rtx, ... */
	const char *
		computes_as; /* id of the GPU with the same chip, clocks and memory: what is fitted for that one holds; or NULL */
	const char *architecture; /* as the source wrote it */
	const char *compute_capability;
	int year; /* 0: unknown */
	const char *memory_type;
	const char *pcie;        /* id of a link, e.g. pcie5-x16; NULL: none */
	const char *link;        /* id of a link, e.g. nvlink4; NULL: none or unknown */
	const char *link_text;   /* as the source wrote type and generation */
	enum jl_p2p_support p2p; /* over PCIe, stock driver */
	const char *p2p_note;
	const char *form_factor;
	const char *power_connectors;
	const char *msrp_basis;
	const char *density_note;
	const char *note;
	const char *source; /* default source and date of the facts */
	const char *date;
	const struct jl_conflict *conflicts;
	size_t n_conflicts;
#define JL_X(member, key, kind, en) struct jl_fact member;
	JL_GPU_FACTS(JL_X)
#undef JL_X
};

/* An architecture family: what a GPU falls back to, and the arithmetic that a listed rate must obey. */
struct jl_family {
	const char *id;
	const char *name;
	const char *vendor;
	const char *parent; /* family that it is nearest to, for GPUs and formats without data; or NULL */
	/* dense FLOP per clock and SM with tensor cores, FP32 accumulate; NAN where the format is not supported */
	double fp32_per_sm_clock, tf32_per_sm_clock, fp16_per_sm_clock, bf16_per_sm_clock, fp8_per_sm_clock,
		int8_per_sm_clock;
	bool sparsity;           /* 2:4 structured sparsity doubles the listed rates */
	int n_dies;              /* dies with arithmetic that are one device; 0: one */
	int tensor_generation;   /* of the tensor cores, as NVIDIA counts them; 0: it has none */
	const char *host_net;    /* network of the reference host of its boards: id of a link; or NULL */
	int n_host_net;          /* adapters of that host */
	struct jl_priors priors; /* what the model begins with */
	const char *source;
	const char *note;
};

#define JL_CPU_FACTS(X)                                                                                                \
	X(n_core, "cores", JL_K_NUMBER, JL_N("cores"))                                                                 \
	X(n_thread, "threads", JL_K_NUMBER, JL_N("threads"))                                                           \
	X(base_Hz, "base_clock", JL_K_FREQUENCY, JL_N("base clock"))                                                   \
	X(boost_Hz, "boost_clock", JL_K_FREQUENCY, JL_N("boost clock"))                                                \
	X(fp32_per_clock, "fp32_per_clock", JL_K_NUMBER, JL_N("FP32 FLOP per clock and core"))                         \
	X(fp32_flopps, "fp32", JL_K_FLOP_RATE, JL_N("FP32, all cores"))                                                \
	X(bf16_over_fp32, "bf16_over_fp32", JL_K_NUMBER, JL_N("BF16 products, times FP32"))                            \
	X(mem_B, "mem", JL_K_BYTES, JL_N("memory, largest"))                                                           \
	X(mem_Bps, "mem_rate", JL_K_BYTE_RATE, JL_N("memory bandwidth"))                                               \
	X(l3_B, "l3", JL_K_BYTES, JL_N("last-level cache"))                                                            \
	X(tdp_W, "tdp", JL_K_POWER, JL_N("power limit (TDP)"))

struct jl_cpu {
	const char *id; /* neoverse-v1, i9-13900k; written cpu:i9-13900k in a system */
	const char *name;
	const char *const *aliases;
	const char *vendor;
	const char *isa; /* arm64, x86-64 */
	int year;
	const char *note;
	const char *source;
	const char *date;
#define JL_X(member, key, kind, en) struct jl_fact member;
	JL_CPU_FACTS(JL_X)
#undef JL_X
};

enum jl_link_role {
	JL_ROLE_WIRE,    /* a kind of link: pcie4-x16, nvlink4 */
	JL_ROLE_JOIN,    /* how the devices of a host are joined ("via"): pcie4-no-p2p, nvlink2-mesh, nvswitch4 */
	JL_ROLE_NETWORK, /* how hosts are joined ("over"): 10gbe-lacp2, ib-hdr, efa-v2 */
	JL_ROLE_SWITCH   /* a switch chip: aggregate rate */
};

/* A published measurement of a link: the efficiency rows. */
struct jl_link_measured {
	const char *what;
	const char *gpu;           /* as the source wrote it */
	struct jl_fact oneway_Bps; /* what the link is listed at */
	struct jl_fact bothway_Bps;
	struct jl_fact measured_Bps;
	struct jl_fact frac;
	const char *conditions;
	const char *note;
	const char *source;
	const char *date;
};

struct jl_link_info {
	const char *id;
	const char *name;
	const char *const *aliases;
	enum jl_link_role role;
	const char *
		kind; /* pcie, nvlink, nvlink-bridge, c2c, infinity-fabric, roce-mesh, ici, ethernet, infiniband, efa, ... */
	const char *topology; /* join: none, host, p2p, bridge-pair, mesh, switch, domain */
	const char *wire;     /* join and network: id of the link it is made of; or NULL */
	const char *per;      /* what the rate belongs to: device, port, node, pair, switch */
	const char *fallback; /* join: path beyond its reach, e.g. bridge pairs -> pcie4-no-p2p */
	const char *gpus;     /* which devices, as the source wrote it */
	int host_max;     /* join: boards with its wire are joined so, up to this many in a host; 0: not by default */
	const char *form; /* ... only those whose form factor begins so; NULL: all */
	bool in_switch_reduction; /* NVLS, SHARP */
	struct jl_fact oneway_Bps;
	struct jl_fact bothway_Bps;
	struct jl_fact n_links; /* links per device, ports per switch, ports in a bond */
	const char *conditions;
	const char *note;
	const char *source;
	const char *date;
	const struct jl_link_measured *measured;
	size_t n_measured;
};

#define JL_SYSTEM_FACTS(X)                                                                                             \
	X(link_bothway_Bps, "link_bothway", JL_K_BYTE_RATE, JL_N("GPU link, both ways"))                               \
	X(net_Bps, "net_rate", JL_K_BYTE_RATE, JL_N("network per node, one way"))                                      \
	X(n_vcpu, "vcpu", JL_K_NUMBER, JL_N("vCPU"))                                                                   \
	X(ram_B, "ram", JL_K_BYTES, JL_N("RAM"))                                                                       \
	X(power_W, "power", JL_K_POWER, JL_N("power"))                                                                 \
	X(price_usd, "price", JL_K_USD, JL_N("list price"))

struct jl_system {
	const char *id;   /* aws:p5.48xlarge, dgx-h100 */
	const char *name; /* as the source wrote it */
	const char *const *aliases;
	const char *kind; /* workstation, server, baseboard, rack, desktop, cloud vm, cluster */
	const char *vendor;
	const char *gpu;      /* id of an accelerator; NULL: none */
	const char *gpu_text; /* as the source wrote it */
	int n_gpu;
	const char *gpu_memory_text; /* as the source wrote it, e.g. "40 or 80" */
	const char *join;            /* id of a link with role join */
	const char *join_text;
	const char *switch_text;
	const char *net; /* id of a link with role network */
	const char *net_text;
	int n_net;       /* how many of `net` a node has; 0: unknown */
	const char *cpu; /* as the source wrote it */
	const char *status;
	const char *note;
	const char *source;
	const char *date;
	const struct jl_conflict *conflicts;
	size_t n_conflicts;
#define JL_X(member, key, kind, en) struct jl_fact member;
	JL_SYSTEM_FACTS(JL_X)
#undef JL_X
};

struct jl_price {         /* one dated row of prices/<file>.csv; NAN where the cell is empty */
	const char *kind; /* cloud, card, system, ... */
	const char *provider;
	const char *item;
	const char *gpu_text; /* as the source wrote it */
	const char *gpu;      /* id of an accelerator, or NULL when it is not in the catalog */
	double n_gpu, n_vcpu, ram_B;
	const char *region;
	double on_demand_usdps, spot_min_usdps, spot_median_usdps; /* rents per second */
	double price_usd;
	const char *basis;
	const char *date;
	const char *url;
	const char *note;
};

struct jl_tariff {        /* one component of an electricity price */
	const char *id;   /* group: us-massachusetts, kr-residential-low, kr-industrial-1-low, ... */
	const char *name; /* as the source wrote it */
	const char *region;
	const char *component;   /* energy, base, climate, fuel, vat, fund, average */
	double from_kWh, to_kWh; /* tier, per month; NAN: none */
	const char *season;      /* summer, other, winter, spring/fall; or NULL */
	const char *band;        /* off-peak, mid, peak; or NULL */
	const char *value;       /* with unit, as text: "120.0 KRW/kWh", "1600 KRW/month", "10 %" */
	const char *conditions;
	const char *date;
	const char *source;
	const char *note;
};

/* Rules of thumb, recommendations, PUE, carbon, connectors, test vectors: text with a source that decide and build reason with. */
struct jl_rule {
	const char *id;
	const char *kind; /* rule, recommendation, testvector, pue, carbon, connector, efficiency */
	const char *name;
	const char *subject; /* region or GPU it is about, or NULL */
	const char *value;   /* as text, with unit where it has one */
	double figure;       /* the value that code uses, in `unit`; NAN: none */
	const char *unit;
	const char *conditions;
	const char *date;
	const char *source;
	const char *note;
};

struct jl_model_moe {
	int n_experts, top_k, n_shared, n_dense_layers;
	double expert_ffn;
};
struct jl_model_mla {
	double q_lora, kv_lora, rope_dim, nope_dim, v_dim;
};

struct jl_model_info { /* a transformer */
	const char *id;
	const char *name;
	const char *const *aliases;
	const char *family; /* gpt2, neox, opt, bert, llama, mistral, qwen2, qwen3, gemma, deepseek, ... */
	int n_layers;
	double hidden, heads, kv_heads, head_dim, ffn, vocab, seq;
	double context;              /* tokens of a request at the most; 0: not known */
	const char *hub;             /* its name on huggingface.co; NULL: it has none, or it is not known */
	double positions;            /* learned position embeddings; 0: rotary or none */
	double token_types;          /* BERT: 2 */
	double patch;                /* edge of a patch of a vision transformer, whose words are classes; 0: tokens */
	double window, global_every; /* tokens that layers look back to; every so many layers one sees all (0: none) */
	bool tied, bias, gated, qkv_bias, rms_norm, qk_norm, pooler, mlm_head, final_norm, parallel_block;
	const char *weights; /* format it is published in, as --weights takes it; NULL: 16 bit */
	double context_frac; /* share of the layers' context that is read, where windows do not say it: linear attention; NAN: they do */
	struct jl_model_moe moe; /* n_experts 0: dense */
	struct jl_model_mla mla; /* kv_lora 0: plain attention */
	double params;           /* published count; NAN: none published */
	const char *params_source;
	const char *note;
	const char *source;
	const char *date;
};

enum jl_net_op_kind {
	JL_NET_CONV,
	JL_NET_LINEAR,
	JL_NET_RNN,  /* products that must follow each other, inside one library call */
	JL_NET_CELL, /* the same as a loop of the framework: the weight gradient is taken at every step */
	JL_NET_BMM,  /* a product of activations: no weights */
	JL_NET_ATTENTION,
	JL_NET_STREAM, /* elements moved through memory */
	JL_NET_HOST    /* launches that are not counted with another operator */
};

enum jl_net_train {
	JL_NET_FULL,
	JL_NET_FIRST, /* first layer: no gradient of its input */
	JL_NET_FROZEN /* forward only */
};

enum jl_net_optimizer { JL_NET_SGD, JL_NET_ADAM, JL_NET_LAMB };

/* One group of operators, for one item of the batch unless `per` is a step; 0: not given. */
struct jl_net_op {
	enum jl_net_op_kind op;
	enum jl_net_train train;
	int per; /* 0: item, 1: step */
	bool sync, dilated;
	double count;
	double c_in, h, w, c_out, kh, kw, stride, groups; /* conv; h and w of the input */
	double rows, k, n, steps, heads;                  /* linear, rnn, cell, bmm */
	double elems, passes, elem_B;                     /* stream; elem_B 0: the activations' format */
	double calls;                                     /* stream, host: kernels launched, forward and backward */
	const char *what;
};

struct jl_net_info { /* a network that is no plain transformer: catalog/models/convnets.yaml says what each key means */
	const char *id;
	const char *name;
	const char *const *aliases;
	const char *item, *unit;
	double units_per_item, n_params;
	enum jl_net_optimizer optimizer;
	bool half_grads, ignores_amp;
	double batch_per_B_half, batch_per_B_full, kept_per_output;
	const struct jl_net_op *ops; /* as a list; or */
	size_t n_ops;
	const char *words,
		*program; /* as text: what its names are made of, and the blocks that make the operators; or */
	const char *text; /* the name that a text of the catalog knows it by */
	const char *const *members; /* names that are listed */
	const char *source;         /* as text */
};

/* When requests are let in: as soon as a prompt fits, when its whole answer fits as well, or a share of all answers under way. */
enum jl_kv_rule { JL_KV_AS_NEEDED, JL_KV_RESERVED, JL_KV_ESTIMATED };

/* How an engine schedules. */
struct jl_policy {
	bool prompts_first; /* answers wait while prompts are computed; else both share passes */
	int token_budget;   /* of a pass with prompts: longer ones are cut */
	int max_seqs;       /* at work at once */
	int block_tokens;   /* of keys and values */
	int graph_max;      /* largest captured batch; beyond, kernels are launched one by one */
	int graph_step;     /* captured sizes: powers of two up to it, then its multiples */
	double mem_frac;    /* of the memory, for weights, keys and values */
	enum jl_kv_rule kv_rule;
	double kept_frac;   /* JL_KV_ESTIMATED: of the answers under way */
	bool shared_limits; /* attention cut by requests: the limits hold for all GPUs together */
};

/* Options of an engine's command line, each with its figure where it has one; NULL: it has none. */
#define JL_ENGINE_OPTIONS(X) X(tp) X(seqs) X(tokens) X(length) X(fp8) X(kv8) X(pp) X(ep) X(dp) X(host) X(draft) X(head)
struct jl_engine_start {
	const char *command;
#define JL_X(option) const char *option;
	JL_ENGINE_OPTIONS(JL_X)
#undef JL_X
	const char *answers, *prompts; /* role of a machine, where prompts have their own */
};

/* A serving engine, one of its earlier versions, or its backend for a vendor. What a row does not say is as in the row it is `of`. */
struct jl_engine_info {
	const char *id, *name;
	const char *of;             /* NULL: the first row, the default for other engines */
	const char *until;          /* first version that is no longer this; NULL: today's */
	const char *vendor;         /* whose devices this backend is for; NULL: any */
	const char *const *words;   /* spellings hold one of them, in any case */
	const char *const *runs_on; /* vendors; NULL: all */
	const char *const *fits;    /* parameters that measurements of this row know */
	bool undated;               /* what sources ran that name no version */
	bool single;                /* known by single requests, not by loads */
	bool operators;             /* its operators were measured by themselves */
	bool by_layer;              /* several devices hold whole layers, prompts pass them in pieces */
	bool consumer;              /* kernels for consumer cards: too few bytes under way for large memories */
	bool own_products;          /* products of few rows multiply while they read */
	bool short_sums;            /* products are summed in 16 bit */
	bool native;                /* no interpreter between kernels */
	bool score_maps;            /* attention is not fused */
	bool static_scales;         /* 8-bit activations have scales that are known */
	bool gguf;                  /* runs files of llama.cpp */
	bool eager;                 /* nothing is captured */
	bool host_waits;            /* the host schedules and samples while the device waits */
	bool per_head;              /* attention of answers reads keys once for each query head */
	struct jl_policy policy;
	struct jl_engine_start start;
	const char *source, *date, *note;
};

/* A fitted parameter, or (`fit.*`) how far the rows of a set are from the fit: written by `jeoul calibrate --fit`. */
struct jl_param_info {
	const char *id; /* gemm.tail_frac.tensor, gemm.family.hopper.mem_frac, link.nvlink4.eff_frac, ... */
	double value;
	double lo, hi, prior; /* where it may lie, and what was expected before any row; NAN: nothing */
	int n_rows;           /* published measurements whose prediction knows it */
	const char *unit;
	const char *note;
};

/* A name that others might read otherwise: what an answer says it assumed. */
struct jl_reading {
	char written[JL_NAME_MAX + 1];
	char meant[JL_NAME_MAX + 1];
	char others[JL_NAME_MAX + 1]; /* example of another choice; "": none */
};
#define JL_READINGS_MAX 8
struct jl_readings {
	size_t n;
	struct jl_reading items[JL_READINGS_MAX];
};

/* How often machines stop a training job, as published: one job or one fleet. NAN: not said. */
struct jl_reliability {
	const char *id;   /* llama-3-run, rsc-1 */
	const char *name; /* as the source calls it */
	const char *gpu;  /* as the source calls it */
	double n_gpu;     /* of the job, or of the fleet */
	double n_per_node;
	double window_s;              /* how long it was watched */
	double n_failures, n_planned; /* in that time: unexpected stops, planned stops */
	double failures_per_node_day; /* where that is what is published; else it follows from the counts */
	double mttf_s;                /* of a job of that size, where that is what is published */
	double effective_frac;        /* useful time of the run / its elapsed time */
	bool at_least;                /* the counts or the effective time are a lower bound */
	bool pooled;                  /* one of the sites that the rate of an unknown one is estimated from */
	const char *seen;             /* where the figures were read: the source itself, or a copy or quotation of it */
	const char *note;
	const char *source;
	const char *date;
};

struct jl_catalog {
	const struct jl_source *sources;
	size_t n_sources;
	const struct jl_family *families;
	size_t n_families;
	const struct jl_gpu *gpus;
	size_t n_gpus;
	const struct jl_cpu *cpus;
	size_t n_cpus;
	const struct jl_link_info *links;
	size_t n_links;
	const struct jl_system *systems;
	size_t n_systems;
	const struct jl_price *prices;
	size_t n_prices;
	const struct jl_tariff *tariffs;
	size_t n_tariffs;
	const struct jl_rule *rules;
	size_t n_rules;
	const struct jl_reliability *reliability;
	size_t n_reliability;
	const struct jl_model_info *models;
	size_t n_models;
	const struct jl_net_info *convnets;
	size_t n_convnets;
	const struct jl_engine_info *engines;
	size_t n_engines;
	const struct jl_param_info *params;
	size_t n_params;
	bool hypothetical;            /* machines that cannot be had are weighed too, and marked */
	struct jl_readings *readings; /* one thread's: where names that need a word are noted; NULL: nowhere */
	long today; /* the day that ages of prices are counted from; 0: not known, and no price is too old */
};

/* The catalog compiled into the program: a tenth of a millisecond at the first call, nothing afterwards. */
const struct jl_catalog *jl_catalog_embedded(void);

/* The embedded catalog with every YAML or CSV file of `dirs` laid over it, in order (a record of the same id replaces the keys that it
 * gives; a new id adds a record). Checked as strictly as the embedded one. Lives in `arena`. */
enum jl_status jl_catalog_overlay(const struct jl_catalog **ret_catalog, const char *const *dirs, size_t n_dirs,
				  struct jl_arena *arena, struct jl_err *err);

/* Read a whole catalog folder from nothing (what the build does). */
enum jl_status jl_catalog_load(const struct jl_catalog **ret_catalog, const char *dir, struct jl_arena *arena,
			       struct jl_err *err);
