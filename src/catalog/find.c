#include "catalog/find.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/nearest.h"
#include "catalog/words.h"

#define N_LISTED 8 /* candidates named in a message */

/* How well a record fits; smaller is better. The order is documented in find.h. */
enum fit { FIT_ID, FIT_ID_WORDS, FIT_SPELLING, FIT_ORDER, FIT_MEMORY, FIT_WORDS, FIT_NOT };

/* Records of one kind, seen alike. */
struct shelf {
	const char *en, *en_many, *ko; /* what they are called */
	const char *base;
	size_t n, stride;
	size_t id, name, aliases; /* offsets */
	enum jl_link_role role;   /* links only */
	bool has_role;
	bool is_gpu;    /* memory size counts as a word */
	bool is_system; /* the provider may be left out */
};

#define SHELF(type, array, count, en_text, many_text, ko_text)                                                         \
	{                                                                                                              \
		.en = (en_text), .en_many = (many_text), .ko = (ko_text), .base = (const char *)(array), .n = (count), \
		.stride = sizeof(struct type), .id = offsetof(struct type, id), .name = offsetof(struct type, name),   \
		.aliases = offsetof(struct type, aliases)                                                              \
	}

struct asked {
	char text[JL_NAME_MAX + 1]; /* as written, without control characters: messages are one line */
	struct jl_words words;
	struct jl_words bare; /* without memory sizes; no words at all where none was asked for */
	size_t size;          /* which of `words` is the memory size left out of `bare` */
	bool has_number;
};

struct picked {
	enum fit fit;
	size_t n;               /* records that fit as well */
	size_t index[N_LISTED]; /* the first of them, in catalog order */
};

/* Series words that people leave out when they stand first. */
static const char *const leads[] = { "rtx", "gtx", "radeon", "core" };

static const char *text_at(const struct shelf *shelf, size_t i, size_t offset)
{
	const char *text;

	memcpy(&text, shelf->base + i * shelf->stride + offset, sizeof(text));
	return text ? text : "";
}

static const char *const *aliases_at(const struct shelf *shelf, size_t i)
{
	static const char *const none[] = { NULL };
	const char *const *aliases;

	memcpy(&aliases, shelf->base + i * shelf->stride + shelf->aliases, sizeof(aliases));
	return aliases ? aliases : none;
}

static bool on_shelf(const struct shelf *shelf, size_t i)
{
	const struct jl_link_info *links = (const void *)shelf->base;

	return !shelf->has_role || links[i].role == shelf->role;
}

static bool has_lead(const struct jl_words *words)
{
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (jl_word_is(words, 0, leads[i]))
			return true;
	return false;
}

/* The beginning of `have`, up to where a word or number ends. */
static bool begins(const struct jl_words *have, const struct jl_words *asked)
{
	char last, next;

	if (asked->glued_len == 0 || have->glued_len <= asked->glued_len ||
	    memcmp(have->glued, asked->glued, asked->glued_len) != 0)
		return false;
	last = asked->glued[asked->glued_len - 1];
	next = have->glued[asked->glued_len];
	return next == '.' || next == '-' || (last >= '0' && last <= '9') != (next >= '0' && next <= '9');
}

/* *ret_seen: a bit for each word of `asked` that is there. */
static enum fit fit_spelling(const struct jl_words *have, const struct jl_words *asked, unsigned *ret_seen)
{
	bool lead = has_lead(have);
	bool only_memory = true;
	unsigned used;
	size_t i;

	*ret_seen = jl_words_match(have, asked, &used);
	if (jl_words_equal(have, asked))
		return FIT_SPELLING;
	if (lead && have->glued_len - have->len[0] == asked->glued_len &&
	    memcmp(have->glued + have->len[0], asked->glued, asked->glued_len) == 0)
		return FIT_SPELLING;
	if (*ret_seen != JL_WORDS_ALL(asked->n))
		return begins(have, asked) ? FIT_WORDS : FIT_NOT;
	if (asked->n == have->n)
		return FIT_ORDER;
	for (i = lead ? 1 : 0; i < have->n; i++)
		if (!(used & 1u << i) && !jl_word_is_memory(have, i))
			only_memory = false;
	return only_memory ? FIT_MEMORY : FIT_WORDS;
}

