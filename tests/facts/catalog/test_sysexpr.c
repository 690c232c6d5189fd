/* System expressions: parsing, defaults, errors with columns, round trips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "catalog/sysexpr.h"
#include "small_catalog.h"

static struct jl_arena arena;

static int setup(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static const char *id_of(const struct jl_link_info *link)
{
	return link ? link->id : "-";
}

static bool same_rate(const struct jl_fact *a, const struct jl_fact *b)
{
	return a->value == b->value || (isnan(a->value) && isnan(b->value));
}

static bool same_system(const struct jl_sys *a, const struct jl_sys *b)
{
	return strcmp(a->text, b->text) == 0 && a->n_nodes == b->n_nodes && a->n_per_node == b->n_per_node &&
	       a->gpu == b->gpu && a->cpu == b->cpu && a->system == b->system && a->join == b->join &&
	       a->join_assumed == b->join_assumed && a->net == b->net && a->n_net == b->n_net &&
	       a->net_assumed == b->net_assumed && same_rate(&a->join_oneway_Bps, &b->join_oneway_Bps) &&
	       same_rate(&a->net_oneway_Bps, &b->net_oneway_Bps);
}

static const struct {
	const char *text, *canonical;
	int n_nodes, n_per_node;
	const char *join;
	bool join_assumed;
	const char *net;
	int n_net;
	bool net_assumed;
} good[] = {
	{ "rtx-4090", "rtx-4090", 1, 1, "-", false, "-", 0, false },
	{ "1x rtx-4090", "rtx-4090", 1, 1, "-", false, "-", 0, false },
	{ "4x v100-dgxs-32gb via nvlink2-mesh", "4x v100-dgxs-32gb via nvlink2-mesh", 1, 4, "nvlink2-mesh", false, "-",
	  0, false },
	{ "4x v100-dgxs-32gb", "4x v100-dgxs-32gb", 1, 4, "nvlink2-mesh", true, "-", 0, false },
	{ "10x rtx-3090 via pcie4-no-p2p", "10x rtx-3090 via pcie4-no-p2p", 1, 10, "pcie4-no-p2p", false, "-", 0,
	  false },
	{ "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2", "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2", 2,
	  10, "pcie4-no-p2p", false, "10gbe-lacp2", 1, false },
	{ " 2 X ( 10×GeForce RTX 3090  VIA PCIe4 no P2P )OVER 10GbE LACP2 ",
	  "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2", 2, 10, "pcie4-no-p2p", false, "10gbe-lacp2", 1, false },
	{ "2x(10xrtx3090)over 10gbe", "2x(10x rtx-3090) over 10gbe", 2, 10, "pcie4-no-p2p", true, "10gbe", 1, false },
	{ "2x(10x 3090)", "2x(10x rtx-3090)", 2, 10, "pcie4-no-p2p", true, "10gbe", 1, true },
	{ "4*rtx-3090", "4x rtx-3090", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "2 * (4 *rtx-3090) over 10gbe", "2x(4x rtx-3090) over 10gbe", 2, 4, "pcie4-no-p2p", true, "10gbe", 1, false },
	{ "(4x l40s)", "4x l40s", 1, 4, "pcie4", true, "-", 0, false },
	{ "2x(8x l40s)", "2x(8x l40s)", 2, 8, "pcie4", true, "100gbe", 1, true },
	{ "3x(rtx-4090)", "3x(rtx-4090)", 3, 1, "-", false, "10gbe", 1, true },
	{ "125x aws:p5.48xlarge", "125x aws:p5.48xlarge", 125, 8, "nvlink4-switch", false, "efa-v2", 32, false },
	{ "p5.48xlarge", "aws:p5.48xlarge", 1, 8, "nvlink4-switch", false, "-", 0, false },
	{ "4x(aws:p5.48xlarge)", "4x aws:p5.48xlarge", 4, 8, "nvlink4-switch", false, "efa-v2", 32, false },
	{ "8x dgx-h100 over 8x ib-ndr", "8x dgx-h100 over 8x ib-ndr", 8, 8, "nvlink4-switch", false, "ib-ndr", 8,
	  false },
	{ "8x DGX H100 over 2x10gbe", "8x dgx-h100 over 2x 10gbe", 8, 8, "nvlink4-switch", false, "10gbe", 2, false },
	{ "2x(8x h100-sxm5)", "2x(8x h100-sxm5)", 2, 8, "nvlink4-switch", true, "ib-ndr", 8, true },
	{ "2x(8x a100-sxm4-80gb)", "2x(8x a100-sxm4-80gb)", 2, 8, "nvlink3-switch", true, "ib-hdr", 8, true },
	{ "2x(8x v100-sxm2-32gb)", "2x(8x v100-sxm2-32gb)", 2, 8, "nvlink2-mesh", true, "ib-edr", 4, true },
	{ "16x v100-sxm2-32gb", "16x v100-sxm2-32gb", 1, 16, "nvlink2-switch", true, "-", 0, false },
	{ "8x mi300x", "8x mi300x", 1, 8, "xgmi-mesh-mi300", true, "-", 0, false },
	{ "lab-box", "lab-box", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "cpu:neoverse-v1", "cpu:neoverse-v1", 1, 0, "-", false, "-", 0, false },
	{ "CPU:i9 13900K", "cpu:i9-13900k", 1, 0, "-", false, "-", 0, false },
	{ "2x(cpu:i9-13900k) over 10gbe", "2x(cpu:i9-13900k) over 10gbe", 2, 0, "-", false, "10gbe", 1, false },
	{ "1000000x(16x rtx-3090)", "1000000x(16x rtx-3090)", 1000000, 16, "pcie4-no-p2p", true, "10gbe", 1, true },
	{ "Hypothetical 1000000x(1024x rtx-3090)", "hypothetical 1000000x(1024x rtx-3090)", 1000000, 1024,
	  "pcie4-no-p2p", true, "10gbe", 1, true },
	{ "3090 ti", "rtx-3090-ti", 1, 1, "-", false, "-", 0, false },
	{ "2 rtx-3090", "2x rtx-3090", 1, 2, "pcie4-no-p2p", true, "-", 0, false },
	{ "dual 3090", "2x rtx-3090", 1, 2, "pcie4-no-p2p", true, "-", 0, false },
	{ "4 3090s", "4x rtx-3090", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "rtx-3090x4", "4x rtx-3090", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "RTX 3090 * 4", "4x rtx-3090", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "RTX 3090 \xc3\x97 4", "4x rtx-3090", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "rtx-3090:4", "4x rtx-3090", 1, 4, "pcie4-no-p2p", true, "-", 0, false },
	{ "2 DGX H100 over 8x ib-ndr", "2x dgx-h100 over 8x ib-ndr", 2, 8, "nvlink4-switch", false, "ib-ndr", 8,
	  false },
	{ "RTX 3090 (24GB)", "rtx-3090", 1, 1, "-", false, "-", 0, false },
	{ "3090 (24G)", "rtx-3090", 1, 1, "-", false, "-", 0, false },
	{ "slice-16", "8x rtx-3090", 1, 8, "pcie4-no-p2p", true, "-", 0, false },
	{ "2x slice-16", "2x(8x rtx-3090)", 2, 8, "pcie4-no-p2p", true, "10gbe", 1, true },
};

static void test_good(void **state)
{
	struct jl_sys sys, again;
	struct jl_err err;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good); i++) {
		if (jl_sys_parse(&sys, &small_catalog, good[i].text, &arena, &err) != JL_OK)
			fail_msg("'%s': %s", good[i].text, err.en);
		assert_string_equal(sys.text, good[i].canonical);
		assert_int_equal(sys.n_nodes, good[i].n_nodes);
		assert_int_equal(sys.n_per_node, good[i].n_per_node);
		assert_string_equal(id_of(sys.join), good[i].join);
		assert_int_equal(sys.join_assumed, good[i].join_assumed);
		assert_string_equal(id_of(sys.net), good[i].net);
		assert_int_equal(sys.n_net, good[i].n_net);
		assert_int_equal(sys.net_assumed, good[i].net_assumed);
		assert_int_equal(jl_sys_parse(&again, &small_catalog, sys.text, &arena, &err), JL_OK);
		assert_true(same_system(&sys, &again));
	}
}

/* Column 0: no column in the message. */
static const struct {
	const char *text;
	enum jl_status status;
	size_t column;
	const char *en; /* in the message */
} bad[] = {
	{ "", JL_E_USAGE, 0, "empty" },
	{ " \t\n", JL_E_USAGE, 0, "empty" },
	{ "0x rtx-3090", JL_E_RANGE, 1, "'0' is not a count" },
	{ "2x(0x rtx-3090)", JL_E_RANGE, 4, "'0' is not a count" },
	{ "-4x rtx-3090", JL_E_RANGE, 1, "'-4' is not a count" },
	{ "1.5x rtx-3090", JL_E_RANGE, 1, "'1.5' is not a count" },
	{ "1,000x rtx-3090", JL_E_RANGE, 1, "'1,000' is not a count" },
	{ "99999999999x rtx-3090", JL_E_RANGE, 1, "at most 1024 cards" },
	{ "99999999999999999999999999999999999x(rtx-3090)", JL_E_RANGE, 1, "at most 1000000 hosts" },
	{ "1025x rtx-3090", JL_E_RANGE, 1, "at most 1024 cards" },
	{ "1000001x dgx-h100", JL_E_RANGE, 1, "at most 1000000 hosts" },
	{ "2x", JL_E_PARSE, 3, "here should be an accelerator" },
	{ "2x(", JL_E_PARSE, 4, "here should be an accelerator" },
	{ "2x()", JL_E_PARSE, 4, "here should be an accelerator" },
	{ "via pcie4", JL_E_PARSE, 1, "here should be an accelerator" },
	{ "2x(10x rtx-3090", JL_E_PARSE, 3, "not closed" },
	{ "10x rtx-3090)", JL_E_PARSE, 13, "no parenthesis was opened" },
	{ "2x(2x(4x rtx-3090))", JL_E_PARSE, 6, "do not nest" },
	{ "2x(10x rtx-3090) rtx-4090", JL_E_PARSE, 18, "unexpected text" },
	{ "2x(10x rtx-3090)(", JL_E_PARSE, 17, "unexpected text" },
	{ "rtx-3090(2)", JL_E_PARSE, 9, "unexpected text" },
	{ "2x(10x rtx-3090) via pcie4", JL_E_PARSE, 18, "inside the parentheses" },
	{ "2x(10x rtx-3090 over 10gbe)", JL_E_PARSE, 17, "after the closing parenthesis" },
	{ "2x(10x rtx-3090) over", JL_E_PARSE, 22, "here should be a network" },
	{ "10x rtx-3090 via", JL_E_PARSE, 17, "here should be a join" },
	{ "10x rtx-3090 via via", JL_E_PARSE, 18, "here should be a join" },
	{ "10x rtx-3090 via pcie4 via pcie4", JL_E_PARSE, 24, "'via' comes once" },
	{ "2x(10x rtx-3090) over 10gbe over 10gbe", JL_E_PARSE, 29, "only once" },
	{ "2x(10x rtx-3090) over 10gbe via pcie4", JL_E_PARSE, 29, "'via' comes once" },
	{ "10x rtx-3090 via 2x pcie4", JL_E_PARSE, 18, "a join has no count" },
	{ "2x(10x rtx-3090) over 129x 10gbe", JL_E_RANGE, 23, "at most 128" },
	{ "2x(10x rtx-3090) over 0x 10gbe", JL_E_RANGE, 23, "not a count" },
	{ "2x(10x rtx-3090) over pcie4", JL_E_NOTFOUND, 23, "'pcie4' is a join (via); here should be a network" },
	{ "10x rtx-3090 via 10gbe", JL_E_NOTFOUND, 18, "'10gbe' is a network (over); here should be a join" },
	{ "10x rtx-3090 via pcie4-np-p2p", JL_E_NOTFOUND, 18, "pcie4-no-p2p" },
	{ "10x rtx-3909", JL_E_NOTFOUND, 5, "did you mean rtx-3090" },
	{ "8x a100", JL_E_AMBIGUOUS, 4, "a100-sxm4-40gb, a100-sxm4-80gb, a100-pcie-80gb" },
	{ "2x(8x a100)", JL_E_AMBIGUOUS, 7, "fits 3 accelerators" },
	{ "10×rtx-3909", JL_E_NOTFOUND, 4, "rtx-3090" },
	{ "2x aws:p5.48xlarge via nvlink4-switch", JL_E_PARSE, 20, "has its own join" },
	{ "2x(2x aws:p5.48xlarge)", JL_E_PARSE, 4, "a whole host already" },
	{ "rtx-4090 via pcie4", JL_E_PARSE, 10, "one card has nothing to join" },
	{ "4x rtx-4090 over 10gbe", JL_E_PARSE, 13, "write 4x(rtx-4090) over 10gbe" },
	{ "dgx-h100 over 10gbe", JL_E_PARSE, 10, "one host has no network" },
	{ "1x(4x rtx-4090) over 10gbe", JL_E_PARSE, 17, "one host has no network" },
	{ "2x mystery", JL_E_USAGE, 4, "2x mystery via" },
	{ "2x cpu:i9-13900k", JL_E_PARSE, 4, "2x(cpu:i9-13900k)" },
	{ "2x(2x cpu:i9-13900k)", JL_E_PARSE, 7, "2x(cpu:i9-13900k)" },
	{ "cpu:i9-13900k via pcie4", JL_E_PARSE, 15, "no accelerators" },
	{ "cpu:", JL_E_USAGE, 1, "not a name" },
	{ "cpu:zilog-z80", JL_E_NOTFOUND, 1, "CPU" },
	{ "azure:nv6", JL_E_DATA, 1, "M60 (half-board)" },
	{ "no\nsuch\vcard", JL_E_NOTFOUND, 1, "'no such card'" },
	{ "()", JL_E_PARSE, 2, "here should be" },
	{ "((((((((((", JL_E_PARSE, 2, "do not nest" },
	{ "rtx\x01\xff", JL_E_PARSE, 0, "byte 5: not UTF-8" },
};

