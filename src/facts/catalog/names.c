/* Applies the rules of catalog/names.yaml to names. */
#include "catalog/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Placeholder words in spellings: '#' any number, "####" a four-digit number. */
#define ANY_NUMBER  "9999999"
#define FOUR_DIGITS "9999998"
#define QUESTION    "?" /* value of a rule that is only a question */

static const struct jl_field reading_fields[] = {
	{ JL_FIELD(jl_reading, CHARS, written) },
	{ JL_FIELD(jl_reading, CHARS, meant) },
	{ JL_FIELD_AS(jl_reading, CHARS, others, "otherwise_write"), .flags = JL_FF_OMIT },
};
static const struct jl_schema reading_schema = JL_SCHEMA("name_read", jl_reading, reading_fields);

JL_BOOL_OF(any_read, jl_readings, r->n > 0);

static const struct jl_field readings_fields[] = {
	{ JL_FIELD_MANY(jl_readings, ARRAY, items, n, "names_read", &reading_schema), .when = any_read },
};
const struct jl_schema jl_readings_fields = JL_SCHEMA("names_read", jl_readings, readings_fields);

static const char *word_at(const struct jl_words *words, size_t i)
{
	return words->glued + words->start[i];
}

static bool is_number(const struct jl_words *words, size_t i)
{
	return strspn(word_at(words, i), "0123456789.") >= words->len[i];
}

/* True if word i of a name matches word j of a spelling. */
static bool fits_word(const struct jl_words *words, size_t i, const struct jl_words *spelling, size_t j)
{
	if (jl_word_is(spelling, j, ANY_NUMBER))
		return is_number(words, i);
	if (jl_word_is(spelling, j, FOUR_DIGITS))
		return is_number(words, i) && words->len[i] == 4 && !memchr(word_at(words, i), '.', 4);
	return words->len[i] == spelling->len[j] && memcmp(word_at(words, i), word_at(spelling, j), words->len[i]) == 0;
}

/* True if the spelling matches at word `at` of the name. */
static bool fits_at(const struct jl_words *words, size_t at, const struct jl_words *spelling)
{
	if (spelling->n == 0 || at + spelling->n > words->n)
		return false;
	for (size_t j = 0; j < spelling->n; j++)
		if (!fits_word(words, at + j, spelling, j))
			return false;
	return true;
}

/* Next of the spellings, separated by '|'. */
static bool next_spelling(const char **at, struct jl_words *ret_words)
{
	char text[JL_NAME_MAX + 1];
	size_t n = 0;

	if (!**at)
		return false;
	for (; **at && **at != '|' && n + sizeof(ANY_NUMBER) < sizeof(text); (*at)++) {
		if (**at != '#') {
			text[n++] = **at;
			continue;
		}
		const size_t run = strspn(*at, "#");

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", run == 4 ? FOUR_DIGITS : ANY_NUMBER);
		*at += run - 1;
	}
	text[n] = '\0';
	*at += **at == '|';
	jl_words_split(ret_words, text);
	return true;
}

static double number_of(const struct jl_words *words, const struct jl_words *spelling)
{
	for (size_t i = 0; i < spelling->n; i++)
		if (jl_word_is(spelling, i, ANY_NUMBER))
			return strtod(word_at(words, i), NULL);
	return NAN;
}

struct jl_named jl_named(const struct jl_catalog *cat, const char *kind, const char *text)
{
	struct jl_words words, spelling;

	if (strnlen(text, JL_NAME_MAX + 1) > JL_NAME_MAX)
		return (struct jl_named){ .number = NAN };
	jl_words_split(&words, text);
	for (size_t i = 0; i < cat->n_rules; i++) {
		const char *at = cat->rules[i].name;

		if (strcmp(cat->rules[i].kind, kind) != 0)
			continue;
		while (next_spelling(&at, &spelling))
			if (spelling.n == words.n && fits_at(&words, 0, &spelling))
				return (struct jl_named){ &cat->rules[i], number_of(&words, &spelling) };
	}
	return (struct jl_named){ .number = NAN };
}

enum jl_status jl_named_settles(const struct jl_named *named, const char *text, struct jl_err *err)
{
	if (strcmp(named->rule->value, QUESTION) != 0)
		return JL_OK;
	return jl_fail(err, JL_E_AMBIGUOUS, "'%.*s' may be one of several: write %s", JL_NAME_MAX, text,
		       named->rule->subject ? named->rule->subject : "?");
}

const char *jl_named_id(const struct jl_named *named, int *ret_n)
{
	const char *value = named->rule->value;
	double by = 1;
	char *end;

	*ret_n = 0;
	if (value[0] != '#')
		return value;
	value++;
	if (*value == '/') {
		by = strtod(value + 1, &end);
		value = end;
	}
	/* round up: half a chip counts as one */
	*ret_n = (int)fmin(1e9, fmax(1, ceil(named->number / by)));
	return value + strspn(value, " ");
}

void jl_reading_add(const struct jl_catalog *cat, const char *written, const char *meant, const char *others)
{
	struct jl_readings *all = cat->readings;
	size_t i = 0;

	while (all && i < all->n && strcasecmp(all->items[i].written, written) != 0)
		i++;
	if (!all || i < all->n || i == JL_READINGS_MAX)
		return;
	snprintf(all->items[i].written, sizeof(all->items[i].written), "%s", written);
	snprintf(all->items[i].meant, sizeof(all->items[i].meant), "%s", meant);
	snprintf(all->items[i].others, sizeof(all->items[i].others), "%s", others);
	all->n++;
}

