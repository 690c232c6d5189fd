/* Finds wrong statements in words by the table of catalog/confusions.yaml, which is read for each audit. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "notes/inside.h"

#define CONFUSIONS_MAX 64 /* one bit each */
#define GROUPS_MAX     6
#define NEAR_LINES     6
#define FINDINGS_EACH  3 /* findings per entry and note; the first is the root */

struct confusion {
	const char *id, *all[GROUPS_MAX], *unless, *near, *hardware, *en;
	size_t n_all, lines;
	int n_found;
	int32_t root;
	enum jl_audit_verdict verdict;
};

static enum jl_status bad(const struct jl_yaml *map, const char *what, struct jl_err *err)
{
	return jl_fail_at(err, JL_E_PARSE, &map->where, "a confusion needs %s", what);
}

static enum jl_status read_one(struct confusion *c, const struct jl_yaml *map, struct jl_err *err)
{
	static const char *const keys[] = { "id", "all", "not", "near", "hardware", "lines", "verdict", "en", NULL };
	const struct jl_yaml *all = jl_yaml_get(map, "all"), *unless = jl_yaml_get(map, "not");
	const char *verdict = jl_yaml_text(map, "verdict"), *lines = jl_yaml_text(map, "lines");

	JL_TRY(jl_yaml_check_keys(map, JL_N("a confusion"), keys, err));
	*c = (struct confusion){ .id = jl_yaml_text(map, "id"),
				 .near = jl_yaml_text(map, "near"),
				 .hardware = jl_yaml_text(map, "hardware"),
				 .en = jl_yaml_text(map, "en"),
				 .lines = lines ? (size_t)atoi(lines) : 1 };
	if (!c->id || !c->en || !all || all->kind != JL_YAML_LIST || !all->n_items || all->n_items > GROUPS_MAX ||
	    !verdict)
		return bad(map, "id, all, verdict, en", err);
	for (const struct jl_yaml *g = all->items; g; g = g->next)
		if (g->kind == JL_YAML_TEXT)
			c->all[c->n_all++] = g->text;
	if (unless && unless->kind == JL_YAML_LIST && unless->items && unless->items->kind == JL_YAML_TEXT)
		c->unless = unless->items->text;
	for (c->verdict = JL_AUDIT_WRONG; c->verdict <= JL_AUDIT_UNLIKELY; c->verdict++)
		if (strcmp(verdict, jl_audit_verdict_key(c->verdict)) == 0)
			return JL_OK;
	return bad(map, "verdict: wrong, differs, unlikely", err);
}

static bool hardware_is(const struct jl_audit_note *note, const struct confusion *c, uint32_t at,
			const struct jl_mention **ret_on)
{
	const struct jl_mention *on = jl_audit_speaks_of(note, at);
	const struct jl_entity *e = jl_mention_entity(note, on);

	*ret_on = on;
	if (!c->hardware)
		return true;
	if (!on || !e->n_gpus)
		return false;
	for (size_t i = 0; i < e->n_gpus; i++) {
		const struct jl_gpu *gpu = e->gpus[i];
		const bool link = (gpu->link && strstr(gpu->link, "nvlink")) || gpu->link_oneway_Bps.value > 0 ||
				  gpu->link_bothway_Bps.value > 0;

		if (strcmp(c->hardware, "no-nvlink") == 0 && (link || strcmp(gpu->vendor, "NVIDIA") != 0))
			return false;
		if (strcmp(c->hardware, "p2p-driver") == 0 && gpu->p2p != JL_P2P_DRIVER_DISABLED &&
		    gpu->p2p != JL_P2P_NO)
			return false;
	}
	return true;
}

static bool said_near(const struct jl_audit_note *note, size_t l, const char *words)
{
	const size_t from = l > NEAR_LINES ? l - NEAR_LINES : 0;

	for (size_t i = from; i <= l + NEAR_LINES && i < note->n_lines; i++)
		if (JL_PART_HAS(note, &note->lines[i], words))
			return true;
	return false;
}

