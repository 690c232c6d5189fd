/* A note from its bytes to its findings: reading, then the rules one after the other. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "notes/inside.h"

#define SMALL_NOTE 200   /* tables; of a larger note what follows is looked for once */
#define TABLE_WORK 1.2e7 /* comparisons that all tables together may cost: about half a second */

bool jl_memo_is_note(const char *name, const char *text, size_t len)
{
	const char *dot = name ? strrchr(name, '.') : NULL;

	if (dot && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0))
		return false;
	if (dot && strcmp(name, "-") != 0)
		return true;
	/* from a pipe: a scenario has one of these at the beginning of a line */
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		static const char *const keys[] = { "claims:", "inputs:", "systems:", "workload:" };

		for (size_t i = 0; i < JL_LEN(keys); i++)
			if (len - at >= strlen(keys[i]) && memcmp(text + at, keys[i], strlen(keys[i])) == 0)
				return false;
		at = end ? (size_t)(end - text) + 1 : len;
	}
	return true;
}

/* What is no text at all is refused: nothing could be said of it. */
static enum jl_status refuse_binary(const char *name, const char *text, size_t len, struct jl_err *err)
{
	const size_t look = len < 65536 ? len : 65536;
	size_t odd = 0;

	if (len >= 5 && memcmp(text, "%PDF-", 5) == 0)
		return jl_fail(err, JL_E_PARSE, "%s: a PDF; give its text: pdftotext -layout %s - | jeoul audit -",
			       name, name);
	for (size_t i = 0; i < look; i++) {
		const unsigned char c = (unsigned char)text[i];

		odd += c < 0x20 && !isspace(c);
		if (!c)
			odd += 8;
	}
	if (odd * 20 > look)
		return jl_fail(err, JL_E_PARSE, "%s: not a text; give Markdown, plain text or HTML in UTF-8", name);
	return JL_OK;
}

enum jl_status jl_memo_audit(struct jl_memo **ret_note, const char *text, size_t len, const char *name,
			     const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_memo *note = jl_arena_alloc(arena, sizeof *note);
	enum jl_status status;

	JL_TRY(jl_got(note, err));
	if (len > JL_MEMO_MAX_B)
		return jl_fail(err, JL_E_LIMIT, "%s: larger than %zu MiB; give the part that has the figures", name,
			       JL_MEMO_MAX_B >> 20);
	if ((status = refuse_binary(name, text, len, err)))
		return jl_fail_in_file(err, status);
	*note = (struct jl_memo){
		.file = name, .raw = text, .len = len, .cat = cat, .arena = arena, .work = TABLE_WORK
	};
	note->is_html = jl_memo_names_html(name, text, len);
	if (!(note->findings = jl_arena_array(arena, JL_MEMO_FINDINGS_MAX, sizeof *note->findings)))
		return jl_fail_nomem(err);
	JL_TRY(jl_memo_read(note, err));
	JL_TRY(jl_memo_figures(note, err));
	JL_TRY(jl_memo_mentions(note, err));
	JL_TRY(jl_memo_grids(note, err));
	jl_rule_arithmetic(note);
	jl_rule_changes(note);
	jl_rule_batches(note);
	jl_rule_listed(note);
	jl_rule_prices(note);
	jl_rule_same(note);
	jl_rule_scaling(note);
	/* what a table carries on may stand in another table again */
	for (int turn = 0; turn < 2; turn++) {
		const size_t before = note->n_findings;

		jl_rule_tables(note);
		jl_rule_same(note);
		if (note->n_findings == before || note->n_grids > SMALL_NOTE)
			break;
	}
	jl_rule_slips(note);
	jl_rule_orders(note);
	jl_rule_bounds(note);
	jl_rule_fits(note);
	jl_rule_expected(note);
	JL_TRY(jl_rule_confusions(note, err));
	jl_memo_findings_close(note);
	*ret_note = note;
	return JL_OK;
}
