/* Machines of a fleet against each other. */
#pragma once

#include "check/nodes.h"
#include "tell/tell.h"

void jl_tell_nodes(struct jl_doc *doc, const struct jl_nodes *nodes);
