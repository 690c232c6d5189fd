/* The man page, made from the command table. */
#include "cli/command.h"

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

static void print_command(struct jl_buf *out, const struct jl_command *c)
{
	jl_buf_puts(out, ".SS jeoul ");
	roff(out, c->name);
	if (c->operands) {
		jl_buf_putc(out, ' ');
		roff(out, c->operands);
	}
	jl_buf_putc(out, '\n');
	roff(out, c->en);
	jl_buf_puts(out, ".\n");
	print_options(out, c->options);
	if (c->examples[0]) {
		jl_buf_puts(out, ".PP\nExamples:\n.RS\n.nf\n");
		for (const char *const *e = c->examples; *e; e++) {
			roff(out, *e);
			jl_buf_putc(out, '\n');
		}
		jl_buf_puts(out, ".fi\n.RE\n");
	}
}

enum jl_status jl_cmd_man(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_buf *out = &cli->out;

	if (cli->json)
		return jl_fail(err, JL_E_USAGE, "the man page is no JSON; 'jeoul help --json' has the same as JSON");
	jl_buf_printf(out, ".TH JEOUL 1 \"\" \"jeoul %s\" \"User Commands\"\n", JEOUL_VERSION);
	jl_buf_puts(out, ".SH NAME\njeoul \\- weighs GPU systems\n.SH SYNOPSIS\n\\fBjeoul\\fR \\fICOMMAND\\fR "
			 "[\\fIOPTIONS\\fR]\n");
	jl_buf_puts(out, ".SH DESCRIPTION\nWhat is listed about accelerators, links, systems and prices, with where "
			 "each figure comes from.\n");
	jl_buf_puts(out, ".SH COMMANDS\n");
	for (const struct jl_command *c = jl_commands; c->name; c++)
		print_command(out, c);
	jl_buf_puts(out, ".SH OPTIONS OF EVERY COMMAND\n");
	print_options(out, jl_global_options);
	jl_buf_puts(out,
		    ".SH EXIT STATUS\n.TP\n0\nfine; also where predict, fit or compare answer that it does not fit\n");
	jl_buf_puts(out, ".TP\n1\nfailed: a name that is not in the catalog, the store or the file system; a file that "
			 "does not hold what it should; what is missing or breaks while running\n");
	jl_buf_puts(out,
		    ".TP\n2\nusage: an unknown command or option; a value that is malformed, has no unit, is out of "
		    "range or none of the choices\n");
	jl_buf_puts(out,
		    ".TP\n3\nthe verdict is bad: check: low or impossible; build: parts that do not go together; "
		    "plan, recommend: nothing is possible, or within deadline and budget; audit \\-\\-strict: a claim "
		    "differs\n");
	jl_buf_puts(out, ".TP\n130\nplan was stopped with Ctrl\\-C\n");
	jl_buf_puts(
		out,
		".SH FILES\n.TP\n$XDG_CONFIG_HOME/jeoul/catalog/*.yaml\nrecords laid over the built\\-in catalog\n");
	jl_buf_puts(out, ".SH ENVIRONMENT\n.TP\nNO_COLOR\nno colour when set\n.TP\nLC_ALL, LC_MESSAGES, LANG\nKorean "
			 "text when they begin with ko\n");
	return JL_OK;
}