/* Bit of the asked memory size if it is this accelerator's. */
static unsigned seen_memory(const struct shelf *shelf, size_t i, const struct asked *asked)
{
	const struct jl_gpu *gpus = (const void *)shelf->base;
	char text[32];
	int n;

	if (!shelf->is_gpu || asked->bare.n == 0 || !(gpus[i].mem_B.value > 0))
		return 0;
	/* A card sold as 80 GB holds 80 GiB; some are listed by the decimal unit. */
	for (n = 0; n < 2; n++) {
		snprintf(text, sizeof(text), "%.0fgb", round(gpus[i].mem_B.value / (n ? 1e9 : 1073741824.0)));
		if (jl_word_is(&asked->words, asked->size, text))
			return 1u << asked->size;
	}
	return 0;
}

/* What one record's spellings add up to. */
struct tally {
	enum fit fit;
	unsigned seen; /* words of the question that some spelling has */
	bool bare;     /* a spelling is the question without its memory size */
};

static void add_spelling(struct tally *tally, const char *text, const struct asked *asked, bool alias)
{
	struct jl_words have;
	enum fit fit;
	unsigned seen;

	jl_words_split(&have, text);
	fit = fit_spelling(&have, &asked->words, &seen);
	/* An alias "A100 80GB" must not claim every "A100", nor "HGX H20" every "HGX". */
	if (alias && fit > FIT_ORDER && !asked->has_number)
		return;
	if (alias && fit == FIT_MEMORY)
		fit = FIT_WORDS;
	if (fit < tally->fit)
		tally->fit = fit;
	tally->seen |= seen;
	if (asked->bare.n > 0 && fit_spelling(&have, &asked->bare, &seen) <= FIT_ORDER)
		tally->bare = true;
}

static bool word_occurs(const struct shelf *shelf, size_t i, const struct jl_words *words, size_t word)
{
	const char *const *alias = aliases_at(shelf, i);

	if (jl_words_occur(words, word, text_at(shelf, i, shelf->id)) ||
	    jl_words_occur(words, word, text_at(shelf, i, shelf->name)))
		return true;
	while (*alias && !jl_words_occur(words, word, *alias))
		alias++;
	return *alias != NULL;
}

/* Most records are not meant: look for the letters of every word before taking all spellings apart. Memory sizes may be
 * spelled otherwise ("80 GiB"), so they do not count here. */
static bool may_fit(const struct shelf *shelf, size_t i, const struct asked *asked)
{
	size_t word;

	for (word = asked->words.n; word-- > 0;)
		if (!jl_word_is_memory(&asked->words, word) && !word_occurs(shelf, i, &asked->words, word))
			return false;
	return true;
}

static enum fit fit_record(const struct shelf *shelf, size_t i, const struct asked *asked)
{
	const char *id = text_at(shelf, i, shelf->id);
	const char *const *alias = aliases_at(shelf, i);
	const char *colon = shelf->is_system ? strchr(id, ':') : NULL;
	struct tally tally = { .fit = FIT_NOT };
	unsigned memory;

	if (!may_fit(shelf, i, asked))
		return FIT_NOT;
	add_spelling(&tally, id, asked, false);
	if (colon)
		add_spelling(&tally, colon + 1, asked, false);
	/* The words of an id settle what an alias of another record may also claim. */
	if (tally.fit == FIT_SPELLING)
		return FIT_ID_WORDS;
	add_spelling(&tally, text_at(shelf, i, shelf->name), asked, false);
	for (; *alias; alias++)
		add_spelling(&tally, *alias, asked, true);
	memory = tally.fit > FIT_MEMORY ? seen_memory(shelf, i, asked) : 0;
	if (memory && tally.bare)
		return FIT_MEMORY;
	/* Words that are spread over id, name, aliases and memory size: "A100 80GB HBM2e". */
	if (tally.fit > FIT_WORDS && (tally.seen | memory) == JL_WORDS_ALL(asked->words.n))
		return FIT_WORDS;
	return tally.fit;
}

static void search(struct picked *ret_picked, const struct shelf *shelf, const struct asked *asked)
{
	struct picked picked = { .fit = FIT_NOT };
	size_t i;

	for (i = 0; i < shelf->n; i++)
		if (on_shelf(shelf, i) && strcasecmp(text_at(shelf, i, shelf->id), asked->text) == 0) {
			*ret_picked = (struct picked){ .fit = FIT_ID, .n = 1, .index = { i } };
			return;
		}
	for (i = 0; i < shelf->n; i++) {
		enum fit fit = on_shelf(shelf, i) ? fit_record(shelf, i, asked) : FIT_NOT;

		if (fit == FIT_NOT || fit > picked.fit)
			continue;
		if (fit < picked.fit)
			picked.n = 0;
		picked.fit = fit;
		if (picked.n < N_LISTED)
			picked.index[picked.n] = i;
		picked.n++;
	}
	*ret_picked = picked;
}

