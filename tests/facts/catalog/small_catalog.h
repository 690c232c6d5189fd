/* A small catalog: names that are easily confused, one interconnect and network of each kind. */
#ifndef TESTS_CATALOG_SMALL_CATALOG_H
#define TESTS_CATALOG_SMALL_CATALOG_H

#include <math.h>

#include "catalog/catalog.h"

#define SOME(x)                                                                                                        \
	{                                                                                                              \
		.value = (x), .lo = NAN, .hi = NAN, .origin = JL_LISTED, .source = "test", .date = "2026-01-01"        \
	}
#define NONE                                                                                                           \
	{                                                                                                              \
		.value = NAN, .lo = NAN, .hi = NAN                                                                     \
	}
#define ALIASES(...)                                                                                                   \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

/* Facts not set below are unknown, not zero. */
#define GPU_UNKNOWN                                                                                                    \
	.l2_B = NONE, .fp64_flopps = NONE, .tf32_dense_flopps = NONE, .fp16_dense_flopps = NONE,                       \
	.fp16_fp32acc_dense_flopps = NONE, .bf16_dense_flopps = NONE, .fp8_dense_flopps = NONE,                        \
	.fp4_dense_flopps = NONE, .int8_dense_opps = NONE, .n_sm = NONE, .boost_Hz = NONE, .tdp_W = NONE,              \
	.link_oneway_Bps = NONE
#define GPU(id_, name_, family_, mem_GB, form, pcie_, link_, p2p_, bothway)                                            \
	.id = id_, .name = name_, .family = family_, .form_factor = form, .pcie = pcie_, .link = link_, .p2p = p2p_,   \
	.source = "test", .date = "2026-01-01", .mem_B = SOME(mem_GB * 1e9), .mem_Bps = SOME(1e12),                    \
	.fp32_flopps = SOME(20e12), .link_bothway_Bps = bothway, GPU_UNKNOWN

