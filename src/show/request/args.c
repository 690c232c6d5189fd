/* Parses the command line by a command's option table. */
#include "request/command.h"

#include <ctype.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "base/near.h"
#include "base/num.h"
#include "base/utf8.h"

bool jl_command_is(const struct jl_command *command, const char *name)
{
	return strcmp(command->name, name) == 0 || (command->was && strcmp(command->was, name) == 0);
}

const struct jl_option jl_global_options[] = {
	JL_O_FLAG("json", JL_N("print JSON instead of text")),
	JL_O_CHOICE("lang", jl_languages_choice, jl_languages_codes,
		    JL_N("language of the text (default: from the locale)")),
	JL_O_FLAG("no-color", JL_N("no colour, even on a terminal")),
	JL_O_TEXT("catalog", "DIR", JL_N("lay the catalog files of DIR over the built-in ones"), .many = true,
		  .local = true),
	JL_O_FLAG("hypothetical", JL_N("accept machines that do not exist; every answer says so")),
	JL_O_FLAG("assumptions", JL_N("everything that is assumed, and why (else one line)")),
	JL_O_FLAG("help", JL_N("show help for the command"), .letter = 'h'),
	{ 0 },
};

static const struct jl_option *find_in(const struct jl_option *options, const char *name, size_t len)
{
	for (const struct jl_option *o = options; o && o->name; o++)
		if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct jl_option *find_letter(const struct jl_option *options, char letter)
{
	for (const struct jl_option *o = options; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

const char *jl_nearest_name(const char *text, const char *const *names, size_t n)
{
	size_t index;

	return jl_near_rank(text, names, n, &index, 1) ? names[index] : NULL;
}

/* Reports an unknown option; `shown` includes its dashes. `command` is NULL for options before the command. */
static enum jl_status unknown_option(const struct jl_command *command, const char *shown, struct jl_err *err)
{
	const char *names[128];
	size_t n = 0;
	const struct jl_option *tables[2] = { command ? command->options : NULL, jl_global_options };
	const char *name = shown + strspn(shown, "-");
	const char *nearest, *help = command ? command->name : "";

	for (size_t t = 0; t < 2; t++)
		for (const struct jl_option *o = tables[t]; o && o->name && n < 128; o++)
			names[n++] = o->name;
	nearest = jl_nearest_name(name, names, n);
	if (nearest)
		return jl_fail(err, JL_E_USAGE,
			       "unknown option '%s'; did you mean '--%s'? ('jeoul help%s%s' lists them)", shown,
			       nearest, *help ? " " : "", help);
	return jl_fail(err, JL_E_USAGE, "unknown option '%s'; 'jeoul help%s%s' lists what there is", shown,
		       *help ? " " : "", help);
}

static enum jl_status check_choice(const struct jl_option *option, const char *text, struct jl_err *err)
{
	char all[JL_ERR_TEXT_MAX / 2] = "";
	size_t len = 0;

	for (const char *const *c = option->choices; *c; c++) {
		if (strcmp(*c, text) == 0)
			return JL_OK;
		if (len < sizeof(all)) /* a longer list is truncated; help has all options */
			len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len ? ", " : "", *c);
	}
	return jl_fail(err, JL_E_USAGE, "--%s: '%.80s' is not one of %s", option->name, text, all);
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " ")] == '\0';
}

bool jl_given_bare_usd(const struct jl_given *given)
{
	double value;
	size_t used;

	const struct jl_option *option = given->option;
	const bool money = option->type == JL_OPT_QUANTITY
				   ? option->kind == JL_K_USD
				   : option->type == JL_OPT_TEXT && option->arg && strcmp(option->arg, "MONEY") == 0;

	return money && jl_num_parse(given->text, &value, &used) == JL_NUM_OK && !given->text[used];
}

static enum jl_status take_value(struct jl_given *given, struct jl_err *err)
{
	const struct jl_option *option = given->option;
	enum jl_status status = JL_OK;
	char what[64] = "--", amount[64];

	strncat(what, option->name, sizeof(what) - 3);
	if (option->type != JL_OPT_FLAG && is_blank(given->text))
		return jl_fail(err, JL_E_USAGE, "--%s is empty: write --%s %s", option->name, option->name,
			       option->arg ? option->arg : "VALUE");
	switch (option->type) {
	case JL_OPT_CHOICE: return check_choice(option, given->text, err);
	case JL_OPT_COUNT:
		status = jl_units_parse_count(&given->count, given->text, option->min, option->max, what, err);
		break;
	case JL_OPT_QUANTITY:
		/* a bare number means dollars */
		snprintf(amount, sizeof(amount), "%s%s", given->text, jl_given_bare_usd(given) ? " USD" : "");
		status = jl_units_parse(&given->value, strlen(given->text) + 5 < sizeof(amount) ? amount : given->text,
					option->kind, what, err);
		if (!status && option->bounds && !(given->value >= option->least && given->value <= option->most))
			return jl_fail(err, JL_E_USAGE, "--%s %s: {%s}", option->name, given->text, option->bounds);
		if (!status && option->above && !(given->value > 0))
			return jl_fail(err, JL_E_USAGE, "--%s: '%s' must be above zero", option->name, given->text);
		if (!status && !option->bounds && given->value < 0)
			return jl_fail(err, JL_E_USAGE, "--%s: '%s' cannot be below zero", option->name, given->text);
		break;
	case JL_OPT_FLAG:
	case JL_OPT_TEXT: break;
	}
	if (status == JL_OK || status == JL_E_NOMEM)
		return status;
	/* a malformed value is always a usage error */
	if (err)
		err->status = JL_E_USAGE;
	return JL_E_USAGE;
}

