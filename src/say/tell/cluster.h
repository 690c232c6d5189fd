/* A cluster on one page. */
#ifndef JL_TELL_CLUSTER_H
#define JL_TELL_CLUSTER_H

#include "bench/cluster.h"
#include "tell/tell.h"

/* `ended`: why it ended early, NULL: it did not. */
void jl_tell_cluster(struct jl_doc *doc, const struct jl_cluster *cluster, const char *over, const char *ended);

#endif
