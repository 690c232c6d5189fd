/* jeoul catalog prices: rents and prices with their dates, cheapest first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "catalog/place.h"
#include "cli/catalog.h"
#include "cli/view.h"

#define OLD_DAYS 90 /* rents older than this are marked */

static const char *const orders[] = { "on-demand", "spot", "buy", NULL };

const struct jl_option jl_catalog_prices_options[] = {
	JL_O_TEXT("gpu", "NAME", JL_N("only this accelerator; a short name takes all of its kind")),
	JL_O_TEXT("region", "NAME", JL_N("only this region: a cloud's own name, or seoul, korea, us")),
	JL_O_TEXT("provider", "NAME", JL_N("only this provider")),
	JL_O_CHOICE("sort", "on-demand|spot|buy", orders, JL_N("what to sort by (default: on-demand)")),
	JL_O_COUNT("limit", "N", 1, 100000, JL_N("at most N rows (default: 30)")),
	{ 0 },
};

enum order { BY_ON_DEMAND, BY_SPOT, BY_BUY };

struct row {
	const struct jl_price *price;
	double key;      /* sort key: price per GPU */
	const char *gpu; /* id; or text of the source; NULL: no GPU */
	bool open;       /* the source does not specify the variant */
	bool bare;       /* matches, but has no GPU to divide the price by */
};

static double per_gpu(double usd, const struct jl_price *p)
{
	return p->n_gpu > 0 ? usd / p->n_gpu : usd;
}

/* Ignores spot rents equal to on-demand: some sources repeat it if they know no spot price. */
static double spot_usdps(const struct jl_price *p)
{
	double spot = isnan(p->spot_min_usdps) ? p->spot_median_usdps : p->spot_min_usdps;

	return spot >= p->on_demand_usdps ? NAN : spot;
}

static double sort_key(const struct jl_price *p, enum order order)
{
	switch (order) {
	case BY_ON_DEMAND: return per_gpu(p->on_demand_usdps, p);
	case BY_SPOT: return per_gpu(spot_usdps(p), p);
	case BY_BUY: return per_gpu(p->price_usd, p);
	}
	return NAN;
}

/* Sorts by price; ties keep the catalog's order. */
static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->price < y->price ? -1 : x->price > y->price;
}

#define GPUS_MAX 64

struct filter {
	const struct jl_gpu *gpus[GPUS_MAX];
	size_t n_gpus;
	const char *gpu_text; /* not a name in the catalog, but maybe in a price row */
	const char *region, *provider;
	enum order order;
};

/* True if the row's GPU matches the filter, possibly in an unspecified variant. */
static bool gpu_fits(const struct jl_catalog *cat, const struct filter *f, const struct jl_price *p, struct row *row)
{
	const struct jl_gpu *may[GPUS_MAX];
	size_t n = jl_price_gpus(may, GPUS_MAX, cat, p);

	row->gpu = n == 1 ? may[0]->id : p->gpu_text;
	row->open = n > 1;
	if (f->gpu_text)
		return p->gpu_text && jl_has_words(p->gpu_text, f->gpu_text);
	row->bare = f->n_gpus == 0 && !row->gpu;
	if (f->n_gpus == 0)
		return !row->bare; /* a row without GPUs has no price per GPU */
	for (size_t i = 0; i < f->n_gpus; i++)
		for (size_t k = 0; k < n && k < GPUS_MAX; k++)
			if (f->gpus[i] == may[k])
				return true;
	return false;
}

static bool wanted(const struct jl_catalog *cat, const struct filter *f, const struct jl_price *p, struct row *ret_row)
{
	*ret_row = (struct row){ .price = p, .key = sort_key(p, f->order) };
	return !isnan(ret_row->key) && (!f->region || jl_place_has(p->region, f->region)) &&
	       (!f->provider || (p->provider && strcasestr(p->provider, f->provider))) && gpu_fits(cat, f, p, ret_row);
}

static enum jl_status read_filter(struct jl_cli *cli, struct filter *f, struct jl_err *err)
{
	const char *gpu = cli->args.n_operands ? cli->args.operands[0] : jl_text(cli, "gpu");
	const int sort = jl_chosen(cli, "sort", orders);
	const struct jl_gpu *one;

