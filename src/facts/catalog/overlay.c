/* In its own file, because the tool that compiles the catalog has no built-in one to overlay. */
#include "catalog/load.h"

enum jl_status jl_catalog_overlay(const struct jl_catalog **ret_catalog, const char *const *dirs, size_t n_dirs,
				  struct jl_arena *arena, struct jl_err *err)
{
	if (n_dirs == 0) {
		*ret_catalog = jl_catalog_embedded();
		return JL_OK;
	}
	return jl_catalog_read(ret_catalog, jl_catalog_embedded(), dirs, n_dirs, arena, NULL, err);
}
