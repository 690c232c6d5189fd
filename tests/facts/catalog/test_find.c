/* Finding records by names as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "catalog/names.h"
#include "catalog/nearest.h"
#include "catalog/words.h"
#include "small_catalog.h"

static void check_gpu(const char *text, const char *id)
{
	const struct jl_gpu *gpu = NULL;
	struct jl_err err = { 0 };
	enum jl_status status = jl_find_gpu(&gpu, &small_catalog, text, &err);

	if (status)
		fail_msg("'%s': %s", text, err.en);
	if (strcmp(gpu->id, id) != 0)
		fail_msg("'%s' gave %s, not %s", text, gpu->id, id);
}

/* Expects `status`, and messages that name all `ids` (NULL-terminated) in this order. */
static void check_refused(const char *text, enum jl_status status, const char *const *ids)
{
	const struct jl_gpu *gpu = (const void *)&status;
	struct jl_err err = { 0 };
	const char *en = err.en;
	const char *ko = err.text;

	assert_int_equal(jl_find_gpu(&gpu, &small_catalog, text, &err), status);
	assert_int_equal(err.status, status);
	assert_ptr_equal(gpu, &status); /* unchanged on failure */
	for (; ids && *ids; ids++) {
		en = strstr(en, *ids);
		ko = strstr(ko, *ids);
		if (!en || !ko)
			fail_msg("'%s': %s is missing in: %s / %s", text, *ids, err.en, err.text);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *text, *glued;
		size_t n;
	} cases[] = {
		{ "GeForce RTX3090", "rtx3090", 2 },
		{ "NVIDIA A100-SXM4-80GB", "a100sxm4-80gb", 5 },
		{ "rtx 3080 12 GB", "rtx3080-12gb", 3 },
		{ "RTX 3080 12GiB", "rtx3080-12gb", 3 },
		{ "Llama-3.1-8B", "llama3.1-8b", 3 },
		{ "mixtral-8x7b", "mixtral8x7b", 4 },
		{ "p5.48xlarge", "p5.48xlarge", 3 },
		{ "NVIDIA", "nvidia", 1 },
		{ "10gbe-lacp2", "10gbelacp2", 4 },
		{ " -- ", "", 0 },
		{ "", "", 0 },
		{ "엔비디아 3090", "엔비디아3090", 2 },
	};
	struct jl_words words;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		jl_words_split(&words, cases[i].text);
		assert_string_equal(words.glued, cases[i].glued);
		assert_int_equal(words.n, cases[i].n);
	}
}

/* Names beyond the limits do not overrun buffers. */
static void test_words_limits(void **state)
{
	char text[4096];
	struct jl_words words;
	size_t i;

	(void)state;
	for (i = 0; i + 1 < sizeof(text); i++)
		text[i] = i % 2 ? '1' : 'a';
	text[sizeof(text) - 1] = '\0';
	jl_words_split(&words, text);
	assert_int_equal(words.n, JL_WORDS_MAX);
	memset(text, '7', sizeof(text) - 1);
	jl_words_split(&words, text);
	assert_true(words.glued_len < sizeof(words.glued));
	for (i = 0; i + 4 < sizeof(text); i += 4)
		memcpy(text + i, "1GiB", 4);
	jl_words_split(&words, text);
	assert_true(words.glued_len < sizeof(words.glued));
}

static void test_spellings(void **state)
{
	(void)state;
	check_gpu("rtx-3090", "rtx-3090");
	check_gpu("RTX 3090", "rtx-3090");
	check_gpu("RTX3090", "rtx-3090");
	check_gpu("GeForce RTX3090", "rtx-3090");
	check_gpu("NVIDIA GeForce RTX 3090", "rtx-3090");
	check_gpu("  rtx_3090 ", "rtx-3090");
	check_gpu("3090", "rtx-3090");
	check_gpu("3090ti", "rtx-3090-ti");
	check_gpu("1080 ti", "gtx-1080-ti");
	check_gpu("3090 RTX", "rtx-3090");
	check_gpu("rtx 3090 24gb", "rtx-3090");
	check_gpu("h200", "h200-sxm"); /* resolved by an alias */
	check_gpu("H200 NVL", "h200-nvl");
	check_gpu("a100 80gb", "a100-sxm4-80gb");
	check_gpu("A100 40 GB", "a100-sxm4-40gb");
	check_gpu("A100 SXM 80GB", "a100-sxm4-80gb");
	check_gpu("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb");
	check_gpu("NVIDIA H100 80GB HBM3", "h100-sxm5");
	check_gpu("h100", "h100-sxm5");
	check_gpu("AMD Instinct MI300X", "mi300x");
	check_gpu("l40", "l40");
	check_gpu("L40S", "l40s");
	check_gpu("Tesla V100-DGXS-32GB", "v100-dgxs-32gb");
	check_gpu("Titan RTX", "titan-rtx");
}

