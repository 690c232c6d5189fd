/* Commands and their options as table rows, and the options given by a user on the command line (args.c) or by a program in JSON (ask.h). */
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
	JL_OPT_COUNT,    /* integer from min to max */
	JL_OPT_QUANTITY, /* quantity of `kind` with a unit */
	JL_OPT_CHOICE
};

struct jl_option {
	const char *name; /* without dashes; NULL ends the table */
	char letter;      /* short form; '\0': none */
	enum jl_opt_type type;
	enum jl_kind kind;
	long long min, max;
	const char *const *choices; /* NULL-terminated */
	const char *arg;            /* argument's name in help: "NAME" */
	bool many;                  /* may be repeated */
	bool local;                 /* refers to local files, folders or servers: not allowed in requests */
	const char *en;
	const char *with, *apart; /* option that is required with it; that is excluded by it; NULL: none */
	bool above;               /* quantity must be > 0 */
	double least, most;       /* bounds of a quantity, and their description: */
	const char *bounds;       /* NULL: no bounds */
	const char *into;         /* name of the struct with a member for it (JL_TO); NULL: none */
	size_t at;                /* offset of the member */
	bool whole;               /* count stored as int */
};

/* clang-format off */
/* Rows of option tables: name, argument's name, bounds, kind or choices, help text; then further members. */
#define JL_O_FLAG(NAME, ...) { .name = (NAME), .type = JL_OPT_FLAG, .en = __VA_ARGS__ }
#define JL_O_TEXT(NAME, ARG, ...) { .name = (NAME), .type = JL_OPT_TEXT, .arg = (ARG), .en = __VA_ARGS__ }
#define JL_O_COUNT(NAME, ARG, MIN, MAX, ...) { .name = (NAME), .type = JL_OPT_COUNT, .arg = (ARG), .min = (MIN), .max = (MAX), .en = __VA_ARGS__ }
#define JL_O_AMOUNT(NAME, ARG, KIND, ...) { .name = (NAME), .type = JL_OPT_QUANTITY, .arg = (ARG), .kind = (KIND), .en = __VA_ARGS__ }
#define JL_O_CHOICE(NAME, ARG, CHOICES, ...) { .name = (NAME), .type = JL_OPT_CHOICE, .arg = (ARG), .choices = (CHOICES), .en = __VA_ARGS__ }
/* Destination for jl_read_options: counts and quantities are double, texts pointers, flags bool, choices int indices. */
#define JL_TO(S, M)              .into = #S, .at = offsetof(struct S, M)
#define JL_TO_INT(S, M)          JL_TO(S, M), .whole = true
#define JL_WITHIN(LEAST, MOST, BOUNDS) .least = (LEAST), .most = (MOST), .bounds = (BOUNDS)
/* clang-format on */

enum jl_need {
	JL_NEED_NOTHING = 0,
	JL_NEED_CATALOG = 1 /* the built-in catalog with its overlays */
};

struct jl_cli;

typedef enum jl_status jl_command_run(struct jl_cli *cli, struct jl_err *err);

struct jl_command {
	const char *name; /* one or two words, e.g. "catalog show" */
	const char *was;  /* older name that is still accepted; NULL: none */
	jl_command_run *run;
	enum jl_need needs;
	const struct jl_option *options;
	const char *operands; /* synopsis of the operands: "NAME", "[WORD...]" */
	int n_min, n_max;     /* number of operands; n_max -1: unlimited */
	const char *en;       /* one-line description */
	const char *const *examples;
};

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
	size_t width;  /* terminal width; 80 if not a terminal */
	long today;    /* days since 1970-01-01 */
	int exit_code; /* 3 for a bad verdict */
	int lost;      /* errno of a failed write to stdout */
	struct jl_arena arena;
	struct jl_buf out;  /* stdout, written once at the end */
	struct jl_buf warn; /* lines for standard error */
	const struct jl_catalog *cat;
	bool asked;      /* run by a request: no terminal */
	bool page;       /* documents as HTML fragments */
	size_t page_end; /* end of the HTML in `out`; plain text follows */
	bool cut;        /* a search ended early with the best so far; a repetition may find a better answer */
};

/* A command available to JSON requests. */
struct jl_askable {
	const char *command;
	const char *operands; /* key of its operands; NULL: none */
	bool here;            /* depends on this machine or its store, so the answer may change at any time */
};

/* The front end's commands for requests. */
struct jl_front {
	const struct jl_command *commands; /* ends with name NULL */
	const struct jl_askable *askable;  /* ends with command NULL */
	/* Called before a command: loads the catalog if `cli` has none, and what the arguments need of this machine. */
	enum jl_status (*prepare)(struct jl_cli *cli, struct jl_err *err);
};

bool jl_command_is(const struct jl_command *command, const char *name);

extern const struct jl_option jl_global_options[];

/* args.c */
enum jl_status jl_args_parse(struct jl_args *ret_args, const struct jl_command *command, int argc, char **argv,
			     struct jl_err *err);
/* True for a bare number where dollars are expected; it counts as dollars. */
bool jl_given_bare_usd(const struct jl_given *given);
/* Number of global options before the command. */
enum jl_status jl_args_leading(int *ret_n, int argc, char **argv, struct jl_err *err);
const struct jl_given *jl_given(const struct jl_cli *cli, const char *name); /* the last occurrence, or NULL */
/* All occurrences in order: for (const struct jl_given *g = NULL; (g = jl_given_next(cli, "on", g));) */
const struct jl_given *jl_given_next(const struct jl_cli *cli, const char *name, const struct jl_given *before);
/* Options without effect in this call are errors. If `when` holds: the listed ones ("batch seq"), or with `but` all others. `with`: option they
 * would need; `beside`: option that makes them ineffective. */
struct jl_idle {
	bool when, but;
	const char *options, *with, *beside;
};
enum jl_status jl_check_idle(const struct jl_cli *cli, const struct jl_idle *rules, size_t n, struct jl_err *err);
bool jl_flag(const struct jl_cli *cli, const char *name);
const char *jl_text(const struct jl_cli *cli, const char *name);
double jl_value(const struct jl_cli *cli, const char *name); /* of a quantity; NAN: not given */
double jl_count(const struct jl_cli *cli, const char *name); /* of an integer; NAN: not given */
long long jl_whole(const struct jl_cli *cli, const char *name, long long instead);
int jl_chosen(const struct jl_cli *cli, const char *name,
	      const char *const *list); /* index in `list`; -1: not given or not in it */
/* Stores given options in members of a struct by their rows (JL_TO); other members are unchanged. */
#define JL_READ(INTO, S, CLI) jl_read_options((INTO), #S, (CLI))
void jl_read_options(void *into, const char *of, const struct jl_cli *cli);
const char *jl_nearest_name(const char *text, const char *const *names,
			    size_t n); /* for "did you mean"; NULL: no similar name */
