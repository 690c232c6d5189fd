/* Parses purchase options from text. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "catalog/find.h"
#include "catalog/possible.h"
#include "cost/option.h"
#include "system/machine.h"

#define DAY_S       86400.0
#define REST_W      100.0 /* power of a desktop without its GPU: rule 3090-desktop-power-example, 350 W + 100 W */
#define SEGMENT_MAX 16
#define TEXT_MAX    1024

/* ---- values after "key=" */

struct parse {
	struct jl_cost_option *o;
	const char *what; /* the option's whole text, for messages */
	bool any_sign;    /* accepts negative amounts, so that the caller can report a specific error */
	struct jl_err *err;
};

static enum jl_status quantity(double *ret_value, const struct parse *p, const char *key, const char *text,
			       enum jl_kind kind, double lo, double hi)
{
	double value;

	JL_TRY(jl_units_parse(&value, text, kind, key, p->err));
	if (!(value >= lo && value <= hi))
		return jl_fail(p->err, JL_E_RANGE, "%s=%s in \"%s\" makes no sense; expected e.g. %s", key, text,
			       p->what, jl_kind_example(kind));
	*ret_value = value;
	return JL_OK;
}

/* Parses "100 USD/month", "10만원/월"; not "100 USD a month". */
static enum jl_status per(struct jl_money *ret_money, const struct parse *p, const char *key, const char *text,
			  const char *const *suffixes, const char *example)
{
	char amount[96];
	struct jl_quantity q;

	for (size_t i = 0; suffixes[i]; i++) {
		const size_t len = strlen(text), tail = strlen(suffixes[i]);

		if (len <= tail || len - tail >= sizeof amount || strcasecmp(text + len - tail, suffixes[i]) != 0)
			continue;
		snprintf(amount, sizeof amount, "%.*s", (int)(len - tail), text);
		JL_TRY(jl_quantity_parse(&q, amount, JL_K_MONEY, key, p->err));
		if (!(q.value >= (p->any_sign ? -1e12 : 0) && q.value < 1e12))
			return jl_fail(p->err, JL_E_RANGE, "%s in \"%s\" makes no sense: %s", key, p->what, text);
		*ret_money = jl_money_from(q.value, q.kind == JL_K_KRW ? JL_KRW : JL_USD);
		return JL_OK;
	}
	return jl_fail(p->err, JL_E_UNIT, "%s '%s' in \"%s\" has no currency and time; write e.g. %s", key, text,
		       p->what, example);
}

static const char *const month_suffixes[] = { "/month", "/mo", "/월", NULL };
static const char *const hour_suffixes[] = { "/hour", "/hr", "/h", "/시간", NULL };

/* --- one row per key: an integer in some unit, a period, or a function. */
struct setting {
	const char *key;
	unsigned kinds; /* bits of enum jl_cost_kind */
	enum jl_status (*set)(const struct parse *p, const struct setting *s, const char *text);
	size_t at; /* offset in struct jl_cost_option */
	enum jl_kind kind;
	double lo, hi, scale;
};

static enum jl_status set_number(const struct parse *p, const struct setting *s, const char *text)
{
	double value = NAN;

	JL_TRY(quantity(&value, p, s->key, text, s->kind, s->lo, s->hi));
	*(long long *)(void *)((char *)p->o + s->at) = llround(value * s->scale);
	return JL_OK;
}
static enum jl_status set_watts(const struct parse *p, const struct setting *s, const char *text)
{
	JL_TRY(set_number(p, s, text));
	p->o->watts_assumed = false;
	return JL_OK;
}
static enum jl_status set_idle(const struct parse *p, const struct setting *s, const char *text)
{
	JL_TRY(set_number(p, s, text));
	p->o->off_when_idle = false;
	return JL_OK;
}
/* "owned", or a price instead of the assumed one. */
static enum jl_status set_host(const struct parse *p, const struct setting *s, const char *text)
{
	struct jl_quantity q = { .value = 0 };

