/* Records of one kind, searched by what people write. Used by find.c; the order of fits is documented in find.h. */
#pragma once

#include "catalog/catalog.h"
#include "catalog/nearest.h"
#include "catalog/words.h"

#define JL_PICKED_MAX 8 /* candidates named in a message */

/* How well a record fits; smaller is better. The order is documented in find.h. */
enum jl_fit { JL_FIT_ID, JL_FIT_ID_WORDS, JL_FIT_SPELLING, JL_FIT_ORDER, JL_FIT_MEMORY, JL_FIT_WORDS, JL_FIT_NOT };

/* Records of one kind, seen alike. */
struct jl_shelf {
	const char *en, *en_many; /* what they are called */
	const char *article;      /* in front of en; NULL: "a" */
	const char *list;         /* "gpus": what `jeoul catalog list` calls them; NULL: several kinds */
	const char *base;
	size_t n, stride;
	size_t id, name, aliases; /* offsets; JL_NO_ALIASES: they have none */
	enum jl_link_role role;   /* links only */
	bool has_role;
	bool is_gpu;    /* memory size counts as a word */
	bool is_system; /* the provider may be left out */
	bool strict;    /* words among others count in the id only, not in a description */
};

#define JL_NO_ALIASES ((size_t)-1)

struct jl_asked {
	char text[JL_NAME_MAX + 1]; /* as written, without control characters: messages are one line */
	struct jl_words words;
	struct jl_words bare; /* without memory sizes; no words at all where none was asked for */
	size_t size;          /* which of `words` is the memory size left out of `bare` */
	bool has_number;
};

struct jl_picked {
	enum jl_fit fit;
	size_t n;                    /* records that fit as well */
	size_t index[JL_PICKED_MAX]; /* the first of them, in catalog order */
};

/* How well record i fits what was asked. */
enum jl_fit jl_shelf_fit(const struct jl_shelf *shelf, size_t i, const struct jl_asked *asked);

/* All that fit best. */
void jl_shelf_search(struct jl_picked *ret_picked, const struct jl_shelf *shelf, const struct jl_asked *asked);

/* Adds names of a shelf that resemble the one asked for. */
void jl_shelf_near(struct jl_nearest *nearest, const struct jl_shelf *shelf, const struct jl_asked *asked);

/* The error for an unknown name, with near names. */
enum jl_status jl_shelf_fail_nearest(const struct jl_shelf *shelf, const struct jl_asked *asked,
				     const struct jl_nearest *nearest, struct jl_err *err);

/* Several fit: list them. */
enum jl_status jl_shelf_fail_ambiguous(const struct jl_shelf *shelf, const struct jl_asked *asked,
				       const struct jl_picked *picked, struct jl_err *err);

/* Parses a name into search words; an error where it cannot be one. */
enum jl_status jl_shelf_ask(struct jl_asked *ret_asked, const struct jl_shelf *shelf, const char *text,
			    struct jl_err *err);
