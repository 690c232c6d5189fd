/* Shell completion, made from the command table. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

static void words_of(struct jl_buf *out, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++)
		jl_buf_printf(out, " --%s", o->name);
}

/* First words of all commands, each once; of groups alone, as cases with their second words. */
static void first_words(struct jl_buf *out, bool groups)
{
	const char *last = "";
	size_t last_len = 0;

	for (const struct jl_command *c = jl_commands; c->name; c++) {
		const size_t len = strcspn(c->name, " ");

		if ((groups && !c->name[len]) || (len == last_len && strncmp(c->name, last, len) == 0))
			continue;
		jl_buf_printf(out, groups ? "\t\t%s%.*s) words=\"" : "%s%.*s", *last && !groups ? " " : "", (int)len,
			      c->name);
		for (const struct jl_command *k = jl_commands; groups && k->name; k++)
			if (strncmp(k->name, c->name, len) == 0 && k->name[len] == ' ')
				jl_buf_printf(out, " %s", k->name + len + 1);
		jl_buf_puts(out, groups ? "\" ;;\n" : "");
		last = c->name;
		last_len = len;
	}
}

static void bash_options(struct jl_buf *out)
{
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		jl_buf_printf(out, "\t\"%s\"*) words=\"", c->name);
		words_of(out, c->options);
		words_of(out, jl_global_options);
		jl_buf_puts(out, "\" ;;\n");
	}
}

static void bash_completion(struct jl_buf *out)
{
	jl_buf_puts(out,
		    "# bash completion for jeoul\n_jeoul()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\"\"\n");
	jl_buf_puts(out, "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\twords=\"");
	first_words(out, false);
	jl_buf_puts(out, "\"\n\telif [ \"$COMP_CWORD\" = 2 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n\t\tcase "
			 "${COMP_WORDS[1]} in\n");
	first_words(out, true);
	jl_buf_puts(out, "\t\tesac\n\telif [ \"${cur#-}\" != \"$cur\" ]; then\n\tcase \"${COMP_WORDS[*]:1}\" in\n");
	bash_options(out);
	jl_buf_puts(out, "\tesac\n\tfi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F "
			 "_jeoul jeoul\n");
}

/* A single-quoted zsh word: quotes doubled out, colons and brackets escaped for _arguments and _describe. */
static void zsh_text(struct jl_buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			jl_buf_puts(out, "'\\''");
		else if (strchr(":[]", *text))
			jl_buf_printf(out, "\\%c", *text);
		else
			jl_buf_putc(out, *text);
	}
}

static void zsh_completion(struct jl_buf *out)
{
	jl_buf_puts(out, "#compdef jeoul\n_jeoul() {\n\tlocal -a commands\n\tcommands=(\n");
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		jl_buf_printf(out, "\t\t'%s:", c->name);
		zsh_text(out, c->en);
		jl_buf_puts(out, "'\n");
	}
	jl_buf_puts(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase "
			 "\"${words[2,3]}\" in\n");
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		const struct jl_option *tables[2] = { c->options, jl_global_options };

		jl_buf_printf(out, "\t\"%s\"*) _arguments", c->name);
		for (size_t t = 0; t < 2; t++)
			for (const struct jl_option *o = tables[t]; o && o->name; o++) {
				jl_buf_printf(out, " '--%s[", o->name);
				zsh_text(out, o->en);
				jl_buf_puts(out, "]'");
			}
		jl_buf_puts(out, " '*:file:_files' ;;\n");
	}
	jl_buf_puts(out, "\tesac\n}\n_jeoul \"$@\"\n");
}

/* Between single quotes fish knows \\ and \'. */
static void fish_text(struct jl_buf *out, const char *text)
{
	for (; *text; text++)
		jl_buf_printf(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
}

/* Options of one table, offered where `seen` holds. */
static void fish_options(struct jl_buf *out, const char *seen, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++) {
		jl_buf_printf(out, "complete -c jeoul -n '%s' -l %s%s -d '", seen, o->name, o->arg ? " -r" : "");
		fish_text(out, o->en);
		jl_buf_printf(out, o->choices ? "' -f -a '(string split \"|\" \"%s\")'\n" : "'\n", o->arg);
	}
}

static void fish_completion(struct jl_buf *out)
{
	char seen[128];

	jl_buf_puts(out, "# fish completion for jeoul\ncomplete -c jeoul -n __fish_use_subcommand -f\n");
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		const char *second = strchr(c->name, ' ');
		const int len = second ? (int)(second - c->name) : (int)strlen(c->name);

		jl_buf_printf(out, "complete -c jeoul -n __fish_use_subcommand -a %.*s%s", len, c->name,
			      second ? "\n" : " -d '");
		if (second)
			jl_buf_printf(out, "complete -c jeoul -n '__fish_seen_subcommand_from %.*s' -f -a %s -d '", len,
				      c->name, second + 1);
		fish_text(out, c->en);
		jl_buf_puts(out, "'\n");
		(void)snprintf(seen, sizeof(seen), "__fish_seen_subcommand_from %.*s%s%s", len, c->name,
			       second ? "; and __fish_seen_subcommand_from" : "", second ? second : "");
		fish_options(out, seen, c->options);
	}
	fish_options(out, "true", jl_global_options);
}

enum jl_status jl_cmd_completion(struct jl_cli *cli, struct jl_err *err)
{
	const char *shell = cli->args.operands[0];

	if (cli->json)
		return jl_fail(err, JL_E_USAGE, "completion is a shell script, no JSON; leave --json out");
	if (strcmp(shell, "bash") == 0)
		bash_completion(&cli->out);
	else if (strcmp(shell, "zsh") == 0)
		zsh_completion(&cli->out);
	else if (strcmp(shell, "fish") == 0)
		fish_completion(&cli->out);
	else
		return jl_fail(err, JL_E_USAGE, "there is completion for bash, zsh and fish, not for '%s'", shell);
	return JL_OK;
}
