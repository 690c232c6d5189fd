/* Makes the built-in catalog usable; see emit.c. */
#pragma once

#include <stdint.h>

#include "catalog/catalog.h"

/* Address assumed by the image's pointers: usually unused, also with 39-bit addresses; and the largest page size. */
#define JL_CATALOG_HOME    0x2a00000000UL
#define JL_CATALOG_ALIGN_B 65536

/* Makes the pointers of `cat` and at `places` of the image valid. They assume JL_CATALOG_HOME: maps a second view of the image there, or relocates
 * all of them in place. */
void jl_catalog_thaw(struct jl_catalog *cat, void *image, size_t size_B, const uint32_t *places, size_t n_places);