	p->o->bare = strcasecmp(text, "owned") == 0;
	if (!p->o->bare)
		JL_TRY(jl_quantity_parse(&q, text, JL_K_MONEY, s->key, p->err));
	if (!p->o->bare &&
	    (!(q.value >= 0 && q.value < 1e12) || (q.kind == JL_K_KRW) != (p->o->price.currency == JL_KRW)))
		return jl_fail(p->err, JL_E_RANGE, "host=%s in \"%s\": write host=owned, or money as the price is in",
			       text, p->what);
	p->o->price.micro -= p->o->host.micro;
	p->o->host.micro = 0;
	p->o->price = jl_money_add(p->o->price, jl_money_from(q.value, p->o->price.currency));
	return JL_OK;
}
static enum jl_status set_resale(const struct parse *p, const struct setting *s, const char *text)
{
	p->o->resale_market = strcasecmp(text, "market") == 0;
	return p->o->resale_market ? JL_OK : set_number(p, s, text);
}
/* Years and months become calendar months. */
static enum jl_status set_period(const struct parse *p, const struct setting *s, const char *text)
{
	static const double month_s = 365 * DAY_S / 12; /* as in base/units */
	struct jl_cost_period *period = (struct jl_cost_period *)(void *)((char *)p->o + s->at);
	double time_s = NAN;

	JL_TRY(quantity(&time_s, p, s->key, text, JL_K_TIME, DAY_S, JL_COST_DAYS_MAX * DAY_S));
	const double months = round(time_s / month_s);
	if (months >= 1 && fabs(time_s - months * month_s) < 1)
		*period = (struct jl_cost_period){ .months = (int)months };
	else
		*period = (struct jl_cost_period){ .days = lround(time_s / DAY_S) };
	return JL_OK;
}
static enum jl_status set_interrupts(const struct parse *p, const struct setting *s, const char *text)
{
	char share[48];
	snprintf(share, sizeof share, "%.*s", (int)strcspn(text, "/"),
		 text); /* "20 %/h" and "20 %" both mean per hour */
	return set_number(p, s, share);
}
static enum jl_status add_monthly(const struct parse *p, struct jl_money money)
{
	if (p->o->per_month.micro && p->o->per_month.currency != money.currency)
		return jl_fail(p->err, JL_E_USAGE, "\"%s\": hosting and staff must be in one currency", p->what);
	p->o->per_month = p->o->per_month.micro ? jl_money_add(p->o->per_month, money) : money;
	return JL_OK;
}
static enum jl_status set_hosting(const struct parse *p, const struct setting *s, const char *text)
{
	struct jl_money money;

	JL_TRY(per(&money, p, s->key, text, month_suffixes, "hosting=100 USD/month"));
	return add_monthly(p, money);
}
/* "10 h at 50 USD/h" per month; adds to hosting. */
static enum jl_status set_staff(const struct parse *p, const struct setting *s, const char *text)
{
	static const char example[] = "staff=10 h at 50 USD/h";
	const char *at = strstr(text, " at ");
	char hours[64];
	struct jl_money rate;
	double time_s = NAN;

	if (!at || (size_t)(at - text) >= sizeof hours)
		return jl_fail(p->err, JL_E_USAGE, "staff=%s in \"%s\": write hours a month and their price, e.g. %s",
			       text, p->what, example);
	snprintf(hours, sizeof hours, "%.*s", (int)(at - text), text);
	JL_TRY(quantity(&time_s, p, s->key, hours, JL_K_TIME, 0, 10000 * 3600.0));
	JL_TRY(per(&rate, p, s->key, at + 4, hour_suffixes, example));
	return add_monthly(p, jl_money_scale(rate, llround(time_s), 3600));
}
static enum jl_status set_upfront(const struct parse *p, const struct setting *s, const char *text)
{
	struct jl_quantity q;

	JL_TRY(jl_quantity_parse(&q, text, JL_K_MONEY, s->key, p->err));
	p->o->price = jl_money_from(q.value, q.kind == JL_K_KRW ? JL_KRW : JL_USD);
	return JL_OK;
}