	*f = (struct filter){ .region = jl_text(cli, "region"),
			      .provider = jl_text(cli, "provider"),
			      .order = sort > 0 ? (enum order)sort : BY_ON_DEMAND };
	if (!gpu)
		return JL_OK;
	f->n_gpus = jl_find_gpus(f->gpus, GPUS_MAX, cli->cat, gpu);
	if (f->n_gpus > GPUS_MAX)
		f->n_gpus = GPUS_MAX;
	if (f->n_gpus)
		return JL_OK;
	f->gpu_text = gpu;
	for (size_t i = 0; i < cli->cat->n_prices; i++)
		if (cli->cat->prices[i].gpu_text && jl_has_words(cli->cat->prices[i].gpu_text, gpu))
			return JL_OK;
	return jl_find_gpu(&one, cli->cat, gpu, err); /* sets the error with similar names */
}

/* Age of the price in days; NAN: invalid date. */
static double age_days(const struct jl_cli *cli, const struct jl_price *p)
{
	long day;

	return p->date && jl_date_parse(&day, p->date, NULL) == JL_OK ? (double)(cli->today - day) : NAN;
}

static const char *money(struct jl_doc *doc, double usd)
{
	return isnan(usd) ? "" : jl_doc_format(doc, usd >= 100 ? "%.0f" : "%.2f", usd);
}

/* True if all rows have the same GPU, which is then shown above the table. */
static bool is_one_kind(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!rows[i].gpu || rows[i].open || strcmp(rows[i].gpu, rows[0].gpu) != 0)
			return false;
	return n > 0;
}

/* Prints the rows. GPU names use the column of the whole machine's price. */
static void tell_rows(struct jl_doc *doc, const struct jl_cli *cli, const struct row *rows, size_t n, enum order order)
{
	const bool one_kind = is_one_kind(rows, n), whole = one_kind || order == BY_SPOT,
		   spot = order != BY_BUY && (one_kind || order != BY_SPOT);
	const double hour = order == BY_BUY ? 1 : 3600;
	struct jl_show_head heads[8] = { { order == BY_BUY ? JL_("USD/GPU") : JL_("USD/h/GPU"), JL_COLUMN_FIGURE } };
	size_t k = 1;

	if (whole)
		heads[k++] = (struct jl_show_head){ order == BY_BUY ? "USD" : "USD/h", JL_COLUMN_FIGURE };
	if (spot)
		heads[k++] = (struct jl_show_head){ JL_N("spot"), JL_COLUMN_FIGURE };
	heads[k++] = (struct jl_show_head){ "GPU", one_kind ? JL_COLUMN_KEEP : JL_COLUMN_LEAST(20) };
	heads[k++] = (struct jl_show_head){ JL_N("provider"), JL_COLUMN_LEAST(8) };
	heads[k++] = (struct jl_show_head){ JL_N("item"), JL_COLUMN_LEAST(one_kind ? 14 : 8) };
	heads[k++] = (struct jl_show_head){ JL_N("region"), JL_COLUMN_LEAST(one_kind ? 10 : 7) };
	heads[k++] = (struct jl_show_head){ JL_N("date"), JL_COLUMN_KEEP };
	if (one_kind) {
		JL_LEAD(doc, rows[0].gpu);
	}
	doc->flush = true;
	jl_show_columns(doc, NULL, heads, k);
	for (const struct row *row = rows; row < rows + n; row++) {
		const struct jl_price *p = row->price;
		const double n_gpus = isnan(p->n_gpu) ? 1 : p->n_gpu;

		jl_doc_cell_name(doc, money(doc, row->key * hour));
		if (whole)
			jl_doc_cell_name(doc, money(doc, order == BY_BUY ? p->price_usd : p->on_demand_usdps * 3600));
		if (spot)
			jl_doc_cell_name(doc, money(doc, (whole ? spot_usdps(p) : per_gpu(spot_usdps(p), p)) * 3600));
		JL_ROW(doc, false,
		       JL_NAMED(one_kind ? jl_doc_format(doc, "%.0fx", n_gpus)
					 : jl_doc_format(doc, "%.0fx %s%s", n_gpus, row->gpu ? row->gpu : "?",
							 row->open ? "*" : "")),
		       JL_NAMED(p->provider ? p->provider : ""), JL_NAMED(p->item ? p->item : ""),
		       JL_NAMED(p->region ? p->region : ""),
		       JL_NAMED(jl_doc_format(doc, "%s%s", p->date ? p->date : "?",
					      age_days(cli, p) > OLD_DAYS ? " ⚠" : "")));
	}
}

