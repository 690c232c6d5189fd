/* Matches the spelling of units against a table. Knows nothing of numbers. */
#include "base/units_match.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units_table.h"

enum {
	BIG = 1,              /* prefixes k M G T P E Z Y */
	IEC = 2,              /* prefixes Ki Mi Gi ... */
	MILLI = 4,            /* prefix m */
	SMALL = 8,            /* prefixes m u n p */
	WON = 16,             /* Korean numerals 천 만 백만 천만 억 조 before 원 */
	PREFIX_ANY_CASE = 32, /* gB is GB, kiB is KiB: wrong case of the prefix is accepted if the rest is exact */
	ANY_CASE = 64         /* kwh is kWh, Hours is hours */
};

#define WORD   (ANY_CASE)
#define SYMBOL (ANY_CASE | PREFIX_ANY_CASE)

/* Store lengths in the table: the catalog has thousands of quantities, and each is compared with most rows. */
#define TEXT(text) text, sizeof(text) - 1

static const struct {
	const char *text;
	size_t len;
	double factor;
	unsigned flags;
} prefixes[] = {
	{ TEXT("k"), 1e3, BIG },     { TEXT("M"), 1e6, BIG },     { TEXT("G"), 1e9, BIG },
	{ TEXT("T"), 1e12, BIG },    { TEXT("P"), 1e15, BIG },    { TEXT("E"), 1e18, BIG },
	{ TEXT("Z"), 1e21, BIG },    { TEXT("Y"), 1e24, BIG },    { TEXT("Ki"), 0x1p10, IEC },
	{ TEXT("Mi"), 0x1p20, IEC }, { TEXT("Gi"), 0x1p30, IEC }, { TEXT("Ti"), 0x1p40, IEC },
	{ TEXT("Pi"), 0x1p50, IEC }, { TEXT("Ei"), 0x1p60, IEC }, { TEXT("m"), 1e-3, MILLI | SMALL },
	{ TEXT("u"), 1e-6, SMALL },  { TEXT("µ"), 1e-6, SMALL },  { TEXT("μ"), 1e-6, SMALL },
	{ TEXT("n"), 1e-9, SMALL },  { TEXT("p"), 1e-12, SMALL }, { TEXT("천"), 1e3, WON },
	{ TEXT("만"), 1e4, WON },    { TEXT("백만"), 1e6, WON },  { TEXT("천만"), 1e7, WON },
	{ TEXT("억"), 1e8, WON },    { TEXT("조"), 1e12, WON },
};

