/* Matches names against the records of one kind. */
#include "catalog/shelf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Leading series words that users leave out. */
static const char *const leads[] = { "rtx", "gtx", "radeon", "core" };

static const char *text_at(const struct jl_shelf *shelf, size_t i, size_t offset)
{
	const char *text;

	memcpy(&text, shelf->base + i * shelf->stride + offset, sizeof(text));
	return text ? text : "";
}

static const char *const *aliases_at(const struct jl_shelf *shelf, size_t i)
{
	static const char *const none[] = { NULL };
	const char *const *aliases;

	if (shelf->aliases == JL_NO_ALIASES)
		return none;
	memcpy(&aliases, shelf->base + i * shelf->stride + shelf->aliases, sizeof(aliases));
	return aliases ? aliases : none;
}

static bool on_shelf(const struct jl_shelf *shelf, size_t i)
{
	const struct jl_link_info *links = (const void *)shelf->base;

	return !shelf->has_role || links[i].role == shelf->role;
}

static bool has_lead(const struct jl_words *words)
{
	size_t i;

	for (i = 0; i < JL_LEN(leads); i++)
		if (jl_word_is(words, 0, leads[i]))
			return true;
	return false;
}

/* True if `asked` is a prefix of `have` that ends at a word or number boundary. */
static bool begins(const struct jl_words *have, const struct jl_words *asked)
{
	if (asked->glued_len == 0 || have->glued_len <= asked->glued_len ||
	    memcmp(have->glued, asked->glued, asked->glued_len) != 0)
		return false;
	char last = asked->glued[asked->glued_len - 1];
	char next = have->glued[asked->glued_len];
	return next == '.' || next == '-' || (last >= '0' && last <= '9') != (next >= '0' && next <= '9');
}

/* *ret_seen: one bit per matched word of `asked`. */
static enum jl_fit fit_spelling(const struct jl_words *have, const struct jl_words *asked, unsigned *ret_seen)
{
	bool lead = has_lead(have);
	bool only_memory = true;
	unsigned used;
	size_t i;

	*ret_seen = jl_words_match(have, asked, &used);
	if (jl_words_equal(have, asked))
		return JL_FIT_SPELLING;
	if (lead && have->glued_len - have->len[0] == asked->glued_len &&
	    memcmp(have->glued + have->len[0], asked->glued, asked->glued_len) == 0)
		return JL_FIT_SPELLING;
	if (*ret_seen != JL_WORDS_ALL(asked->n))
		return begins(have, asked) ? JL_FIT_WORDS : JL_FIT_NOT;
	if (asked->n == have->n)
		return JL_FIT_ORDER;
	for (i = lead ? 1 : 0; i < have->n; i++)
		if (!(used & 1u << i) && !jl_word_is_memory(have, i))
			only_memory = false;
	return only_memory ? JL_FIT_MEMORY : JL_FIT_WORDS;
}

/* Bit of the requested memory size if it is this accelerator's, else 0. */
static unsigned seen_memory(const struct jl_shelf *shelf, size_t i, const struct jl_asked *asked)
{
	const struct jl_gpu *gpus = (const void *)shelf->base;
	char text[32];
	int n;

	if (!shelf->is_gpu || asked->bare.n == 0 || !(gpus[i].mem_B.value > 0))
		return 0;
	/* GB and GiB: a card sold as 80 GB has 80 GiB, but some are listed in decimal units */
	for (n = 0; n < 2; n++) {
		snprintf(text, sizeof(text), "%.0fgb", round(gpus[i].mem_B.value / (n ? 1e9 : 1073741824.0)));
		if (jl_word_is(&asked->words, asked->size, text))
			return 1u << asked->size;
	}
	return 0;
}

/* Matches of all spellings of one record. */
struct tally {
	enum jl_fit fit;
	unsigned seen; /* words of the request that some spelling contains */
	bool bare;     /* a spelling equals the request without its memory size */
};

static void add_spelling(struct tally *tally, const char *text, const struct jl_asked *asked, bool alias)
{
	struct jl_words have;
	unsigned seen;

	jl_words_split(&have, text);
	enum jl_fit fit = fit_spelling(&have, &asked->words, &seen);
	/* an alias "A100 80GB" must not match every "A100", nor "HGX H20" every "HGX" */
	if (alias && fit > JL_FIT_ORDER && !asked->has_number)
		return;
	if (alias && fit == JL_FIT_MEMORY)
		fit = JL_FIT_WORDS;
	if (fit < tally->fit)
		tally->fit = fit;
	tally->seen |= seen;
	if (asked->bare.n > 0 && fit_spelling(&have, &asked->bare, &seen) <= JL_FIT_ORDER)
		tally->bare = true;
}

