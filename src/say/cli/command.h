/* The frame that all commands share: one row each in a table; help, completion and the man page come from the same rows. */
#ifndef JL_CLI_COMMAND_H
#define JL_CLI_COMMAND_H

#include "ask/command.h"

extern const struct jl_command jl_commands[]; /* ends with name NULL */
extern const struct jl_front jl_cli_front;    /* them, for requests */

/* help.c */
void jl_help_all(struct jl_cli *cli);
void jl_help_group(struct jl_cli *cli, const char *group);
void jl_help_command(struct jl_cli *cli, const struct jl_command *command);
void jl_version(struct jl_cli *cli);
struct jl_built_with { /* of the program; "" where there is nothing to say */
	const char *name, *version, *used_by, *reason;
};
void jl_version_part(struct jl_cli *cli, const struct jl_built_with *part); /* its lines, no wider than the terminal */
enum jl_status jl_cmd_help(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_version(struct jl_cli *cli, struct jl_err *err);

/* cmd_probe.c */
enum jl_status jl_cmd_probe(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_probe_options[];

/* cmd_infer.c */
enum jl_status jl_cmd_infer(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_infer_options[];

/* cmd_build.c */
enum jl_status jl_cmd_build(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_build_options[];

/* cmd_report.c */
enum jl_status jl_cmd_report(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_report_options[];

/* cmd_audit.c */
enum jl_status jl_cmd_audit(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_audit_options[];

/* cmd_recommend.c */
enum jl_status jl_cmd_recommend(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_recommend_options[];

/* cmd_cost.c */
enum jl_status jl_cmd_cost(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_cost_options[];

/* manpage.c, completion.c */
enum jl_status jl_cmd_man(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_completion(struct jl_cli *cli, struct jl_err *err);

/* cmd_schema.c */
enum jl_status jl_cmd_schema(struct jl_cli *cli, struct jl_err *err);

/* catalog_show.c, catalog_list.c, catalog_prices.c, catalog_validate.c */
enum jl_status jl_cmd_catalog_list(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_catalog_search(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_catalog_show(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_catalog_validate(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_catalog_sources(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_catalog_prices(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_catalog_list_options[], jl_catalog_search_options[], jl_catalog_show_options[],
	jl_catalog_validate_options[], jl_catalog_sources_options[], jl_catalog_prices_options[];

/* cmd_predict.c, cmd_fit.c, cmd_flops.c */
enum jl_status jl_cmd_predict(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_fit(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_flops(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_predict_options[], jl_fit_options[], jl_flops_options[];

/* cmd_plan.c */
enum jl_status jl_cmd_plan(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_plan_options[];

/* cmd_compare.c */
enum jl_status jl_cmd_compare(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_compare_options[];

/* cmd_calibrate.c */
enum jl_status jl_cmd_calibrate(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_calibrate_options[];

/* cmd_check.c */
enum jl_status jl_cmd_check(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_check_options[];

/* cmd_validate.c */
enum jl_status jl_cmd_validate(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_validate_options[];

/* cmd_bench.c, cmd_bench_coll.c, cmd_bench_net.c */
enum jl_status jl_cmd_bench_gemm(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_bench_memory(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_bench_link(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_bench_net(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_bench_coll(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_bench_all(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_bench_list(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_bench_gemm_options[], jl_bench_memory_options[], jl_bench_link_options[],
	jl_bench_net_options[], jl_bench_coll_options[], jl_bench_all_options[], jl_bench_list_options[];

/* cmd_bench_train.c */
enum jl_status jl_cmd_bench_train(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_bench_train_options[];

/* main.c: what is in cli->out goes to standard output now; for commands whose rows come one by one. */
void jl_cli_flush(struct jl_cli *cli);

/* cmd_store.c, cmd_import.c */
enum jl_status jl_cmd_store_list(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_store_show(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_store_export(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_store_import(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_store_merge(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_store_note(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_store_delete(struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_cmd_import(struct jl_cli *cli, struct jl_err *err);
extern const struct jl_option jl_store_list_options[], jl_store_export_options[], jl_store_plain_options[],
	jl_store_note_options[], jl_import_command_options[];

/* main.c: days since 1970-01-01; JEOUL_TODAY may say otherwise. */
long jl_cli_today(void);

/* main.c: folders that are laid over the built-in catalog: the person's own, then --catalog. Returns how many. */
#define JL_OVERLAYS_MAX (JL_GIVEN_MAX + 1)
size_t jl_overlay_dirs(const char *ret_dirs[JL_OVERLAYS_MAX], struct jl_cli *cli);

/* The front door; returns the exit code. */
int jl_cli_main(int argc, char **argv);

#endif