#define LIST_MAX (JL_ERR_TEXT_MAX - 2 * JL_NAME_MAX) /* leaves room for what was asked */

/* "a, b, c and 4 more" */
static void list_ids(char out[LIST_MAX], const struct shelf *shelf, const struct picked *picked, enum jl_lang lang)
{
	size_t n = picked->n < N_LISTED ? picked->n : N_LISTED;
	size_t at = 0;
	size_t i;

	for (i = 0; i < n && at < LIST_MAX; i++)
		at += (size_t)snprintf(out + at, LIST_MAX - at, "%s%s", i ? ", " : "",
				       text_at(shelf, picked->index[i], shelf->id));
	if (picked->n > n && at < LIST_MAX)
		snprintf(out + at, LIST_MAX - at, JL_T(lang, " and %zu more", " 외 %zu개"), picked->n - n);
}

static void add_nearest(struct jl_nearest *nearest, const struct shelf *shelf, const struct asked *asked)
{
	struct jl_words have;
	size_t i;

	for (i = 0; i < shelf->n; i++) {
		const char *id = text_at(shelf, i, shelf->id);
		const char *colon = shelf->is_system ? strchr(id, ':') : NULL;
		unsigned cost, other;

		if (!on_shelf(shelf, i))
			continue;
		jl_words_split(&have, id);
		cost = jl_nearest_cost(asked->words.glued, have.glued);
		jl_words_split(&have, colon ? colon + 1 : text_at(shelf, i, shelf->name));
		other = jl_nearest_cost(asked->words.glued, have.glued);
		jl_nearest_add(nearest, id, cost < other ? cost : other);
	}
}

static enum jl_status fail_nearest(const struct shelf *shelf, const struct asked *asked,
				   const struct jl_nearest *nearest, struct jl_err *err)
{
	char ids[LIST_MAX] = "";
	size_t at = 0;
	size_t i;

	for (i = 0; i < nearest->n && at < sizeof(ids); i++)
		at += (size_t)snprintf(ids + at, sizeof(ids) - at, "%s%s", i ? ", " : "", nearest->id[i]);
	if (nearest->n == 0)
		return jl_fail(err, JL_E_NOTFOUND, "no %s%.0s is called '%s'; 'jeoul catalog list' shows all",
			       "%.0s%s 중에 '%s'은(는) 없습니다. 'jeoul catalog list'가 모두 보여 줍니다", shelf->en,
			       shelf->ko, asked->text);
	return jl_fail(err, JL_E_NOTFOUND, "no %s%.0s is called '%s'; did you mean %s?",
		       "%.0s%s 중에 '%s'은(는) 없습니다. 혹시 %s?", shelf->en, shelf->ko, asked->text, ids);
}

static enum jl_status fail_ambiguous(const struct shelf *shelf, const struct asked *asked, const struct picked *picked,
				     struct jl_err *err)
{
	char en_ids[LIST_MAX] = "", ko_ids[LIST_MAX] = "";

	list_ids(en_ids, shelf, picked, JL_EN);
	list_ids(ko_ids, shelf, picked, JL_KO);
	return jl_fail(err, JL_E_AMBIGUOUS, "'%s' fits %zu %s%.0s: %s%.0s; write one of them",
		       "'%s'에 맞는 것이 %zu개입니다(%.0s%s): %.0s%s. 하나를 골라 적어 주세요", asked->text, picked->n,
		       shelf->en_many, shelf->ko, en_ids, ko_ids);
}

/* "rtx 3090 24gb" -> "rtx 3090" and 24gb. */
static void take_size(struct asked *asked)
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

/* What was asked, or why it cannot be. */
static enum jl_status ask(struct asked *ret_asked, const struct shelf *shelf, const char *text, struct jl_err *err)
{
	size_t len, i;

	while (*text == ' ' || *text == '\t')
		text++;
	len = strnlen(text, JL_NAME_MAX + 1);
	if (len > JL_NAME_MAX)
		return jl_fail(err, JL_E_LIMIT, "a name has at most %d bytes", "이름은 최대 %d바이트입니다",
			       JL_NAME_MAX);
	for (i = 0; i < len; i++)
		ret_asked->text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	ret_asked->text[len] = '\0';
	jl_words_split(&ret_asked->words, ret_asked->text);
	ret_asked->has_number = strpbrk(ret_asked->words.glued, "0123456789") != NULL;
	take_size(ret_asked);
	if (ret_asked->words.n == 0)
		return jl_fail(err, JL_E_USAGE, "'%s' is no name of a %s%.0s", "'%s'은(는) %.0s%s 이름이 아닙니다",
			       ret_asked->text, shelf->en, shelf->ko);
	return JL_OK;
}

