/* A small catalog in a folder of its own, for tests that insert errors. */
#ifndef TESTS_CATALOG_FILES_H
#define TESTS_CATALOG_FILES_H

#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct text_file {
	const char *name, *text;
};

static const struct text_file small_files[] = {
	{ "sources.yaml", "sources:\n"
			  "  - id: maker-sheet\n"
			  "    title: The maker's data sheet\n"
			  "    url: https://example.org/sheet\n"
			  "    date: 2024-03\n"
			  "    origin: listed\n"
			  "  - id: somebody\n"
			  "    title: Somebody's measurements\n"
			  "    date: 2025-06-01\n"
			  "    origin: published\n" },
	{ "families.yaml", "families:\n"
			   "  - id: hopper\n"
			   "    name: Hopper\n"
			   "    vendor: NVIDIA\n"
			   "    fp32_per_sm_clock: 256\n"
			   "    tf32_per_sm_clock: 2048\n"
			   "    fp16_per_sm_clock: 4096\n"
			   "    bf16_per_sm_clock: 4096\n"
			   "    fp8_per_sm_clock: 8192\n"
			   "    int8_per_sm_clock: 8192\n"
			   "    sparsity: true\n"
			   "    source: maker-sheet\n" },
	{ "gpus/nvidia.yaml", "# comment\n"
			      "gpus:\n"
			      "  - id: h100-sxm5\n"
			      "    name: H100 SXM5 80GB\n"
			      "    aliases: [H100 SXM, \"H100-80G-SXM5\"]\n"
			      "    vendor: NVIDIA\n"
			      "    family: hopper\n"
			      "    compute_capability: \"9.0\"\n"
			      "    year: 2022\n"
			      "    pcie: pcie5-x16\n"
			      "    link: nvlink4\n"
			      "    p2p: yes\n"
			      "    source: maker-sheet\n"
			      "    date: 2024-03\n"
			      "    conflicts:\n"
			      "      - field: tdp\n"
			      "        other: 650 W\n"
			      "        source: somebody\n"
			      "        why: the maker's own word\n"
			      "    mem: 80 GiB\n"
			      "    mem_rate: 3350 GB/s\n"
			      "    bf16_dense: 989.4 TFLOP/s @somebody\n"
			      "    bf16_sparse: 1979 TFLOP/s\n"
			      "    fp16_dense: 989.4 TFLOP/s\n"
			      "    fp16_fp32acc_dense: 989.4 TFLOP/s\n"
			      "    sms: 132\n"
			      "    boost: 1830 MHz @somebody estimated (what the tensor rate implies)\n"
			      "    tdp: 700 W\n"
			      "    link_bothway: 900 GB/s\n"
			      "    link_oneway: 450 GB/s\n" },
	{ "links.yaml", "links:\n"
			"  - id: pcie5-x16\n"
			"    name: PCIe 5.0 x16\n"
			"    role: wire\n"
			"    kind: pcie\n"
			"    oneway: 63 GB/s\n"
			"    bothway: 126 GB/s\n"
			"    source: maker-sheet\n"
			"    measured:\n"
			"      - what: copy to the host\n"
			"        measured: 55 GB/s\n"
			"        frac: 0.87\n"
			"        source: somebody\n"
			"  - id: nvlink4\n"
			"    name: NVLink 4\n"
			"    role: wire\n"
			"    kind: nvlink\n"
			"    oneway: 450 GB/s\n"
			"    source: maker-sheet\n"
			"  - id: nvswitch4\n"
			"    name: NVSwitch, fourth generation\n"
			"    role: join\n"
			"    kind: nvlink\n"
			"    topology: switch\n"
			"    wire: nvlink4\n"
			"    in_switch_reduction: true\n"
			"    source: maker-sheet\n"
			"  - id: ib-ndr\n"
			"    name: InfiniBand NDR\n"
			"    role: network\n"
			"    kind: infiniband\n"
			"    per: port\n"
			"    oneway: 400 Gb/s\n"
			"    source: maker-sheet\n" },
	{ "systems/clouds.yaml", "systems:\n"
				 "  - id: aws:p5.48xlarge\n"
				 "    name: p5.48xlarge\n"
				 "    kind: cloud vm\n"
				 "    vendor: AWS\n"
				 "    gpu: h100-sxm5\n"
				 "    n_gpu: 8\n"
				 "    join: nvswitch4\n"
				 "    net: ib-ndr\n"
				 "    n_net: 8\n"
				 "    ram: 2 TB\n"
				 "    source: maker-sheet\n" },
	{ "tariffs.yaml", "tariffs:\n"
			  "  - id: kr-home\n"
			  "    name: home, low voltage\n"
			  "    region: Korea\n"
			  "    component: energy\n"
			  "    from_kWh: 0\n"
			  "    to_kWh: 300\n"
			  "    value: 120.0 KRW/kWh\n"
			  "    source: maker-sheet\n"
			  "  - id: kr-home\n"
			  "    name: home, low voltage\n"
			  "    region: Korea\n"
			  "    component: base\n"
			  "    value: 910 KRW/month\n"
			  "    source: maker-sheet\n" },
	{ "models/gpt.yaml", "models:\n"
			     "  - id: mixed-8x7b\n"
			     "    name: Mixed 8x7B\n"
			     "    family: llama\n"
			     "    n_layers: 32\n"
			     "    hidden: 4096\n"
			     "    heads: 32\n"
			     "    kv_heads: 8\n"
			     "    ffn: 14336\n"
			     "    vocab: 32000\n"
			     "    seq: 32768\n"
			     "    gated: true\n"
			     "    moe:\n"
			     "      n_experts: 8\n"
			     "      top_k: 2\n"
			     "    params: 46702792704\n"
			     "    source: maker-sheet\n" },
	{ "prices/cloud.csv",
	  "kind,provider,item,gpu,gpu_count,vcpu,ram_gb,region,on_demand_usd_h,spot_usd_h_min,spot_usd_h_median,price_"
	  "usd,price_basis,as_of,"
	  "source_url,notes\n"
	  "cloud,AWS,p5.48xlarge,H100,8,192,2048,us-east-1,98.32,,30.5,,on-demand,2026-08-22,https://example.org/p5,\n"
	  "gpu,shop,card,H100 SXM,1,,,,,,,36000,street,2026-08-22,https://example.org/card,\"one, in a box\"\n" },
};

#define N_SMALL_FILES (sizeof(small_files) / sizeof(small_files[0]))

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
	(void)info;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static inline void folder_remove(const char *dir)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Creates an empty folder; `dir`: a template of at least 64 bytes. */
static inline void folder_make(char *dir)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, 64, "%s/jl-catalog-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
}

static inline void folder_put(const char *dir, const char *name, const char *text, size_t len)
{
	char path[256];
	char *slash;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	mkdir(path, 0755);
	*slash = '/';
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	fclose(file);
}

/* Writes all files of the small catalog, with `text` as the content of `name`. */
static inline void folder_fill(const char *dir, const char *name, const char *text)
{
	for (size_t i = 0; i < N_SMALL_FILES; i++) {
		const char *put = name && strcmp(small_files[i].name, name) == 0 ? text : small_files[i].text;

		folder_put(dir, small_files[i].name, put, strlen(put));
	}
}

static inline const char *small_text(const char *name)
{
	for (size_t i = 0; i < N_SMALL_FILES; i++) {
		if (strcmp(small_files[i].name, name) == 0)
			return small_files[i].text;
	}
	return NULL;
}

#endif
