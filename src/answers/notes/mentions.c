/* Finds hardware names by the catalog's spelling rules, and the hardware that a figure refers to. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "catalog/find.h"
#include "catalog/words.h"
#include "notes/inside.h"

#define CACHE_SIZE  8192 /* cached spellings, a power of two; half stays empty */
#define LOOKUPS_MAX 4000
#define CHUNK_WORDS 7
#define CHUNK_LEN   64

struct cached {
	char key[CHUNK_LEN];
	int32_t entity; /* -1: no such name */
	bool used;
};

struct naming {
	struct jl_audit_note *note;
	struct cached *cache;
	size_t n_lookups;
};

/* Words that may follow the number in a card's name. */
static const char tail_words[] = "ti|super|sxm|sxm2|sxm3|sxm4|sxm5|pcie|nvl|dgxs|oam|ada|generation|pro|blackwell|"
				 "server|workstation|edition|max-q|d|x|laptop|6000|5000|4500|4000|2000|8000";
/* First words of longer names; meaningless alone. */
static const char head_words[] =
	"rtx|gtx|titan|quadro|tesla|radeon|instinct|gaudi|tpu|geforce|nvidia|amd|dgx|hgx|intel";

static bool word_in(const char *text, size_t len, const char *words)
{
	return len && jl_words_begin(text, len, words, true);
}

static size_t word_len(const char *t, size_t at, size_t end)
{
	size_t i = at;

	while (i < end && (isalnum((unsigned char)t[i]) ||
			   (t[i] == '.' && i > at && i + 1 < end && isalnum((unsigned char)t[i + 1]))))
		i++;
	return i - at;
}

/* "A100", "V100", "H200", "MI300X", "L40S", "T4": letters, then digits. Lower case only after a vendor's word (`named`), as in "dgx-h100". */
static bool looks_like_chip(const char *t, size_t len, bool named)
{
	size_t i = 0, n_digits = 0;

	while (i < len && isalpha((unsigned char)t[i]))
		i++;
	while (i + n_digits < len && isdigit((unsigned char)t[i + n_digits]))
		n_digits++;
	if (i == 0 || i > 3 || n_digits == 0 || n_digits > 4 || len - i - n_digits > 2 ||
	    !(named || isupper((unsigned char)t[0])))
		return false;
	return i <= 2 || strncmp(t, "RTX", 3) == 0 || strncmp(t, "GTX", 3) == 0;
}

static bool looks_like_instance(const char *t, size_t len)
{
	const char *dot = memchr(t, '.', len);

	return dot && dot > t + 1 && isalpha((unsigned char)t[0]) && len < 24 &&
	       memmem(dot, len - (size_t)(dot - t), "large", 5);
}

/* A GPU family: "Hopper", "Volta". */
static const struct jl_family *family_named(const struct jl_catalog *cat, const char *t, size_t len)
{
	for (size_t i = 0; i < cat->n_families; i++)
		if (strncasecmp(cat->families[i].id, t, len) == 0 &&
		    (cat->families[i].id[len] == '\0' || cat->families[i].id[len] == '-') && len > 3)
			return &cat->families[i];
	return NULL;
}

/* "P5 instance", "P4d 인스턴스": a cloud's family of machines; selects the largest. */
static bool cat_instance(struct jl_entity *e, const struct jl_catalog *cat, const char *key)
{
	const char *blank = strchr(key, ' ');

	if (!blank || blank == key || (strcasecmp(blank + 1, "instance") != 0 && strcmp(blank + 1, "인스턴스") != 0))
		return false;
	for (size_t i = 0; i < cat->n_systems; i++) {
		const char *id = cat->systems[i].id;

		if (strncmp(id, "aws:", 4) == 0 && strncasecmp(id + 4, key, (size_t)(blank - key)) == 0 &&
		    id[4 + (blank - key)] == '.' && (!e->system || cat->systems[i].n_gpu > e->system->n_gpu))
			e->system = &cat->systems[i];
	}
	return e->system != NULL;
}

