/* The frame that all commands share: one row each in a table; help, completion and the man page come from the same rows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/units.h"
#include "catalog/catalog.h"

enum jl_opt_type {
	JL_OPT_FLAG,
	JL_OPT_TEXT,
	JL_OPT_COUNT,    /* a whole number from min to max */
	JL_OPT_QUANTITY, /* a quantity of `kind`, unit required */
	JL_OPT_CHOICE
};

struct jl_option {
	const char *name; /* without the dashes; NULL ends the table */
	char letter;      /* '\0': no short form */
	enum jl_opt_type type;
	enum jl_kind kind;
	long long min, max;
	const char *const *choices; /* NULL-terminated */
	const char *arg;            /* how the argument is called in help: "NAME" */
	bool many;                  /* may be given several times */
	const char *en;
};

/* Rows of a table of options: the name, what its argument is called, bounds, kind or choices, the line of help; .letter and .many may follow. */
#define JL_O_FLAG(NAME, ...)                                                                                           \
	{                                                                                                              \
		.name = (NAME), .type = JL_OPT_FLAG, .en = __VA_ARGS__                                                 \
	}
#define JL_O_TEXT(NAME, ARG, ...)                                                                                      \
	{                                                                                                              \
		.name = (NAME), .type = JL_OPT_TEXT, .arg = (ARG), .en = __VA_ARGS__                                   \
	}
#define JL_O_COUNT(NAME, ARG, MIN, MAX, ...)                                                                           \
	{                                                                                                              \
		.name = (NAME), .type = JL_OPT_COUNT, .arg = (ARG), .min = (MIN), .max = (MAX), .en = __VA_ARGS__      \
	}
#define JL_O_AMOUNT(NAME, ARG, KIND, ...)                                                                              \
	{                                                                                                              \
		.name = (NAME), .type = JL_OPT_QUANTITY, .arg = (ARG), .kind = (KIND), .en = __VA_ARGS__               \
	}
#define JL_O_CHOICE(NAME, ARG, CHOICES, ...)                                                                           \
	{                                                                                                              \
		.name = (NAME), .type = JL_OPT_CHOICE, .arg = (ARG), .choices = (CHOICES), .en = __VA_ARGS__           \
	}

enum jl_need {
	JL_NEED_NOTHING = 0,
	JL_NEED_CATALOG = 1 /* the embedded catalog with its overlays */
};

struct jl_cli;

typedef enum jl_status jl_command_run(struct jl_cli *cli, struct jl_err *err);

struct jl_command {
	const char *name; /* one or two words: "catalog show" */
	jl_command_run *run;
	enum jl_need needs;
	const struct jl_option *options;
	const char *operands; /* synopsis of what is not an option: "NAME", "[WORD...]" */
	int n_min, n_max;     /* how many of them; n_max -1: any number */
	const char *en;       /* one line */
	const char *const *examples;
};

/* One option as it was given. */
struct jl_given {
	const struct jl_option *option;
	const char *text;
	double value;
	long long count;
};

#define JL_GIVEN_MAX    256
#define JL_OPERANDS_MAX 256

struct jl_args {
	struct jl_given given[JL_GIVEN_MAX];
	size_t n_given;
	const char *operands[JL_OPERANDS_MAX];
	size_t n_operands;
};

struct jl_cli {
	const struct jl_command *command;
	struct jl_args args;
	bool json, color;
	size_t width;  /* columns of the terminal; 80 when it is not one */
	long today;    /* days since 1970-01-01, for the age of prices */
	int exit_code; /* a command that has a bad verdict sets 3 */
	struct jl_arena arena;
	struct jl_buf out;  /* everything for standard output; written once, at the end */
	struct jl_buf warn; /* lines for standard error */
	const struct jl_catalog *cat;
};

extern const struct jl_command jl_commands[]; /* ends with name NULL */
extern const struct jl_option jl_global_options[];

/* args.c */
enum jl_status jl_args_parse(struct jl_args *ret_args, const struct jl_command *command, int argc, char **argv,
			     struct jl_err *err);
