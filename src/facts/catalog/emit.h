/* Catalog as C source: tables with no cost at program start and little at first use (thaw.h). */
#pragma once

#include "base/buf.h"
#include "catalog/catalog.h"

#define JL_EMIT_MAX_B ((size_t)64 << 20)

/* Appends a C source that defines jl_catalog_embedded() to `out`; deterministic. Check out->failed afterwards. */
void jl_catalog_emit(struct jl_buf *out, const struct jl_catalog *cat);
