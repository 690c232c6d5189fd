#include "check/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/msg.h"
#include "check/trace_parts.h"

#define GAP_LEAST     1.5 /* us: shortest gap between kernels */
#define LATE_US       2.0 /* a launch that ends this long before the gap did not cause it */
#define TENSORS_LEAST 60  /* kernels of an optimizer step, above which it runs one per tensor */

const char *const jl_trace_parts[JL_N_TRACE_PART + 1] = {
	"computing", "exposed_exchange", "waiting_for_host", "waiting_for_data", "other", NULL
};

/* ---- sums */

struct sums {
	double class_us[N_KERNEL_CLASS], n_class[N_KERNEL_CLASS];
	uint16_t example[N_KERNEL_CLASS];
	double example_us[N_KERNEL_CLASS];
	double op_us[OP_DROPOUT + 1];
	double busy_us, exchange_us, overlap_us, n_kernels;
	double loader_us, optimizer_us, sync_us, launch_us, other_us; /* gaps by cause */
	double one_by_one_us; /* optimizer kernels that update one tensor each */
	double n_optimizer, n_sync_gaps, n_launch_gaps,
		n_none; /* n_none: NAN placeholder for findings without a count */
	double from_us, to_us;
	double sync_won_us; /* without its waits the host would run ahead and hide the launches */
};

/* Cause of a gap. A kernel launched long before does not wait for the host. */
static void take_gap(struct sums *s, const struct trace *t, double from_us, const struct on_gpu *next)
{
	const double gap_us = next->from_us - from_us;
	const struct launch *l = jl_trace_launch(t, next);

	if (gap_us < GAP_LEAST)
		return;
	if (l && l->to_us + LATE_US < from_us) {
		s->other_us += gap_us;
		return;
	}
	const double to_us = l ? fmax(from_us, fmin(l->from_us, next->from_us)) : next->from_us;
	const double loader_us = jl_trace_shared_us(&t->spans[SPAN_LOADER], from_us, to_us);
	/* the host was waiting when the GPU became idle */
	const bool synced = jl_trace_shared_us(&t->spans[SPAN_SYNC], from_us - LATE_US, from_us + LATE_US) >
			    LATE_US / 2;

	if (loader_us > gap_us / 2) {
		s->loader_us += gap_us;
	} else if (jl_trace_shared_us(&t->spans[SPAN_OPTIMIZER], from_us, next->from_us) > gap_us / 2) {
		s->optimizer_us += gap_us;
	} else if (synced) {
		s->sync_us += gap_us;
		s->n_sync_gaps++;
	} else {
		s->launch_us += gap_us;
		s->n_launch_gaps++;
	}
}

/* The host runs ahead: kernels launched before the first marked step still run when that step begins. The first step begins after them, or at
 * its mark if later. */
static size_t first_of_steps(struct trace *t, double *ret_from_us)
{
	const struct span *step = t->spans[SPAN_STEP].data;
	const struct on_gpu *g = t->gpu.data;
	double from_us = t->spans[SPAN_STEP].n ? step[0].from_us : 0;

	for (size_t i = 0; t->spans[SPAN_STEP].n && i < t->gpu.n; i++) {
		const struct launch *l = jl_trace_launch(t, &g[i]);

		if (l && l->from_us >= step[0].from_us) {
			*ret_from_us = fmin(from_us, g[i].from_us);
			return i;
		}
		from_us = fmax(from_us, g[i].to_us);
	}
	*ret_from_us = g[0].from_us;
	return 0;
}