/* How many of the arguments are global options in front of the command. */
enum jl_status jl_args_leading(int *ret_n, int argc, char **argv, struct jl_err *err);
const struct jl_given *jl_given(const struct jl_cli *cli, const char *name); /* the last one given, or NULL */
/* The first one given that is none of these (NULL at the end), or NULL. */
const struct jl_given *jl_given_beside(const struct jl_cli *cli, const char *const *names);
bool jl_flag(const struct jl_cli *cli, const char *name);
const char *jl_text(const struct jl_cli *cli, const char *name);
double jl_value(const struct jl_cli *cli, const char *name); /* of a quantity; NAN: not given */
double jl_count(const struct jl_cli *cli, const char *name); /* of a whole number; NAN: not given */
const char *jl_nearest_name(const char *text, const char *const *names,
			    size_t n); /* "did you mean"; NULL: none is near */

/* help.c */
void jl_help_all(struct jl_cli *cli);
void jl_help_group(struct jl_cli *cli, const char *group);
void jl_help_command(struct jl_cli *cli, const struct jl_command *command);
void jl_version(struct jl_cli *cli);
struct jl_built_with { /* of the program; "" where there is nothing to say */
	const char *name, *version, *used_by, *reason;
};
void jl_version_part(struct jl_cli *cli, const struct jl_built_with *part); /* its lines, no wider than the terminal */

/* What the rows name, in cmd_*.c, catalog_*.c, help.c, manpage.c and completion.c. */
extern jl_command_run jl_cmd_help, jl_cmd_version, jl_cmd_probe, jl_cmd_infer, jl_cmd_build, jl_cmd_report,
	jl_cmd_audit, jl_cmd_recommend, jl_cmd_cost, jl_cmd_man, jl_cmd_completion, jl_cmd_schema, jl_cmd_catalog_list,
	jl_cmd_catalog_search, jl_cmd_catalog_show, jl_cmd_catalog_validate, jl_cmd_catalog_sources,
	jl_cmd_catalog_prices, jl_cmd_predict, jl_cmd_fit, jl_cmd_flops, jl_cmd_plan, jl_cmd_compare, jl_cmd_calibrate,
	jl_cmd_check, jl_cmd_validate, jl_cmd_bench_gemm, jl_cmd_bench_memory, jl_cmd_bench_link, jl_cmd_bench_net,
	jl_cmd_bench_coll, jl_cmd_bench_all, jl_cmd_bench_list, jl_cmd_bench_train, jl_cmd_store_list,
	jl_cmd_store_show, jl_cmd_store_export, jl_cmd_store_import, jl_cmd_store_merge, jl_cmd_store_note,
	jl_cmd_store_delete, jl_cmd_import;
extern const struct jl_option jl_probe_options[], jl_infer_options[], jl_build_options[], jl_report_options[],
	jl_audit_options[], jl_recommend_options[], jl_cost_options[], jl_catalog_list_options[],
	jl_catalog_search_options[], jl_catalog_show_options[], jl_catalog_validate_options[],
	jl_catalog_sources_options[], jl_catalog_prices_options[], jl_predict_options[], jl_fit_options[],
	jl_flops_options[], jl_plan_options[], jl_compare_options[], jl_calibrate_options[], jl_check_options[],
	jl_validate_options[], jl_bench_gemm_options[], jl_bench_memory_options[], jl_bench_link_options[],
	jl_bench_net_options[], jl_bench_coll_options[], jl_bench_all_options[], jl_bench_list_options[],
	jl_bench_train_options[], jl_store_list_options[], jl_store_export_options[], jl_store_plain_options[],
	jl_store_note_options[], jl_import_command_options[];

/* main.c: what is in cli->out goes to standard output now; for commands whose rows come one by one. */
void jl_cli_flush(struct jl_cli *cli);

/* main.c: folders that are laid over the built-in catalog: the person's own, then --catalog. Returns how many. */
#define JL_OVERLAYS_MAX (JL_GIVEN_MAX + 1)
size_t jl_overlay_dirs(const char *ret_dirs[JL_OVERLAYS_MAX], struct jl_cli *cli);

/* The front door; returns the exit code. */
int jl_cli_main(int argc, char **argv);
