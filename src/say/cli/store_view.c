#include "cli/store_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

static const struct {
	const char *end;
	enum jl_kind kind;
} units[] = {
	{ "_Bps", JL_K_BYTE_RATE }, { "_flopps", JL_K_FLOP_RATE }, { "_opps", JL_K_OP_RATE }, { "_flop", JL_K_FLOP },
	{ "_B", JL_K_BYTES },       { "_s", JL_K_TIME },           { "_W", JL_K_POWER },      { "_J", JL_K_ENERGY },
	{ "_Hz", JL_K_FREQUENCY },  { "_frac", JL_K_FRACTION },
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Sizes of messages and buffers are powers of two: people call 268435456 bytes 256 MiB. */
static void print_size(char out[JL_STORE_VIEW_TEXT_MAX], double size_B)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	for (; size_B >= 1024 && i < 4 && fmod(size_B, 1024) == 0; i++)
		size_B /= 1024;
	if (size_B >= 10000)
		(void)jl_units_text(out, size_B * pow(1024, (double)i), JL_K_BYTES, 3);
	else
		(void)snprintf(out, JL_STORE_VIEW_TEXT_MAX, "%g %s", size_B, names[i]);
}

const char *jl_store_view_value(char out[JL_STORE_VIEW_TEXT_MAX], const char *name, double value)
{
	if (isnan(value)) {
		(void)snprintf(out, JL_STORE_VIEW_TEXT_MAX, "?");
		return out;
	}
	if (ends_with(name, "_per_s")) {
		(void)snprintf(out, JL_STORE_VIEW_TEXT_MAX, "%.4g %.*s/s", value, (int)(strlen(name) - 6), name);
		return out;
	}
	if (strcmp(name, "size_B") == 0) {
		print_size(out, value);
		return out;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!ends_with(name, units[i].end))
			continue;
		(void)jl_units_text(out, value, units[i].kind, 3);
		return out;
	}
	(void)snprintf(out, JL_STORE_VIEW_TEXT_MAX, fabs(value) < 1e15 && floor(value) == value ? "%.0f" : "%.6g",
		       value);
	return out;
}

static void append(char out[JL_STORE_VIEW_TEXT_MAX], const char *separator, const char *text)
{
	size_t used = strlen(out);

	if (*text)
		(void)snprintf(out + used, JL_STORE_VIEW_TEXT_MAX - used, "%s%s", used ? separator : "", text);
}

const char *jl_store_view_what(char out[JL_STORE_VIEW_TEXT_MAX], const struct jl_record *r)
{
	static const char *const texts[] = { "test", "label", "dtype", "protocol", "host", "model" };
	const double m = jl_record_number(r, "m"), n = jl_record_number(r, "n"), k = jl_record_number(r, "k");
	const double size_B = jl_record_number(r, "size_B"), n_ranks = jl_record_number(r, "n_ranks"),
		     n_gpus = jl_record_number(r, "n_gpus"), batch = jl_record_number(r, "batch"),
		     device = jl_record_number(r, "device"), peer = jl_record_number(r, "peer");
	char part[JL_STORE_VIEW_TEXT_MAX];

	out[0] = '\0';
	if (!isnan(size_B))
		append(out, " ", jl_store_view_value(part, "size_B", size_B));
	if (!isnan(m) && !isnan(n) && !isnan(k)) {
		(void)snprintf(part, sizeof(part), "%.0f×%.0f×%.0f", m, n, k);
		append(out, " ", part);
	}
	if (jl_record_number(r, "n_workers") > 1 && jl_record_text(r, "mode")) {
		(void)snprintf(part, sizeof(part), "%.0f×%.20s", jl_record_number(r, "n_workers"),
			       jl_record_text(r, "mode"));
		append(out, " ", part);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *text = jl_record_text(r, texts[i]);

		if (text && strcmp(text, r->kind) != 0)
			append(out, " ", text);
	}
	if (!isnan(device)) {
		(void)snprintf(part, sizeof(part), "GPU%.0f", device);
		append(out, " ", part);
	}
	if (!isnan(peer) && peer != device) {
		(void)snprintf(part, sizeof(part), "GPU%.0f", peer);
		append(out, "→", part);
	}
	if (jl_record_number(r, "pinned") == 0)
		append(out, " ", JL_("pageable"));
	if (!isnan(n_ranks)) {
		(void)jl_format(part, sizeof(part), JL_("%.0f rank{/s}"), n_ranks);
		append(out, ", ", part);
	}
	if (!isnan(n_gpus)) {
		(void)snprintf(part, sizeof(part), "%.0f GPU", n_gpus);
		append(out, ", ", part);
	}
	if (!isnan(batch)) {
		(void)jl_format(part, sizeof(part), JL_("batch %.0f"), batch);
		append(out, ", ", part);
	}
	if (jl_record_number(r, "in_place") == 1)
		append(out, ", ", JL_("in place"));
	jl_utf8_sanitize(out);
	return out;
}