static bool find(struct jl_entity *e, const struct jl_catalog *cat, const char *key)
{
	struct jl_words asked, has;

	const size_t room = sizeof e->gpus / sizeof e->gpus[0], len = strlen(key);
	char one[CHUNK_LEN];
	size_t n;

	memset(e, 0, sizeof *e);
	/* "8 V100s": plural of V100, or V100S */
	if (len > 2 && key[len - 1] == 's' && isdigit((unsigned char)key[len - 2])) {
		snprintf(one, sizeof one, "%.*s", (int)len - 1, key);
		n = jl_find_gpus(e->gpus, room, cat, one);
		e->n_gpus = n > room ? room : n;
	}
	n = jl_find_gpus(e->gpus + e->n_gpus, room - e->n_gpus, cat, key);
	e->n_gpus = e->n_gpus + n > room ? room : e->n_gpus + n;
	if (e->n_gpus)
		return true;
	if (cat_instance(e, cat, key))
		return true;
	jl_words_split(&asked, key);
	for (size_t i = 0, fewest = SIZE_MAX; i < cat->n_systems; i++) {
		const char *id = cat->systems[i].id, *colon = strchr(id, ':');

		jl_words_split(&has, colon ? colon + 1 : id);
		/* the name with the fewest additional words: a DGX A100 is not a DGX Station A100 */
		if ((jl_words_equal(&has, &asked) ||
		     (strncasecmp(key, "dgx", 3) == 0 && strlen(key) > 6 &&
		      jl_words_match(&has, &asked, &(unsigned){ 0 }) == JL_WORDS_ALL(asked.n))) &&
		    has.n < fewest) {
			e->system = &cat->systems[i];
			fewest = has.n;
		}
	}
	return e->system != NULL;
}

static int32_t lookup(struct naming *n, const char *text, size_t len)
{
	struct jl_audit_note *note = n->note;
	struct cached *c;

	if (len >= CHUNK_LEN)
		return -1;
	for (uint64_t slot = jl_hash_keyed(text, len);; slot++) {
		c = &n->cache[slot & (CACHE_SIZE - 1)];
		if (c->used && strlen(c->key) == len && memcmp(c->key, text, len) == 0)
			return c->entity;
		if (!c->used)
			break;
	}
	if (n->n_lookups >= LOOKUPS_MAX || note->n_entities >= JL_AUDIT_ENTITIES_MAX)
		return -1;
	n->n_lookups++;
	c->used = true;
	memcpy(c->key, text, len);
	c->key[len] = '\0';
	c->entity = find(&note->entities[note->n_entities], note->cat, c->key) ? (int32_t)note->n_entities++ : -1;
	return c->entity;
}

/* Finds the longest name at `at`, with words separated by a space or hyphen. Returns its end; 0: none. */
static size_t longest(struct naming *n, const char *t, size_t at, size_t end, int32_t *ret_entity)
{
	size_t ends[CHUNK_WORDS], n_ends = 0, i = at;

	while (n_ends < CHUNK_WORDS) {
		const size_t len = word_len(t, i, end);

		if (!len || (n_ends && !word_in(t + i, len, tail_words) && !isdigit((unsigned char)t[i]) &&
			     !looks_like_chip(t + i, len, true) &&
			     !word_in(t + i, len, "rtx|gtx|station|geforce|titan|gb|v|xp")))
			break;
		ends[n_ends++] = i + len;
		i += len;
		if (n_ends == 1 && end - i >= 9 &&
		    (strncasecmp(t + i, " instance", 9) == 0 ||
		     (end - i >= 13 && strncmp(t + i, " 인스턴스", 13) == 0)) &&
		    n_ends < CHUNK_WORDS) {
			const size_t stop = i + (t[i + 1] == 'i' || t[i + 1] == 'I' ? 9 : 13);

			if ((*ret_entity = lookup(n, t + at, stop - at)) >= 0)
				return stop;
		}
		if (i + 1 >= end || (t[i] != ' ' && t[i] != '-'))
			break;
		i++;
	}
	while (n_ends) {
		const size_t stop = ends[--n_ends];
		bool digit = false;

		for (size_t k = at; k < stop; k++)
			digit |= isdigit((unsigned char)t[k]) != 0;
		if ((digit || (stop - at > 10 && strncasecmp(t + at, "dgx", 3) == 0) ||
		     (stop - at > 6 && strncasecmp(t + at, "titan ", 6) == 0)) &&
		    (*ret_entity = lookup(n, t + at, stop - at)) >= 0)
			return stop;
	}
	return 0;
}

