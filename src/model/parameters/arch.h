/* The architectures that have parameters of their own: the built-in families with `priors:`, in the order of catalog/families.yaml.
 * "other" is the first: what stands for everything that is not known. */
#pragma once

#include "catalog/catalog.h"
#include "kernels/device.h"

#define JL_ARCHS_MAX 24 /* vectors of parameters have room for so many */

int jl_n_arch(void);
const struct jl_family *jl_arch_family(int arch);
const char *jl_arch_id(int arch);

/* By the family's id ("hopper", "ampere-rtx", ...); JL_ARCH_OTHER where it is unknown or NULL. */
int jl_arch_by_id(const char *id);

/* The family of a GPU: `ret_arch` its own or the nearest relative's, `ret_priors` likewise, which `cat` may have changed. */
void jl_arch_of(const struct jl_catalog *cat, const char *family, int *ret_arch, const struct jl_priors **ret_priors);

/* Place of an architecture among those with a flag of their priors (offsetof); where it has none, of the nearest that has. */
size_t jl_arch_among(int arch, size_t flag);
size_t jl_n_arch_among(size_t flag);
/* The i-th of them. */
const struct jl_family *jl_arch_among_at(size_t i, size_t flag);
