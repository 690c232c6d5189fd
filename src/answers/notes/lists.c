/* Parses lists of "key: value". Lists under several headings with common keys become one table whose rows are the headings, so that relations
 * between keys can be checked. */
#include <ctype.h>
#include <string.h>

#include "notes/inside.h"

#define LABEL_MAX 96

struct pair {
	uint32_t line, key_at, key_len;
	int32_t fig;
	char key[LABEL_MAX];
};

/* Skips words about the origin of a figure ("expected", "현재"). */
static size_t skip_prefix(const char *t, size_t at, size_t end)
{
	static const char *const words[] = { "예상 ",     "현재 ",      "추정 ",     "실제 ",
					     "Expected ", "Estimated ", "expected ", "estimated " };

	for (size_t i = 0; i < JL_LEN(words); i++) {
		const size_t n = strlen(words[i]);

		if (end - at > n && memcmp(t + at, words[i], n) == 0)
			return at + n;
	}
	return at;
}

static bool read_pair(const struct jl_audit_note *note, size_t l, struct pair *p)
{
	const struct jl_line *line = &note->lines[l];
	const char *t = note->text;
	size_t at = line->at, colon;
	const size_t end = line->at + line->len;

	if ((line->kind != JL_LINE_TEXT && line->kind != JL_LINE_CODE) || !line->n_figs || line->len > 2000)
		return false;
	while (at < end && (isspace((unsigned char)t[at]) || strchr("-*+>", t[at])))
		at++;
	at = skip_prefix(t, at, end);
	for (colon = at; colon < end && t[colon] != ':' && t[colon] != '('; colon++)
		;
	if (colon < end && t[colon] == '(')
		for (; colon < end && t[colon] != ':'; colon++)
			;
	if (colon >= end || colon == at || colon - at > 60)
		return false;
	*p = (struct pair){ .line = (uint32_t)l, .key_at = (uint32_t)at, .key_len = (uint32_t)(colon - at), .fig = -1 };
	if (!jl_audit_label(p->key, sizeof p->key, t + at, colon - at))
		return false;
	for (uint32_t i = 0; i < line->n_figs; i++)
		if (note->figures[line->fig + i].at > colon) {
			p->fig = (int32_t)(line->fig + i);
			break;
		}
	return p->fig >= 0;
}

struct list {              /* consecutive pairs */
	uint32_t first, n; /* indices of `pairs` */
	uint32_t label_at, label_len;
	int32_t mention;
};

struct lists {
	struct pair *pairs;
	size_t n_pairs;
	struct list *lists;
	size_t n_lists;
};

#define PAIRS_MAX 40000
#define LISTS_MAX 8000

static void label_list(const struct jl_audit_note *note, struct list *list, uint32_t line)
{
	uint32_t s = note->lines[line].section;
	const struct jl_mention *m = s ? jl_audit_line_mention(note, s - 1) : NULL;

	if (!m)
		m = jl_audit_speaks_of(note, note->lines[line].at);
	list->mention = m ? (int32_t)(m - note->mentions) : -1;
	if (s) {
		list->label_at = note->lines[s - 1].at;
		list->label_len = note->lines[s - 1].len;
	}
}

static enum jl_status read_lists(struct jl_audit_note *note, struct lists *all, struct jl_err *err)
{
	struct list *open = NULL;
	size_t n = note->n_lines < PAIRS_MAX ? note->n_lines : PAIRS_MAX;

	all->pairs = jl_arena_array(note->arena, n, sizeof *all->pairs);
	all->lists = jl_arena_array(note->arena, n < LISTS_MAX ? n : LISTS_MAX, sizeof *all->lists);
	JL_TRY(jl_got(all->pairs && all->lists, err));
	for (size_t l = 0; l < note->n_lines && all->n_pairs < n; l++) {
		struct pair p;

		if (read_pair(note, l, &p)) {
			if (!open && all->n_lists >= (n < LISTS_MAX ? n : LISTS_MAX))
				break;
			if (!open) {
				open = &all->lists[all->n_lists++];
				*open = (struct list){ .first = (uint32_t)all->n_pairs };
				label_list(note, open, (uint32_t)l);
			}
			all->pairs[all->n_pairs++] = p;
			open->n++;
		} else if (note->lines[l].kind == JL_LINE_HEAD || note->lines[l].kind == JL_LINE_FENCE ||
			   note->lines[l].kind == JL_LINE_RULE) {
			open = NULL;
		}
	}
	return JL_OK;
}

