/* How a machine stood a long load. */
#ifndef JL_TELL_SOAK_H
#define JL_TELL_SOAK_H

#include "bench/soak.h"
#include "tell/tell.h"

void jl_tell_soak(struct jl_doc *doc, const struct jl_soak *soak, const char *what);

#endif
