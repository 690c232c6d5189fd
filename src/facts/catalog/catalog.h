/* Listed facts: accelerators, CPUs, links, systems, prices, tariffs, rules, models, each with its source.
 *
 * The catalog is written as YAML and CSV under catalog/, checked and compiled into the program at build time, and may be overlaid at run time by
 * files of the same form. Records are read-only and live as long as the catalog. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fact.h"
#include "base/priors.h"
#include "base/units.h"

#define JL_NAME_MAX 128 /* maximum bytes of a name in a request */

/* Facts of an accelerator: X(member, YAML key, kind, label) */
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

enum jl_link_role {
	JL_ROLE_WIRE,    /* a kind of link: pcie4-x16, nvlink4 */
	JL_ROLE_JOIN,    /* interconnect between devices of a host ("via"): pcie4-no-p2p, nvlink2-mesh, nvswitch4 */
	JL_ROLE_NETWORK, /* network between hosts ("over"): 10gbe-lacp2, ib-hdr, efa-v2 */
	JL_ROLE_SWITCH   /* switch chip: aggregate rate */
};

#define JL_SYSTEM_FACTS(X)                                                                                             \
	X(link_bothway_Bps, "link_bothway", JL_K_BYTE_RATE, JL_N("GPU link, both ways"))                               \
	X(net_Bps, "net_rate", JL_K_BYTE_RATE, JL_N("network per node, one way"))                                      \
	X(n_vcpu, "vcpu", JL_K_NUMBER, JL_N("vCPU"))                                                                   \
	X(ram_B, "ram", JL_K_BYTES, JL_N("RAM"))                                                                       \
	X(power_W, "power", JL_K_POWER, JL_N("power"))                                                                 \
	X(price_usd, "price", JL_K_USD, JL_N("list price"))

enum jl_net_op_kind {
	JL_NET_CONV,
	JL_NET_LINEAR,
	JL_NET_RNN,  /* sequential products inside one library call */
	JL_NET_CELL, /* the same as a framework loop: weight gradient computed at every step */
	JL_NET_BMM,  /* product of two activations, no weights */
	JL_NET_ATTENTION,
	JL_NET_STREAM, /* elements streamed through memory */
	JL_NET_HOST    /* launches not counted with another operator */
};

enum jl_net_train {
	JL_NET_FULL,
	JL_NET_FIRST, /* first layer: computes no input gradient */
	JL_NET_FROZEN /* frozen: forward only */
};

enum jl_net_optimizer { JL_NET_SGD, JL_NET_ADAM, JL_NET_LAMB };

/* When an engine admits requests: when the prompt fits in the KV cache, when the prompt and its longest answer fit, or with an estimated share of
 * the running answers' lengths. */
enum jl_kv_rule { JL_KV_AS_NEEDED, JL_KV_RESERVED, JL_KV_ESTIMATED };

/* Command-line options of an engine, with a default where it has one; NULL: no such option. */
#define JL_ENGINE_OPTIONS(X)                                                                                           \
	X(tp)                                                                                                          \
	X(seqs)                                                                                                        \
	X(tokens) X(length) X(fp8) X(kv8) X(pp) X(ep) X(dp) X(host) X(loras) X(lora_rank) X(embeds) X(draft) X(head)

#include "catalog/records.def"

/* How an ambiguous name was interpreted; the answer states it as an assumption. */
struct jl_reading {
	char written[JL_NAME_MAX + 1];
	char meant[JL_NAME_MAX + 1];
	char others[JL_NAME_MAX + 1]; /* example of another meaning; "": none */
};
#define JL_READINGS_MAX 8
struct jl_readings {
	size_t n;
	struct jl_reading items[JL_READINGS_MAX];
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
	bool hypothetical;            /* hardware that cannot be bought is evaluated too, and marked */
	struct jl_readings *readings; /* where interpretations of names are recorded; per thread; NULL: nowhere */
	long today;                   /* reference day for the ages of prices; 0: unknown, no price is too old */
};

/* The built-in catalog. The first call takes about 0.1 ms. */
const struct jl_catalog *jl_catalog_embedded(void);

/* The built-in catalog with every YAML or CSV file of `dirs` overlaid in order: a record with an existing id replaces the keys it gives, a new id
 * adds a record. Checked as strictly as the built-in one. Allocated in `arena`. */
enum jl_status jl_catalog_overlay(const struct jl_catalog **ret_catalog, const char *const *dirs, size_t n_dirs,
				  struct jl_arena *arena, struct jl_err *err);

/* Reads a whole catalog folder from scratch (used by the build). */
enum jl_status jl_catalog_load(const struct jl_catalog **ret_catalog, const char *dir, struct jl_arena *arena,
			       struct jl_err *err);
