#include "bench/records.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench/pattern.h"

#define ITEMS_MAX 16

struct list {
	struct jl_record_item *items;
	size_t n;
};

static void add_number(struct list *list, const char *key, double number)
{
	if (list->n < ITEMS_MAX)
		list->items[list->n++] = (struct jl_record_item){ .key = key, .number = number };
}

static void add_text(struct list *list, const char *key, const char *text)
{
	if (list->n < ITEMS_MAX && text)
		list->items[list->n++] = (struct jl_record_item){ .key = key, .text = text, .number = NAN };
}

struct jl_summary jl_bench_summary(const struct jl_stats *s)
{
	return (struct jl_summary){ .n = s->n,
				    .median = s->median,
				    .mean = s->mean,
				    .min = s->min,
				    .max = s->max,
				    .p95 = s->p95,
				    .lo95 = s->lo95,
				    .hi95 = s->hi95 };
}

struct jl_summary jl_bench_rate(const struct jl_bench_result *r, double work)
{
	double sorted[JL_BENCH_SAMPLES_MAX];
	const size_t n = r->n_samples - r->n_unsteady;

	memcpy(sorted, r->samples_s + r->n_unsteady, n * sizeof(*sorted));
	jl_stats_sort(sorted, n);
	return (struct jl_summary){ .n = n,
				    .median = work / r->time_s.median,
				    .mean = work / r->time_s.mean,
				    .min = work / r->time_s.max,
				    .max = work / r->time_s.min,
				    .p95 = work / jl_stats_quantile(sorted, n, 0.05),
				    .lo95 = work / r->time_s.hi95,
				    .hi95 = work / r->time_s.lo95 };
}

static const char *kind_of(const struct jl_bench_task *task)
{
	switch (task->kind) {
	case JL_BENCH_GEMM: return "gemm";
	case JL_BENCH_TRIAD:
	case JL_BENCH_COPY: return "memory";
	case JL_BENCH_H2D:
	case JL_BENCH_D2H:
	case JL_BENCH_D2D: return "link";
	case JL_BENCH_COLL:
	case JL_N_BENCH_KIND: break;
	}
	return jl_coll_name(task->coll);
}

static void add_params(struct list *p, const struct jl_bench_result *r, const struct jl_bench_backend *backend)
{
	const struct jl_bench_task *task = &r->task;
	const bool on_gpu = strcmp(backend->name, "cuda") == 0;

	switch (task->kind) {
	case JL_BENCH_GEMM:
		add_text(p, "dtype", jl_dtype_name(task->dtype));
		add_number(p, "m", (double)task->m);
		add_number(p, "n", (double)task->n);
		add_number(p, "k", (double)task->k);
		break;
	case JL_BENCH_COLL:
		add_number(p, "size_B", (double)task->size_B);
		add_number(p, "count", (double)jl_pattern_count(task, r->n_ranks));
		add_text(p, "dtype", jl_comm_type_name(task->type));
		add_text(p, "redop", jl_coll_reduces(task->coll) ? jl_redop_name(task->op) : "none");
		add_number(p, "root", jl_coll_shapes[task->coll].rooted ? task->root : -1);
		add_number(p, "n_ranks", r->n_ranks);
		add_number(p, "in_place", task->in_place);
		break;
	case JL_BENCH_TRIAD:
	case JL_BENCH_COPY:
	case JL_BENCH_H2D:
	case JL_BENCH_D2H:
	case JL_BENCH_D2D:
	case JL_N_BENCH_KIND:
		add_text(p, "test", jl_bench_kind_name(task->kind));
		add_number(p, "size_B", (double)task->size_B);
		if (task->kind == JL_BENCH_H2D || task->kind == JL_BENCH_D2H)
			add_number(p, "pinned", task->pinned);
		if (task->kind == JL_BENCH_D2D)
			add_number(p, "peer", task->peer);
		break;
	}
	if (on_gpu)
		add_number(p, "device", task->device);
	else if (task->kind != JL_BENCH_COLL)
		add_number(p, "n_threads", task->n_threads);
	add_number(p, "n_warmup", (double)r->n_warmup);
	add_number(p, "n_unsteady", (double)r->n_unsteady);
	add_number(p, "n_outliers", (double)r->n_outliers);
	if (r->checked)
		add_number(p, "n_wrong", r->n_wrong);
}

