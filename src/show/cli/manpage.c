/* Generates man pages from the command table: one for the program and one per command. */
#include "cli/command.h"

#include <ctype.h>

#include "version.inc"

/* Escapes for roff: a leading dot or quote is a request, and '-' is a hyphen. */
static void roff(struct jl_buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		jl_buf_puts(out, "\\&");
	for (; *text; text++) {
		if (*text == '-')
			jl_buf_puts(out, "\\-");
		else if (*text == '\\')
			jl_buf_puts(out, "\\e");
		else
			jl_buf_putc(out, *text);
	}
}

static void line(struct jl_buf *out, const char *en)
{
	roff(out, jl_msg(en));
	jl_buf_putc(out, '\n');
}

static void section(struct jl_buf *out, const char *en)
{
	jl_buf_puts(out, ".SH ");
	line(out, en);
}

static void print_options(struct jl_buf *out, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++) {
		jl_buf_puts(out, ".TP\n");
		if (o->letter)
			jl_buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
		jl_buf_puts(out, "\\fB\\-\\-");
		roff(out, o->name);
		jl_buf_puts(out, "\\fR");
		if (o->arg) {
			jl_buf_puts(out, " \\fI");
			roff(out, o->arg);
			jl_buf_puts(out, "\\fR");
		}
		jl_buf_putc(out, '\n');
		line(out, o->en);
	}
}

static void heading(struct jl_buf *out, const char *name)
{
	jl_buf_puts(out, ".TH JEOUL");
	for (const char *c = name; *c; c++)
		jl_buf_putc(out, *c == ' ' ? '-' : (char)toupper((unsigned char)*c));
	jl_buf_printf(out, " 1 \"\" \"jeoul %s\" \"%s\"\n", JEOUL_VERSION, JL_("User Commands"));
	section(out, JL_N("NAME"));
	jl_buf_puts(out, "jeoul");
	for (const char *c = name; *c; c++)
		jl_buf_puts(out, *c == ' ' || *c == '-' ? "\\-" : (const char[]){ *c, '\0' });
	jl_buf_puts(out, " \\- ");
}

static void synopsis(struct jl_buf *out, const struct jl_command *c)
{
	jl_buf_puts(out, "\\fBjeoul ");
	roff(out, c->name);
	jl_buf_puts(out, "\\fR ");
	roff(out, c->operands ? c->operands : "");
}

/* Page jeoul-predict(1) for " predict", titled JEOUL-PREDICT. */
static void command_page(struct jl_cli *cli, const struct jl_command *c)
{
	struct jl_buf *out = &cli->out;

	heading(out, jl_arena_printf(&cli->arena, " %s", c->name));
	line(out, c->en);
	section(out, JL_N("SYNOPSIS"));
	synopsis(out, c);
	jl_buf_printf(out, " \\fI%s\\fR\n", JL_("[OPTIONS]"));
	if (c->options && c->options->name)
		section(out, JL_N("OPTIONS"));
	print_options(out, c->options);
	section(out, JL_N("OPTIONS OF EVERY COMMAND"));
	print_options(out, jl_global_options);
	if (c->examples[0]) {
		section(out, JL_N("EXAMPLES"));
		jl_buf_puts(out, ".nf\n");
		for (const char *const *e = c->examples; *e; e++) {
			roff(out, *e);
			jl_buf_putc(out, '\n');
		}
		jl_buf_puts(out, ".fi\n");
	}
	section(out, JL_N("SEE ALSO"));
	jl_buf_puts(out, ".BR jeoul (1)\n");
}

struct entry {
	const char *head, *en; /* head NULL: start of a section */
};

static const struct entry ends[] = {
	{ NULL, JL_N("EXIT STATUS") },
	{ "0", JL_N("success; also where predict, fit or compare answer that it does not fit") },
	{ "1",
	  JL_N("failed: a name that is not in the catalog, the store or the file system; a file that does not hold "
	       "what it should; what is missing or breaks while running") },
	{ "2", JL_N("usage: an unknown command or option; a value that is malformed, has no unit, is out of range or "
		    "none of the choices") },
	{ "3", JL_N("the verdict is bad: check: low or impossible; build: incompatible parts; plan, recommend: nothing "
		    "is possible within deadline and budget; audit --strict: a claim differs") },
	{ "130", JL_N("plan was stopped with Ctrl-C") },
	{ NULL, JL_N("FILES") },
	{ "$XDG_CONFIG_HOME/jeoul/catalog/*.yaml", JL_N("records laid over the built-in catalog") },
	{ NULL, JL_N("ENVIRONMENT") },
	{ "NO_COLOR", JL_N("no colour when set") },
	{ "LC_ALL, LC_MESSAGES, LANG", JL_N("Korean text when they begin with ko") },
};

static void program_page(struct jl_buf *out)
{
	heading(out, "");
	line(out, JL_N("weighs GPU systems"));
	section(out, JL_N("SYNOPSIS"));
	jl_buf_printf(out, "\\fBjeoul\\fR \\fI%s\\fR\n", JL_("COMMAND [OPTIONS]"));
	section(out, JL_N("DESCRIPTION"));
	line(out,
	     JL_N("What GPU systems are, how long a training run takes on them, how much memory, energy and money: "
		  "every number with its origin, every estimate with an interval."));
	section(out, JL_N("COMMANDS"));
	line(out, JL_N("Each has its own page, e.g. jeoul-predict(1)."));
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		jl_buf_puts(out, ".TP\n");
		synopsis(out, c);
		jl_buf_putc(out, '\n');
		line(out, c->en);
	}
	section(out, JL_N("OPTIONS OF EVERY COMMAND"));
	print_options(out, jl_global_options);
	for (size_t i = 0; i < JL_LEN(ends); i++) {
		if (ends[i].head)
			jl_buf_printf(out, ".TP\n%s\n", ends[i].head);
		(ends[i].head ? line : section)(out, ends[i].en);
	}
}

enum jl_status jl_cmd_man(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_args *args = &cli->args;
	const char *name = args->n_operands > 1
				   ? jl_arena_printf(&cli->arena, "%s %s", args->operands[0], args->operands[1])
				   : args->operands[0];

	if (cli->json)
		return jl_fail(err, JL_E_USAGE, "the man page is not JSON; 'jeoul help --json' has the same as JSON");
	if (!args->n_operands) {
		program_page(&cli->out);
		return JL_OK;
	}
	for (const struct jl_command *c = jl_commands; name && c->name; c++)
		if (jl_command_is(c, name)) {
			command_page(cli, c);
			return JL_OK;
		}
	return name ? jl_fail(err, JL_E_USAGE, "'%s' is not a command; 'jeoul help' lists them", name)
		    : jl_fail_nomem(err);
}