static void sum_gpu(struct sums *s, struct trace *t)
{
	const struct on_gpu *g = t->gpu.data;
	const size_t first = first_of_steps(t, &s->from_us);
	double end_us = s->from_us, exchange_end_us = -INFINITY, compute_end_us = -INFINITY;

	for (size_t i = first; i < t->gpu.n; i++) {
		const double took_us = g[i].to_us - g[i].from_us;
		const struct launch *l = jl_trace_launch(t, &g[i]);
		enum kernel_class is = (enum kernel_class)g[i].is;
		const enum op op = jl_trace_op(t, l);

		t->names[g[i].name].n++;
		t->names[g[i].name].time_us += took_us;
		if (op == OP_DROPOUT)
			is = K_DROPOUT;
		s->class_us[is] += took_us;
		s->n_class[is]++;
		if (took_us > s->example_us[is]) {
			s->example_us[is] = took_us;
			s->example[is] = g[i].name;
		}
		s->op_us[op] += took_us;
		s->n_kernels++;
		if (l && is != K_MULTI_TENSOR && jl_trace_meets(&t->spans[SPAN_OPTIMIZER], l->from_us, l->to_us)) {
			s->n_optimizer++;
			s->one_by_one_us += took_us;
		}
		if (g[i].from_us > end_us)
			take_gap(s, t, end_us, &g[i]);
		/* communication overlapped with computing costs nothing */
		if (is == K_EXCHANGE) {
			s->exchange_us += fmax(0, g[i].to_us - fmax(g[i].from_us, exchange_end_us));
			s->overlap_us += fmax(0,
					      fmin(g[i].to_us, compute_end_us) - fmax(g[i].from_us, exchange_end_us));
			exchange_end_us = fmax(exchange_end_us, g[i].to_us);
		} else {
			s->overlap_us += fmax(0,
					      fmin(g[i].to_us, exchange_end_us) - fmax(g[i].from_us, compute_end_us));
			compute_end_us = fmax(compute_end_us, g[i].to_us);
		}
		s->busy_us += fmax(0, g[i].to_us - fmax(g[i].from_us, end_us));
		end_us = fmax(end_us, g[i].to_us);
	}
	s->to_us = end_us;
}

/* Host steps begin before GPU steps. */
static void weigh_syncs(struct sums *s, const struct list *waits, const struct list *steps)
{
	const struct span *w = waits->data, *step = steps->data;
	const double span_us = s->to_us - s->from_us;
	double waited_us = 0, end_us = steps->n ? fmin(step[0].from_us, s->from_us) : s->from_us;

	for (size_t i = 0; i < waits->n; i++) {
		waited_us += fmax(0, fmin(w[i].to_us, s->to_us) - fmax(w[i].from_us, end_us));
		end_us = fmax(end_us, fmin(w[i].to_us, s->to_us));
	}
	s->sync_won_us = fmin(fmax(s->sync_us, span_us - fmax(s->busy_us, span_us - waited_us)),
			      s->sync_us + s->launch_us);
}

/* ---- findings */

struct rule {
	const char *key, *what, *todo;
	int is;          /* class of the example; -1: none */
	double won_frac; /* share of that class's time; 0: see won_us */
	double (*won_us)(const struct sums *s);
	size_t count; /* member of struct sums; 0: count of the class */
};

#define RATE(NAME, BODY)                                                                                               \
	static double NAME(const struct sums *s)                                                                       \
	{                                                                                                              \
		return BODY;                                                                                           \
	}
RATE(won_eager, s->op_us[OP_SOFTMAX] > 0 && s->op_us[OP_BATCHED] > 0
			? 0.75 * (s->op_us[OP_SOFTMAX] + s->op_us[OP_MASK] + s->op_us[OP_BATCHED])
			: 0)
RATE(won_layout, s->class_us[K_LAYOUT] > 0 ? s->class_us[K_LAYOUT] + 0.5 * s->class_us[K_NORM_NCHW] : 0)
RATE(won_loader, s->loader_us)
/* AdamW's loop passes over the tensors 19 times, the fused kernel 7 */
RATE(won_optimizer, s->n_optimizer > TENSORS_LEAST ? 0.95 * s->optimizer_us + 0.6 * s->one_by_one_us : 0)
RATE(won_sync, s->sync_won_us)
RATE(won_launch, s->launch_us - (s->sync_won_us - s->sync_us) + (s->n_optimizer > TENSORS_LEAST ? 0 : s->optimizer_us))
RATE(won_exchange, fmax(0, s->exchange_us - s->overlap_us))
#define COUNT(MEMBER) offsetof(struct sums, MEMBER)

