/* jeoul audit: checks the figures of a note, or the claims of a scenario. */
#include "notes/claims.h"
#include "base/utf8.h"
#include "cli/view.h"
#include "notes/fields.h"
#include "topics/claims.h"
#include "topics/audit_note.h"
#include "version.inc"

enum { FORMAT_TEXT, FORMAT_MD, FORMAT_HTML, FORMAT_SARIF };
static const char *const formats[] = { "text", "md", "html", "sarif", NULL };

const struct jl_option jl_audit_options[] = {
	JL_O_FLAG("all", JL_N("also list confirmed claims and inputs")),
	JL_O_FLAG("strict", JL_N("exit status 3 when a claim differs")),
	JL_O_CHOICE("format", "text|md|html|sarif", formats, JL_N("of a note: output format (default: text)")),
	JL_O_FLAG("fix", JL_N("of a note: a diff that puts the corrected figures in")),
	{ 0 },
};

static enum jl_status audit_note(struct jl_cli *cli, const struct jl_buf *text, struct jl_err *err)
{
	const bool all = jl_flag(cli, "all");
	struct jl_audit_note *note;

	if (jl_flag(cli, "fix") + (jl_text(cli, "format") != NULL) + cli->json > 1)
		return jl_fail(err, JL_E_USAGE,
			       "--fix (a diff), --format and --json (where each finding has its `fix`) are three "
			       "answers: ask for one");
	JL_TRY(jl_audit_note_run(&note, jl_buf_text(text), text->len, cli->args.operands[0], cli->cat, &cli->arena,
				 err));
	for (size_t i = 0; i < note->n_findings; i++)
		if (jl_flag(cli, "strict") && note->findings[i].shown && note->findings[i].verdict <= JL_AUDIT_UNLIKELY)
			cli->exit_code = 3;
	if (jl_flag(cli, "fix")) {
		jl_audited_diff(&cli->out, note);
		/* prints it unchanged or not at all: a sanitized diff would not apply */
		for (const char *at = jl_buf_text(&cli->out); (at = jl_utf8_unshown(at)); at++)
			if (*at != '\n' && *at != '\t' && *at != '\r')
				return jl_fail(
					err, JL_E_DATA,
					"%s: a control character, or one that turns the text around, stands beside a "
					"figure that is wrong; take it out, then a diff can be shown",
					cli->args.operands[0]);
		return JL_OK;
	}
	switch (cli->json ? FORMAT_TEXT : jl_chosen(cli, "format", formats)) {
	case FORMAT_MD: jl_audited_markdown(&cli->out, note, all); return JL_OK;
	case FORMAT_HTML: return jl_audited_page(&cli->out, note, all, jl_date_text(JL_TXT, cli->today), err);
	case FORMAT_SARIF: jl_audited_sarif(&cli->out, note, all, JEOUL_VERSION); return JL_OK;
	default: break;
	}
	JL_ANSWER(cli, err, &jl_audit_audit_fields, note, jl_show_audited(&doc, note, all));
}

static enum jl_status audit_claims(struct jl_cli *cli, const struct jl_buf *text, struct jl_err *err)
{
	struct jl_scenario *scenario = jl_arena_alloc(&cli->arena, sizeof *scenario);
	const struct jl_yaml *root;
	struct jl_claims_audit audit;

	JL_TRY(jl_got(scenario, err));
	if (jl_flag(cli, "fix") || jl_text(cli, "format"))
		return jl_fail(err, JL_E_USAGE,
			       "--fix and --format are for a note (.md, .txt, .html), not for a scenario");
	JL_TRY(jl_yaml_read(&root, cli->args.operands[0], jl_buf_text(text), text->len, &cli->arena, err));
	JL_TRY(jl_scenario_read(scenario, root, cli->cat, &cli->arena, err));
	JL_TRY(jl_claims_audit_make(&audit, scenario, cli->cat, &cli->arena, cli->today, err));
	if (jl_flag(cli, "strict") && audit.n[JL_CLAIM_DIFFERS])
		cli->exit_code = 3;
	JL_ANSWER(cli, err, &jl_audit_fields, &audit, jl_show_claims(&doc, &audit, jl_flag(cli, "all")));
}

enum jl_status jl_cmd_audit(struct jl_cli *cli, struct jl_err *err)
{
	const char *path = cli->args.operands[0];
	struct jl_buf text;
	enum jl_status status;

	JL_TRY(jl_buf_read_file(&text, path, JL_AUDIT_MAX_B, err));
	status = jl_audit_is_note(path, jl_buf_text(&text), text.len) ? audit_note(cli, &text, err)
								      : audit_claims(cli, &text, err);
	jl_buf_release(&text);
	return status;
}
