/* Kernels of a step: operations by place, with launches, bytes and time. */
#include "predict/kernels.h"

#include <math.h>

#include "document/chart.h"
#include "topics/predict.h"

void jl_show_kernels(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels)
{
	struct jl_num moved = jl_num_about(kernels->stream_B, JL_K_BYTES, NULL);

	jl_doc_para(doc);
	if (c->subject.program)
		jl_doc_text(doc,
			    jl_doc_format(doc, JL_("%s on %s, %s, batch %.0f: one step, one device"), c->subject.id,
					  c->machine.sys.text, jl_dtype_name(c->shard.dtype), c->shard.micro_batch));
	else
		jl_doc_text(doc,
			    jl_doc_format(doc, JL_("%s on %s, %s, %s, batch %.0f, sequence %.0f: one step, one device"),
					  c->subject.id, c->machine.sys.text, jl_framework_word(c->framework),
					  jl_dtype_name(c->shard.dtype), c->global_batch, c->shard.seq));
	jl_show_table(doc, NULL, "ktffff", JL_N("part|operation|times|launches|moves|device time"));
	for (size_t i = 0; i < kernels->n; i++) {
		const struct jl_kernel *k = &kernels->items[i];

		JL_CELLS(doc, JL_WORD(jl_msg(k->block)), JL_WORD(jl_msg(k->name)),
			 JL_FIG(jl_num_about(k->n_times, JL_K_NUMBER, NULL)),
			 JL_FIG(jl_num_about(k->launches, JL_K_NUMBER, NULL)));
		if (k->moved_B > 0)
			jl_show_cell(doc, jl_num_about(k->moved_B, JL_K_BYTES, NULL));
		else
			jl_doc_cell_text(doc, "");
		JL_ROW(doc, false, JL_FIG(jl_num_about(k->device_s, JL_K_TIME, NULL)));
	}
	moved.n_digits = 3;
	jl_doc_para(doc);
	jl_doc_text(doc, jl_doc_format(doc, JL_("%.0f launches, "), kernels->launches));
	jl_show_num(doc, jl_num_about(kernels->device_s, JL_K_TIME, NULL));
	jl_doc_text(doc, JL_(" together; memory-bound kernels move "));
	jl_show_num(doc, moved);
	jl_doc_text(doc, JL_(". Times are device times, without framework overhead."));
}

/* --- the roofline */

#define ROOF_KERNELS 12 /* points that are labelled with their name */

struct roof {
	double peak_flopps, mem_Bps; /* listed */
	double peak_frac, mem_frac;  /* shares reached by large products and streams */
};

static struct roof roof_of(const struct jl_case *c)
{
	const struct jl_device *dev = &c->machine.dev;
	const enum jl_dtype dtype = isnan(dev->peak_flopps[c->shard.dtype]) ? JL_FP32 : c->shard.dtype;

	return (struct roof){ dev->peak_flopps[dtype], dev->mem_Bps, dev->fit.gemm_frac[dtype], dev->fit.mem_frac };
}

/* Rises with memory bandwidth, then level at the arithmetic limit. */
static void roof_line(struct jl_doc *doc, struct jl_chart *chart, size_t i, const struct roof *r, bool listed)
{
	const double peak = r->peak_flopps * (listed ? 1 : r->peak_frac), mem = r->mem_Bps * (listed ? 1 : r->mem_frac);
	const double x[] = { chart->x.lo, peak / mem, chart->x.hi };
	struct jl_chart_point *points = jl_show_series(
		doc, chart, i, listed ? JL_C("series", "listed") : JL_("reached by large kernels"),
		listed ? JL_LISTED : JL_ESTIMATED, JL_LEN(x));

	for (size_t k = 0; points && k < JL_LEN(x); k++) {
		points[k].x = x[k];
		points[k].y = fmin(peak, mem * x[k]);
	}
	chart->series[i].joined = true;
	chart->series[i].dashed = !listed;
}

static bool is_on_roof(const struct jl_kernel *k)
{
	return k->kind != JL_OP_STREAM && k->flop > 0 && k->traffic_B > 0 && k->device_s > 0;
}