static const struct rule rules[] = {
	{ "fp32_products", JL_N("matrix products in fp32, without tensor cores: %.0f a step"),
	  JL_N("torch.set_float32_matmul_precision('high'), or autocast to bf16"), K_PRODUCT_FP32, 0.85, NULL,
	  0 }, /* tensor cores are at least eight times as fast */
	{ "fp32_attention", JL_N("attention in fp32: %.0f kernels a step"),
	  JL_N("give scaled_dot_product_attention q, k and v in bf16: no .float() in front of it"), K_ATTENTION_FP32,
	  0.8, NULL, 0 }, /* as above, minus the remainder */
	{ "odd_widths", JL_N("products whose width is not a multiple of 8: %.0f a step"),
	  JL_N("pad the vocabulary (or that layer) to a multiple of 64: 50257 to 50304"), K_PRODUCT_ODD, 0.7, NULL,
	  0 }, /* 126 versus 600 TFLOP/s measured on an H200 */
	{ "unfused_attention", JL_N("attention in separate kernels: %.0f softmaxes a step"),
	  JL_N("scaled_dot_product_attention, or attn_implementation=\"sdpa\"; a mask as is_causal=True"), K_SOFTMAX, 0,
	  won_eager, 0 },
	{ "layout", JL_N("layout conversions NCHW/NHWC: %.0f a step"),
	  JL_N("model and input .to(memory_format=torch.channels_last)"), K_LAYOUT, 0, won_layout, 0 },
	{ "dropout", JL_N("dropout in separate kernels: %.0f a step"),
	  JL_N("p=0 where the data is not repeated, or torch.compile, which fuses it"), K_DROPOUT, 0.9, NULL, 0 },
	{ "casts", JL_N("casts between formats: %.0f a step"),
	  JL_N("weights in bf16 instead of casting them in every pass; autocast around all micro-batches keeps its "
	       "casts"),
	  K_CAST, 0.9, NULL, 0 },
	{ "pageable_copies", JL_N("copies from pageable host memory: %.0f a step; the host waits for each"),
	  JL_N("DataLoader(pin_memory=True) and .to(device, non_blocking=True)"), K_PAGEABLE, 0.9, NULL, 0 },
	{ "slow_loader", JL_N("the GPU waits for the data loader"),
	  JL_N("num_workers above 0, prefetch_factor, persistent_workers=True; tokenize beforehand"), -1, 0, won_loader,
	  COUNT(n_none) },
	{ "unfused_optimizer", JL_N("the optimizer launches %.0f kernels a step, one by one"),
	  JL_N("AdamW(..., fused=True), or foreach=True"), -1, 0, won_optimizer, COUNT(n_optimizer) },
	{ "syncs", JL_N("the host waits for the GPU %.0f times a step"),
	  JL_N(".item(), .cpu(), print and if on tensors inside the step: keep figures on the GPU, read them every 100 "
	       "steps"),
	  -1, 0, won_sync, COUNT(n_sync_gaps) },
	{ "host_bound", JL_N("the GPU waits for the host to launch kernels: %.0f gaps a step"),
	  JL_N("larger batches; torch.compile(mode=\"reduce-overhead\") (CUDA graphs); loops over heads or layers as "
	       "one "
	       "operation. The profiler itself slows the host"),
	  -1, 0, won_launch, COUNT(n_launch_gaps) },
	{ "exposed_exchange", JL_N("exposed communication"),
	  JL_N("overlap (DDP buckets, FSDP prefetch), larger batches or accumulation; jeoul check allreduce: is it as "
	       "fast as "
	       "it should be?"),
	  K_EXCHANGE, 0, won_exchange, COUNT(n_none) },
};

