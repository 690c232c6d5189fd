/* A cluster on one page. */
#pragma once

#include "bench/cluster.h"
#include "tell/tell.h"

/* `ended`: why it ended early, NULL: it did not. */
void jl_tell_cluster(struct jl_doc *doc, const struct jl_cluster *cluster, const char *over, const char *ended);