static void test_bad(void **state)
{
	struct jl_sys sys;
	struct jl_err err;
	char en[64], ko[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		enum jl_status status = jl_sys_parse(&sys, &small_catalog, bad[i].text, &arena, &err);

		snprintf(en, sizeof(en), "system, column %zu: ", bad[i].column);
		snprintf(ko, sizeof(ko), "시스템 표기 %zu번째 글자: ", bad[i].column);
		if (status != bad[i].status || status != err.status || !strstr(err.en, bad[i].en) ||
		    strchr(err.en, '\n') ||
		    (bad[i].column && (strncmp(err.en, en, strlen(en)) != 0 || strncmp(err.text, ko, strlen(ko)) != 0)))
			fail_msg("'%s': status %d: %s / %s", bad[i].text, (int)status, err.en, err.text);
		/* a caller without `err` gets the same status */
		assert_int_equal(jl_sys_parse(&sys, &small_catalog, bad[i].text, &arena, NULL), status);
	}
}

/* Korean messages have the right particles and the same advice as the English ones. */
static void test_korean(void **state)
{
	static const struct {
		const char *text, *ko;
	} cases[] = { { "4x rtx-3090 via", "연결 이름이 와야 합니다" },
		      { "2x(rtx-3090) over", "네트워크 이름이 와야 합니다" },
		      { "4x rtx-3090 via 10gbe", "여기에는 연결이 와야 합니다" },
		      { "1025x rtx-3090", "Nx(8x ...)" } };
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(jl_sys_parse(&sys, &small_catalog, cases[i].text, &arena, &err) != JL_OK);
		if (!strstr(err.text, cases[i].ko))
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
}

