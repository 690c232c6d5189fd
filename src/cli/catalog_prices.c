/* jeoul catalog prices: rents and prices, cheapest first, with their dates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "cli/view.h"

#define OLD_DAYS 90 /* rents move faster than this; older ones are marked */

static const char *const orders[] = { "on-demand", "spot", "buy", NULL };

const struct jl_option jl_catalog_prices_options[] = {
	{ .name = "gpu",
	  .type = JL_OPT_TEXT,
	  .arg = "NAME",
	  .en = "only this accelerator; a short name takes all of its kind",
	  .ko = "이 GPU만. 짧게 쓰면 같은 이름의 모든 변형" },
	{ .name = "region",
	  .type = JL_OPT_TEXT,
	  .arg = "NAME",
	  .en = "only this region: a cloud's own name, or seoul, korea, us",
	  .ko = "이 지역만: 클라우드의 지역 이름 또는 seoul, korea, us" },
	{ .name = "provider", .type = JL_OPT_TEXT, .arg = "NAME", .en = "only this provider", .ko = "이 업체만" },
	{ .name = "sort",
	  .type = JL_OPT_CHOICE,
	  .choices = orders,
	  .arg = "on-demand|spot|buy",
	  .en = "what to sort by (default: on-demand)",
	  .ko = "정렬 기준 (기본값: on-demand)" },
	{ .name = "limit",
	  .type = JL_OPT_COUNT,
	  .min = 1,
	  .max = 100000,
	  .arg = "N",
	  .en = "at most N rows (default: 30)",
	  .ko = "최대 N줄 (기본값: 30)" },
	{ 0 },
};

/* What people call a place, and how it is written in the clouds' own names for their regions there. */
static const struct {
	const char *name;
	const char *parts[10];
} places[] = {
	{ "seoul", { "ap-northeast-2", "asia-northeast3", "koreacentral", "ap-seoul", "seoul", "korea" } },
	{ "korea", { "ap-northeast-2", "asia-northeast3", "korea", "ap-seoul", "ap-chuncheon", "seoul" } },
	{ "us", { "us-", "us", "eastus", "westus", "centralus", "-usa-", ", us" } },
};

static bool is_at(const char *region, const char *wanted)
{
	if (!region)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (strcasecmp(places[i].name, wanted) == 0) {
			for (const char *const *p = places[i].parts; *p; p++)
				if (strcasestr(region, *p))
					return true;
			return false;
		}
	return strcasestr(region, wanted) != NULL;
}

enum order { BY_ON_DEMAND, BY_SPOT, BY_BUY };

struct row {
	const struct jl_price *price;
	double key; /* per GPU */
};

static double per_gpu(double usd, const struct jl_price *p)
{
	return p->n_gpu > 0 ? usd / p->n_gpu : usd;
}

static double sort_key(const struct jl_price *p, enum order order)
{
	switch (order) {
	case BY_ON_DEMAND: return per_gpu(p->on_demand_usdps, p);
	case BY_SPOT: return per_gpu(isnan(p->spot_min_usdps) ? p->spot_median_usdps : p->spot_min_usdps, p);
	case BY_BUY: return per_gpu(p->price_usd, p);
	}
	return NAN;
}

/* Cheapest first; equals in the order of the catalog. */
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
	const char *region, *provider;
	enum order order;
};

static bool wanted(const struct jl_price *p, const struct filter *f)
{
	bool gpu_fits = f->n_gpus == 0;

	for (size_t i = 0; i < f->n_gpus && p->gpu; i++)
		gpu_fits |= strcmp(p->gpu, f->gpus[i]->id) == 0;
	return gpu_fits && (!f->region || is_at(p->region, f->region)) &&
	       (!f->provider || (p->provider && strcasestr(p->provider, f->provider))) && !isnan(sort_key(p, f->order));
}

static enum jl_status read_filter(struct jl_cli *cli, struct filter *f, struct jl_err *err)
{
	const char *gpu = jl_text(cli, "gpu"), *sort = jl_text(cli, "sort");
	const struct jl_gpu *one;

	*f = (struct filter){ .region = jl_text(cli, "region"), .provider = jl_text(cli, "provider") };
	for (int i = 0; sort && orders[i]; i++)
		if (strcmp(sort, orders[i]) == 0)
			f->order = (enum order)i;
	if (!gpu)
		return JL_OK;
	f->n_gpus = jl_find_gpus(f->gpus, GPUS_MAX, cli->cat, gpu);
	if (f->n_gpus > GPUS_MAX)
		f->n_gpus = GPUS_MAX;
	return f->n_gpus ? JL_OK : jl_find_gpu(&one, cli->cat, gpu, err); /* says what is near */
}

/* Days since the price was seen; NAN where its date is not one. */
static double age_days(const struct jl_cli *cli, const struct jl_price *p)
{
	long day;

	return p->date && jl_date_parse(&day, p->date, NULL) == JL_OK ? (double)(cli->today - day) : NAN;
}

static void money_cell(struct jl_table *table, double usd)
{
	if (isnan(usd))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, usd >= 100 ? "%.0f" : "%.2f", usd);
}

