#include "check/trace.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/msg.h"
#include "import/kineto.h"

#define EVENTS_MAX    ((size_t)16 << 20)
#define NAMES_MAX     8192
#define GAP_LEAST     1.5 /* us: kernels follow each other no faster */
#define LATE_US       2.0 /* a launch that ends so long before the gap is not why there is one */
#define TENSORS_LEAST 60  /* kernels of an optimizer's step that are one for each tensor */

const char *const jl_trace_parts[JL_N_TRACE_PART + 1] = {
	"computing", "exposed_exchange", "waiting_for_host", "waiting_for_data", "other", NULL
};

/* What a kernel is, by its name; the first row whose words are all in it. */
enum class {
	K_EXCHANGE,
	K_PRODUCT_FP32,
	K_PRODUCT_ODD,
	K_ATTENTION_FP32,
	K_LAYOUT,
	K_NORM_NCHW,
	K_DROPOUT,
	K_CAST,
	K_SOFTMAX,
	K_PAGEABLE,
	K_COPY,
	K_MULTI_TENSOR,
	K_PRODUCT,
	K_OTHER,
	N_CLASS
};
static const struct {
	enum class is;
	const char *has, *and, *not ;
} classes[] = {
	{ K_EXCHANGE, "nccl", "", NULL },
	{ K_EXCHANGE, "ncclDevKernel", "", NULL },
	{ K_ATTENTION_FP32, "fmha", "_f32_", NULL },
	{ K_PRODUCT_FP32, "gemm_f32f32_f32f32_f32", "", NULL },
	{ K_PRODUCT_FP32, "sgemm", "", "tf32" },
	{ K_PRODUCT_ODD, "tensorop", "align1", NULL },
	{ K_PRODUCT_ODD, "gemm", "align2", NULL },
	{ K_LAYOUT, "nchwToNhwc", "", NULL },
	{ K_LAYOUT, "nhwcToNchw", "", NULL },
	{ K_NORM_NCHW, "batch_norm_", "", "channels_last" },
	{ K_NORM_NCHW, "max_pool", "nchw", NULL },
	{ K_DROPOUT, "dropout", "", "multi_tensor" },
	{ K_DROPOUT, "masked_scale", "", NULL },
	{ K_CAST, "bfloat16_copy_kernel", "", NULL },
	{ K_CAST, "float16_copy_kernel", "", NULL },
	{ K_CAST, "unrolled_elementwise_kernel<at::native::direct_copy", "", NULL },
	{ K_SOFTMAX, "oftmax", "", "LogSoftMax" },
	{ K_SOFTMAX, "oftMax", "", "LogSoftMax" },
	{ K_PAGEABLE, "Memcpy", "ageable", NULL },
	{ K_COPY, "Memcpy HtoD", "", NULL },
	{ K_MULTI_TENSOR, "multi_tensor_apply", "", NULL },
	{ K_PRODUCT, "gemm", "", NULL },
	{ K_PRODUCT, "nvjet", "", NULL },
};

static enum class class_of(const char *name) {
	for (size_t i = 0; i < JL_LEN(classes);
	     i++) if (strstr(name, classes[i].has) && strstr(name, classes[i].and) &&
		      !(classes[i].not &&strstr(name, classes[i].not ))) return classes[i]
		.is;
	return K_OTHER;
}

/* The operator that launched it, where that says more than the kernel. */
enum op { OP_NONE, OP_SOFTMAX, OP_MASK, OP_BATCHED, OP_DROPOUT };
static const struct {
	const char *name;
	enum op op;
} ops[] = {
	{ "aten::_softmax", OP_SOFTMAX },
	{ "aten::_softmax_backward_data", OP_SOFTMAX },
	{ "aten::masked_fill", OP_MASK },
	{ "aten::masked_fill_", OP_MASK },
	{ "aten::where", OP_MASK },
	{ "aten::bmm", OP_BATCHED },
	{ "aten::baddbmm", OP_BATCHED },
	{ "aten::native_dropout", OP_DROPOUT },
	{ "aten::native_dropout_backward", OP_DROPOUT },
	{ "aten::dropout", OP_DROPOUT },
};

