/* Converts benchmark results to records. */
#include "bench/records.h"

#include <string.h>

#include "bench/pattern.h"

struct jl_stats jl_bench_rate(const struct jl_bench_result *r, double work)
{
	double sorted[JL_BENCH_SAMPLES_MAX];
	const size_t n = r->n_samples - r->n_unsteady;

	memcpy(sorted, r->samples_s + r->n_unsteady, n * sizeof(*sorted));
	jl_stats_sort(sorted, n);
	struct jl_stats rate = jl_stats_rate(&r->time_s, work);
	rate.n = n;
	rate.p95 = work / jl_stats_quantile(sorted, n, 0.05);
	return rate;
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
	case JL_BENCH_READ:
	case JL_BENCH_WRITE: return "storage";
	case JL_BENCH_COLL:
	case JL_N_BENCH_KIND: break;
	}
	return jl_coll_name(task->coll);
}

static void add_params(struct jl_draft *p, const struct jl_bench_result *r, const struct jl_bench_backend *backend)
{
	const struct jl_bench_task *task = &r->task;
	const bool on_gpu = strcmp(backend->name, "cuda") == 0 || strcmp(backend->name, "hip") == 0;

	switch (task->kind) {
	case JL_BENCH_GEMM:
		jl_draft_text(p, "dtype", jl_dtype_name(task->dtype));
		jl_draft_number(p, "m", (double)task->m);
		jl_draft_number(p, "n", (double)task->n);
		jl_draft_number(p, "k", (double)task->k);
		break;
	case JL_BENCH_COLL:
		jl_draft_number(p, "size_B", (double)task->size_B);
		jl_draft_number(p, "count", (double)jl_pattern_count(task, r->n_ranks));
		jl_draft_text(p, "dtype", jl_comm_type_name(task->type));
		jl_draft_text(p, "redop", jl_coll_reduces(task->coll) ? jl_redop_name(task->op) : "none");
		jl_draft_number(p, "root", jl_coll_shapes[task->coll].rooted ? task->root : -1);
		jl_draft_number(p, "n_ranks", r->n_ranks);
		jl_draft_number(p, "in_place", task->in_place);
		break;
	case JL_BENCH_TRIAD:
	case JL_BENCH_COPY:
	case JL_BENCH_H2D:
	case JL_BENCH_D2H:
	case JL_BENCH_D2D:
	case JL_BENCH_READ:
	case JL_BENCH_WRITE:
	case JL_N_BENCH_KIND:
		jl_draft_text(p, "test", jl_bench_kind_name(task->kind));
		jl_draft_number(p, "size_B", (double)task->size_B);
		if (task->kind == JL_BENCH_H2D || task->kind == JL_BENCH_D2H)
			jl_draft_number(p, "pinned", task->pinned);
		if (task->kind == JL_BENCH_D2D)
			jl_draft_number(p, "peer", task->peer);
		jl_draft_text(p, "disk", task->disk);
		jl_draft_text(p, "dir", task->disk[0] ? NULL : task->dir);
		break;
	}
	if (on_gpu)
		jl_draft_number(p, "device", task->device);
	else if (task->kind != JL_BENCH_COLL && !task->dir)
		jl_draft_number(p, "n_threads", task->n_threads);
	jl_draft_number(p, "n_warmup", (double)r->n_warmup);
	jl_draft_number(p, "n_unsteady", (double)r->n_unsteady);
	jl_draft_number(p, "n_outliers", (double)r->n_outliers);
	if (r->checked)
		jl_draft_number(p, "n_wrong", r->n_wrong);
}

static void add_metrics(struct jl_draft *d, const struct jl_bench_result *r)
{
	static const char *const rates[JL_N_BENCH_KIND] = {
		[JL_BENCH_GEMM] = "gemm_flopps", [JL_BENCH_TRIAD] = "mem_Bps",    [JL_BENCH_COPY] = "mem_Bps",
		[JL_BENCH_H2D] = "link_Bps",     [JL_BENCH_D2H] = "link_Bps",     [JL_BENCH_D2D] = "link_Bps",
		[JL_BENCH_COLL] = "algbw_Bps",   [JL_BENCH_READ] = "storage_Bps", [JL_BENCH_WRITE] = "storage_Bps",
	};
	const double work = jl_bench_work(&r->task);
	const struct jl_stats rate = jl_bench_rate(r, work),
			      bus = jl_bench_rate(r, work * jl_coll_bus_factor(r->task.coll, r->n_ranks));

	jl_draft_summary(d, rates[r->task.kind], false, &rate);
	if (r->task.kind == JL_BENCH_COLL && r->n_ranks > 1)
		jl_draft_summary(d, "busbw_Bps", false, &bus);
	jl_draft_summary(d, "time_s", true, &r->time_s);
}

struct jl_record jl_bench_record(struct jl_draft *draft, const struct jl_bench_result *r,
				 const struct jl_bench_backend *backend)
{
	jl_draft_begin(draft, kind_of(&r->task), backend->name, 0, NULL);
	draft->samples_s = r->samples_s;
	draft->n_samples = r->n_samples;
	add_params(draft, r, backend);
	add_metrics(draft, r);
	struct jl_record record = jl_draft_record(draft);
	record.noise = r->noise;
	record.noise.why = r->why[0] ? r->why : NULL;
	record.noise.neighbour = r->neighbour[0] ? r->neighbour : NULL;
	return record;
}