static bool word_occurs(const struct jl_shelf *shelf, size_t i, const struct jl_words *words, size_t word)
{
	const char *const *alias = aliases_at(shelf, i);

	if (jl_words_occur(words, word, text_at(shelf, i, shelf->id)) ||
	    jl_words_occur(words, word, text_at(shelf, i, shelf->name)))
		return true;
	while (*alias && !jl_words_occur(words, word, *alias))
		alias++;
	return *alias != NULL;
}

/* Quick reject: most records contain not even the letters of every word. Memory sizes have several spellings ("80 GiB") and are skipped. */
static bool may_fit(const struct jl_shelf *shelf, size_t i, const struct jl_asked *asked)
{
	size_t word;

	for (word = asked->words.n; word-- > 0;)
		if (!jl_word_is_memory(&asked->words, word) && !word_occurs(shelf, i, &asked->words, word))
			return false;
	return true;
}

enum jl_fit jl_shelf_fit(const struct jl_shelf *shelf, size_t i, const struct jl_asked *asked)
{
	const char *id = text_at(shelf, i, shelf->id);
	const char *const *alias = aliases_at(shelf, i);
	const char *colon = shelf->is_system ? strchr(id, ':') : NULL;
	struct tally tally = { .fit = JL_FIT_NOT };

	if (!may_fit(shelf, i, asked))
		return JL_FIT_NOT;
	add_spelling(&tally, id, asked, false);
	if (colon)
		add_spelling(&tally, colon + 1, asked, false);
	/* an id's words take precedence over an alias of another record */
	if (tally.fit == JL_FIT_SPELLING)
		return JL_FIT_ID_WORDS;
	enum jl_fit by_id = tally.fit;
	add_spelling(&tally, text_at(shelf, i, shelf->name), asked, false);
	for (; *alias; alias++)
		add_spelling(&tally, *alias, asked, true);
	if (shelf->strict && tally.fit > JL_FIT_ORDER)
		return by_id;
	unsigned memory = tally.fit > JL_FIT_MEMORY ? seen_memory(shelf, i, asked) : 0;
	if (memory && tally.bare)
		return JL_FIT_MEMORY;
	/* words distributed over id, name, aliases and memory size: "A100 80GB HBM2e" */
	if (tally.fit > JL_FIT_WORDS && (tally.seen | memory) == JL_WORDS_ALL(asked->words.n))
		return JL_FIT_WORDS;
	return tally.fit;
}

void jl_shelf_search(struct jl_picked *ret_picked, const struct jl_shelf *shelf, const struct jl_asked *asked)
{
	struct jl_picked picked = { .fit = JL_FIT_NOT };
	size_t i;

	for (i = 0; i < shelf->n; i++)
		if (on_shelf(shelf, i) && strcasecmp(text_at(shelf, i, shelf->id), asked->text) == 0) {
			*ret_picked = (struct jl_picked){ .fit = JL_FIT_ID, .n = 1, .index = { i } };
			return;
		}
	for (i = 0; i < shelf->n; i++) {
		enum jl_fit fit = on_shelf(shelf, i) ? jl_shelf_fit(shelf, i, asked) : JL_FIT_NOT;

		if (fit == JL_FIT_NOT || fit > picked.fit)
			continue;
		if (fit < picked.fit)
			picked.n = 0;
		picked.fit = fit;
		if (picked.n < JL_PICKED_MAX)
			picked.index[picked.n] = i;
		picked.n++;
	}
	*ret_picked = picked;
}

#define LIST_MAX (JL_ERR_TEXT_MAX - 2 * JL_NAME_MAX) /* leaves space for the request's name */

/* "a, b, c"; returns the number of ids left out. */
static size_t list_ids(char out[LIST_MAX], const struct jl_shelf *shelf, const struct jl_picked *picked)
{
	size_t n = picked->n < JL_PICKED_MAX ? picked->n : JL_PICKED_MAX;
	size_t at = 0;
	size_t i;

	for (i = 0; i < n && at < LIST_MAX; i++)
		at += (size_t)snprintf(out + at, LIST_MAX - at, "%s%s", i ? ", " : "",
				       text_at(shelf, picked->index[i], shelf->id));
	return picked->n - n;
}

