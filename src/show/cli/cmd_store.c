/* jeoul store: the store of measured and imported results. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/view.h"
#include "record/record.h"
#include "store/store.h"

#define LIST_ROWS    30
#define FLUSH_B      ((size_t)1 << 20)
#define IMPORT_BATCH 500

#define STORE_OPTION                                                                                                   \
	JL_O_TEXT("store", "PATH|URL", JL_N("which store (default: JEOUL_STORE, else the one in the data folder)"),    \
		  .local = true)
#define FILTER_OPTIONS                                                                                                 \
	JL_O_TEXT("kind", "KIND", JL_N("only gemm, memory, allreduce, train ...")),                                    \
		JL_O_TEXT("machine", "NAME", JL_N("only of this machine")),                                            \
		JL_O_TEXT("run", "ID", JL_N("only of this run")),                                                      \
		JL_O_TEXT("since", "DATE|AGE", JL_N("from a day on (2026-11-01), or not older (7 d)"))

const struct jl_option jl_store_list_options[] = {
	FILTER_OPTIONS,
	JL_O_COUNT("limit", "N", 1, JL_STORE_LIST_MAX, JL_N("how many (default: 30)")),
	STORE_OPTION,
	{ 0 },
};
const struct jl_option jl_store_export_options[] = { FILTER_OPTIONS, STORE_OPTION, { 0 } };
const struct jl_option jl_store_plain_options[] = { STORE_OPTION, { 0 } };
const struct jl_option jl_store_note_options[] = { JL_O_FLAG("remove", JL_N("take the note away")),
						   STORE_OPTION,
						   { 0 } };

static enum jl_status open_store(struct jl_store **ret_store, struct jl_cli *cli, struct jl_err *err)
{
	return jl_store_open_to_read(ret_store, jl_text(cli, "store"), err);
}

static enum jl_status read_since(double *ret_s, const struct jl_cli *cli, struct jl_err *err)
{
	const char *text = jl_text(cli, "since");
	double age_s;
	long day;

	*ret_s = 0;
	if (!text)
		return JL_OK;
	if (jl_date_parse(&day, text, NULL) == JL_OK) {
		*ret_s = (double)day * 86400;
		return JL_OK;
	}
	if (jl_units_parse(&age_s, text, JL_K_TIME, "--since", NULL) != JL_OK || !(age_s >= 0))
		return jl_fail(err, JL_E_USAGE, "--since: '%s' is neither a date (2026-11-01) nor an age (7 d, 3 h)",
			       text);
	*ret_s = fmax(0, jl_record_now_s() - age_s);
	return JL_OK;
}

static enum jl_status read_filter(struct jl_store_filter *ret_filter, const struct jl_cli *cli, struct jl_err *err)
{
	*ret_filter = (struct jl_store_filter){ .kind = jl_text(cli, "kind"),
						.machine = jl_text(cli, "machine"),
						.run = jl_text(cli, "run") };
	return read_since(&ret_filter->since_s, cli, err);
}

struct listing {
	struct jl_cli *cli;
	struct jl_doc doc;
	size_t n, limit;
};

static enum jl_status list_row(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	struct listing *l = ctx;
	struct jl_record r;
	struct jl_arena arena;
	enum jl_status status;

	if (l->n++ >= l->limit)
		return JL_OK;
	if (l->cli->json) {
		jl_buf_puts(&l->cli->out, l->n > 1 ? ",\n" : "\n");
		jl_buf_add(&l->cli->out, line, len);
		return JL_OK;
	}
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	status = jl_record_read(line, len, &arena, &r, err);
	if (!status)
		jl_show_stored_row(&l->doc, &r);
	jl_arena_release(&arena);
	return status;
}

static enum jl_status list(struct jl_cli *cli, struct jl_store *store, struct jl_store_filter *filter,
			   struct jl_err *err)
{
	struct listing l = { .cli = cli, .limit = (size_t)jl_whole(cli, "limit", LIST_ROWS) };
	enum jl_status status;
	size_t n_all = 0;

	jl_view_page(cli, &l.doc);
	jl_show_stored_table(&l.doc);
	filter->limit = l.limit + 1; /* one more, to detect that there are more */
	status = jl_store_each(store, filter, list_row, &l, err);
	JL_THEN(status, jl_store_count(store, &n_all, err));
	if (status || cli->json)
		return status;
	if (l.n == 0) {
		jl_buf_printf(&cli->out,
			      n_all ? JL_("nothing fits; %zu results are in %s\n")
				    : JL_("no results yet (%zu) in %s\n"),
			      n_all, jl_store_where(store));
		return JL_OK;
	}
	jl_show_note(&l.doc, NULL, JL_ORIGIN_NONE, JL_("%zu of %zu in %s%s"), l.n > l.limit ? l.limit : l.n, n_all,
		     jl_store_where(store), l.n > l.limit ? JL_("; --limit shows more") : "");
	return jl_view_show(cli, &l.doc, err);
}

