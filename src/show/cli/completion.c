/* Generates shell completion from the command table. */
#include "cli/command.h"

#include <stdio.h>
#include <ctype.h>
#include <string.h>

static void words_of(struct jl_buf *out, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++)
		jl_buf_printf(out, " --%s", o->name);
}

/* The distinct first words of all commands; with `groups`, only groups, as cases with their second words. */
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

/* Variable with the catalog's names for arguments of this kind; NULL: none. */
static const char *names_of(const char *arg)
{
	return strstr(arg, "MODEL") ? "$_jeoul_models" : strstr(arg, "SYSTEM") ? "$_jeoul_systems" : NULL;
}

static bool has_values(const char *arg)
{
	return names_of(arg) || (strchr(arg, '|') && islower((unsigned char)*arg) && !strchr(arg, '='));
}

/* Converts "fp32|bf16" to "fp32 bf16"; stops at a placeholder in capitals. */
static void values_of(struct jl_buf *out, const char *arg)
{
	if (names_of(arg))
		jl_buf_puts(out, names_of(arg));
	for (const char *c = arg; !names_of(arg) && has_values(arg) && *c && !isupper((unsigned char)*c); c++)
		jl_buf_putc(out, *c == '|' ? ' ' : *c);
}

static void put_name(struct jl_buf *out, const char *name)
{
	jl_buf_printf(out, "%s ", name);
}

static void put_models(struct jl_buf *out)
{
	const struct jl_catalog *cat = jl_catalog_embedded();

	for (size_t i = 0; i < cat->n_models; i++)
		put_name(out, cat->models[i].id);
	for (size_t i = 0; i < cat->n_convnets; i++) {
		if (!cat->convnets[i].program)
			put_name(out, cat->convnets[i].id);
		for (const char *const *m = cat->convnets[i].members; m && *m; m++)
			put_name(out, *m);
	}
}

static void put_systems(struct jl_buf *out)
{
	const struct jl_catalog *cat = jl_catalog_embedded();

	put_name(out, "this");
	for (size_t i = 0; i < cat->n_gpus; i++)
		put_name(out, cat->gpus[i].id);
	for (size_t i = 0; i < cat->n_systems; i++)
		put_name(out, cat->systems[i].id);
}

/* Writes both lists as shell variables. `set`, `is` and `behind`: text before the name, after it, and after the words. */
static void put_lists(struct jl_buf *out, const char *set, const char *is, const char *behind)
{
	jl_buf_printf(out, "%s_jeoul_models%s", set, is);
	put_models(out);
	jl_buf_printf(out, "%s\n%s_jeoul_systems%s", behind, set, is);
	put_systems(out);
	jl_buf_printf(out, "%s\n", behind);
}

/* Words that may follow an option; only options with choices have any. */
static void bash_values(struct jl_buf *out, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++) {
		if (!o->arg)
			continue;
		jl_buf_printf(out, "\t\t--%s) words=\"", o->name);
		values_of(out, o->arg);
		jl_buf_puts(out, "\" ;;\n");
	}
}

static void bash_options(struct jl_buf *out)
{
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		jl_buf_printf(out, "\t\"%s \"*)\n\t\tcase \"$prev\" in\n", c->name);
		bash_values(out, c->options);
		bash_values(out, jl_global_options);
		jl_buf_puts(out, "\t\t*) words=\"");
		values_of(out, c->operands ? c->operands : "");
		jl_buf_puts(out, "\" ;;\n\t\tesac\n\t\t[ \"${cur#-}\" = \"$cur\" ] || words=\"");
		words_of(out, c->options);
		words_of(out, jl_global_options);
		jl_buf_puts(out, "\" ;;\n");
	}
}

