/* One worker of one configuration: checks the memory, measures the machine's rates, trains, reports. All workers run this in step. */
#include "train/worker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "bench/noise.h"

#define MEMORY_SLACK_FRAC 0.02 /* share of free memory kept for the rest of the process and for page tables */
#define ENERGY_LEAST_S    0.5  /* minimum duration of the measured steps for an energy figure */

struct worker {
	const struct jl_train_job *job;
	struct jl_comm *processes, *data; /* NULL: single worker */
	struct jl_train_shared *shared;
	int rank, n_ranks, n_local;
	struct jl_train_shape shape;
	struct jl_trainer_in setting;
	struct jl_engine *engine;
	struct jl_trainer *train;
	int32_t *tokens, *targets;
	struct jl_train_result *result; /* this worker's; rank 0's is reported */
	double sums[5];                 /* seconds per phase */
	double cpu_s;                   /* all measured steps */
	double mark_s;                  /* end of the last step */
};

/* --- memory */

static double need_B(struct worker *w, enum jl_train_mode mode, size_t n_samples)
{
	struct jl_trainer_in in = w->setting;
	in.mode = mode;
	in.n_samples = n_samples;
	return jl_trainer_memory(w->engine, &in).total_B;
}

/* Finds what would fit: the largest batch in this mode, otherwise the first mode that needs less memory. */
static void what_fits(struct worker *w, double free_B, struct jl_err *ret_fits)
{
	for (size_t n = w->setting.n_samples; n-- > 1;) {
		double B = need_B(w, w->setting.mode, n);
		if (B > free_B)
			continue;
		jl_fail(ret_fits, JL_E_LIMIT, "--batch %zu fits (%.1f GB)", n, B / 1e9);
		return;
	}
	for (int mode = (int)w->setting.mode + 1; w->n_ranks > 1 && mode < JL_N_TRAIN_MODE; mode++) {
		double B = need_B(w, (enum jl_train_mode)mode, w->setting.n_samples);
		if (B > free_B)
			continue;
		jl_fail(ret_fits, JL_E_LIMIT, "--mode %s fits (%.1f GB)", jl_train_mode_names[mode], B / 1e9);
		return;
	}
	jl_fail(ret_fits, JL_E_LIMIT,
		"not even batch 1 fits (%.1f GB): a smaller model, or more hosts with --mode zero3",
		need_B(w, w->setting.mode, 1) / 1e9);
}

/* Checks the memory need of all workers on this host before anything is allocated. */
static enum jl_status check_memory(struct worker *w, struct jl_err *err)
{
	w->result->plan = jl_trainer_memory(w->engine, &w->setting);
	double free_B = (double)w->engine->k->available_B(w->engine) * (1 - MEMORY_SLACK_FRAC);
	if (strcmp(w->engine->k->name, "cpu") == 0)
		free_B /= w->n_local; /* on GPUs each worker has its own memory */
	double least_B = -free_B;
	enum jl_status status = jl_comm_agree(w->processes, &least_B, 1, JL_RED_MAX, err);
	if (status != JL_OK || w->result->plan.total_B <= -least_B)
		return status;
	struct jl_err fits;
	what_fits(w, -least_B, &fits);
	return jl_fail_from(err, JL_E_LIMIT, NULL, &fits,
			    "too little memory: a worker needs %.1f GB and has %.1f GB; {}",
			    w->result->plan.total_B / 1e9, -least_B / 1e9);
}

static enum jl_status set_up(struct worker *w, struct jl_err *err)
{
	const struct jl_train_run *run = w->job->run;
	int n_threads = run->n_threads ? run->n_threads : jl_pool_cpus_each(w->n_local);
	enum jl_status status = jl_train_shape(run->model, w->n_ranks, &w->shape, err);
	JL_THEN(status,
		run->kernels->create(&(struct jl_engine_in){ .precision = run->precision,
							     .device = w->processes ? w->processes->local_rank : 0,
							     .n_threads = n_threads,
							     .comm = w->n_ranks > 1 ? w->processes : NULL },
				     &w->engine, err));
	if (status != JL_OK)
		return status;
	w->result->n_threads = w->engine->n_threads;
	snprintf(w->result->versions, sizeof w->result->versions, "%s", run->kernels->versions(w->engine));
	w->data = w->n_ranks > 1 ? w->processes : NULL;
	if (w->data && run->kernels->comm_open)
		status = run->kernels->comm_open(w->engine, w->processes, &w->data, err);
	w->setting = jl_trainer_defaults;
	w->setting.shape = &w->shape;
	w->setting.mode = w->job->config.mode;
	w->setting.n_samples = run->batch;
	w->setting.seq = run->seq;
	w->setting.n_micro = run->n_micro;
	w->setting.recompute = run->recompute;
	w->setting.comm = w->data;
	if (run->lr > 0)
		w->setting.lr = run->lr;
	JL_THEN(status, jl_trainer_check(w->engine, &w->setting, err));
	JL_THEN(status, check_memory(w, err));
	if (status == JL_OK && !run->no_rates)
		status = jl_train_measure_rates(
			w->engine,
			&(struct jl_train_work_shape){ .shape = &w->shape, .n_samples = run->batch, .seq = run->seq },
			w->processes, w->data, &w->result->rates, err);
	w->engine->peak_B = w->engine->used_B; /* excludes memory of the rate measurement */
	JL_THEN(status, jl_trainer_create(w->engine, &w->setting, &w->train, err));
	size_t n_tokens = run->batch * run->n_micro * run->seq;
	w->tokens = jl_realloc(NULL, n_tokens * sizeof *w->tokens);
	w->targets = jl_realloc(NULL, n_tokens * sizeof *w->targets);
	if (status == JL_OK && (!w->tokens || !w->targets))
		status = jl_fail_nomem(err);
	return status;
}