enum jl_status jl_cmd_store_list(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_store_filter filter;
	struct jl_store *store = NULL;
	enum jl_status status = JL_OK;

	JL_TRY(read_filter(&filter, cli, err));
	JL_TRY(open_store(&store, cli, err));
	if (cli->json) {
		const struct jl_err *why = NULL;
		const char *file = NULL;
		const size_t n = jl_store_refused(store, &file, &why);
		struct jl_json json;

		jl_json_init(&json, &cli->out, false);
		jl_json_pack(&json, "{store:s n_waiting:z n_sent:z n_refused:z refused_file?s refused_why?s records:[",
			     jl_store_where(store), jl_store_waiting(store), jl_store_sent(store), n, n ? file : NULL,
			     n && why ? why->en : NULL);
	} else if (!jl_store_offline(store)) {
		jl_view_spool(cli, store);
	}
	status = list(cli, store, &filter, err);
	jl_view_damaged(cli, store);
	if (cli->json)
		jl_buf_puts(&cli->out, "\n]}\n");
	jl_store_close(store);
	return status;
}

/* ---- show, note, delete */

enum jl_status jl_cmd_store_show(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_store *store = NULL;
	struct jl_record record;
	struct jl_doc doc;
	enum jl_status status = open_store(&store, cli, err);

	JL_THEN(status, jl_store_get(store, cli->args.operands[0], &cli->arena, &record, err));
	if (!status && cli->json) {
		jl_record_write(&record, &cli->out);
		jl_buf_putc(&cli->out, '\n');
	} else if (!status) {
		jl_view_page(cli, &doc);
		jl_show_record(&doc, &record);
		status = jl_view_show(cli, &doc, err);
	}
	jl_store_close(store);
	return status;
}

static void say_done(struct jl_cli *cli, const char *key, size_t n, const char *en)
{
	if (cli->json)
		jl_buf_printf(&cli->out, "{\"%s\": %zu}\n", key, n);
	else
		jl_buf_printf(&cli->out, "%zu %s\n", n, jl_msg(en));
}

enum jl_status jl_cmd_store_note(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_store *store = NULL;
	bool remove = jl_flag(cli, "remove");
	const char *note = cli->args.n_operands > 1 ? cli->args.operands[1] : NULL;
	enum jl_status status;

	if (remove == (note != NULL))
		return jl_fail(err, JL_E_USAGE,
			       "write a text, or --remove: jeoul store note ID \"after the BIOS update\"");
	if (note && !jl_utf8_valid(note, strlen(note), NULL))
		return jl_fail(err, JL_E_USAGE, "the note is not UTF-8");
	status = open_store(&store, cli, err);
	JL_THEN(status, jl_store_note(store, cli->args.operands[0], note, err));
	jl_store_close(store);
	if (!status)
		say_done(cli, "n_changed", 1, JL_N("record changed"));
	return status;
}

enum jl_status jl_cmd_store_delete(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_store *store = NULL;
	size_t n = 0;
	enum jl_status status = open_store(&store, cli, err);

	for (; n < cli->args.n_operands && !status; n++)
		status = jl_store_delete(store, cli->args.operands[n], err);
	jl_store_close(store);
	if (!status)
		say_done(cli, "n_deleted", n, JL_N("deleted"));
	return status;
}

/* ---- export, import, merge */

static enum jl_status put_line(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	struct jl_cli *cli = ctx;

	(void)err;
	jl_buf_add(&cli->out, line, len);
	jl_buf_putc(&cli->out, '\n');
	if (cli->out.len > FLUSH_B)
		jl_cli_flush(cli);
	return JL_OK;
}

enum jl_status jl_cmd_store_export(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_store_filter filter;
	struct jl_store *store = NULL;
	enum jl_status status = read_filter(&filter, cli, err);

	JL_THEN(status, open_store(&store, cli, err));
	filter.oldest_first = true;
	JL_THEN(status, jl_store_each(store, &filter, put_line, cli, err));
	jl_view_damaged(cli, store);
	jl_store_close(store);
	return status;
}

struct import {
	struct jl_store *store;
	const char *name;
	size_t line, n_open;
};

static enum jl_status import_line(struct import *im, const char *line, size_t len, struct jl_err *err)
{
	struct jl_store_taken taken;
	struct jl_err why;
	enum jl_status status = JL_OK;