static void bash_completion(struct jl_buf *out)
{
	jl_buf_puts(out, "# bash completion for jeoul\n");
	put_lists(out, "", "=\"", "\"");
	jl_buf_puts(out,
		    "_jeoul()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\"\" "
		    "line=${COMP_LINE-}\n"
		    "\tline=${line:0:${COMP_POINT-0}}\n"
		    "\tif [[ $line == *:* ]]; then # which parts words: aws:p5.48xlarge\n"
		    "\t\tcur=${line##* } line=${line% *} prev=${line##* }\n\tfi\n"
		    "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\twords=\"");
	first_words(out, false);
	jl_buf_puts(out, "\"\n\telse\n\tcase \"${COMP_WORDS[*]:1} \" in\n");
	bash_options(out);
	jl_buf_puts(out, "\tesac\n\tif [ \"$COMP_CWORD\" = 2 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n\t\tcase "
			 "${COMP_WORDS[1]} in\n");
	first_words(out, true);
	jl_buf_puts(out, "\t\tesac\n\tfi\n\tfi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			 "\t[[ $cur != *:* ]] || COMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*:}\"}\"}\")\n}\n"
			 "complete -o default -F _jeoul jeoul\n");
}

/* Quotes a zsh word: escapes single quotes, and colons and brackets for _arguments and _describe. */
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

static void zsh_values(struct jl_buf *out, const char *arg)
{
	if (!arg)
		return;
	jl_buf_puts(out, ":value:");
	jl_buf_puts(out, has_values(arg) ? "(" : "_files");
	values_of(out, arg);
	jl_buf_puts(out, has_values(arg) ? ")" : "");
}

static void zsh_completion(struct jl_buf *out)
{
	jl_buf_puts(out, "#compdef jeoul\ntypeset -ga _jeoul_models _jeoul_systems\n");
	put_lists(out, "", "=(", ")");
	jl_buf_puts(out, "_jeoul() {\n\tlocal -a commands\n\tcommands=(\n");
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		jl_buf_printf(out, "\t\t'%s:", c->name);
		zsh_text(out, c->en);
		jl_buf_puts(out, "'\n");
	}
	jl_buf_puts(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase "
			 "\"${words[2,3]} \" in\n");
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		const struct jl_option *tables[2] = { c->options, jl_global_options };

		jl_buf_printf(out, "\t\"%s \"*) _arguments", c->name);
		for (size_t t = 0; t < 2; t++)
			for (const struct jl_option *o = tables[t]; o && o->name; o++) {
				jl_buf_printf(out, " '--%s[", o->name);
				zsh_text(out, jl_msg(o->en));
				jl_buf_puts(out, "]");
				zsh_values(out, o->arg);
				jl_buf_puts(out, "'");
			}
		jl_buf_puts(out, " '*");
		zsh_values(out, c->operands ? c->operands : "FILE");
		jl_buf_puts(out, "' ;;\n");
	}
	jl_buf_puts(out, "\tesac\n}\n_jeoul \"$@\"\n");
}

/* fish recognises \\ and \' within single quotes. */
static void fish_text(struct jl_buf *out, const char *text)
{
	for (; *text; text++)
		jl_buf_printf(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
}

static void fish_values(struct jl_buf *out, const char *arg)
{
	if (!arg || !has_values(arg))
		return;
	jl_buf_puts(out, names_of(arg) ? "' -a '" : "' -f -a '");
	values_of(out, arg);
}

/* Options of one table, offered if `seen` holds. */
static void fish_options(struct jl_buf *out, const char *seen, const struct jl_option *options)
{
	for (const struct jl_option *o = options; o && o->name; o++) {
		jl_buf_printf(out, "complete -c jeoul -n '%s' -l %s%s -d '", seen, o->name, o->arg ? " -r" : "");
		fish_text(out, jl_msg(o->en));
		fish_values(out, o->arg);
		jl_buf_puts(out, "'\n");
	}
}

static void fish_completion(struct jl_buf *out)
{
	char seen[128];

	jl_buf_puts(out, "# fish completion for jeoul\n");
	put_lists(out, "set -g ", " ", "");
	jl_buf_puts(out, "complete -c jeoul -n __fish_use_subcommand -f\n");
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
		if (c->operands && has_values(c->operands)) {
			jl_buf_printf(out, "complete -c jeoul -n '%s", seen);
			fish_values(out, c->operands);
			jl_buf_puts(out, "'\n");
		}
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
