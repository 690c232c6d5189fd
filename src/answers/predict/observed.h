/* Transfers a run of which only the time is known ("1.06 s a batch of 128 on 4x V100") to other hardware.
 *
 * Splits the step into times of matrix units, memory, host and links, by a mix given for the kind of model. Each part then scales with the rates
 * of the other device and fabric. For an unknown model the mix is uncertain, so all corners of it are evaluated and the interval covers them.
 * Pure. */
#pragma once

#include "predict/predict.h"

enum jl_mix_kind { JL_MIX_CNN, JL_MIX_TRANSFORMER, JL_MIX_UNKNOWN, JL_N_MIX };

struct jl_mix {
	const char *id, *en;
	/* FLOP of matrix products per byte streamed by other kernels, in 16-bit formats; half of it in fp32 */
	double flop_per_B;
	double reach;                     /* range: flop_per_B / reach to flop_per_B * reach */
	double host_frac, host_frac_most; /* share of the step that is constant (launches, Python, input); minimum 0 */
	double params, params_least, params_most; /* determine gradient exchange and fixed memory */
	double other_ln; /* remaining uncertainty, as ln: kernels that suit one generation better */
};
extern const struct jl_mix jl_mixes[JL_N_MIX];

struct jl_observed {
	double step_s;
	double batch;   /* samples per step, all devices */
	double batches; /* steps per epoch at that batch; NAN: unknown */
	enum jl_mix_kind kind;
	int dtype;          /* enum jl_dtype; JL_UNSET: unknown, both fp32 and fp16 are evaluated */
	double params;      /* NAN: the kind's default */
	double sample_B;    /* device memory per sample; NAN: at most what the observed batch could use */
	double fixed_B;     /* device memory independent of the batch; NAN: context and 16 bytes per parameter */
	double batch_limit; /* largest batch of one baseline device; NAN: the observed one */
	double watts_W;     /* power of the whole baseline during the run; NAN: by the power model */
};
struct jl_observed jl_observed_empty(void);

/* Checks that a run is given and that the baseline could have run it. */
enum jl_status jl_observed_check(const struct jl_observed *run, const struct jl_machine *base, struct jl_err *err);
/* Checks that the machine's format, bandwidths and memory are known. */
enum jl_status jl_observed_check_target(const struct jl_observed *run, const struct jl_machine *to, struct jl_err *err);

/* Steps per epoch at another batch; the number of samples is constant. */
double jl_observed_batches(const struct jl_observed *run, double batch);

/* Largest practical batch per device of `to` that certainly fits; 0: not even one sample is certain to fit. */
double jl_observed_limit(const struct jl_observed *run, const struct jl_machine *base, const struct jl_machine *to);

/* Rounds down to a usual batch size: 20, 24, 28, 32, 40, 48 ... (three significant bits). */
double jl_practical_batch(double batch);

struct jl_step_share { /* seconds per step, or shares of it */
	double matrix, memory, host, links;
};

struct jl_observed_mix { /* shares of the observed step: at the stated mix, and range over its corners */
	struct jl_estimate matrix, memory, host, links;
};

struct jl_carried {
	double batch, micro_batch, n_passes; /* per device and pass; gradient accumulation provides the rest */
	struct jl_estimate step_s;
	struct jl_step_share part_s; /* at the stated mix; sums to step_s.value */
	double power_W;              /* all devices and hosts; NAN: unknown */
	bool host_power;             /* power_W includes hosts */
};

/* Transfers a step of `batch` samples to `to`, with at most `limit` of them per device and pass. */
void jl_observed_carry(struct jl_carried *ret_carried, const struct jl_observed *run, const struct jl_machine *base,
		       const struct jl_machine *to, double batch, double limit);

/* Splits the observed step on the baseline. */
void jl_observed_split(struct jl_observed_mix *ret_mix, const struct jl_observed *run, const struct jl_machine *base);
