/* Search over records of one kind by user-written names. Used by find.c; find.h documents the order of matches. */
#pragma once

#include "catalog/catalog.h"
#include "catalog/nearest.h"
#include "catalog/words.h"

#define JL_PICKED_MAX 8 /* candidates named in a message */

/* Quality of a match; smaller is better. Order: see find.h. */
enum jl_fit { JL_FIT_ID, JL_FIT_ID_WORDS, JL_FIT_SPELLING, JL_FIT_ORDER, JL_FIT_MEMORY, JL_FIT_WORDS, JL_FIT_NOT };

/* Uniform view of the records of one kind. */
struct jl_shelf {
	const char *en, *en_many; /* singular and plural name */
	const char *article;      /* article before en; NULL: "a" */
	const char *list;         /* "gpus": name in `jeoul catalog list`; NULL: several kinds */
	const char *base;
	size_t n, stride;
	size_t id, name, aliases; /* member offsets; JL_NO_ALIASES: no aliases */
	enum jl_link_role role;   /* only for links: required role */
	bool has_role;
	bool is_gpu;    /* memory size counts as a word */
	bool is_system; /* the provider may be left out */
	bool strict;    /* single words match only in the id, not in a description */
};

#define JL_NO_ALIASES ((size_t)-1)

struct jl_asked {
	char text[JL_NAME_MAX + 1]; /* as written, control characters replaced: messages are one line */
	struct jl_words words;
	struct jl_words bare; /* words without memory size; empty if the request has no memory size */
	size_t size;          /* index in `words` of the memory size left out of `bare` */
	bool has_number;
};

struct jl_picked {
	enum jl_fit fit;
	size_t n;                    /* number of records that match equally well */
	size_t index[JL_PICKED_MAX]; /* the first of them, in catalog order */
};

/* Quality of record i's match. */
enum jl_fit jl_shelf_fit(const struct jl_shelf *shelf, size_t i, const struct jl_asked *asked);

void jl_shelf_search(struct jl_picked *ret_picked, const struct jl_shelf *shelf, const struct jl_asked *asked);

/* Adds similar names of a shelf. */
void jl_shelf_near(struct jl_nearest *nearest, const struct jl_shelf *shelf, const struct jl_asked *asked);

/* Error for an unknown name, with similar names. */
enum jl_status jl_shelf_fail_nearest(const struct jl_shelf *shelf, const struct jl_asked *asked,
				     const struct jl_nearest *nearest, struct jl_err *err);

/* Error that lists several matches. */
enum jl_status jl_shelf_fail_ambiguous(const struct jl_shelf *shelf, const struct jl_asked *asked,
				       const struct jl_picked *picked, struct jl_err *err);

/* Parses a name into search words; an error if it cannot be a name. */
enum jl_status jl_shelf_ask(struct jl_asked *ret_asked, const struct jl_shelf *shelf, const char *text,
			    struct jl_err *err);
