/* The catalog that is compiled into the program, made usable: see emit.c. */
#pragma once

#include <stdint.h>

#include "catalog/catalog.h"

/* Where its pointers point to, an address that programs leave free, also where there are only 39 bits of them; and the largest page. */
#define JL_CATALOG_HOME    0x2a00000000UL
#define JL_CATALOG_ALIGN_B 65536

/* The lists of `cat`, and the pointers at `places` of the image, are those of an image at JL_CATALOG_HOME: either a second view of it is
 * opened there, or they are all put right where they are. */
void jl_catalog_thaw(struct jl_catalog *cat, void *image, size_t size_B, const uint32_t *places, size_t n_places);