	if (im->n_open == 0)
		JL_TRY(jl_store_begin(im->store, err));
	im->n_open++;
	status = jl_store_put_line(im->store, line, len, NULL, &why);
	if (status) {
		/* lines before the error are stored; the corrected file may be imported again */
		if (jl_store_end(im->store, err))
			return JL_E_IO;
		taken = jl_store_taken(im->store);
		return jl_fail_from(err, status, &(struct jl_where){ .file = im->name, .line = im->line }, &why,
				    JL_N("{} (%zu records before it were stored)"),
				    taken.n[JL_STORE_NEW] + taken.n[JL_STORE_KNOWN]);
	}
	if (im->n_open == IMPORT_BATCH) {
		im->n_open = 0;
		status = jl_store_end(im->store, err);
	}
	return status;
}

/* Reads up to the end of the line or to `room` bytes; false: end of file. */
static bool next_line(FILE *file, char *line, size_t room, size_t *ret_len)
{
	int c = EOF;

	for (*ret_len = 0; *ret_len < room && (c = getc_unlocked(file)) != EOF && c != '\n';)
		line[(*ret_len)++] = (char)c;
	return c != EOF || *ret_len;
}

static enum jl_status import_lines(struct import *im, FILE *file, struct jl_err *err)
{
	char *line = jl_realloc(NULL, JL_RECORD_TEXT_MAX_B + 1);
	enum jl_status status = jl_got(line, err);
	size_t n;

	while (!status && next_line(file, line, JL_RECORD_TEXT_MAX_B + 1, &n)) {
		im->line++;
		while (n && (line[n - 1] == '\r' || line[n - 1] == ' '))
			n--;
		if (n)
			status = import_line(im, line, n, err);
	}
	jl_free(line);
	if (status || !ferror(file))
		return status;
	JL_TRY(jl_store_end(im->store, err));
	return jl_fail_at(err, JL_E_IO, &(struct jl_where){ .file = im->name, .line = im->line + 1 },
			  JL_N("cannot be read: {%s} (%zu records before it were stored)"), strerror(errno),
			  jl_store_taken(im->store).n[JL_STORE_NEW] + jl_store_taken(im->store).n[JL_STORE_KNOWN]);
}

/* Prints the numbers of records stored, waiting in the spool, and refused by the server. */
static void say_taken(struct jl_cli *cli, const struct jl_store *store)
{
	const struct jl_store_taken taken = jl_store_taken(store);
	const size_t *n = taken.n;

	if (cli->json) {
		jl_buf_printf(&cli->out, "{\"n_new\": %zu, \"n_known\": %zu, \"n_waiting\": %zu, \"n_refused\": %zu}\n",
			      n[JL_STORE_NEW], n[JL_STORE_KNOWN], n[JL_STORE_SPOOLED], n[JL_STORE_REFUSED]);
	} else {
		jl_buf_printf(&cli->out, JL_("%zu new, %zu were there already"), n[JL_STORE_NEW], n[JL_STORE_KNOWN]);
		if (n[JL_STORE_SPOOLED])
			jl_buf_printf(&cli->out, JL_(", %zu wait"), n[JL_STORE_SPOOLED]);
		if (n[JL_STORE_REFUSED])
			jl_buf_printf(&cli->out, JL_(", %zu refused"), n[JL_STORE_REFUSED]);
		jl_buf_printf(&cli->out, ": %s\n", jl_store_where(store));
	}
	if (n[JL_STORE_REFUSED])
		cli->exit_code = 1;
	jl_view_spool(cli, store);
}

enum jl_status jl_cmd_store_import(struct jl_cli *cli, struct jl_err *err)
{
	const char *path = cli->args.operands[0];
	bool is_stdin = strcmp(path, "-") == 0;
	struct import im = { .name = is_stdin ? "-" : path };
	enum jl_status status;
	FILE *file;
	int fd = STDIN_FILENO;

	if (!is_stdin)
		JL_TRY(jl_input_open(&fd, path, err));
	file = is_stdin ? stdin : fdopen(fd, "rb");
	JL_TRY(jl_got(file, err));
	status = jl_store_open(&im.store, jl_text(cli, "store"), err);
	JL_THEN(status, import_lines(&im, file, err));
	JL_THEN(status, jl_store_end(im.store, err));
	if (!status)
		say_taken(cli, im.store);
	jl_store_close(im.store);
	if (!is_stdin)
		fclose(file);
	return status;
}

enum jl_status jl_cmd_store_merge(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_store *into = NULL, *from = NULL;
	enum jl_status status = jl_store_open_existing(&from, cli->args.operands[0], err);

	JL_THEN(status, jl_store_open(&into, jl_text(cli, "store"), err));
	JL_THEN(status, jl_store_merge(into, from, err));
	if (!status) {
		say_taken(cli, into);
		jl_view_damaged(cli, from);
	}
	jl_store_close(into);
	jl_store_close(from);
	return status;
}
