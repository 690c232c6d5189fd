/* jeoul audit on a note: the text, not claims written for it. */
#include "cli/view.h"
#include "cli/audit_memo.h"
#include "memo/fields.h"
#include "tell/memo.h"
#include "version.inc"

enum { FORMAT_TEXT, FORMAT_MD, FORMAT_HTML, FORMAT_SARIF };
const char *const jl_audit_formats[] = { "text", "md", "html", "sarif", NULL };

enum jl_status jl_audit_memo(struct jl_cli *cli, const char *text, size_t len, struct jl_err *err)
{
	const bool all = jl_flag(cli, "all");
	struct jl_memo *note;
	struct jl_doc doc;

	JL_TRY(jl_memo_audit(&note, text, len, cli->args.operands[0], cli->cat, &cli->arena, err));
	for (size_t i = 0; i < note->n_findings; i++)
		if (jl_flag(cli, "strict") && jl_audited_is_said(&note->findings[i], false))
			cli->exit_code = 3;
	if (jl_flag(cli, "fix")) {
		jl_audited_diff(&cli->out, note);
		return JL_OK;
	}
	if (cli->json)
		return jl_view_fields(cli, &jl_memo_audit_fields, note);
	switch (jl_chosen(cli, "format", jl_audit_formats)) {
	case FORMAT_MD: jl_audited_markdown(&cli->out, note, all); return JL_OK;
	case FORMAT_HTML: jl_audited_page(&cli->out, note, all); return JL_OK;
	case FORMAT_SARIF: jl_audited_sarif(&cli->out, note, all, JEOUL_VERSION); return JL_OK;
	default: break;
	}
	jl_view_page(cli, &doc);
	jl_tell_audited(&doc, note, all);
	return jl_view_show(cli, &doc, err);
}
