/* jeoul import: converts output of other tools to records. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "cli/view.h"
#include "import/import.h"
#include "record/record.h"
#include "store/store.h"

#define ROWS_SHOWN 16
#define BATCH      500
#define FLUSH_B    ((size_t)1 << 20)

const struct jl_option jl_import_command_options[] = {
	JL_O_FLAG("dry-run", JL_N("show what would be stored"), .letter = 'n'),
	JL_O_TEXT("pattern", "FORM", JL_N("form of the lines of a training log: 'step {step} loss {*} {step_s} s'")),
	JL_O_CHOICE("kind", "allreduce|allgather|reducescatter|broadcast|reduce|alltoall|sendrecv|gather|scatter",
		    jl_import_collectives, JL_N("which collective it is, where the output does not say")),
	JL_O_TEXT("machine", "NAME", JL_N("machine of the results")),
	JL_O_TEXT("note", "TEXT", JL_N("a note for all of them")),
	JL_O_TEXT("store", "PATH|URL", JL_N("which store (default: JEOUL_STORE, else the one in the data folder)")),
	{ 0 },
};

struct job {
	struct jl_cli *cli;
	struct jl_store *store; /* NULL: nothing is stored */
	struct jl_doc doc;
	struct jl_buf remarks;
	struct jl_store_taken taken; /* of this file */
	size_t n_shown, n_open, n_json;
};

static enum jl_status keep(struct job *job, const struct jl_record *record, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	if (job->n_open == 0)
		status = jl_store_begin(job->store, err);
	JL_THEN(status, jl_store_put(job->store, record, NULL, err));
	if (status)
		return status;
	if (++job->n_open == BATCH) {
		job->n_open = 0;
		status = jl_store_end(job->store, err);
	}
	return status;
}

static void show(struct job *job, const struct jl_record *r)
{
	if (job->cli->json) {
		jl_buf_puts(&job->cli->out, job->n_json++ ? ",\n" : "\n");
		jl_record_write(r, &job->cli->out);
		if (job->cli->out.len > FLUSH_B)
			jl_cli_flush(job->cli);
		return;
	}
	if (++job->n_shown <= ROWS_SHOWN)
		jl_show_imported_row(&job->doc, r);
}

static enum jl_status take_record(void *ctx, const struct jl_record *record, struct jl_err *err)
{
	struct job *job = ctx;

	show(job, record);
	return job->store ? keep(job, record, err) : JL_OK;
}

static void take_remark(void *ctx, size_t line, const char *text)
{
	struct job *job = ctx;

	if (line)
		jl_buf_printf(&job->remarks, JL_("  ⚠ line %zu: %s\n"), line, text);
	else
		jl_buf_printf(&job->remarks, "  ⚠ %s\n", text);
}

static void say(struct job *job, const char *path, const struct jl_import_count *count)
{
	struct jl_cli *cli = job->cli;
	struct jl_buf *out = &cli->out;
	const size_t *n = job->taken.n;

	jl_buf_printf(out, "%s · ", strcmp(path, "-") == 0 ? JL_("standard input") : path);
	for (size_t i = 0; i < count->n_formats; i++)
		jl_buf_printf(out, "%s%s", i ? ", " : "", count->formats[i]);
	if (count->n_records == 1)
		jl_buf_puts(out, JL_(" · 1 result"));
	else
		jl_buf_printf(out, JL_(" · %zu results"), count->n_records);
	if (!job->store)
		jl_buf_puts(out, JL_(", not stored (--dry-run)"));
	else if (n[JL_STORE_KNOWN] + n[JL_STORE_SPOOLED] + n[JL_STORE_REFUSED] == 0)
		jl_buf_puts(out, JL_(", stored"));
	else
		jl_buf_printf(out, JL_(", %zu new, %zu known"), n[JL_STORE_NEW], n[JL_STORE_KNOWN]);
	if (n[JL_STORE_SPOOLED])
		jl_buf_printf(out, JL_(", %zu wait"), n[JL_STORE_SPOOLED]);
	if (n[JL_STORE_REFUSED])
		jl_buf_printf(out, JL_(", %zu refused"), n[JL_STORE_REFUSED]);
	jl_buf_puts(out, "\n\n");
}

