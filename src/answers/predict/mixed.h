/* Two kinds of GPU in one data-parallel job: every rank waits for the slowest, unless faster ones get more samples. */
#pragma once

#include "base/fields.h"
#include "predict/answer.h"

#define JL_MIXED_KINDS 2

struct jl_mixed_kind {
	struct jl_sys sys; /* as given */
	int n;
	double even_s;  /* step of these devices with equal shares, including the gradient exchange */
	double samples; /* samples per device with shares by speed */
	double step_s;  /* step with these */
	double micro;   /* per pass */
	double need_B, has_B;
	bool fits;    /* with equal shares, in passes */
	double alone; /* samples/s of these devices without the others; NAN: does not fit */
};

struct jl_mixed {
	struct jl_predicted pace; /* prediction of the slower kind; if it does not fit, of the one that lacks most */
	bool fits;
	struct jl_mixed_kind kind[JL_MIXED_KINDS];
	size_t slowest;
	double global_batch, even_batch;
	struct jl_estimate even_s, shared_s; /* per step */
	double even_per_s, shared_per_s;     /* samples/s; NAN: does not fit */
	bool is_shared;                      /* unequal shares are faster and fit */
	double steps;                        /* whole run, all epochs; NAN: unknown length */
	struct jl_estimate even_run_s, shared_run_s;
};

/* req->system and `with` name the GPUs of one host each; together they form one host. `with` NULL: req->system is "A + B". */
enum jl_status jl_mixed_make(struct jl_mixed *ret_mixed, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *with, struct jl_arena *arena, struct jl_err *err);

extern const struct jl_schema jl_mixed_fields;