static enum jl_status add_given(struct jl_args *args, const struct jl_option *option, const char *text,
				struct jl_err *err)
{
	struct jl_given *given;

	if (!option->many)
		for (size_t i = 0; i < args->n_given; i++)
			if (args->given[i].option == option && option->type != JL_OPT_FLAG)
				return jl_fail(err, JL_E_USAGE, "--%s is given twice", option->name);
	if (args->n_given == JL_GIVEN_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d options", JL_GIVEN_MAX);
	given = &args->given[args->n_given++];
	*given = (struct jl_given){ .option = option, .text = text };
	return take_value(given, err);
}

/* Parses one option; `ret_skip`: it consumed the next argument. */
static enum jl_status take_option(struct jl_args *args, const struct jl_command *command, const char *arg,
				  const char *next, bool *ret_skip, struct jl_err *err)
{
	const char *equals = strchr(arg, '=');
	const struct jl_option *option;
	bool is_long = arg[1] == '-';
	const char *name = arg + (is_long ? 2 : 1);
	size_t len = equals ? (size_t)(equals - name) : strlen(name);

	*ret_skip = false;
	if (is_long) {
		option = find_in(command->options, name, len);
		if (!option)
			option = find_in(jl_global_options, name, len);
	} else {
		option = len == 1 ? find_letter(command->options, *name) : NULL;
		if (!option && len == 1)
			option = find_letter(jl_global_options, *name);
	}
	if (!option) {
		char shown[64] = "";

		len += (size_t)(name - arg);
		strncat(shown, arg, len < 60 ? len : 60);
		return unknown_option(command, shown, err);
	}
	if (option->type == JL_OPT_FLAG) {
		if (equals)
			return jl_fail(err, JL_E_USAGE, "--%s takes no value", option->name);
		return add_given(args, option, "", err);
	}
	if (equals)
		return add_given(args, option, equals + 1, err);
	if (!next)
		return jl_fail(err, JL_E_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
			       option->arg ? option->arg : "VALUE");
	*ret_skip = true;
	return add_given(args, option, next, err);
}

static const struct jl_given *given_in(const struct jl_args *args, const char *name)
{
	for (size_t i = args->n_given; i-- > 0;)
		if (strcmp(args->given[i].option->name, name) == 0)
			return &args->given[i];
	return NULL;
}

/* Checks options that require or exclude another one (`with`, `apart`). */
static enum jl_status check_together(const struct jl_args *args, const struct jl_command *command, struct jl_err *err)
{
	for (const struct jl_given *g = args->given; g < args->given + args->n_given; g++) {
		const struct jl_option *o = g->option,
				       *with = o->with ? find_in(command->options, o->with, strlen(o->with)) : NULL;

		if (with && !given_in(args, with->name))
			return jl_fail(err, JL_E_USAGE, "--%s goes with --%s%s%s", o->name, with->name,
				       with->arg ? " " : "", with->arg ? with->arg : "");
		if (o->apart && given_in(args, o->apart))
			return jl_fail(err, JL_E_USAGE, "give --%s or --%s, not both", o->name, o->apart);
	}
	return JL_OK;
}

static enum jl_status check_operands(const struct jl_args *args, const struct jl_command *command, struct jl_err *err)
{
	size_t n = args->n_operands;

	if (given_in(args, "help"))
		return JL_OK;
	if (n < (size_t)command->n_min)
		return jl_fail(err, JL_E_USAGE, "'jeoul %s' needs %s", command->name, command->operands);
	for (size_t i = 0; i < n; i++)
		if (is_blank(args->operands[i]))
			return jl_fail(err, JL_E_USAGE, "'jeoul %s': argument %zu is empty; it takes %s", command->name,
				       i + 1, command->operands ? command->operands : "-");
	if (command->n_max >= 0 && n > (size_t)command->n_max)
		return jl_fail(err, JL_E_USAGE,
			       "'%s' is one argument too many for 'jeoul %s'; quote a system that contains blanks",
			       args->operands[command->n_max], command->name);
	return check_together(args, command, err);
}

/* Rejects control characters, which would reach the terminal with the answer. */
static enum jl_status check_characters(const char *arg, struct jl_err *err)
{
	const char *bad = jl_utf8_unshown(arg);
	char shown[64];

