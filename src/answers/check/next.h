/* Next diagnostic steps, by what was measured and the verdict. */
#pragma once

#include "check/expect.h"
#include "check/machine_findings.h"

#define JL_NEXT_MAX 4

struct jl_next_ask {
	const char *kind; /* of the record: gemm, memory, link, net, or a collective */
	enum jl_verdict verdict;
	double value;
	bool on_gpu;
	bool is_here;                      /* of this machine, not from a log or given */
	size_t n_history;                  /* quiet runs of this machine */
	double n_workers;                  /* train; NAN otherwise */
	const struct jl_coll_expect *coll; /* NULL: no collective, or no system for it */
	enum jl_wire intra, inter;         /* with coll */
};

struct jl_next {
	struct jl_bitext items[JL_NEXT_MAX];
	size_t n;
};

/* Empty if nothing is to be done. */
void jl_check_next(struct jl_next *ret_next, const struct jl_next_ask *ask);