void jl_named_note(const struct jl_catalog *cat, const struct jl_named *named, const char *text)
{
	const char *others = named->rule->subject, *hash = others ? strchr(others, '#') : NULL;
	char meant[JL_NAME_MAX + 1], filled[JL_NAME_MAX + 1];
	int n;
	const char *id = jl_named_id(named, &n);

	if (!others)
		return;
	if (n > 1)
		snprintf(meant, sizeof(meant), "%dx %s", n, id);
	else
		snprintf(meant, sizeof(meant), "%s", id);
	if (hash)
		snprintf(filled, sizeof(filled), "%.*s%.0f%s", (int)(hash - others), others, named->number, hash + 1);
	jl_reading_add(cat, text, meant, hash ? filled : others);
}

/* Number of words from `at` that match a rule of this kind; 0: none. */
static size_t phrase_at(const struct jl_catalog *cat, const char *kind, const struct jl_words *words, size_t at)
{
	struct jl_words spelling;
	size_t longest = 0;

	for (size_t i = 0; i < cat->n_rules; i++) {
		const char *name = cat->rules[i].name;

		if (strcmp(cat->rules[i].kind, kind) != 0)
			continue;
		while (next_spelling(&name, &spelling))
			if (spelling.n > longest && fits_at(words, at, &spelling))
				longest = spelling.n;
	}
	return longest;
}

static bool ends_word(const struct jl_words *words, size_t i, const char *end)
{
	const size_t n = strlen(end);

	return words->len[i] >= n && memcmp(word_at(words, i) + words->len[i] - n, end, n) == 0;
}

bool jl_name_clean_unit(char out[JL_NAME_MAX + 1], const struct jl_catalog *cat, const char *text)
{
	struct jl_words words;
	bool changed = false;
	size_t n = 0;

	jl_words_split(&words, text);
	out[0] = '\0';
	for (size_t i = 0; i < words.n; i++) {
		const size_t skipped = phrase_at(cat, "unit-filler", &words, i);
		size_t len = words.len[i];

		if (skipped > 0) {
			i += skipped - 1;
			changed = true;
			continue;
		}
		const bool plural = i + 1 == words.n && words.joined[i] && len == 1 && ends_word(&words, i, "s");
		const bool short_size = len > 1 && ends_word(&words, i, "g") && word_at(&words, i)[0] <= '9';

		len -= plural;
		changed |= plural || short_size;
		if (n + len + sizeof(" b") > JL_NAME_MAX)
			return false;
		n += (size_t)snprintf(out + n, JL_NAME_MAX + 1 - n, "%s%.*s%s", n > 0 && !words.joined[i] ? " " : "",
				      (int)len, word_at(&words, i), short_size ? "b" : "");
	}
	return changed && n > 0;
}

static const char *const endings[] = { ".gguf", ".safetensors", ".bin", ".onnx", ".pt", ".pth" };

void jl_name_of_model(char out[JL_NAME_MAX + 1], const char *text)
{
	const char *slash = strrchr(text, '/');

	/* "vit-b/16" has no owner in front of its slash */
	snprintf(out, JL_NAME_MAX + 1, "%s", slash && slash[1 + strspn(slash + 1, "0123456789")] ? slash + 1 : text);
	for (size_t i = 0; i < JL_LEN(endings); i++) {
		const size_t n = strlen(out), len = strlen(endings[i]);

		if (n > len && strcasecmp(out + n - len, endings[i]) == 0)
			out[n - len] = '\0';
	}
}

bool jl_name_cut_suffix(char io[JL_NAME_MAX + 1], const struct jl_catalog *cat, const char **ret_weights)
{
	const struct jl_rule *best = NULL;
	struct jl_words words, spelling;
	size_t longest = 0;

	jl_words_split(&words, io);
	for (size_t i = 0; i < cat->n_rules; i++) {
		const char *name = cat->rules[i].name;

		if (strcmp(cat->rules[i].kind, "model-suffix") != 0)
			continue;
		while (next_spelling(&name, &spelling))
			if (spelling.n > longest && spelling.n < words.n &&
			    fits_at(&words, words.n - spelling.n, &spelling)) {
				longest = spelling.n;
				best = &cat->rules[i];
			}
	}
	if (!best)
		return false;
	const size_t left = words.upto[words.n - longest - 1];

	if (words.joined[words.n - longest]) /* "llamachat": the suffix must be a separate word */
		return false;
	io[left] = '\0';
	if (ret_weights && strcmp(best->value, "none") != 0)
		*ret_weights = best->value;
	return true;
}

const char *jl_name_weights(const struct jl_catalog *cat, const char *text)
{
	char name[JL_NAME_MAX + 1];
	const char *weights = NULL;

	if (strnlen(text, JL_NAME_MAX + 1) > JL_NAME_MAX)
		return NULL;
	jl_name_of_model(name, text);
	while (!weights && jl_name_cut_suffix(name, cat, &weights))
		;
	return weights;
}
