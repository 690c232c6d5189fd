/* What differs between kinds of workloads: one const struct each, listed in subject.c. A further kind is a file that fills one, and its
 * row there. */
#pragma once

#include "predict/count.h"
#include "predict/predict.h"

/* What one device does in a step. */
struct jl_case_work {
	double flop, moved_B;
};

/* What a batch and throughput count. */
struct jl_sample {
	const char *item; /* "sequence", "image" */
	double pixels;    /* of the picture that it takes; 0: none */
	const char *unit; /* what throughput counts; NULL: tokens */
	double units;     /* ... of one sample; NAN: tokens */
};

struct jl_workload_kind {
	bool is_cut; /* over devices and in memory: tensor, pipeline, ZeRO, recompute, offload; else plain data parallel is all there is */
	bool is_captured; /* a program: format, batch and framework are its own */
	bool has_tokens;  /* a sample is a sequence of tokens: it has a length, can be served and tuned with adapters */

	/* By its name in the catalog. JL_E_NOTFOUND or JL_E_AMBIGUOUS: another kind may know it; only the first kind then says so in `err`. */
	enum jl_status (*find)(struct jl_subject *subject, const struct jl_catalog *cat, const char *name,
			       struct jl_arena *arena, struct jl_err *err);
	/* words of a request that mean nothing on any system; NULL: there are none */
	enum jl_status (*refuse)(const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err);
	double (*params)(const struct jl_subject *subject);
	struct jl_sample (*sample)(const struct jl_subject *subject);
	/* NULL: a captured program, counted by module */
	void (*count)(struct jl_counts *ret_counts, const struct jl_subject *subject, double batch, double seq);

	/* Sets the defaults of the request; refuses options that this kind does not have. */
	enum jl_status (*choose)(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
				 struct jl_err *err);
	/* false: that framework does nothing for it */
	bool (*run_in)(struct jl_case *c, const struct jl_catalog *cat, enum jl_framework framework);
	enum jl_status (*check)(const struct jl_case *c, struct jl_err *err); /* NULL: nothing can be wrong */
	double (*elements)(const struct jl_case *c);    /* of a sample that is prepared beforehand */
	double (*usual_batch)(const struct jl_case *c); /* samples of a pass that fill a device */
	bool (*is_fitted)(
		const struct jl_machine *m); /* are there published runs of such workloads on the device itself? */
	void (*say_unfitted)(struct jl_case *c, const char *device);

	struct jl_case_price (*weigh)(const struct jl_case *c);
	struct jl_memory (*memory)(const struct jl_case *c, double micro_batch, double *ret_host_B);
	void (*predict)(struct jl_prediction *p, const struct jl_case *c); /* step, memory, host_B, flop, kind_frac */
	enum jl_asked answer; /* what its time of a step is to the intervals */
	struct jl_case_work (*work)(const struct jl_case *c);
	double (*matrix_share)(const struct jl_case *c); /* of a device's computing that its matrix units take */
};

/* Both where measurements of the device itself are what counts. */
bool jl_device_is_fitted(const struct jl_machine *m);
void jl_device_say_unfitted(struct jl_case *c, const char *device);
