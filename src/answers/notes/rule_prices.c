/* Compares prices and rents with dated catalog rows: new, used, on-demand, spot. Prices vary over time and place, so only values outside all
 * listed ones for the same thing are reported, with the nearest row's place and date. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "notes/inside.h"

#define LOOKUPS_MAX 4000 /* maximum price lookups per note */
#define OFFER_SLACK 1.1  /* tolerance: a named cloud offer */
#define PRICE_SLACK 1.25 /* tolerance: a card from any seller */
#define FEW_SLACK   2.1  /* tolerance below, since cards are sold used; in both directions if few prices are listed */
#define FEW_ROWS    3
#define LIST_SLACK  6.    /* tolerance below a single row, which may be the list price */
#define WON_LEAST   1050. /* lowest KRW/USD rate since 2015; the upper end includes 10 % VAT */
#define WON_MOST    1620.

/* Words of sums that are not a unit price or an hourly price. */
#define NO_PRICE                                                                                                                            \
	"total|합계|총|month|monthly|매월|월간|한 "                                                                                 \
	"달|/월|월당|year|yearly|연간|annual|day|daily|하루|token|tokens|토큰|"                                                   \
	"TFLOP|TFLOPS|per GB|/GB|save|saved|saving|savings|절약|절감|run|training|학습|epoch|에폭|budget|예산|server|"            \
	"servers|서버|system|시스템|desktop|workstation|데스크톱|견적|electricity|전기|전력|kWh|bridge|브릿지|브리지|" \
	"module|모듈|refund|mining|amortized|감가|reserved|committed|약정|예약|contract|bid|cooling|쿨링|difference|"             \
	"차이|"                                                                                                                           \
	"더 비|더 싸|cheaper|more than|less than|credit|credits|크레딧"

static const char buys[] = "price|prices|priced|가격|가격대|MSRP|cost|costs|구매가|판매가|출시가|정가|중고가|시세|"
			   "retail|retails|sells for|buy|used|new|street";

struct offers { /* matching rows in dollars (or dollars per second) per unit */
	double lo, hi;
	const struct jl_price *near;
	double near_value;
	size_t n;
	bool named; /* a single offer of one cloud */
};

struct shelf { /* catalog rows about one thing */
	const struct jl_entity *e;
	bool rent;
	const uint16_t *rows;
	size_t n;
};

#define SHELVES_MAX 64

struct shelves {
	struct shelf all[SHELVES_MAX];
	size_t n;
};

struct asked {
	const struct jl_entity *e;
	const struct jl_mention *on;
	const char *provider; /* as in the rows; NULL: any */
	bool rent, spot;
	double value; /* dollars per unit */
	double count;
};

static const char *provider_named(const char *t, size_t len)
{
	static const struct {
		const char *words, *provider;
	} rows[] = { { "AWS|Amazon|아마존|EC2", "AWS" },
		     { "GCP|Google Cloud|GCE|구글", "GCP" },
		     { "Azure|애저", "Azure" },
		     { "Lambda", "Lambda" },
		     { "RunPod", "RunPod" },
		     { "Vast|Vast.ai", "Vast" } };

	for (size_t i = 0; i < JL_LEN(rows); i++)
		if (jl_span_has(t, len, rows[i].words))
			return rows[i].provider;
	return NULL;
}

static bool fits(const struct jl_audit_note *note, const struct asked *q, const struct jl_price *row)
{
	const struct jl_gpu *gpus[12];
	size_t n;

	if (q->e->system)
		return jl_price_is_offer(row, q->e->system->id);
	if (!q->rent && strcmp(row->kind, "gpu") != 0)
		return false;
	n = jl_price_gpus(gpus, 12, note->cat, row);
	for (size_t i = 0; i < n && i < 12; i++)
		for (size_t k = 0; k < q->e->n_gpus; k++)
			if (gpus[i] == q->e->gpus[k])
				return true;
	return false;
}

