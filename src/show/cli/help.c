/* Generates help from the command table. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "request/ask.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/view.h"
#include "comm/confine.h"
#include "version.inc"

#define INDENT_COLUMN   26
#define VERSION_COLUMNS 9

/* If the left column is too long, the right one starts on the next line unless it fits. */
static void two_columns(struct jl_cli *cli, const char *left, const char *right)
{
	struct jl_buf *out = &cli->out;
	const size_t width = 2 + jl_utf8_width(left);
	size_t at = width < INDENT_COLUMN ? INDENT_COLUMN : width + 2;

	jl_buf_printf(out, "  %s", left);
	if (at > INDENT_COLUMN && at + jl_utf8_width(right) > cli->width) {
		jl_buf_putc(out, '\n');
		jl_buf_pad(out, ' ', at = INDENT_COLUMN);
	} else {
		jl_buf_pad(out, ' ', at - width);
	}
	jl_view_flow(cli, at, INDENT_COLUMN, right);
}

static void print_options(struct jl_cli *cli, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++) {
		char left[96];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? ", " : "  ", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		two_columns(cli, left, jl_msg(o->en));
	}
}

/* First screen: commands by the questions they answer, most frequent first; the others by group. */
static const char *const questions[] = {
	"predict", "serve", "plan", "compare", "cost", "recommend", "check", "report"
};
static const struct {
	const char *en, *names;
} groups[] = {
	{ JL_N("Look and measure"), "probe bench calibrate doctor" },
	{ JL_N("Judge"), "audit build validate goodput" },
	{ JL_N("Keep and look up"), "catalog store import" },
	{ JL_N("Show"), "web help version" },
};

bool jl_command_in(const struct jl_command *command, const char *group)
{
	const size_t len = group ? strlen(group) : 0;

	return !group || (strncmp(command->name, group, len) == 0 && command->name[len] == ' ');
}

bool jl_is_group(const char *word)
{
	const struct jl_command *c = jl_commands;

	while (c->name && !jl_command_in(c, word))
		c++;
	return c->name;
}