/* True for the kernels with the largest times. */
static bool is_long(const struct jl_kernels *kernels, const struct jl_kernel *k)
{
	size_t longer = 0;

	for (size_t i = 0; i < kernels->n; i++)
		longer += is_on_roof(&kernels->items[i]) && kernels->items[i].device_s > k->device_s;
	return longer < ROOF_KERNELS;
}

static void roof_points(struct jl_doc *doc, struct jl_chart *chart, size_t i, const struct jl_kernels *kernels,
			enum jl_op_kind kind)
{
	struct jl_chart_point *points = jl_show_series(
		doc, chart, i, kind == JL_OP_GEMM ? JL_C("share", "matrix products") : JL_("attention"), JL_ESTIMATED,
		kernels->n);
	size_t n = 0;

	for (size_t k = 0; points && k < kernels->n; k++) {
		const struct jl_kernel *at = &kernels->items[k];

		if (at->kind != kind || !is_on_roof(at) || !is_long(kernels, at))
			continue;
		points[n].label = jl_msg(at->name);
		points[n].x = at->flop / at->traffic_B;
		points[n].y = at->flop / at->device_s;
		points[n].x_source = JL_METHOD;
		points[n++].weight = at->device_s / kernels->device_s;
	}
	chart->series[i].n_points = n;
	chart->series[i].only_points = true;
}

static void widen(struct jl_axis *axis, double lo, double hi)
{
	axis->lo = fmin(isnan(axis->lo) ? lo : axis->lo, lo);
	axis->hi = fmax(isnan(axis->hi) ? hi : axis->hi, hi);
}

/* Kernels without matrix products, left of the chart, as a list. */
static void only_streams(struct jl_doc *doc, const struct jl_kernels *kernels, const struct roof *r)
{
	double time_s = 0, moved_B = 0, moving_s = 0;

	for (size_t i = 0; i < kernels->n; i++)
		if (!is_on_roof(&kernels->items[i])) {
			time_s += kernels->items[i].device_s;
			moved_B += kernels->items[i].traffic_B;
			moving_s += kernels->items[i].traffic_B > 0 ? kernels->items[i].device_s : 0;
		}
	if (moving_s > 0)
		jl_show_note(doc, NULL, JL_ESTIMATED,
			     JL_("Not drawn: memory-bound kernels (norms, activations, optimizer), %s of %s, at %.0f "
				 "%% of the memory's listed rate."),
			     jl_units_localized(JL_TXT, time_s, JL_K_TIME, 2),
			     jl_units_localized(JL_TXT, kernels->device_s, JL_K_TIME, 2),
			     100 * moved_B / moving_s / r->mem_Bps);
}

void jl_show_roofline(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels)
{
	const struct roof r = roof_of(c);
	struct jl_chart *chart = jl_show_chart(
		doc, JL_CHART_SCATTER,
		jl_doc_format(doc, JL_("Roofline of one %s: the kernels of a step"), jl_show_card(c)), 4);
	const double ridge = r.peak_flopps / r.mem_Bps;
	bool any = false;

	if (!chart || !(ridge > 0))
		return;
	chart->x = JL_AXIS(.label = JL_("arithmetic intensity"), .unit = "FLOP/B", .log = true);
	chart->y = JL_AXIS(.label = JL_("rate"), .kind = JL_K_FLOP_RATE, .log = true);
	chart->x_origin = JL_ESTIMATED;
	widen(&chart->x, ridge / 8, ridge * 5);
	for (size_t i = 0; i < kernels->n; i++)
		if (is_on_roof(&kernels->items[i])) {
			const double x = kernels->items[i].flop / kernels->items[i].traffic_B,
				     y = kernels->items[i].flop / kernels->items[i].device_s;

			widen(&chart->x, x / 1.5, x * 1.5);
			widen(&chart->y, y / 1.5, y);
			any = true;
		}
	widen(&chart->y, r.peak_flopps / 8, r.peak_flopps * 1.15);
	chart->y.lo = fmin(chart->y.lo, r.mem_Bps * r.mem_frac * chart->x.lo);
	if (!any)
		return;
	roof_line(doc, chart, 0, &r, true);
	roof_line(doc, chart, 1, &r, false);
	roof_points(doc, chart, 2, kernels, JL_OP_GEMM);
	roof_points(doc, chart, 3, kernels, JL_OP_ATTENTION);
	chart->tabled = true;
	jl_doc_chart(doc, chart);
	only_streams(doc, kernels, &r);
}
