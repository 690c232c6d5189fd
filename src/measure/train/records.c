#include "train/records.h"

#include <math.h>
#include <string.h>

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

static void add_params(struct jl_draft *d, const struct jl_train_result *r, const struct jl_train_run *run)
{
	jl_draft_text(d, "model", run->model->id);
	jl_draft_text(d, "mode", jl_train_mode_names[r->config.mode]);
	jl_draft_text(d, "precision", jl_train_precision_names[run->precision]);
	jl_draft_number(d, "n_workers", r->config.n_workers);
	jl_draft_number(d, "batch", (double)run->batch);
	jl_draft_number(d, "seq", (double)run->seq);
	jl_draft_number(d, "accumulate", (double)run->n_micro);
	jl_draft_number(d, "n_threads", r->n_threads);
	jl_draft_text(d, "tokens", run->tokens ? "file" : "synthetic");
}

/* Also 0, which nothing to wait for is; what is not known (NAN) is left out. */
static void add_figure(struct jl_draft *d, const char *name, bool less_is_better, double value)
{
	struct jl_stats one = jl_stats_one(value);
	jl_draft_summary(d, name, less_is_better, &one);
}

static void add_metrics(struct jl_draft *d, const struct jl_train_result *r, const struct jl_train_run *run)
{
	double n_samples = (double)(run->batch * run->n_micro) * r->config.n_workers;
	struct jl_stats rate = jl_stats_rate(&r->step_s, n_samples),
			predicted = jl_stats_one(n_samples / r->predicted_s.value);
	predicted.min = predicted.lo95 = n_samples / r->predicted_s.hi;
	predicted.max = predicted.hi95 = predicted.p95 = n_samples / r->predicted_s.lo;
	jl_draft_summary(d, "samples_per_s", false, &rate);
	jl_draft_summary(d, "step_s", true, &r->step_s);
	add_figure(d, "exposed_s", true, r->exposed_s);
	add_figure(d, "mem_B", true, r->mem_B);
	add_figure(d, "loss", true, r->loss_last);
	add_figure(d, "cpu_s", true, r->cpu_s);
	add_figure(d, "gemm_cpu_frac", false, jl_train_gemm_cpu_frac(r, run));
	add_figure(d, "gemm_frac", false, jl_train_gemm_frac(r));
	add_figure(d, "energy_J", true, r->energy_J);
	add_figure(d, "energy_per_sample_J", true, r->energy_J / n_samples);
	jl_draft_summary(d, "predicted_samples_per_s", false, &predicted);
	/* where the step's time went, and the rates that the prediction is built on */
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
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].value > 0)
			add_figure(d, parts[i].name, !parts[i].is_rate, parts[i].value);
}

struct jl_record jl_train_record(struct jl_draft *draft, const struct jl_train_result *r,
				 const struct jl_train_run *run)
{
	jl_draft_begin(draft, "train", run->kernels->name, 0, NULL);
	draft->samples_s = r->samples_s;
	draft->n_samples = r->n_samples;
	add_params(draft, r, run);
	add_metrics(draft, r, run);
	struct jl_record record = jl_draft_record(draft);
	record.noise = r->noise;
	record.noise.why = r->noise.noisy ? r->noise_why : NULL;
	return record;
}
