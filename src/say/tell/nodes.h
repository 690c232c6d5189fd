/* Machines of a fleet against each other. */
#ifndef JL_TELL_NODES_H
#define JL_TELL_NODES_H

#include "check/nodes.h"
#include "tell/tell.h"

void jl_tell_nodes(struct jl_doc *doc, const struct jl_nodes *nodes);

#endif
