/* Names as people type them, by the tables of catalog/names.yaml. Knows words and rules, no records: catalog/find.h looks those up. */
#pragma once

#include "base/fields.h"
#include "catalog/catalog.h"
#include "catalog/words.h"

/* A rule of catalog/names.yaml that a name fits. */
struct jl_named {
	const struct jl_rule *rule; /* NULL: none fits */
	double number;              /* what its '#' stood for; NAN: it has none */
};

/* What was read how, as "names_read" of an answer. */
extern const struct jl_schema jl_readings_fields;

/* The rule of this kind one of whose spellings has the words of `text`. */
struct jl_named jl_named(const struct jl_catalog *cat, const char *kind, const char *text);

/* A rule that settles nothing is a question: JL_E_AMBIGUOUS with the ids to choose from. */
enum jl_status jl_named_settles(const struct jl_named *named, const char *text, struct jl_err *err);

/* The id of a rule's value, "#/2 tpu-v5p" -> tpu-v5p; *ret_n: how many of it, 0 where the name does not say. */
const char *jl_named_id(const struct jl_named *named, int *ret_n);

/* Note how a name was read; nothing where the catalog has no place for it (cat->readings). */
void jl_reading_add(const struct jl_catalog *cat, const char *written, const char *meant, const char *others);
/* Note in cat->readings that `text` was read by this rule; nothing where the rule is a plain synonym. */
void jl_named_note(const struct jl_catalog *cat, const struct jl_named *named, const char *text);

/* Removes words of a unit's name without meaning ("developer kit", a plural s) and joins "24G" to "24GB"; false: nothing changed. */
bool jl_name_clean_unit(char out[JL_NAME_MAX + 1], const struct jl_catalog *cat, const char *text);

/* The name of a model without its organisation and the ending of a file: "meta-llama/Llama-3-8B" -> "Llama-3-8B". */
void jl_name_of_model(char out[JL_NAME_MAX + 1], const char *text);
/* Cuts the last word where it does not change the shape ("-Instruct", ".Q4_K_M"). ret_weights (may be NULL): the format that the word names, else
 * unchanged. False: the last word belongs to the name. */
bool jl_name_cut_suffix(char io[JL_NAME_MAX + 1], const struct jl_catalog *cat, const char **ret_weights);
/* The format of the weights that the name of a model says (as --weights takes it); NULL: none. */
const char *jl_name_weights(const struct jl_catalog *cat, const char *text);
