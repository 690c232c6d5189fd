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
	JL_ROLE_JOIN,    /* how the devices of a host are joined ("via"): pcie4-no-p2p, nvlink2-mesh, nvswitch4 */
	JL_ROLE_NETWORK, /* how hosts are joined ("over"): 10gbe-lacp2, ib-hdr, efa-v2 */
	JL_ROLE_SWITCH   /* a switch chip: aggregate rate */
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

/* When requests are let in: as soon as a prompt fits, when its whole answer fits as well, or a share of all answers under way. */
enum jl_kv_rule { JL_KV_AS_NEEDED, JL_KV_RESERVED, JL_KV_ESTIMATED };

/* Options of an engine's command line, each with its figure where it has one; NULL: it has none. */
#define JL_ENGINE_OPTIONS(X)                                                                                           \
	X(tp) X(seqs) X(tokens) X(length) X(fp8) X(kv8) X(pp) X(ep) X(dp) X(host) X(loras) X(lora_rank) X(draft) X(head)

#include "catalog/records.def"

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
