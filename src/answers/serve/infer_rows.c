/* The same question at several rates, or with several weight formats. */
#include <math.h>
#include <string.h>

#include "serve/infer.h"

static struct jl_infer_row row_of(const struct jl_infer *a)
{
	return (struct jl_infer_row){ .weights = a->weights,
				      .rate_hz = a->rate_hz,
				      .fits = a->fits,
				      .keeps_up = a->keeps_up,
				      .weights_B = a->weights_B,
				      .n_gpus = a->n_gpus,
				      .ttft_p90_s = a->ttft_s.p90,
				      .tpot_p90_s = a->tpot_s.p90,
				      .output_tps = a->output_tps,
				      .usd_per_Mtoken_out = a->usd_per_Mtoken_out,
				      .busy_frac = a->busy_frac };
}

/* The knee: the last rate whose first tokens come within three times those of the lowest rate. */
#define KNEE 3.0

enum jl_status jl_infer_sweep(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, const double *rates_hz, size_t n, struct jl_err *err)
{
	struct jl_infer_ask one = *ask;
	enum jl_status status = JL_OK;
	size_t knee = 0;

	one.kind = JL_LOAD_OPEN;
	one.ttft_max_s = one.tpot_max_s = NAN;
	one.find_rate = false;
	one.n_gpus = infer->n_gpus;
	one.n_stages = infer->n_stages;
	one.n_copies = infer->n_copies;
	infer->n_rows = 0;
	for (size_t i = 0; i < n && i < JL_INFER_ROWS && !status; i++) {
		struct jl_infer a;

		one.rate_hz = rates_hz[i];
		status = jl_infer(&a, cat, machine, &one, err);
		if (status)
			break;
		infer->rows[infer->n_rows++] = row_of(&a);
		if (!a.keeps_up || a.ttft_s.p90.value > KNEE * infer->rows[0].ttft_p90_s.value)
			continue;
		/* the printed settings are for the recommended load, not that of the first table */
		knee = i;
		memcpy(infer->flags, a.flags, sizeof(infer->flags));
		infer->flags_rate_hz = a.rate_hz;
	}
	if (!status)
		infer->rows[knee].knee = infer->rows[knee].keeps_up; /* a system overloaded at every rate has none */
	return status;
}

#define FULL_FRAC 0.9 /* utilisation above which users wait for each other, not only for the machine */

enum jl_status jl_infer_held(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			     const struct jl_infer_ask *ask, struct jl_err *err)
{
	struct jl_infer_ask most = *ask;
	struct jl_infer a;
	const bool users = infer->kind == JL_LOAD_USERS, within = users && infer->has_target;

	if (!infer->fits || (within ? infer->meets : users ? infer->busy_frac < FULL_FRAC : infer->keeps_up))
		return JL_OK;
	if (!within)
		most.ttft_max_s = most.tpot_max_s = NAN;
	most.find_rate = true;
	most.n_gpus = infer->n_gpus;
	most.n_stages = infer->n_stages;
	most.n_copies = infer->n_copies;
	JL_TRY(jl_infer(&a, cat, machine, &most, err));
	if (!users)
		infer->rate_held_hz = a.rate_max_hz;
	else /* each asks once per answer and reading time */
		infer->users_held = a.rate_max_hz > 0 ? floor(a.rate_max_hz * (ask->think_s + a.e2e_s.mean.value)) : 0;
	if (infer->users_held >= infer->users)
		infer->users_held = NAN;
	return JL_OK;
}

enum jl_status jl_infer_compare_weights(struct jl_infer *infer, const struct jl_catalog *cat,
					const struct jl_machine *machine, const struct jl_infer_ask *ask,
					struct jl_err *err)
{
	const char *const formats[] = {
		"bf16", "fp8", "int8", "int4", "nvfp4", "q4_k_m", ask->model ? ask->model->weights : NULL
	};
	const struct jl_device *dev = &machine->served;
	struct jl_infer_ask one = *ask;

	(void)err;
	infer->n_rows = 0;
	infer->compared = true;
	for (size_t i = 0; i < JL_LEN(formats); i++) {
		struct jl_infer a;

		/* formats without native support add nothing to int4 and int8 */
		if (!formats[i] || (i == 0 && isnan(dev->peak_flopps[JL_BF16])) ||
		    (i == 1 && isnan(dev->peak_flopps[JL_FP8])) || (i == 4 && isnan(dev->peak_flopps[JL_FP4])))
			continue;
		one.weights = formats[i];
		if (jl_infer(&a, cat, machine, &one, NULL) || !a.fits)
			infer->rows[infer->n_rows] = (struct jl_infer_row){ .rate_hz = NAN, .weights_B = NAN };
		else
			infer->rows[infer->n_rows] = row_of(&a);
		infer->rows[infer->n_rows++].weights = formats[i];
	}
	return JL_OK;
}
