/* Charts of a prediction: each is drawn from the very figures of the answer, and the terminal, the page, its table and its CSV show the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "document/chart.h"
#include "predict/kernels.h"
#include "topics/predict.h"

#define GIB 1073741824.0

static struct jl_arena arena;
static struct jl_doc doc;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_doc_init(&doc, &arena, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

/* The only chart of the document. */
static const struct jl_chart *drawn(void)
{
	assert_int_equal(doc.failed, JL_OK);
	assert_non_null(doc.blocks);
	assert_int_equal(doc.blocks->kind, JL_DOC_CHART);
	assert_null(doc.blocks->next);
	return doc.blocks->chart;
}

static void check_lines(const struct jl_chart *chart, const char *const *wants, size_t n)
{
	struct jl_buf out;
	struct jl_err err;

	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_chart_to_text(chart, 80, &out, &err), JL_OK);
	for (size_t i = 0; i < n; i++)
		if (!strstr(jl_buf_text(&out), wants[i]))
			fail_msg("no '%s' in\n%s", wants[i], jl_buf_text(&out));
	jl_buf_release(&out);
}

static void check_html(const char *const *wants, size_t n)
{
	struct jl_buf out;
	struct jl_err err;

	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_doc_to_fragment(&doc, &out, &err), JL_OK);
	for (size_t i = 0; i < n; i++)
		if (!strstr(jl_buf_text(&out), wants[i]))
			fail_msg("no '%s' in\n%s", wants[i], jl_buf_text(&out));
	jl_buf_release(&out);
}

static struct jl_prediction of_memory(double weights_GiB, double activations_GiB, double spread)
{
	const double total_B = (weights_GiB + activations_GiB) * GIB;

	return (struct jl_prediction){ .memory = { .weights_B = weights_GiB * GIB,
						   .activations_B = activations_GiB * GIB,
						   .total_B = total_B },
				       .memory_B = { total_B, total_B / spread, total_B * spread },
				       .capacity_B = 80 * GIB };
}

/* Parts join end to start, nothing is drawn of a part that there is none of, the whole ends where they do. */
static void memory_falls_from_part_to_part(void **state)
{
	static const char *const text[] = { "    weights     █", " 16 GiB\n", " 76 GiB (63–91)\n", "│",
					    "    the device has 80 GiB\n" };
	static const char *const html[] = { "class=\"whisker over\"", "<details class=\"data\" data-csv=\"",
					    "activations,activations,17179869184,64424509440,,,estimated",
					    "data-value=\"8.16043786e+10\"" };
	const struct jl_prediction p = of_memory(16, 60, 1.2);
	const struct jl_chart *c;

	(void)state;
	jl_show_memory_chart(&doc, &(struct jl_named_memory){ "x", &p }, 1);
	c = drawn();
	assert_int_equal(c->kind, JL_CHART_SPANS);
	assert_int_equal(c->n_lanes, 3);
	assert_float_equal(c->series[1].points[0].from, 16 * GIB, 1);
	assert_float_equal(c->series[2].points[0].from, 0, 0);
	assert_float_equal(c->series[2].points[0].y, p.memory.total_B, 0);
	assert_float_equal(c->series[2].points[0].hi, p.memory_B.hi, 0);
	assert_float_equal(c->marks[0].x, p.capacity_B, 0);
	check_lines(c, text, sizeof(text) / sizeof(*text));
	check_html(html, sizeof(html) / sizeof(*html));
}

/* Several devices: a stack each, with the interval of its whole. */
static void memory_of_several_is_stacked(void **state)
{
	static const char *const html[] = { "class=\"whisker\"", "class=\"cap\"" };
	const struct jl_prediction a = of_memory(16, 60, 1.2), b = of_memory(8, 20, 1.1);
	const struct jl_named_memory list[] = { { "one", &a }, { "two", &b } };
	const struct jl_chart *c;

	(void)state;
	jl_show_memory_chart(&doc, list, 2);
	c = drawn();
	assert_int_equal(c->kind, JL_CHART_STACKED);
	assert_float_equal(c->series[0].points[1].sum_hi, b.memory_B.hi, 0);
	assert_float_equal(jl_chart_total(c, 1).value, b.memory.total_B, 1);
	check_html(html, sizeof(html) / sizeof(*html));
}

