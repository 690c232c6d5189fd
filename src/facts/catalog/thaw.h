/* The catalog that is compiled into the program, made usable: see emit.c. */
#pragma once

#include "catalog/catalog.h"

/* `frozen` are tables of size_B bytes whose pointers are distances: below size_B into the tables, from there on into `texts`. They are
 * copied to `thawed` and put right there, and `cat`, whose lists are distances too, points into the copy afterwards. */
void jl_catalog_thaw(struct jl_catalog *cat, const void *frozen, void *thawed, size_t size_B, const char *texts);
