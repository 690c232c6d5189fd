#include "train/records.h"

#include <math.h>
#include <string.h>

#define N_PARAMS  12
#define N_METRICS 32

double jl_train_gemm_frac(const struct jl_train_result *r)
{
	return r->rates.gemm_flopps > 0 ? r->flop / r->step_s.median / r->rates.gemm_flopps : NAN;
}

double jl_train_gemm_cpu_frac(const struct jl_train_result *r, const struct jl_train_run *run)
{
	if (strcmp(run->kernels->name, "cpu") != 0 || !(r->rates.flop_per_cpu_s > 0))
		return NAN;
	return r->flop / r->cpu_s / r->rates.flop_per_cpu_s;
}

static struct jl_summary one(double value)
{
	return (struct jl_summary){ .n = 1,
				    .median = value,
				    .mean = value,
				    .min = value,
				    .max = value,
				    .p95 = value,
				    .lo95 = value,
				    .hi95 = value };
}

static struct jl_summary rate(const struct jl_train_result *r, double n_samples)
{
	const struct jl_stats *s = &r->step_s;
	return (struct jl_summary){ .n = s->n,
				    .median = n_samples / s->median,
				    .mean = n_samples / s->mean,
				    .min = n_samples / s->max,
				    .max = n_samples / s->min,
				    .p95 = n_samples / s->min, /* of few samples: the best */
				    .lo95 = n_samples / s->hi95,
				    .hi95 = n_samples / s->lo95 };
}

static size_t add_params(struct jl_record_item *p, const struct jl_train_result *r, const struct jl_train_run *run)
{
	size_t n = 0;
	p[n++] = (struct jl_record_item){ .key = "model", .text = run->model->id, .number = NAN };
	p[n++] = (struct jl_record_item){ .key = "mode", .text = jl_train_mode_names[r->config.mode], .number = NAN };
	p[n++] = (struct jl_record_item){ .key = "precision",
					  .text = jl_train_precision_names[run->precision],
					  .number = NAN };
	p[n++] = (struct jl_record_item){ .key = "n_workers", .number = r->config.n_workers };
	p[n++] = (struct jl_record_item){ .key = "batch", .number = (double)run->batch };
	p[n++] = (struct jl_record_item){ .key = "seq", .number = (double)run->seq };
	p[n++] = (struct jl_record_item){ .key = "accumulate", .number = (double)run->n_micro };
	p[n++] = (struct jl_record_item){ .key = "n_threads", .number = r->n_threads };
	p[n++] = (struct jl_record_item){ .key = "tokens", .text = run->tokens ? "file" : "synthetic", .number = NAN };
	return n;
}

/* Where the step's time went, and the rates that the prediction is built on. */
static size_t add_parts(struct jl_record_metric *m, const struct jl_train_result *r)
{
	const struct {
		const char *name;
		double value;
		bool is_rate;
	} parts[] = {
		{ "forward_s", r->forward_s, false },
		{ "head_s", r->head_s, false },
		{ "backward_s", r->backward_s, false },
		{ "update_s", r->update_s, false },
		{ "gemm_flopps", r->rates.gemm_flopps, true },
		{ "copy_Bps", r->rates.mem_Bps, true },
		{ "allreduce_Bps", r->rates.allreduce_Bps, true },
	};
	size_t n = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (isfinite(parts[i].value) && parts[i].value > 0)
			m[n++] = (struct jl_record_metric){ .name = parts[i].name,
							    .less_is_better = !parts[i].is_rate,
							    .value = one(parts[i].value) };
	return n;
}

static size_t add_metrics(struct jl_record_metric *m, const struct jl_train_result *r, const struct jl_train_run *run)
{
	double n_samples = (double)(run->batch * run->n_micro) * r->config.n_workers, frac = jl_train_gemm_frac(r),
	       cpu_frac = jl_train_gemm_cpu_frac(r, run);
	size_t n = 0;
	m[n++] = (struct jl_record_metric){ .name = "samples_per_s", .value = rate(r, n_samples) };
	m[n++] = (struct jl_record_metric){ .name = "step_s",
					    .less_is_better = true,
					    .value = jl_bench_summary(&r->step_s) };
	m[n++] = (struct jl_record_metric){ .name = "exposed_s", .less_is_better = true, .value = one(r->exposed_s) };
	m[n++] = (struct jl_record_metric){ .name = "mem_B", .less_is_better = true, .value = one(r->mem_B) };
	m[n++] = (struct jl_record_metric){ .name = "loss", .less_is_better = true, .value = one(r->loss_last) };
	m[n++] = (struct jl_record_metric){ .name = "cpu_s", .less_is_better = true, .value = one(r->cpu_s) };
	if (isfinite(cpu_frac))
		m[n++] = (struct jl_record_metric){ .name = "gemm_cpu_frac", .value = one(cpu_frac) };
	if (isfinite(frac))
		m[n++] = (struct jl_record_metric){ .name = "gemm_frac", .value = one(frac) };
	if (isfinite(r->energy_J))
		m[n++] = (struct jl_record_metric){ .name = "energy_J",
						    .less_is_better = true,
						    .value = one(r->energy_J) };
	if (isfinite(r->energy_J))
		m[n++] = (struct jl_record_metric){ .name = "energy_per_sample_J",
						    .less_is_better = true,
						    .value = one(r->energy_J / n_samples) };
	if (isfinite(r->predicted_s.value)) {
		struct jl_summary predicted = one(n_samples / r->predicted_s.value);
		predicted.min = predicted.lo95 = n_samples / r->predicted_s.hi;
		predicted.max = predicted.hi95 = predicted.p95 = n_samples / r->predicted_s.lo;
		m[n++] = (struct jl_record_metric){ .name = "predicted_samples_per_s", .value = predicted };
	}
	return n + add_parts(m + n, r);
}

enum jl_status jl_train_record(const struct jl_train_result *r, const struct jl_train_run *run,
			       const struct jl_bench_where *where, struct jl_arena *arena, struct jl_record *ret_record,
			       struct jl_err *err)
{
	struct jl_record_item *params = jl_arena_array(arena, N_PARAMS, sizeof *params);
	struct jl_record_metric *metrics = jl_arena_array(arena, N_METRICS, sizeof *metrics);
	char *id = jl_arena_alloc(arena, JL_RECORD_ID_LEN + 1);
	JL_TRY(jl_got(params && metrics && id, err));
	struct jl_record record = { .id = id,
				    .time_s = jl_record_now_s(),
				    .kind = "train",
				    .backend = run->kernels->name,
				    .origin = "measured",
				    .machine = where->machine,
				    .machine_name = where->machine_name,
				    .run = where->run,
				    .note = where->note,
				    .params = params,
				    .metrics = metrics,
				    .samples_s = r->samples_s,
				    .n_samples = r->n_samples,
				    .noise = r->noise };
	JL_TRY(jl_record_new_id(id, err));
	JL_TRY(jl_bench_versions(where, r->versions, arena, &record, err));
	record.noise.why = r->noise.noisy ? r->noise_why : NULL;
	record.n_params = add_params(params, r, run);
	record.n_metrics = add_metrics(metrics, r, run);
	*ret_record = record;
	return JL_OK;
}
