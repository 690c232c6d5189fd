/* A run of which only its time is known ("1.06 s a batch of 128 on 4x V100") carried to other hardware.
 *
 * The step is split into what the matrix units, the memory, the host and the links take, by a stated mix for the kind of model; each
 * part then follows the rates of the other device and fabric. The mix of an unknown model is itself unknown, so every corner of it is
 * evaluated and the interval spans them all. Pure. */
#pragma once

#include "predict/predict.h"

enum jl_mix_kind { JL_MIX_CNN, JL_MIX_TRANSFORMER, JL_MIX_UNKNOWN, JL_N_MIX };

struct jl_mix {
	const char *id, *en;
	double flop_per_B; /* of matrix products, per byte that the other kernels stream, in 16-bit formats; half of it in fp32 */
	double reach; /* the true one is between flop_per_B / reach and flop_per_B * reach */
	double host_frac,
		host_frac_most; /* of the step, and no faster elsewhere: launches, Python, input; at least none */
	double params, params_least, params_most; /* decides the gradient exchange and the fixed memory */
	double other_ln; /* what the mix does not explain: kernels that suit one generation better than another */
};
extern const struct jl_mix jl_mixes[JL_N_MIX];

struct jl_observed {
	double step_s;
	double batch;   /* samples of that step, all devices */
	double batches; /* steps of an epoch at that batch; NAN: not known */
	enum jl_mix_kind kind;
	int dtype;          /* enum jl_dtype; JL_UNSET: not known, fp32 and fp16 are both weighed */
	double params;      /* NAN: the kind's */
	double sample_B;    /* device memory of one sample; NAN: at most what the observed batch could use */
	double fixed_B;     /* device memory that does not depend on the batch; NAN: context and 16 bytes a parameter */
	double batch_limit; /* largest batch that one baseline device takes; NAN: the observed one */
	double watts_W;     /* what the whole baseline draws while it runs; NAN: the power model's */
};
struct jl_observed jl_observed_empty(void);

/* Is there a run, and can it have run on this baseline? */
enum jl_status jl_observed_check(const struct jl_observed *run, const struct jl_machine *base, struct jl_err *err);
/* Can it be carried to this machine: format, bandwidths, memory? */
enum jl_status jl_observed_check_target(const struct jl_observed *run, const struct jl_machine *to, struct jl_err *err);

/* Steps of an epoch at another batch: the samples stay, so twice the batch needs half the steps. */
double jl_observed_batches(const struct jl_observed *run, double batch);

/* Largest batch of one device of `to` that surely fits, in sizes that people use; 0: not even one sample is sure to. */
double jl_observed_limit(const struct jl_observed *run, const struct jl_machine *base, const struct jl_machine *to);

/* Downward to three significant bits: 20, 24, 28, 32, 40, 48 ... */
double jl_practical_batch(double batch);

struct jl_step_share { /* seconds of one step, or shares of it */
	double matrix, memory, host, links;
};

struct jl_observed_mix { /* shares of the observed step: at the stated mix, least and most over its corners */
	struct jl_estimate matrix, memory, host, links;
};

struct jl_carried {
	double batch, micro_batch, n_passes; /* of one device and pass; gradient accumulation makes up the rest */
	struct jl_estimate step_s;
	struct jl_step_share part_s; /* at the stated mix, summing to step_s.value */
	double power_W;              /* all devices and hosts; NAN: not known */
	bool host_power;             /* hosts are in it */
};

/* One step of `batch` samples on `to`, no more than `limit` of them on a device at a time. */
void jl_observed_carry(struct jl_carried *ret_carried, const struct jl_observed *run, const struct jl_machine *base,
		       const struct jl_machine *to, double batch, double limit);

/* How the observed step splits on the baseline. */
void jl_observed_split(struct jl_observed_mix *ret_mix, const struct jl_observed *run, const struct jl_machine *base);