static enum jl_status find_on(size_t *ret_index, const struct shelf *shelf, const char *text, struct jl_err *err)
{
	struct jl_nearest nearest = { 0 };
	struct picked picked;
	struct asked asked = { 0 };
	enum jl_status status = ask(&asked, shelf, text, err);

	if (status)
		return status;
	search(&picked, shelf, &asked);
	if (picked.n == 1) {
		*ret_index = picked.index[0];
		return JL_OK;
	}
	if (picked.n == 0) {
		add_nearest(&nearest, shelf, &asked);
		return fail_nearest(shelf, &asked, &nearest, err);
	}
	return fail_ambiguous(shelf, &asked, &picked, err);
}

static struct shelf gpu_shelf(const struct jl_catalog *cat)
{
	struct shelf shelf = SHELF(jl_gpu, cat->gpus, cat->n_gpus, "accelerator", "accelerators", "가속기");

	shelf.is_gpu = true;
	return shelf;
}

static struct shelf system_shelf(const struct jl_catalog *cat)
{
	struct shelf shelf = SHELF(jl_system, cat->systems, cat->n_systems, "system", "systems", "시스템");

	shelf.is_system = true;
	return shelf;
}

enum jl_status jl_find_gpu(const struct jl_gpu **ret_gpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err)
{
	struct shelf shelf = gpu_shelf(cat);
	size_t i = 0;
	enum jl_status status = find_on(&i, &shelf, text, err);

	if (!status)
		*ret_gpu = &cat->gpus[i];
	return status;
}

size_t jl_find_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat, const char *text)
{
	struct shelf shelf = gpu_shelf(cat);
	struct picked picked;
	struct asked asked = { 0 };
	size_t n = 0, i;

	if (ask(&asked, &shelf, text, NULL) != JL_OK)
		return 0;
	search(&picked, &shelf, &asked);
	if (picked.fit == FIT_ID && max > 0)
		ret_gpus[0] = &cat->gpus[picked.index[0]];
	if (picked.fit == FIT_ID)
		return 1;
	for (i = 0; n < picked.n && i < shelf.n; i++) {
		if (fit_record(&shelf, i, &asked) != picked.fit)
			continue;
		if (n < max)
			ret_gpus[n] = &cat->gpus[i];
		n++;
	}
	return n;
}

enum jl_status jl_find_cpu(const struct jl_cpu **ret_cpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err)
{
	struct shelf shelf = SHELF(jl_cpu, cat->cpus, cat->n_cpus, "CPU", "CPUs", "CPU");
	size_t i = 0;
	enum jl_status status;

	if (strncasecmp(text, "cpu:", 4) == 0)
		text += 4;
	status = find_on(&i, &shelf, text, err);
	if (!status)
		*ret_cpu = &cat->cpus[i];
	return status;
}

static const struct {
	const char *en, *en_many, *ko;
	const char *hint_en, *hint_ko; /* where it belongs */
} role_names[] = {
	[JL_ROLE_WIRE] = { "wire", "wires", "링크", "a wire, of which joins are made", "연결의 재료인 링크" },
	[JL_ROLE_JOIN] = { "join", "joins", "연결", "a join (via)", "호스트 안의 연결(via)" },
	[JL_ROLE_NETWORK] = { "network", "networks", "네트워크", "a network (over)", "네트워크(over)" },
	[JL_ROLE_SWITCH] = { "switch", "switches", "스위치", "a switch chip", "스위치 칩" },
};
#define N_ROLES (sizeof(role_names) / sizeof(role_names[0]))

/* "pcie4-no-p2p" after `over`: it exists, but is something else. */
static enum jl_status other_role(const struct jl_catalog *cat, const struct shelf *shelf, const char *text,
				 enum jl_status status, struct jl_err *err)
{
	struct shelf all = *shelf;
	struct picked picked;
	struct asked asked = { 0 };
	size_t role;

	all.has_role = false;
	if (ask(&asked, &all, text, NULL) != JL_OK)
		return status;
	search(&picked, &all, &asked);
	if (picked.n == 0 || picked.fit > FIT_ORDER)
		return status;
	role = (size_t)cat->links[picked.index[0]].role;
	if (role >= N_ROLES)
		return status;
	return jl_fail(err, JL_E_NOTFOUND, "'%s' is %s%.0s; here should be a %s%.0s",
		       "'%s'은(는) %.0s%s입니다. 여기에는 %.0s%s이(가) 와야 합니다", asked.text,
		       role_names[role].hint_en, role_names[role].hint_ko, shelf->en, shelf->ko);
}