static void test_ambiguous(void **state)
{
	(void)state;
	check_refused("a100", JL_E_AMBIGUOUS,
		      (const char *const[]){ "a100-sxm4-40gb", "a100-sxm4-80gb", "a100-pcie-80gb", NULL });
	check_refused("rtx 3080", JL_E_AMBIGUOUS, (const char *const[]){ "rtx-3080-10gb", "rtx-3080-12gb", NULL });
	check_refused("titan", JL_E_AMBIGUOUS, (const char *const[]){ "titan-rtx", "titan-v", NULL });
	check_refused("rtx 6000", JL_E_AMBIGUOUS, (const char *const[]){ "quadro-rtx-6000", "rtx-6000-ada", NULL });
	check_refused("v100", JL_E_AMBIGUOUS, (const char *const[]){ "v100-dgxs-32gb", "v100-sxm2-32gb", NULL });
}

/* rtx-3080-ti is not a candidate for "rtx 3080"; long lists are truncated with a count. */
static void test_ambiguous_list(void **state)
{
	const struct jl_gpu *gpu;
	const struct jl_gpu *all[4];
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_find_gpu(&gpu, &small_catalog, "rtx 3080", &err), JL_E_AMBIGUOUS);
	assert_null(strstr(err.en, "rtx-3080-ti"));
	assert_int_equal(jl_find_gpu(&gpu, &small_catalog, "rtx", &err), JL_E_AMBIGUOUS);
	assert_non_null(strstr(err.en, "fits 9 accelerators"));
	assert_non_null(strstr(err.en, "and 1 more"));
	assert_non_null(strstr(err.text, "외 1개"));
	assert_int_equal(jl_find_gpus(all, 4, &small_catalog, "a100"), 3);
	assert_string_equal(all[2]->id, "a100-pcie-80gb");
	assert_int_equal(jl_find_gpus(all, 1, &small_catalog, "rtx 3080"), 2);
	assert_int_equal(jl_find_gpus(all, 4, &small_catalog, "rtx 3090"), 1);
	assert_int_equal(jl_find_gpus(all, 4, &small_catalog, "zx81"), 0);
	assert_int_equal(jl_find_gpus(all, 4, &small_catalog, ""), 0);
}

static void test_not_found(void **state)
{
	(void)state;
	check_refused("rtx 3900", JL_E_NOTFOUND, (const char *const[]){ "rtx-3090", NULL });
	check_refused("gtx 3090", JL_E_NOTFOUND, (const char *const[]){ "rtx-3090", NULL });
	check_refused("rtx-309", JL_E_NOTFOUND, (const char *const[]){ "rtx-3090", NULL });
	check_refused("a100-sxm4-80g", JL_E_NOTFOUND, (const char *const[]){ "a100-sxm4-80gb", NULL });
	check_gpu("mi300", "mi300x"); /* a prefix up to a word boundary */
	check_refused("zx81 spectrum", JL_E_NOTFOUND, NULL);
}

