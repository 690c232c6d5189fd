/* Finds catalog records by names as users write them. */
#pragma once

#include "catalog/catalog.h"

/* Case, blanks, hyphens and brand words (NVIDIA, GeForce, Tesla, AMD Instinct) are ignored. The first rule with a match applies:
 *   1 exact id;
 *   2 the words of an id, name or alias ("GeForce RTX3090" = rtx-3090; a leading RTX or GTX may be left out);
 *   3 the same words in another order;
 *   4 the same words except a memory size ("rtx 3080" matches rtx-3080-10gb and rtx-3080-12gb, not rtx-3080-ti);
 *   5 all words of the request among others ("a100" matches every A100; joined words must be adjacent), or a prefix that
 *     ends at a word boundary ("p5" matches aws:p5.48xlarge).
 * Several matches are JL_E_AMBIGUOUS with a list; none is JL_E_NOTFOUND with the nearest names. Allocates nothing. */
enum jl_status jl_find_gpu(const struct jl_gpu **ret_gpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err);

/* All equally good matches, for filters: "h100" gives every H100. Writes at most `max`; returns their number, 0: none. */
size_t jl_find_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat, const char *text);

/* Accelerators that a price may refer to: one if the row is specific, several if it leaves the variant open ("H100"), 0 if none has that name.
 * Writes at most `max`. */
size_t jl_price_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat,
		     const struct jl_price *price);

/* True if the price is for a cloud's offer, "aws:p3.2xlarge". */
bool jl_price_is_offer(const struct jl_price *price, const char *system_id);
/* The offered system; NULL: not in the catalog. */
const struct jl_system *jl_price_system(const struct jl_catalog *cat, const struct jl_price *price);

enum jl_status jl_find_cpu(const struct jl_cpu **ret_cpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err);

/* any role: for lookups, not for building a system */
#define JL_ROLE_ANY ((enum jl_link_role)0xff)
enum jl_status jl_find_link(const struct jl_link_info **ret_link, const struct jl_catalog *cat, const char *text,
			    enum jl_link_role role, struct jl_err *err);

/* Ignores an organisation in front ("meta-llama/"), file suffixes, and trailing words such as Instruct, 2507, Q4_K_M, AWQ. Then applies the rules
 * of catalog/names.yaml. */
enum jl_status jl_find_model(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *text,
			     struct jl_err *err);

/* An accelerator or a catalog system, whichever matches better (ties: the accelerator); exactly one is set. Names that match no words are tried
 * with catalog/names.yaml. */
struct jl_found {
	const struct jl_gpu *gpu;
	const struct jl_system *system;
	int n; /* number of accelerators in the name: 256 in "v5e-256"; 0: none */
};
enum jl_status jl_find_unit(struct jl_found *ret_found, const struct jl_catalog *cat, const char *text,
			    struct jl_err *err);

/* True if these words, in any order, are an accelerator's or system's id, name or alias. */
bool jl_unit_is_called(const struct jl_catalog *cat, const char *text);

/* A record of any kind, for display: the kind with the best match; ties: the order of the members. Exactly one is set. Except for accelerators and
 * systems, words that occur only in a description do not count. */
struct jl_found_any {
	const struct jl_gpu *gpu;
	const struct jl_system *system;
	const struct jl_cpu *cpu;
	const struct jl_model_info *model;
	const struct jl_family *family;
	const struct jl_link_info *link;
};
enum jl_status jl_find_any(struct jl_found_any *ret_found, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err);

/* By exact id; NULL: none, or id is NULL. */
const struct jl_source *jl_source_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_family *jl_family_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_gpu *jl_gpu_by_id(const struct jl_catalog *cat, const char *id);
/* First listed GPU with the same family, core count, clock and power limit, often the GPU itself. Measured products of one apply to all of them
 * (H100, H200 and GH200 differ only in memory). */
const struct jl_gpu *jl_gpu_chip(const struct jl_catalog *cat, const struct jl_gpu *gpu);
const struct jl_cpu *jl_cpu_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_link_info *jl_link_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_model_info *jl_model_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_rule *jl_rule_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_reliability *jl_reliability_by_id(const struct jl_catalog *cat, const char *id);

/* A value of catalog/figures.yaml; the built-in one if `cat` has none. */
/* Name on the Hugging Face hub, listed or among the aliases; NULL: unknown. */
const char *jl_model_hub(const struct jl_model_info *model);

double jl_figure(const struct jl_catalog *cat, const char *id);
/* Id for `text` by a rule of this kind ("gpu-spelling"); NULL: none. */
const char *jl_spelt(const struct jl_catalog *cat, const char *kind, const char *text);
/* GPU by its name in a published table; NULL: unknown, with the name in err. */
const struct jl_gpu *jl_find_spelt_gpu(const struct jl_catalog *cat, const char *text, struct jl_err *err);
/* Fast if the list is sorted by id, as the built-in one is. */
const struct jl_param_info *jl_param_by_id(const struct jl_catalog *cat, const char *id);