/* --- steps */

/* Samples are numbered over the whole run, so that any number of workers sees the same ones. An image's only target is the first one, derived
 * from its second patch, so that it can be learnt. */
static void next_samples(struct worker *w, size_t step)
{
	const struct jl_train_run *run = w->job->run;
	size_t own = run->batch * run->n_micro, each = w->job->tokens->seq, targets = w->shape.patches ? 1 : each;
	uint64_t first = (uint64_t)step * own * (uint64_t)w->n_ranks + (uint64_t)w->rank * own;
	for (size_t i = 0; i < own; i++)
		jl_tokens_sample(w->job->tokens, first + i, w->tokens + i * each, w->targets + i * targets);
}

static void add_phases(struct worker *w)
{
	struct jl_trainer_times times = jl_trainer_times(w->train);
	const double parts[5] = { times.forward_s, times.head_s, times.backward_s, times.update_s, times.exposed_s };
	for (size_t i = 0; i < 5; i++)
		w->sums[i] += parts[i];
}

/* One step of all workers. Workers agree on *ret_last: enough steps, enough time, or a stop request on any rank. */
static enum jl_status one_step(struct worker *w, size_t step, double begin_s, bool *ret_last, struct jl_err *err)
{
	const struct jl_train_run *run = w->job->run;
	struct jl_train_result *r = w->result;
	/* from the end of the previous step: includes waiting for its parameter gathers (zero1, zero2), which the agreement after that step
	 * waited for */
	double loss = 0, start_s = step ? w->mark_s : jl_clock_s(), start_cpu_s = jl_clock_cpu_s();
	next_samples(w, step);
	JL_TRY(jl_trainer_step(w->train, w->tokens, w->targets, &loss, err));
	size_t n_measured = step; /* without the warm-up step */
	bool enough = run->n_steps ? n_measured >= run->n_steps
				   : n_measured >= 2 && jl_clock_s() - begin_s >= run->time_s;
	enough = enough || n_measured + 1 > JL_TRAIN_STEPS_MAX;
	bool stop = w->processes && jl_comm_stop_asked(w->processes);
	w->mark_s = jl_clock_s();
	double most[2] = { w->mark_s - start_s, enough || stop ? 1 : 0 };
	JL_TRY(jl_comm_agree(w->processes, most, 2, JL_RED_MAX, err));
	JL_TRY(jl_comm_agree(w->processes, &loss, 1, JL_RED_SUM, err));
	loss /= w->n_ranks;
	if (!isfinite(loss))
		return jl_fail(err, JL_E_DATA, "the loss of step %zu is not a number", step + 1);
	if (step == 0) {
		r->loss_first = loss;
		(void)jl_trainer_times(w->train); /* discards the waiting time of the warm-up step */
	} else {
		r->samples_s[r->n_samples++] = most[0];
		add_phases(w);
		w->cpu_s += jl_clock_cpu_s() - start_cpu_s;
	}
	r->loss_last = loss;
	atomic_store(&w->shared->n_steps, step + 1);
	*ret_last = most[1] > 0;
	return JL_OK;
}

static double energy_J(struct worker *w)
{
	double (*own)(struct jl_engine *) = w->engine->k->energy_J;
	if (!own)
		return jl_train_energy_J(&w->result->energy_from);
	w->result->energy_from = "NVML";
	return own(w->engine);
}