static void take(struct offers *o, const struct asked *q, const struct jl_price *row, double value)
{
	if (!(value > 0))
		return;
	if (!o->near || fabs(log(value / q->value)) < fabs(log(o->near_value / q->value))) {
		o->near = row;
		o->near_value = value;
	}
	o->lo = fmin(o->lo, value);
	o->hi = fmax(o->hi, value);
}

static bool same_thing(const struct jl_entity *a, const struct jl_entity *b)
{
	return a->system == b->system && a->n_gpus == b->n_gpus &&
	       memcmp(a->gpus, b->gpus, a->n_gpus * sizeof a->gpus[0]) == 0;
}

/* Looks rows up once per thing; NULL: limit reached. */
static const struct shelf *shelf_of(const struct jl_audit_note *note, struct shelves *shelves, const struct asked *q)
{
	struct shelf *s = shelves->all;
	uint16_t *rows;

	for (; s < shelves->all + shelves->n; s++)
		if (s->rent == q->rent && same_thing(s->e, q->e))
			return s;
	if (shelves->n == SHELVES_MAX || note->cat->n_prices > UINT16_MAX ||
	    !(rows = jl_arena_array(note->arena, note->cat->n_prices, sizeof *rows)))
		return NULL;
	shelves->n++;
	*s = (struct shelf){ .e = q->e, .rent = q->rent, .rows = rows };
	for (size_t i = 0; i < note->cat->n_prices; i++)
		if (fits(note, q, &note->cat->prices[i]))
			rows[s->n++] = (uint16_t)i;
	return s;
}

static struct offers offers_of(const struct jl_audit_note *note, struct shelves *shelves, const struct asked *q)
{
	struct offers o = { .lo = INFINITY, .named = q->e->system != NULL };
	const struct shelf *shelf = shelf_of(note, shelves, q);

	for (size_t i = 0; shelf && i < shelf->n; i++) {
		const struct jl_price *row = &note->cat->prices[shelf->rows[i]];
		const double each = q->e->system || !(row->n_gpu > 1) ? 1 : row->n_gpu;

		if (q->provider && !strstr(row->provider, q->provider))
			continue;
		o.n++;
		if (!q->rent) {
			take(&o, q, row, row->price_usd / each);
			continue;
		}
		take(&o, q, row, row->spot_min_usdps / each);
		take(&o, q, row, row->spot_median_usdps / each);
		if (!q->spot)
			take(&o, q, row, row->on_demand_usdps / each);
	}
	return o;
}

static bool inside(const struct offers *o, double lo, double hi, double slack_below, double slack)
{
	return hi >= o->lo / slack_below && lo <= o->hi * slack;
}

static const char *dollars(char out[JL_SHOULD_MAX], const struct asked *q, double value)
{
	const struct jl_figure like = { .scale = q->rent ? 1 / 3600.0 : 1,
					.decimals = q->rent ? 2 : 0,
					.flags = JL_FIG_COMMAS };

	return jl_fig_digits(out, &like, value, 0);
}

static void say(struct jl_audit_note *note, int32_t fig, const struct asked *q, const struct offers *o)
{
	struct jl_audit_finding *said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "listed", fig);
	const char *name = q->e->n_gpus == 1 ? q->e->gpus[0]->name : JL_QUOTE(note, q->on),
		   *unit = q->rent ? "USD/h" : "USD";
	char lo[JL_SHOULD_MAX], hi[JL_SHOULD_MAX], where[96];

	if (!said)
		return;
	dollars(lo, q, o->lo);
	dollars(hi, q, o->hi);
	snprintf(where, sizeof where, "%.40s%s%.30s, %.12s", o->near->provider,
		 o->near->region && *o->near->region ? ", " : "", o->near->region ? o->near->region : "",
		 o->near->date);
	said->source = o->near->url;
	said->about = q->e;
	if (strcmp(lo, hi) == 0) {
		snprintf(said->estimate, sizeof said->estimate, "%.24s %s", lo, unit);
		jl_audit_finding_explain(said, "%.60s is listed at %s (%s)", name, said->estimate, where);
		return;
	}
	snprintf(said->estimate, sizeof said->estimate, "%.24s–%.24s %s", lo, hi, unit);
	jl_audit_finding_explain(said, "%.60s is listed at %s; the nearest is %s %s (%s)", name, said->estimate,
				 dollars(lo, q, o->near_value), unit, where);
}