static void test_limits(void **state)
{
	char text[JL_SYSEXPR_MAX + 2];
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "rtx-4090", 8);
	text[JL_SYSEXPR_MAX] = '\0';
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_OK);
	text[JL_SYSEXPR_MAX] = ' ';
	text[JL_SYSEXPR_MAX + 1] = '\0';
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_E_LIMIT);
	memset(text, 'a', JL_SYSEXPR_MAX);
	text[JL_SYSEXPR_MAX] = '\0';
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_E_LIMIT);
	memset(text, '(', JL_SYSEXPR_MAX);
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_E_PARSE);
	memset(text, '9', JL_SYSEXPR_MAX);
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_E_LIMIT);
}

static double join_rate(const char *text)
{
	struct jl_sys sys;
	struct jl_err err;

	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_OK);
	return sys.join_oneway_Bps.value;
}

static double net_rate(const char *text)
{
	struct jl_sys sys;
	struct jl_err err;

	assert_int_equal(jl_sys_parse(&sys, &small_catalog, text, &arena, &err), JL_OK);
	return sys.net_oneway_Bps.value;
}

/* Systems that do not exist: refused with the nearest existing one; accepted and marked if declared hypothetical. */
static void test_impossible(void **state)
{
	static const struct {
		const char *text, *why, *nearest;
	} rows[] = {
		{ "8x rtx-pro-6000-blackwell-server via nvlink5-switch", "PCIe only",
		  "'8x rtx-pro-6000-blackwell-server via pcie5'" },
		{ "2x rtx-4090 via nvlink-bridge", "PCIe only", "'2x rtx-4090 via pcie4-no-p2p'" },
		{ "8x h100-sxm5 via nvlink5-switch", "NVLink 4", "'8x h100-sxm5 via nvlink4-switch'" },
		{ "4x h100-sxm5 via pcie5", "not in PCIe slots", "'4x h100-sxm5'" },
		{ "16x h100-sxm5 via nvlink4-switch", "at most 8 ", "'2x(8x h100-sxm5)'" },
		{ "100x rtx-4090", "at most 16 ", "'13x(8x rtx-4090)'" },
		{ "12x h100-sxm5", "at most 8 ", "'2x(8x h100-sxm5)'" },
		{ "500x mi300x", "at most 8 ", "'63x(8x mi300x)'" },
		{ "12x gaudi3", "at most 8 ", "'2x(8x gaudi3)'" },
		{ "73x gb200", "at most 72 ", "'2x(72x gb200)'" },
	};
	/* full hosts of the usual size form a cluster, stated in the answer */
	static const struct {
		const char *text, *meant;
		int n_nodes;
	} clusters[] = {
		{ "64x rtx-4090", "8x(8x rtx-4090)", 8 },
		{ "64x h100-sxm5", "8x(8x h100-sxm5)", 8 },
		{ "16384x h100", "2048x(8x h100-sxm5)", 2048 },
		{ "16384 H100", "2048x(8x h100-sxm5)", 2048 },
		{ "16384x h100-sxm5 over 8x ib-ndr", "2048x(8x h100-sxm5) over 8x ib-ndr", 2048 },
		{ "512x mi300x", "64x(8x mi300x)", 64 },
		{ "144x gb200", "2x(72x gb200)", 2 },
	};
	static const char *const there[] = { "8x h100-sxm5 via nvlink4-switch",
					     "4x rtx-3090 via nvlink-bridge",
					     "10x rtx-3090 via pcie4",
					     "8x mi300x",
					     "16x v100-sxm2-32gb",
					     "8x rtx-pro-6000-blackwell-server",
					     "2x gcp:a2-megagpu-16g",
					     "72x gb200" };
	struct jl_catalog may = *jl_catalog_embedded();
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), rows[i].text, &arena, &err), JL_E_RANGE);
		assert_non_null(strstr(err.en, "there is no such machine"));
		assert_non_null(strstr(err.en, rows[i].why));
		assert_non_null(strstr(err.en, rows[i].nearest));
		may.hypothetical = true;
		assert_int_equal(jl_sys_parse(&sys, &may, rows[i].text, &arena, &err), JL_OK);
		assert_true(sys.hypothetical);
		assert_int_equal(strncmp(sys.text, "hypothetical ", 13), 0);
		assert_string_equal(sys.text + 13, rows[i].text);
		/* the mark is part of the canonical text */
		assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), sys.text, &arena, &err), JL_OK);
		assert_true(sys.hypothetical);
	}
	for (size_t i = 0; i < COUNT(clusters); i++) {
		struct jl_catalog noting = *jl_catalog_embedded();
		struct jl_readings readings = { 0 };

		noting.readings = &readings;
		assert_int_equal(jl_sys_parse(&sys, &noting, clusters[i].text, &arena, &err), JL_OK);
		assert_false(sys.hypothetical);
		assert_int_equal(sys.n_nodes, clusters[i].n_nodes);
		assert_string_equal(sys.text, clusters[i].meant);
		assert_true(readings.n > 0);
		assert_string_equal(readings.items[readings.n - 1].meant, clusters[i].meant);
	}
	for (size_t i = 0; i < COUNT(there); i++) {
		assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), there[i], &arena, &err), JL_OK);
		assert_false(sys.hypothetical);
		assert_string_equal(sys.text, there[i]);
	}
}

