/* Rules of thumb (bandwidth ratio, tensor-core cycles) compared with the full model. */
#include <math.h>

#include "topics/predict.h"

static void ratios(struct jl_doc *doc, const struct jl_explained *x)
{
	const struct jl_device *dev = &x->how.machine.dev, *was = &x->base.machine.dev;
	const struct jl_explain *e = &x->e;

	jl_show_entry(doc, JL_("bandwidth"), JL_LISTED, JL_("%.0f / %.0f GB/s = %.2fx a device"), dev->mem_Bps / 1e9,
		      was->mem_Bps / 1e9, e->bandwidth_ratio);
	jl_show_entry(doc, "", JL_PUBLISHED, JL_("(A100 over V100 as it is often quoted: %.0f / %.0f = %.2fx)"),
		      JL_QUOTED_BPS / 1e9, JL_QUOTED_BASE_BPS / 1e9, JL_QUOTED_BPS / JL_QUOTED_BASE_BPS);
	jl_show_entry(doc, JL_("matrix rate"), JL_LISTED, JL_("%.3g / %.3g TFLOP/s = %.2fx a device (%s / %s)"),
		      dev->peak_flopps[x->how.shard.dtype] / 1e12, was->peak_flopps[x->base.shard.dtype] / 1e12,
		      e->rate_ratio, jl_dtype_name(x->how.shard.dtype), jl_dtype_name(x->base.shard.dtype));
	if (x->how.n_gpus == x->base.n_gpus)
		jl_show_entry(doc, JL_("full model"), JL_ESTIMATED, JL_("%.2fx a device ○ estimated"),
			      e->model_device_ratio);
	else
		jl_show_entry(doc, JL_("full model"), JL_ESTIMATED,
			      JL_("%.2fx a device ○ estimated, %.2fx in all (%d against %d devices)"),
			      e->model_device_ratio, e->model_ratio, x->how.n_gpus, x->base.n_gpus);
}

static double base_step_s(const struct jl_explain *e)
{
	double sum_s = 0;

	for (int i = 0; i < JL_N_EX; i++)
		sum_s += e->base_part_s[i];
	return sum_s;
}

static void time_cell(struct jl_doc *doc, double time_s)
{
	jl_show_cell(doc, jl_num_about(time_s, JL_K_TIME, jl_units_localized(JL_TXT, time_s, JL_K_TIME, 2)));
}

static void parts(struct jl_doc *doc, const struct jl_explained *x)
{
	static const char *const follows[JL_N_EX] = { JL_N("matrix rate"), JL_N("memory bandwidth"), JL_N("neither"),
						      JL_NC("bound", "links"), JL_N("neither") };
	const struct jl_explain *e = &x->e;
	const double base_s = base_step_s(e);

	jl_show_table(doc, NULL, "kffffk", JL_N("one sample|baseline||this system|faster|follows"));
	for (int i = 0; i < JL_N_EX; i++) {
		const double was_s = e->base_part_s[i], is_s = e->part_s[i];

		if (was_s < 0.001 * base_s && is_s < 0.001 * base_s)
			continue;
		jl_doc_cell_text(doc, jl_msg(jl_explain_parts[i]));
		time_cell(doc, was_s);
		jl_show_cell(doc, jl_show_share(doc, was_s / base_s));
		time_cell(doc, is_s);
		JL_ROW(doc, false,
		       JL_FIG(jl_num_written(jl_num_times(is_s > 0 && was_s > 0 ? was_s / is_s : NAN),
					     jl_doc_format(doc, JL_("%.2fx"), was_s / is_s))),
		       JL_WORD(jl_msg(follows[i])));
	}
}