/* Joined words must be adjacent; words with a gap need not be. */
static void test_together(void **state)
{
	struct jl_words have, asked;
	unsigned used;

	(void)state;
	jl_words_split(&have, "nc24ads_a100_v4");
	jl_words_split(&asked, "v100");
	assert_int_equal(jl_words_match(&have, &asked, &used), 0);
	jl_words_split(&asked, "v 100");
	assert_int_equal(jl_words_match(&have, &asked, &used), 3);
	jl_words_split(&asked, "v4 a100");
	assert_int_equal(jl_words_match(&have, &asked, &used), 15);
	assert_int_equal(used, 0x78);
	jl_words_split(&have, "v 4 v 100"); /* only the second v is joined */
	jl_words_split(&asked, "v100");
	assert_int_equal(jl_words_match(&have, &asked, &used), 3);
	jl_words_split(&have, "a100 a"); /* each word as often as in the request */
	jl_words_split(&asked, "a a a");
	assert_int_equal(jl_words_match(&have, &asked, &used), 3);
	check_refused("rtx6000", JL_E_AMBIGUOUS, (const char *const[]){ "quadro-rtx-6000", "rtx-6000-ada", NULL });
	check_gpu("A100SXM40GB", "a100-sxm4-40gb");
}

static void test_bad_names(void **state)
{
	char longest[JL_NAME_MAX + 2];
	const struct jl_gpu *gpu;
	struct jl_err err;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	check_refused("", JL_E_USAGE, (const char *const[]){ "''", NULL });
	assert_int_equal(jl_find_gpu(&gpu, &small_catalog, "", &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "not a name of an accelerator"));
	check_refused(" \t-- ", JL_E_USAGE, NULL);
	check_refused(longest, JL_E_LIMIT, NULL);
	longest[JL_NAME_MAX] = '\0';
	check_refused(longest, JL_E_NOTFOUND, NULL);
	check_refused("\xff\xfe\x01", JL_E_NOTFOUND, NULL);
	check_refused("nvidia", JL_E_NOTFOUND, NULL);
}

static void test_links(void **state)
{
	const struct jl_link_info *link;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_find_link(&link, &small_catalog, "PCIe4 no P2P", JL_ROLE_JOIN, &err), JL_OK);
	assert_string_equal(link->id, "pcie4-no-p2p");
	assert_int_equal(jl_find_link(&link, &small_catalog, "pcie4", JL_ROLE_JOIN, &err), JL_OK);
	assert_string_equal(link->id, "pcie4");
	assert_int_equal(jl_find_link(&link, &small_catalog, "infiniband ndr", JL_ROLE_NETWORK, &err), JL_OK);
	assert_string_equal(link->id, "ib-ndr");
	assert_int_equal(jl_find_link(&link, &small_catalog, "nvlink4", JL_ROLE_ANY, &err), JL_OK);
	assert_string_equal(link->id, "nvlink4");
	/* exists, but has another role */
	assert_int_equal(jl_find_link(&link, &small_catalog, "10gbe", JL_ROLE_JOIN, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "is a network (over); here should be a join"));
	assert_non_null(strstr(err.text, "네트워크(over)"));
	assert_non_null(strstr(err.text, "여기에는 연결이 와야"));
	assert_int_equal(jl_find_link(&link, &small_catalog, "pcie4", JL_ROLE_NETWORK, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.text, "여기에는 네트워크가 와야"));
	assert_int_equal(jl_find_link(&link, &small_catalog, "qqqqqqqqqqqq", JL_ROLE_JOIN, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "'jeoul catalog list links'"));
	assert_int_equal(jl_find_link(&link, &small_catalog, "nvlink2-mash", JL_ROLE_JOIN, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "did you mean nvlink2-mesh"));
	assert_int_equal(jl_find_link(&link, &small_catalog, "nvlink2-mash", JL_ROLE_JOIN, NULL), JL_E_NOTFOUND);
}

