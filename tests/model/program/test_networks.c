/* Networks as texts: expanded counts against published model tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/csv.h"
#include "catalog/load.h"
#include "program/convnet.h"
#include "program/network.h"

#define MODELS_MAX 4096

struct seen {
	char name[JL_NET_NAME_MAX];
};

struct tally {
	struct seen *seen;
	size_t n_seen, n_known, n_equal;
};

static bool is_new(struct tally *t, const char *name)
{
	for (size_t i = 0; i < t->n_seen; i++)
		if (strcmp(t->seen[i].name, name) == 0)
			return false;
	assert_true(t->n_seen < MODELS_MAX);
	snprintf(t->seen[t->n_seen++].name, sizeof(t->seen->name), "%s", name);
	return true;
}

/* Tables have two decimals. The counting tool misses torch's fused attention, so both counts are published. */
static void compare(struct tally *t, const char *name, double params_m, double gmac, double macts)
{
	struct jl_arena arena;
	struct jl_convnet net;
	struct jl_err err = { 0 };

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const enum jl_status status = jl_convnet_load(&net, jl_catalog_embedded(), name, &arena, &err);

	if (status == JL_OK) {
		const struct jl_layers_total total = jl_layers_sum(net.ops, net.n_ops);
		const double core = total.mac_kind[JL_CONV_ATTENTION], tolerance = 0.01 * gmac + 0.005;
		const bool same_params = fabs(net.n_params / 1e6 - params_m) < 0.0051;
		const bool same_mac = fabs(total.mac / 1e9 - gmac) <= tolerance ||
				      fabs((total.mac - core) / 1e9 - gmac) <= tolerance;

		t->n_known++;
		if (same_params && same_mac)
			t->n_equal++;
		else if (getenv("JEOUL_SHOW"))
			print_message("%s: %.3f M (published %.2f), %.3f GMAC or %.3f (%.2f), %.2f Mact (%.2f)\n", name,
				      net.n_params / 1e6, params_m, total.mac / 1e9, (total.mac - core) / 1e9, gmac,
				      net.n_outputs / 1e6, macts);
	} else if (status != JL_E_NOTFOUND) {
		print_error("%s: %s\n", name, err.en);
		t->n_known++;
	}
	jl_arena_release(&arena);
}

static void test_published_counts(void **state)
{
	static const char *const files[] = { "vision_train", "vision_infer" };
	struct tally t = { .seen = calloc(MODELS_MAX, sizeof(*t.seen)) };

	(void)state;
	for (size_t f = 0; f < 2; f++) {
		char path[512], name[JL_NET_NAME_MAX];
		struct jl_csv csv;
		struct jl_buf text;
		struct jl_err err = { 0 };
		bool more;

		snprintf(path, sizeof(path), "%s/data/validation/%s.csv", JL_SOURCE_DIR, files[f]);
		assert_int_equal(jl_buf_read_file(&text, path, 16 << 20, &err), JL_OK);
		assert_int_equal(jl_csv_open(&csv, text.data, text.len, files[f], &err), JL_OK);
		while (jl_csv_next(&csv, &more, &err) == JL_OK && more) {
			const char *gmac = jl_csv_text(&csv, jl_csv_find(&csv, "gmacs"));

			snprintf(name, sizeof(name), "%.100s@%.10s", jl_csv_text(&csv, jl_csv_find(&csv, "model")),
				 jl_csv_text(&csv, jl_csv_find(&csv, "img_size")));
			if (*gmac && is_new(&t, name))
				compare(&t, name, atof(jl_csv_text(&csv, jl_csv_find(&csv, "params_m"))), atof(gmac),
					atof(jl_csv_text(&csv, jl_csv_find(&csv, "macts"))));
		}
		jl_csv_release(&csv);
		jl_buf_release(&text);
	}
	print_message("%zu networks with published counts, %zu known by name, %zu equal\n", t.n_seen, t.n_known,
		      t.n_equal);
	assert_true(t.n_equal >= 60);
	free(t.seen);
}

/* Number in a cell and half a unit of its last digit; NAN: empty. */
static double figure(const char *cell, double *ret_half)
{
	const char *dot = strchr(cell, '.');

	*ret_half = 0.5 * pow(10, dot ? -(double)strlen(dot + 1) : 0);
	return *cell ? atof(cell) : NAN;
}

/* Networks with exact published counts. "plain": the published multiply-adds exclude attention's own products; norms are never included. */
static void test_exact_counts(void **state)
{
	struct jl_csv csv;
	struct jl_buf text;
	struct jl_err err = { 0 };
	size_t n_params = 0, n_both = 0, n_mac = 0;
	bool more;

	(void)state;
	assert_int_equal(jl_buf_read_file(&text, JL_SOURCE_DIR "/tests/fixtures/networks/published.csv", 1 << 20, &err),
			 JL_OK);
	assert_int_equal(jl_csv_open(&csv, text.data, text.len, "published.csv", &err), JL_OK);
	while (jl_csv_next(&csv, &more, &err) == JL_OK && more) {
		const char *name = jl_csv_text(&csv, jl_csv_find(&csv, "name"));
		const bool plain = strcmp(jl_csv_text(&csv, jl_csv_find(&csv, "counted")), "plain") == 0;
		double half, exact;
		const double params = figure(jl_csv_text(&csv, jl_csv_find(&csv, "params")), &exact),
			     gmac = figure(jl_csv_text(&csv, jl_csv_find(&csv, "gmac")), &half);
		struct jl_arena arena;
		struct jl_convnet net;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		if (jl_convnet_load(&net, jl_catalog_embedded(), name, &arena, &err))
			fail_msg("%s: %s", name, err.en);
		const struct jl_layers_total total = jl_layers_sum(net.ops, net.n_ops);
		const double mac = total.mac - total.mac_kind[JL_CONV_STREAM] -
				   (plain ? total.mac_kind[JL_CONV_ATTENTION] : 0);

		if (!isnan(params) && fabs(net.n_params - params) > 0)
			fail_msg("%s: %.0f parameters, published %.0f", name, net.n_params, params);
		if (!isnan(gmac) && fabs(mac / 1e9 - gmac) > 0.01 * gmac + half)
			fail_msg("%s: %.3f GMAC, published %g", name, mac / 1e9, gmac);
		n_params += isnan(params) ? 0 : 1;
		n_mac += isnan(gmac) ? 0 : 1;
		n_both += isnan(params + gmac) ? 0 : 1;
		jl_arena_release(&arena);
	}
	print_message(
		"%zu networks with exact parameters, %zu of them with multiply-adds too, %zu with multiply-adds\n",
		n_params, n_both, n_mac);
	assert_true(n_both >= 60);
	jl_csv_release(&csv);
	jl_buf_release(&text);
}