	if (!bad)
		return JL_OK;
	(void)snprintf(shown, sizeof(shown), "%s", arg);
	for (char *c = shown; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	jl_utf8_sanitize(shown);
	return jl_fail(err, JL_E_USAGE, "argument '%s' has a control character at byte %td; take it out", shown,
		       bad - arg + 1);
}

enum jl_status jl_args_leading(int *ret_n, int argc, char **argv, struct jl_err *err)
{
	int i = 0;

	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 1);
		const struct jl_option *option = argv[i][1] == '-'
							 ? find_in(jl_global_options, name, strcspn(name, "="))
							 : NULL;

		JL_TRY(check_characters(argv[i], err));
		if (argv[i][1] != '-' && !name[1])
			option = find_letter(jl_global_options, *name);
		if (!option)
			return unknown_option(NULL, argv[i], err);
		i += option->type != JL_OPT_FLAG && !strchr(name, '=') && i + 1 < argc ? 2 : 1;
	}
	*ret_n = i;
	return JL_OK;
}

enum jl_status jl_args_parse(struct jl_args *ret_args, const struct jl_command *command, int argc, char **argv,
			     struct jl_err *err)
{
	struct jl_args *args = ret_args;
	bool only_operands = false;

	*args = (struct jl_args){ 0 };
	for (int i = 0; i < argc; i++) {
		bool skip = false;

		JL_TRY(check_characters(argv[i], err));
		if (!only_operands && strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
			JL_TRY(take_option(args, command, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &skip, err));
			if (skip)
				JL_TRY(check_characters(argv[++i], err));
			continue;
		}
		if (args->n_operands == JL_OPERANDS_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d arguments", JL_OPERANDS_MAX);
		args->operands[args->n_operands++] = argv[i];
	}
	return check_operands(args, command, err);
}

static bool is_listed(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

enum jl_status jl_check_idle(const struct jl_cli *cli, const struct jl_idle *rules, size_t n, struct jl_err *err)
{
	for (size_t i = 0; i < cli->args.n_given; i++) {
		const char *name = cli->args.given[i].option->name;

		if (find_in(jl_global_options, name, strlen(name)))
			continue;
		for (const struct jl_idle *r = rules; r < rules + n; r++)
			if (r->when && is_listed(r->options, name) != r->but)
				return r->with ? jl_fail(err, JL_E_USAGE, "--%s has no effect here; it is for {%s}",
							 name, r->with)
					       : jl_fail(err, JL_E_USAGE, "--%s has no effect with {%s}; leave it out",
							 name, r->beside);
	}
	return JL_OK;
}

const struct jl_given *jl_given(const struct jl_cli *cli, const char *name)
{
	return given_in(&cli->args, name);
}

const struct jl_given *jl_given_next(const struct jl_cli *cli, const char *name, const struct jl_given *before)
{
	const struct jl_given *const end = cli->args.given + cli->args.n_given;

	for (const struct jl_given *g = before ? before + 1 : cli->args.given; g < end; g++)
		if (strcmp(g->option->name, name) == 0)
			return g;
	return NULL;
}

double jl_value(const struct jl_cli *cli, const char *name)
{
	const struct jl_given *given = jl_given(cli, name);

	return given ? given->value : NAN;
}

double jl_count(const struct jl_cli *cli, const char *name)
{
	const struct jl_given *given = jl_given(cli, name);

	return given ? (double)given->count : NAN;
}

long long jl_whole(const struct jl_cli *cli, const char *name, long long instead)
{
	const struct jl_given *given = jl_given(cli, name);

	return given ? given->count : instead;
}

bool jl_flag(const struct jl_cli *cli, const char *name)
{
	return jl_given(cli, name) != NULL;
}

const char *jl_text(const struct jl_cli *cli, const char *name)
{
	const struct jl_given *given = jl_given(cli, name);

	return given ? given->text : NULL;
}

int jl_chosen(const struct jl_cli *cli, const char *name, const char *const *list)
{
	const char *text = jl_text(cli, name);

	for (int i = 0; text && list[i]; i++)
		if (strcmp(list[i], text) == 0)
			return i;
	return -1;
}

void jl_read_options(void *into, const char *of, const struct jl_cli *cli)
{
	for (const struct jl_given *g = cli->args.given; g < cli->args.given + cli->args.n_given; g++) {
		const struct jl_option *o = g->option;
		void *at = (char *)into + o->at;

		if (!o->into || strcmp(o->into, of) != 0)
			continue;
		switch (o->type) {
		case JL_OPT_FLAG: *(bool *)at = true; break;
		case JL_OPT_TEXT: *(const char **)at = g->text; break;
		case JL_OPT_QUANTITY: *(double *)at = g->value; break;
		case JL_OPT_CHOICE: *(int *)at = jl_chosen(cli, o->name, o->choices); break;
		case JL_OPT_COUNT:
			if (o->whole)
				*(int *)at = (int)g->count;
			else
				*(double *)at = (double)g->count;
		}
	}
}