/* Rules of names: an assumption that is recorded, a question, a number in the name, meaningless words. */
static void test_names(void **state)
{
	struct jl_readings readings = { 0 };
	struct jl_catalog cat = small_catalog;
	struct jl_found unit = { 0 };
	const char *weights;
	struct jl_err err = { 0 };

	(void)state;
	cat.readings = &readings;
	assert_int_equal(jl_find_unit(&unit, &cat, "Usual-A100", &err), JL_OK);
	assert_string_equal(unit.gpu->id, "a100-sxm4-80gb");
	assert_int_equal(jl_find_unit(&unit, &cat, "usual-a100", &err), JL_OK); /* recorded once */
	assert_int_equal(readings.n, 1);
	assert_string_equal(readings.items[0].meant, "a100-sxm4-80gb");
	assert_string_equal(readings.items[0].others, "a100-pcie-80gb");
	assert_int_equal(jl_find_unit(&unit, &cat, "any v100", &err), JL_E_AMBIGUOUS);
	assert_non_null(strstr(err.en, "v100-sxm2-16gb, v100-sxm2-32gb"));
	assert_int_equal(jl_find_unit(&unit, &cat, "slice-16", &err), JL_OK);
	assert_int_equal(unit.n, 8);
	assert_string_equal(readings.items[1].meant, "8x rtx-3090");
	assert_string_equal(readings.items[1].others, "16x rtx-3090");
	assert_int_equal(jl_find_unit(&unit, &cat, "RTX 3090 developer kit (24G)", &err), JL_OK);
	assert_string_equal(unit.gpu->id, "rtx-3090");
	assert_int_equal(unit.n, 0);
	assert_int_equal(readings.n, 2);
	weights = jl_name_weights(&cat, "x/Llama-3.1-8B-Instruct-Q4_K_M.gguf");
	assert_string_equal(weights, "q4_k_m");
	assert_null(jl_name_weights(&cat, "x/Llama-3.1-8B-Instruct"));
	assert_null(jl_name_weights(&cat, "llamaq4_k_m"));
}

static void test_cpus_and_models(void **state)
{
	const struct jl_model_info *model;
	const struct jl_cpu *cpu;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_find_cpu(&cpu, &small_catalog, "Intel Core i9-13900K", &err), JL_OK);
	assert_string_equal(cpu->id, "i9-13900k");
	assert_int_equal(jl_find_cpu(&cpu, &small_catalog, "CPU:neoverse v1", &err), JL_OK);
	assert_int_equal(jl_find_model(&model, &small_catalog, "llama 3 8b", &err), JL_OK);
	assert_string_equal(model->id, "llama-3-8b");
	assert_int_equal(jl_find_model(&model, &small_catalog, "meta-llama/Llama-3.1-8B-Instruct", &err), JL_OK);
	assert_string_equal(model->id, "llama-3.1-8b");
	assert_int_equal(jl_find_model(&model, &small_catalog, "Qwen/Qwen2.5-7B", &err), JL_OK);
	assert_int_equal(jl_find_model(&model, &small_catalog, "llama 3 1b", &err), JL_E_NOTFOUND);
	assert_int_equal(jl_find_model(&model, &small_catalog, "GPT-305M", &err), JL_OK);
}

static void test_units(void **state)
{
	struct jl_found found;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_find_unit(&found, &small_catalog, "rtx 3090", &err), JL_OK);
	assert_non_null(found.gpu);
	assert_null(found.system);
	assert_int_equal(jl_find_unit(&found, &small_catalog, "dgx h100", &err), JL_OK);
	assert_null(found.gpu);
	assert_string_equal(found.system->id, "dgx-h100");
	assert_int_equal(jl_find_unit(&found, &small_catalog, "v100 32gb", &err), JL_E_AMBIGUOUS);
	assert_int_equal(jl_find_unit(&found, &small_catalog, "dgx-h10", &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "no accelerator or system is called"));
	assert_non_null(strstr(err.en, "dgx-h100"));
}

/* Id of the record that is set; its kind in *ret_kind. */
static const char *any_id(const struct jl_found_any *any, const char **ret_kind)
{
	const struct {
		const char *kind, *id;
	} set[] = {
		{ "gpu", any->gpu ? any->gpu->id : NULL },          { "system", any->system ? any->system->id : NULL },
		{ "cpu", any->cpu ? any->cpu->id : NULL },          { "model", any->model ? any->model->id : NULL },
		{ "family", any->family ? any->family->id : NULL }, { "link", any->link ? any->link->id : NULL }
	};
	const char *id = NULL;

	for (size_t i = 0; i < COUNT(set); i++) {
		if (!set[i].id)
			continue;
		assert_null(id);
		id = set[i].id;
		*ret_kind = set[i].kind;
	}
	return id;
}

