/* The catalog that is compiled into the program, made usable: see emit.c. */
#pragma once

#include <stdint.h>

#include "catalog/catalog.h"

/* `tables` are size_B bytes; pointers in them, at `places`, are distances: below size_B into the tables, from there on into `texts`. They
 * are put right where they are, and so are the lists of `cat`. */
void jl_catalog_thaw(struct jl_catalog *cat, void *tables, size_t size_B, const char *texts, const uint32_t *places,
		     size_t n_places);