static uint32_t to_count(const char *t, size_t from, size_t to)
{
	uint32_t v = 0;

	for (size_t i = from; i < to && v < 100000; i++)
		v = v * 10 + (uint32_t)(t[i] - '0');
	return v < 100000 ? v : 0;
}

static bool times_sign(const char *t, size_t at, size_t end, size_t *ret_len)
{
	if (end - at >= 2 && memcmp(t + at, "×", 2) == 0) {
		*ret_len = 2;
		return true;
	}
	*ret_len = 1;
	return at < end && (t[at] == 'x' || t[at] == 'X' || t[at] == '*');
}

/* Parses the count in "4x V100", "8 × H100", "RTX 3090 x10", "V100-DGXS-32GB × 4개". */
static void take_count(struct jl_mention *m, const char *t, size_t line_at, size_t end)
{
	size_t i = m->at + m->len, n, to;

	while (i < end && t[i] == ' ')
		i++;
	if (times_sign(t, i, end, &n)) {
		size_t from = i + n;

		while (from < end && t[from] == ' ')
			from++;
		for (to = from; to < end && isdigit((unsigned char)t[to]);)
			to++;
		if (to > from && !(to < end && t[to] == '.')) {
			m->count = to_count(t, from, to);
			m->len = (uint32_t)(to - m->at);
			return;
		}
	}
	for (to = i; to < end && isdigit((unsigned char)t[to]);)
		to++;
	if (to > i && to - i < 5 && end - to >= 3 && (memcmp(t + to, "장", 3) == 0 || memcmp(t + to, "개", 3) == 0)) {
		m->count = to_count(t, i, to); /* e.g. "H100 8장"; the figure remains */
		return;
	}
	i = m->at;
	while (i > line_at && t[i - 1] == ' ')
		i--;
	if (i > line_at + 1 && memcmp(t + i - 2, "×", 2) == 0)
		i -= 2;
	else if (i > line_at && (t[i - 1] == 'x' || t[i - 1] == 'X'))
		i -= 1;
	else
		return;
	while (i > line_at && t[i - 1] == ' ')
		i--;
	for (to = i; i > line_at && isdigit((unsigned char)t[i - 1]);)
		i--;
	if (i < to && !(i > line_at && (isalpha((unsigned char)t[i - 1]) || t[i - 1] == '.'))) {
		m->count = to_count(t, i, to);
		m->len += m->at - (uint32_t)i;
		m->at = (uint32_t)i;
	}
}

/* Quick rejection: first two letters of head_words. */
static bool may_be_head(const char *t, size_t len)
{
	static const char pairs[] = "rtgttiquteraingatpgenvamdghg";

	for (size_t i = 0; len > 2 && i < sizeof pairs - 1; i += 2)
		if ((t[0] | 0x20) == pairs[i] && (t[1] | 0x20) == pairs[i + 1])
			return true;
	return false;
}

/* "1080 Ti", "3090Ti": a card without its vendor's prefix. */
static bool is_bare_card(const char *t, size_t at, size_t end)
{
	const size_t gap = at + 4 < end && t[at + 4] == ' ';

	return end - at >= 6 + gap && isdigit((unsigned char)t[at + 1]) && t[at + 2] >= '5' && t[at + 3] == '0' &&
	       strncasecmp(t + at + 4 + gap, "ti", 2) == 0 &&
	       (at + 6 + gap == end || !isalnum((unsigned char)t[at + 6 + gap]));
}