static void test_rates(void **state)
{
	struct jl_sys sys;

	(void)state;
	assert_true(isnan(join_rate("rtx-4090")));
	assert_true(join_rate("4x rtx-3090") == 31e9);
	assert_true(join_rate("4x rtx-3090 via pcie5-no-p2p") == 31e9); /* limited by the card */
	assert_true(join_rate("4x h200-nvl via pcie4-no-p2p") == 31e9);
	assert_true(join_rate("2x rtx-3090 via nvlink-bridge") == 56.25e9);
	assert_true(join_rate("4x v100-dgxs-32gb") == 150e9);
	assert_true(join_rate("8x a100-sxm4-80gb") == 300e9);
	assert_true(join_rate("8x h100-sxm5") == 450e9);
	assert_true(join_rate("dgx-h100") == 450e9);
	assert_true(join_rate("hypothetical 8x rtx-4090 via nvlink4-switch") ==
		    450e9); /* hypothetical: taken as given */
	assert_int_equal(
		jl_sys_parse(&sys, &small_catalog, "hypothetical 8x rtx-4090 via nvlink4-switch", &arena, NULL), JL_OK);
	assert_int_equal(sys.join_oneway_Bps.origin, JL_ESTIMATED);
	assert_non_null(strstr(sys.join_oneway_Bps.note, "hypothetical"));
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "8x h100-sxm5 via nvlink4-switch", &arena, NULL), JL_OK);
	assert_int_equal(sys.join_oneway_Bps.origin, JL_LISTED);
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "8x rtx-4090 via pcie4-no-p2p", &arena, NULL), JL_OK);
	assert_int_equal(sys.join_oneway_Bps.origin, JL_LISTED);
	assert_true(isnan(net_rate("dgx-h100")));
	assert_true(net_rate("2x(10x rtx-3090) over 10gbe-lacp2") == 2.5e9);
	assert_true(net_rate("2x dgx-h100") == 400e9);
	assert_true(net_rate("2x dgx-h100 over 8x ib-ndr") == 400e9);
	assert_true(net_rate("2x dgx-h100 over 4x ib-ndr") == 200e9);
	assert_true(net_rate("2x dgx-h100 over ib-hdr") == 25e9);
	assert_true(net_rate("125x aws:p5.48xlarge") == 400e9);
	assert_true(net_rate("2x(8x h100-sxm5)") == 400e9);
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "2x(8x h100-sxm5) over 8x ib-ndr", &arena, NULL), JL_OK);
	assert_string_equal(sys.net_oneway_Bps.note, "8 x ib-ndr");
	assert_int_equal(sys.net_oneway_Bps.origin, JL_LISTED);
	assert_string_equal(sys.net_oneway_Bps.source, "test");
}