static size_t add_metrics(struct jl_record_metric *m, const struct jl_bench_result *r)
{
	static const char *const rates[JL_N_BENCH_KIND] = {
		[JL_BENCH_GEMM] = "gemm_flopps", [JL_BENCH_TRIAD] = "mem_Bps", [JL_BENCH_COPY] = "mem_Bps",
		[JL_BENCH_H2D] = "link_Bps",     [JL_BENCH_D2H] = "link_Bps",  [JL_BENCH_D2D] = "link_Bps",
		[JL_BENCH_COLL] = "algbw_Bps",
	};
	const double work = jl_bench_work(&r->task);
	size_t n = 0;

	m[n++] = (struct jl_record_metric){ .name = rates[r->task.kind], .value = jl_bench_rate(r, work) };
	if (r->task.kind == JL_BENCH_COLL && r->n_ranks > 1)
		m[n++] = (struct jl_record_metric){ .name = "busbw_Bps",
						    .value = jl_bench_rate(
							    r, work * jl_coll_bus_factor(r->task.coll, r->n_ranks)) };
	m[n++] = (struct jl_record_metric){ .name = "time_s",
					    .less_is_better = true,
					    .value = jl_bench_summary(&r->time_s) };
	return n;
}

enum jl_status jl_bench_versions(const struct jl_bench_where *where, const char *more, struct jl_arena *arena,
				 struct jl_record *record, struct jl_err *err)
{
	struct list v = { .items = jl_arena_array(arena, ITEMS_MAX, sizeof(*v.items)) };
	struct utsname os;

	JL_TRY(jl_got(v.items, err));
	add_text(&v, "jeoul", where->version);
	if (uname(&os) == 0)
		add_text(&v, "kernel", jl_arena_strdup(arena, os.release));
	add_text(&v, "mpi", where->mpi_version);
	for (const char *at = more; at && *at;) {
		const size_t len = strcspn(at, " ,;"), key = strcspn(at, "=");

		if (key && key < len)
			add_text(&v, jl_arena_strndup(arena, at, key),
				 jl_arena_strndup(arena, at + key + 1, len - key - 1));
		at += len;
		at += strspn(at, " ,;");
	}
	for (size_t i = 0; i < v.n; i++)
		if (!v.items[i].key)
			return jl_fail_nomem(err);
	record->versions = v.items;
	record->n_versions = v.n;
	return JL_OK;
}

enum jl_status jl_bench_record(const struct jl_bench_result *r, const struct jl_bench_backend *backend,
			       const struct jl_bench_where *where, struct jl_arena *arena, struct jl_record *ret_record,
			       struct jl_err *err)
{
	struct jl_record record = { .time_s = jl_record_now_s(),
				    .kind = kind_of(&r->task),
				    .backend = backend->name,
				    .origin = "measured",
				    .machine = where->machine,
				    .machine_name = where->machine_name,
				    .run = where->run,
				    .note = where->note,
				    .samples_s = r->samples_s,
				    .n_samples = r->n_samples,
				    .noise = r->noise };
	struct list params = { .items = jl_arena_array(arena, ITEMS_MAX, sizeof(*params.items)) };
	struct jl_record_metric *metrics = jl_arena_array(arena, 4, sizeof(*metrics));
	char *id = jl_arena_alloc(arena, JL_RECORD_ID_LEN + 1);

	JL_TRY(jl_got(params.items && metrics && id, err));
	JL_TRY(jl_record_new_id(id, err));
	JL_TRY(jl_bench_versions(where, backend->versions ? backend->versions() : NULL, arena, &record, err));
	record.noise.why = r->why[0] ? r->why : NULL;
	add_params(&params, r, backend);
	record.id = id;
	record.params = params.items;
	record.n_params = params.n;
	record.metrics = metrics;
	record.n_metrics = add_metrics(metrics, r);
	*ret_record = record;
	return JL_OK;
}