static const struct jl_gpu small_gpus[] = {
	{ GPU("gtx-1080-ti", "GeForce GTX 1080 Ti", "pascal", 11, "PCIe card", "pcie3-x16", NULL, JL_P2P_YES, NONE) },
	{ GPU("titan-rtx", "TITAN RTX", "turing", 24, "PCIe card", "pcie3-x16", NULL, JL_P2P_YES, NONE) },
	{ GPU("titan-v", "TITAN V", "volta", 12, "PCIe card", "pcie3-x16", NULL, JL_P2P_YES, NONE) },
	{ GPU("quadro-rtx-6000", "Quadro RTX 6000 (Turing)", "turing", 24, "PCIe card", "pcie3-x16", NULL, JL_P2P_YES,
	      NONE) },
	{ GPU("rtx-6000-ada", "RTX 6000 Ada", "ada", 48, "PCIe card", "pcie4-x16", NULL, JL_P2P_YES, NONE) },
	{ GPU("rtx-3080-10gb", "GeForce RTX 3080 10GB", "ampere-rtx", 10, "PCIe card", "pcie4-x16", NULL,
	      JL_P2P_DRIVER_DISABLED, NONE) },
	{ GPU("rtx-3080-12gb", "GeForce RTX 3080 12GB", "ampere-rtx", 12, "PCIe card", "pcie4-x16", NULL,
	      JL_P2P_DRIVER_DISABLED, NONE) },
	{ GPU("rtx-3080-ti", "GeForce RTX 3080 Ti", "ampere-rtx", 12, "PCIe card", "pcie4-x16", NULL,
	      JL_P2P_DRIVER_DISABLED, NONE) },
	{ GPU("rtx-3090", "GeForce RTX 3090", "ampere-rtx", 24, "PCIe card", "pcie4-x16", "nvlink-bridge-ga102",
	      JL_P2P_DRIVER_DISABLED, SOME(112.5e9)) },
	{ GPU("rtx-3090-ti", "GeForce RTX 3090 Ti", "ampere-rtx", 24, "PCIe card", "pcie4-x16", "nvlink-bridge-ga102",
	      JL_P2P_DRIVER_DISABLED, SOME(112.5e9)) },
	{ GPU("rtx-4090", "GeForce RTX 4090", "ada", 24, "PCIe card", "pcie4-x16", NULL, JL_P2P_DRIVER_DISABLED,
	      NONE) },
	{ GPU("v100-dgxs-32gb", "Tesla V100 DGXS 32GB", "volta", 32, "PCIe card", "pcie3-x16", "nvlink2", JL_P2P_YES,
	      SOME(300e9)) },
	{ GPU("v100-sxm2-32gb", "Tesla V100 SXM2 32GB", "volta", 32, "SXM", "pcie3-x16", "nvlink2", JL_P2P_YES,
	      SOME(300e9)) },
	{ GPU("a100-sxm4-40gb", "A100 SXM4 40GB", "ampere-dc", 40, "SXM", "pcie4-x16", "nvlink3", JL_P2P_YES,
	      SOME(600e9)) },
	{ GPU("a100-sxm4-80gb", "A100 SXM4 80GB", "ampere-dc", 80, "SXM", "pcie4-x16", "nvlink3", JL_P2P_YES,
	      SOME(600e9)),
	  .aliases = ALIASES("A100 80GB") },
	{ GPU("a100-pcie-80gb", "A100 PCIe 80GB", "ampere-dc", 80, "PCIe card", "pcie4-x16", "nvlink3", JL_P2P_YES,
	      SOME(600e9)) },
	{ GPU("h100-sxm5", "H100 SXM5 80GB", "hopper", 80, "SXM", "pcie5-x16", "nvlink4", JL_P2P_YES, SOME(900e9)),
	  .aliases = ALIASES("NVIDIA H100 80GB HBM3") },
	{ GPU("h200-sxm", "H200 SXM 141GB", "hopper", 141, "SXM", "pcie5-x16", "nvlink4", JL_P2P_YES, SOME(900e9)),
	  .aliases = ALIASES("H200") },
	{ GPU("h200-nvl", "H200 NVL 141GB", "hopper", 141, "PCIe card", "pcie5-x16", "nvlink4", JL_P2P_YES,
	      SOME(900e9)) },
	{ GPU("mi300x", "AMD Instinct MI300X", "cdna3", 192, "OAM", "pcie5-x16", "infinity-fabric-mi300", JL_P2P_YES,
	      SOME(896e9)) },
	{ GPU("l40", "L40", "ada", 48, "PCIe card", "pcie4-x16", NULL, JL_P2P_YES, NONE) },
	{ GPU("l40s", "L40S", "ada", 48, "PCIe card", "pcie4-x16", NULL, JL_P2P_YES, NONE) },
	{ GPU("mystery", "Mystery card", NULL, 8, "PCIe card", NULL, NULL, JL_P2P_UNKNOWN, NONE) },
};

static const struct jl_cpu small_cpus[] = {
	{ .id = "neoverse-v1",
	  .name = "Arm Neoverse V1",
	  .fp32_flopps = NONE,
	  .n_core = SOME(64),
	  .fp32_per_clock = SOME(32),
	  .bf16_over_fp32 = SOME(2),
	  .base_Hz = SOME(2.6e9),
	  .boost_Hz = NONE,
	  .mem_B = NONE,
	  .mem_Bps = SOME(307e9),
	  .l3_B = NONE,
	  .tdp_W = NONE },
	{ .id = "i9-13900k",
	  .name = "Intel Core i9-13900K",
	  .fp32_flopps = SOME(1.5e12),
	  .n_core = SOME(24),
	  .fp32_per_clock = NONE,
	  .bf16_over_fp32 = NONE,
	  .base_Hz = NONE,
	  .boost_Hz = SOME(5.8e9),
	  .mem_B = NONE,
	  .mem_Bps = SOME(89.6e9),
	  .l3_B = NONE,
	  .tdp_W = SOME(253) },
};

#define LINK(id_, role_, kind_, oneway, bothway)                                                                       \
	.id = id_, .name = id_, .role = role_, .kind = kind_, .oneway_Bps = oneway, .bothway_Bps = bothway