static const struct unit {
	const char *words; /* "sec|secs": synonyms */
	enum jl_kind kind;
	double factor;
	unsigned flags;
} units[] = {
	{ "%", JL_K_FRACTION, 0.01, 0 },
	{ "percent|퍼센트", JL_K_FRACTION, 0.01, WORD },
	{ "B", JL_K_BYTES, 1, BIG | IEC | SYMBOL },
	{ "byte|bytes", JL_K_BYTES, 1, BIG | IEC | WORD },
	{ "바이트", JL_K_BYTES, 1, 0 },
	{ "b", JL_K_BYTES, 0.125, BIG | IEC | ANY_CASE },
	{ "Kb", JL_K_BYTES, 125, 0 }, /* Kbps: 1,000 bit/s, as telephone lines count */
	{ "bit|bits", JL_K_BYTES, 0.125, BIG | IEC | WORD },
	{ "s", JL_K_TIME, 1, SMALL },
	{ "sec|secs|second|seconds|초", JL_K_TIME, 1, WORD },
	{ "msec|밀리초", JL_K_TIME, 1e-3, WORD },
	{ "usec|마이크로초", JL_K_TIME, 1e-6, WORD },
	{ "min|mins|minute|minutes|분", JL_K_TIME, 60, WORD },
	{ "h", JL_K_TIME, JL_HOUR_S, 0 },
	{ "hr|hrs|hour|hours|시간", JL_K_TIME, JL_HOUR_S, WORD },
	{ "d", JL_K_TIME, JL_DAY_S, 0 },
	{ "day|days|일", JL_K_TIME, JL_DAY_S, WORD },
	{ "week|weeks|주", JL_K_TIME, 7 * JL_DAY_S, WORD },
	{ "mo", JL_K_TIME, JL_MONTH_S, 0 },
	{ "month|months|개월|달", JL_K_TIME, JL_MONTH_S, WORD },
	{ "y", JL_K_TIME, JL_YEAR_S, 0 },
	{ "yr|year|years|년", JL_K_TIME, JL_YEAR_S, WORD },
	{ "Hz", JL_K_FREQUENCY, 1, BIG | SYMBOL },
	{ "FLOP|FLOPs", JL_K_FLOP, 1, BIG | SYMBOL },
	{ "FLOPS|FLOPs", JL_K_FLOP_RATE, 1, BIG | SYMBOL },
	{ "OP|OPs", JL_K_OPS, 1, BIG | SYMBOL },
	{ "OPS|OPs", JL_K_OP_RATE, 1, BIG | SYMBOL },
	{ "W", JL_K_POWER, 1, BIG | MILLI | SYMBOL },
	{ "watt|watts|와트", JL_K_POWER, 1, WORD },
	{ "J", JL_K_ENERGY, 1, BIG | MILLI | SYMBOL },
	{ "Wh", JL_K_ENERGY, JL_HOUR_S, BIG | SYMBOL },
	{ "m", JL_K_LENGTH, 1, SMALL },
	{ "cm", JL_K_LENGTH, 0.01, 0 },
	{ "km", JL_K_LENGTH, 1e3, 0 },
	{ "in", JL_K_LENGTH, 0.0254, 0 },
	{ "inch|inches", JL_K_LENGTH, 0.0254, WORD },
	{ "g", JL_K_MASS, 1, MILLI },
	{ "kg", JL_K_MASS, 1e3, 0 },
	{ "t", JL_K_MASS, 1e6, 0 },
	{ "gCO2|gCO2e|gCO2eq", JL_K_MASS, 1, WORD },
	{ "kgCO2|kgCO2e|kgCO2eq", JL_K_MASS, 1e3, WORD },
	{ "tCO2|tCO2e|tCO2eq", JL_K_MASS, 1e6, WORD },
	{ "USD", JL_K_USD, 1, BIG | SYMBOL },
	{ "$", JL_K_USD, 1, BIG | PREFIX_ANY_CASE },
	{ "US$", JL_K_USD, 1, BIG },
	{ "dollar|dollars", JL_K_USD, 1, WORD },
	{ "달러|불", JL_K_USD, 1, WON },
	{ "KRW", JL_K_KRW, 1, BIG | SYMBOL },
	{ "₩", JL_K_KRW, 1, BIG | PREFIX_ANY_CASE },
	{ "won", JL_K_KRW, 1, WORD },
	{ "원", JL_K_KRW, 1, WON },
	{ "fps", JL_K_COUNT_RATE, 1, WORD },
	{ "samples|sample|tokens|token|tok", JL_K_COUNT, 1, WORD },
	{ "ktok|ktokens", JL_K_COUNT, 1e3, WORD },
	{ "images|image|img|imgs|sequences|sequence|seq|seqs|frames|items", JL_K_COUNT, 1, WORD },
	{ "examples|sentences|words|utterances|steps|step|batches|it|iter|iters", JL_K_COUNT, 1, WORD },
	{ "iterations|req|requests|queries", JL_K_COUNT, 1, WORD },
	{ "토큰|샘플|장|개", JL_K_COUNT, 1, 0 },
	{ "", JL_K_COUNT, 1, 0 },
};

static const struct {
	enum jl_kind over, under, gives;
} quotients[] = {
	{ JL_K_BYTES, JL_K_TIME, JL_K_BYTE_RATE },  { JL_K_FLOP, JL_K_TIME, JL_K_FLOP_RATE },
	{ JL_K_OPS, JL_K_TIME, JL_K_OP_RATE },      { JL_K_ENERGY, JL_K_TIME, JL_K_POWER },
	{ JL_K_USD, JL_K_TIME, JL_K_USD_RATE },     { JL_K_USD, JL_K_ENERGY, JL_K_USD_ENERGY },
	{ JL_K_KRW, JL_K_ENERGY, JL_K_KRW_ENERGY }, { JL_K_MASS, JL_K_ENERGY, JL_K_MASS_ENERGY },
	{ JL_K_COUNT, JL_K_TIME, JL_K_COUNT_RATE },
};

/* How far a match deviates from the written case. A closer match hides all others. */
enum nearness { EXACT, PREFIX_FOLDED, FOLDED, N_NEARNESS };

struct list {
	struct jl_meaning *items;
	size_t n;
};

static void note(struct list *list, enum jl_kind kind, double factor, const char *over, const char *slash,
		 const char *under)
{
	struct jl_meaning meaning = { .kind = kind, .factor = factor };

	for (size_t i = 0; i < list->n; i++) {
		if (list->items[i].kind == kind && list->items[i].factor == factor)
			return;
	}
	if (list->n == JL_MEANINGS_MAX)
		return;
	snprintf(meaning.spelling, sizeof(meaning.spelling), "%.14s%s%.14s", over, slash, under);
	list->items[list->n++] = meaning;
}

static bool same(const char *a, const char *b, size_t len, bool any_case)
{
	return (any_case ? strncasecmp(a, b, len) : strncmp(a, b, len)) == 0;
}

