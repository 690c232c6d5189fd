/* jeoul calibrate: this machine's own parameters (calibrate_this.c); with --fit parameters of all machines from published measurements, as
 * catalog data. */
#include <unistd.h>

#include "fit/calibrate.h"
#include "cli/calibrate_this.h"
#include "cli/data_dir.h"
#include "cli/view.h"

#define FILES_MAX  32
#define FILE_MAX_B ((size_t)1 << 28)
#define YAML_MAX_B ((size_t)1 << 24)
#define FIT_B      ((size_t)1 << 30) /* memory limit: each published row is used twice, for fitting and left out */

const struct jl_option jl_calibrate_options[] = {
	JL_O_FLAG("fit", JL_N("fit the parameters on published measurements")),
	JL_O_TEXT("set", "NAME", JL_N("with --fit: this set only; the others keep their parameters"), .with = "fit"),
	JL_O_TEXT("data", "DIR", JL_N("folder of the measurements (default: those of this program)"), .with = "fit"),
	JL_O_TEXT("output", "FILE", JL_N("write the parameters there, as catalog/params.yaml"), .with = "fit",
		  .letter = 'o'),
	JL_O_TEXT("parameters", "FILE", JL_N("no fit: write the estimate of each parameter by the rows as CSV"),
		  .with = "fit"),
	JL_O_FLAG("show", JL_N("this machine's own parameters")),
	JL_O_FLAG("forget", JL_N("remove them")),
	JL_O_FLAG("noisy", JL_N("use noisy results too")),
	JL_O_TEXT("store", "PATH|URL", JL_N("which store (default: JEOUL_STORE, else the one in the data folder)")),
	{ 0 },
};

/* Files of the folder that can be fitted. */
static enum jl_status read_files(struct jl_cli *cli, const char *dir, struct jl_calibrate_file *files, size_t *ret_n,
				 struct jl_err *err)
{
	size_t n = 0;

	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++) {
		for (const char *const *name = (*ops)->files; *name; name++) {
			const char *path = jl_arena_printf(&cli->arena, "%s/%s.csv", dir, *name);
			struct jl_buf text;

			JL_TRY(jl_got(path, err));
			if (access(path, F_OK) != 0)
				continue;
			if (n == FILES_MAX)
				return jl_fail(err, JL_E_LIMIT, "more than %d files", FILES_MAX);
			JL_TRY(jl_buf_read_file(&text, path, FILE_MAX_B, err));
			const char *copy = jl_arena_strndup(&cli->arena, jl_buf_text(&text), text.len);

			files[n++] = (struct jl_calibrate_file){
				.name = *name, .path = path, .text = copy, .len = text.len
			};
			jl_buf_release(&text);
			JL_TRY(jl_got(copy, err));
		}
	}
	*ret_n = n;
	return n ? JL_OK : jl_fail(err, JL_E_NOTFOUND, "%s has none of the sets, e.g. gemm_membw.csv", dir);
}

static enum jl_status save(const char *path, const struct jl_calibration *found, struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status;

	jl_buf_init(&text, YAML_MAX_B);
	jl_calibrate_yaml(&text, found);
	status = jl_buf_write_file(&text, path, err);
	jl_buf_release(&text);
	return status;
}

static enum jl_status save_table(struct jl_cli *cli, const struct jl_calibrate_in *in, const char *path,
				 struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status;

	jl_buf_init(&text, YAML_MAX_B);
	status = jl_calibrate_table(&text, in, &cli->arena, err);
	JL_THEN(status, jl_buf_write_file(&text, path, err));
	jl_buf_release(&text);
	return status;
}

static void put_sets(struct jl_json *json, const struct jl_calibration *found)
{
	jl_json_pack(json, "{sets:[");
	for (const struct jl_calibrated *set = found->sets; set < found->sets + found->n_sets; set++)
		jl_json_pack(json, "{set:s rows:z n_residuals:z n_parameters:z median_abs_ln:f p90_abs_ln:f}",
			     set->ops->name, set->n_rows, set->n_resid, set->n_param, set->median_abs_ln,
			     set->p90_abs_ln);
	jl_json_pack(json, "] n_parameters:z n_interval_parameters:z}", found->n_params, found->n_width_param);
}

static enum jl_status print_text(struct jl_cli *cli, const struct jl_calibration *found, struct jl_err *err)
{
	const char *path = jl_text(cli, "output");
	struct jl_doc doc;

	jl_view_page(cli, &doc);
	doc.flush = true;
	jl_show_table(&doc, NULL, "kfffff", JL_N("set|rows|residuals|parameters|median error|p90"));
	for (const struct jl_calibrated *set = found->sets; set < found->sets + found->n_sets; set++)
		JL_ROW(&doc, false, JL_NAMED(set->ops->name), JL_NAMED(jl_doc_format(&doc, "%zu", set->n_rows)),
		       JL_NAMED(jl_doc_format(&doc, "%zu", set->n_resid)),
		       JL_NAMED(jl_doc_format(&doc, "%zu", set->n_param)),
		       JL_NAMED(jl_doc_format(&doc, "%.3f", set->median_abs_ln)),
		       JL_NAMED(jl_doc_format(&doc, "%.3f", set->p90_abs_ln)));
	JL_TRY(jl_view_show(cli, &doc, err));
	jl_buf_puts(&cli->out,
		    JL_("Errors are |ln(predicted/measured)| on the rows that were fitted; what a set reaches on\n"
			"rows that it has not seen, `jeoul validate --leave-out source` says.\n"));
	if (!found->n_width_param)
		jl_buf_puts(&cli->out, JL_("Intervals stay as they are: they are fitted on all sets together.\n"));
	if (path)
		jl_buf_printf(&cli->out, JL_("%zu parameters are in %s\n"), found->n_params, path);
	return JL_OK;
}

enum jl_status jl_cmd_calibrate(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_calibrate_file files[FILES_MAX];
	struct jl_calibration found;
	struct jl_view_sets sets = { .cli = cli };
	struct jl_calibrate_in in = {
		.cat = cli->cat, .files = files, .only = jl_text(cli, "set"), .progress = jl_view_set, .ctx = &sets
	};
	const char *dir = jl_text(cli, "data"), *path = jl_text(cli, "output");
	enum jl_status status;

	if (!jl_flag(cli, "fit"))
		return jl_calibrate_this(cli, err);
	cli->arena.limit_B = FIT_B;
	dir = dir ? dir : jl_data_dir(cli);
	status = dir ? read_files(cli, dir, files, &in.n_files, err)
		     : jl_fail(err, JL_E_NOTFOUND,
			       "the program's measurements are not installed; give their folder with --data or "
			       "JEOUL_DATA");
	if (!status && jl_text(cli, "parameters"))
		return save_table(cli, &in, jl_text(cli, "parameters"), err);
	JL_THEN(status, jl_calibrate(&found, &in, &cli->arena, err));
	jl_progress_clear(&sets.progress);
	JL_THEN(status, path ? save(path, &found, err) : JL_OK);
	if (status)
		return status;
	if (cli->json)
		JL_JSON(cli, put_sets(&json, &found));
	return print_text(cli, &found, err);
}