/* fixed seed, for reproducible failures */
static unsigned long long seed;
static size_t below(size_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (size_t)(seed >> 33) % n;
}

static void write_random(char *out, size_t size)
{
	static const char *const signs[] = { "x", "X ", " x ", "×", "× " };
	const char *gpu = small_gpus[below(small_catalog.n_gpus)].id;
	const char *system = small_systems[below(small_catalog.n_systems)].id;
	char via[64] = "", over[64] = "", host[256];

	if (below(2))
		snprintf(via, sizeof(via), " via %s", small_links[5 + below(11)].id);
	if (below(2))
		snprintf(over, sizeof(over), " over %zu%s%s", 1 + below(9), signs[below(5)],
			 small_links[16 + below(7)].id);
	switch (below(4)) {
	case 0: snprintf(host, sizeof(host), "%s", system); break;
	case 1: snprintf(host, sizeof(host), "cpu:%s", small_cpus[below(2)].id); break;
	default: snprintf(host, sizeof(host), "%zu%s%s%s", 1 + below(12), signs[below(5)], gpu, via); break;
	}
	if (below(2))
		snprintf(out, size, "%zu%s(%s)%s", 1 + below(200), signs[below(5)], host, over);
	else
		snprintf(out, size, "%s%s", host, over);
}

