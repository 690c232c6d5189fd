/* Shared by all commands: the table from which help, completion and man pages are generated. */
#pragma once

#include "request/command.h"

extern const struct jl_command jl_commands[]; /* ends with name NULL */
extern const struct jl_askable jl_askable[];  /* commands that a request may name */
extern const struct jl_front jl_cli_front;    /* both tables, for requests */

/* help.c */
/* true if "store list" is in group "store"; group NULL: all */
bool jl_command_in(const struct jl_command *command, const char *group);
bool jl_is_group(const char *word);
void jl_help_first(struct jl_cli *cli); /* fits on one screen */
void jl_help_all(struct jl_cli *cli);
void jl_help_group(struct jl_cli *cli, const char *group);
void jl_help_command(struct jl_cli *cli, const struct jl_command *command);
void jl_version(struct jl_cli *cli);
struct jl_built_with { /* a library or feature of this build; "": none */
	const char *name, *version, *used_by, *reason;
};
void jl_version_part(struct jl_cli *cli, const struct jl_built_with *part); /* wrapped to the terminal's width */

/* Functions named in the table; in cmd_*.c, catalog_*.c, help.c, manpage.c and completion.c. */
extern jl_command_run jl_cmd_help, jl_cmd_version, jl_cmd_probe, jl_cmd_serve, jl_cmd_build, jl_cmd_report,
	jl_cmd_audit, jl_cmd_recommend, jl_cmd_cost, jl_cmd_man, jl_cmd_completion, jl_cmd_schema, jl_cmd_catalog_list,
	jl_cmd_catalog_search, jl_cmd_catalog_show, jl_cmd_catalog_validate, jl_cmd_catalog_sources,
	jl_cmd_catalog_prices, jl_cmd_predict, jl_cmd_fit, jl_cmd_flops, jl_cmd_plan, jl_cmd_goodput, jl_cmd_compare,
	jl_cmd_calibrate, jl_cmd_check, jl_cmd_validate, jl_cmd_bench_gemm, jl_cmd_bench_memory, jl_cmd_bench_storage,
	jl_cmd_bench_link, jl_cmd_bench_net, jl_cmd_bench_coll, jl_cmd_bench_all, jl_cmd_bench_soak,
	jl_cmd_bench_cluster, jl_cmd_bench_list, jl_cmd_bench_train, jl_cmd_bench_infer, jl_cmd_store_list,
	jl_cmd_store_show, jl_cmd_store_export, jl_cmd_store_import, jl_cmd_store_merge, jl_cmd_store_note,
	jl_cmd_store_delete, jl_cmd_import, jl_cmd_doctor, jl_cmd_web;
extern const struct jl_option jl_probe_options[], jl_serve_options[], jl_build_options[], jl_report_options[],
	jl_audit_options[], jl_recommend_options[], jl_cost_options[], jl_catalog_validate_options[],
	jl_catalog_prices_options[], jl_predict_options[], jl_fit_options[], jl_flops_options[], jl_plan_options[],
	jl_compare_options[], jl_goodput_options[], jl_calibrate_options[], jl_check_options[], jl_validate_options[],
	jl_bench_gemm_options[], jl_bench_memory_options[], jl_bench_storage_options[], jl_bench_link_options[],
	jl_bench_net_options[], jl_bench_coll_options[], jl_bench_all_options[], jl_bench_soak_options[],
	jl_bench_cluster_options[], jl_bench_list_options[], jl_bench_train_options[], jl_bench_infer_options[],
	jl_store_list_options[], jl_store_export_options[], jl_store_plain_options[], jl_store_note_options[],
	jl_import_command_options[], jl_web_command_options[];

/* main.c: writes cli->out to stdout now, for commands that print rows as they finish. */
void jl_cli_flush(struct jl_cli *cli);

/* main.c: days since 1970-01-01; JEOUL_TODAY overrides it. */
long jl_cli_today(void);

/* main.c: overlay folders of the catalog: the user's own, then --catalog. Returns their number. */
#define JL_OVERLAYS_MAX (JL_GIVEN_MAX + 1)
size_t jl_overlay_dirs(const char *ret_dirs[JL_OVERLAYS_MAX], struct jl_cli *cli);

/* Runs the program; returns the exit code. */
int jl_cli_main(int argc, char **argv);
