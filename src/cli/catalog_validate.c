/* jeoul catalog validate: everything that is wrong, each with its place and what would be right. */
#include "catalog/check.h"
#include "catalog/load.h"
#include "cli/view.h"

const struct jl_option jl_catalog_validate_options[] = {
	{ .name = "alone",
	  .en = "the folders are a whole catalog, not laid over the built-in one",
	  .ko = "내장 카탈로그 없이 폴더만으로 검사" },
	{ 0 },
};

static void print_json(struct jl_cli *cli, const struct jl_findings *findings)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_integer(&json, "n_findings", (long long)findings->n);
	jl_json_put_array(&json, "findings");
	for (const struct jl_finding *f = findings->first; f; f = f->next)
		jl_json_string(&json, f->err.en);
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

enum jl_status jl_cmd_catalog_validate(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_args *args = &cli->args;
	const struct jl_catalog *cat = jl_catalog_embedded();
	const struct jl_catalog *base = jl_flag(cli, "alone") ? NULL : cat;
	struct jl_findings findings;
	enum jl_status status = JL_OK;

	jl_findings_init(&findings, &cli->arena);
	if (args->n_operands)
		status = jl_catalog_read(&cat, base, args->operands, args->n_operands, &cli->arena, &findings, err);
	else
		jl_catalog_check(cat, NULL, &findings);
	if (status && findings.n == 0)
		return status; /* nothing could be read at all */
	if (cli->json) {
		print_json(cli, &findings);
		cli->exit_code = findings.n ? 1 : 0;
		return JL_OK;
	}
	for (const struct jl_finding *f = findings.first; f; f = f->next)
		jl_buf_printf(&cli->out, "%s\n", jl_err_text(&f->err, cli->lang));
	if (findings.n > findings.n_listed)
		jl_buf_printf(&cli->out, JL_T(cli->lang, "... and %zu more\n", "... 외 %zu건\n"),
			      findings.n - findings.n_listed);
	if (findings.n == 0)
		jl_buf_printf(
			&cli->out,
			JL_T(cli->lang,
			     "clean: %zu accelerators, %zu systems, %zu links, %zu models, %zu prices, %zu sources\n",
			     "이상 없음: 가속기 %zu, 시스템 %zu, 링크 %zu, 모델 %zu, 가격 %zu, 출처 %zu\n"),
			cat->n_gpus, cat->n_systems, cat->n_links, cat->n_models, cat->n_prices, cat->n_sources);
	cli->exit_code = findings.n ? 1 : 0;
	return JL_OK;
}