/* Spellings of model hubs and other programs. */
static void test_models_as_people_type_them(void **state)
{
	static const struct {
		const char *text, *id;
	} good[] = {
		{ "llama-3.1-8b", "llama-3-8b" },
		{ "llama3.1:8b", "llama-3-8b" },
		{ "meta-llama/Llama-3.1-8B-Instruct", "llama-3-8b" },
		{ "llama3.3", "llama-3-70b" },
		{ "Qwen/Qwen3-8B", "qwen3-8b" },
		{ "Qwen/Qwen3-8B-Base", "qwen3-8b" },
		{ "Qwen/Qwen3-14B-Instruct-2507", "qwen3-14b" },
		{ "qwen2.5-coder:32b", "qwen2.5-32b" },
		{ "deepseek-r1", "deepseek-v3" },
		{ "DeepSeek-V3.1", "deepseek-v3" },
		{ "deepseek-r1:70b", "llama-3-70b" },
		{ "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "qwen2.5-32b" },
		{ "LGAI-EXAONE/EXAONE-4.0-32B", "exaone-4.0-32b" },
		{ "k-exaone", "k-exaone-236b-a23b" },
		{ "glm-4.6", "glm-4.5" },
		{ "kimi-k2-thinking", "kimi-k2.5" },
		{ "kimi-k2", "kimi-k2" },
		{ "phi4", "phi-4" },
		{ "mistral", "mistral-7b" },
		{ "mistral-nemo", "mistral-nemo-12b" },
	};
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_model_info *model;
	struct jl_found_any any;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		if (jl_find_model(&model, cat, good[i].text, &err))
			fail_msg("%s: %s", good[i].text, err.en);
		assert_string_equal(model->id, good[i].id);
	}
	assert_int_equal(jl_find_any(&any, cat, "meta-llama/Llama-3.2-3B", &err), JL_OK);
	assert_string_equal(any.model->id, "llama-3.2-3b");
	assert_int_equal(jl_find_model(&model, cat, "exaone4", &err), JL_E_AMBIGUOUS);
	assert_non_null(strstr(err.en, "exaone-4.0-1.2b, exaone-4.0-32b"));
	assert_int_equal(jl_find_model(&model, cat, "command-r", &err), JL_E_AMBIGUOUS);
}

static void test_any(void **state)
{
	static const struct {
		const char *text, *kind, *id;
	} good[] = {
		{ "RTX 3090", "gpu", "rtx-3090" },   { "dgx-h100", "system", "dgx-h100" },
		{ "epyc-7742", "cpu", "epyc-7742" }, { "llama 3 8b", "model", "llama-3-8b" },
		{ "hopper", "family", "hopper" },    { "nvlink4", "link", "nvlink4" },
	};
	static const struct {
		const char *text;
		enum jl_status status;
		const char *en[3];
	} bad[] = {
		{ "DGX-1", JL_E_AMBIGUOUS, { "systems", "dgx-1-p100", "dgx-1-v100-16gb" } },
		{ "bert", JL_E_AMBIGUOUS, { "models", "bert-base", "bert-large" } },
		{ "deepseek", JL_E_AMBIGUOUS, { "models", "deepseek-v3", "deepseek-v2" } },
		{ "epyc", JL_E_AMBIGUOUS, { "CPUs", "epyc-7742", "epyc-9654" } },
		{ "deepsek-v3", JL_E_NOTFOUND, { "did you mean", "deepseek-v3", "" } },
		{ "epyc-7724", JL_E_NOTFOUND, { "did you mean", "epyc-7742", "" } },
		{ "", JL_E_USAGE, { "is not a name of a record", "", "" } },
	};
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_found_any any;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		const char *kind = "none";

		if (jl_find_any(&any, cat, good[i].text, &err))
			fail_msg("'%s': %s", good[i].text, err.en);
		assert_string_equal(any_id(&any, &kind), good[i].id);
		assert_string_equal(kind, good[i].kind);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(jl_find_any(&any, cat, bad[i].text, &err), bad[i].status);
		for (size_t k = 0; k < 3; k++)
			if (!strstr(err.en, bad[i].en[k]))
				fail_msg("'%s': no '%s' in: %s", bad[i].text, bad[i].en[k], err.en);
	}
}

