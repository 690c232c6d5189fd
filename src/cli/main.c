/* The front door: finds the command, loads what it needs, prints what it says. */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OUT_MAX_B ((size_t)64 << 20)

static enum jl_lang lang_from_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strncmp(value, "ko", 2) == 0 ? JL_KO : JL_EN;
	}
	return JL_EN;
}

/* JEOUL_TODAY=2026-11-15 fixes the date, so that ages of prices can be tested. */
static long today(void)
{
	const char *fixed = getenv("JEOUL_TODAY");
	long day;

	if (fixed && jl_date_parse(&day, fixed, NULL) == JL_OK)
		return day;
	return (long)(time(NULL) / 86400);
}

static size_t terminal_width(void)
{
	struct winsize size;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

/* The command whose words argv begins with; `ret_n` is how many words it has. */
static const struct jl_command *find_command(int argc, char **argv, int *ret_n)
{
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		const char *blank = strchr(c->name, ' ');
		size_t len = blank ? (size_t)(blank - c->name) : strlen(c->name);

		if (strlen(argv[0]) != len || strncmp(argv[0], c->name, len) != 0)
			continue;
		if (!blank) {
			*ret_n = 1;
			return c;
		}
		if (argc > 1 && strcmp(argv[1], blank + 1) == 0) {
			*ret_n = 2;
			return c;
		}
	}
	return NULL;
}

static bool is_group(const char *word)
{
	size_t len = strlen(word);

	for (const struct jl_command *c = jl_commands; c->name; c++)
		if (strncmp(c->name, word, len) == 0 && c->name[len] == ' ')
			return true;
	return false;
}

static enum jl_status unknown_command(const char *word, const char *group, struct jl_err *err)
{
	const char *names[64] = { NULL };
	char first_words[64][24];
	size_t n = 0, skip = group ? strlen(group) + 1 : 0;
	const char *nearest;

	for (const struct jl_command *c = jl_commands; c->name && n < 64; c++) {
		if (group && strncmp(c->name, group, skip - 1) == 0 && c->name[skip - 1] == ' ') {
			names[n++] = c->name + skip;
		} else if (!group) {
			snprintf(first_words[n], sizeof(first_words[n]), "%.*s", (int)strcspn(c->name, " "), c->name);
			names[n] = first_words[n];
			n++;
		}
	}
	nearest = jl_nearest_name(word, names, n);
	if (nearest && group)
		return jl_fail(err, JL_E_USAGE, "'%s %s' is not a command; did you mean 'jeoul %s %s'?",
			       "'%s %s' 명령은 없습니다. 'jeoul %s %s'인가요?", group, word, group, nearest);
	if (nearest)
		return jl_fail(err, JL_E_USAGE, "'%s' is not a command; did you mean 'jeoul %s'?",
			       "'%s' 명령은 없습니다. 'jeoul %s'인가요?", word, nearest);
	return jl_fail(err, JL_E_USAGE, "'%s' is not a command; 'jeoul help' lists them",
		       "'%s' 명령은 없습니다. 목록: 'jeoul help'", word);
}

static enum jl_status load_catalog(struct jl_cli *cli, struct jl_err *err)
{
	const char *dirs[JL_GIVEN_MAX + 1];
	size_t n = 0;
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *own = NULL;
	struct stat info;

	if (config && *config)
		own = jl_arena_printf(&cli->arena, "%s/jeoul/catalog", config);
	else if (home && *home)
		own = jl_arena_printf(&cli->arena, "%s/.config/jeoul/catalog", home);
	if (own && stat(own, &info) == 0)
		dirs[n++] = own;
	for (size_t i = 0; i < cli->args.n_given; i++)
		if (strcmp(cli->args.given[i].option->name, "catalog") == 0)
			dirs[n++] = cli->args.given[i].text;
	if (n == 0) {
		cli->cat = jl_catalog_embedded();
		return JL_OK;
	}
	return jl_catalog_overlay(&cli->cat, dirs, n, &cli->arena, err);
}

static void apply_globals(struct jl_cli *cli)
{
	const char *lang = jl_text(cli, "lang");

	if (lang)
		cli->lang = strcmp(lang, "ko") == 0 ? JL_KO : JL_EN;
	cli->json = jl_flag(cli, "json");
	if (jl_flag(cli, "no-color"))
		cli->color = false;
}