static const struct pair *pair_of(const struct lists *all, const struct list *list, const char *key)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (strcmp(all->pairs[list->first + i].key, key) == 0)
			return &all->pairs[list->first + i];
	return NULL;
}

static size_t shared(const struct lists *all, const struct list *a, const struct list *b)
{
	size_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		n += pair_of(all, b, all->pairs[a->first + i].key) != NULL;
	return n;
}

/* The union of the keys of some lists, in order. */
static size_t keys_of(const struct pair *keys[JL_AUDIT_COLS_MAX], const struct lists *all, const size_t *members,
		      size_t n)
{
	size_t n_keys = 0;

	for (size_t r = 0; r < n; r++) {
		const struct list *list = &all->lists[members[r]];

		for (uint32_t i = 0; i < list->n && n_keys < JL_AUDIT_COLS_MAX - 1; i++) {
			const struct pair *p = &all->pairs[list->first + i];
			size_t k = 0;

			while (k < n_keys && strcmp(keys[k]->key, p->key) != 0)
				k++;
			if (k == n_keys)
				keys[n_keys++] = p;
		}
	}
	return n_keys;
}

/* Joins lists that share two keys with the first one into a grid with a column per key. */
static void join_lists(struct jl_audit_note *note, const struct lists *all, size_t first, bool *done)
{
	const struct list *a = &all->lists[first];
	const struct pair *keys[JL_AUDIT_COLS_MAX];
	size_t members[64], n = 0, n_keys;
	struct jl_grid *g;

	for (size_t i = first; i < all->n_lists && i < first + 200 && n < 64; i++)
		if (!done[i] && (i == first || shared(all, a, &all->lists[i]) >= 2)) {
			members[n++] = i;
			done[i] = true;
		}
	if (n < 2)
		return;
	n_keys = keys_of(keys, all, members, n);
	if (!(g = jl_grid_new(note, JL_GRID_RECORDS, n + 1, n_keys + 1)))
		return;
	g->has_heads = true;
	g->first_line = all->pairs[a->first].line;
	*jl_grid_cell(g, 0, 0) = (struct jl_cell){ .fig = -1, .mention = -1 };
	for (size_t k = 0; k < n_keys; k++)
		*jl_grid_cell(g, 0, (uint32_t)k + 1) =
			(struct jl_cell){ .at = keys[k]->key_at, .len = keys[k]->key_len, .fig = -1, .mention = -1 };
	for (size_t r = 0; r < n; r++) {
		const struct list *list = &all->lists[members[r]];

		*jl_grid_cell(g, (uint32_t)r + 1, 0) = (struct jl_cell){
			.at = list->label_at, .len = list->label_len, .fig = -1, .mention = list->mention
		};
		for (size_t k = 0; k < n_keys; k++) {
			const struct pair *p = pair_of(all, list, keys[k]->key);
			struct jl_cell *cell = jl_grid_cell(g, (uint32_t)r + 1, (uint32_t)k + 1);

			*cell = (struct jl_cell){ .fig = p ? p->fig : -1, .mention = -1 };
			if (p) {
				cell->at = note->figures[p->fig].at;
				cell->len = note->figures[p->fig].len;
				g->last_line = p->line > g->last_line ? p->line : g->last_line;
			}
		}
	}
	if (!jl_grid_label(note, g))
		note->n_grids--;
}

enum jl_status jl_audit_lists(struct jl_audit_note *note, struct jl_err *err)
{
	struct lists all = { 0 };
	bool *done;

	JL_TRY(read_lists(note, &all, err));
	if (!(done = jl_arena_alloc(note->arena, all.n_lists + 1)))
		return jl_fail_nomem(err);
	for (size_t i = 0; i < all.n_lists; i++)
		if (!done[i])
			join_lists(note, &all, i, done);
	return JL_OK;
}
