/* From what people write to the record they mean. */
#pragma once

#include "catalog/catalog.h"

/* Case, blanks, hyphens, and brand words (NVIDIA, GeForce, Tesla, AMD Instinct) do not matter. In order, the first that
 * fits decides:
 *   1 the id itself;
 *   2 the same words as an id, name or alias ("GeForce RTX3090" = rtx-3090; a leading RTX or GTX may be left out);
 *   3 the same words in another order;
 *   4 the same words but for a memory size ("rtx 3080" fits rtx-3080-10gb and rtx-3080-12gb, not rtx-3080-ti);
 *   5 all the words asked for, among others ("a100" fits every A100; what was written together stands together), or the
 *     beginning up to the end of a word ("p5" fits aws:p5.48xlarge).
 * One record is found, several are JL_E_AMBIGUOUS and listed, none is JL_E_NOTFOUND with the nearest names. Nothing is
 * allocated. */
enum jl_status jl_find_gpu(const struct jl_gpu **ret_gpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err);

/* All that fit equally well, for filters: "h100" gives every H100. At most `max` are written; returns how many there are, 0 for none. */
size_t jl_find_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat, const char *text);

/* Accelerators that a price may be for: one where the row says it, several where it leaves the variant open ("H100"),
 * 0 where the catalog has none of that name. At most `max` are written. */
size_t jl_price_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat,
		     const struct jl_price *price);

/* Is the price that of a cloud's offer, "aws:p3.2xlarge"? */
bool jl_price_is_offer(const struct jl_price *price, const char *system_id);
/* The system that is offered; NULL: the catalog does not describe it. */
const struct jl_system *jl_price_system(const struct jl_catalog *cat, const struct jl_price *price);

enum jl_status jl_find_cpu(const struct jl_cpu **ret_cpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err);

/* Any role: for looking a link up, not for building a system with it. */
#define JL_ROLE_ANY ((enum jl_link_role)0xff)
enum jl_status jl_find_link(const struct jl_link_info **ret_link, const struct jl_catalog *cat, const char *text,
			    enum jl_link_role role, struct jl_err *err);

/* An organisation in front ("meta-llama/"), the ending of a file and words like Instruct, 2507, Q4_K_M, AWQ behind do not matter; a name that
 * catalog/names.yaml reads is that model. */
enum jl_status jl_find_model(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *text,
			     struct jl_err *err);

/* An accelerator or a catalog system, whichever fits better (the accelerator where both do); exactly one of the two is set. Names that fit no id,
 * name or alias by their words are read by catalog/names.yaml. */
struct jl_found {
	const struct jl_gpu *gpu;
	const struct jl_system *system;
	int n; /* accelerators that the name says: 256 of "v5e-256"; 0: nothing */
};
enum jl_status jl_find_unit(struct jl_found *ret_found, const struct jl_catalog *cat, const char *text,
			    struct jl_err *err);

/* Has an accelerator or a system these words, in any order, for its id, a name or an alias? */
bool jl_unit_is_called(const struct jl_catalog *cat, const char *text);

/* A record of any kind, for showing it. The kind whose records fit best is meant, in the order of the members where several fit alike; one
 * of them is set. Beyond accelerators and systems, words that only occur in a description do not count. */
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

/* By exact id; NULL if there is none (or id is NULL). */
const struct jl_source *jl_source_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_family *jl_family_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_gpu *jl_gpu_by_id(const struct jl_catalog *cat, const char *id);
/* The first listed GPU with as many cores of the same family at the same clock and power limit, often itself: what runs taught about the
 * products of one holds for all of them (an H100, an H200 and a GH200 differ in their memories). */
const struct jl_gpu *jl_gpu_chip(const struct jl_catalog *cat, const struct jl_gpu *gpu);
const struct jl_cpu *jl_cpu_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_link_info *jl_link_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_model_info *jl_model_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_rule *jl_rule_by_id(const struct jl_catalog *cat, const char *id);
const struct jl_reliability *jl_reliability_by_id(const struct jl_catalog *cat, const char *id);

/* A figure of catalog/figures.yaml; the built-in one where `cat` has none. */
/* Its name on the Hugging Face hub, listed or among its other names; NULL: unknown. */
const char *jl_model_hub(const struct jl_model_info *model);

double jl_figure(const struct jl_catalog *cat, const char *id);
/* The id that `text` means: a rule of this kind ("gpu-spelling"); NULL: there is none. */
const char *jl_spelt(const struct jl_catalog *cat, const char *kind, const char *text);
/* A GPU by the name that a published table uses; NULL: unknown, and err names it. */
const struct jl_gpu *jl_find_spelt_gpu(const struct jl_catalog *cat, const char *text, struct jl_err *err);
/* Fast where the list is in the order of its ids, as the shipped one is. */
const struct jl_param_info *jl_param_by_id(const struct jl_catalog *cat, const char *id);