static const struct setting settings[] = {
#define MACHINE    ((1U << JL_COST_BUY) | (1U << JL_COST_OWN))
#define BUY        (1U << JL_COST_BUY)
#define SPOT       (1U << JL_COST_SPOT)
#define RESERVE    (1U << JL_COST_RESERVE)
#define ANY        0xffU
#define AT(member) offsetof(struct jl_cost_option, member)
	{ "watts", MACHINE, set_watts, AT(active_mW), JL_K_POWER, 0, JL_COST_WATTS_MAX, 1000 },
	{ "idle", MACHINE, set_idle, AT(idle_mW), JL_K_POWER, 0, JL_COST_WATTS_MAX, 1000 },
	{ "resale", BUY, set_resale, AT(resale_ppm), JL_K_FRACTION, 0, 1, 1e6 },
	{ "host", BUY, set_host, 0, 0, 0, 0, 0 },
	{ "life", BUY, set_period, AT(life), 0, 0, 0, 0 },
	{ "finance", BUY, set_number, AT(finance_ppm), JL_K_FRACTION, 0, 1, 1e6 },
	{ "hosting", ANY, set_hosting, 0, 0, 0, 0, 0 },
	{ "staff", ANY, set_staff, 0, 0, 0, 0, 0 },
	{ "util", ANY, set_number, AT(util_ppm), JL_K_FRACTION, 1e-6, 1, 1e6 },
	{ "interrupts", SPOT, set_interrupts, AT(interrupts_ppm), JL_K_FRACTION, 0, 10, 1e6 },
	{ "lost", SPOT, set_number, AT(lost_s), JL_K_TIME, 0, 30 * DAY_S, 1 },
	{ "restart", SPOT, set_number, AT(restart_s), JL_K_TIME, 0, 30 * DAY_S, 1 },
	{ "save", SPOT, set_number, AT(save_s), JL_K_TIME, 0, 30 * DAY_S, 1 },
	{ "term", RESERVE, set_period, AT(term), 0, 0, 0, 0 },
	{ "upfront", RESERVE, set_upfront, 0, 0, 0, 0, 0 },
};
#define N_SETTINGS (JL_LEN(settings))

static enum jl_status apply(const struct parse *p, char *segment)
{
	char *equal = strchr(segment, '=');
	char list[160] = "";

	if (equal) {
		*equal = '\0';
		for (size_t i = 0; i < N_SETTINGS; i++)
			if (strcasecmp(settings[i].key, segment) == 0 && settings[i].kinds & (1U << p->o->kind))
				return settings[i].set(p, &settings[i], equal + 1);
		*equal = '=';
	}
	for (size_t i = 0; i < N_SETTINGS; i++)
		if (settings[i].kinds & (1U << p->o->kind))
			snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s=", *list ? ", " : "",
				 settings[i].key);
	return jl_fail(p->err, JL_E_USAGE, "'%s' in \"%s\" is not a setting of --%s; there are %s", segment, p->what,
		       jl_cost_kind_key(p->o->kind), list);
}

/* ---- the first part: name and price */

static char *trim(char *text)
{
	size_t len;
	while (isspace((unsigned char)*text))
		text++;
	for (len = strlen(text); len && isspace((unsigned char)text[len - 1]);)
		text[--len] = '\0';
	return text;
}

/* Splits at commas, but not inside 2,200. */
static size_t split(char *text, char *segments[SEGMENT_MAX])
{
	size_t n = 0;
	char *from = text;

	for (char *at = text;; at++) {
		const bool inside = *at == ',' && at > text && isdigit((unsigned char)at[-1]) &&
				    isdigit((unsigned char)at[1]);

		if (*at && (*at != ',' || inside))
			continue;
		const bool last = *at == '\0';
		*at = '\0';
		if (n < SEGMENT_MAX)
			segments[n++] = trim(from);
		if (last)
			return n;
		from = at + 1;
	}
}

static bool money_of(struct jl_money *ret_money, const char *text, bool rate)
{
	struct jl_cost_option none = { .name = "" };
	struct jl_err ignored;
	struct parse p = { .o = &none, .what = text, .any_sign = true, .err = &ignored };
	struct jl_quantity q;

	if (rate)
		return per(ret_money, &p, "rent", text, hour_suffixes, "") == JL_OK;
	if (jl_quantity_parse(&q, text, JL_K_MONEY, "price", &ignored))
		return false;
	*ret_money = jl_money_from(q.value, q.kind == JL_K_KRW ? JL_KRW : JL_USD);
	return true;
}

