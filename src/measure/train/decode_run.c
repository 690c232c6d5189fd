#include "train/decode_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/noise.h"
#include "train/tokens.h"
#include "train/worker.h"

#define PROMPTS_MAX 256
#define BURST       8 /* tokens that a GPU answers before they are waited for */

struct work {
	const struct jl_decode_run *run;
	struct jl_engine *engine;
	struct jl_trainer *decoder;
	struct jl_decode_result *result;
	double ttft_s[PROMPTS_MAX], scratch[JL_DECODE_SAMPLES_MAX];
	size_t n_ttft;
	int32_t *prompts, *next;
};

/* Prompts and their answers, timed: a prompt by itself, tokens one by one or, where passes are recorded, some at a time. */
static enum jl_status one_round(struct work *w, bool warm, struct jl_err *err)
{
	struct jl_decode_result *r = w->result;
	size_t n_left = (warm && w->run->answer > 3 ? 3 : w->run->answer) - 1,
	       most = w->engine->k->capture_begin ? BURST : 1;
	double begin_s = jl_clock_s();
	JL_TRY(jl_decode_prompt(w->decoder, w->prompts, r->batch, w->next, err));
	if (!warm && w->n_ttft < PROMPTS_MAX)
		w->ttft_s[w->n_ttft++] = jl_clock_s() - begin_s;
	while (n_left) {
		size_t n = n_left < most ? n_left : most;
		begin_s = jl_clock_s();
		JL_TRY(jl_decode_next(w->decoder, n, w->next, err));
		if (!warm && r->n_samples < JL_DECODE_SAMPLES_MAX)
			r->samples_s[r->n_samples++] = (jl_clock_s() - begin_s) / (double)n;
		n_left -= n;
	}
	return JL_OK;
}

/* The first round warms up, the second is recorded where that can be done. */
static enum jl_status measure(struct work *w, bool *ret_more, struct jl_err *err)
{
	const struct jl_decode_run *run = w->run;
	struct jl_decode_result *r = w->result;
	struct jl_noise_watch watch = { 0 };
	enum jl_status status = one_round(w, true, err);
	if (status == JL_OK && w->engine->k->capture_begin)
		status = one_round(w, true, err);
	double begin_s = jl_clock_s();
	jl_noise_begin(&watch);
	do {
		JL_THEN(status, one_round(w, false, err));
		*ret_more = !run->base.tick || run->base.tick(run->base.ctx, NULL, w->n_ttft);
	} while (status == JL_OK && *ret_more && jl_clock_s() - begin_s < run->base.time_s &&
		 r->n_samples < JL_DECODE_SAMPLES_MAX);
	JL_THEN(status, jl_noise_end(&watch, NULL, &r->noise, err));
	if (status)
		return status;
	jl_noise_judge(&r->noise, r->noise_why);
	jl_stats_of(&r->ttft_s, w->ttft_s, w->n_ttft, w->scratch);
	jl_stats_of(&r->tpot_s, r->samples_s, r->n_samples, w->scratch);
	memcpy(w->scratch, r->samples_s, r->n_samples * sizeof *w->scratch);
	jl_stats_sort(w->scratch, r->n_samples);
	r->tpot_p90_s = jl_stats_quantile(w->scratch, r->n_samples, 0.9);
	r->read_B = jl_decode_read_B(w->decoder, (double)r->batch, (double)run->base.seq + (double)run->answer / 2);
	r->mem_B = (double)w->engine->peak_B;
	return JL_OK;
}

/* Weights are made once, with room for the largest batch. */
static enum jl_status set_up(struct work *w, const struct jl_train_shape *shape, size_t most, struct jl_err *err)
{
	const struct jl_decode_run *run = w->run;
	struct jl_trainer_in in = jl_trainer_defaults;
	struct jl_tokens tokens;
	in.shape = shape;
	in.n_samples = most;
	in.seq = run->base.seq;
	in.max_tokens = run->base.seq + run->answer;
	in.int8 = run->int8;
	double need_B = jl_trainer_memory(w->engine, &in).total_B,
	       free_B = (double)w->engine->k->available_B(w->engine);
	if (need_B > free_B)
		return jl_fail(err, JL_E_LIMIT, "too little memory: batch %zu needs %.1f GB and %.1f GB are free", most,
			       need_B / 1e9, free_B / 1e9);
	if (!run->base.no_rates)
		JL_TRY(jl_train_measure_rates(
			w->engine,
			&(struct jl_train_work_shape){ .shape = shape, .n_samples = run->batches[0], .seq = in.seq },
			NULL, NULL, &w->result->rates, err));
	JL_TRY(jl_trainer_create(w->engine, &in, &w->decoder, err));
	w->engine->peak_B = w->engine->used_B; /* weights were made in passing */
	JL_TRY(jl_tokens_open(&tokens, NULL, shape->vocab, in.seq, err));
	w->prompts = jl_realloc(NULL, 2 * most * in.seq * sizeof *w->prompts);
	w->next = jl_realloc(NULL, most * sizeof *w->next);
	if (!w->prompts || !w->next)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < most; i++)
		jl_tokens_sample(&tokens, i, w->prompts + i * in.seq, w->prompts + (most + i) * in.seq);
	jl_tokens_close(&tokens);
	return JL_OK;
}

