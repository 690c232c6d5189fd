/* jeoul report: a document on a scenario, or on this machine from stored results. */
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "report/report.h"
#include "store/store.h"

#define RECORDS_MAX  2000
#define REPORT_MAX_B ((size_t)64 << 20)
#define FILE_MAX_B   ((size_t)64 << 20)

static const char *const formats[] = { "text", "md", "html", "json", NULL };

const struct jl_option jl_report_options[] = {
	JL_O_TEXT("output", "FILE",
		  JL_N("output file; .html, .md, .json or .txt decides the format; - is standard output"),
		  .letter = 'o', .local = true),
	JL_O_CHOICE("format", "text|md|html|json", formats, JL_N("format, whatever the file's name (default: text)")),
	JL_O_FLAG("brief", JL_N("one page: questions, answers, one chart, actions, confidence")),
	JL_O_TEXT("store", "PATH|URL", JL_N("which store (default: JEOUL_STORE, else the one in the data folder)"),
		  .local = true),
	{ 0 },
};

enum format { FORMAT_TEXT, FORMAT_MD, FORMAT_HTML, FORMAT_JSON };

static enum jl_status choose_format(enum format *ret_format, const struct jl_cli *cli, struct jl_err *err)
{
	static const struct {
		const char *end;
		enum format format;
	} ends[] = { { ".html", FORMAT_HTML },
		     { ".htm", FORMAT_HTML },
		     { ".md", FORMAT_MD },
		     { ".json", FORMAT_JSON },
		     { ".txt", FORMAT_TEXT } };
	const int said = jl_chosen(cli, "format", formats);
	const char *path = jl_text(cli, "output");
	const size_t len = path ? strlen(path) : 0;

	*ret_format = said >= 0 ? (enum format)said : cli->json ? FORMAT_JSON : FORMAT_TEXT;
	if (said >= 0 || !path || strcmp(path, "-") == 0)
		return JL_OK;
	for (size_t i = 0; i < JL_LEN(ends); i++) {
		const size_t n = strlen(ends[i].end);
		if (len > n && strcmp(path + len - n, ends[i].end) == 0) {
			*ret_format = ends[i].format;
			return JL_OK;
		}
	}
	return jl_fail(err, JL_E_USAGE, "-o %s: end the name in .html, .md, .json or .txt, or give --format", path);
}

static enum jl_status render(struct jl_buf *out, struct jl_doc *doc, enum format format, struct jl_cli *cli,
			     bool to_terminal, struct jl_err *err)
{
	if (!cli->page)
		jl_show_readings(doc, cli->cat->readings);
	switch (format) {
	case FORMAT_MD: return jl_doc_to_markdown(doc, out, err);
	case FORMAT_HTML: return jl_doc_to_html(doc, out, err);
	case FORMAT_JSON: return jl_doc_to_json(doc, out, err);
	case FORMAT_TEXT: break;
	}
	if (cli->page)
		return jl_view_show(cli, doc, err);
	return jl_doc_to_text(doc, to_terminal ? cli->width : 80, to_terminal && cli->color, out, err);
}

static enum jl_status grow(struct jl_record **records, size_t n, struct jl_cli *cli, struct jl_err *err)
{
	if (!*records && !(*records = jl_arena_array(&cli->arena, RECORDS_MAX, sizeof **records)))
		return jl_fail_nomem(err);
	if (n >= RECORDS_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d measured results", RECORDS_MAX);
	return JL_OK;
}

/* Resolves a path relative to the scenario's folder. */
static const char *beside(const char *scenario, const char *file, struct jl_arena *arena)
{
	const char *slash = scenario ? strrchr(scenario, '/') : NULL;

	if (file[0] == '/' || !slash)
		return file;
	return jl_arena_printf(arena, "%.*s/%s", (int)(slash - scenario), scenario, file);
}

static enum jl_status fetch_file(struct jl_record **records, size_t *n, const struct jl_scenario *scenario,
				 const struct jl_scenario_fetch *fetch, struct jl_cli *cli, struct jl_err *err)
{
	const char *path = beside(scenario->file, fetch->file, &cli->arena);
	struct jl_buf text;
	struct jl_err inner;
	enum jl_status status;

	JL_TRY(jl_got(path, err));
	if ((status = jl_buf_read_file(&text, path, FILE_MAX_B, &inner)))
		return jl_fail_from(err, status, &fetch->where, &inner, "{}");
	for (const char *at = jl_buf_text(&text); !status && *at;) {
		const size_t len = strcspn(at, "\n");

		if (len) {
			status = grow(records, *n, cli, err);
			if (!status && (status = jl_record_read(at, len, &cli->arena, &(*records)[*n], &inner)))
				jl_fail_from(err, status, &fetch->where, &inner, "{}");
			*n += !status;
		}
		at += len + (at[len] == '\n');
	}
	jl_buf_release(&text);
	return status;
}

static enum jl_status fetch_all(struct jl_report_in *in, const struct jl_scenario *scenario, struct jl_cli *cli,
				struct jl_err *err)
{
	struct jl_store *store = NULL;
	struct jl_record *records = NULL;
	enum jl_status status = JL_OK;
	size_t n = 0;

