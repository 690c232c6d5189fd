/* Stores and loads parameters calibrated on this machine. */
#include "cli/calibrate_this.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/find.h"
#include "check/own_params.h"
#include "cli/this_machine.h"
#include "cli/view.h"

#define RECORDS_MAX 4000
#define YAML_MAX_B  ((size_t)1 << 20)
#define SOURCE_NAME "sources.yaml"
#define FILE_NAME   "figures.yaml" /* written last and removed first: it exists only if all files do */

/* Folder of this machine's parameters, an overlay of the catalog. */
static enum jl_status calibrate_dir(const char **ret_dir, struct jl_cli *cli, const struct jl_probe_machine *here,
				    struct jl_err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME"), *dir = NULL;

	if (data && data[0] == '/')
		dir = jl_arena_printf(&cli->arena, "%s/jeoul/this/%s", data, here->fingerprint);
	else if (home && *home == '/')
		dir = jl_arena_printf(&cli->arena, "%s/.local/share/jeoul/this/%s", home, here->fingerprint);
	else
		return jl_fail(err, JL_E_USAGE, "where should it be kept? Set XDG_DATA_HOME or HOME");
	JL_TRY(jl_got(dir, err));
	*ret_dir = dir;
	return JL_OK;
}

/* Path of a file; NULL: out of memory. */
static const char *file_in(struct jl_cli *cli, const char *dir, const char *name)
{
	return jl_arena_printf(&cli->arena, "%s/%s", dir, name);
}

enum jl_status jl_calibrate_lay(bool *ret_on, struct jl_cli *cli, const struct jl_probe_machine *here,
				struct jl_err *err)
{
	const char *dirs[JL_OVERLAYS_MAX + 1], *dir = NULL, *path;
	size_t n = jl_overlay_dirs(dirs, cli);
	enum jl_status status = JL_OK;

	*ret_on = false;
	if (calibrate_dir(&dir, cli, here, NULL) != JL_OK) /* no folder exists: not calibrated */
		return JL_OK;
	path = file_in(cli, dir, FILE_NAME);
	JL_TRY(jl_got(path, err));
	if (access(path, F_OK) != 0)
		return JL_OK;
	if (!jl_source_by_id(cli->cat, JL_OWN_SOURCE_ID)) { /* load once per command */
		dirs[n++] = dir;
		status = jl_catalog_overlay(&cli->cat, dirs, n, &cli->arena, err);
	}
	*ret_on = !status;
	return status;
}

/* ---- writing */

static enum jl_status make_dirs(const char *path, struct jl_cli *cli, struct jl_err *err)
{
	char *dir = jl_arena_strdup(&cli->arena, path);

	JL_TRY(jl_got(dir, err));
	for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(dir, 0700) != 0 && errno != EEXIST)
			return jl_fail(err, JL_E_IO, "%s: the folder cannot be made: {%s}", dir, strerror(errno));
		*slash = '/';
	}
	return JL_OK;
}

static void put_own(struct jl_json *json, const struct jl_own *own, const char *date, const char *path)
{
	jl_json_pack(json, "{date:s folder:s device:s figures:[", date, path,
		     own->gpu ? own->gpu->id : "cpu:" JL_OWN_CPU_ID);
	for (const struct jl_own_figure *f = own->figures; f < own->figures + own->n; f++)
		jl_json_pack(json, "{record:s kind:s metric:s measured:f model_before:f parameter:s value:f clamped:b}",
			     f->record->id, f->record->kind, f->record->metrics[0].name,
			     f->record->metrics[0].value.median, f->before, f->param[0] ? f->param : NULL, f->value,
			     f->clamped);
	jl_json_pack(json, "]}");
}

static void tell_own(struct jl_doc *doc, const struct jl_own *own, const char *date)
{
	jl_doc_lead(doc);
	jl_doc_textf(doc, JL_("This machine is now predicted by what was measured here (%s)."), date);
	jl_show_table(doc, NULL, "kffk", JL_N("what|measured ●|model had ○|record"));
	for (const struct jl_own_figure *f = own->figures; f < own->figures + own->n; f++) {
		const struct jl_record_metric *m = &f->record->metrics[0];

		JL_ROW(doc, false,
		       JL_NAMED(jl_doc_format(doc, "%s %s", f->record->kind, jl_record_what(JL_TXT, f->record))),
		       JL_NAMED(jl_record_value_text(JL_TXT, m->name, m->value.median)),
		       JL_NAMED(isnan(f->before) ? "–" : jl_record_value_text(JL_TXT, m->name, f->before)),
		       JL_NAMED(jl_doc_format(doc, "%s%s", f->record->id + JL_RECORD_ID_LEN - 8,
					      f->clamped ? JL_(" (at its limit)") : "")));
	}
	jl_doc_entry(doc, JL_("Try"));
	jl_doc_code(doc, "jeoul predict gpt-305m --on this");
	jl_doc_entry(doc, JL_("Undo"));
	jl_doc_code(doc, "jeoul calibrate --forget");
}

