/* jeoul catalog validate: everything that is wrong, each with its place and what would be right. */
#include "catalog/check.h"
#include "catalog/load.h"
#include "cli/view.h"

const struct jl_option jl_catalog_validate_options[] = {
	JL_O_FLAG("alone", JL_N("the folders are a whole catalog, not laid over the built-in one")),
	{ 0 },
};

/* The folders to be read: those in force and those asked for; alone, only the latter. */
static enum jl_status gather(const char **dirs, size_t *ret_n, struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_args *args = &cli->args;
	bool alone = jl_flag(cli, "alone");
	size_t n = alone ? 0 : jl_overlay_dirs(dirs, cli);

	if (alone && args->n_operands == 0)
		return jl_fail(err, JL_E_USAGE, "--alone needs a folder: jeoul catalog validate --alone DIR");
	for (size_t i = 0; i < args->n_operands; i++)
		dirs[n++] = args->operands[i];
	*ret_n = n;
	return JL_OK;
}

static void print_json(struct jl_cli *cli, const struct jl_findings *findings)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_integer(&json, "n_files", (long long)findings->n_files);
	jl_json_put_integer(&json, "n_findings", (long long)findings->n);
	jl_json_put_array(&json, "findings");
	for (const struct jl_finding *f = findings->first; f; f = f->next)
		jl_json_string(&json, f->err.en);
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static void print_clean(struct jl_cli *cli, const struct jl_catalog *cat, size_t n_files)
{
	jl_buf_printf(&cli->out,
		      JL_("clean: %zu accelerators, %zu systems, %zu links, %zu models, %zu prices, %zu sources\n"),
		      cat->n_gpus, cat->n_systems, cat->n_links, cat->n_models, cat->n_prices, cat->n_sources);
	if (jl_flag(cli, "alone"))
		jl_buf_printf(&cli->out, JL_("files read, by themselves: %zu\n"), n_files);
	else if (n_files == 0)
		jl_buf_puts(&cli->out, JL_("the built-in catalog; no files are laid over it\n"));
	else
		jl_buf_printf(&cli->out, JL_("the built-in catalog; files laid over it: %zu\n"), n_files);
}

enum jl_status jl_cmd_catalog_validate(struct jl_cli *cli, struct jl_err *err)
{
	const char *dirs[JL_OVERLAYS_MAX + JL_OPERANDS_MAX];
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_catalog *base = jl_flag(cli, "alone") ? NULL : cat;
	struct jl_findings findings;
	size_t n_dirs = 0;
	enum jl_status status = JL_OK;

	JL_TRY(gather(dirs, &n_dirs, cli, err));
	jl_findings_init(&findings, &cli->arena);
	if (n_dirs)
		status = jl_catalog_read(&cat, base, dirs, n_dirs, &cli->arena, &findings, err);
	else
		jl_catalog_check(cat, NULL, &findings);
	if (status && findings.n == 0)
		return status; /* nothing could be read at all */
	cli->exit_code = findings.n ? 1 : 0;
	if (cli->json) {
		print_json(cli, &findings);
		return JL_OK;
	}
	for (const struct jl_finding *f = findings.first; f; f = f->next)
		jl_buf_printf(&cli->out, "%s\n", f->err.text);
	if (findings.n > findings.n_listed)
		jl_buf_printf(&cli->out, JL_("... and %zu more\n"), findings.n - findings.n_listed);
	if (findings.n == 0)
		print_clean(cli, cat, findings.n_files);
	else
		jl_buf_printf(&cli->out, JL_("files read: %zu\n"), findings.n_files);
	return JL_OK;
}
