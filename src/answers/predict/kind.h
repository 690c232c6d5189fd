/* Interface of a kind of workload: one const struct each, listed in subject.c. A new kind is a file that defines one, and a row there. */
#pragma once

#include "predict/count.h"
#include "predict/predict.h"

/* Work of one device in a step. */
struct jl_case_work {
	double flop, moved_B;
};

/* Units of batch and throughput. */
struct jl_sample {
	const char *item; /* "sequence", "image" */
	double pixels;    /* pixels per image; 0: no images */
	const char *unit; /* unit of throughput; NULL: tokens */
	double units;     /* units per sample; NAN: tokens */
};

struct jl_workload_kind {
	/* supports model parallelism and memory techniques (tensor, pipeline, ZeRO, recomputation, offloading); false: plain data parallelism */
	bool is_cut;
	bool is_captured; /* a program: format, batch and framework are fixed */
	bool has_tokens;  /* samples are token sequences: have a length, can be served and tuned with adapters */

	/* Finds a subject by its catalog name. JL_E_NOTFOUND or JL_E_AMBIGUOUS: another kind may know it; only the first kind reports this in
	 * `err`. */
	enum jl_status (*find)(struct jl_subject *subject, const struct jl_catalog *cat, const char *name,
			       struct jl_arena *arena, struct jl_err *err);
	/* rejects options that are meaningless for this kind; NULL: none */
	enum jl_status (*refuse)(const struct jl_subject *subject, const struct jl_request *req, struct jl_err *err);
	double (*params)(const struct jl_subject *subject);
	struct jl_sample (*sample)(const struct jl_subject *subject);
	/* NULL: a captured program, which is counted by module */
	void (*count)(struct jl_counts *ret_counts, const struct jl_subject *subject, double batch, double seq);

	/* Sets defaults of the request; rejects options that this kind lacks. */
	enum jl_status (*choose)(struct jl_case *c, const struct jl_request *req, const struct jl_catalog *cat,
				 struct jl_err *err);
	/* returns false if the framework makes no difference */
	bool (*run_in)(struct jl_case *c, const struct jl_catalog *cat, enum jl_framework framework);
	enum jl_status (*check)(const struct jl_case *c, struct jl_err *err); /* NULL: always valid */
	double (*elements)(const struct jl_case *c);                          /* elements of a preprocessed sample */
	double (*usual_batch)(const struct jl_case *c);                       /* samples per pass that fill a device */
	bool (*is_fitted)(const struct jl_machine *m); /* published runs of such workloads exist for this device */
	void (*say_unfitted)(struct jl_case *c, const char *device);

	struct jl_case_price (*weigh)(const struct jl_case *c);
	struct jl_memory (*memory)(const struct jl_case *c, double micro_batch, double *ret_host_B);
	/* sets step, memory, host_B, flop, kind_frac */
	void (*predict)(struct jl_prediction *p, const struct jl_case *c);
	enum jl_asked answer; /* class of the step time for intervals */
	struct jl_case_work (*work)(const struct jl_case *c);
	double (*matrix_share)(const struct jl_case *c); /* share of compute time on matrix units */
};

/* For kinds where measurements of the device itself decide. */
bool jl_device_is_fitted(const struct jl_machine *m);
void jl_device_say_unfitted(struct jl_case *c, const char *device);
