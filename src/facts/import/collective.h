/* What nccl-tests measures, by the names it uses; shared by the readers of its text and its JSON. */
#pragma once

#include "import/format.h"

/* "all_reduce_perf", "./build/all_gather_perf_mpi", "allreduce" → "allreduce"; NULL: none that we know. */
const char *jl_collective_named(const char *program);

struct jl_coll_row {
	double size_B, count, n_ranks, n_nodes, root, n_wrong; /* NAN: not known */
	const char *type, *redop, *gpu;
	const char *kind; /* NULL: not stated */
	bool in_place;
	struct jl_number time_us, algbw_GBps, busbw_GBps;
};

/* Checks the figures against one another, finds the collective where it is not stated, and makes the record; a row that
 * contradicts itself is dropped with a remark. */
void jl_collective_emit(struct jl_importer *imp, struct jl_draft *draft, const struct jl_coll_row *row);
