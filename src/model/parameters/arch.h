/* GPU architectures with parameters of their own: the built-in families with `priors:`, in the order of catalog/families.yaml. The first, "other",
 * is the default for unknown ones. */
#pragma once

#include "catalog/catalog.h"
#include "kernels/device.h"

#define JL_ARCHS_MAX 24 /* capacity of parameter vectors */

int jl_n_arch(void);
const struct jl_family *jl_arch_family(int arch);
const char *jl_arch_id(int arch);

/* Index of a family by its id ("hopper", "ampere-rtx", ...); JL_ARCH_OTHER: NULL or unknown. */
int jl_arch_by_id(const char *id);

/* Architecture and priors of a GPU's family, or of the nearest relative that has them. The priors are those of `cat`, which may differ from the
 * built-in ones. */
void jl_arch_of(const struct jl_catalog *cat, const char *family, int *ret_arch, const struct jl_priors **ret_priors);

/* Index of an architecture among those whose priors set `flag` (offsetof a bool); if its own do not, that of the nearest relative that does. */
size_t jl_arch_among(int arch, size_t flag);
size_t jl_n_arch_among(size_t flag);
/* The i-th of those architectures. */
const struct jl_family *jl_arch_among_at(size_t i, size_t flag);
