/* A decoder's tokens and logits against whole forward passes, on any engine. */
#ifndef JL_TESTS_TRAIN_DECODE_SAME_H
#define JL_TESTS_TRAIN_DECODE_SAME_H

#include "models.h"

#include "train/decode.h"
#include "train/state.h"

#define DECODE_PROMPT 9
#define DECODE_ANSWER 24
#define DECODE_BATCH  3
#define DECODE_MAX    (DECODE_PROMPT + DECODE_ANSWER)
#define VOCAB_MOST    256

struct decoded {
	int32_t tokens[DECODE_ANSWER][DECODE_BATCH];
	float logits[DECODE_ANSWER][DECODE_BATCH * VOCAB_MOST];
};

static inline struct jl_trainer *decoder_of(struct jl_engine *engine, const struct jl_train_shape *shape, size_t seq,
					    bool int8)
{
	struct jl_trainer *decoder = NULL;
	struct jl_err err = { 0 };
	struct jl_trainer_in in = jl_trainer_defaults;
	in.shape = shape;
	in.n_samples = DECODE_BATCH;
	in.seq = seq;
	in.max_tokens = DECODE_MAX;
	in.int8 = int8;
	assert_ok(jl_trainer_create(engine, &in, &decoder, &err));
	return decoder;
}

/* Of the last pass: n_samples × vocab, padding left out. */
static inline void decode_logits(struct jl_trainer *t, float *ret_logits)
{
	struct jl_err err = { 0 };
	size_t vocab = t->shape.vocab, pad = t->shape.vocab_pad, n = t->in.n_samples * pad;
	void *floats = NULL;
	assert_ok(t->k->alloc(t->engine, n * sizeof(float), JL_MEM_PLAIN, &floats, &err));
	t->k->grad_to_float(t->engine, floats, t->logits, n); /* of the same type as elements */
	for (size_t i = 0; i < t->in.n_samples; i++)
		t->k->to_host(t->engine, ret_logits + i * vocab, (float *)floats + i * pad, vocab * sizeof(float));
	assert_ok(t->k->sync(t->engine, &err));
	t->k->free(t->engine, floats, n * sizeof(float), JL_MEM_PLAIN);
}

static inline void decode_all(struct jl_trainer *decoder, const int32_t *prompts, size_t n_samples, struct decoded *ret)
{
	struct jl_err err = { 0 };
	for (size_t i = 0; i < DECODE_ANSWER; i++) {
		if (i == 0)
			assert_ok(jl_decode_prompt(decoder, prompts, n_samples, ret->tokens[i], &err));
		else
			assert_ok(jl_decode_next(decoder, 1, ret->tokens[i], &err));
		decode_logits(decoder, ret->logits[i]);
	}
}

static inline double largest_logit(const float *logits, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs((double)logits[i]));
	return most;
}

/* Largest difference of logits over the largest logit. */
static inline double decode_off(const float *a, const float *b, size_t n)
{
	double off = 0;
	for (size_t i = 0; i < n; i++)
		off = fmax(off, fabs((double)a[i] - (double)b[i]));
	return off / largest_logit(b, n);
}

/* May logits that differ by `tolerance` say another token than these? Where the two largest of the sample lie nearer than twice that. */
static inline bool decode_tie(const float *logits, size_t sample, size_t vocab, double tolerance)
{
	double first = -INFINITY, second = -INFINITY;
	for (size_t i = 0; i < vocab; i++) {
		double x = (double)logits[sample * vocab + i];
		second = fmax(second, fmin(first, x));
		first = fmax(first, x);
	}
	return first - second < 2 * tolerance * largest_logit(logits, DECODE_BATCH * vocab);
}

static inline void decode_prompts(size_t vocab, int32_t *ret_prompts)
{
	for (size_t i = 0; i < DECODE_BATCH * DECODE_PROMPT; i++)
		ret_prompts[i] = (int32_t)(jl_train_mix(i) % vocab);
}

/* What was decoded against prompts that already end with the same tokens. Returns the largest relative difference of logits; *ret_other:
 * how many tokens are others where `tolerance` does not allow it. */
static inline double decode_differs(struct jl_engine *engine, const struct jl_train_shape *shape, bool int8,
				    const int32_t *prompts, const struct decoded *d, double tolerance,
				    size_t *ret_other)
{
	struct jl_err err = { 0 };
	float logits[DECODE_BATCH * VOCAB_MOST];
	double worst = 0;
	*ret_other = 0;
	for (size_t i = 0; i < DECODE_ANSWER; i++) {
		int32_t whole[DECODE_BATCH * DECODE_MAX], next[DECODE_BATCH];
		size_t seq = DECODE_PROMPT + i;
		struct jl_trainer *again = decoder_of(engine, shape, seq, int8);
		for (size_t s = 0; s < DECODE_BATCH; s++)
			for (size_t j = 0; j < seq; j++)
				whole[s * seq + j] = j < DECODE_PROMPT ? prompts[s * DECODE_PROMPT + j]
								       : d->tokens[j - DECODE_PROMPT][s];
		assert_ok(jl_decode_prompt(again, whole, DECODE_BATCH, next, &err));
		decode_logits(again, logits);
		worst = fmax(worst, decode_off(d->logits[i], logits, DECODE_BATCH * shape->vocab));
		for (size_t s = 0; s < DECODE_BATCH; s++)
			*ret_other += next[s] != d->tokens[i][s] && !decode_tie(logits, s, shape->vocab, tolerance);
		jl_trainer_destroy(again);
	}
	return worst;
}

#endif