struct on_gpu {
	double from_us, to_us;
	uint32_t correlation;
	uint16_t name;
	uint8_t is;
};
struct launch { /* of the host, by correlation */
	uint32_t correlation, external;
	double from_us, to_us;
};
struct span {
	double from_us, to_us;
};
enum span_kind { SPAN_LOADER, SPAN_OPTIMIZER, SPAN_SYNC, SPAN_STEP, N_SPAN };
struct called {
	uint32_t external;
	uint8_t op;
};

/* Growable arrays, each with a limit. */
struct list {
	void *data;
	size_t n, room;
};

struct trace {
	struct list gpu, launches, spans[N_SPAN], called;
	struct {
		char name[160];
		double n, time_us;
	} names[NAMES_MAX];
	size_t n_names;
	uint16_t slots[4 * NAMES_MAX]; /* hash of a name to its number + 1 */
};

static void *push(struct list *l, size_t size)
{
	if (l->n == l->room) {
		const size_t room = l->room ? 2 * l->room : 4096;
		void *more = room > EVENTS_MAX ? NULL : jl_realloc(l->data, room * size);

		if (!more)
			return NULL;
		l->data = more;
		l->room = room;
	}
	return (char *)l->data + size * l->n++;
}

static uint16_t name_number(struct trace *t, const char *name)
{
	const size_t len = strnlen(name, sizeof(t->names[0].name) - 1);

	for (size_t k = jl_hash_keyed(name, len) % JL_LEN(t->slots);; k = (k + 1) % JL_LEN(t->slots)) {
		if (t->slots[k] && strncmp(t->names[t->slots[k] - 1].name, name, sizeof(t->names[0].name) - 1) == 0)
			return (uint16_t)(t->slots[k] - 1);
		if (t->slots[k])
			continue;
		if (t->n_names == NAMES_MAX)
			return 0;
		(void)snprintf(t->names[t->n_names].name, sizeof(t->names[0].name), "%s", name);
		t->slots[k] = (uint16_t)(t->n_names + 1);
		return (uint16_t)t->n_names++;
	}
}

/* ---- reading */