static int by_won(const void *a, const void *b)
{
	const double x = ((const struct jl_trace_finding *)a)->won_s, y = ((const struct jl_trace_finding *)b)->won_s;

	return (x < y) - (x > y);
}

static void find_all(struct jl_trace_view *v, const struct sums *s, const struct trace *t)
{
	for (size_t i = 0; i < JL_LEN(rules); i++) {
		const struct rule *r = &rules[i];
		const double won_us = r->won_us ? r->won_us(s) : r->won_frac * s->class_us[r->is],
			     won_s = fmin(1e-6 * won_us / v->n_steps, v->step_s);
		struct jl_trace_finding *f = &v->findings[v->n_findings];

		if (!(won_s >= JL_TRACE_LEAST_FRAC * v->step_s))
			continue;
		*f = (struct jl_trace_finding){ .key = r->key, .won_s = won_s, .won_frac = won_s / v->step_s };
		double n = r->count ? 0 : s->n_class[r->is];

		if (r->count)
			memcpy(&n, (const char *)s + r->count, sizeof(n));
		f->n_per_step = n / v->n_steps;
		if (r->is >= 0)
			(void)snprintf(f->example, sizeof(f->example), "%s", t->names[s->example[r->is]].name);
		jl_msg_print(f->what.en, f->what.text, sizeof(f->what.en), r->what, f->n_per_step);
		jl_msg_print(f->todo.en, f->todo.text, sizeof(f->todo.en), "{%s}", r->todo);
		v->n_findings++;
	}
	qsort(v->findings, v->n_findings, sizeof(*v->findings), by_won);
	v->verdict = JL_VERDICT_NORMAL;
	for (size_t i = 0; i < v->n_findings; i++)
		if (v->findings[i].won_frac >=
		    (strcmp(v->findings[i].key, "host_bound") == 0 ? JL_TRACE_BAD_HOST : JL_TRACE_BAD_FRAC))
			v->verdict = JL_VERDICT_LOW;
}

static void find_top(struct jl_trace_view *v, struct trace *t)
{
	while (v->n_top < JL_TRACE_KERNELS_MAX) {
		size_t best = 0;

		for (size_t i = 1; i < t->n_names; i++)
			if (t->names[i].time_us > t->names[best].time_us)
				best = i;
		if (!t->n_names || !(t->names[best].time_us > 0))
			return;
		struct jl_trace_kernel *k = &v->top[v->n_top++];

		(void)snprintf(k->name, sizeof(k->name), "%s", t->names[best].name);
		k->n = t->names[best].n / v->n_steps;
		k->time_s = 1e-6 * t->names[best].time_us / v->n_steps;
		t->names[best].time_us = 0;
	}
}

static void make_view(struct jl_trace_view *v, struct trace *t)
{
	struct sums s = { .n_none = NAN };

	sum_gpu(&s, t);
	weigh_syncs(&s, &t->spans[SPAN_SYNC], &t->spans[SPAN_STEP]);
	/* steps are marked on the host and, in some versions, on the GPU's timeline: host marks are used */
	v->n_steps = t->n_steps ? (double)t->n_steps : 1;
	v->step_s = 1e-6 * (s.to_us - s.from_us) / v->n_steps;
	v->n_kernels = s.n_kernels / v->n_steps;
	const double exposed_us = fmax(0, s.exchange_us - s.overlap_us), per = 1e-6 / v->n_steps;
	v->part_s[JL_TRACE_COMPUTE] = per * (s.busy_us - exposed_us);
	v->part_s[JL_TRACE_EXCHANGE] = per * exposed_us;
	v->part_s[JL_TRACE_HOST] = per * (s.launch_us + s.optimizer_us + s.sync_us);
	v->part_s[JL_TRACE_DATA] = per * s.loader_us;
	v->part_s[JL_TRACE_OTHER] = fmax(0, v->step_s - v->part_s[0] - v->part_s[1] - v->part_s[2] - v->part_s[3]);
	find_all(v, &s, t);
	find_top(v, t);
}