enum jl_status jl_decode_run(const struct jl_decode_run *run, struct jl_err *err)
{
	struct work w = { .run = run };
	struct jl_train_shape shape;
	size_t most = 0;
	bool more = true;
	for (size_t i = 0; i < run->n_batches; i++)
		most = run->batches[i] > most ? run->batches[i] : most;
	JL_TRY(jl_train_shape(run->base.model, 1, &shape, err));
	w.result = jl_realloc(NULL, sizeof *w.result);
	JL_TRY(jl_got(w.result, err));
	*w.result = (struct jl_decode_result){ 0 };
	enum jl_status status = run->base.kernels->create(
		&(struct jl_engine_in){ .precision = run->base.precision, .n_threads = run->base.n_threads }, &w.engine,
		err);
	JL_THEN(status, set_up(&w, &shape, most, err));
	for (size_t i = 0; status == JL_OK && more && i < run->n_batches; i++) {
		struct jl_decode_result *r = w.result;
		*r = (struct jl_decode_result){ .batch = run->batches[i],
						.rates = r->rates,
						.n_threads = w.engine->n_threads };
		snprintf(r->versions, sizeof r->versions, "%s", run->base.kernels->versions(w.engine));
		w.n_ttft = 0;
		status = measure(&w, &more, err);
		if (status == JL_OK) {
			jl_decode_predict(r, run);
			run->done(run->base.ctx, r);
		}
	}
	jl_trainer_destroy(w.decoder);
	if (w.engine)
		w.engine->k->destroy(w.engine);
	jl_free(w.prompts);
	jl_free(w.next);
	jl_free(w.result);
	return status;
}

double jl_decode_bandwidth_frac(const struct jl_decode_result *r)
{
	return r->rates.mem_Bps > 0 ? r->read_B / r->tpot_s.median / r->rates.mem_Bps : NAN;
}

static void add_estimate(struct jl_draft *d, const char *name, const struct jl_estimate *e)
{
	struct jl_stats stats = jl_stats_one(e->value);
	stats.min = stats.lo95 = e->lo;
	stats.max = stats.hi95 = stats.p95 = e->hi;
	jl_draft_summary(d, name, true, &stats);
}

struct jl_record jl_decode_record(struct jl_draft *d, const struct jl_decode_result *r, const struct jl_decode_run *run)
{
	struct jl_stats rate = jl_stats_rate(&r->tpot_s, (double)r->batch);
	jl_draft_begin(d, "infer", run->base.kernels->name, 0, NULL);
	d->samples_s = r->samples_s;
	d->n_samples = r->n_samples;
	jl_draft_text(d, "model", run->base.model->id);
	jl_draft_text(d, "precision", jl_train_precision_names[run->base.precision]);
	jl_draft_text(d, "weights", run->int8 ? "int8" : NULL);
	jl_draft_number(d, "batch", (double)r->batch);
	jl_draft_number(d, "prompt", (double)run->base.seq);
	jl_draft_number(d, "answer", (double)run->answer);
	jl_draft_number(d, "n_threads", r->n_threads);
	jl_draft_summary(d, "tokens_per_s", false, &rate);
	jl_draft_summary(d, "ttft_s", true, &r->ttft_s);
	jl_draft_summary(d, "tpot_s", true, &r->tpot_s);
	jl_draft_metric(d, "tpot_p90_s", true, r->tpot_p90_s);
	jl_draft_metric(d, "mem_B", true, r->mem_B);
	jl_draft_metric(d, "bandwidth_frac", false, jl_decode_bandwidth_frac(r));
	add_estimate(d, "predicted_ttft_s", &r->ttft_predicted_s);
	add_estimate(d, "predicted_tpot_s", &r->tpot_predicted_s);
	jl_draft_metric(d, "gemm_flopps", false, r->rates.gemm_flopps);
	jl_draft_metric(d, "copy_Bps", false, r->rates.mem_Bps);
	struct jl_record record = jl_draft_record(d);
	record.noise = r->noise;
	record.noise.why = r->noise.noisy ? r->noise_why : NULL;
	return record;
}