/* A point is what a kernel computes a second over what it computes for a byte; no point lies above its roof; streams are said, not drawn. */
static void kernels_lie_below_their_roof(void **state)
{
	static const char *const text[] = { "matrix products\n    qkv", "500 TFLOP/s · 1,000 FLOP/B" };
	static const char *const html[] = { "class=\"full\"", "Not drawn: memory-bound kernels", "data-value=\"50\"",
					    "500000000000000,,,estimated" };
	struct jl_kernel items[] = {
		{ .name = "qkv", .kind = JL_OP_GEMM, .flop = 5e12, .traffic_B = 5e9, .device_s = 0.01 },
		{ .name = "attention", .kind = JL_OP_ATTENTION, .flop = 1e12, .traffic_B = 2e9, .device_s = 0.01 },
		{ .name = "norm", .kind = JL_OP_STREAM, .flop = NAN, .traffic_B = 1e9, .device_s = 0.001 },
	};
	const struct jl_kernels kernels = { .n = 3, .items = items, .device_s = 0.021 };
	struct jl_case c = { .shard.dtype = JL_BF16 };
	const struct jl_chart *chart;

	(void)state;
	c.machine.dev.peak_flopps[JL_BF16] = 1e15;
	c.machine.dev.mem_Bps = 2e12;
	c.machine.dev.fit.gemm_frac[JL_BF16] = 0.7;
	c.machine.dev.fit.mem_frac = 0.9;
	jl_show_roofline(&doc, &c, &kernels);
	assert_int_equal(doc.failed, JL_OK);
	chart = doc.blocks->chart;
	assert_int_equal(chart->n_series, 4);
	assert_float_equal(chart->series[0].points[1].x, 500, 1e-9); /* the ridge */
	assert_float_equal(chart->series[0].points[2].y, 1e15, 1);
	assert_float_equal(chart->series[1].points[1].y, 0.7e15, 1);
	for (size_t i = 2; i < 4; i++)
		for (size_t k = 0; k < chart->series[i].n_points; k++)
			assert_true(chart->series[i].points[k].y <= fmin(1e15, 2e12 * chart->series[i].points[k].x));
	assert_int_equal(chart->series[2].n_points + chart->series[3].n_points, 2);
	check_lines(chart, text, sizeof(text) / sizeof(*text));
	check_html(html, sizeof(html) / sizeof(*html));
}

static double ends_at(const struct jl_chart *c)
{
	double at = 0;

	for (size_t i = 0; i < c->n_series; i++)
		for (size_t k = 0; k < c->series[i].n_points; k++)
			at = fmax(at, c->series[i].points[k].from + c->series[i].points[k].y);
	return at;
}

/* The parts lie one after the other and end with the step; what is hidden lies over them and adds nothing. */
static void a_step_is_its_parts_one_after_the_other(void **state)
{
	static const char *const text[] = { "compute", "hidden behind it", "█ compute", "step 1 s" };
	static const char *const html[] = { "<details class=\"data\"", "hidden communication", "gradient exchange" };
	const struct jl_step_cost step = {
		.step_s = 1, .compute_s = 0.6, .dp_s = 0.2, .host_s = 0.1, .optimizer_s = 0.1, .hidden_s = 0.3
	};
	const struct jl_case c = { .plan = { .dp = 8, .pp = 1, .n_micro = 1 } };
	const struct jl_chart *chart;
	double exposed_s = 0;

	(void)state;
	jl_show_step_charts(&doc, &c, &step);
	chart = drawn();
	assert_int_equal(chart->n_lanes, 4);
	for (size_t i = 0; i < chart->n_series; i++)
		for (size_t k = 0; k < chart->series[i].n_points; k++)
			exposed_s += strcmp(chart->series[i].name, "hidden communication")
					     ? chart->series[i].points[k].y
					     : 0;
	assert_float_equal(exposed_s, 1, 1e-9);
	assert_float_equal(ends_at(chart), 1, 1e-9);
	assert_float_equal(chart->marks[0].x, 1, 1e-9);
	check_lines(chart, text, sizeof(text) / sizeof(*text));
	check_html(html, sizeof(html) / sizeof(*html));
}

