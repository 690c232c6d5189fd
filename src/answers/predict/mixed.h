/* Two kinds of GPU in one data-parallel job: every rank waits for the slowest, unless the fast ones get more samples. */
#pragma once

#include "base/fields.h"
#include "predict/answer.h"

#define JL_MIXED_KINDS 2

struct jl_mixed_kind {
	struct jl_sys sys; /* as it was named */
	int n;
	double even_s; /* of a step of its own devices with as many samples as every other has, all gradients exchanged */
	double samples; /* of one of its devices where samples are shared by speed */
	double step_s;  /* with those */
	double micro;   /* those of one pass */
	double need_B, has_B;
	bool fits;    /* with as many as every other has, in passes */
	double alone; /* samples a second of these devices by themselves; NAN: they do not hold it */
};

struct jl_mixed {
	struct jl_predicted pace; /* of the kind that sets it; where it does not fit, of the one that lacks most */
	bool fits;
	struct jl_mixed_kind kind[JL_MIXED_KINDS];
	size_t slowest;
	double global_batch, even_batch;
	struct jl_estimate even_s, shared_s; /* a step */
	double even_per_s, shared_per_s;     /* samples a second; NAN: it does not fit */
	bool is_shared;                      /* another share than an even one is faster and fits */
	double steps;                        /* of the whole run, all epochs; NAN: its length is unknown */
	struct jl_estimate even_run_s, shared_run_s;
};

/* req->system and `with` name one host's worth of GPUs each; together they are one host. `with` NULL: "A + B" is in req->system. */
enum jl_status jl_mixed_make(struct jl_mixed *ret_mixed, const struct jl_catalog *cat, const struct jl_request *req,
			     const char *with, struct jl_arena *arena, struct jl_err *err);

extern const struct jl_schema jl_mixed_fields;
