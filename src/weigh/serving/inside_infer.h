/* What infer.c and flags.c share. */
#pragma once

#include "serving/infer.h"

/* The lines that start the engine: of all known ones where none was asked for. */
void jl_infer_flags(struct jl_infer *infer, const struct jl_infer_ask *ask, const struct jl_serve_job *job);
