/* The main program: finds the command, loads what it requires, prints its output. */
#include "cli/command.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/mem.h"
#include "catalog/names.h"
#include "cli/this_machine.h"
#include "comm/confine.h"

#define OUT_MAX_B ((size_t)64 << 20)
#define STEPS_MAX 1000000000000u /* budget of a command in steps: eleven days of one thread */
#define BYTES_MAX ((unsigned long long)8 << 30)

static const struct jl_language *lang_from_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

	for (size_t i = 0; i < JL_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return jl_lang_find(value);
	}
	return NULL;
}

/* JEOUL_TODAY=2026-11-15 fixes the date for tests of price ages. */
long jl_cli_today(void)
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

/* Finds the command in the first words of argv; `ret_n`: number of words. */
static const struct jl_command *find_command(int argc, char **argv, int *ret_n)
{
	for (const struct jl_command *c = jl_commands; c->name; c++) {
		const char *blank = strchr(c->name, ' ');

		*ret_n = blank ? 2 : 1;
		if (blank ? argc > 1 && jl_command_in(c, argv[0]) && strcmp(argv[1], blank + 1) == 0
			  : jl_command_is(c, argv[0]))
			return c;
	}
	return NULL;
}

static enum jl_status unknown_command(const char *word, const char *group, struct jl_err *err)
{
	const char *names[64] = { NULL };
	char first_words[64][24];
	size_t n = 0, skip = group ? strlen(group) + 1 : 0;
	const char *nearest;

	for (const struct jl_command *c = jl_commands; c->name && n < 64; c++) {
		if (group && jl_command_in(c, group)) {
			names[n++] = c->name + skip;
		} else if (!group) {
			snprintf(first_words[n], sizeof(first_words[n]), "%.*s", (int)strcspn(c->name, " "), c->name);
			names[n] = first_words[n];
			n++;
		}
	}
	nearest = jl_nearest_name(word, names, n);
	if (nearest && group)
		return jl_fail(err, JL_E_USAGE, "'%s %s' is not a command; did you mean 'jeoul %s %s'?", group, word,
			       group, nearest);
	if (nearest)
		return jl_fail(err, JL_E_USAGE, "'%s' is not a command; did you mean 'jeoul %s'?", word, nearest);
	return jl_fail(err, JL_E_USAGE, "'%s' is not a command; 'jeoul help' lists them", word);
}

size_t jl_overlay_dirs(const char *ret_dirs[JL_OVERLAYS_MAX], struct jl_cli *cli)
{
	size_t n = 0;
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *own = NULL;
	struct stat info;

	/* relative paths must be ignored: they would depend on the current folder */
	if (config && *config == '/')
		own = jl_arena_printf(&cli->arena, "%s/jeoul/catalog", config);
	else if (home && *home == '/')
		own = jl_arena_printf(&cli->arena, "%s/.config/jeoul/catalog", home);
	if (own && stat(own, &info) == 0)
		ret_dirs[n++] = own;
	for (const struct jl_given *g = NULL; (g = jl_given_next(cli, "catalog", g));)
		ret_dirs[n++] = g->text;
	return n;
}

static enum jl_status load_catalog(struct jl_cli *cli, struct jl_err *err)
{
	const char *dirs[JL_OVERLAYS_MAX];
	char written[96], meant[64];
	struct jl_catalog *dated = jl_arena_alloc(&cli->arena, sizeof(*dated));
	struct jl_readings *readings = jl_arena_alloc(&cli->arena, sizeof(*readings));
	enum jl_status status = dated && readings ? JL_OK : jl_fail_nomem(err);

	JL_THEN(status,
		!cli->cat ? jl_catalog_overlay(&cli->cat, dirs, jl_overlay_dirs(dirs, cli), &cli->arena, err) : JL_OK);
	if (status)
		return jl_fail_in_file(err, status);
	*dated = *cli->cat;
	*readings = (struct jl_readings){ 0 };
	dated->today = cli->today;
	dated->hypothetical = jl_flag(cli, "hypothetical");
	dated->readings = readings;
	cli->cat = dated;
	for (const struct jl_given *g = cli->args.given; g < cli->args.given + cli->args.n_given; g++)
		if (jl_given_bare_usd(g)) {
			snprintf(written, sizeof(written), "--%s %.40s", g->option->name, g->text);
			snprintf(meant, sizeof(meant), "%.40s USD", g->text);
			jl_reading_add(dated, written, meant, "");
		}
	return JL_OK;
}

