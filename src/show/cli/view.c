/* Terminal output that commands share. */
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalog/names.h"
#include "request/ask.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "document/wrap.h"
#include "store/store.h"

void jl_view_wrapped(struct jl_cli *cli, size_t indent, const char *label, const char *text)
{
	jl_buf_pad(&cli->out, ' ', indent);
	jl_buf_printf(&cli->out, "%s: ", label);
	jl_view_flow(cli, indent + jl_utf8_width(label) + 2, indent + 4, text);
}

void jl_view_flow(struct jl_cli *cli, size_t at, size_t indent, const char *text)
{
	jl_wrap(&cli->out, text, &(struct jl_wrap){ .width = cli->width, .at = at, .indent = indent });
}

void jl_view_live(struct jl_cli *cli, const int *widths, size_t n, const char *const *texts)
{
	for (size_t i = 0; i < n; i++) {
		const size_t room = (size_t)abs(widths[i]), have = jl_utf8_width(texts[i]),
			     pad = have < room ? room - have : 0;

		jl_buf_pad(&cli->out, ' ', widths[i] > 0 ? pad : 0);
		jl_buf_puts(&cli->out, texts[i]);
		jl_buf_pad(&cli->out, ' ', widths[i] > 0 ? 0 : pad);
	}
}

static void write_err(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	(void)fwrite(text, 1, len, stderr);
	(void)fflush(stderr);
}

void jl_view_progress(const struct jl_cli *cli, struct jl_progress *progress, const char *label, double total, bool on)
{
	jl_progress_begin(progress, &(struct jl_progress_options){ .on = on && isatty(STDERR_FILENO),
								   .columns = cli->width,
								   .label = label,
								   .total = total,
								   .now_s = jl_clock_s(),
								   .write = write_err });
}

void jl_view_set(void *ctx, const char *set, size_t done, size_t total)
{
	struct jl_view_sets *sets = ctx;

	if (sets->set != set) {
		jl_progress_clear(&sets->progress);
		jl_view_progress(sets->cli, &sets->progress, set, (double)total, true);
		sets->set = set;
	}
	jl_progress_update(&sets->progress, (double)done, jl_clock_s());
}

enum jl_status jl_view_fields(struct jl_cli *cli, const struct jl_schema *schema, const void *record)
{
	const struct jl_readings *readings = cli->cat ? cli->cat->readings : NULL;

	jl_fields_print(&cli->out, schema, record, &jl_readings_fields, readings && readings->n ? readings : NULL);
	return JL_OK;
}

void jl_view_page(struct jl_cli *cli, struct jl_doc *ret_doc)
{
	jl_doc_init(ret_doc, &cli->arena, NULL);
	ret_doc->brief = !cli->page && !jl_flag(cli, "assumptions");
	ret_doc->wide = cli->page;
}

enum jl_status jl_view_show(struct jl_cli *cli, struct jl_doc *doc, struct jl_err *err)
{
	if (cli->cat && cli->cat->readings)
		jl_show_readings(doc, cli->cat->readings);
	if (cli->page) {
		enum jl_status status;

		jl_ask_page(cli);
		status = jl_doc_to_fragment(doc, &cli->out, err);
		cli->page_end = cli->out.len;
		return status;
	}
	return jl_doc_to_terminal(doc, cli->width, cli->color, &cli->out, err);
}

const char *const *jl_view_options(struct jl_cli *cli)
{
	const struct jl_option *options = cli->command->options;
	const char **names;
	size_t n = 0;

	while (options && options[n].name)
		n++;
	names = jl_arena_array(&cli->arena, n + 1, sizeof *names);
	for (size_t i = 0; names && i < n; i++)
		names[i] = options[i].name;
	return names;
}

void jl_view_spool(struct jl_cli *cli, const struct jl_store *store)
{
	const struct jl_err *why;
	const char *file;
	const size_t n_refused = jl_store_refused(store, &file, &why);

	if (jl_store_sent(store))
		jl_buf_printf(&cli->warn, JL_("sent %zu results that had waited to %s\n"), jl_store_sent(store),
			      jl_store_where(store));
	if (jl_store_waiting(store))
		jl_buf_printf(&cli->warn, JL_("⚠ %zu results wait to be sent to %s\n"), jl_store_waiting(store),
			      jl_store_where(store));
	if (n_refused)
		jl_buf_printf(&cli->warn,
			      JL_("⚠ %zu results are not stored: the server refuses them. They are in %s%s%s\n"),
			      n_refused, file, why ? ": " : "", why ? why->text : "");
}

void jl_view_damaged(struct jl_cli *cli, const struct jl_store *store)
{
	const struct jl_err *why;
	const char *id;
	const size_t n = store ? jl_store_damaged(store, &id, &why) : 0;

	if (!n)
		return;
	jl_buf_printf(&cli->warn,
		      JL_("⚠ damaged records of %s are left out: %zu. The first is %s: %s ('jeoul store delete %s' "
			  "removes it)\n"),
		      jl_store_where(store), n, id, why->text, id);
	cli->exit_code = 1;
}

const char *jl_view_bold(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_BOLD : "";
}

const char *jl_view_dim(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_DIM : "";
}

const char *jl_view_reset(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_RESET : "";
}