/* The schedule ends when the closed form says: the slowest stage's work and the bubble. Each stage does all of its work, one turn at a time. */
static void a_pipeline_has_its_bubbles(void **state)
{
	static const char *const html[] = { "stage 4", "gaps are bubbles" };
	const struct jl_step_cost step = { .step_s = 1.1, .compute_s = 0.8, .bubble_s = 0.3 };
	const struct jl_case c = { .plan = { .dp = 1, .pp = 4, .n_micro = 8, .n_chunks = 1 } };
	const struct jl_chart *chart;

	(void)state;
	jl_show_step_charts(&doc, &c, &step);
	assert_int_equal(doc.failed, JL_OK);
	assert_non_null(doc.blocks->next);
	chart = doc.blocks->next->chart;
	assert_int_equal(chart->n_lanes, 4);
	assert_float_equal(ends_at(chart), 1.1, 1e-9);
	for (size_t lane = 0; lane < 4; lane++) {
		double busy_s = 0;

		for (size_t i = 0; i < chart->n_series; i++)
			for (size_t k = 0; k < chart->series[i].n_points; k++) {
				const struct jl_chart_point *p = &chart->series[i].points[k];

				busy_s += p->x == (double)lane ? p->y : 0;
				for (size_t n = 0; n < k; n++)
					assert_true(p->x != chart->series[i].points[n].x ||
						    p->from >= chart->series[i].points[n].from +
								       chart->series[i].points[n].y - 1e-9);
			}
		assert_float_equal(busy_s, 0.8, 1e-9);
	}
	check_html(html, sizeof(html) / sizeof(*html));
}

static const struct jl_tree_node *node_called(const struct jl_tree_node *node, const char *name)
{
	const struct jl_tree_node *found = strstr(node->name, name) ? node : NULL;

	for (size_t i = 0; i < node->n_children && !found; i++)
		found = node_called(&node->children[i], name);
	return found;
}

/* Of a device's links the one with the least of a byte rate for it is the narrowest: the network of a host of eight, not its NVLink. */
static void the_narrowest_link_is_marked(void **state)
{
	static const char *const text[] = { "50 GB/s · narrowest link: 6.2 GB/s a GPU\n", "450 GB/s\n",
					    "GPU 0–7: 8 × " };
	static const char *const html[] = { "class=\"branch narrowest\"", "class=\"narrowest\"", "0,InfiniBand NDR",
					    ",50000000000,6250000000\n" };
	const struct jl_tree_node *net, *join;
	struct jl_sys sys;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), "4x(8x h100-sxm5) over ib-ndr", &arena, &err),
			 JL_OK);
	jl_show_topology(&doc, "t", &sys, NULL);
	net = drawn()->tree;
	join = node_called(net, "NVLink");
	assert_non_null(net->narrowest);
	assert_true(join && !join->narrowest && join->link_Bps > 10 * net->link_Bps);
	check_lines(drawn(), text, sizeof(text) / sizeof(*text));
	check_html(html, sizeof(html) / sizeof(*html));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_falls_from_part_to_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_of_several_is_stacked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kernels_lie_below_their_roof, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_step_is_its_parts_one_after_the_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pipeline_has_its_bubbles, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_narrowest_link_is_marked, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