enum jl_status jl_trace_judge(struct jl_trace_view *ret_view, const char *path, struct jl_err *err)
{
	struct trace *t = jl_realloc(NULL, sizeof(*t));
	struct jl_trace_view v = { .n_steps = 0 };
	enum jl_status status = t ? JL_OK : jl_fail_nomem(err);

	if (t)
		memset(t, 0, sizeof(*t));
	JL_THEN(status, jl_trace_read(t, path, v.gpu, sizeof(v.gpu), err));
	if (!status && !t->gpu.n)
		status = jl_fail(err, JL_E_DATA,
				 "%s: no kernels of a GPU in it: profile with ProfilerActivity.CUDA, and export inside "
				 "on_trace_ready where a schedule is used",
				 path);
	if (!status) {
		make_view(&v, t);
		*ret_view = v;
	}
	if (t)
		jl_trace_free(t);
	jl_free(t);
	return status;
}

/* ---- as JSON */

static const struct jl_field finding[] = {
	{ JL_FIELD(jl_trace_finding, TEXT, key) },
	{ JL_FIELD(jl_trace_finding, NUMBER, won_s), .about = "of one step, at most" },
	{ JL_FIELD(jl_trace_finding, NUMBER, won_frac) },
	{ JL_FIELD(jl_trace_finding, NUMBER, n_per_step) },
	{ JL_FIELD(jl_trace_finding, CHARS, example) },
	{ JL_FIELD_AS(jl_trace_finding, CHARS, what.en, "what") },
	{ JL_FIELD_AS(jl_trace_finding, CHARS, todo.en, "todo") },
};
static const struct jl_schema finding_form = JL_SCHEMA("trace_finding", jl_trace_finding, finding);

static const struct jl_field kernel[] = {
	{ JL_FIELD(jl_trace_kernel, CHARS, name) },
	{ JL_FIELD(jl_trace_kernel, NUMBER, n) },
	{ JL_FIELD(jl_trace_kernel, NUMBER, time_s) },
};
static const struct jl_schema kernel_form = JL_SCHEMA("trace_kernel", jl_trace_kernel, kernel);

JL_TEXT_OF(verdict, jl_trace_view, jl_verdict_name(r->verdict));
JL_BOOL_OF(is_bad, jl_trace_view, jl_verdict_is_bad(r->verdict));

static const struct jl_field view[] = {
	{ JL_FIELD_TEXT_OF("verdict", verdict), .about = "low: one finding costs 10 % of the step or more" },
	{ JL_FIELD_BOOL_OF("bad", is_bad) },
	{ JL_FIELD(jl_trace_view, CHARS, gpu) },
	{ JL_FIELD(jl_trace_view, NUMBER, n_steps) },
	{ JL_FIELD(jl_trace_view, NUMBER, step_s) },
	{ JL_FIELD(jl_trace_view, NUMBER, n_kernels) },
	{ JL_FIELD_AS(jl_trace_view, NUMBER, part_s[JL_TRACE_COMPUTE], "computing_s") },
	{ JL_FIELD_AS(jl_trace_view, NUMBER, part_s[JL_TRACE_EXCHANGE], "exposed_exchange_s") },
	{ JL_FIELD_AS(jl_trace_view, NUMBER, part_s[JL_TRACE_HOST], "waiting_for_host_s") },
	{ JL_FIELD_AS(jl_trace_view, NUMBER, part_s[JL_TRACE_DATA], "waiting_for_data_s") },
	{ JL_FIELD_AS(jl_trace_view, NUMBER, part_s[JL_TRACE_OTHER], "other_s") },
	{ JL_FIELD_MANY(jl_trace_view, ARRAY, findings, n_findings, "findings", &finding_form) },
	{ JL_FIELD_MANY(jl_trace_view, ARRAY, top, n_top, "kernels", &kernel_form) },
};
const struct jl_schema jl_trace_fields = JL_SCHEMA("check-trace", jl_trace_view, view);