static void why_bandwidth(struct jl_doc *doc, const struct jl_explain *e)
{
	const enum jl_explain_part p = e->largest;
	const double base_s = base_step_s(e);
	double here_s = 0;
	int most = 0; /* of this system's time */

	for (int i = 0; i < JL_N_EX; i++) {
		here_s += e->part_s[i];
		most = e->part_s[i] > e->part_s[most] ? i : most;
	}
	if (p == JL_EX_MEMORY && most != JL_EX_MEMORY && e->part_s[most] > 0.4 * here_s)
		jl_show_note(doc, JL_("why they differ"), JL_ESTIMATED,
			     JL_("memory-bound work is %.0f %% of the baseline's time, but on this system %.0f %% is "
				 "%s, which does not follow bandwidth"),
			     100 * e->base_part_s[p] / base_s, 100 * e->part_s[most] / here_s,
			     jl_msg(jl_explain_parts[most]));
	else if (p == JL_EX_MEMORY)
		jl_show_note(doc, JL_("why they differ"), JL_ESTIMATED,
			     JL_("most of the time is memory-bound, so bandwidth is a fair guide; the %.0f %% in "
				 "products and attention follows another rate"),
			     100 * e->base_part_s[JL_EX_MATRIX] / base_s);
	else
		jl_show_note(doc, JL_("why they differ"), JL_ESTIMATED,
			     JL_("the bandwidth ratio treats all time as memory-bound, but %.0f %% is %s, which gains "
				 "%.2fx; memory-bound time is %.0f %%"),
			     100 * e->base_part_s[p] / base_s, jl_msg(jl_explain_parts[p]),
			     e->base_part_s[p] / e->part_s[p], 100 * e->base_part_s[JL_EX_MEMORY] / base_s);
}

static void cycles(struct jl_doc *doc, const struct jl_explained *x)
{
	jl_doc_subsection(doc, "cycles", JL_("Tensor cores, cycles on 8 SMs (the worked example, n = 32, and larger)"));
	for (size_t i = 0; i < JL_N_EXAMPLE; i++) {
		const struct jl_cycles *k = &x->cycles[i];

		jl_show_entry(doc, jl_doc_format(doc, "%.0fx%.0f", k->n, k->n), JL_PUBLISHED,
			      "%s %.0fx200 + %.0fx20 + %.0fx4 = %.0f", JL_("without"), k->n_load, k->n_shared,
			      k->n_ffma, k->without_cycles);
		jl_show_entry(doc, "", JL_PUBLISHED, JL_("%s %.0fx200 + %.0fx20 + %.0fx1 = %.0f  (%.2fx)"),
			      JL_("with   "), k->n_tensor_load, k->n_tensor_shared, k->n_tensor, k->with_cycles,
			      k->without_cycles / k->with_cycles);
	}
	jl_doc_subsection(
		doc, "products",
		jl_doc_format(doc, JL_("Full model, %s, fp32 vector units against 16-bit tensor cores"),
			      x->how.machine.sys.gpu ? x->how.machine.sys.gpu->id : x->how.machine.sys.cpu->id));
	for (size_t i = 0; i < JL_N_EXAMPLE; i++) {
		const struct jl_product_time *t = &x->products[i];

		if (isnan(t->tensor_s))
			continue;
		jl_show_entry(doc, jl_doc_format(doc, "%.0fx%.0f", t->n, t->n), JL_ESTIMATED,
			      JL_("%s (%s cycles) against %s (%s cycles): %.2fx"),
			      jl_units_localized(JL_TXT, t->vector_s, JL_K_TIME, 2),
			      jl_about_text(JL_TXT, t->vector_cycles),
			      jl_units_localized(JL_TXT, t->tensor_s, JL_K_TIME, 2),
			      jl_about_text(JL_TXT, t->tensor_cycles), t->vector_s / t->tensor_s);
	}
	JL_NOTE(doc, JL_("why they differ"), JL_ESTIMATED,
		"the count adds up the latencies of one warp, which overlap on a busy device: there a small product "
		"costs a kernel launch, and a large one is bound by its rate or its bytes. The example also counts 64 "
		"tensor operations where 4x4x4 units need 512");
}

void jl_show_explained(struct jl_doc *doc, const struct jl_explained *explained)
{
	jl_show_case(doc, &explained->how);
	jl_doc_subsection(doc, "ratios",
			  jl_doc_format(doc, "%s %s", JL_("Rules of thumb and the full model, compared with"),
					explained->base.machine.sys.text));
	ratios(doc, explained);
	parts(doc, explained);
	why_bandwidth(doc, &explained->e);
	cycles(doc, explained);
}
