/* What the commands of the catalog share: facts as table rows and as JSON. */
#pragma once

#include "base/json.h"
#include "base/table.h"
#include "catalog/schema.h"
#include "cli/command.h"
#include "predict/fields.h"
#include "tell/tell.h"
#include "workload/convnet.h"

/* A quantity as people write it: memory in binary prefixes, numbers bare. */
const char *jl_view_value(char out[JL_UNITS_TEXT_MAX], double value, enum jl_kind kind, bool is_memory);

/* Sources by number: a figure says [1], the foot of the page says who that is. */
#define JL_FOOTNOTES_MAX 32
struct jl_footnotes {
	const struct jl_fact *facts[JL_FOOTNOTES_MAX]; /* one for each pair of source and date */
	size_t n;
};
/* "◇ [1]": the mark of the origin and the number of the source; empty for what is not known. */
const char *jl_view_note(char out[32], struct jl_footnotes *notes, const struct jl_fact *fact);
void jl_view_footnotes(struct jl_cli *cli, const struct jl_footnotes *notes);

/* The label of a fact in the language of the command; the key itself where it has none. */
const char *jl_view_label(enum jl_catalog_kind kind, const struct jl_field *field);

/* A whole record by its schema. Keys are the C members: units in the names. */
void jl_view_record_json(struct jl_json *json, const struct jl_catalog *cat, enum jl_catalog_kind kind,
			 const void *record);

/* A page: print `table` into the output of the command. */
enum jl_status jl_view_table(struct jl_cli *cli, struct jl_table *table, size_t indent, struct jl_err *err);

/* "label: text" broken at blanks to the width of the terminal; what follows the first line is indented by four more. */
void jl_view_wrapped(struct jl_cli *cli, size_t indent, const char *label, const char *text);

/* The rest of a line that has come to column `at`, broken at blanks; what follows the first line is indented by `indent`. */
void jl_view_flow(struct jl_cli *cli, size_t at, size_t indent, const char *text);

/* "  Label     text": continued lines pass NULL. */
void jl_view_entry(struct jl_cli *cli, const char *en, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A command's JSON: a struct by its table. */
enum jl_status jl_view_fields(struct jl_cli *cli, const struct jl_schema *schema, const void *record);
/* A command's page: a document is begun, built by `tell`, and shown. */
void jl_view_page(struct jl_cli *cli, struct jl_doc *ret_doc);
enum jl_status jl_view_show(struct jl_cli *cli, const struct jl_doc *doc, struct jl_err *err);
/* How a command ends: what was asked as JSON by its table, or told (a call of `tell` on &doc) and shown. */
#define JL_ANSWER(CLI, ERR, FIELDS, RESULT, TELL)                                                                      \
	do {                                                                                                           \
		struct jl_doc doc;                                                                                     \
		if ((CLI)->json)                                                                                       \
			return jl_view_fields((CLI), (FIELDS), (RESULT));                                              \
		jl_view_page((CLI), &doc);                                                                             \
		TELL;                                                                                                  \
		return jl_view_show((CLI), &doc, (ERR));                                                               \
	} while (0)
/* Names of the command's own options, NULL at the end; NULL: out of memory. */
const char *const *jl_view_options(struct jl_cli *cli);

/* What waits for the server, what was sent just now, what the server refuses and why. */
struct jl_store;
void jl_view_spool(struct jl_cli *cli, const struct jl_store *store);

/* Colour when the output is a terminal, else nothing. */
const char *jl_view_bold(const struct jl_cli *cli);
const char *jl_view_dim(const struct jl_cli *cli);
const char *jl_view_reset(const struct jl_cli *cli);

/* catalog_convnet.c: networks that are no plain transformers */
void jl_view_convnet(struct jl_cli *cli, const struct jl_convnet *net); /* text or JSON */
enum jl_status jl_view_convnets(struct jl_cli *cli, const struct jl_convnet_list *list, struct jl_err *err);
void jl_view_convnet_json(struct jl_json *json, const struct jl_convnet *net);
/* Those built in with the person's own laid over them. */
enum jl_status jl_cli_convnets(struct jl_convnet_list *ret_list, struct jl_cli *cli, struct jl_err *err);
bool jl_convnet_has_words(const struct jl_convnet *net, const char *const *words, size_t n_words);

/* system_tree.c */
struct jl_sys;
enum jl_status jl_view_system(struct jl_cli *cli, const struct jl_sys *sys, struct jl_err *err);
void jl_view_system_json(struct jl_json *json, const struct jl_catalog *cat, const struct jl_sys *sys);
