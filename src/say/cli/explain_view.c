#include "cli/explain_view.h"

#include <math.h>
#include <stdio.h>

#include "cli/predict_view.h"

#define BASELINE "v100-dgxs-32gb"

/* The comparison that made the estimate known: Dettmers, "Which GPU(s) to get for deep learning". */
#define QUOTED_BPS      1555e9
#define QUOTED_BASE_BPS 900e9

static const double example_sides[] = { 32, 256 }, product_sides[] = { 32, 4096 };

/* The same request on the baseline, as many of its devices as it has. */
static enum jl_status make_base(struct jl_case *ret_base, struct jl_cli *cli, const struct jl_request *req,
				const struct jl_case *c, struct jl_err *err)
{
	struct jl_request same = *req;
	const struct jl_request empty = jl_request_empty();

	same.system = jl_text(cli, "baseline") ? jl_text(cli, "baseline") : BASELINE;
	same.plan = empty.plan;
	same.batch = c->shard.micro_batch * c->plan.n_micro; /* as much for each of its workers */
	same.micro_batch = same.global_batch = same.accumulate = NAN;
	if (!jl_case_make(ret_base, cli->cat, &same, &cli->arena, err))
		return JL_OK;
	same.dtype = JL_UNSET; /* an older device may not compute in the format that was asked for */
	return jl_case_make(ret_base, cli->cat, &same, &cli->arena, err);
}

static void ratio_lines(struct jl_cli *cli, const struct jl_explain *e, const struct jl_case *c,
			const struct jl_case *base)
{
	const struct jl_device *dev = &c->machine.dev, *was = &base->machine.dev;

	jl_buf_printf(&cli->out, JL_("  bandwidth    %.0f / %.0f GB/s = %.2fx a device\n"), dev->mem_Bps / 1e9,
		      was->mem_Bps / 1e9, e->bandwidth_ratio);
	jl_buf_printf(&cli->out, JL_("               (A100 over V100 as it is often quoted: %.0f / %.0f = %.2fx)\n"),
		      QUOTED_BPS / 1e9, QUOTED_BASE_BPS / 1e9, QUOTED_BPS / QUOTED_BASE_BPS);
	jl_buf_printf(&cli->out, JL_("  matrix rate  %.3g / %.3g TFLOP/s = %.2fx a device (%s / %s)\n"),
		      dev->peak_flopps[c->shard.dtype] / 1e12, was->peak_flopps[base->shard.dtype] / 1e12,
		      e->rate_ratio, jl_dtype_name(c->shard.dtype), jl_dtype_name(base->shard.dtype));
	jl_buf_printf(&cli->out, JL_("  full model   %.2fx a device ⚠ estimated"), e->model_device_ratio);
	if (c->n_gpus != base->n_gpus)
		jl_buf_printf(&cli->out, JL_(", %.2fx in all (%d against %d devices)"), e->model_ratio, c->n_gpus,
			      base->n_gpus);
	jl_buf_puts(&cli->out, "\n\n");
}