/* Splits off the longest amount at the end ("1억 2천만 원"). */
static bool take_amount(char *head, struct jl_money *ret_money, bool rate)
{
	char *at = head + strlen(head), *cut = NULL;

	for (int words = 1; words <= 6 && at > head; words++) {
		while (at > head && at[-1] == ' ')
			at--;
		while (at > head && at[-1] != ' ')
			at--;
		if (money_of(ret_money, at, rate))
			cut = at;
	}
	if (!cut)
		return false;
	(void)money_of(ret_money, cut, rate);
	*cut = '\0';
	return true;
}

/* True for "box 2만" (before "3억원"): the end of an amount that could not be parsed as a whole. */
static bool ends_in_numeral(const char *head)
{
	static const char *const ends[] = { "조", "억", "만", "천", "백", "원" };
	const char *space = strrchr(head, ' '), *last = space ? space + 1 : head;
	const size_t len = strlen(last);

	for (size_t i = 0; isdigit((unsigned char)*last) && i < JL_LEN(ends); i++)
		if (len > strlen(ends[i]) && strcmp(last + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Finds the longest sequence of first words that is a system; *ret_len 0: none. Fails only on an impossible system. */
static enum jl_status longest_system(struct jl_sys *ret_sys, size_t *ret_len, const char *text,
				     const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	char words[TEXT_MAX];
	char *space;

	snprintf(words, sizeof words, "%s", text);
	do {
		const enum jl_status status = jl_sys_parse(ret_sys, cat, words, arena, err);

		*ret_len = status ? 0 : strlen(words);
		if (!status || status == JL_E_RANGE)
			return status;
		space = strrchr(words, ' ');
		if (space)
			*space = '\0';
	} while (space && *trim(words));
	return JL_OK;
}

static void blank_marks(char *words)
{
	for (char *at = words; (at = strpbrk(at, ",+&/"));)
		*at = ' ';
}

/* "rtx-3090 desktop" is an rtx-3090. Impossible systems are errors, unknown names are not. */
static enum jl_status find_system(struct jl_cost_option *o, const char *name, const struct jl_catalog *cat,
				  struct jl_arena *arena, struct jl_err *err)
{
	const bool desktop = strcasestr(name, "desktop") || strcasestr(name, "workstation");
	char words[TEXT_MAX];
	struct jl_err ignored;
	struct jl_sys other;
	size_t len, more;

	snprintf(words, sizeof words, "%s", name);
	blank_marks(words);
	JL_TRY(longest_system(&o->system, &len, words, cat, arena, err));
	o->has_system = len > 0;
	o->n_gpus = o->has_system && o->system.gpu ? jl_sys_n_devices(&o->system) : 0;
	for (const char *rest = len ? strchr(words + len, ' ') : NULL; rest; rest = strchr(rest + 1, ' '))
		if (!longest_system(&other, &more, rest + 1, cat, arena, &ignored) && other.gpu && o->system.gpu &&
		    other.gpu != o->system.gpu && strcspn(rest + 1, "0123456789") < more) /* e.g. "workstation" */
			return jl_fail(err, JL_E_USAGE,
				       "\"%s\" mixes %s and %s: such a machine is not in the catalog; give its price "
				       "and power, e.g. \"my machine 5000 USD, watts=1200 W\"",
				       name, o->system.gpu->id, other.gpu->id);
	return len && desktop && o->system.gpu && !o->system.system ? jl_card_possible(o->system.gpu, cat, err) : JL_OK;
}

/* Power under load: one card in a desktop by the rule, larger systems as predicted, including the host. */
static enum jl_status assume_watts(struct jl_cost_option *o, const struct jl_catalog *cat, struct jl_err *err)
{
	const struct jl_sys *s = &o->system;
	struct jl_machine machine;
	struct jl_err ignored;
	double W = NAN;

	if (o->active_mW > 0 || !o->has_system)
		return JL_OK;
	if (s->gpu && !s->system && s->n_per_node == 1)
		W = (s->gpu->tdp_W.value + REST_W) * s->n_nodes;
	else if (jl_machine_make(&machine, cat, s, &ignored) == JL_OK)
		W = machine.dev.tdp_W * jl_sys_n_devices(&machine.sys) +
		    jl_machine_host_W(&machine, jl_sys_n_devices(&machine.sys));
	if (isnan(W))
		return jl_fail(err, JL_E_NOTFOUND, "the power of '%s' is not known: give it, e.g. \"%s, watts=450 W\"",
			       o->name, o->name);
	o->active_mW = llround(W * 1000);
	o->watts_assumed = true;
	return JL_OK;
}

/* Copies the words after the system's name to `words`. */
static char *beside_system(char words[TEXT_MAX], const struct jl_cost_option *o, const struct jl_catalog *cat,
			   struct jl_arena *arena)
{
	struct jl_err ignored;
	struct jl_sys system;
	size_t len = 0;

	snprintf(words, TEXT_MAX, "%s", o->name);
	blank_marks(words);
	(void)longest_system(&system, &len, words, cat, arena, &ignored);
	return words + len;
}

/* True if the last word looks like a price. */
static bool looks_like_money(const char *head)
{
	static const char *const ends[] = { "USD",   "KRW", "원",     "달러",  "/h",  "/hour", "/hr",
					    "/시간", "/mo", "/month", "/월",   "/d",  "/day",  "/일",
					    "/week", "/주", "/y",     "/year", "/년", "$",     NULL };
	const char *last = strrchr(head, ' ');
	const size_t len = strlen(head);

	for (size_t i = 0; ends[i]; i++)
		if (len >= strlen(ends[i]) && strcasecmp(head + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return last && (last[1] == '$' || strncmp(last + 1, "₩", strlen("₩")) == 0);
}

/* The currency of a price for which no exchange rate is supported; NULL: none. */
static const char *foreign_money(const char *head)
{
	static const char *const words[] = { "EUR",  "€",   "GBP", "£",   "JPY", "¥",   "CNY", "RMB", "유로",
					     "위안", "TWD", "CHF", "CAD", "AUD", "INR", "NT$", "HKD", "SGD" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *at = strstr(head, words[i]), *end = at ? at + strlen(words[i]) : NULL;

		if (at && ((at > head && isdigit((unsigned char)at[at > head + 1 && at[-1] == ' ' ? -2 : -1])) ||
			   isdigit((unsigned char)end[*end == ' '])))
			return words[i];
	}
	return NULL;
}

static enum jl_status parse_head(struct jl_cost_option *o, char *head, const char *region, const struct jl_catalog *cat,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_money *amount = jl_cost_is_rent(o->kind) ? &o->per_hour : &o->price;
	const bool said = o->kind != JL_COST_OWN && take_amount(head, amount, jl_cost_is_rent(o->kind));
	const char *last = strrchr(head, ' ');

	head = trim(head);
	if (!said && foreign_money(head))
		return jl_fail(err, JL_E_USAGE, "\"%s\": prices are in USD or KRW, not in %s; write e.g. %s", head,
			       foreign_money(head),
			       jl_cost_is_rent(o->kind) ? "\"2.14 USD/h\"" : "\"rtx-3090 desktop 2200 USD\"");
	if (!said && last && isdigit((unsigned char)last[1]) && strspn(last + 1, "0123456789.,") == strlen(last + 1))
		return jl_fail(err, JL_E_UNIT, "the price '%s' of \"%s\" has no currency; write e.g. %s", last + 1,
			       head, jl_cost_is_rent(o->kind) ? "2.14 USD/h" : "2200 USD");
	if (said ? ends_in_numeral(head) : looks_like_money(head))
		return jl_fail(err, JL_E_USAGE, "no price can be read in \"%s\"; write e.g. %s", head,
			       jl_cost_is_rent(o->kind) ? "\"2.14 USD/h\"" : "\"rtx-3090 desktop 2200 USD\"");
	if (said && amount->micro <= 0)
		return jl_fail(err, JL_E_RANGE, "the price of \"%s\" must be above zero",
			       *head ? head : jl_cost_kind_key(o->kind));
	if (said && amount->micro >= JL_MONEY_MAX)
		return jl_fail(err, JL_E_RANGE, "the price of \"%s\" is too large: at most four trillion",
			       *head ? head : jl_cost_kind_key(o->kind));
	snprintf(o->name, sizeof o->name, "%s", *head ? head : jl_cost_kind_key(o->kind));
	JL_TRY(find_system(o, head, cat, arena, err));
	if (said || o->kind == JL_COST_OWN)
		return JL_OK;
	char words[TEXT_MAX] = "";

	return jl_cost_is_rent(o->kind)
		       ? jl_cost_catalog_rent(o, o->has_system ? beside_system(words, o, cat, arena) : words, region,
					      cat, arena, err)
		       : jl_cost_catalog_price(o, cat, err);
}

/* Sets the default loss where interruptions are given without one. */
static void assume_lost(struct jl_cost_option *o, const char *text)
{
	struct jl_cost_option usual = *o;

	jl_cost_spot_usual(&usual, o->has_system ? o->system.n_per_node : 1, 0);
	if (!o->interrupts_ppm || strcasestr(text, "lost="))
		return;
	o->lost_assumed = !o->price_date;
	o->lost_s = usual.lost_s;
	if (!strcasestr(text, "restart="))
		o->restart_s = usual.restart_s;
}

static enum jl_status market_resale(const struct parse *p, const struct jl_catalog *cat)
{
	const struct jl_resale curve = jl_resale_curve(cat);
	const double years = p->o->life.months ? p->o->life.months / 12.0 : (double)p->o->life.days / 365.25;

	if (!(years > 0))
		return jl_fail(p->err, JL_E_USAGE, "\"%s\": resale=market needs to know when it is sold: life=3 y",
			       p->what);
	if (!curve.n_cards)
		return jl_fail(p->err, JL_E_NOTFOUND,
			       "\"%s\": the catalog has no second-hand prices to take resale from: resale=30 %%",
			       p->what);
	p->o->resale_ppm = llround(1e6 * fmin(1, pow(curve.yearly_frac, years)));
	return JL_OK;
}

enum jl_status jl_cost_option_parse(struct jl_cost_option *ret_option, enum jl_cost_kind kind, const char *text,
				    const char *region, const struct jl_catalog *cat, struct jl_arena *arena,
				    struct jl_err *err)
{
	struct jl_cost_option o = { .kind = kind, .off_when_idle = true, .term = { .months = 12 } };
	struct parse p = { .o = &o, .what = text, .err = err };
	char copy[TEXT_MAX], *segments[SEGMENT_MAX];
	size_t n;

	if (strlen(text) >= sizeof copy)
		return jl_fail(err, JL_E_LIMIT, "--%s: at most %d characters", jl_cost_kind_key(kind), TEXT_MAX);
	snprintf(copy, sizeof copy, "%s", text);
	n = split(copy, segments);
	if (!*segments[0])
		return jl_fail(err, JL_E_USAGE, "--%s needs a name and a price, e.g. %s", jl_cost_kind_key(kind),
			       jl_cost_is_rent(kind) ? "\"aws:p3.2xlarge\" or \"2.14 USD/h\""
						     : "\"rtx-3090 desktop 2200 USD\"");
	JL_TRY(parse_head(&o, segments[0], region, cat, arena, err));
	for (size_t i = 1; i < n; i++)
		if (*segments[i])
			JL_TRY(apply(&p, segments[i]));
	if (kind == JL_COST_SPOT)
		assume_lost(&o, text);
	if (o.resale_market)
		JL_TRY(market_resale(&p, cat));
	if (!jl_cost_is_rent(kind))
		JL_TRY(assume_watts(&o, cat, err));
	if (kind == JL_COST_OWN && !o.has_system && o.active_mW <= 0)
		return jl_fail(err, JL_E_USAGE,
			       "\"%s\" is not known: name a system, or give its power: \"%s, watts=450 W\"", o.name,
			       o.name);
	*ret_option = o;
	return JL_OK;
}