static const struct jl_link_info small_links[] = {
	{ LINK("pcie3-x16", JL_ROLE_WIRE, "pcie", SOME(16e9), SOME(32e9)) },
	{ LINK("pcie4-x16", JL_ROLE_WIRE, "pcie", SOME(31e9), SOME(62e9)) },
	{ LINK("pcie5-x16", JL_ROLE_WIRE, "pcie", SOME(63e9), SOME(126e9)) },
	{ LINK("nvlink2", JL_ROLE_WIRE, "nvlink", SOME(150e9), NONE) },
	{ LINK("nvlink4", JL_ROLE_WIRE, "nvlink", SOME(450e9), NONE) },
	{ LINK("pcie3", JL_ROLE_JOIN, "pcie", SOME(16e9), NONE), .topology = "p2p", .wire = "pcie3-x16" },
	{ LINK("pcie4", JL_ROLE_JOIN, "pcie", SOME(31e9), NONE), .topology = "p2p", .wire = "pcie4-x16" },
	{ LINK("pcie4-no-p2p", JL_ROLE_JOIN, "pcie", SOME(31e9), NONE), .topology = "host", .wire = "pcie4-x16" },
	{ LINK("pcie5-no-p2p", JL_ROLE_JOIN, "pcie", SOME(63e9), NONE), .topology = "host", .wire = "pcie5-x16" },
	{ LINK("nvlink-bridge", JL_ROLE_JOIN, "nvlink-bridge", NONE, NONE), .topology = "bridge-pair",
	  .fallback = "pcie4-no-p2p" },
	{ LINK("nvlink2-mesh", JL_ROLE_JOIN, "nvlink", NONE, NONE), .topology = "mesh", .wire = "nvlink2",
	  .host_max = 8 },
	{ LINK("nvlink2-switch", JL_ROLE_JOIN, "nvlink", NONE, NONE), .topology = "switch", .wire = "nvlink2",
	  .host_max = 16 },
	{ LINK("nvlink3-switch", JL_ROLE_JOIN, "nvlink", NONE, NONE), .topology = "switch", .wire = "nvlink3",
	  .host_max = 16 },
	{ LINK("nvlink4-switch", JL_ROLE_JOIN, "nvlink", SOME(450e9), NONE), .topology = "switch", .wire = "nvlink4",
	  .host_max = 8, .in_switch_reduction = true },
	{ LINK("xgmi-mesh-mi300", JL_ROLE_JOIN, "infinity-fabric", NONE, NONE), .topology = "mesh",
	  .wire = "infinity-fabric-mi300" },
	{ LINK("odd-join", JL_ROLE_JOIN, "odd", NONE, NONE), .topology = "hypercube" },
	{ LINK("10gbe", JL_ROLE_NETWORK, "ethernet", SOME(1.25e9), NONE) },
	{ LINK("10gbe-lacp2", JL_ROLE_NETWORK, "ethernet", SOME(2.5e9), NONE) },
	{ LINK("100gbe", JL_ROLE_NETWORK, "ethernet", SOME(12.5e9), NONE) },
	{ LINK("ib-edr", JL_ROLE_NETWORK, "infiniband", SOME(12.5e9), NONE) },
	{ LINK("ib-hdr", JL_ROLE_NETWORK, "infiniband", SOME(25e9), NONE) },
	{ LINK("ib-ndr", JL_ROLE_NETWORK, "infiniband", SOME(50e9), SOME(100e9)),
	  .aliases = ALIASES("InfiniBand NDR") },
	{ LINK("efa-v2", JL_ROLE_NETWORK, "efa", SOME(12.5e9), NONE) },
};

