/* Is the catalog right: ids, references, dates, units, and figures that contradict each other.
 *
 * Everything that is wrong is collected, so that one run shows it all. Used by the build, by overlays and by
 * `jeoul catalog validate`. */
#pragma once

#include "catalog/catalog.h"
#include "catalog/schema.h"
#include "catalog/shape.h"

#define JL_FINDINGS_MAX 200

struct jl_finding {
	const struct jl_finding *next;
	struct jl_err err; /* "file:line:column: gpu h100-sxm5: mem_rate: ..." */
};

struct jl_findings {
	struct jl_arena *arena;
	const struct jl_finding *first;
	struct jl_finding *last;
	size_t n;           /* all of them */
	size_t n_listed;    /* at most JL_FINDINGS_MAX */
	bool out_of_memory; /* some could not be kept */
	size_t n_files;     /* that were read */
};

void jl_findings_init(struct jl_findings *findings, struct jl_arena *arena);
void jl_findings_add(struct jl_findings *findings, const struct jl_err *err);

bool jl_findings_full(
	const struct jl_findings *findings); /* more are counted, not kept: their place need not be looked for */

/* JL_OK when there are none; else the first one, with how many more there are. */
enum jl_status jl_findings_status(const struct jl_findings *findings, struct jl_err *err);

/* For every record of a catalog, in its order. Records that were compiled in have NULL. */
struct jl_catalog_places {
	const struct jl_record_place **of[JL_N_RECORD];
};

/* `places` may be NULL: findings then name record and key only. */
void jl_catalog_check(const struct jl_catalog *cat, const struct jl_catalog_places *places,
		      struct jl_findings *findings);

/* Between check.c and check_rates.c. */
struct jl_check {
	const struct jl_catalog *cat;
	const struct jl_catalog_places *places;
	struct jl_findings *findings;
	enum jl_catalog_kind kind; /* the record looked at */
	size_t i;
	const void *record;
	size_t field, item, sub; /* the value looked at */
};

/* One finding about the value looked at, with its place and name in front. */
void jl_check_report(struct jl_check *check, enum jl_status status, const char *en, ...)
	__attribute__((format(printf, 3, 4)));
void jl_check_report_err(struct jl_check *check, const struct jl_err *err);

/* Rates that the arithmetic of the chip does not allow; sparse figures given as dense. */
void jl_check_gpu_rates(struct jl_check *check);
