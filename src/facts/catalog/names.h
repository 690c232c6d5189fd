/* Interprets names by the tables of catalog/names.yaml. Knows words and rules but no records; see catalog/find.h for those. */
#pragma once

#include "base/fields.h"
#include "catalog/catalog.h"
#include "catalog/words.h"

/* Result of matching a rule of catalog/names.yaml. */
struct jl_named {
	const struct jl_rule *rule; /* NULL: no match */
	double number;              /* value of its '#'; NAN: none */
};

/* Interpretations, as "names_read" of an answer. */
extern const struct jl_schema jl_readings_fields;

/* The rule of this kind whose spelling has the words of `text`. */
struct jl_named jl_named(const struct jl_catalog *cat, const char *kind, const char *text);

/* JL_E_AMBIGUOUS with the ids to choose from, if the rule is only a question. */
enum jl_status jl_named_settles(const struct jl_named *named, const char *text, struct jl_err *err);

/* Id in a rule's value, "#/2 tpu-v5p" -> tpu-v5p; *ret_n: the count, 0 if the name gives none. */
const char *jl_named_id(const struct jl_named *named, int *ret_n);

/* Records how a name was interpreted; does nothing if cat->readings is NULL. */
void jl_reading_add(const struct jl_catalog *cat, const char *written, const char *meant, const char *others);
/* Records in cat->readings that `text` matched this rule; plain synonyms are not recorded. */
void jl_named_note(const struct jl_catalog *cat, const struct jl_named *named, const char *text);

/* Removes meaningless words of a unit's name ("developer kit", a plural s) and joins "24G" to "24GB"; false: unchanged. */
bool jl_name_clean_unit(char out[JL_NAME_MAX + 1], const struct jl_catalog *cat, const char *text);

/* Model name without organisation and file suffix: "meta-llama/Llama-3-8B" -> "Llama-3-8B". */
void jl_name_of_model(char out[JL_NAME_MAX + 1], const char *text);
/* Removes a last word that does not affect the shape ("-Instruct", ".Q4_K_M"). ret_weights (may be NULL): the weight format it names, else
 * unchanged. False: the last word belongs to the name. */
bool jl_name_cut_suffix(char io[JL_NAME_MAX + 1], const struct jl_catalog *cat, const char **ret_weights);
/* Weight format in a model's name (as for --weights); NULL: none. */
const char *jl_name_weights(const struct jl_catalog *cat, const char *text);