static void json_file(struct job *job, const char *path, const struct jl_import_count *count, struct jl_buf *files)
{
	struct jl_json json;

	if (files->len)
		jl_buf_puts(files, ", ");
	jl_json_init(&json, files, false);
	jl_json_pack(&json, "{file:s formats:[", path);
	for (size_t i = 0; i < count->n_formats; i++)
		jl_json_string(&json, count->formats[i]);
	jl_json_pack(&json,
		     "] n_lines:z size_B:f n_records:z n_dropped:z stored:b n_new:z n_known:z n_waiting:z n_refused:z}",
		     count->n_lines, count->size_B, count->n_records, count->n_dropped, job->store != NULL,
		     job->taken.n[JL_STORE_NEW], job->taken.n[JL_STORE_KNOWN], job->taken.n[JL_STORE_SPOOLED],
		     job->taken.n[JL_STORE_REFUSED]);
}

static enum jl_status one_file(struct job *job, const char *path, struct jl_buf *files, struct jl_err *err)
{
	struct jl_cli *cli = job->cli;
	const struct jl_import_options options = { .time_s = NAN,
						   .kind = jl_text(cli, "kind"),
						   .pattern = jl_text(cli, "pattern"),
						   .machine_name = jl_text(cli, "machine"),
						   .note = jl_text(cli, "note") };
	const struct jl_import_sink sink = { .record = take_record, .remark = take_remark, .ctx = job };
	struct jl_import_count count;
	enum jl_status status;

	struct jl_store_taken before = { 0 };

	if (job->store)
		before = jl_store_taken(job->store);
	job->n_shown = job->n_open = 0;
	jl_buf_reset(&job->remarks);
	jl_view_page(cli, &job->doc);
	jl_show_imported_table(&job->doc);
	status = jl_import_file(path, &options, &sink, &count, err);
	JL_THEN(status, job->store ? jl_store_end(job->store, err) : JL_OK);
	for (int i = 0; i < JL_N_STORE_KEPT && job->store; i++)
		job->taken.n[i] = jl_store_taken(job->store).n[i] - before.n[i];
	if (job->taken.n[JL_STORE_REFUSED])
		cli->exit_code = 1;
	if (!status && cli->json)
		json_file(job, path, &count, files);
	if (!status && !cli->json) {
		say(job, path, &count);
		status = jl_view_show(cli, &job->doc, err);
		if (job->n_shown > ROWS_SHOWN)
			jl_buf_printf(&cli->out, JL_("  ... and %zu more\n"), job->n_shown - ROWS_SHOWN);
		jl_buf_puts(&cli->out, jl_buf_text(&job->remarks));
	} else {
		jl_buf_puts(&cli->warn, jl_buf_text(&job->remarks));
	}
	return status;
}

enum jl_status jl_cmd_import(struct jl_cli *cli, struct jl_err *err)
{
	struct job job = { .cli = cli };
	struct jl_buf files;
	enum jl_status status = JL_OK;

	jl_buf_init(&files, FLUSH_B);
	jl_buf_init(&job.remarks, FLUSH_B);
	if (!jl_flag(cli, "dry-run"))
		status = jl_store_open(&job.store, jl_text(cli, "store"), err);
	if (!status && cli->json)
		jl_buf_puts(&cli->out, "{\"records\": [");
	for (size_t i = 0; i < cli->args.n_operands && !status; i++) {
		if (i && !cli->json)
			jl_buf_putc(&cli->out, '\n');
		status = one_file(&job, cli->args.operands[i], &files, err);
	}
	if (!status && cli->json)
		jl_buf_printf(&cli->out, "\n], \"files\": [%s]}\n", jl_buf_text(&files));
	if (!status && job.store)
		jl_view_spool(cli, job.store);
	jl_store_close(job.store);
	jl_buf_release(&job.remarks);
	jl_buf_release(&files);
	return status;
}