static enum jl_status prepare(struct jl_cli *cli, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	if (cli->command->needs & JL_NEED_CATALOG) {
		status = load_catalog(cli, err);
		JL_THEN(status, jl_this_machine_args(cli, err));
	}
	return status;
}

const struct jl_front jl_cli_front = { .commands = jl_commands, .askable = jl_askable, .prepare = prepare };

static void apply_globals(struct jl_cli *cli)
{
	if (jl_text(cli, "lang"))
		jl_lang_set_default(jl_lang_find(jl_text(cli, "lang")));
	cli->json = jl_flag(cli, "json");
	if (jl_flag(cli, "no-color"))
		cli->color = false;
}

/* Sets the language before parsing, so that parse errors are in it too. */
static void early_lang(int argc, char **argv)
{
	for (int i = 0; i < argc && argv[i]; i++) {
		const char *value = NULL;

		if (strncmp(argv[i], "--lang=", 7) == 0)
			value = argv[i] + 7;
		else if (strcmp(argv[i], "--lang") == 0 && i + 1 < argc)
			value = argv[i + 1];
		if (value && jl_lang_find(value))
			jl_lang_set_default(jl_lang_find(value));
	}
}

/* Moves the `n_before` options in front of the command behind it. */
static enum jl_status parse_args(struct jl_cli *cli, int argc, char **argv, int n_before, int n_words,
				 struct jl_err *err)
{
	int n_after = argc - n_before - n_words;
	char **all = jl_arena_array(&cli->arena, (size_t)(n_before + n_after) + 1, sizeof(*all));
	enum jl_status status;

	JL_TRY(jl_got(all, err));
	memcpy(all, argv, (size_t)n_before * sizeof(*all));
	memcpy(all + n_before, argv + n_before + n_words, (size_t)n_after * sizeof(*all));
	status = jl_args_parse(&cli->args, cli->command, n_before + n_after, all, err);
	if (!status)
		apply_globals(cli);
	return status;
}

/* Commands that read untrusted files and start no program are sandboxed from here on; bench, plan with mpirun and web do so themselves. */
static bool reads_strangers(const struct jl_command *command)
{
	static const char *const names[] = { "audit",     "build",  "check",   "compare",     "cost",
					     "fit",       "flops",  "goodput", "import",      "predict",
					     "recommend", "report", "serve",   "store import" };

	for (size_t i = 0; i < JL_LEN(names); i++)
		if (strcmp(command->name, names[i]) == 0)
			return true;
	return false;
}

/* Runs the command. Ctrl-C ends it at once: either no clean-up is needed or the command has its own handler. */
static enum jl_status run_within_budget(struct jl_cli *cli, struct jl_err *err)
{
	static struct jl_budget budget;
	enum jl_status status;

	jl_budget_init(&budget, STEPS_MAX, 0);
	(void)jl_budget_enter(&budget);
	budget.bytes_max = BYTES_MAX;
	status = prepare(cli, err);
	if (!status && reads_strangers(cli->command))
		jl_confine(JL_CONFINE_PROGRAMS);
	JL_THEN(status, cli->command->run(cli, err));
	if (atomic_load(&budget.end))
		status = jl_budget_fail(err);
	(void)jl_budget_enter(NULL);
	return status;
}

static enum jl_status run_command(struct jl_cli *cli, int argc_all, char **argv_all, int n_before, struct jl_err *err)
{
	int argc = argc_all - n_before, n_words = 0;
	char **argv = argv_all + n_before;