#define SYSTEM_UNKNOWN .n_vcpu = NONE, .ram_B = NONE, .power_W = NONE, .price_usd = NONE
static const struct jl_system small_systems[] = {
	{ .id = "dgx-station-v100-32gb",
	  .name = "DGX Station (V100)",
	  .kind = "workstation",
	  .gpu = "v100-dgxs-32gb",
	  .n_gpu = 4,
	  .join = "nvlink2-mesh",
	  .link_bothway_Bps = NONE,
	  .net_Bps = NONE,
	  SYSTEM_UNKNOWN },
	{ .id = "dgx-h100",
	  .name = "DGX H100",
	  .kind = "server",
	  .gpu = "h100-sxm5",
	  .n_gpu = 8,
	  .join = "nvlink4-switch",
	  .net = "ib-ndr",
	  .n_net = 8,
	  .link_bothway_Bps = SOME(900e9),
	  .net_Bps = SOME(400e9),
	  SYSTEM_UNKNOWN },
	{ .id = "aws:p5.48xlarge",
	  .name = "p5.48xlarge",
	  .kind = "cloud vm",
	  .gpu = "h100-sxm5",
	  .n_gpu = 8,
	  .join = "nvlink4-switch",
	  .net = "efa-v2",
	  .link_bothway_Bps = SOME(900e9),
	  .net_Bps = SOME(400e9),
	  SYSTEM_UNKNOWN },
	{ .id = "aws:p5.4xlarge",
	  .name = "p5.4xlarge",
	  .kind = "cloud vm",
	  .gpu = "h100-sxm5",
	  .n_gpu = 1,
	  .net = "efa-v2",
	  .link_bothway_Bps = NONE,
	  .net_Bps = SOME(12.5e9),
	  SYSTEM_UNKNOWN },
	{ .id = "azure:nv6",
	  .name = "NV6",
	  .kind = "cloud vm",
	  .gpu_text = "M60 (half-board)",
	  .n_gpu = 1,
	  .link_bothway_Bps = NONE,
	  .net_Bps = NONE,
	  SYSTEM_UNKNOWN },
	{ .id = "lab-box",
	  .name = "A box of four",
	  .kind = "server",
	  .gpu = "rtx-4090",
	  .n_gpu = 4,
	  .link_bothway_Bps = NONE,
	  .net_Bps = NONE,
	  SYSTEM_UNKNOWN },
};

static const struct jl_model_info small_models[] = {
	{ .id = "llama-3-8b", .name = "Llama 3 8B" },     { .id = "llama-3.1-8b", .name = "Llama 3.1 8B" },
	{ .id = "llama-3.2-1b", .name = "Llama 3.2 1B" }, { .id = "qwen2.5-7b", .name = "Qwen2.5 7B" },
	{ .id = "gpt-305m", .name = "GPT 305M" },
};

static const struct jl_family small_families[] = {
	{ .id = "cdna3", .name = "CDNA 3", .parent = "cdna" },
	{ .id = "hopper", .name = "Hopper", .host_net = "ib-ndr", .n_host_net = 8 },
	{ .id = "ampere-dc", .name = "Ampere", .host_net = "ib-hdr", .n_host_net = 8 },
	{ .id = "volta", .name = "Volta", .host_net = "ib-edr", .n_host_net = 4 },
	{ .id = "rubin", .name = "Rubin", .parent = "blackwell-dc" },
	{ .id = "rubin-own", .name = "Rubin", .parent = "rubin", .priors = { .n_sm = 224, .flop_gain = 0.7 } },
	{ .id = "loop-a", .name = "a", .parent = "loop-b" },
	{ .id = "loop-b", .name = "b", .parent = "loop-a" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
static const struct jl_rule small_rules[] = {
	{ .id = "suffix", .kind = "model-suffix", .name = "instruct | chat", .value = "none" },
	{ .id = "suffix-q4", .kind = "model-suffix", .name = "q4_k_m", .value = "q4_k_m" },
	{ .id = "filler", .kind = "unit-filler", .name = "developer kit", .value = "none" },
	{ .id = "name-a100",
	  .kind = "unit-name",
	  .name = "usual a100 | a100 as usual",
	  .value = "a100-sxm4-80gb",
	  .subject = "a100-pcie-80gb" },
	{ .id = "name-v100",
	  .kind = "unit-name",
	  .name = "any v100",
	  .value = "?",
	  .subject = "v100-sxm2-16gb, v100-sxm2-32gb" },
	{ .id = "slice", .kind = "unit-name", .name = "slice-#", .value = "#/2 rtx-3090", .subject = "#x rtx-3090" },
};

static const struct jl_catalog small_catalog = {
	.rules = small_rules,
	.n_rules = COUNT(small_rules),
	.families = small_families,
	.n_families = COUNT(small_families),
	.gpus = small_gpus,
	.n_gpus = COUNT(small_gpus),
	.cpus = small_cpus,
	.n_cpus = COUNT(small_cpus),
	.links = small_links,
	.n_links = COUNT(small_links),
	.systems = small_systems,
	.n_systems = COUNT(small_systems),
	.models = small_models,
	.n_models = COUNT(small_models),
};

#endif