const char *jl_store_view_result(char out[JL_STORE_VIEW_TEXT_MAX], const struct jl_record *r)
{
	out[0] = '\0';
	if (r->n_metrics)
		(void)jl_store_view_value(out, r->metrics[0].name, r->metrics[0].value.median);
	return out;
}

const char *jl_store_view_time(char out[32], double time_s)
{
	time_t seconds = (time_t)time_s;
	struct tm local;

	if (!localtime_r(&seconds, &local) || strftime(out, 32, "%Y-%m-%d %H:%M", &local) == 0)
		(void)snprintf(out, 32, "?");
	return out;
}

const char *jl_store_view_dim(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_DIM : "";
}

const char *jl_store_view_reset(const struct jl_cli *cli)
{
	return cli->color ? JL_TABLE_RESET : "";
}

void jl_store_view_remark(struct jl_buf *out, size_t line, const char *text)
{
	if (line)
		jl_buf_printf(out, JL_("  ⚠ line %zu: %s\n"), line, text);
	else
		jl_buf_printf(out, "  ⚠ %s\n", text);
}

/* ---- a whole record */

/* What others wrote may hold anything: no control character reaches the terminal. */
static void entry(struct jl_cli *cli, const char *label, const char *text)
{
	char *clean = text ? jl_arena_strdup(&cli->arena, text) : NULL;
	size_t width = jl_utf8_width(label);

	if (!clean)
		return;
	for (char *c = clean; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	jl_utf8_sanitize(clean);
	jl_buf_printf(&cli->out, "  %s", label);
	jl_buf_pad(&cli->out, ' ', width < 12 ? 14 - width : 2);
	clean += strspn(clean, " ");
	for (size_t room = cli->width > 40 ? cli->width - 16 : 24; *clean;) {
		size_t len = jl_utf8_fit(clean, room), cut = len;

		/* at a blank where there is one */
		while (clean[len] && cut > 0 && clean[cut] != ' ')
			cut--;
		len = cut > 0 ? cut : len;
		if (len == 0)
			break;
		jl_buf_add(&cli->out, clean, len);
		clean += len;
		clean += strspn(clean, " ");
		jl_buf_putc(&cli->out, '\n');
		if (*clean)
			jl_buf_pad(&cli->out, ' ', 16);
	}
}

static void items(struct jl_cli *cli, const char *label, const struct jl_record_item *list, size_t n)
{
	char value[JL_STORE_VIEW_TEXT_MAX];
	struct jl_buf text;

	jl_buf_init(&text, (size_t)1 << 20);
	for (size_t i = 0; i < n; i++) {
		const char *shown = list[i].text ? list[i].text
						 : jl_store_view_value(value, list[i].key, list[i].number);

		jl_buf_printf(&text, "%s%s %s", i ? " · " : "", list[i].key, shown);
	}
	if (n)
		entry(cli, label, jl_buf_text(&text));
	jl_buf_release(&text);
}

#define RANGE_TEXT_MAX ((size_t)320)

/* The name stands beside it: "48.4 /s" says enough. */
static const char *short_value(char out[RANGE_TEXT_MAX], const char *name, double value)
{
	return jl_store_view_value(out, ends_with(name, "_per_s") ? "_per_s" : name, value);
}

/* "5.26 – 5.33 s": the unit once where both have the same. */
static const char *range(char out[RANGE_TEXT_MAX], const char *name, double lo, double hi)
{
	char a[RANGE_TEXT_MAX], b[RANGE_TEXT_MAX];
	const char *unit_a, *unit_b;

	out[0] = '\0';
	if (isnan(lo) || isnan(hi))
		return out;
	unit_a = strchr(short_value(a, name, lo), ' ');
	unit_b = strchr(short_value(b, name, hi), ' ');
	if (unit_a && unit_b && strcmp(unit_a, unit_b) == 0)
		a[unit_a - a] = '\0';
	(void)snprintf(out, RANGE_TEXT_MAX, "%.100s – %.100s", a, b);
	return out;
}

static enum jl_status metrics(struct jl_cli *cli, const struct jl_record *r, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("figure") },
		{ .head = JL_("median"), .align = JL_RIGHT },
		{ .head = JL_("95 % interval"), .align = JL_RIGHT },
		{ .head = JL_("from – to"), .align = JL_RIGHT },
		{ .head = "n", .align = JL_RIGHT },
	};
	struct jl_table table;

	if (!r->n_metrics)
		return JL_OK;
	jl_table_init(&table, &cli->arena, columns, 5);
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct jl_summary *s = &r->metrics[i].value;
		const char *name = r->metrics[i].name;
		char text[RANGE_TEXT_MAX];

		jl_table_cell(&table, name);
		jl_table_cell(&table, short_value(text, name, s->median));
		jl_table_cell(&table, range(text, name, s->lo95, s->hi95));
		jl_table_cell(&table, range(text, name, s->min, s->max));
		if (s->n)
			jl_table_printf(&table, "%zu", s->n);
		jl_table_end_row(&table);
	}
	jl_buf_putc(&cli->out, '\n');
	return jl_table_print(&table,
			      &(struct jl_table_style){ .width = cli->width, .indent = 2, .colour = cli->color },
			      &cli->out, err);
}

