/* Catalog records: lists, one in full with the source of each figure, a system as a tree, networks other than transformers. */
#pragma once

#include "catalog/schema.h"
#include "catalog/sysexpr.h"
#include "topics/show.h"
#include "program/convnet.h"

/* Numbered sources: a figure shows [1], the foot of the page lists them. */
#define JL_FOOTNOTES_MAX 32
struct jl_footnotes {
	const struct jl_fact *facts[JL_FOOTNOTES_MAX]; /* one per source and date */
	size_t n;
};
/* "◇ [1]": origin mark and source number; empty for unknown values. */
const char *jl_show_footnote(struct jl_doc *doc, struct jl_footnotes *notes, const struct jl_fact *fact);
void jl_show_footnotes(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_footnotes *notes);
/* Label of a fact; its key if it has none. */
const char *jl_fact_label(enum jl_catalog_kind kind, const struct jl_field *field);

/* A record, or (kind JL_N_RECORD) a network other than a plain transformer. */
struct jl_shown {
	enum jl_catalog_kind kind;
	const void *record;
};
void jl_show_list(struct jl_doc *doc, const struct jl_catalog *cat, enum jl_catalog_kind kind);
void jl_show_convnets(struct jl_doc *doc, const struct jl_convnet_list *list);
void jl_show_found(struct jl_doc *doc, const struct jl_shown *found, size_t n);
void jl_show_shown(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_shown *shown);
void jl_show_system(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_sys *sys); /* catalog_system.c */
double jl_convnet_mac(const struct jl_convnet *net);                                             /* forward, per item */
