/* The man pages, made from the command table: one of the program, one of each command. */
#include "cli/command.h"

#include <ctype.h>
#include <string.h>

#include "version.inc"

/* In roff a line that begins with a dot or quote is a request, and '-' is a hyphen. */
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
		roff(out, o->en);
		jl_buf_putc(out, '\n');
	}
}

static void heading(struct jl_buf *out, const char *name)
{
	jl_buf_puts(out, ".TH JEOUL");
	for (const char *c = name; *c; c++)
		jl_buf_putc(out, *c == ' ' ? '-' : (char)toupper((unsigned char)*c));
	jl_buf_printf(out, " 1 \"\" \"jeoul %s\" \"User Commands\"\n.SH NAME\njeoul", JEOUL_VERSION);
	for (const char *c = name; *c; c++)
		jl_buf_puts(out, *c == ' ' || *c == '-' ? "\\-" : (const char[]){ *c, '\0' });
	jl_buf_puts(out, " \\- ");
}

static void synopsis(struct jl_buf *out, const char *before, const struct jl_command *c)
{
	jl_buf_printf(out, "%s\\fBjeoul ", before);
	roff(out, c->name);
	jl_buf_puts(out, "\\fR ");
	roff(out, c->operands ? c->operands : "");
}

/* " predict" becomes JEOUL-PREDICT: a page of its own, jeoul-predict(1). */
static void command_page(struct jl_cli *cli, const struct jl_command *c)
{
	struct jl_buf *out = &cli->out;

	heading(out, jl_arena_printf(&cli->arena, " %s", c->name));
	roff(out, c->en);
	synopsis(out, "\n.SH SYNOPSIS\n", c);
	jl_buf_puts(out, " [\\fIOPTIONS\\fR]\n");
	if (c->options && c->options->name)
		jl_buf_puts(out, ".SH OPTIONS\n");
	print_options(out, c->options);
	jl_buf_puts(out, ".SH OPTIONS OF EVERY COMMAND\n");
	print_options(out, jl_global_options);
	if (c->examples[0]) {
		jl_buf_puts(out, ".SH EXAMPLES\n.nf\n");
		for (const char *const *e = c->examples; *e; e++) {
			roff(out, *e);
			jl_buf_putc(out, '\n');
		}
		jl_buf_puts(out, ".fi\n");
	}
	jl_buf_puts(out, ".SH SEE ALSO\n.BR jeoul (1)\n");
}

static void program_page(struct jl_buf *out)
{
	heading(out, "");
	jl_buf_puts(out,
		    "weighs GPU systems\n.SH SYNOPSIS\n\\fBjeoul\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
		    ".SH DESCRIPTION\nWhat GPU systems are, how long a training run takes on them, how much memory, "
		    "energy and money: every number with its origin, every estimate with an interval.\n.SH COMMANDS\n"
		    "Each has a page of its own, e.g.\n.BR jeoul\\-predict (1).\n");
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		synopsis(out, ".TP\n", c);
		jl_buf_putc(out, '\n');
		roff(out, c->en);
		jl_buf_putc(out, '\n');
	}
	jl_buf_puts(out, ".SH OPTIONS OF EVERY COMMAND\n");
	print_options(out, jl_global_options);
	jl_buf_puts(out,
		    ".SH EXIT STATUS\n.TP\n0\nfine; also where predict, fit or compare answer that it does not fit\n"
		    ".TP\n1\nfailed: a name that is not in the catalog, the store or the file system; a file that does "
		    "not hold what it should; what is missing or breaks while running\n.TP\n2\nusage: an unknown "
		    "command or option; a value that is malformed, has no unit, is out of range or none of the "
		    "choices\n.TP\n3\nthe verdict is bad: check: low or impossible; build: parts that do not go "
		    "together; plan, recommend: nothing is possible, or within deadline and budget; audit "
		    "\\-\\-strict: a claim differs\n.TP\n130\nplan was stopped with Ctrl\\-C\n.SH "
		    "FILES\n.TP\n$XDG_CONFIG_HOME/jeoul/catalog/*.yaml\nrecords laid over the built\\-in catalog\n.SH "
		    "ENVIRONMENT\n.TP\nNO_COLOR\nno colour when set\n.TP\nLC_ALL, LC_MESSAGES, LANG\nKorean text when "
		    "they begin with ko\n");
}

enum jl_status jl_cmd_man(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_args *args = &cli->args;
	const char *name = args->n_operands > 1
				   ? jl_arena_printf(&cli->arena, "%s %s", args->operands[0], args->operands[1])
				   : args->operands[0];

	if (cli->json)
		return jl_fail(err, JL_E_USAGE, "the man page is no JSON; 'jeoul help --json' has the same as JSON");
	if (!args->n_operands) {
		program_page(&cli->out);
		return JL_OK;
	}
	for (const struct jl_command *c = jl_commands; name && c->name; c++)
		if (strcmp(c->name, name) == 0) {
			command_page(cli, c);
			return JL_OK;
		}
	return name ? jl_fail(err, JL_E_USAGE, "'%s' is not a command; 'jeoul help' lists them", name)
		    : jl_fail_nomem(err);
}