/* A valid text has a canonical form that parses to the same system; an invalid one has a message in both languages. */
static void check_round_trip(const char *text, size_t *n_good)
{
	struct jl_sys sys, again;
	struct jl_err err = { 0 };

	if (jl_sys_parse(&sys, &small_catalog, text, &arena, &err) != JL_OK) {
		assert_true(err.en[0] && err.text[0]);
		return;
	}
	(*n_good)++;
	if (jl_sys_parse(&again, &small_catalog, sys.text, &arena, &err) != JL_OK || !same_system(&sys, &again))
		fail_msg("'%s' -> '%s': %s", text, sys.text, err.en);
	assert_true(sys.n_nodes >= 1 && (sys.gpu != NULL) != (sys.cpu != NULL));
	assert_true((sys.n_nodes > 1) == (sys.net != NULL) && (sys.n_per_node > 1) == (sys.join != NULL));
}

static void test_round_trip(void **state)
{
	char text[512];
	size_t n_good = 0;
	size_t i, len;

	(void)state;
	seed = 20260829;
	for (i = 0; i < 4000; i++) {
		write_random(text, sizeof(text));
		check_round_trip(text, &n_good);
		/* the same with a random mutation */
		len = strlen(text);
		text[below(len)] = "x( )19.:-vo\xc3"[below(12)];
		check_round_trip(text, &n_good);
	}
	assert_true(n_good > 1000);
}

