/* Reads catalog folders. */
#pragma once

#include "catalog/check.h"

#define JL_CATALOG_FILES_MAX  1000
#define JL_CATALOG_PRICES_MAX 100000

/* Overlays all *.yaml and *.csv of `dirs` and of their direct subfolders on `base` (NULL: nothing), in order, and checks the result. All errors are
 * in `findings` (may be NULL); status and `err` are the first error. */
enum jl_status jl_catalog_read(const struct jl_catalog **ret_catalog, const struct jl_catalog *base,
			       const char *const *dirs, size_t n_dirs, struct jl_arena *arena,
			       struct jl_findings *findings, struct jl_err *err);

/* The same for one file in memory; `name` ends in .yaml or .csv. */
enum jl_status jl_catalog_read_text(const struct jl_catalog **ret_catalog, const struct jl_catalog *base,
				    const char *name, const char *text, size_t len, struct jl_arena *arena,
				    struct jl_findings *findings, struct jl_err *err);

/* Interface between load.c and prices.c. */

/* Rows of a CSV file of prices in file order, and the position of each field. JL_E_NOMEM, or the error that stopped it. */
enum jl_status jl_prices_read(struct jl_price **ret_prices, size_t *ret_n, struct jl_where **ret_cells,
			      const char *file, const char *text, size_t len, struct jl_arena *arena,
			      struct jl_findings *findings, struct jl_err *err);

/* Resolves a price's accelerator if possible: from the catalog system of that name, from the source's spelling and the item's name, or from what
 * the provider is known to offer. */
enum jl_status jl_prices_resolve(const struct jl_catalog *cat, struct jl_price *prices, size_t n,
				 struct jl_arena *arena, struct jl_err *err);

/* Hash index of rows by content, to detect known rows. */
struct jl_price_index {
	const struct jl_price *prices;
	size_t *slots; /* index + 1; 0: free */
	size_t n_slots;
};
enum jl_status jl_price_index_init(struct jl_price_index *ret_index, const struct jl_price *prices, size_t n,
				   struct jl_arena *arena);
bool jl_price_index_has(const struct jl_price_index *index, const struct jl_price *price);

/* Converts the texts of a YAML record to a record of catalog.h. */
struct jl_cook {
	struct jl_arena *arena;
	const struct jl_catalog *cat; /* its sources give facts their origin and date */
	struct jl_findings *findings;
	const struct jl_schema *schema;
	bool amends; /* the record exists already: only given fields change */
};

/* `map` has been checked by shape.h. `record` is cleared, or a copy of the amended record. Errors go to the findings and leave the field unchanged;
 * returns JL_OK or JL_E_NOMEM. */
enum jl_status jl_cook_record(const struct jl_cook *cook, const struct jl_yaml *map, void *record, struct jl_err *err);