static enum jl_status print_rows(struct jl_cli *cli, const struct row *rows, size_t n, const struct filter *f,
				 struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = f->order == BY_BUY ? "USD/GPU" : "USD/h/GPU", .align = JL_RIGHT },
		{ .head = f->order == BY_BUY ? "USD" : "USD/h", .align = JL_RIGHT },
		{ .head = f->order == BY_BUY ? "" : JL_T(cli->lang, "spot", "스팟"), .align = JL_RIGHT },
		{ .head = "GPU" },
		{ .head = JL_T(cli->lang, "provider", "업체"), .flexible = true, .min_width = 6, .max_width = 12 },
		{ .head = JL_T(cli->lang, "item", "상품"), .flexible = true, .min_width = 14 },
		{ .head = JL_T(cli->lang, "region", "지역"), .flexible = true, .min_width = 10 },
		{ .head = JL_T(cli->lang, "date", "날짜") },
	};
	bool one_kind = true; /* then the kind stands once, above the table */
	struct jl_table table;

	for (size_t i = 1; i < n; i++)
		one_kind &= rows[i].price->gpu && rows[0].price->gpu &&
			    strcmp(rows[i].price->gpu, rows[0].price->gpu) == 0;
	if (one_kind && rows[0].price->gpu)
		jl_buf_printf(&cli->out, "%s\n\n", rows[0].price->gpu);
	jl_table_init(&table, &cli->arena, columns, 8);
	for (size_t i = 0; i < n; i++) {
		const struct jl_price *p = rows[i].price;
		double hour = f->order == BY_BUY ? 1 : 3600;
		double all = f->order == BY_BUY ? p->price_usd : f->order == BY_SPOT ? NAN : p->on_demand_usdps * hour;
		double spot = isnan(p->spot_min_usdps) ? p->spot_median_usdps : p->spot_min_usdps;

		money_cell(&table, rows[i].key * hour);
		money_cell(&table, f->order == BY_SPOT ? p->on_demand_usdps * 3600 : all);
		money_cell(&table, f->order == BY_BUY ? NAN : spot * 3600);
		if (one_kind && rows[0].price->gpu)
			jl_table_printf(&table, "%.0fx", isnan(p->n_gpu) ? 1 : p->n_gpu);
		else
			jl_table_printf(&table, "%.0fx %s", isnan(p->n_gpu) ? 1 : p->n_gpu,
					p->gpu        ? p->gpu
					: p->gpu_text ? p->gpu_text
						      : "?");
		jl_table_cell(&table, p->provider ? p->provider : "");
		jl_table_cell(&table, p->item ? p->item : "");
		jl_table_cell(&table, p->region ? p->region : "");
		jl_table_printf(&table, "%s%s", p->date ? p->date : "?", age_days(cli, p) > OLD_DAYS ? " ⚠" : "");
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 0, err);
}

static void print_json(struct jl_cli *cli, const struct row *rows, size_t n)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_array(&json, "prices");
	for (size_t i = 0; i < n; i++) {
		jl_view_record_json(&json, cli->cat, JL_R_PRICE, rows[i].price);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

enum jl_status jl_cmd_catalog_prices(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_given *limit = jl_given(cli, "limit");
	struct filter filter;
	struct row *rows;
	size_t n = 0, n_shown, n_old = 0;
	enum jl_status status = read_filter(cli, &filter, err);

	if (status)
		return status;
	rows = jl_arena_array(&cli->arena, cli->cat->n_prices + 1, sizeof(*rows));
	if (!rows)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < cli->cat->n_prices; i++)
		if (wanted(&cli->cat->prices[i], &filter))
			rows[n++] = (struct row){ .price = &cli->cat->prices[i],
						  .key = sort_key(&cli->cat->prices[i], filter.order) };
	if (n == 0)
		return jl_fail(err, JL_E_NOTFOUND,
			       "no price fits; try without --region, or --sort buy for purchase prices",
			       "맞는 가격이 없습니다. --region을 빼거나, 구매가는 --sort buy로 찾아보세요");
	qsort(rows, n, sizeof(*rows), compare);
	n_shown = limit ? (size_t)limit->count : 30;
	if (n_shown > n)
		n_shown = n;
	if (cli->json) {
		print_json(cli, rows, limit ? n_shown : n);
		return JL_OK;
	}
	for (size_t i = 0; i < n_shown; i++)
		n_old += age_days(cli, rows[i].price) > OLD_DAYS;
	status = print_rows(cli, rows, n_shown, &filter, err);
	if (n > n_shown)
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "%zu of %zu; --limit shows more\n",
				   "%zu건 표시 / 전체 %zu건. 더 보려면 --limit\n"),
			      n_shown, n);
	if (n_old)
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "⚠ %zu of these are older than %d days: ask again before you decide\n",
				   "⚠ %zu건은 %d일이 넘은 가격입니다. 결정하기 전에 다시 확인하세요\n"),
			      n_old, OLD_DAYS);
	return status;
}