static void test_torture(void **state)
{
	struct jl_arena small;
	struct jl_sys sys;
	struct jl_err err;
	enum jl_status status = JL_E_NOMEM;
	size_t nth;

	(void)state;
	for (nth = 1; status != JL_OK; nth++) {
		assert_true(nth < 100);
		jl_arena_init(&small, JL_ARENA_LIMIT_B);
		jl_mem_fail_from(nth);
		status = jl_sys_parse(&sys, &small_catalog, "2x(8x h100-sxm5) over 8x ib-ndr", &small, &err);
		jl_mem_fail_from(0);
		assert_true(status == JL_OK || (status == JL_E_NOMEM && err.status == JL_E_NOMEM));
		jl_arena_release(&small);
	}
	assert_true(nth > 2);
	/* an arena without space */
	jl_arena_init(&small, 1);
	assert_int_equal(jl_sys_parse(&sys, &small_catalog, "rtx-4090", &small, &err), JL_E_NOMEM);
	jl_arena_release(&small);
}

/* Every record of the built-in catalog is a valid system, and its text parses back. */
static void test_embedded(void **state)
{
	static const char *const written[] = {
		"rtx-4090",
		"4x v100-dgxs-32gb via nvlink2-mesh",
		"10x rtx-3090 via pcie4-no-p2p",
		"2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2",
		"125x aws:p5.48xlarge",
		"8x dgx-h100 over 8x ib-ndr",
		"cpu:neoverse-v1",
		"cpu:i9-13900k",
	};
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_sys sys, again;
	struct jl_err err;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(written); i++) {
		if (jl_sys_parse(&sys, cat, written[i], &arena, &err))
			fail_msg("'%s': %s", written[i], err.en);
		assert_string_equal(sys.text, written[i]);
	}
	for (i = 0; i < cat->n_gpus; i++) {
		assert_int_equal(jl_sys_parse(&sys, cat, cat->gpus[i].id, &arena, &err), JL_OK);
		assert_ptr_equal(sys.gpu, &cat->gpus[i]);
		assert_null(sys.system);
	}
	for (i = 0; i < cat->n_systems; i++) {
		snprintf(text, sizeof(text), "3x %s", cat->systems[i].id);
		if (jl_sys_parse(&sys, cat, text, &arena, &err)) {
			assert_int_equal(err.status, JL_E_DATA); /* only for a system with an unknown accelerator */
			continue;
		}
		assert_ptr_equal(sys.system, &cat->systems[i]);
		assert_string_equal(sys.text, text);
		assert_int_equal(jl_sys_parse(&again, cat, sys.text, &arena, &err), JL_OK);
		assert_true(same_system(&sys, &again));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),       cmocka_unit_test(test_bad),      cmocka_unit_test(test_limits),
		cmocka_unit_test(test_impossible), cmocka_unit_test(test_rates),    cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_torture),    cmocka_unit_test(test_embedded), cmocka_unit_test(test_korean),
	};
	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, setup, teardown);
}
