/* Audits a note: parses it, then runs the rules in order. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "notes/inside.h"
#include "base/budget.h"

#define SMALL_NOTE 200   /* tables; in larger notes consequences are searched only once */
#define TABLE_WORK 1.2e7 /* limit of comparisons over all tables: about half a second */

bool jl_audit_is_note(const char *name, const char *text, size_t len)
{
	const char *dot = name ? strrchr(name, '.') : NULL;

	if (dot && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0))
		return false;
	if (dot && strcmp(name, "-") != 0)
		return true;
	/* from a pipe: scenarios have one of these keys at the start of a line */
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

typedef void rule(struct jl_audit_note *note);
static rule *const first_rules[] = { jl_rule_arithmetic, jl_rule_changes, jl_rule_batches, jl_rule_listed,
				     jl_rule_prices,     jl_rule_same,    jl_rule_scaling };
static rule *const table_rules[] = { jl_rule_tables, jl_rule_same };
static rule *const last_rules[] = { jl_rule_slips, jl_rule_orders, jl_rule_bounds, jl_rule_fits, jl_rule_expected };

static enum jl_status apply(struct jl_audit_note *note, rule *const *rules, size_t n, struct jl_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (jl_budget_spend((unsigned)(note->len / 64)) || jl_budget_over())
			return jl_budget_fail(err);
		rules[i](note);
	}
	return JL_OK;
}

enum jl_status jl_audit_note_run(struct jl_audit_note **ret_note, const char *text, size_t len, const char *name,
				 const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_audit_note *note = jl_arena_alloc(arena, sizeof *note);
	enum jl_status status;

	JL_TRY(jl_got(note, err));
	if (len > JL_AUDIT_MAX_B)
		return jl_fail(err, JL_E_LIMIT, "%s: larger than %zu MiB; give the part that has the figures", name,
			       JL_AUDIT_MAX_B >> 20);
	if ((status = refuse_binary(name, text, len, err)))
		return jl_fail_in_file(err, status);
	*note = (struct jl_audit_note){
		.file = name, .raw = text, .len = len, .cat = cat, .arena = arena, .work = TABLE_WORK
	};
	note->is_html = jl_audit_names_html(name, text, len);
	if (!(note->findings = jl_arena_array(arena, JL_AUDIT_FINDINGS_MAX, sizeof *note->findings)))
		return jl_fail_nomem(err);
	JL_TRY(jl_audit_read(note, err));
	JL_TRY(jl_audit_figures(note, err));
	JL_TRY(jl_audit_mentions(note, err));
	JL_TRY(jl_audit_grids(note, err));
	JL_TRY(apply(note, first_rules, JL_LEN(first_rules), err));
	/* findings in one table may have consequences in another */
	for (int turn = 0; turn < 2; turn++) {
		const size_t before = note->n_findings;

		JL_TRY(apply(note, table_rules, JL_LEN(table_rules), err));
		if (note->n_findings == before || note->n_grids > SMALL_NOTE)
			break;
	}
	JL_TRY(apply(note, last_rules, JL_LEN(last_rules), err));
	JL_TRY(jl_rule_confusions(note, err));
	jl_audit_findings_close(note);
	*ret_note = note;
	return JL_OK;
}
