/* Networks as operator lists: published parameter and multiply-add counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/load.h"
#include "program/convnet.h"
#include "program/convnet_train.h"

static struct jl_arena arena;
static struct jl_convnet_list nets;

static int load(void **state)
{
	(void)state;
	struct jl_err err;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_convnets(&nets, jl_catalog_embedded(), &arena, &err) != JL_OK) {
		print_error("%s\n", err.en);
		return 1;
	}
	return 0;
}

static int unload(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static const struct jl_convnet *net(const char *name)
{
	const struct jl_convnet *found = jl_convnet_find(&nets, name);

	assert_non_null(found);
	return found;
}

static void test_resnet50_counts_as_published(void **state)
{
	(void)state;
	const struct jl_convnet *resnet = net("resnet-50");
	const struct jl_layers_total total = jl_layers_sum(resnet->ops, resnet->n_ops);

	assert_true(fabs(total.mac / 1e9 - 4.11) < 0.005); /* 4.09 plus norms */
	assert_true(resnet->n_params == 25557032);
	/* weights of convolutions and the classifier; the rest are 53 norms and 1000 biases */
	assert_true(total.weights == 25557032 - 2 * 26560 - 1000);
}

/* torchvision's exact parameter counts; multiply-adds as published by timm, norms included, to two decimals. */
static void test_resnet_family_counts_as_published(void **state)
{
	static const struct {
		const char *id;
		double params, gmac;
		int n_norm; /* channels of all norms */
	} family[] = {
		{ "resnet-18", 11689512, 1.82, 4800 },
		{ "resnet-34", 21797672, 3.67, 8512 },
		{ "resnet-101", 44549160, 7.83, 52672 },
		{ "resnet-152", 60192808, 11.56, 75712 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(family) / sizeof(*family); i++) {
		const struct jl_convnet *n = net(family[i].id);
		const struct jl_layers_total total = jl_layers_sum(n->ops, n->n_ops);

		assert_true(n->n_params == family[i].params);
		assert_true(fabs(total.mac / 1e9 - family[i].gmac) < 0.006);
		assert_true(total.weights == family[i].params - 2 * family[i].n_norm - 1000);
	}
}

/* Matrix operators hold all parameters except those listed: embeddings without a product, norms, biases, and the region proposal head shared by
 * five levels. */
static void test_weights_follow_from_the_shapes(void **state)
{
	(void)state;
	static const struct {
		const char *id;
		double lo, hi;
	} ratios[] = {
		{ "resnet-50", 0.995, 1 },
		{ "ssd300-resnet50", 0.99, 1 },
		{ "mask-rcnn-r50-fpn", 0.99, 1.06 },
		{ "gnmt-v2", 0.79, 0.81 },
		{ "transformer-xl-base", 0.995, 1 },
		{ "transformer-xl-large", 0.995, 1 },
		{ "tacotron2", 0.98, 1 },
		{ "waveglow", 0.995, 1 },
		{ "resnet-18", 0.995, 1 },
		{ "resnet-34", 0.995, 1 },
		{ "resnet-101", 0.995, 1 },
		{ "resnet-152", 0.995, 1 },
		{ "ncf", 0.003, 0.004 }, /* mostly embeddings */
	};

	assert_true(nets.n_nets > 90); /* members of families: test_networks.c */
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		const struct jl_convnet *n = net(ratios[i].id);
		const double ratio = jl_layers_sum(n->ops, n->n_ops).weights / n->n_params;

		if (ratio < ratios[i].lo || ratio > ratios[i].hi)
			fail_msg("%s: weights are %.4f of the parameters", n->id, ratio);
	}
}

static void test_totals_add_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < nets.n_nets; i++) {
		const struct jl_layers_total total = jl_layers_sum(nets.nets[i].ops, nets.nets[i].n_ops);
		double sum = 0;

		for (int kind = 0; kind < JL_N_CONV_KIND; kind++)
			sum += total.mac_kind[kind];
		assert_true(fabs(sum / total.mac - 1) < 1e-12);
		/* what blocks keep is counted with them */
		assert_true((total.saved > 0 || jl_convnet_has_blocks(&nets.nets[i])) && total.streamed > 0);
	}
}

static void test_found_by_other_spellings(void **state)
{
	(void)state;
	static const char *const spellings[] = {
		"resnet50",           "ssd",       "maskrcnn", "gnmt",     "transformerxlbase",
		"transformerxllarge", "tacotron2", "waveglow", "ResNet-50"
	};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		net(spellings[i]);
	assert_null(jl_convnet_find(&nets, "alexnets"));
	assert_null(jl_convnet_find(&nets, ""));
}