/* True if all word groups occur within `lines` lines from `l`, and not within fewer. */
static bool matches(const struct jl_audit_note *note, const struct confusion *c, size_t l, size_t *ret_end)
{
	const struct jl_line *line = &note->lines[l];
	size_t end = l + (c->lines < 4 ? c->lines : 4);

	end = end > note->n_lines ? note->n_lines : end;
	if (line->kind == JL_LINE_BLANK || line->kind == JL_LINE_FENCE || line->kind == JL_LINE_RULE)
		return false;
	/* quick rejection by the first group */
	if (!JL_PART_HAS(note, line, c->all[0]))
		return false;
	*ret_end = note->lines[end - 1].at + note->lines[end - 1].len;
	for (size_t i = 1; i < c->n_all; i++)
		if (!jl_span_has(note->text + line->at, *ret_end - line->at, c->all[i]))
			return false;
	if (c->unless && jl_span_has(note->text + line->at, *ret_end - line->at, c->unless))
		return false;
	return !c->near || said_near(note, l, c->near);
}

static void trim(const struct jl_audit_note *note, uint32_t *at, uint32_t *len)
{
	while (*len && strchr(" \t-*#>|", note->text[*at]))
		++*at, --*len;
	while (*len && strchr(" \t\n", note->text[*at + *len - 1]))
		--*len;
}

static void found(struct jl_audit_note *note, struct confusion *c, size_t l)
{
	uint32_t at = note->lines[l].at, len;
	const struct jl_mention *on;
	struct jl_audit_finding *said;
	size_t end = 0;

	if (c->n_found >= FINDINGS_EACH || !matches(note, c, l, &end) || !hardware_is(note, c, at, &on))
		return;
	len = (uint32_t)(end - at);
	trim(note, &at, &len);
	if (!(said = jl_finding_new(note, c->verdict, "confusion", at, len, -1)))
		return;
	if (c->n_found++)
		said->root = c->root;
	else
		c->root = (int32_t)(said - note->findings);
	if (c->hardware && on)
		jl_audit_finding_explain(said, "%s: {%s}", JL_QUOTE(note, on), c->en);
	else
		jl_audit_finding_explain(said, "{%s}", c->en);
}

/* Bit mask of the entries whose first group occurs in the line, in one pass for all entries. */
static uint64_t first_groups(const struct jl_audit_note *note, const struct jl_line *line, const struct confusion *all,
			     size_t n, const uint64_t by_byte[256])
{
	const char *t = note->text + line->at;
	const size_t len = line->len < 4096 ? line->len : 4096;
	uint64_t has = 0;

	for (size_t i = 0; i < len; i++) {
		uint64_t may = by_byte[(unsigned char)t[i]] & ~has;

		for (size_t k = 0; may && k < n; k++, may >>= 1)
			if (may & 1 && jl_words_begin(t + i, len - i, all[k].all[0], false))
				has |= UINT64_C(1) << k;
	}
	return has;
}

extern const unsigned char jl_confusions_text[];
extern const size_t jl_confusions_text_len;

enum jl_status jl_rule_confusions(struct jl_audit_note *note, struct jl_err *err)
{
	struct confusion *all = jl_arena_array(note->arena, CONFUSIONS_MAX, sizeof *all);
	uint64_t by_byte[256] = { 0 };
	const struct jl_yaml *root, *list;
	size_t n = 0;

	JL_TRY(jl_yaml_read(&root, "confusions.yaml", (const char *)jl_confusions_text, jl_confusions_text_len,
			    note->arena, err));
	JL_TRY(jl_got(all, err));
	list = jl_yaml_get(root, "confusions");
	if (!list || list->kind != JL_YAML_LIST || list->n_items > CONFUSIONS_MAX)
		return jl_fail(err, JL_E_PARSE, "confusions.yaml: a list 'confusions:' of at most %d is needed",
			       CONFUSIONS_MAX);
	for (const struct jl_yaml *map = list->items; map; map = map->next, n++) {
		JL_TRY(read_one(&all[n], map, err));
		for (const char *w = all[n].all[0]; *w; w += jl_word_len(w), w += *w == '|') {
			by_byte[(unsigned char)tolower((unsigned char)*w)] |= UINT64_C(1) << n;
			by_byte[(unsigned char)toupper((unsigned char)*w)] |= UINT64_C(1) << n;
		}
	}
	for (size_t l = 0; l < note->n_lines; l++) {
		uint64_t has = note->lines[l].len > 8 ? first_groups(note, &note->lines[l], all, n, by_byte) : 0;

		for (size_t k = 0; has; k++, has >>= 1)
			if (has & 1)
				found(note, &all[k], l);
	}
	return JL_OK;
}
