/* A transformer as the catalog lists it, as the shape that the model reckons with. */
#pragma once

#include "catalog/catalog.h"
#include "workload/transformer.h"

/* Shape and parts of `info`; what a record does not say (norms around each part, ALiBi, dropout of the original recipe)
 * comes from its family. */
void jl_transformer_from_catalog(struct jl_transformer *ret_model, const struct jl_model_info *info);
