/* Catalog validation: ids, references, dates, units, contradictions.
 *
 * Collects all findings, so that one run shows everything. Used by the build, by overlays and by `jeoul catalog validate`. */
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
	size_t n;
	size_t n_listed;    /* of them stored, at most JL_FINDINGS_MAX */
	bool out_of_memory; /* some could not be stored */
	size_t n_files;
};

void jl_findings_init(struct jl_findings *findings, struct jl_arena *arena);
void jl_findings_add(struct jl_findings *findings, const struct jl_err *err);

bool jl_findings_full(
	/* true: further findings are only counted, so their position need not be found */
	const struct jl_findings *findings);

/* JL_OK if there are no findings; otherwise the first one, with the number of further ones. */
enum jl_status jl_findings_status(const struct jl_findings *findings, struct jl_err *err);

/* Positions of all records of a catalog, in its order; NULL for built-in records. */
struct jl_catalog_places {
	const struct jl_record_place **of[JL_N_RECORD];
};

/* `places` may be NULL: findings then name only record and key. */
void jl_catalog_check(const struct jl_catalog *cat, const struct jl_catalog_places *places,
		      struct jl_findings *findings);

/* Interface between check.c and check_rates.c. */
struct jl_check {
	const struct jl_catalog *cat;
	const struct jl_catalog_places *places;
	struct jl_findings *findings;
	enum jl_catalog_kind kind; /* kind of the current record */
	size_t i;
	const void *record;
	size_t field, item, sub; /* indices of the current value */
};

/* Adds a finding about the current value, with its position and name in front. */
void jl_check_report(struct jl_check *check, enum jl_status status, const char *en, ...)
	__attribute__((format(printf, 3, 4)));
void jl_check_report_err(struct jl_check *check, const struct jl_err *err);

/* Rates beyond the chip's arithmetic; sparse rates listed as dense. */
void jl_check_gpu_rates(struct jl_check *check);