/* A price row that leaves the variant open matches several accelerators, a specific one matches one. */
static void test_prices(void **state)
{
	static const struct {
		const char *provider, *item, *text;
		size_t n;
		const char *first;
	} rows[] = {
		{ "Paperspace", "H100x8", "H100", 4, NULL },
		{ "Lambda", "gpu_8x_h100_sxm5", "H100", 1, "h100-sxm5" },
		{ "Lambda", "gpu_1x_h100_pcie", "H100", 1, "h100-pcie" },
		{ "Vast.ai", "4x-RTX_4070S_Ti-32-65536", "RTX4070", 1, "rtx-4070-ti-super" },
		{ "Vast.ai", "1x-RTX_4090-32-65536", "RTX4090", 1, "rtx-4090" },
		{ "GCP", "tpu tpu-v6e-8", "tpu-v6e-8", 1, "tpu-v6e" },
		{ "AWS", "dl2q.24xlarge", "Qualcomm AI100", 0, NULL },
		{ "GCP", "n1-standard-4", NULL, 0, NULL },
	};
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_gpu *gpus[16];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct jl_price price = { .provider = rows[i].provider,
					  .item = rows[i].item,
					  .gpu_text = rows[i].text };
		size_t n = jl_price_gpus(gpus, COUNT(gpus), cat, &price);

		if (rows[i].n > 1 ? n < 2 : n != rows[i].n)
			fail_msg("'%s' '%s': %zu", rows[i].item, rows[i].text ? rows[i].text : "", n);
		if (rows[i].first)
			assert_string_equal(gpus[0]->id, rows[i].first);
	}
	/* accelerators by provider, and by the catalog's instance types */
	for (size_t i = 0; i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];
		const char *provider = p->provider, *text = p->gpu_text ? p->gpu_text : "";

		if ((strcmp(provider, "GCP") == 0 || strcmp(provider, "AWS") == 0 ||
		     strcmp(provider, "Oracle OCI") == 0) &&
		    (strcmp(text, "V100") == 0 || strcmp(text, "A100") == 0 || strcmp(text, "H100") == 0))
			assert_true(p->gpu && strstr(p->gpu, "-sxm"));
		if (strcmp(p->item, "Standard_NC24ads_A100_v4") == 0)
			assert_string_equal(p->gpu, "a100-pcie-80gb");
		if (strcmp(text, "tpu-v6e-8") == 0 || strcmp(text, "tpu-v5litepod-8") == 0)
			assert_true(p->n_gpu == 8);
		if (strcmp(text, "tpu-v5p-8") == 0)
			assert_true(p->n_gpu == 4);
	}
}

static void test_by_id(void **state)
{
	(void)state;
	assert_string_equal(jl_gpu_by_id(&small_catalog, "l40")->id, "l40");
	assert_null(jl_gpu_by_id(&small_catalog, "L40"));
	assert_null(jl_gpu_by_id(&small_catalog, NULL));
	assert_null(jl_source_by_id(&small_catalog, "nobody"));
	assert_string_equal(jl_link_by_id(&small_catalog, "10gbe")->id, "10gbe");
}

static void test_nearest(void **state)
{
	struct jl_nearest nearest = { 0 };

	(void)state;
	assert_int_equal(jl_nearest_cost("rtx3090", "rtx3090"), 0);
	assert_int_equal(jl_nearest_cost("rtx3900", "rtx3090"), 4);  /* two swapped */
	assert_int_equal(jl_nearest_cost("rtx309", "rtx3090ti"), 3); /* three missing at the end */
	assert_int_equal(jl_nearest_cost("rtxx3090", "rtx3090"), 4);
	assert_true(jl_nearest_cost("zzzz", "rtx3090") > 1000);
	jl_nearest_add(&nearest, "c", 9);
	jl_nearest_add(&nearest, "a", 1);
	jl_nearest_add(&nearest, "b", 1);
	jl_nearest_add(&nearest, "d", 5);
	jl_nearest_add(&nearest, "e", 50);
	assert_int_equal(nearest.n, 3);
	assert_string_equal(nearest.id[0], "a");
	assert_string_equal(nearest.id[1], "b");
	assert_string_equal(nearest.id[2], "d");
}

