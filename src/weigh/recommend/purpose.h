/* What somebody wants a machine for, as work that can be weighed: the list of catalog/purposes.yaml. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum jl_task { JL_TASK_TRAIN, JL_TASK_LORA, JL_TASK_SERVE, JL_N_TASK };

/* Numbers that a purpose does not have are NAN. */
struct jl_purpose {
	const char *id, *en;
	const char *caveat; /* NULL: none */
	enum jl_task task;
	const char *model;
	double seq, global_batch, samples, tokens, epochs; /* of one training run */
	double runs, months;                               /* runs a month, for so many months */
	double wait_s;                                     /* longer is too slow: a run; serve: one token of one user */
	double users, context, tokens_per_s;               /* serve */
};

struct jl_purposes {
	const struct jl_purpose *items;
	size_t n;
};

enum jl_status jl_purposes_parse(struct jl_purposes *ret_list, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err);

/* Those built in. */
enum jl_status jl_purposes_embedded(struct jl_purposes *ret_list, struct jl_arena *arena, struct jl_err *err);

/* By id; what is wrong names the nearest and all there are. */
enum jl_status jl_purpose_find(const struct jl_purpose **ret_purpose, const struct jl_purposes *list, const char *name,
			       struct jl_err *err);

const char *jl_task_key(enum jl_task task);
