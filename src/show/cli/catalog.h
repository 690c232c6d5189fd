/* Shared by the catalog commands. */
#pragma once

#include "base/json.h"
#include "topics/catalog.h"

/* Writes a record with its sources as one JSON value. */
void jl_catalog_put(struct jl_json *json, const struct jl_catalog *cat, enum jl_catalog_kind kind, const void *record);