static void noise(struct jl_cli *cli, const struct jl_record_noise *n)
{
	char text[300] = "";
	size_t used = 0;

	if (!isnan(n->cpu_other_frac))
		used += (size_t)jl_format(text, sizeof(text), JL_("others took %.0f %% of the CPU"),
					  100 * n->cpu_other_frac);
	if (!isnan(n->steal_frac) && n->steal_frac > 0.005)
		used += (size_t)jl_format(text + used, sizeof(text) - used, JL_("%ssteal %.1f %%"), used ? ", " : "",
					  100 * n->steal_frac);
	if (n->thermal || n->power)
		used += (size_t)jl_format(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
					  n->thermal ? JL_("thermal throttling") : JL_("power throttling"));
	if (n->noisy)
		(void)jl_format(text + used, sizeof(text) - used, "%s%s%s%s", used ? "; " : "",
				JL_("too noisy to judge"), n->why ? ": " : "", n->why ? n->why : "");
	if (text[0])
		entry(cli, JL_("noise"), text);
}

enum jl_status jl_store_view_page(struct jl_cli *cli, const struct jl_record *r, struct jl_err *err)
{
	char a[JL_STORE_VIEW_TEXT_MAX], when[32];
	enum jl_status status;

	jl_buf_puts(&cli->out, r->kind);
	if (*jl_store_view_what(a, r))
		jl_buf_printf(&cli->out, " · %s", a);
	if (*jl_store_view_result(a, r))
		jl_buf_printf(&cli->out, " · %s", a);
	jl_buf_printf(&cli->out, " · %s\n\n",
		      strcmp(r->origin, "measured") == 0 ? JL_("✅ measured") : JL_("📄 imported"));
	entry(cli, "id", r->id);
	entry(cli, JL_C("of the day", "time"), jl_store_view_time(when, r->time_s));
	entry(cli, JL_("by"), r->backend);
	entry(cli, JL_("machine"), r->machine_name ? r->machine_name : r->machine);
	entry(cli, JL_("run"), r->run);
	entry(cli, JL_("source"), r->source);
	entry(cli, JL_C("text", "line"), r->line);
	items(cli, JL_C("of a record", "parameters"), r->params, r->n_params);
	items(cli, JL_("versions"), r->versions, r->n_versions);
	noise(cli, &r->noise);
	entry(cli, JL_("note"), r->note);
	status = metrics(cli, r, err);
	if (r->n_samples)
		jl_buf_printf(&cli->out, JL_("\n  %s%zu raw samples; --json shows them%s\n"), jl_store_view_dim(cli),
			      r->n_samples, jl_store_view_reset(cli));
	return status;
}

void jl_store_view_spool(struct jl_cli *cli, const struct jl_store *store)
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