static enum jl_status keep(struct jl_cli *cli, const struct jl_own *own, const struct jl_probe_machine *here,
			   const char *dir, const char *date, struct jl_err *err)
{
	static const struct {
		const char *name;
		void (*write)(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			      const char *date);
	} files[] = { { SOURCE_NAME, jl_own_source_yaml }, { FILE_NAME, jl_own_figures_yaml } };
	enum jl_status status = JL_OK;

	for (size_t i = 0; !status && i < JL_LEN(files); i++) {
		const char *path = file_in(cli, dir, files[i].name);
		struct jl_buf text;

		JL_TRY(jl_got(path, err));
		jl_buf_init(&text, YAML_MAX_B);
		files[i].write(&text, own, here, date);
		status = make_dirs(path, cli, err);
		JL_THEN(status, jl_buf_write_file(&text, path, err));
		jl_buf_release(&text);
	}
	return status;
}

static enum jl_status make(struct jl_cli *cli, const struct jl_probe_machine *here, const char *dir, struct jl_err *err)
{
	struct jl_own_ask ask = { .cat = cli->cat, .here = here, .with_noisy = jl_flag(cli, "noisy") };
	struct jl_own own;
	struct jl_sys sys;
	char date[JL_DATE_TEXT_MAX];
	enum jl_status status = jl_this_records(&ask.records, &ask.n_records, cli, here->fingerprint, RECORDS_MAX, err);

	(void)jl_date_text(date, cli->today);
	if (!status && here->system && here->n_gpus && !here->mixed) {
		status = jl_sys_parse(&sys, cli->cat, here->system, &cli->arena, err);
		ask.sys = &sys;
	}
	JL_THEN(status, jl_own_make(&own, &ask, err));
	JL_THEN(status, keep(cli, &own, here, dir, date, err));
	JL_TRY(status);
	if (cli->json)
		JL_JSON(cli, put_own(&json, &own, date, dir));
	JL_PAGE(cli, err, tell_own(&doc, &own, date));
}

static enum jl_status never(struct jl_err *err)
{
	return jl_fail(err, JL_E_NOTFOUND, "this machine is not calibrated; jeoul bench all, then jeoul calibrate");
}

/* Prints the overlay file unchanged. */
static enum jl_status show_file(struct jl_cli *cli, struct jl_json *json, const char *path, struct jl_err *err)
{
	struct jl_buf text;

	JL_TRY(jl_buf_read_own(&text, path, YAML_MAX_B, err));
	if (cli->json) {
		jl_json_pack(json, "{file:s yaml:s}", path, jl_buf_text(&text));
	} else {
		jl_buf_printf(&cli->out, "# %s\n%s", path, jl_buf_text(&text));
	}
	jl_buf_release(&text);
	return JL_OK;
}

static enum jl_status show(struct jl_cli *cli, const char *dir, const char *path, struct jl_err *err)
{
	const char *source;
	struct jl_json json;
	enum jl_status status;

	if (access(path, F_OK) != 0)
		return never(err);
	source = file_in(cli, dir, SOURCE_NAME);
	JL_TRY(jl_got(source, err));
	if (cli->json) {
		jl_json_init(&json, &cli->out, true);
		jl_json_pack(&json, "{files:[");
	}
	status = show_file(cli, &json, source, err);
	JL_THEN(status, show_file(cli, &json, path, err));
	if (!status && cli->json) {
		jl_json_pack(&json, "]}");
		jl_json_finish(&json);
	}
	return status;
}

static enum jl_status forget(struct jl_cli *cli, const char *dir, const char *path, struct jl_err *err)
{
	const char *source;

	if (access(path, F_OK) != 0)
		return never(err);
	if (unlink(path) != 0)
		return jl_fail(err, JL_E_IO, "%s cannot be removed: {%s}", path, strerror(errno));
	source = file_in(cli, dir, SOURCE_NAME);
	JL_TRY(jl_got(source, err));
	(void)unlink(source);
	(void)rmdir(dir);
	if (cli->json)
		jl_buf_puts(&cli->out, "{\"forgotten\": true}\n");
	else
		jl_buf_puts(&cli->out, JL_("Forgotten: this machine is predicted by its family's values again.\n"));
	return JL_OK;
}

enum jl_status jl_calibrate_this(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_probe_machine *here = NULL;
	const char *dir = NULL, *path;
	enum jl_status status = jl_this_machine_probe(cli, &here, err);

	JL_THEN(status, calibrate_dir(&dir, cli, here, err));
	if (status || !dir)
		return status;
	path = file_in(cli, dir, FILE_NAME);
	JL_TRY(jl_got(path, err));
	if (jl_flag(cli, "show"))
		return show(cli, dir, path, err);
	if (jl_flag(cli, "forget"))
		return forget(cli, dir, path, err);
	return make(cli, here, dir, err);
}