static void test_gradients_and_update(void **state)
{
	(void)state;
	assert_true(jl_convnet_grad_B(net("resnet-50"), JL_FP16) == 4 * 25557032.0);
	assert_true(jl_convnet_grad_B(net("gnmt"), JL_FP16) == 2 * 159605817.0);
	assert_true(jl_convnet_grad_B(net("gnmt"), JL_TF32) == 4 * 159605817.0);
	assert_true(jl_convnet_update_B(net("gnmt")->optimizer) > jl_convnet_update_B(net("resnet-50")->optimizer));
}

#define HEAD                                                                                                           \
	"convnets:\n  - id: a\n    name: A\n    item: x\n    unit: y\n    units_per_item: 1\n    n_params: 10\n"       \
	"    optimizer: sgd\n    batch_per_B_half: 1e-9\n    batch_per_B_full: 1e-9\n    source: none\n    ops:\n"

static void test_refuses_what_is_not_a_network(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ HEAD "      - {op: conv, c_in: 3, h: 224, w: 224}\n",
		  "test.yaml:13:9: network a: ops: lacks a size" },
		{ HEAD "      - {op: conv, c_in: -3, h: 224, w: 224, c_out: 64}\n",
		  "test.yaml:13:26: network a: ops.c_in" },
		{ HEAD "      - {op: conv, c_in: 1e300, h: 224, w: 224, c_out: 64}\n",
		  "test.yaml:13:26: network a: ops.c_in" },
		{ HEAD "      - {op: conv, c_in: nan, h: 224, w: 224, c_out: 64}\n",
		  "test.yaml:13:26: network a: c_in" },
		{ HEAD "      - {op: pool, elems: 3}\n",
		  "test.yaml:13:14: network a: op: 'pool' is none of conv, linear" },
		{ HEAD "      - {op: stream, elems: 3, passes: 2, colour: red}\n",
		  "test.yaml:13:43: unknown key 'colour' in an operator" },
		{ HEAD "      - {op: linear, rows: 3, k: many, n: 4}\n", "test.yaml:13:34: network a: k" },
		{ HEAD "      - {c_in: 3, h: 224, w: 224, c_out: 64}\n",
		  "test.yaml:13:9: network a: missing: every operator needs 'op: conv'" },
		{ HEAD "      []\n",
		  "test.yaml:13:7: network a: ops: a network has operators, or words and a program" },
		{ "convnets: {}\n", "test.yaml:1:11: 'convnets' must be a list" },
		{ "convnets:\n  - id: a\n", "test.yaml:2:5: network a: missing: every network needs 'optimizer: sgd'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct jl_catalog *cat = NULL;
		struct jl_arena scratch;
		struct jl_err err = { .en = "" };

		jl_arena_init(&scratch, JL_ARENA_LIMIT_B);
		if (jl_catalog_read_text(&cat, NULL, "test.yaml", bad[i].text, strlen(bad[i].text), &scratch, NULL,
					 &err) == JL_OK)
			fail_msg("text %zu was taken", i);
		if (strncmp(err.en, bad[i].says, strlen(bad[i].says)) != 0)
			fail_msg("text %zu: wanted '%s', got '%s'", i, bad[i].says, err.en);
		jl_arena_release(&scratch);
	}
}

static void test_what_is_left_out_is_one(void **state)
{
	static const char good[] = HEAD "      - {op: conv, c_in: 3, h: 224, w: 224, c_out: 64}\n";
	const struct jl_catalog *cat;
	struct jl_convnet_list list;
	struct jl_arena scratch;
	struct jl_err err;

	(void)state;
	jl_arena_init(&scratch, JL_ARENA_LIMIT_B);
	if (jl_catalog_read_text(&cat, NULL, "test.yaml", good, sizeof(good) - 1, &scratch, NULL, &err))
		fail_msg("%s", err.en);
	assert_int_equal(jl_convnets(&list, cat, &scratch, &err), JL_OK);
	assert_int_equal(list.n_nets, 1);
	assert_int_equal(list.nets[0].n_aliases, 0);
	assert_true(list.nets[0].ops[0].stride == 1 && list.nets[0].ops[0].count == 1);
	assert_true(list.nets[0].kept_per_output == 2);
	jl_arena_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resnet50_counts_as_published),
		cmocka_unit_test(test_resnet_family_counts_as_published),
		cmocka_unit_test(test_weights_follow_from_the_shapes),
		cmocka_unit_test(test_totals_add_up),
		cmocka_unit_test(test_found_by_other_spellings),
		cmocka_unit_test(test_gradients_and_update),
		cmocka_unit_test(test_refuses_what_is_not_a_network),
		cmocka_unit_test(test_what_is_left_out_is_one),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
