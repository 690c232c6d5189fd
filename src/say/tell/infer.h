/* A served model under a load: how fast, what bounds it, what it costs, how to start it. */
#pragma once

#include "serving/infer.h"
#include "tell/tell.h"

void jl_tell_infer(struct jl_doc *doc, const struct jl_infer *a);