static size_t mention_at(struct naming *n, struct jl_line *line, size_t at, size_t end)
{
	struct jl_audit_note *note = n->note;
	const char *t = note->text;
	const size_t len = word_len(t, at, end);
	const struct jl_family *family = NULL;
	int32_t entity = -1;
	size_t stop = 0;

	if (is_bare_card(t, at, end) || (may_be_head(t + at, len) && word_in(t + at, len, head_words)) ||
	    looks_like_chip(t + at, len, false) || looks_like_instance(t + at, len))
		stop = longest(n, t, at, end, &entity);
	else if (isupper((unsigned char)t[at]) && (family = family_named(note->cat, t + at, len)) &&
		 note->n_entities < JL_AUDIT_ENTITIES_MAX) {
		entity = (int32_t)note->n_entities;
		note->entities[note->n_entities++] = (struct jl_entity){ .family = family };
		stop = at + len;
	}
	if (stop && note->n_mentions < JL_AUDIT_MENTIONS_MAX && line->n_mentions < UINT16_MAX) {
		struct jl_mention *m = &note->mentions[note->n_mentions++];

		*m = (struct jl_mention){ .at = (uint32_t)at,
					  .len = (uint32_t)(stop - at),
					  .entity = (uint32_t)entity,
					  .line = (uint32_t)(line - note->lines) };
		if (!family)
			take_count(m, t, line->at, end);
		line->n_mentions++;
		return m->at + m->len;
	}
	return at + (len ? len : 1);
}

/* Removes figures inside names ("RTX 3090", "4x V100"). */
static void drop_named(struct jl_audit_note *note)
{
	size_t kept = 0, m = 0;

	for (size_t i = 0; i < note->n_figures; i++) {
		const struct jl_figure *f = &note->figures[i];

		while (m < note->n_mentions && note->mentions[m].at + note->mentions[m].len <= f->at)
			m++;
		if (m < note->n_mentions && f->num_at < note->mentions[m].at + note->mentions[m].len &&
		    f->num_at + f->num_len > note->mentions[m].at)
			continue;
		note->figures[kept++] = *f;
	}
	note->n_figures = kept;
	for (size_t l = 0, f = 0; l < note->n_lines; l++) {
		note->lines[l].fig = (uint32_t)f;
		while (f < kept && note->figures[f].line == l)
			f++;
		note->lines[l].n_figs = (uint16_t)(f - note->lines[l].fig);
	}
}

enum jl_status jl_audit_mentions(struct jl_audit_note *note, struct jl_err *err)
{
	struct naming n = { .note = note };
	size_t room = note->len / 2 + 1;

	room = room > JL_AUDIT_MENTIONS_MAX ? JL_AUDIT_MENTIONS_MAX : room;
	n.cache = jl_arena_array(note->arena, CACHE_SIZE, sizeof *n.cache);
	note->entities = jl_arena_array(note->arena, JL_AUDIT_ENTITIES_MAX, sizeof *note->entities);
	note->mentions = jl_arena_array(note->arena, room, sizeof *note->mentions);
	JL_TRY(jl_got(n.cache && note->entities && note->mentions, err));
	for (size_t l = 0; l < note->n_lines; l++) {
		struct jl_line *line = &note->lines[l];
		const size_t end = line->at + line->len;

		line->mention = (uint32_t)note->n_mentions;
		if (line->kind == JL_LINE_BLANK || line->kind == JL_LINE_RULE)
			continue;
		for (size_t at = line->at; at < end && note->n_mentions < room;) {
			const unsigned char c = (unsigned char)note->text[at],
					    before = at ? (unsigned char)note->text[at - 1] : ' ';

			if (!(isalpha(c) || (isdigit(c) && is_bare_card(note->text, at, end))) || isalnum(before) ||
			    before == '_' || before == '.')
				at++;
			else
				at = mention_at(&n, line, at, end);
		}
	}
	drop_named(note);
	return JL_OK;
}