static bool is_hourly(const struct jl_figure *f, const char *label, size_t len)
{
	return f->qty == JL_Q_USD_RATE ||
	       (f->qty == JL_Q_USD && jl_span_has(label, len, "per hour|an hour|hourly|/hour|/hr|/h|시간당|시간 당"));
}

/* `label`: text that names the price; `line`: surrounding text. */
static bool check(struct jl_audit_note *note, struct shelves *shelves, int32_t fig, const struct jl_mention *on,
		  const char *label, size_t label_len, const char *line, size_t line_len)
{
	const struct jl_figure *f = &note->figures[fig];
	const bool won = f->qty == JL_Q_KRW;
	struct asked q = { .e = jl_mention_entity(note, on), .on = on, .count = on->count ? on->count : 1 };
	struct offers o;

	q.rent = is_hourly(f, label, label_len);
	if ((q.rent && won) || (!q.e->n_gpus && !q.e->system) || !(f->lo > 0) || jl_span_has(line, line_len, NO_PRICE))
		return false;
	q.provider = q.rent ? provider_named(line, line_len) : NULL;
	q.spot = jl_span_has(line, line_len, "spot|스팟|preemptible|interruptible");
	const double per = q.rent && f->qty == JL_Q_USD ? 3600 : 1; /* "$3.06" in a column "per hour" */
	const double lo = f->flags & JL_FIG_MOST ? 0 : f->lo / per, hi = f->flags & JL_FIG_LEAST ? f->hi * 1.5 : f->hi;
	q.value = jl_fig_mid(f) / per / (won ? (WON_LEAST + WON_MOST) / 2 : 1);
	o = offers_of(note, shelves, &q);
	if (!o.near && q.provider) {
		q.provider = NULL;
		o = offers_of(note, shelves, &q);
	}
	if (!o.near)
		return true;
	/* per unit, for all that are named, or for a count in the line */
	const struct jl_line *l = &note->lines[f->line];
	for (uint32_t i = 0; i < 2 + (l->n_figs < 64 ? l->n_figs : 0u); i++) {
		const struct jl_figure *many = i < 2 ? NULL : &note->figures[l->fig + i - 2];

		if (many && ((many->qty != JL_Q_NUMBER && many->qty != JL_Q_COUNT) || many->decimals || many->lo < 2 ||
			     many->lo > 1024))
			continue;
		const double n = many ? many->lo
				 : i  ? q.count
				      : 1,
			     from = lo / n / (won ? WON_MOST : 1), to = hi / per / n / (won ? WON_LEAST : 1);
		const double above = o.named ? OFFER_SLACK : o.n > FEW_ROWS ? PRICE_SLACK : FEW_SLACK;

		if (inside(&o, from, to, 1.02, 1.02))
			jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		if (inside(&o, from, to, o.named ? above : !q.rent && o.n == 1 ? LIST_SLACK : FEW_SLACK, above))
			return true;
	}
	say(note, fig, &q, &o);
	return true;
}

static bool is_money(const struct jl_figure *f)
{
	return f->qty == JL_Q_USD || f->qty == JL_Q_USD_RATE || f->qty == JL_Q_KRW;
}

