/* A command as a row of a table, its options as another, and what was given for them: by a person on the command line (args.c) or by a
 * program in JSON (ask.h). */
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
	bool local;                 /* about files, folders or servers: no request from elsewhere may say it */
	const char *en;
	const char *with, *apart; /* another option that must be given too; that may not; NULL: none */
	bool above;               /* a quantity: more than nothing */
	double least, most;       /* a quantity: from, to; and in words: */
	const char *bounds;       /* NULL: any is fine */
	const char *into;         /* the struct that has a member for it (JL_TO); NULL: none has */
	size_t at;                /* the member's offset */
	bool whole;               /* a count that goes into an int */
};

/* clang-format off */
/* Rows of a table of options: the name, what its argument is called, bounds, kind or choices, the line of help; what else a row may say follows. */
#define JL_O_FLAG(NAME, ...) { .name = (NAME), .type = JL_OPT_FLAG, .en = __VA_ARGS__ }
#define JL_O_TEXT(NAME, ARG, ...) { .name = (NAME), .type = JL_OPT_TEXT, .arg = (ARG), .en = __VA_ARGS__ }
#define JL_O_COUNT(NAME, ARG, MIN, MAX, ...) { .name = (NAME), .type = JL_OPT_COUNT, .arg = (ARG), .min = (MIN), .max = (MAX), .en = __VA_ARGS__ }
#define JL_O_AMOUNT(NAME, ARG, KIND, ...) { .name = (NAME), .type = JL_OPT_QUANTITY, .arg = (ARG), .kind = (KIND), .en = __VA_ARGS__ }
#define JL_O_CHOICE(NAME, ARG, CHOICES, ...) { .name = (NAME), .type = JL_OPT_CHOICE, .arg = (ARG), .choices = (CHOICES), .en = __VA_ARGS__ }
/* ... where jl_read_options puts it: a count or a quantity is a double, a text a pointer, a flag a bool, a choice its place, an int. */
#define JL_TO(S, M)              .into = #S, .at = offsetof(struct S, M)
#define JL_TO_INT(S, M)          JL_TO(S, M), .whole = true
#define JL_WITHIN(LEAST, MOST, BOUNDS) .least = (LEAST), .most = (MOST), .bounds = (BOUNDS)
/* clang-format on */

enum jl_need {
	JL_NEED_NOTHING = 0,
	JL_NEED_CATALOG = 1 /* the embedded catalog with its overlays */
};

struct jl_cli;

typedef enum jl_status jl_command_run(struct jl_cli *cli, struct jl_err *err);

struct jl_command {
	const char *name; /* one or two words: "catalog show" */
	const char *was;  /* an older name that still works; NULL: none */
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
	int lost;      /* errno of output that could not be written */
	struct jl_arena arena;
	struct jl_buf out;  /* everything for standard output; written once, at the end */
	struct jl_buf warn; /* lines for standard error */
	const struct jl_catalog *cat;
	bool asked;      /* by a request: no terminal */
	bool page;       /* documents as HTML fragments */
	size_t page_end; /* ... up to this offset of `out`; plain text follows */
	bool cut;        /* a search ended early with the best so far: asked again, the answer may be better */
};

/* A command that may be asked in JSON. */
struct jl_askable {
	const char *command;
	const char *operands; /* their key; NULL: there are none */
	bool here;            /* it looks at this machine or its store: the answer may be another one in a moment */
};

/* The front end's commands, as a request sees them. */
struct jl_front {
	const struct jl_command *commands; /* ends with name NULL */
	const struct jl_askable *askable;  /* ends with command NULL */
	/* Before a command runs: the catalog, if `cli` has none yet, and what its arguments need of this machine. */
	enum jl_status (*prepare)(struct jl_cli *cli, struct jl_err *err);
};

/* Is it this command's name, or its older one? */
bool jl_command_is(const struct jl_command *command, const char *name);

extern const struct jl_option jl_global_options[];

/* args.c */
enum jl_status jl_args_parse(struct jl_args *ret_args, const struct jl_command *command, int argc, char **argv,
			     struct jl_err *err);
/* A number alone where dollars are wanted: it is taken as dollars. */
bool jl_given_bare_usd(const struct jl_given *given);
/* How many of the arguments are global options in front of the command. */
enum jl_status jl_args_leading(int *ret_n, int argc, char **argv, struct jl_err *err);
const struct jl_given *jl_given(const struct jl_cli *cli, const char *name); /* the last one given, or NULL */
/* Every one that was given, in order: for (const struct jl_given *g = NULL; (g = jl_given_next(cli, "on", g));) */
const struct jl_given *jl_given_next(const struct jl_cli *cli, const char *name, const struct jl_given *before);
/* Options that do nothing in this call are refused, not dropped: where `when` holds, those that are listed ("batch seq"), or (`but`) all
 * others; with what they would do something, or what it is that leaves them nothing to do. */
struct jl_idle {
	bool when, but;
	const char *options, *with, *beside;
};
enum jl_status jl_check_idle(const struct jl_cli *cli, const struct jl_idle *rules, size_t n, struct jl_err *err);
bool jl_flag(const struct jl_cli *cli, const char *name);
const char *jl_text(const struct jl_cli *cli, const char *name);
double jl_value(const struct jl_cli *cli, const char *name); /* of a quantity; NAN: not given */
double jl_count(const struct jl_cli *cli, const char *name); /* of a whole number; NAN: not given */
long long jl_whole(const struct jl_cli *cli, const char *name, long long instead);
int jl_chosen(const struct jl_cli *cli, const char *name,
	      const char *const *list); /* its place there; -1: not given, not in it */
/* The options that were given, into the members of a struct that their rows name (JL_TO). What was not given stays as it is. */
#define JL_READ(INTO, S, CLI) jl_read_options((INTO), #S, (CLI))
void jl_read_options(void *into, const char *of, const struct jl_cli *cli);
const char *jl_nearest_name(const char *text, const char *const *names,
			    size_t n); /* "did you mean"; NULL: none is near */
