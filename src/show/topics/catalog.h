/* Records of the catalog: lists, one in full with where each figure comes from, a system as a tree, networks that are no transformers. */
#pragma once

#include "catalog/schema.h"
#include "catalog/sysexpr.h"
#include "topics/show.h"
#include "program/convnet.h"

/* Sources by number: a figure says [1], the foot of the page says who that is. */
#define JL_FOOTNOTES_MAX 32
struct jl_footnotes {
	const struct jl_fact *facts[JL_FOOTNOTES_MAX]; /* one for each pair of source and date */
	size_t n;
};
/* "◇ [1]": the mark of the origin and the number of the source; empty for what is not known. */
const char *jl_show_footnote(struct jl_doc *doc, struct jl_footnotes *notes, const struct jl_fact *fact);
void jl_show_footnotes(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_footnotes *notes);
/* Label of a fact; its key where it has none. */
const char *jl_fact_label(enum jl_catalog_kind kind, const struct jl_field *field);

/* A record, or (kind JL_N_RECORD) a network that is no plain transformer. */
struct jl_shown {
	enum jl_catalog_kind kind;
	const void *record;
};
void jl_show_list(struct jl_doc *doc, const struct jl_catalog *cat, enum jl_catalog_kind kind);
void jl_show_convnets(struct jl_doc *doc, const struct jl_convnet_list *list);
void jl_show_found(struct jl_doc *doc, const struct jl_shown *found, size_t n);
void jl_show_shown(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_shown *shown);
void jl_show_system(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_sys *sys); /* catalog_system.c */
double jl_convnet_mac(const struct jl_convnet *net); /* of an item, forward */
