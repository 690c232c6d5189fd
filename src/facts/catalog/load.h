/* Reading catalog folders. */
#pragma once

#include "catalog/check.h"

#define JL_CATALOG_FILES_MAX  1000
#define JL_CATALOG_PRICES_MAX 100000

/* `base` (NULL: nothing) with every *.yaml and *.csv of `dirs` and of the folders directly in them laid over it, in order, and all of it
 * checked. All that is wrong is in `findings` (NULL: not wanted); the status and `err` are those of the first. */
enum jl_status jl_catalog_read(const struct jl_catalog **ret_catalog, const struct jl_catalog *base,
			       const char *const *dirs, size_t n_dirs, struct jl_arena *arena,
			       struct jl_findings *findings, struct jl_err *err);

/* The same for one file that is in memory already; `name` ends in .yaml or .csv. */
enum jl_status jl_catalog_read_text(const struct jl_catalog **ret_catalog, const struct jl_catalog *base,
				    const char *name, const char *text, size_t len, struct jl_arena *arena,
				    struct jl_findings *findings, struct jl_err *err);

/* Between load.c and prices.c. */

/* Rows of a CSV file of prices, in the order of the file, and where each field of each stands. JL_E_NOMEM or what stopped it. */
enum jl_status jl_prices_read(struct jl_price **ret_prices, size_t *ret_n, struct jl_where **ret_cells,
			      const char *file, const char *text, size_t len, struct jl_arena *arena,
			      struct jl_findings *findings, struct jl_err *err);

/* Which accelerator a price is for, where it is known: from the catalog system of that name, from what the source
 * calls it and the item's own name, or from what a provider is known to rent out. */
enum jl_status jl_prices_resolve(const struct jl_catalog *cat, struct jl_price *prices, size_t n,
				 struct jl_arena *arena, struct jl_err *err);

/* Rows by their cells, to see which are there already. */
struct jl_price_index {
	const struct jl_price *prices;
	size_t *slots; /* index + 1; 0: free */
	size_t n_slots;
};
enum jl_status jl_price_index_init(struct jl_price_index *ret_index, const struct jl_price *prices, size_t n,
				   struct jl_arena *arena);
bool jl_price_index_has(const struct jl_price_index *index, const struct jl_price *price);

/* From the texts of a YAML record to a record of catalog.h. */
struct jl_cook {
	struct jl_arena *arena;
	const struct jl_catalog *cat; /* its sources give facts their origin and date */
	struct jl_findings *findings;
	const struct jl_schema *schema;
	bool amends; /* the record exists already: only what is given changes */
};

/* `map` has the shape of a record (shape.h); its texts become the record's. `record` holds what is known so far (cleared, or a copy of the
 * record that is amended). What is wrong goes to the findings and leaves the field as it was; the status is JL_OK or JL_E_NOMEM. */
enum jl_status jl_cook_record(const struct jl_cook *cook, const struct jl_yaml *map, void *record, struct jl_err *err);