static enum jl_status part_table(struct jl_cli *cli, const struct jl_explain *e, const struct jl_case *c,
				 const struct jl_case *base, struct jl_err *err)
{
	static const char *const follows_en[JL_N_EX] = { JL_N("matrix rate"), JL_N("memory bandwidth"), JL_N("neither"),
							 JL_NC("bound", "links"), JL_N("neither") };

	const struct jl_table_column columns[] = {
		{ .head = JL_("one sample") },
		{ .head = base->machine.sys.text,
		  .align = JL_RIGHT,
		  .flexible = true,
		  .min_width = 12,
		  .max_width = 22 },
		{ .head = "", .align = JL_RIGHT },
		{ .head = c->machine.sys.text, .align = JL_RIGHT, .flexible = true, .min_width = 10, .max_width = 22 },
		{ .head = JL_("faster"), .align = JL_RIGHT },
		{ .head = JL_("follows") },
	};
	double base_s = 0;
	struct jl_table table;
	char was[JL_UNITS_TEXT_MAX], is[JL_UNITS_TEXT_MAX];

	for (int i = 0; i < JL_N_EX; i++)
		base_s += e->base_part_s[i];
	jl_table_init(&table, &cli->arena, columns, 6);
	for (int i = 0; i < JL_N_EX; i++) {
		if (e->base_part_s[i] < 0.001 * base_s && e->part_s[i] < 0.001 * base_s)
			continue;
		jl_table_cell(&table, jl_msg(jl_explain_parts[i].en));
		jl_table_cell(&table, jl_units_text(was, e->base_part_s[i], JL_K_TIME, 2));
		jl_table_printf(&table, "%.0f %%", 100 * e->base_part_s[i] / base_s);
		jl_table_cell(&table, jl_units_text(is, e->part_s[i], JL_K_TIME, 2));
		if (e->part_s[i] > 0 && e->base_part_s[i] > 0)
			jl_table_printf(&table, "%.2fx", e->base_part_s[i] / e->part_s[i]);
		else
			jl_table_cell(&table, "–");
		jl_table_cell(&table, jl_msg(follows_en[i]));
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void why_bandwidth(struct jl_cli *cli, const struct jl_explain *e)
{
	const enum jl_explain_part p = e->largest;
	double base_s = 0;
	char text[512];

	for (int i = 0; i < JL_N_EX; i++)
		base_s += e->base_part_s[i];
	if (p == JL_EX_MEMORY)
		jl_format(text, sizeof(text),
			  JL_("most of the time streams memory, so bandwidth is a fair guide; the %.0f %% in products "
			      "and attention follow another rate"),
			  100 * e->base_part_s[JL_EX_MATRIX] / base_s);
	else
		jl_format(text, sizeof(text),
			  JL_("the bandwidth ratio treats all of the time as memory streams, but %.0f %% of it are %s, "
			      "which gain %.2fx; streams are %.0f %%"),
			  100 * e->base_part_s[p] / base_s, jl_msg(jl_explain_parts[p].en),
			  e->base_part_s[p] / e->part_s[p], 100 * e->base_part_s[JL_EX_MEMORY] / base_s);
	jl_view_wrapped(cli, 2, JL_("why they differ"), text);
}

static void cycle_lines(struct jl_cli *cli, const struct jl_case *c)
{

	jl_buf_printf(&cli->out, "\n%s%s%s\n", jl_view_bold(cli),
		      JL_("Tensor cores, cycles on 8 SMs (the worked example, n = 32, and larger)"),
		      jl_view_reset(cli));
	for (size_t i = 0; i < sizeof(example_sides) / sizeof(*example_sides); i++) {
		const struct jl_cycles k = jl_explain_cycles(example_sides[i]);

		jl_buf_printf(&cli->out, "  %.0fx%.0f  %s %.0fx200 + %.0fx20 + %.0fx4 = %.0f\n", k.n, k.n,
			      JL_("without"), k.n_load, k.n_shared, k.n_ffma, k.without_cycles);
		jl_buf_printf(&cli->out, "  %*s  %s %.0fx200 + %.0fx20 + %.0fx1 = %.0f  (%.2fx)\n", k.n < 100 ? 5 : 7,
			      "", JL_("with   "), k.n_tensor_load, k.n_tensor_shared, k.n_tensor, k.with_cycles,
			      k.without_cycles / k.with_cycles);
	}
	jl_buf_printf(&cli->out, JL_("  full model, %s, fp32 vector units against 16-bit tensor cores\n"),
		      c->machine.sys.gpu ? c->machine.sys.gpu->id : c->machine.sys.cpu->id);
	for (size_t i = 0; i < sizeof(product_sides) / sizeof(*product_sides); i++) {
		const struct jl_product_time t = jl_explain_product(&c->machine.dev, product_sides[i]);
		char vector[JL_UNITS_TEXT_MAX], tensor[JL_UNITS_TEXT_MAX], a[JL_UNITS_TEXT_MAX], b[JL_UNITS_TEXT_MAX];

		if (isnan(t.tensor_s))
			continue;
		jl_buf_printf(&cli->out, JL_("  %.0fx%.0f  %s (%s cycles) against %s (%s cycles): %.2fx\n"), t.n, t.n,
			      jl_units_text(vector, t.vector_s, JL_K_TIME, 2), jl_about_text(a, t.vector_cycles),
			      jl_units_text(tensor, t.tensor_s, JL_K_TIME, 2), jl_about_text(b, t.tensor_cycles),
			      t.vector_s / t.tensor_s);
	}
	jl_view_wrapped(cli, 2, JL_("why they differ"),
			JL_("the count follows one warp through latencies that hide behind each other on a full "
			    "device; there a small product costs "
			    "what starting a kernel costs, and a large one what its rate or its bytes allow. The "
			    "example also counts 64 tensor "
			    "operations where 4x4x4 units need 512"));
}

static void cycles_json(struct jl_json *json, const struct jl_case *c)
{
	jl_json_put_array(json, "tensor_core_cycles");
	for (size_t i = 0; i < sizeof(example_sides) / sizeof(*example_sides); i++) {
		const struct jl_cycles k = jl_explain_cycles(example_sides[i]);

		jl_json_object(json);
		jl_json_put_number(json, "n", k.n);
		jl_json_put_number(json, "without_cycles", k.without_cycles);
		jl_json_put_number(json, "with_cycles", k.with_cycles);
		jl_json_put_number(json, "ratio", k.without_cycles / k.with_cycles);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_put_array(json, "product");
	for (size_t i = 0; i < sizeof(product_sides) / sizeof(*product_sides); i++) {
		const struct jl_product_time t = jl_explain_product(&c->machine.dev, product_sides[i]);

		jl_json_object(json);
		jl_json_put_number(json, "n", t.n);
		jl_json_put_number(json, "vector_s", t.vector_s);
		jl_json_put_number(json, "tensor_s", t.tensor_s);
		jl_json_put_number(json, "ratio", t.vector_s / t.tensor_s);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void parts_json(struct jl_json *json, const char *key, const double part_s[JL_N_EX])
{
	jl_json_put_object(json, key);
	for (int i = 0; i < JL_N_EX; i++)
		jl_json_put_number(json, jl_explain_parts[i].key, part_s[i]);
	jl_json_end_object(json);
}

static void print_json(struct jl_cli *cli, const struct jl_explain *e, const struct jl_case *c,
		       const struct jl_case *base)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_view_case_json(&json, c);
	jl_json_put_object(&json, "explain");
	jl_json_put_string(&json, "baseline", base->machine.sys.text);
	jl_json_put_number(&json, "mem_Bps", c->machine.dev.mem_Bps);
	jl_json_put_number(&json, "baseline_mem_Bps", base->machine.dev.mem_Bps);
	jl_json_put_number(&json, "bandwidth_ratio", e->bandwidth_ratio);
	jl_json_put_number(&json, "quoted_a100_v100_ratio", QUOTED_BPS / QUOTED_BASE_BPS);
	jl_json_put_number(&json, "matrix_rate_ratio", e->rate_ratio);
	jl_json_put_number(&json, "device_ratio", e->device_ratio);
	jl_json_put_number(&json, "model_ratio", e->model_ratio);
	jl_json_put_number(&json, "model_device_ratio", e->model_device_ratio);
	parts_json(&json, "sample_s", e->part_s);
	parts_json(&json, "baseline_sample_s", e->base_part_s);
	cycles_json(&json, c);
	jl_json_end_object(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

enum jl_status jl_explain_check(const struct jl_cli *cli, struct jl_err *err)
{
	if (jl_given(cli, "baseline") && !jl_flag(cli, "explain"))
		return jl_fail(err, JL_E_USAGE,
			       "--baseline goes with --explain; 'jeoul compare' sets systems side by side");
	if (jl_given(cli, "sweep") && jl_flag(cli, "explain"))
		return jl_fail(err, JL_E_USAGE, "--explain is about one system; leave --sweep out");
	return JL_OK;
}

enum jl_status jl_view_explain(struct jl_cli *cli, const struct jl_request *req, const struct jl_case *c,
			       struct jl_err *err)
{
	struct jl_case base;
	struct jl_explain e;
	enum jl_status status = make_base(&base, cli, req, c, err);

	if (status)
		return status;
	jl_explain(&e, c, &base);
	if (cli->json) {
		print_json(cli, &e, c, &base);
		return JL_OK;
	}
	jl_view_case(cli, c);
	jl_buf_printf(&cli->out, "%s%s %s%s\n", jl_view_bold(cli), JL_("By hand and by the full model, against"),
		      base.machine.sys.text, jl_view_reset(cli));
	ratio_lines(cli, &e, c, &base);
	status = part_table(cli, &e, c, &base, err);
	if (status)
		return status;
	jl_buf_putc(&cli->out, '\n');
	why_bandwidth(cli, &e);
	cycle_lines(cli, c);
	return JL_OK;
}