static const struct jl_command *command_named(const char *name)
{
	for (const struct jl_command *c = jl_commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static void print_commands(struct jl_cli *cli, const char *group)
{
	for (const struct jl_command *c = jl_commands; c->name; c++)
		if (jl_command_in(c, group))
			two_columns(cli, c->name, jl_msg(c->en));
}

static void options_json(struct jl_json *json, const char *key, const struct jl_option *options)
{
	static const char *const types[] = { [JL_OPT_FLAG] = "flag",
					     [JL_OPT_TEXT] = "text",
					     [JL_OPT_COUNT] = "count",
					     [JL_OPT_QUANTITY] = "quantity",
					     [JL_OPT_CHOICE] = "choice" };

	const struct jl_language *reader = jl_lang_set(jl_languages[0]); /* machine-readable output is in English */

	jl_json_put_array(json, key);
	for (const struct jl_option *o = options; o && o->name; o++)
		jl_json_pack(json, "{name:s type:s argument?s many?b local?b summary:s}", o->name, types[o->type],
			     o->arg, o->many, o->local || !jl_ask_option(o), jl_msg(o->en));
	jl_lang_set(reader);
	jl_json_end_array(json);
}

static void command_json(struct jl_json *json, const struct jl_command *c)
{
	const struct jl_askable *a = jl_askable; /* requests use this name for the operands */

	while (a->command && strcmp(a->command, c->name) != 0)
		a++;
	jl_json_pack(json, "{command:s was?s operands?s asked_with?s summary:s", c->name, c->was, c->operands,
		     a->command && !a->operands ? "" : a->operands, c->en);
	options_json(json, "options", c->options);
	jl_json_pack(json, "examples:[");
	for (const char *const *e = c->examples; *e; e++)
		jl_json_string(json, *e);
	jl_json_pack(json, "]}");
}

static void commands_json(struct jl_cli *cli, const char *group)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_pack(&json, "{commands:[");
	for (const struct jl_command *c = jl_commands; c->name; c++)
		if (jl_command_in(c, group))
			command_json(&json, c);
	jl_json_pack(&json, "]");
	options_json(&json, "options_of_every_command", jl_global_options);
	jl_json_pack(&json, "}");
	jl_json_finish(&json);
}

void jl_help_first(struct jl_cli *cli)
{
	struct jl_buf *out = &cli->out;

	if (cli->json) {
		commands_json(cli, NULL);
		return;
	}
	jl_buf_puts(out, JL_("jeoul weighs GPU systems.\n\nUsage: jeoul COMMAND [OPTIONS]\n\nQuestions:\n"));
	for (size_t i = 0; i < JL_LEN(questions); i++)
		two_columns(cli, questions[i], jl_msg(command_named(questions[i])->en));
	jl_buf_putc(out, '\n');
	for (size_t i = 0; i < JL_LEN(groups); i++)
		two_columns(cli, jl_msg(groups[i].en), groups[i].names);
	jl_buf_puts(out, JL_("\nOptions of every command:\n"));
	print_options(cli, jl_global_options);
	jl_buf_puts(out, JL_("\n'jeoul help COMMAND' says more; 'jeoul help all' lists every command.\n"));
}

void jl_help_all(struct jl_cli *cli)
{
	struct jl_buf *out = &cli->out;

	if (cli->json) {
		commands_json(cli, NULL);
		return;
	}
	jl_buf_puts(out, JL_("jeoul weighs GPU systems.\n\nUsage: jeoul COMMAND [OPTIONS]\n\nCommands:\n"));
	print_commands(cli, NULL);
	jl_buf_puts(out, JL_("\nOptions of every command:\n"));
	print_options(cli, jl_global_options);
	jl_buf_puts(out, JL_("\n'jeoul help COMMAND' says more.\n"));
}

void jl_help_group(struct jl_cli *cli, const char *group)
{

	if (cli->json) {
		commands_json(cli, group);
		return;
	}
	jl_buf_printf(&cli->out, "%s: jeoul %s %s\n\n", JL_("Usage"), group, JL_("COMMAND [OPTIONS]"));
	print_commands(cli, group);
}

/* Breaks an example before options, valid for pasting into a shell. */
static void print_example(struct jl_cli *cli, const char *text)
{
	size_t indent = 2;

	while (indent + jl_utf8_width(text) > cli->width) {
		size_t best = 0;

		for (const char *at = strstr(text + 1, " --"); at; at = strstr(at + 1, " --"))
			if (indent + (size_t)(at - text) + strlen(" \\") <= cli->width)
				best = (size_t)(at - text);
		if (best == 0)
			break;
		jl_buf_printf(&cli->out, "%*s%.*s \\\n", (int)indent, "", (int)best, text);
		text += best + 1;
		indent = 6;
	}
	jl_buf_printf(&cli->out, "%*s%s\n", (int)indent, "", text);
}

void jl_help_command(struct jl_cli *cli, const struct jl_command *command)
{
	struct jl_buf *out = &cli->out;
	struct jl_json json;

	if (cli->json) {
		jl_json_init(&json, out, true);
		command_json(&json, command);
		jl_json_finish(&json);
		return;
	}
	jl_buf_printf(out, "jeoul %s: ", command->name);
	jl_view_flow(cli, strlen("jeoul : ") + strlen(command->name), 4, jl_msg(command->en));
	jl_buf_printf(out, "\n%s: jeoul %s%s%s %s\n", JL_("Usage"), command->name, command->operands ? " " : "",
		      command->operands ? command->operands : "", JL_("[OPTIONS]"));
	if (command->options && command->options->name) {
		jl_buf_puts(out, JL_("\nOptions:\n"));
		print_options(cli, command->options);
	}
	jl_buf_puts(out, JL_("\nOptions of every command:\n"));
	print_options(cli, jl_global_options);
	if (command->examples[0]) {
		jl_buf_puts(out, JL_("\nExamples:\n"));
		for (const char *const *e = command->examples; *e; e++)
			print_example(cli, *e);
	}
}

static const struct jl_built_with parts[] = {
#define JL_PART(name, version, used_by, reason) { name, version, used_by, reason },
#include "parts.inc"
#undef JL_PART
};

/* Kernel support for sandboxing servers (Landlock, seccomp). */
static struct jl_built_with confinement(char version[32])
{
	const int landlock = jl_confine_landlock();
	const bool seccomp = jl_confine_seccomp();

	(void)snprintf(version, 32, landlock ? "Landlock %d%s%s" : "%.0d%s%s", landlock,
		       landlock && seccomp ? ", " : "", seccomp ? "seccomp" : "");
	return (struct jl_built_with){ "kernel", version, "web, bench --listen", "Landlock, seccomp" };
}

static void part_json(struct jl_json *json, const struct jl_built_with *p)
{
	const bool present = *p->version != '\0';
	char reason[128];

	(void)snprintf(reason, sizeof(reason), "needs %s", p->reason);
	jl_json_pack(json, "{name:s present:b version?s used_by?s reason?s}", p->name, present,
		     present ? p->version : NULL, *p->used_by ? p->used_by : NULL, present ? NULL : reason);
}

static void version_json(struct jl_cli *cli)
{
	char version[32];
	const struct jl_built_with confined = confinement(version);
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_pack(&json, "{version:s parts:[", JEOUL_VERSION);
	for (size_t i = 0; i < JL_LEN(parts); i++)
		part_json(&json, &parts[i]);
	part_json(&json, &confined);
	jl_json_pack(&json, "]}");
	jl_json_finish(&json);
}

void jl_version_part(struct jl_cli *cli, const struct jl_built_with *p)
{
	struct jl_buf *out = &cli->out;
	char text[512];

	jl_buf_printf(out, "  %-14s ", p->name);
	if (!*p->version)
		jl_format(text, sizeof(text), JL_("absent, needs %s"), p->reason);
	else if (*p->used_by && strlen(p->version) > VERSION_COLUMNS)
		jl_format(text, sizeof(text), "%s%s %s", p->version, JL_(", used by"), p->used_by);
	else if (*p->used_by)
		jl_format(text, sizeof(text), "%s %s", JL_("in, used by"), p->used_by);
	else
		jl_format(text, sizeof(text), "%s", JL_("found; no command uses it yet"));
	if (*p->version && strlen(p->version) <= VERSION_COLUMNS)
		jl_buf_printf(out, "%-*s ", VERSION_COLUMNS, p->version);
	jl_view_flow(cli, *p->version && strlen(p->version) <= VERSION_COLUMNS ? 18 + VERSION_COLUMNS : 17, 17, text);
}

void jl_version(struct jl_cli *cli)
{
	char version[32];
	const struct jl_built_with confined = confinement(version);

	if (cli->json) {
		version_json(cli);
		return;
	}
	jl_buf_printf(&cli->out, "jeoul %s\n\n", JEOUL_VERSION);
	for (size_t i = 0; i < JL_LEN(parts); i++)
		jl_version_part(cli, &parts[i]);
	jl_version_part(cli, &confined);
}

enum jl_status jl_cmd_version(struct jl_cli *cli, struct jl_err *err)
{
	(void)err;
	jl_version(cli);
	return JL_OK;
}

enum jl_status jl_cmd_help(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_args *args = &cli->args;
	char name[96] = "";

	if (args->n_operands == 0 || strcmp(args->operands[0], "all") == 0) {
		(args->n_operands ? jl_help_all : jl_help_first)(cli);
		return JL_OK;
	}
	snprintf(name, sizeof(name), "%s%s%s", args->operands[0], args->n_operands > 1 ? " " : "",
		 args->n_operands > 1 ? args->operands[1] : "");
	for (const struct jl_command *c = jl_commands; c->name; c++)
		if (jl_command_is(c, name)) {
			jl_help_command(cli, c);
			return JL_OK;
		}
	if (!jl_is_group(name))
		return jl_fail(err, JL_E_USAGE, "'%s' is not a command; 'jeoul help' lists them", name);
	jl_help_group(cli, name);
	return JL_OK;
}
