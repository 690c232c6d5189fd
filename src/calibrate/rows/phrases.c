/* Applies the rules of data/phrases.csv (set, column, value, condition) to the cells of a row. */
#include "rows/phrases.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/num.h"

extern const unsigned char jl_phrases_text[];
extern const size_t jl_phrases_text_len;

#define TERM_DEPTH_MAX 4 /* nesting of derived columns */

struct jl_phrase {
	const char *column, *value, *when;
};

const struct jl_word jl_word_yes[] = { { "y", 1 }, { NULL, 0 } };

static bool has_word(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && memcmp(list, word, len) == 0)
			return true;
	}
	return false;
}

static enum jl_status add_rule(struct jl_phrases *phrases, struct jl_phrase *rules, const struct jl_csv *csv,
			       const char *set, struct jl_arena *arena, struct jl_err *err)
{
	if (!has_word(jl_csv_text(csv, 0), set))
		return JL_OK;
	const struct jl_phrase rule = { jl_arena_strdup(arena, jl_csv_text(csv, 1)),
					jl_arena_strdup(arena, jl_csv_text(csv, 2)),
					jl_arena_strdup(arena, jl_csv_text(csv, 3)) };

	rules[phrases->n++] = rule;
	return jl_got(rule.column && rule.value && rule.when, err);
}

enum jl_status jl_phrases_of(struct jl_phrases *ret_phrases, const char *set, struct jl_arena *arena,
			     struct jl_err *err)
{
	struct jl_phrases phrases = { 0 };
	struct jl_csv csv;

	JL_TRY(jl_csv_open(&csv, (const char *)jl_phrases_text, jl_phrases_text_len, "phrases.csv", err));
	struct jl_phrase *rules = jl_arena_array(arena, jl_csv_rows_left(&csv) + 1, sizeof(*rules));
	enum jl_status status = jl_got(rules, err);

	while (jl_csv_more(&csv, &status, err))
		status = add_rule(&phrases, rules, &csv, set, arena, err);
	jl_csv_release(&csv);
	phrases.rules = rules;
	if (!status)
		*ret_phrases = phrases;
	return status;
}

/* Text of the cell after the first matching phrase of "a|b"; NULL: no match. */
static const char *behind(const char *cell, char op, const char *phrases, size_t len)
{
	const char *end = phrases + len;

	for (size_t n; phrases <= end; phrases += n + 1) {
		n = strcspn(phrases, "|'");
		if (op == '=' && strlen(cell) == n && strncasecmp(cell, phrases, n) == 0)
			return cell + n;
		if (op == '=')
			continue;
		for (const char *at = cell; *at; at++) {
			if (strncasecmp(at, phrases, n) == 0)
				return at + n;
			if (op == '^')
				break;
		}
	}
	return NULL;
}

static const char *made(const struct jl_phrases *phrases, const char *column, const struct jl_row_cells *row,
			struct jl_arena *arena, int depth);

/* True if all terms hold; ret_rest: text after the last term's phrase. Term: [!]column~'phrase|phrase'; ^ instead of ~: begins with, =: equals. */
static bool holds(const struct jl_phrases *phrases, const char *when, const struct jl_row_cells *row,
		  struct jl_arena *arena, int depth, const char **ret_rest)
{
	char column[64];

	*ret_rest = "";
	while (*when) {
		const bool no = *when == '!';
		const size_t n = strcspn(when + no, "~^="), len = n < sizeof(column) ? n : sizeof(column) - 1;
		const char *text = when + no + n + 2;

		memcpy(column, when + no, len);
		column[len] = '\0';
		const size_t quoted = strcspn(text, "'");
		const char *rest = behind(made(phrases, column, row, arena, depth), text[-2], text, quoted);

		if (no ? rest != NULL : !rest)
			return false;
		*ret_rest = rest ? rest : *ret_rest;
		when = text + quoted;
		when += strspn(when, "'& ");
	}
	return true;
}

/* The k-th number in a text as written; NULL: fewer. */
static const char *nth_number(const char *text, int k, struct jl_arena *arena)
{
	for (size_t n = 0; *text; text += n) {
		double x;

		n = 1;
		if (*text >= '0' && *text <= '9' && jl_num_parse(text, &x, &n) == JL_NUM_OK && k-- == 0)
			return jl_arena_strndup(arena, text, n);
	}
	return NULL;
}

static const char *made(const struct jl_phrases *phrases, const char *column, const struct jl_row_cells *row,
			struct jl_arena *arena, int depth)
{
	const char *own = row->at(row->ctx, column), *parts = "", *rest, *cell;

	if (own && *own)
		return own;
	for (size_t i = 0; depth && i < phrases->n; i++) {
		const struct jl_phrase *r = &phrases->rules[i];

		if (strcmp(r->column, column) != 0 || !holds(phrases, r->when, row, arena, depth - 1, &rest))
			continue;
		if (*r->value == '+') {
			parts = *parts ? jl_arena_printf(arena, "%s%s", parts, r->value) : r->value;
			continue;
		}
		cell = *r->value == '#' ? nth_number(rest, r->value[1] - '0', arena) : r->value;
		if (cell)
			return parts && *parts ? parts : cell;
	}
	return parts ? parts : "";
}

const char *jl_phrase_cell(const struct jl_phrases *phrases, const char *column, const struct jl_row_cells *row,
			   struct jl_arena *arena)
{
	return made(phrases, column, row, arena, TERM_DEPTH_MAX);
}

static const struct jl_word *find_word(const struct jl_word *words, const char *text, size_t n)
{
	for (; words->word; words++)
		if (strlen(words->word) == n && memcmp(words->word, text, n) == 0)
			return words;
	return NULL;
}

enum jl_status jl_phrase_parse(void *ret, const struct jl_phrase_column *column, const char *text, struct jl_err *err)
{
	char *member = (char *)ret + column->offset;
	double number = NAN;
	unsigned bits = 0;
	size_t n = 0;

	if (!column->words) {
		if (*text && (jl_num_parse(text, &number, &n) != JL_NUM_OK || text[n]))
			return jl_fail(err, JL_E_DATA, "column %s: '%.40s' is not a number", column->column, text);
		memcpy(member, &number, sizeof(number));
		return JL_OK;
	}
	for (; *text; text += n) {
		text += column->several && *text == '+';
		n = column->several ? strcspn(text, "+") : strlen(text);
		const struct jl_word *word = find_word(column->words, text, n);

		if (!word)
			return jl_fail(err, JL_E_DATA, "column %s: '%.40s' is not one of its words", column->column,
				       text);
		bits |= (unsigned)word->value;
	}
	memcpy(member, &bits, sizeof(bits));
	return JL_OK;
}

enum jl_status jl_phrase_read(void *ret, const struct jl_phrase_column *columns, size_t n,
			      const struct jl_phrases *phrases, const struct jl_row_cells *row, struct jl_arena *arena,
			      struct jl_err *err)
{
	for (size_t i = 0; i < n; i++)
		JL_TRY(jl_phrase_parse(ret, &columns[i], jl_phrase_cell(phrases, columns[i].column, row, arena), err));
	return JL_OK;
}
