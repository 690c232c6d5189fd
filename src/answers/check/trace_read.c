#include "check/trace_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/mem.h"
#include "import/kineto.h"

#define EVENTS_MAX ((size_t)16 << 20)

/* First row whose words all occur in a kernel's name. */
static const struct {
	enum kernel_class is;
	const char *has, *and_has, *but;
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

static enum kernel_class class_of(const char *name)
{
	for (size_t i = 0; i < JL_LEN(classes); i++)
		if (strstr(name, classes[i].has) && strstr(name, classes[i].and_has) &&
		    !(classes[i].but && strstr(name, classes[i].but)))
			return classes[i].is;
	return K_OTHER;
}

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
		if (t->n_names == JL_TRACE_NAMES_MAX)
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

static int by_time(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort(struct list *l, size_t size, int (*order)(const void *, const void *))
{
	if (l->n)
		qsort(l->data, l->n, size, order);
}

/* Sorts spans and merges overlapping ones, so that each moment belongs to at most one. */
static void join(struct list *l)
{
	struct span *s = l->data;
	size_t n = 0;

	sort(l, sizeof(*s), by_time);
	for (size_t i = 0; i < l->n; i++)
		if (n && s[i].from_us <= s[n - 1].to_us)
			s[n - 1].to_us = fmax(s[n - 1].to_us, s[i].to_us);
		else
			s[n++] = s[i];
	l->n = n;
}

enum jl_status jl_trace_read(struct trace *io_trace, const char *path, char *ret_gpu, size_t gpu_size,
			     struct jl_err *err)
{
	struct trace *t = io_trace;

	JL_TRY(jl_kineto_read(path, ret_gpu, gpu_size, take, t, err));
	sort(&t->gpu, sizeof(struct on_gpu), by_time);
	sort(&t->launches, sizeof(struct launch), by_number);
	sort(&t->called, sizeof(struct called), by_number);
	t->n_steps = t->spans[SPAN_STEP].n;
	for (size_t i = 0; i < N_SPAN; i++)
		join(&t->spans[i]);
	return JL_OK;
}

void jl_trace_free(struct trace *t)
{
	jl_free(t->gpu.data);
	jl_free(t->launches.data);
	jl_free(t->called.data);
	for (size_t i = 0; i < N_SPAN; i++)
		jl_free(t->spans[i].data);
}

const struct launch *jl_trace_launch(const struct trace *t, const struct on_gpu *g)
{
	const struct launch key = { .correlation = g->correlation };

	return t->launches.n ? bsearch(&key, t->launches.data, t->launches.n, sizeof(key), by_number) : NULL;
}

enum op jl_trace_op(const struct trace *t, const struct launch *l)
{
	const struct called key = { .external = l ? l->external : 0 };
	const struct called *c = t->called.n && key.external
					 ? bsearch(&key, t->called.data, t->called.n, sizeof(key), by_number)
					 : NULL;

	return c ? (enum op)c->op : OP_NONE;
}

/* First span that ends after `from_us`. */
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

bool jl_trace_meets(const struct list *l, double from_us, double to_us)
{
	const size_t at = first_span(l, from_us);

	return at < l->n && ((const struct span *)l->data)[at].from_us < to_us;
}

double jl_trace_shared_us(const struct list *l, double from_us, double to_us)
{
	const struct span *s = l->data;
	double sum = 0;

	for (size_t lo = first_span(l, from_us); lo < l->n && s[lo].from_us < to_us; lo++)
		sum += fmax(0, fmin(s[lo].to_us, to_us) - fmax(s[lo].from_us, from_us));
	return sum;
}