	cli->command = find_command(argc, argv, &n_words);
	if (!cli->command && jl_is_group(argv[0])) {
		bool help = argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;

		if (!help && argv[1][0] != '-')
			return unknown_command(argv[1], argv[0], err);
		jl_help_group(cli, argv[0]);
		cli->exit_code = argc < 2 ? 2 : 0;
		return JL_OK;
	}
	if (!cli->command)
		return unknown_command(argv[0], NULL, err);
	JL_TRY(parse_args(cli, argc_all, argv_all, n_before, n_words, err));
	if (jl_flag(cli, "help")) {
		jl_help_command(cli, cli->command);
		return JL_OK;
	}
	return run_within_budget(cli, err);
}

/* --version is accepted instead of a command, along with other global options. */
static bool asks_version(int argc, char **argv)
{
	for (int i = 0; i < argc && argv[i][0] == '-'; i++)
		if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0)
			return true;
	return false;
}

static enum jl_status dispatch(struct jl_cli *cli, int argc, char **argv, struct jl_err *err)
{
	bool help = false;
	int n_before = 0;

	for (int i = 0; i < argc && argv[i][0] == '-'; i++)
		cli->json |= strcmp(argv[i], "--json") == 0;
	if (asks_version(argc, argv)) {
		jl_version(cli);
		return JL_OK;
	}
	JL_TRY(jl_args_leading(&n_before, argc, argv, err));
	if (n_before < argc)
		return run_command(cli, argc, argv, n_before, err);
	for (int i = 0; i < n_before; i++)
		help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
	jl_help_first(cli);
	cli->exit_code = help ? 0 : 2;
	return JL_OK;
}

void jl_cli_flush(struct jl_cli *cli)
{
	if (cli->out.failed || cli->out.len == 0)
		return;
	/* a closed pipe or full disk is reported at the end */
	errno = 0;
	if ((fwrite(cli->out.data, 1, cli->out.len, stdout) != cli->out.len || fflush(stdout) != 0) && !cli->lost)
		cli->lost = errno ? errno : EIO;
	jl_buf_reset(&cli->out);
}

static int finish(struct jl_cli *cli, enum jl_status status, struct jl_err *err)
{
	if (status == JL_OK && (cli->out.failed || jl_mem_ran_out()))
		status = cli->out.failed != JL_E_LIMIT
				 ? jl_fail_nomem(err)
				 : jl_fail(err, JL_E_LIMIT, "the output is larger than %zu MB", OUT_MAX_B >> 20);
	if (cli->warn.len)
		fputs(jl_buf_text(&cli->warn), stderr);
	if (status) {
		fprintf(stderr, "jeoul: %s\n", err->text);
		err->status = status;
		return jl_err_is_usage(err) ? 2 : 1;
	}
	jl_cli_flush(cli);
	if (!cli->lost || cli->lost == EPIPE) /* EPIPE: the reader has stopped (head, less), not an error */
		return cli->exit_code;
	fprintf(stderr, "jeoul: %s: %s\n", JL_("the output could not be written"), jl_msg(strerror(cli->lost)));
	return 1;
}

/* Allocator for the JSON library, which aborts or truncates text if an allocation fails. Exits instead; output so far is as after a kill. */
static void *json_memory(size_t size)
{
	void *memory = malloc(size);
	struct jl_err err;

	if (memory)
		return memory;
	(void)jl_fail_nomem(&err);
	(void)dprintf(STDERR_FILENO, "jeoul: %s\n", err.text);
	_exit(1);
}

int jl_cli_main(int argc, char **argv)
{
	static struct jl_cli cli; /* large; one per process */
	struct jl_err err = { 0 };
	enum jl_status status;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	int code;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit becomes a failed write, which is reported */
	json_set_alloc_funcs(json_memory, free);
	jl_lang_set_default(lang_from_locale());
	cli = (struct jl_cli){ .width = terminal_width(), .today = jl_cli_today() };
	cli.color = isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
	jl_arena_init(&cli.arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&cli.out, OUT_MAX_B);
	jl_buf_init(&cli.warn, OUT_MAX_B);
	early_lang(argc - 1, argv + 1);
	status = dispatch(&cli, argc - 1, argv + 1, &err);
	code = finish(&cli, status, &err);
	jl_buf_release(&cli.out);
	jl_buf_release(&cli.warn);
	jl_arena_release(&cli.arena);
	return code;
}