const struct jl_entity *jl_mention_entity(const struct jl_audit_note *note, const struct jl_mention *mention)
{
	return mention ? &note->entities[mention->entity] : NULL;
}

bool jl_entities_overlap(const struct jl_entity *a, const struct jl_entity *b)
{
	for (size_t i = 0; i < a->n_gpus; i++)
		for (size_t k = 0; k < b->n_gpus; k++)
			if (a->gpus[i] == b->gpus[k])
				return true;
	return (a->system && a->system == b->system) || (a->family && a->family == b->family);
}

bool jl_same_entity(const struct jl_audit_note *note, const struct jl_mention *a, const struct jl_mention *b)
{
	return a && b && jl_entities_overlap(jl_mention_entity(note, a), jl_mention_entity(note, b));
}

#define NAMES_LOOKED_AT 24

/* The hardware in part of a line; NULL: none, or two different ones. */
const struct jl_mention *jl_audit_mention_in(const struct jl_audit_note *note, const struct jl_line *l, uint32_t from,
					     uint32_t to)
{
	const struct jl_mention *first = NULL;

	for (size_t i = 0; i < l->n_mentions && i < NAMES_LOOKED_AT; i++) {
		const struct jl_mention *m = &note->mentions[l->mention + i];

		if (jl_mention_entity(note, m)->family || m->at < from || m->at >= to)
			continue;
		if (first && !jl_same_entity(note, first, m))
			return NULL;
		/* prefer the more specific spelling */
		if (!first || jl_mention_entity(note, m)->n_gpus < jl_mention_entity(note, first)->n_gpus)
			first = m;
	}
	return first;
}

const struct jl_mention *jl_audit_line_mention(const struct jl_audit_note *note, uint32_t line)
{
	return jl_audit_mention_in(note, &note->lines[line], 0, UINT32_MAX);
}

const struct jl_mention *jl_audit_section_mention(const struct jl_audit_note *note, uint32_t line)
{
	for (uint32_t s = note->lines[line].section; s; s = note->lines[s - 1].section)
		if (note->lines[s - 1].n_mentions)
			return jl_audit_line_mention(note, s - 1);
	return NULL;
}

#define LOOK_BACK 12

/* Hardware from the context: the line's heading, otherwise earlier lines of the same list, otherwise outer headings. A more specific name of the
 * same hardware in a list takes precedence. */
static const struct jl_mention *above(const struct jl_audit_note *note, uint32_t line)
{
	const uint32_t section = note->lines[line].section;
	const struct jl_mention *head = section ? jl_audit_line_mention(note, section - 1) : NULL;

	for (uint32_t back = 1; back <= LOOK_BACK && back <= line; back++) {
		const struct jl_line *l = &note->lines[line - back];

		if (l->kind == JL_LINE_HEAD || (l->kind == JL_LINE_BLANK && back > 6))
			break;
		if (!l->n_mentions)
			continue;
		const struct jl_mention *m = jl_audit_line_mention(note, line - back);
		if (!head || jl_same_entity(note, head, m))
			return m;
	}
	return head ? head : jl_audit_section_mention(note, line);
}

const struct jl_mention *jl_audit_speaks_of(const struct jl_audit_note *note, uint32_t at)
{
	size_t lo = 0, hi = note->n_lines;

	while (hi - lo > 1) {
		const size_t mid = (lo + hi) / 2;

		if (note->lines[mid].at <= at)
			lo = mid;
		else
			hi = mid;
	}
	return note->lines[lo].n_mentions ? jl_audit_line_mention(note, (uint32_t)lo) : above(note, (uint32_t)lo);
}