static int judge_grid(struct jl_audit_note *note, struct shelves *shelves, const struct jl_grid *g)
{
	int n = 0;

	for (uint32_t r = 1; g->has_heads && r < g->n_rows; r++)
		for (uint32_t c = 1; c < g->n_cols; c++) {
			const struct jl_cell *cell = jl_grid_cell(g, r, c), *head = jl_grid_cell(g, 0, c),
					     *label = jl_grid_cell(g, r, 0);

			if (cell->fig < 0 || !is_money(&note->figures[cell->fig]) ||
			    note->verdicts[cell->fig] <= JL_AUDIT_UNLIKELY)
				continue;
			if (head->mention >= 0 && label->mention < 0) {
				const struct jl_cell *t = head;

				head = label;
				label = t;
			}
			if (label->mention >= 0 && !JL_PART_HAS(note, label, NO_PRICE) &&
			    (is_hourly(&note->figures[cell->fig], note->text + head->at, head->len) ||
			     JL_PART_HAS(note, head, "price|가격|가격대|MSRP|구매가|정가|출시가|중고가|street")))
				n += check(note, shelves, cell->fig, &note->mentions[label->mention],
					   note->text + head->at, head->len, note->text + head->at, head->len);
		}
	return n;
}

/* The last name before the price in its clause: adjacent ("RTX 2070 ($400)") or joined by words of buying; for rents also the line's only name. */
static const struct jl_mention *named_by(const struct jl_audit_note *note, const struct jl_line *line,
					 const struct jl_figure *f)
{
	const struct jl_mention *last = NULL;

	for (uint32_t i = line->mention; i < line->mention + line->n_mentions; i++)
		if (note->mentions[i].at + note->mentions[i].len <= f->at)
			last = &note->mentions[i];
	if (last) {
		const uint32_t end = last->at + last->len, n = f->at - end;
		const char *between = note->text + end;

		if (n <= 4 && strspn(between, " (:~-,=") >= n)
			return last;
		if (n < 60 && !memchr(between, ',', n) && !memchr(between, ';', n) &&
		    (f->qty == JL_Q_USD_RATE || jl_span_has(between, n + f->len, buys)))
			return last;
	}
	return f->qty == JL_Q_USD_RATE ? jl_audit_line_mention(note, f->line) : NULL;
}

static int judge_line(struct jl_audit_note *note, struct shelves *shelves, const struct jl_line *line)
{
	const char *t = note->text + line->at, *colon = memchr(t, ':', line->len);
	int n = 0;

	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *f = &note->figures[i];
		const struct jl_mention *on;

		if (!is_money(f) || note->verdicts[i] <= JL_AUDIT_UNLIKELY || note->verdicts[i] == JL_AUDIT_CONFIRMED ||
		    f->flags & JL_FIG_APPENDED)
			continue;
		on = line->n_mentions ? named_by(note, line, f) : NULL;
		if (!on && !line->n_mentions && colon && colon < note->text + f->at && colon - t < 40 &&
		    (f->qty == JL_Q_USD_RATE || jl_span_has(t, (size_t)(colon - t), buys)))
			on = jl_audit_speaks_of(note, f->at);
		if (!on)
			continue;
		/* the clause with the price */
		uint32_t from = on->at >= line->at && on->at < f->at ? on->at : line->at, to = f->at + f->len;
		while (from > line->at && on->at - from < 60 && !strchr(".,;|", note->text[from - 1]))
			from--;
		while (to < line->at + line->len && to < f->at + f->len + 40 && !strchr(".,;)|", note->text[to]))
			to++;
		n += check(note, shelves, (int32_t)i, on, note->text + from, to - from, note->text + from, to - from);
	}
	return n;
}

void jl_rule_prices(struct jl_audit_note *note)
{
	struct shelves shelves = { .n = 0 };
	int n = 0;

	for (size_t i = 0; i < note->n_grids && n < LOOKUPS_MAX; i++)
		if (note->grids[i].kind == JL_GRID_TABLE)
			n += judge_grid(note, &shelves, &note->grids[i]);
	for (size_t l = 0; l < note->n_lines && n < LOOKUPS_MAX; l++)
		if (note->lines[l].n_figs && note->lines[l].kind != JL_LINE_ROW && note->lines[l].n_figs < 64)
			n += judge_line(note, &shelves, &note->lines[l]);
}
