/* The catalog as C source: tables that cost nothing to load and little when they are first used (thaw.h). */
#pragma once

#include "base/buf.h"
#include "catalog/catalog.h"

#define JL_EMIT_MAX_B ((size_t)64 << 20)

/* Appends a C source that defines jl_catalog_embedded() to `out`; the same catalog gives the same text. Look at out->failed afterwards. */
void jl_catalog_emit(struct jl_buf *out, const struct jl_catalog *cat);