void jl_shelf_near(struct jl_nearest *nearest, const struct jl_shelf *shelf, const struct jl_asked *asked)
{
	struct jl_words have;
	size_t i;

	for (i = 0; i < shelf->n; i++) {
		const char *id = text_at(shelf, i, shelf->id);
		const char *colon = shelf->is_system ? strchr(id, ':') : NULL;

		if (!on_shelf(shelf, i))
			continue;
		jl_words_split(&have, id);
		unsigned cost = jl_nearest_cost(asked->words.glued, have.glued);
		jl_words_split(&have, colon ? colon + 1 : text_at(shelf, i, shelf->name));
		unsigned other = jl_nearest_cost(asked->words.glued, have.glued);
		jl_nearest_add(nearest, id, cost < other ? cost : other);
	}
}

enum jl_status jl_shelf_fail_nearest(const struct jl_shelf *shelf, const struct jl_asked *asked,
				     const struct jl_nearest *nearest, struct jl_err *err)
{
	char ids[LIST_MAX] = "";
	size_t at = 0;
	size_t i;

	for (i = 0; i < nearest->n && at < sizeof(ids); i++)
		at += (size_t)snprintf(ids + at, sizeof(ids) - at, "%s%s", i ? ", " : "", nearest->id[i]);
	if (nearest->n == 0)
		return jl_fail(err, JL_E_NOTFOUND, "no {%s} is called '%s'; 'jeoul catalog list%s%s' shows all",
			       shelf->en, asked->text, shelf->list ? " " : "", shelf->list ? shelf->list : "");
	return jl_fail(err, JL_E_NOTFOUND, "no {%s} is called '%s'; did you mean %s?", shelf->en, asked->text, ids);
}

enum jl_status jl_shelf_fail_ambiguous(const struct jl_shelf *shelf, const struct jl_asked *asked,
				       const struct jl_picked *picked, struct jl_err *err)
{
	char ids[LIST_MAX] = "";
	const size_t n_left = list_ids(ids, shelf, picked);

	if (n_left)
		return jl_fail(err, JL_E_AMBIGUOUS, "'%s' fits %zu {%s}: %s and %zu more; write one of them",
			       asked->text, picked->n, shelf->en_many, ids, n_left);
	return jl_fail(err, JL_E_AMBIGUOUS, "'%s' fits %zu {%s}: %s; write one of them", asked->text, picked->n,
		       shelf->en_many, ids);
}

/* Splits "rtx 3090 24gb" into "rtx 3090" and 24gb. */
static void take_size(struct jl_asked *asked)
{
	const struct jl_words *words = &asked->words;
	char text[JL_NAME_MAX * 3];
	size_t at = 0;
	size_t i;

	asked->bare.n = 0;
	asked->size = words->n;
	for (i = 0; i < words->n; i++) {
		if (jl_word_is_memory(words, i)) {
			asked->size = i;
			continue;
		}
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s ", words->len[i],
				       words->glued + words->start[i]);
	}
	if (asked->size < asked->words.n && at > 0)
		jl_words_split(&asked->bare, text);
}

enum jl_status jl_shelf_ask(struct jl_asked *ret_asked, const struct jl_shelf *shelf, const char *text,
			    struct jl_err *err)
{
	size_t len, i;

	while (*text == ' ' || *text == '\t')
		text++;
	len = strnlen(text, JL_NAME_MAX + 1);
	if (len > JL_NAME_MAX)
		return jl_fail(err, JL_E_LIMIT, "a name has at most %d bytes", JL_NAME_MAX);
	for (i = 0; i < len; i++)
		ret_asked->text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	ret_asked->text[len] = '\0';
	jl_words_split(&ret_asked->words, ret_asked->text);
	ret_asked->has_number = strpbrk(ret_asked->words.glued, "0123456789") != NULL;
	take_size(ret_asked);
	if (ret_asked->words.n == 0)
		return jl_fail(err, JL_E_USAGE, "'%s' is not a name of %s {%s}", ret_asked->text,
			       shelf->article ? shelf->article : "a", shelf->en);
	return JL_OK;
}
