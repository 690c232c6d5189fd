/* Converts results of the training benchmark to records of the store. */
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
	const bool answers = run->answer > 0;
	jl_draft_text(d, "model", run->model->id);
	jl_draft_text(d, "mode", answers ? NULL : jl_train_mode_names[r->config.mode]);
	jl_draft_text(d, "precision", jl_train_precision_names[run->precision]);
	jl_draft_text(d, "weights", run->int8 ? "int8" : NULL);
	if (!answers)
		jl_draft_number(d, "n_workers", r->config.n_workers);
	jl_draft_number(d, "batch", (double)(answers ? r->config.batch : run->batch));
	jl_draft_number(d, answers ? "prompt" : "seq", (double)run->seq);
	jl_draft_number(d, answers ? "answer" : "accumulate", (double)(answers ? run->answer : run->n_micro));
	jl_draft_text(d, "recompute", run->recompute ? "full" : NULL);
	jl_draft_number(d, "n_threads", r->n_threads);
	jl_draft_text(d, "tokens", answers ? NULL : run->tokens ? "file" : "synthetic");
}

/* Adds a value to the record, including 0; skips NAN. */
static void add_figure(struct jl_draft *d, const char *name, bool less_is_better, double value)
{
	struct jl_stats one = jl_stats_one(value);
	jl_draft_summary(d, name, less_is_better, &one);
}

/* Adds a predicted time, or the rate work / time where work > 0. */
static void add_predicted(struct jl_draft *d, const char *name, const struct jl_estimate *s, double work)
{
	struct jl_stats all = jl_stats_one(work > 0 ? work / s->value : s->value);
	all.min = all.lo95 = work > 0 ? work / s->hi : s->lo;
	all.max = all.hi95 = all.p95 = work > 0 ? work / s->lo : s->hi;
	jl_draft_summary(d, name, !(work > 0), &all);
}

static void add_answers(struct jl_draft *d, const struct jl_train_result *r)
{
	struct jl_stats rate = jl_stats_rate(&r->step_s, (double)r->config.batch);
	jl_draft_summary(d, "tokens_per_s", false, &rate);
	jl_draft_summary(d, "ttft_s", true, &r->first_s);
	jl_draft_summary(d, "tpot_s", true, &r->step_s);
	add_figure(d, "tpot_p90_s", true, r->step_p90_s);
	add_figure(d, "mem_B", true, r->mem_B);
	add_figure(d, "bandwidth_frac", false, r->bandwidth_frac);
	add_predicted(d, "predicted_ttft_s", &r->first_predicted_s, 0);
	add_predicted(d, "predicted_tpot_s", &r->predicted_s, 0);
}

static void add_metrics(struct jl_draft *d, const struct jl_train_result *r, const struct jl_train_run *run)
{
	double n_samples = (double)(run->batch * run->n_micro) * r->config.n_workers;
	struct jl_stats rate = jl_stats_rate(&r->step_s, n_samples);
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
	add_predicted(d, "predicted_samples_per_s", &r->predicted_s, n_samples);
}

/* Adds the phases of the step, and the measured rates that the prediction uses. */
static void add_parts(struct jl_draft *d, const struct jl_train_result *r)
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
	for (size_t i = 0; i < JL_LEN(parts); i++)
		if (parts[i].value > 0)
			add_figure(d, parts[i].name, !parts[i].is_rate, parts[i].value);
}

struct jl_record jl_train_record(struct jl_draft *draft, const struct jl_train_result *r,
				 const struct jl_train_run *run)
{
	jl_draft_begin(draft, run->answer ? "infer" : "train", run->kernels->name, 0, NULL);
	draft->samples_s = r->samples_s;
	draft->n_samples = r->n_samples;
	add_params(draft, r, run);
	if (run->answer)
		add_answers(draft, r);
	else
		add_metrics(draft, r, run);
	add_parts(draft, r);
	struct jl_record record = jl_draft_record(draft);
	record.noise = r->noise;
	record.noise.why = r->noise.noisy ? r->noise_why : NULL;
	return record;
}
