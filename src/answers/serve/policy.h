/* How engines schedule: what differs between them, as a table. */
#pragma once

#include <stdbool.h>

#include "parameters/serve_params.h"

enum jl_kv_rule {
	JL_KV_AS_NEEDED, /* a request is let in when its prompt fits; the last one in is thrown back when blocks run out */
	JL_KV_RESERVED, /* when its whole answer fits as well: nobody is thrown back */
	JL_KV_ESTIMATED /* when a share of all answers under way fits as well */
};

struct jl_policy {
	const char *name;
	bool mixed;       /* prompts and answers share passes; else prompts go first, and answers wait */
	int token_budget; /* of a pass with prompts: longer ones are cut */
	int max_seqs;     /* at work at once */
	int block_tokens; /* of keys and values */
	int graph_max;    /* largest batch that is captured; beyond, kernels are launched one by one */
	int graph_step;   /* captured sizes: powers of two up to it, then its multiples */
	double mem_frac;  /* of the memory, for weights, keys and values */
	enum jl_kv_rule kv_rule;
	double kept_frac; /* JL_KV_ESTIMATED: of the answers under way */
	bool own_ranks;   /* attention cut by requests: each GPU has the limits above for itself */
};

/* Of an engine; what is not in the table schedules as vLLM does. */
const struct jl_policy *jl_policy_of(enum jl_engine engine);

/* The batch that a pass of n sequences is run with. */
double jl_policy_padded(const struct jl_policy *policy, double n);