/* Also where parsing stops at an error: the message should come in the language that was asked for. */
static void early_lang(struct jl_cli *cli, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char *value = NULL;

		if (strncmp(argv[i], "--lang=", 7) == 0)
			value = argv[i] + 7;
		else if (strcmp(argv[i], "--lang") == 0 && i + 1 < argc)
			value = argv[i + 1];
		if (value && (strcmp(value, "ko") == 0 || strcmp(value, "en") == 0))
			cli->lang = strcmp(value, "ko") == 0 ? JL_KO : JL_EN;
	}
}

static enum jl_status run_command(struct jl_cli *cli, int argc, char **argv, struct jl_err *err)
{
	int n_words = 0;
	enum jl_status status;

	cli->command = find_command(argc, argv, &n_words);
	if (!cli->command && is_group(argv[0])) {
		bool help = argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;

		if (!help && argv[1][0] != '-')
			return unknown_command(argv[1], argv[0], err);
		jl_help_group(&cli->out, argv[0], cli->lang);
		cli->exit_code = argc < 2 ? 2 : 0;
		return JL_OK;
	}
	if (!cli->command)
		return unknown_command(argv[0], NULL, err);
	status = jl_args_parse(&cli->args, cli->command, argc - n_words, argv + n_words, err);
	if (status)
		return status;
	apply_globals(cli);
	if (jl_flag(cli, "help")) {
		jl_help_command(&cli->out, cli->command, cli->lang);
		return JL_OK;
	}
	if (cli->command->needs & JL_NEED_CATALOG) {
		status = load_catalog(cli, err);
		if (status)
			return status;
	}
	return cli->command->run(cli, err);
}

static enum jl_status dispatch(struct jl_cli *cli, int argc, char **argv, struct jl_err *err)
{
	/* Options before the command are the global ones; put them behind it. */
	if (argc > 0 && (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0)) {
		jl_version(&cli->out, cli->lang);
		return JL_OK;
	}
	if (argc == 0 || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
		jl_help_all(&cli->out, cli->lang);
		cli->exit_code = argc == 0 ? 2 : 0;
		return JL_OK;
	}
	if (argv[0][0] == '-')
		return jl_fail(err, JL_E_USAGE, "'%s' comes before the command; write it behind: jeoul COMMAND %s",
			       "'%s'이(가) 명령 앞에 있습니다. 뒤에 쓰세요: jeoul 명령 %s", argv[0], argv[0]);
	return run_command(cli, argc, argv, err);
}

static int finish(struct jl_cli *cli, enum jl_status status, struct jl_err *err)
{
	if (status == JL_OK && cli->out.failed)
		status = cli->out.failed == JL_E_NOMEM ? jl_fail_nomem(err)
						       : jl_fail(err, JL_E_LIMIT, "the output is larger than %zu MB",
								 "출력이 %zu MB를 넘습니다", OUT_MAX_B >> 20);
	if (cli->warn.len)
		fputs(jl_buf_text(&cli->warn), stderr);
	if (status) {
		fprintf(stderr, "jeoul: %s\n", jl_err_text(err, cli->lang));
		return status == JL_E_USAGE ? 2 : 1;
	}
	if (cli->out.len && fwrite(cli->out.data, 1, cli->out.len, stdout) != cli->out.len)
		goto lost;
	if (fflush(stdout) != 0)
		goto lost;
	return cli->exit_code;
lost:
	if (errno != EPIPE) /* a reader that has seen enough (head, less) is no error */
		fprintf(stderr, "jeoul: %s: %s\n",
			JL_T(cli->lang, "the output could not be written", "출력할 수 없습니다"), strerror(errno));
	return errno == EPIPE ? cli->exit_code : 1;
}

int jl_cli_main(int argc, char **argv)
{
	static struct jl_cli cli; /* large; one per process */
	struct jl_err err = { 0 };
	enum jl_status status;
	const char *no_color = getenv("NO_COLOR");
	int code;

	signal(SIGPIPE, SIG_IGN);
	cli = (struct jl_cli){ .lang = lang_from_locale(), .width = terminal_width(), .today = today() };
	cli.color = isatty(STDOUT_FILENO) && !(no_color && *no_color);
	jl_arena_init(&cli.arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&cli.out, OUT_MAX_B);
	jl_buf_init(&cli.warn, OUT_MAX_B);
	early_lang(&cli, argc - 1, argv + 1);
	status = dispatch(&cli, argc - 1, argv + 1, &err);
	code = finish(&cli, status, &err);
	jl_buf_release(&cli.out);
	jl_buf_release(&cli.warn);
	jl_arena_release(&cli.arena);
	return code;
}