enum jl_status jl_find_link(const struct jl_link_info **ret_link, const struct jl_catalog *cat, const char *text,
			    enum jl_link_role role, struct jl_err *err)
{
	struct shelf shelf = SHELF(jl_link_info, cat->links, cat->n_links, "link", "links", "링크");
	size_t i = 0;
	enum jl_status status;

	if ((size_t)role < N_ROLES) {
		shelf.has_role = true;
		shelf.role = role;
		shelf.en = role_names[role].en;
		shelf.en_many = role_names[role].en_many;
		shelf.ko = role_names[role].ko;
	}
	status = find_on(&i, &shelf, text, err);
	if (status == JL_E_NOTFOUND && shelf.has_role)
		return other_role(cat, &shelf, text, status, err);
	if (!status)
		*ret_link = &cat->links[i];
	return status;
}

enum jl_status jl_find_system(const struct jl_system **ret_system, const struct jl_catalog *cat, const char *text,
			      struct jl_err *err)
{
	struct shelf shelf = system_shelf(cat);
	size_t i = 0;
	enum jl_status status = find_on(&i, &shelf, text, err);

	if (!status)
		*ret_system = &cat->systems[i];
	return status;
}

/* "meta-llama/Llama-3.1-8B-Instruct" -> "Llama-3.1-8B": fine-tuned twins cost the same to run. */
static void plain_model(char out[JL_NAME_MAX + 1], const char *text)
{
	static const char *const tunes[] = { "-instruct", "-chat", "-it", "-hf", " instruct", " chat" };
	const char *slash = strrchr(text, '/');
	size_t len, i;

	snprintf(out, JL_NAME_MAX + 1, "%s", slash ? slash + 1 : text);
	for (i = 0; i < sizeof(tunes) / sizeof(tunes[0]); i++) {
		len = strlen(out);
		if (len > strlen(tunes[i]) && strcasecmp(out + len - strlen(tunes[i]), tunes[i]) == 0)
			out[len - strlen(tunes[i])] = '\0';
	}
}

enum jl_status jl_find_model(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *text,
			     struct jl_err *err)
{
	struct shelf shelf = SHELF(jl_model_info, cat->models, cat->n_models, "model", "models", "모델");
	char plain[JL_NAME_MAX + 1];
	size_t i = 0;
	enum jl_status status = find_on(&i, &shelf, text, err);

	if (status == JL_E_NOTFOUND && strnlen(text, JL_NAME_MAX + 1) <= JL_NAME_MAX) {
		plain_model(plain, text);
		if (strcmp(plain, text) != 0)
			status = find_on(&i, &shelf, plain, err);
	}
	if (!status)
		*ret_model = &cat->models[i];
	return status;
}

static enum jl_status fail_unit(const struct shelf *gpus, const struct shelf *systems, const struct asked *asked,
				struct jl_err *err)
{
	const struct shelf either = { .en = "accelerator or system", .ko = "가속기 또는 시스템" };
	struct jl_nearest nearest = { 0 };

	add_nearest(&nearest, gpus, asked);
	add_nearest(&nearest, systems, asked);
	return fail_nearest(&either, asked, &nearest, err);
}

enum jl_status jl_find_unit(struct jl_found *ret_found, const struct jl_catalog *cat, const char *text,
			    struct jl_err *err)
{
	struct shelf gpus = gpu_shelf(cat), systems = system_shelf(cat);
	struct picked gpu, system;
	struct asked asked = { 0 };
	enum jl_status status = ask(&asked, &gpus, text, err);

	if (status)
		return status;
	search(&gpu, &gpus, &asked);
	search(&system, &systems, &asked);
	if (gpu.n + system.n == 0)
		return fail_unit(&gpus, &systems, &asked, err);
	/* The better fit decides. Systems are named after what is in them, so where both fit alike the accelerator is
	 * meant. */
	if (gpu.fit <= system.fit) {
		if (gpu.n > 1)
			return fail_ambiguous(&gpus, &asked, &gpu, err);
		*ret_found = (struct jl_found){ .gpu = &cat->gpus[gpu.index[0]] };
		return JL_OK;
	}
	if (system.n > 1)
		return fail_ambiguous(&systems, &asked, &system, err);
	*ret_found = (struct jl_found){ .system = &cat->systems[system.index[0]] };
	return JL_OK;
}