/* Frozen parts run forward and are not updated; their gradients are not exchanged. */
static void test_frozen(void **state)
{
	const char *const names[] = { "sd15", "sd15_unet" };
	struct jl_convnet net[2];
	struct jl_arena arena;
	struct jl_err err = { 0 };

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (int i = 0; i < 2; i++)
		assert_int_equal(jl_convnet_load(&net[i], jl_catalog_embedded(), names[i], &arena, &err), JL_OK);
	assert_true(net[0].n_params - net[0].n_still == net[1].n_params && net[1].n_still == 0);
	assert_true(jl_convnet_grad_B(&net[0], JL_BF16) == jl_convnet_grad_B(&net[1], JL_BF16));
	const struct jl_layers_total all = jl_layers_sum(net[0].ops, net[0].n_ops),
				     unet = jl_layers_sum(net[1].ops, net[1].n_ops);

	assert_true(all.mac > 2 * unet.mac);  /* encoding of the image included */
	assert_true(all.saved == unet.saved); /* frozen parts keep nothing for the backward pass */
	jl_arena_release(&arena);
}

/* Video: a spatio-temporal filter has the weights and products of both. */
static void test_frames(void **state)
{
	struct jl_network net;
	struct jl_arena arena;
	struct jl_err err = { 0 };

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_network_expand(&net, "film",
					   "in 3 8 8 16; conv 4 3 kt=3 st=2 b=1; pool 2 kt=2 st=2 pt=0; gap", NULL,
					   &arena, &err),
			 JL_OK);
	assert_true(net.n_params == 4 * 3 * 27 + 4);
	assert_true(jl_layers_sum(net.ops, net.n_ops).mac == 4.0 * 3 * 27 * 8 * 8 * 8);
	assert_int_not_equal(jl_network_expand(&net, "film", "in 3 8 8 16; conv 4 3 kt=40 pt=0", NULL, &arena, &err),
			     JL_OK);
	assert_non_null(strstr(err.en, "impossible sizes"));
	assert_int_not_equal(jl_network_expand(&net, "film", "in 3 8; host 0", NULL, &arena, &err), JL_OK);
	assert_non_null(strstr(err.en, "launches"));
	jl_arena_release(&arena);
}

/* Transformer blocks are counted as their operators and timed as blocks. */
static void test_prenorm(void **state)
{
	static const char spelled[] = "in 64 10 1; for i 3 { ln; fc 192; c=64; attn 4; fc 64; add wide=1; ln; fc 256; "
				      "act; fc 64; add wide=1 }";
	struct jl_network net, same, frozen;
	struct jl_arena arena;
	struct jl_err err = { 0 };
	const struct jl_conv_op *block = NULL;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_network_expand(&same, "spelled", spelled, NULL, &arena, &err), JL_OK);
	assert_int_equal(jl_network_expand(&net, "blocks", "in 64 10 1; prenorm 3 4", NULL, &arena, &err), JL_OK);
	assert_true(net.n_params == same.n_params && net.n_outputs == same.n_outputs);
	assert_true(jl_layers_sum(net.ops, net.n_ops).mac == jl_layers_sum(same.ops, same.n_ops).mac);
	assert_true(jl_layers_sum(net.ops, net.n_ops).saved == 0);
	for (size_t i = 0; i < net.n_ops; i++) {
		assert_true(net.ops[i].inside == (net.ops[i].kind != JL_CONV_BLOCK));
		block = net.ops[i].kind == JL_CONV_BLOCK ? &net.ops[i] : block;
	}
	assert_non_null(block);
	assert_true(block->count == 3 && block->rows == 10 && block->k == 64 && block->n == 256 && block->heads == 4);
	assert_int_equal(jl_network_expand(&frozen, "frozen", "in 64 10 1; frozen { prenorm 3 4 b=0 }; fc 8", NULL,
					   &arena, &err),
			 JL_OK);
	assert_true(frozen.n_still == net.n_params - 3 * 4 * 64);
	assert_int_not_equal(jl_network_expand(&net, "none", "in 64 10 1; prenorm 3 100", NULL, &arena, &err), JL_OK);
	assert_non_null(strstr(err.en, "impossible sizes"));
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prenorm),      cmocka_unit_test(test_published_counts),
		cmocka_unit_test(test_exact_counts), cmocka_unit_test(test_frozen),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
