/* How a machine stood a long load. */
#pragma once

#include "bench/soak.h"
#include "tell/tell.h"

void jl_tell_soak(struct jl_doc *doc, const struct jl_soak *soak, const char *what);