/* Every id, name and alias finds its own record, except those listed as ambiguous. */
static void test_every_id(void **state)
{
	const struct jl_gpu *gpu;
	struct jl_err err;
	size_t i;

	(void)state;
	for (i = 0; i < small_catalog.n_gpus; i++) {
		check_gpu(small_catalog.gpus[i].id, small_catalog.gpus[i].id);
		assert_int_equal(jl_find_gpu(&gpu, &small_catalog, small_catalog.gpus[i].name, &err), JL_OK);
		assert_ptr_equal(gpu, &small_catalog.gpus[i]);
	}
}

/* Built-in catalog: every spelling of a record finds only that record. */
static void test_embedded_spellings(void **state)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_gpu *gpu;
	const struct jl_link_info *link;
	const struct jl_model_info *model;
	const char *const *alias;
	struct jl_err err;
	size_t i;

	(void)state;
	for (i = 0; i < cat->n_gpus; i++) {
		if (jl_find_gpu(&gpu, cat, cat->gpus[i].name, &err) || gpu != &cat->gpus[i])
			fail_msg("%s, named '%s', is not found by its name: %s", cat->gpus[i].id, cat->gpus[i].name,
				 err.en);
		for (alias = cat->gpus[i].aliases; alias && *alias; alias++)
			if (jl_find_gpu(&gpu, cat, *alias, &err) || gpu != &cat->gpus[i])
				fail_msg("alias '%s' of %s finds another: %s", *alias, cat->gpus[i].id, err.en);
	}
	for (i = 0; i < cat->n_links; i++)
		for (alias = cat->links[i].aliases; alias && *alias; alias++)
			if (jl_find_link(&link, cat, *alias, cat->links[i].role, &err) || link != &cat->links[i])
				fail_msg("alias '%s' of %s finds another: %s", *alias, cat->links[i].id, err.en);
	for (i = 0; i < cat->n_models; i++)
		for (alias = cat->models[i].aliases; alias && *alias; alias++)
			if (jl_find_model(&model, cat, *alias, &err) || model != &cat->models[i])
				fail_msg("alias '%s' of %s finds another: %s", *alias, cat->models[i].id, err.en);
}

static void test_embedded_examples(void **state)
{
	static const struct {
		const char *text, *id;
	} cases[] = {
		{ "rtx-3090", "rtx-3090" },
		{ "RTX 3090", "rtx-3090" },
		{ "GeForce RTX3090", "rtx-3090" },
		{ "3090", "rtx-3090" },
		{ "h200", "h200-sxm" },
		{ "h100 sxm", "h100-sxm5" },
		{ "NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb" },
		{ "Tesla V100-DGXS-32GB", "v100-dgxs-32gb" },
		{ "NVIDIA GeForce RTX 4090", "rtx-4090" },
		{ "L40S", "l40s" },
	};
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_gpu *gpu;
	struct jl_err err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		if (jl_find_gpu(&gpu, cat, cases[i].text, &err))
			fail_msg("'%s': %s", cases[i].text, err.en);
		assert_string_equal(gpu->id, cases[i].id);
	}
	/* the usual meaning; catalog/names.yaml lists the alternatives */
	assert_int_equal(jl_find_gpu(&gpu, cat, "a100", &err), JL_OK);
	assert_string_equal(gpu->id, "a100-sxm4-80gb");
	assert_int_equal(jl_find_gpu(&gpu, cat, "rtx 6000", &err), JL_E_AMBIGUOUS);
	assert_int_equal(jl_find_gpu(&gpu, cat, "rtx 3909", &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "did you mean rtx-3090"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_limits),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_ambiguous_list),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cpus_and_models),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_models_as_people_type_them),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_prices),
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_every_id),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_embedded_spellings),
		cmocka_unit_test(test_embedded_examples),
	};
	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