/* Energy per step: the sum of the workers' GPUs, or the host's counter, which its workers share. */
static enum jl_status share_energy(struct worker *w, double all_J, double measured_s, struct jl_err *err)
{
	double n = (double)w->result->n_samples;
	/* counters update about ten times a second, and some wrap around */
	double each_J = measured_s >= ENERGY_LEAST_S && all_J >= 0 && n > 0 ? all_J / n : NAN;
	enum jl_status status = w->engine->k->energy_J ? jl_comm_agree(w->processes, &each_J, 1, JL_RED_SUM, err)
						       : JL_OK;
	w->result->energy_J = each_J;
	return status;
}

static enum jl_status train(struct worker *w, struct jl_err *err)
{
	struct jl_train_result *r = w->result;
	struct jl_noise_watch watch = { 0 };
	double begin_s = 0, begin_J = NAN;
	bool last = false;
	enum jl_status status = JL_OK;
	for (size_t step = 0; status == JL_OK && !last; step++) {
		if (step == 1) {
			begin_s = jl_clock_s();
			jl_noise_begin(&watch);
			begin_J = energy_J(w);
		}
		status = one_step(w, step, begin_s, &last, err);
	}
	double settle_s = jl_clock_s();
	JL_THEN(status, jl_trainer_settle(w->train, err));
	if (status)
		return status;
	if (r->n_samples)
		r->samples_s[r->n_samples - 1] += jl_clock_s() -
						  settle_s; /* waiting that the next step would have included */
	JL_TRY(share_energy(w, energy_J(w) - begin_J, jl_clock_s() - begin_s, err));
	return r->n_samples ? jl_noise_end(&watch, w->processes, &r->noise, err) : JL_OK;
}

/* --- report */

static enum jl_status sum_up(struct worker *w, struct jl_err *err)
{
	const struct jl_train_run *run = w->job->run;
	struct jl_train_result *r = w->result;
	double n = (double)r->n_samples;
	double most[2] = { w->sums[4] / n,
			   run->kernels->memory_B ? run->kernels->memory_B(w->engine) : (double)w->engine->peak_B };
	JL_TRY(jl_comm_agree(w->processes, most, 2, JL_RED_MAX, err));
	if (r->n_samples == 0)
		return jl_fail(err, JL_E_IO, "stopped before the first step was measured");
	r->exposed_s = w->n_ranks > 1 ? most[0] : 0;
	r->mem_B = most[1];
	r->cpu_s = w->cpu_s / n;
	JL_TRY(jl_comm_agree(w->processes, &r->cpu_s, 1, JL_RED_SUM, err));
	r->forward_s = w->sums[0] / n;
	r->head_s = w->sums[1] / n;
	r->backward_s = w->sums[2] / n;
	r->update_s = w->sums[3] / n;
	double *scratch = jl_realloc(NULL, r->n_samples * sizeof *scratch);
	JL_TRY(jl_got(scratch, err));
	jl_stats_of(&r->step_s, r->samples_s, r->n_samples, scratch);
	jl_free(scratch);
	r->n_steps = r->n_samples;
	double n_samples = (double)(run->batch * run->n_micro * (size_t)w->n_ranks);
	r->samples_per_s = n_samples / r->step_s.median;
	r->flop = jl_train_step_flop(&w->shape, n_samples, (double)run->seq);
	r->grad_B = (double)(w->shape.n_params * w->engine->grad_B);
	jl_noise_judge(&r->noise, r->noise_why);
	r->noise.why = NULL; /* points into another process's memory */
	return JL_OK;
}

enum jl_status jl_train_work(const struct jl_train_job *job, struct jl_comm *processes, struct jl_train_shared *shared,
			     struct jl_err *err)
{
	struct worker w = { .job = job, .shared = shared, .n_ranks = 1, .n_local = 1 };
	if (processes) {
		w.processes = processes;
		w.rank = processes->rank;
		w.n_ranks = processes->n_ranks;
		w.n_local = processes->n_local;
	}
	w.result = jl_realloc(NULL, sizeof *w.result);
	JL_TRY(jl_got(w.result, err));
	*w.result = (struct jl_train_result){ .config = job->config, .dead_rank = -1, .energy_J = NAN };
	enum jl_status status = set_up(&w, err);
	JL_THEN(status, train(&w, err));
	JL_THEN(status, sum_up(&w, err));
	if (status == JL_OK && w.rank == 0)
		shared->result = *w.result;
	jl_trainer_destroy(w.train);
	if (w.data && w.data != w.processes)
		jl_comm_destroy(w.data);
	if (w.engine)
		w.engine->k->destroy(w.engine);
	jl_free(w.tokens);
	jl_free(w.targets);
	jl_free(w.result);
	return status;
}