/* Lists the possible variants of marked rows: "* h100 (variant not stated): h100-pcie, ..." */
static void tell_open(struct jl_doc *doc, const struct jl_cli *cli, const struct row *rows, size_t n)
{
	const struct jl_gpu *may[GPUS_MAX];

	for (size_t i = 0; i < n; i++) {
		const char *text = "";
		bool again = !rows[i].open;
		size_t n_may;

		for (size_t k = 0; k < i && !again; k++)
			again = rows[k].open && strcasecmp(rows[k].gpu, rows[i].gpu) == 0;
		if (again)
			continue;
		n_may = jl_price_gpus(may, GPUS_MAX, cli->cat, rows[i].price);
		for (size_t k = 0; k < n_may && k < GPUS_MAX; k++)
			text = jl_doc_format(doc, "%s%s%s", text, k ? ", " : "", may[k]->id);
		jl_doc_note(doc, JL_MARK_NONE, jl_doc_format(doc, JL_("* %s (variant not stated)"), rows[i].gpu));
		jl_doc_name(doc, text);
	}
}

static void put_prices(struct jl_json *json, const struct jl_catalog *cat, const struct row *rows, size_t n)
{
	jl_json_pack(json, "{prices:[");
	for (size_t i = 0; i < n; i++)
		jl_catalog_put(json, cat, JL_R_PRICE, rows[i].price);
	jl_json_pack(json, "]}");
}

enum jl_status jl_cmd_catalog_prices(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_given *limit = jl_given(cli, "limit");
	struct filter filter;
	struct row *rows;
	size_t n = 0, n_shown, n_old = 0, n_bare = 0;
	struct jl_doc doc;

	JL_TRY(read_filter(cli, &filter, err));
	rows = jl_arena_array(&cli->arena, cli->cat->n_prices + 1, sizeof(*rows));
	JL_TRY(jl_got(rows, err));
	for (size_t i = 0; i < cli->cat->n_prices; i++) {
		bool fits = wanted(cli->cat, &filter, &cli->cat->prices[i], &rows[n]);

		n_bare += rows[n].bare;
		n += fits;
	}
	if (n == 0)
		return jl_fail(err, JL_E_NOTFOUND,
			       "no price fits; try without --region, or --sort buy for purchase prices");
	qsort(rows, n, sizeof(*rows), compare);
	n_shown = (size_t)jl_whole(cli, "limit", 30);
	if (n_shown > n)
		n_shown = n;
	if (cli->json)
		JL_JSON(cli, put_prices(&json, cli->cat, rows, limit ? n_shown : n));
	for (size_t i = 0; i < n_shown; i++)
		n_old += age_days(cli, rows[i].price) > OLD_DAYS;
	jl_view_page(cli, &doc);
	tell_rows(&doc, cli, rows, n_shown, filter.order);
	tell_open(&doc, cli, rows, n_shown);
	if (n > n_shown)
		jl_show_note(&doc, NULL, JL_ORIGIN_NONE, JL_("%zu of %zu; --limit shows more"), n_shown, n);
	if (n_bare)
		jl_show_note(&doc, NULL, JL_ORIGIN_NONE, JL_("rows without a GPU, left out: %zu"), n_bare);
	if (n_old)
		jl_show_note(&doc, NULL, JL_ORIGIN_NONE,
			     JL_("⚠ %zu shown here, older than %d days: ask again before you decide"), n_old, OLD_DAYS);
	return jl_view_show(cli, &doc, err);
}
