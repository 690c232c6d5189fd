/* What would help: changes to a case, each tried with the model, ranked by what they gain. */
#pragma once

#include "predict/predict.h"

#define JL_ADVICE_MAX 3

struct jl_advice {
	const char *key; /* the kind of change, in JSON */
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
	int n_gpus; /* where it was tried */
	double step_s_before, step_s_after;
	double samples_per_s_before, samples_per_s_after;
	double half_ln_before, half_ln_after; /* how sure they are: half of the 80 % interval, as ln */
	double alone_samples_per_s;           /* of one GPU, for speed-ups; NAN: not compared with */
	double global_batch;                  /* after */
	bool makes_it_fit;                    /* the case itself does not fit */
};

/* How many times as fast; `measured_per_s` in place of what was predicted for before, where it is known (else NAN). */
struct jl_estimate jl_advice_gain(const struct jl_advice *advice, const struct jl_widths *widths,
				  double measured_per_s);

/* At most JL_ADVICE_MAX that fit in memory and gain at least JL_ADVICE_GAIN_FRAC, best first; returns how many. */
#define JL_ADVICE_GAIN_FRAC 0.03
size_t jl_advise(struct jl_advice ret_advice[JL_ADVICE_MAX], const struct jl_catalog *cat, const struct jl_case *c,
		 struct jl_arena *arena);