static const struct {
	const char *category, *begins;
	enum span_kind kind;
} marks[] = {
	{ "user_annotation", "enumerate(DataLoader)", SPAN_LOADER },
	{ "user_annotation", "Optimizer.step", SPAN_OPTIMIZER },
	{ "user_annotation", "ProfilerStep", SPAN_STEP },
	{ "cuda_runtime", "cudaStreamSynchronize", SPAN_SYNC },
	{ "cuda_runtime", "cudaEventSynchronize", SPAN_SYNC },
	{ "cpu_op", "aten::_local_scalar_dense", SPAN_SYNC },
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static uint32_t id_of(double said)
{
	return said >= 0 && said <= UINT32_MAX ? (uint32_t)said : 0;
}

static bool take_gpu(struct trace *t, const struct jl_kineto_event *e)
{
	struct on_gpu *g = push(&t->gpu, sizeof(*g));

	if (!g)
		return false;
	*g = (struct on_gpu){ .from_us = e->start_us,
			      .to_us = e->start_us + e->took_us,
			      .correlation = id_of(e->correlation),
			      .name = name_number(t, e->name),
			      .is = (uint8_t)class_of(e->name) };
	return true;
}

static bool take_host(struct trace *t, const struct jl_kineto_event *e)
{
	if (begins(e->category, "cuda_") && e->correlation >= 0) {
		struct launch *l = push(&t->launches, sizeof(*l));

		if (!l)
			return false;
		*l = (struct launch){ .correlation = id_of(e->correlation),
				      .external = id_of(e->external_id),
				      .from_us = e->start_us,
				      .to_us = e->start_us + e->took_us };
	}
	for (size_t i = 0; i < JL_LEN(ops); i++)
		if (e->external_id >= 0 && strcmp(e->category, "cpu_op") == 0 && strcmp(ops[i].name, e->name) == 0) {
			struct called *c = push(&t->called, sizeof(*c));

			if (!c)
				return false;
			*c = (struct called){ id_of(e->external_id), (uint8_t)ops[i].op };
		}
	for (size_t i = 0; i < JL_LEN(marks); i++)
		if (strcmp(marks[i].category, e->category) == 0 && begins(e->name, marks[i].begins)) {
			struct span *s = push(&t->spans[marks[i].kind], sizeof(*s));

			if (!s)
				return false;
			*s = (struct span){ e->start_us, e->start_us + e->took_us };
		}
	return true;
}

static enum jl_status take(void *ctx, const struct jl_kineto_event *e, struct jl_err *err)
{
	struct trace *t = ctx;
	const bool gpu = strcmp(e->category, "kernel") == 0 || strcmp(e->category, "gpu_memcpy") == 0 ||
			 strcmp(e->category, "gpu_memset") == 0;

	if (jl_budget_spend(1))
		return jl_budget_fail(err);
	if (!(e->took_us >= 0) || !isfinite(e->start_us) || !isfinite(e->start_us + e->took_us))
		return JL_OK;
	return (gpu ? take_gpu(t, e) : take_host(t, e))
		       ? JL_OK
		       : jl_fail(err, JL_E_LIMIT, "more than %zu events: profile fewer steps", EVENTS_MAX);
}

/* ---- order */

static int by_start(const void *a, const void *b)
{
	const double x = ((const struct on_gpu *)a)->from_us, y = ((const struct on_gpu *)b)->from_us;

	return (x > y) - (x < y);
}

static int by_correlation(const void *a, const void *b)
{
	const uint32_t x = ((const struct launch *)a)->correlation, y = ((const struct launch *)b)->correlation;

	return (x > y) - (x < y);
}

static int by_external(const void *a, const void *b)
{
	const uint32_t x = ((const struct called *)a)->external, y = ((const struct called *)b)->external;

	return (x > y) - (x < y);
}

static int span_by_start(const void *a, const void *b)
{
	const double x = ((const struct span *)a)->from_us, y = ((const struct span *)b)->from_us;

	return (x > y) - (x < y);
}

static void sort(struct list *l, size_t size, int (*order)(const void *, const void *))
{
	if (l->n)
		qsort(l->data, l->n, size, order);
}

static const struct launch *launch_of(const struct trace *t, const struct on_gpu *g)
{
	const struct launch key = { .correlation = g->correlation };

	return t->launches.n ? bsearch(&key, t->launches.data, t->launches.n, sizeof(key), by_correlation) : NULL;
}

static enum op op_of(const struct trace *t, const struct launch *l)
{
	const struct called key = { .external = l ? l->external : 0 };
	const struct called *c = t->called.n && key.external
					 ? bsearch(&key, t->called.data, t->called.n, sizeof(key), by_external)
					 : NULL;

	return c ? (enum op)c->op : OP_NONE;
}

/* Spans in order, those that overlap as one: each moment belongs to one, and each gap meets few. */
static void join(struct list *l)
{
	struct span *s = l->data;
	size_t n = 0;

	sort(l, sizeof(*s), span_by_start);
	for (size_t i = 0; i < l->n; i++)
		if (n && s[i].from_us <= s[n - 1].to_us)
			s[n - 1].to_us = fmax(s[n - 1].to_us, s[i].to_us);
		else
			s[n++] = s[i];
	l->n = n;
}

/* The first span that ends behind `from_us`. */
static size_t first_span(const struct list *l, double from_us)
{
	const struct span *s = l->data;
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		const size_t middle = (lo + hi) / 2;

		if (s[middle].to_us <= from_us)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

static bool meets(const struct list *l, double from_us, double to_us)
{
	const size_t at = first_span(l, from_us);

	return at < l->n && ((const struct span *)l->data)[at].from_us < to_us;
}

/* Time that the spans of a kind share with [from, to]. */
static double shared_us(const struct list *l, double from_us, double to_us)
{
	const struct span *s = l->data;
	double sum = 0;

	for (size_t lo = first_span(l, from_us); lo < l->n && s[lo].from_us < to_us; lo++)
		sum += fmax(0, fmin(s[lo].to_us, to_us) - fmax(s[lo].from_us, from_us));
	return sum;
}

/* ---- sums */

struct sums {
	double class_us[N_CLASS], n_class[N_CLASS];
	uint16_t example[N_CLASS];
	double example_us[N_CLASS];
	double op_us[OP_DROPOUT + 1];
	double busy_us, exchange_us, overlap_us, n_kernels;
	double loader_us, optimizer_us, sync_us, launch_us, other_us; /* of gaps */
	double n_optimizer, n_sync_gaps, n_launch_gaps;
	double from_us, to_us;
	double sync_won_us; /* without its waits the host would run ahead, and launches would cost nothing until it is the slower one */
};

/* Who kept the GPU waiting. A kernel that was launched long before does not wait for the host. */
static void take_gap(struct sums *s, const struct trace *t, double from_us, const struct on_gpu *next)
{
	const double gap_us = next->from_us - from_us;
	const struct launch *l = launch_of(t, next);

	if (gap_us < GAP_LEAST)
		return;
	if (l && l->to_us + LATE_US < from_us) {
		s->other_us += gap_us;
		return;
	}
	const double to_us = l ? fmax(from_us, fmin(l->from_us, next->from_us)) : next->from_us;
	const double loader_us = shared_us(&t->spans[SPAN_LOADER], from_us, to_us);
	/* the host stood waiting when the GPU ran dry */
	const bool synced = shared_us(&t->spans[SPAN_SYNC], from_us - LATE_US, from_us + LATE_US) > LATE_US / 2;

	if (loader_us > gap_us / 2) {
		s->loader_us += gap_us;
	} else if (shared_us(&t->spans[SPAN_OPTIMIZER], from_us, next->from_us) > gap_us / 2) {
		s->optimizer_us += gap_us;
	} else if (synced) {
		s->sync_us += gap_us;
		s->n_sync_gaps++;
	} else {
		s->launch_us += gap_us;
		s->n_launch_gaps++;
	}
}

static void sum_gpu(struct sums *s, struct trace *t)
{
	const struct on_gpu *g = t->gpu.data;
	double end_us = g[0].from_us, exchange_end_us = -INFINITY, compute_end_us = -INFINITY;

	s->from_us = g[0].from_us;
	for (size_t i = 0; i < t->gpu.n; i++) {
		const double took_us = g[i].to_us - g[i].from_us;
		const struct launch *l = launch_of(t, &g[i]);
		enum class is = (enum class)g[i].is;
		const enum op op = op_of(t, l);

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
		s->n_optimizer += l && meets(&t->spans[SPAN_OPTIMIZER], l->from_us, l->to_us) && is != K_MULTI_TENSOR;
		if (g[i].from_us > end_us)
			take_gap(s, t, end_us, &g[i]);
		/* exchange beside computing costs nothing */
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

static void weigh_syncs(struct sums *s, const struct list *waits)
{
	const struct span *w = waits->data;
	const double span_us = s->to_us - s->from_us;
	double waited_us = 0, end_us = s->from_us;

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
	double (*won_us)(const struct sums *s);
	double (*count)(const struct sums *s); /* NULL: of the class */
	int is;                                /* class whose example is shown; -1: none */
};

#define RATE(NAME, BODY)                                                                                               \
	static double NAME(const struct sums *s)                                                                       \
	{                                                                                                              \
		return BODY;                                                                                           \
	}
RATE(won_fp32, 0.85 * s->class_us[K_PRODUCT_FP32])       /* tensor cores are eight times as fast and more */
RATE(won_attention, 0.8 * s->class_us[K_ATTENTION_FP32]) /* likewise, less what stays */
RATE(won_odd, 0.7 * s->class_us[K_PRODUCT_ODD])          /* 126 instead of 600 TFLOP/s measured on an H200 */
RATE(won_eager, s->op_us[OP_SOFTMAX] > 0 && s->op_us[OP_BATCHED] > 0
			? 0.75 * (s->op_us[OP_SOFTMAX] + s->op_us[OP_MASK] + s->op_us[OP_BATCHED])
			: 0)
RATE(won_layout, s->class_us[K_LAYOUT] > 0 ? s->class_us[K_LAYOUT] + 0.5 * s->class_us[K_NORM_NCHW] : 0)
RATE(won_dropout, 0.9 * s->class_us[K_DROPOUT])
RATE(won_casts, 0.9 * s->class_us[K_CAST])
RATE(won_pageable, 0.9 * s->class_us[K_PAGEABLE])
RATE(won_loader, s->loader_us)
RATE(won_optimizer, s->n_optimizer > TENSORS_LEAST ? 0.95 * s->optimizer_us : 0)
RATE(won_sync, s->sync_won_us)
RATE(won_launch, s->launch_us - (s->sync_won_us - s->sync_us) + (s->n_optimizer > TENSORS_LEAST ? 0 : s->optimizer_us))
RATE(won_exchange, fmax(0, s->exchange_us - s->overlap_us))
RATE(n_eager, s->n_class[K_SOFTMAX])
RATE(n_layout, s->n_class[K_LAYOUT])
RATE(n_optimizer, s->n_optimizer)
RATE(n_sync, s->n_sync_gaps)
RATE(n_launch, s->n_launch_gaps)
RATE(n_none, s ? NAN : 0)

static const struct rule rules[] = {
	{ "fp32_products", JL_N("matrix products in fp32, without tensor cores: %.0f a step"),
	  JL_N("torch.set_float32_matmul_precision('high'), or autocast to bf16"), won_fp32, NULL, K_PRODUCT_FP32 },
	{ "fp32_attention", JL_N("attention in fp32: %.0f kernels a step"),
	  JL_N("give scaled_dot_product_attention q, k and v in bf16: no .float() in front of it"), won_attention, NULL,
	  K_ATTENTION_FP32 },
	{ "odd_widths", JL_N("products whose width is no multiple of 8: %.0f a step"),
	  JL_N("pad the vocabulary (or that layer) to a multiple of 64: 50257 to 50304"), won_odd, NULL,
	  K_PRODUCT_ODD },
	{ "unfused_attention", JL_N("attention in separate kernels: %.0f softmaxes a step"),
	  JL_N("scaled_dot_product_attention, or attn_implementation=\"sdpa\"; a mask as is_causal=True"), won_eager,
	  n_eager, K_SOFTMAX },
	{ "layout", JL_N("pictures are turned from channels first to last and back: %.0f times a step"),
	  JL_N("model and input .to(memory_format=torch.channels_last)"), won_layout, n_layout, K_LAYOUT },
	{ "dropout", JL_N("dropout in kernels of its own: %.0f a step"),
	  JL_N("p=0 where the data is not repeated, or torch.compile, which fuses it"), won_dropout, NULL, K_DROPOUT },
	{ "casts", JL_N("casts between formats: %.0f a step"),
	  JL_N("weights in bf16 instead of casting them in every pass; autocast around all micro-batches keeps its "
	       "casts"),
	  won_casts, NULL, K_CAST },
	{ "pageable_copies", JL_N("copies from pageable host memory: %.0f a step; the host waits for each"),
	  JL_N("DataLoader(pin_memory=True) and .to(device, non_blocking=True)"), won_pageable, NULL, K_PAGEABLE },
	{ "slow_loader", JL_N("the GPU waits for the data loader"),
	  JL_N("num_workers above 0, prefetch_factor, persistent_workers=True; tokenize beforehand"), won_loader,
	  n_none, -1 },
	{ "unfused_optimizer", JL_N("the optimizer launches %.0f kernels a step, one by one"),
	  JL_N("AdamW(..., fused=True), or foreach=True"), won_optimizer, n_optimizer, -1 },
	{ "syncs", JL_N("the host waits for the GPU %.0f times a step"),
	  JL_N(".item(), .cpu(), print and if on tensors inside the step: keep figures on the GPU, read them every 100 "
	       "steps"),
	  won_sync, n_sync, -1 },
	{ "host_bound", JL_N("the GPU waits for the host to launch kernels: %.0f gaps a step"),
	  JL_N("larger batches; torch.compile(mode=\"reduce-overhead\") (CUDA graphs); loops over heads or layers as "
	       "one "
	       "operation. The profiler itself slows the host"),
	  won_launch, n_launch, -1 },
	{ "exposed_exchange", JL_N("exchange that nothing hides"),
	  JL_N("overlap (DDP buckets, FSDP prefetch), larger batches or accumulation; jeoul check allreduce: is it as "
	       "fast as "
	       "it should be?"),
	  won_exchange, n_none, K_EXCHANGE },
};

static int by_won(const void *a, const void *b)
{
	const double x = ((const struct jl_trace_finding *)a)->won_s, y = ((const struct jl_trace_finding *)b)->won_s;

	return (x < y) - (x > y);
}

static void find_all(struct jl_trace_view *v, const struct sums *s, const struct trace *t)
{
	for (size_t i = 0; i < JL_LEN(rules); i++) {
		const double won_s = fmin(1e-6 * rules[i].won_us(s) / v->n_steps, v->step_s);
		struct jl_trace_finding *f = &v->findings[v->n_findings];

		if (!(won_s >= JL_TRACE_LEAST_FRAC * v->step_s))
			continue;
		*f = (struct jl_trace_finding){ .key = rules[i].key, .won_s = won_s, .won_frac = won_s / v->step_s };
		f->n_per_step = (rules[i].count ? rules[i].count(s) : s->n_class[rules[i].is]) / v->n_steps;
		if (rules[i].is >= 0)
			(void)snprintf(f->example, sizeof(f->example), "%s", t->names[s->example[rules[i].is]].name);
		jl_say(f->what.en, f->what.text, sizeof(f->what.en), rules[i].what, f->n_per_step);
		jl_say(f->todo.en, f->todo.text, sizeof(f->todo.en), "{%s}", rules[i].todo);
		v->n_findings++;
	}
	qsort(v->findings, v->n_findings, sizeof(*v->findings), by_won);
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
	struct sums s = { .from_us = 0 };

	sort(&t->gpu, sizeof(struct on_gpu), by_start);
	sort(&t->launches, sizeof(struct launch), by_correlation);
	sort(&t->called, sizeof(struct called), by_external);
	/* each step is marked on the host and, in some versions, on the GPU's timeline: those on the host count */
	v->n_steps = t->spans[SPAN_STEP].n ? (double)t->spans[SPAN_STEP].n : 1;
	for (size_t i = 0; i < N_SPAN; i++)
		join(&t->spans[i]);
	sum_gpu(&s, t);
	weigh_syncs(&s, &t->spans[SPAN_SYNC]);
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
	JL_THEN(status, jl_kineto_read(path, v.gpu, sizeof(v.gpu), take, t, err));
	if (!status && !t->gpu.n)
		status = jl_fail(err, JL_E_DATA,
				 "%s: no kernels of a GPU in it: profile with ProfilerActivity.CUDA, and export inside "
				 "on_trace_ready where a schedule is used",
				 path);
	if (!status) {
		make_view(&v, t);
		*ret_view = v;
	}
	if (t) {
		jl_free(t->gpu.data);
		jl_free(t->launches.data);
		jl_free(t->called.data);
		for (size_t i = 0; i < N_SPAN; i++)
			jl_free(t->spans[i].data);
	}
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

static const struct jl_field view[] = {
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
