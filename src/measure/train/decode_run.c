/* Benchmark of the decoder: times prompts and tokens for several batch sizes and adds the prediction. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/noise.h"
#include "train/decode.h"
#include "train/worker.h"

#define PROMPTS_MAX 256
#define BURST       8 /* passes queued on a GPU between two waits */

struct work {
	const struct jl_train_run *run;
	struct jl_engine *engine;
	struct jl_trainer *decoder;
	struct jl_train_result result;
	double first_s[PROMPTS_MAX], scratch[JL_TRAIN_STEPS_MAX];
	size_t n_first;
	int32_t *prompts, *next;
};

/* Times one prompt pass and its answer, token by token, or in bursts where passes are recorded. */
static enum jl_status one_round(struct work *w, bool warm, struct jl_err *err)
{
	struct jl_train_result *r = &w->result;
	size_t n_left = (warm && w->run->answer > 3 ? 3 : w->run->answer) - 1,
	       most = w->engine->k->capture_begin ? BURST : 1;
	double begin_s = jl_clock_s();
	JL_TRY(jl_decode_prompt(w->decoder, w->prompts, r->config.batch, w->next, err));
	if (!warm && w->n_first < PROMPTS_MAX)
		w->first_s[w->n_first++] = jl_clock_s() - begin_s;
	for (size_t n; n_left; n_left -= n) {
		n = n_left < most ? n_left : most;
		begin_s = jl_clock_s();
		JL_TRY(jl_decode_next(w->decoder, n, w->next, err));
		if (!warm && r->n_samples < JL_TRAIN_STEPS_MAX)
			r->samples_s[r->n_samples++] = (jl_clock_s() - begin_s) / (double)n;
	}
	return JL_OK;
}

/* The first round warms up; the second is recorded where the engine can; the rest is timed. */
static enum jl_status measure(struct work *w, bool *ret_more, struct jl_err *err)
{
	const struct jl_train_run *run = w->run;
	struct jl_train_result *r = &w->result;
	struct jl_noise_watch watch = { 0 };
	enum jl_status status = one_round(w, true, err);
	if (w->engine->k->capture_begin)
		JL_THEN(status, one_round(w, true, err));
	double begin_s = jl_clock_s();
	jl_noise_begin(&watch);
	do {
		JL_THEN(status, one_round(w, false, err));
		*ret_more = !run->tick || run->tick(run->ctx, &r->config, w->n_first);
	} while (status == JL_OK && *ret_more && jl_clock_s() - begin_s < run->time_s &&
		 r->n_samples < JL_TRAIN_STEPS_MAX);
	JL_THEN(status, jl_noise_end(&watch, NULL, &r->noise, err));
	if (status)
		return status;
	jl_noise_judge(&r->noise, r->noise_why);
	jl_stats_of(&r->first_s, w->first_s, w->n_first, w->scratch);
	jl_stats_of(&r->step_s, r->samples_s, r->n_samples, w->scratch);
	memcpy(w->scratch, r->samples_s, r->n_samples * sizeof *w->scratch);
	jl_stats_sort(w->scratch, r->n_samples);
	r->step_p90_s = jl_stats_quantile(w->scratch, r->n_samples, 0.9);
	r->samples_per_s = (double)r->config.batch / r->step_s.median;
	double read_B = jl_decode_read_B(w->decoder, (double)r->config.batch,
					 (double)run->seq + (double)run->answer / 2);
	r->bandwidth_frac = r->rates.mem_Bps > 0 ? read_B / r->step_s.median / r->rates.mem_Bps : NAN;
	r->mem_B = (double)w->engine->peak_B;
	jl_decode_predict(r, run);
	return JL_OK;
}

static enum jl_status set_up(struct work *w, const struct jl_train_shape *shape, struct jl_err *err)
{
	const struct jl_train_run *run = w->run;
	struct jl_trainer_in in = jl_trainer_defaults;
	struct jl_tokens tokens;
	in.shape = shape;
	in.seq = run->seq;
	in.max_tokens = run->seq + run->answer;
	in.int8 = run->int8;
	for (size_t i = 0; i < run->n_configs; i++)
		in.n_samples = run->configs[i].batch > in.n_samples ? run->configs[i].batch : in.n_samples;
	JL_TRY(jl_trainer_check(w->engine, &in, err));
	double need_B = jl_trainer_memory(w->engine, &in).total_B,
	       free_B = (double)w->engine->k->available_B(w->engine);
	if (need_B > free_B)
		return jl_fail(err, JL_E_LIMIT, "too little memory: batch %zu needs %.1f GB and %.1f GB are free",
			       in.n_samples, need_B / 1e9, free_B / 1e9);
	const struct jl_train_work_shape product = { .shape = shape, .n_samples = run->batch, .seq = run->seq };
	if (!run->no_rates)
		JL_TRY(jl_train_measure_rates(w->engine, &product, NULL, NULL, &w->result.rates, err));
	JL_TRY(jl_trainer_create(w->engine, &in, &w->decoder, err));
	w->engine->peak_B = w->engine->used_B; /* the peak must not count buffers used only to create the weights */
	JL_TRY(jl_tokens_open(&tokens, NULL, shape->vocab, in.seq, err));
	w->prompts = jl_realloc(NULL, 2 * in.n_samples * in.seq * sizeof *w->prompts);
	w->next = jl_realloc(NULL, in.n_samples * sizeof *w->next);
	if (!w->prompts || !w->next)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < in.n_samples; i++)
		jl_tokens_sample(&tokens, i, w->prompts + i * in.seq, w->prompts + (in.n_samples + i) * in.seq);
	jl_tokens_close(&tokens);
	return JL_OK;
}

enum jl_status jl_decode_run(const struct jl_train_run *run, struct jl_err *err)
{
	struct jl_train_shape shape;
	bool more = true;
	JL_TRY(jl_train_shape(run->model, 1, &shape, err));
	struct work *w = jl_realloc(NULL, sizeof *w);
	JL_TRY(jl_got(w, err));
	*w = (struct work){ .run = run };
	enum jl_status status = run->kernels->create(
		&(struct jl_engine_in){ .precision = run->precision, .n_threads = run->n_threads }, &w->engine, err);
	JL_THEN(status, set_up(w, &shape, err));
	for (size_t i = 0; status == JL_OK && more && i < run->n_configs; i++) {
		struct jl_train_result *r = &w->result;
		*r = (struct jl_train_result){ .config = run->configs[i],
					       .rates = r->rates,
					       .n_threads = w->engine->n_threads };
		snprintf(r->versions, sizeof r->versions, "%s", run->kernels->versions(w->engine));
		w->n_first = 0;
		status = measure(w, &more, err);
		if (status == JL_OK)
			more = run->done(run->ctx, r) && more;
	}
	jl_trainer_destroy(w->decoder);
	if (w->engine)
		w->engine->k->destroy(w->engine);
	jl_free(w->prompts);
	jl_free(w->next);
	jl_free(w);
	return status;
}
