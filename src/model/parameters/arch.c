/* Index of the GPU architectures that have parameters of their own. */
#include "parameters/arch.h"

#include <string.h>

#include "catalog/find.h"

#define PARENTS_MAX 8

static bool has_priors(const struct jl_family *family)
{
	return family->priors.n_sm > 0;
}

static bool has_flag(const struct jl_family *family, size_t flag)
{
	return *(const bool *)(const void *)((const char *)&family->priors + flag);
}

/* cache per thread, because every read of a parameter needs the list */
static _Thread_local struct {
	const struct jl_family *family[JL_ARCHS_MAX];
	int n;
} archs;

int jl_n_arch(void)
{
	const struct jl_catalog *cat = jl_catalog_embedded();

	for (size_t i = 0; archs.n == 0 && i < cat->n_families; i++)
		for (; i < cat->n_families && archs.n < JL_ARCHS_MAX; i++)
			if (has_priors(&cat->families[i]))
				archs.family[archs.n++] = &cat->families[i];
	return archs.n;
}

const struct jl_family *jl_arch_family(int arch)
{
	(void)jl_n_arch();
	return archs.family[arch];
}

const char *jl_arch_id(int arch)
{
	return jl_arch_family(arch)->id;
}

int jl_arch_by_id(const char *id)
{
	const int n = jl_n_arch();

	for (int a = 0; id && a < n; a++)
		if (strcmp(id, jl_arch_family(a)->id) == 0)
			return a;
	return JL_ARCH_OTHER;
}

void jl_arch_of(const struct jl_catalog *cat, const char *family, int *ret_arch, const struct jl_priors **ret_priors)
{
	const struct jl_priors *own = NULL;
	int arch = JL_ARCH_OTHER;

	for (int i = 0; family && arch == JL_ARCH_OTHER && i < PARENTS_MAX; i++) {
		const struct jl_family *record = jl_family_by_id(cat, family);

		if (!own && record && has_priors(record))
			own = &record->priors;
		arch = jl_arch_by_id(family);
		family = record ? record->parent : NULL;
	}
	*ret_arch = arch;
	*ret_priors = own ? own : &jl_arch_family(arch)->priors;
}

size_t jl_n_arch_among(size_t flag)
{
	const int n = jl_n_arch();
	size_t found = 0;

	for (int a = 0; a < n; a++)
		found += has_flag(jl_arch_family(a), flag);
	return found;
}

const struct jl_family *jl_arch_among_at(size_t i, size_t flag)
{
	for (int a = 0;; a++) {
		const struct jl_family *family = jl_arch_family(a);

		if (has_flag(family, flag) && i-- == 0)
			return family;
	}
}

size_t jl_arch_among(int arch, size_t flag)
{
	const struct jl_family *family = jl_arch_family(arch);
	size_t at = 0;

	for (int i = 0; i < PARENTS_MAX && !has_flag(family, flag) && family->parent; i++)
		family = jl_family_by_id(jl_catalog_embedded(), family->parent);
	if (!has_flag(family, flag))
		return 0;
	for (int a = 0; jl_arch_family(a) != family; a++)
		at += has_flag(jl_arch_family(a), flag);
	return at;
}
