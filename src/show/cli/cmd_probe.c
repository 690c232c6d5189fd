/* jeoul probe: hardware of this machine or of a captured one, with findings. */
#include "check/machine_findings.h"
#include "cli/view.h"
#include "topics/probe.h"
#include "gpu/link_load.h"
#include "probe/probe.h"

const struct jl_option jl_probe_options[] = {
	JL_O_TEXT("from", "DIR", JL_N("replay a machine that --capture has saved"), .local = true),
	JL_O_TEXT("capture", "DIR", JL_N("save everything that was read into DIR"), .local = true),
	JL_O_FLAG("with-names", JL_N("keep host name, UUIDs, MAC addresses and container paths; left out otherwise"),
		  .local = true),
	JL_O_FLAG("no-load", JL_N("do not make the GPUs copy while their links are read")),
	{ 0 },
};

static void say_captured(struct jl_cli *cli, const char *dir, bool with_names)
{
	struct jl_buf *out = cli->json ? &cli->warn : &cli->out;

	jl_buf_printf(out, JL_("\nCaptured into %s; replay it with: jeoul probe --from %s\n") + (cli->json ? 1 : 0),
		      dir, dir);
	if (!with_names)
		jl_buf_puts(out, JL_("Host name, UUIDs, MAC addresses and container paths are left out "
				     "(--with-names\nkeeps them); serial numbers are never read.\n"));
}

static enum jl_status show(struct jl_cli *cli, const struct jl_probed *probed, struct jl_err *err)
{
	JL_ANSWER(cli, err, &jl_probed_fields, probed, jl_show_probed(&doc, probed));
}

enum jl_status jl_cmd_probe(struct jl_cli *cli, struct jl_err *err)
{
	const char *from = jl_text(cli, "from"), *capture = jl_text(cli, "capture");
	const struct jl_probe_options options = { .load = jl_flag(cli, "no-load") ? NULL : jl_load_links,
						  .with_names = jl_flag(cli, "with-names") };
	struct jl_probed probed = { .findings = NULL };
	struct jl_probe_source *source = NULL;
	enum jl_status status = from ? jl_source_replay(&source, from, &cli->arena, err)
				     : jl_source_live(&source, &cli->arena, err);

	JL_THEN(status, jl_probe_machine(source, cli->cat, &options, &cli->arena, &probed.machine, err));
	JL_THEN(status, jl_machine_findings(probed.machine, cli->cat, &cli->arena, &probed.findings, err));
	JL_THEN(status, capture ? jl_source_capture(source, capture, options.with_names, err) : JL_OK);
	JL_THEN(status, show(cli, &probed, err));
	if (!status && capture)
		say_captured(cli, capture, options.with_names);
	jl_source_destroy(source);
	return status;
}