static void match_word(struct list *list, const struct unit *unit, const char *word, size_t word_len, const char *text,
		       size_t len, enum nearness nearness)
{
	bool word_any_case = nearness == FOLDED && (unit->flags & ANY_CASE);
	bool prefix_any_case = word_any_case || (nearness == PREFIX_FOLDED && (unit->flags & PREFIX_ANY_CASE));
	size_t head_len = len - word_len;
	char spelling[32];

	if (word_len > len || !same(text + head_len, word, word_len, word_any_case))
		return;
	if (head_len == 0) {
		(void)snprintf(spelling, sizeof(spelling), "%.*s", (int)word_len, word);
		note(list, unit->kind, unit->factor, spelling, "", "");
		return;
	}
	for (size_t i = 0; i < JL_LEN(prefixes); i++) {
		if (!(prefixes[i].flags & unit->flags) || prefixes[i].len != head_len ||
		    !same(text, prefixes[i].text, head_len, prefix_any_case))
			continue;
		(void)snprintf(spelling, sizeof(spelling), "%s%.*s", prefixes[i].text, (int)word_len, word);
		note(list, unit->kind, unit->factor * prefixes[i].factor, spelling, "", "");
	}
}

/* Index of unit names by their last byte, in table order: that byte rules out almost every candidate. */
#define WORDS_MAX 400

static struct {
	struct {
		const char *word;
		const struct unit *unit;
		unsigned char len;
		short next; /* next with the same last byte; -1: none */
	} words[WORDS_MAX];
	short first[256];
	short empty; /* the unit with an empty name, which takes only prefixes */
} by_end;

static unsigned char folded(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static void add_word(const struct unit *unit, const char *word, size_t len, short i, short last[256])
{
	const unsigned char end = len ? folded(word[len - 1]) : 0;

	by_end.words[i].word = word;
	by_end.words[i].unit = unit;
	by_end.words[i].len = (unsigned char)len;
	by_end.words[i].next = -1;
	if (len == 0)
		by_end.empty = i;
	else if (last[end] < 0)
		by_end.first[end] = i;
	else
		by_end.words[last[end]].next = i;
	if (len > 0)
		last[end] = i;
}

static void sort_words(void)
{
	short last[256], n = 0;

	for (size_t i = 0; i < JL_LEN(last); i++)
		last[i] = by_end.first[i] = -1;
	for (size_t i = 0; i < JL_LEN(units); i++) {
		const char *word = units[i].words, *end;

		do {
			end = strchrnul(word, '|');
			if (n < WORDS_MAX) /* base/units queries these last */
				add_word(&units[i], word, (size_t)(end - word), n++, last);
			word = end + 1;
		} while (*end);
	}
}

static void match_simple(struct list *list, const char *text, size_t len, enum nearness from)
{
	static pthread_once_t sorted = PTHREAD_ONCE_INIT;

	(void)pthread_once(&sorted, sort_words);
	for (enum nearness nearness = from; nearness < N_NEARNESS && list->n == 0; nearness++) {
		for (int i = len ? by_end.first[folded(text[len - 1])] : -1; i >= 0; i = by_end.words[i].next)
			match_word(list, by_end.words[i].unit, by_end.words[i].word, by_end.words[i].len, text, len,
				   nearness);
		match_word(list, by_end.words[by_end.empty].unit, "", 0, text, len, nearness);
	}
}

static void divide(struct list *list, const struct list *over, const struct list *under)
{
	for (size_t i = 0; i < over->n * under->n; i++) {
		const struct jl_meaning *a = &over->items[i / under->n], *b = &under->items[i % under->n];
		for (size_t j = 0; j < JL_LEN(quotients); j++) {
			if (quotients[j].over == a->kind && quotients[j].under == b->kind)
				note(list, quotients[j].gives, a->factor / b->factor, a->spelling, "/", b->spelling);
		}
	}
}

size_t jl_units_match(const char *unit, struct jl_meaning ret_meanings[JL_MEANINGS_MAX])
{
	struct jl_meaning over_items[JL_MEANINGS_MAX], under_items[JL_MEANINGS_MAX];
	struct list list = { ret_meanings, 0 }, over = { over_items, 0 }, under = { under_items, 0 };
	const char *slash = strchr(unit, '/');
	size_t len = strlen(unit);

	if (slash) {
		match_simple(&over, unit, (size_t)(slash - unit), EXACT);
		match_simple(&under, slash + 1, strlen(slash + 1), EXACT);
		divide(&list, &over, &under);
		return list.n;
	}
	if (len > 0)
		match_simple(&list, unit, len, EXACT);
	/* GBps and Gbps; if "PS" is in capitals, the case of the B is unreliable too */
	if (list.n == 0 && len > 2 && strcasecmp(unit + len - 2, "ps") == 0) {
		match_simple(&over, unit, len - 2, strcmp(unit + len - 2, "ps") == 0 ? EXACT : FOLDED);
		match_simple(&under, "s", 1, EXACT);
		divide(&list, &over, &under);
	}
	return list.n;
}

bool jl_units_is_unit(const char *word)
{
	struct jl_meaning meanings[JL_MEANINGS_MAX];

	return jl_units_match(word, meanings) > 0;
}
