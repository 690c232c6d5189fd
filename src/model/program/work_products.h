/* Inside the work of calls only: products, convolutions, attention, recurrent layers. */
#pragma once

#include "program/work.h"

/* Operands that do not fit together leave it a stream. */
void jl_work_product(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind);