	for (size_t i = 0; !status && i < scenario->n_fetch; i++) {
		const struct jl_scenario_fetch *fetch = &scenario->fetch[i];
		struct jl_err inner;

		if (fetch->file) {
			status = fetch_file(&records, &n, scenario, fetch, cli, err);
			continue;
		}
		if (!store && (status = jl_store_open_existing(&store, jl_text(cli, "store"), err)))
			break;
		status = grow(&records, n, cli, err);
		if (!status && (status = jl_store_get(store, fetch->record, &cli->arena, &records[n], &inner)))
			jl_fail_from(err, status, &fetch->where, &inner, "{}");
		n += !status;
	}
	jl_store_close(store);
	in->records = records;
	in->n_records = n;
	return status;
}

/* Opens the store for reading. The default store may be missing; one given by --store must exist and be readable. */
static enum jl_status fetch_machine(struct jl_report_in *in, struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_store_filter filter = { .machine = in->machine->fingerprint, .limit = RECORDS_MAX };
	struct jl_store *store = NULL;
	enum jl_status status = jl_store_open_to_read(&store, jl_text(cli, "store"), err);

	if (status == JL_E_NOTFOUND && !jl_text(cli, "store"))
		return JL_OK;
	JL_THEN(status, jl_store_list(store, &filter, &cli->arena, &in->records, &in->n_records, err));
	jl_store_close(store);
	return status;
}

static void note_this(struct jl_scenario *scenario, const struct jl_this *this, struct jl_arena *arena)
{
	const struct jl_words note = { .ko = jl_arena_strdup(arena, this->note.text),
				       .en = jl_arena_strdup(arena, this->note.en) };

	for (size_t i = 0; note.ko && note.en && *note.en && i < scenario->n_systems; i++)
		if (strcmp(scenario->systems[i].on, this->system) == 0 && !scenario->systems[i].note.en)
			scenario->systems[i].note = note;
}

static enum jl_status take_this(struct jl_this *ret_this, struct jl_report_in *in, struct jl_cli *cli,
				struct jl_err *err)
{
	JL_TRY(jl_this_lay(ret_this, cli, err));
	in->cat = cli->cat;
	in->machine = ret_this->machine;
	in->this_on = ret_this->system;
	return fetch_machine(in, cli, err);
}

static enum jl_status of_scenario(struct jl_scenario *scenario, struct jl_report_in *in, struct jl_cli *cli,
				  struct jl_err *err)
{
	const struct jl_yaml *root = NULL;
	struct jl_this this = { .machine = NULL };
	enum jl_status status = jl_yaml_read_file(&root, cli->args.operands[0], &cli->arena, err);

	/* the tree lies in the command's arena, so it may be modified */
	if (!status && jl_scenario_put_this((struct jl_yaml *)(uintptr_t)root, NULL)) {
		JL_TRY(take_this(&this, in, cli, err));
		(void)jl_scenario_put_this((struct jl_yaml *)(uintptr_t)root, this.system);
	}
	JL_THEN(status, jl_scenario_read(scenario, root, cli->cat, &cli->arena, err));
	if (!status)
		note_this(scenario, &this, &cli->arena);
	JL_THEN(status, scenario->n_fetch ? fetch_all(in, scenario, cli, err) : JL_OK);
	return status;
}

static enum jl_status of_machine(struct jl_scenario *scenario, struct jl_report_in *in, struct jl_cli *cli,
				 struct jl_err *err)
{
	struct jl_this this;

	JL_TRY(take_this(&this, in, cli, err));
	*scenario = jl_scenario_empty(NULL);
	if (jl_sys_parse(&scenario->systems[0].sys, cli->cat, this.system, &cli->arena, err) == JL_OK) {
		scenario->systems[0].on = this.system;
		scenario->systems[0].name = (struct jl_words){ .ko = JL_("this machine"), .en = "this machine" };
		scenario->n_systems = 1;
		note_this(scenario, &this, &cli->arena);
	} else {
		in->this_on = NULL;
	}
	return JL_OK;
}

enum jl_status jl_cmd_report(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_scenario *scenario = jl_arena_alloc(&cli->arena, sizeof *scenario);
	struct jl_report_in in = { .scenario = scenario, .cat = cli->cat, .arena = &cli->arena, .today = cli->today };
	const char *path = jl_text(cli, "output");
	const bool to_file = path && strcmp(path, "-") != 0;
	enum format format;
	struct jl_doc doc;
	struct jl_buf text;
	enum jl_status status;

	JL_TRY(jl_got(scenario, err));
	JL_TRY(choose_format(&format, cli, err));
	status = cli->args.n_operands ? of_scenario(scenario, &in, cli, err) : of_machine(scenario, &in, cli, err);
	if (status || (status = jl_report_make(&doc, &in, err)))
		return status;
	if (jl_flag(cli, "brief"))
		jl_doc_shorten(&doc);
	if (!to_file)
		return render(&cli->out, &doc, format, cli, true, err);
	jl_buf_init(&text, REPORT_MAX_B);
	status = render(&text, &doc, format, cli, false, err);
	JL_THEN(status, jl_buf_write_file(&text, path, err));
	if (!status) {
		char *shown = jl_arena_strdup(&cli->arena, path);

		if (shown)
			jl_utf8_sanitize(shown); /* names may contain terminal escape sequences */
		jl_buf_printf(&cli->out, JL_("%s: written, %zu KB\n"), shown ? shown : "?", (text.len + 999) / 1000);
	}
	jl_buf_release(&text);
	return status;
}
