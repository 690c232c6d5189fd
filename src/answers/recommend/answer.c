/* Builds the answer of recommend: selected rows, their reasons, and the fields for JSON. */
#include "recommend/answer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- one candidate */

#define RENTED(c) ((c)->how == JL_HOW_RENT || (c)->how == JL_HOW_SPOT)
#define SERVED(r) ((r)->ask->task == JL_TASK_SERVE)
JL_TEXT_OF(how, jl_recommend_row, jl_how_key(r->c.how));
JL_TEXT_OF(gpu, jl_recommend_row, r->s.sys.gpu->id);
JL_TEXT_OF(provider, jl_recommend_row, r->c.price ? r->c.price->provider : NULL);
JL_TEXT_OF(item, jl_recommend_row, r->c.price ? r->c.price->item : NULL);
JL_TEXT_OF(region, jl_recommend_row, r->c.price ? r->c.price->region : NULL);
JL_TEXT_OF(precision, jl_recommend_row, jl_dtype_name(r->s.dtype));
JL_TEXT_OF(misses, jl_recommend_row, jl_against_key(r->c.against));
JL_NUMBER_OF(n_gpus, jl_recommend_row, (double)r->s.sys.n_per_node * r->s.sys.n_nodes);
JL_NUMBER_OF(purchase, jl_recommend_row, r->c.unit_usd * r->s.sys.n_nodes);
JL_BOOL_OF(offload, jl_recommend_row, r->s.offload != 0);
JL_BOOL_OF(rented, jl_recommend_row, RENTED(&r->c));
JL_BOOL_OF(bought, jl_recommend_row, !RENTED(&r->c));
JL_BOOL_OF(served, jl_recommend_row, SERVED(r));
JL_BOOL_OF(trained, jl_recommend_row, !SERVED(r));
JL_BOOL_OF(by_model, jl_recommend_row, !SERVED(r) && !r->ask->seen);
JL_BOOL_OF(will_not_do, jl_recommend_row, r->c.against != JL_AGAINST_NOTHING);

JL_BOOL_OF(other_words, jl_caveat, strcmp(r->en, r->text) != 0);

static const struct jl_field caveat[] = {
	{ JL_FIELD(jl_caveat, TEXT, key) },
	{ JL_FIELD_AS(jl_caveat, CHARS, en, "text") },
	{ JL_FIELD_AS(jl_caveat, CHARS, text, "said"), .when = other_words,
	  .about = "in the language that was asked for, where that is not English" },
};
static const struct jl_schema caveat_schema = JL_SCHEMA("caveat", jl_caveat, caveat);

JL_BOOL_OF(why_other_words, jl_recommend_row, strcmp(r->why.en, r->why.text) != 0);

#define R(TYPE, M, KEY) JL_FIELD_AS(jl_recommend_row, TYPE, M, KEY)
static const struct jl_field row[] = {
	{ JL_FIELD_TEXT_OF("misses", misses), .when = will_not_do },
	{ R(CHARS, why.en, "why"), .flags = JL_FF_OMIT },
	{ R(CHARS, why.text, "said"), .when = why_other_words,
	  .about = "why, in the language that was asked for, where that is not English" },
	{ JL_FIELD_TEXT_OF("how", how) },
	{ R(TEXT, s.text, "system") },
	{ JL_FIELD_TEXT_OF("gpu", gpu) },
	{ JL_FIELD_NUMBER_OF("n_gpus", n_gpus) },
	{ R(INT, s.sys.n_nodes, "n_machines") },
	{ JL_FIELD_TEXT_OF("provider", provider) },
	{ JL_FIELD_TEXT_OF("item", item) },
	{ JL_FIELD_TEXT_OF("region", region) },
	{ R(TEXT, c.price_date, "price_date") },
	{ R(NUMBER, c.unit_usd, "machine_usd_per_hour"), .when = rented },
	{ R(NUMBER, c.unit_usd, "machine_usd"), .when = bought },
	{ JL_FIELD_NUMBER_OF("purchase_usd", purchase), .when = bought },
	{ R(NUMBER, c.host_usd, "host_assumed_usd") },
	{ R(ESTIMATE, s.run_s, "token_s"), .when = served },
	{ R(ESTIMATE, s.run_s, "run_s"), .when = trained },
	{ R(ESTIMATE, c.wall_s, "wall_s"), .when = trained },
	{ R(ESTIMATE, s.per_s, "per_s") },
	{ R(ESTIMATE, c.cost_usd, "cost_usd") },
	{ R(ESTIMATE, c.run_cost_usd, "run_cost_usd") },
	{ R(NUMBER, c.work_h, "work_h") },
	{ R(NUMBER, s.power_W, "power_W") },
	{ R(NUMBER, s.peak_W, "peak_W") },
	{ R(NUMBER, c.energy_kWh, "energy_kWh") },
	{ R(NUMBER, s.memory_B, "memory_B") },
	{ R(NUMBER, s.dp, "dp") },
	{ R(NUMBER, s.tp, "tp") },
	{ R(NUMBER, s.pp, "pp") },
	{ R(INT, s.zero, "zero") },
	{ JL_FIELD_BOOL_OF("offload", offload) },
	{ R(NUMBER, s.micro_batch, "micro_batch"), .when = trained },
	{ R(NUMBER, s.global_batch, "global_batch"), .when = trained },
	{ JL_FIELD_TEXT_OF("precision", precision), .when = by_model },
	{ R(NUMBER, s.weight_bits, "weight_bits"), .when = served },
	{ R(NUMBER, s.n_requests, "n_requests"), .when = served, .about = "at once, at its own pace" },
	{ R(BOOL, c.on_front, "on_front") },
	{ JL_FIELD_MANY(jl_recommend_row, ARRAY, caveats, n_caveats, "caveats", &caveat_schema) },
};
static const struct jl_schema row_schema = JL_SCHEMA("candidate", jl_recommend_row, row);

/* --- the whole recommendation */

#define AGAINST(A, KEY)                                                                                                \
	{                                                                                                              \
		JL_FIELD_AS(jl_recommendation, SIZE, n_against[JL_AGAINST_##A], KEY)                                   \
	}
static const struct jl_field against[] = {
	AGAINST(NOTHING, "nothing"),   AGAINST(UNKNOWN, "unknown"), AGAINST(MEMORY, "memory"),
	AGAINST(BATCH, "batch"),       AGAINST(PRICE, "price"),     AGAINST(OFFER, "offer"),
	AGAINST(SUPPORT, "support"),   AGAINST(GROUP, "group"),     AGAINST(SPARE, "spare"),
	AGAINST(MEASURED, "measured"), AGAINST(USE, "use"),         AGAINST(WAIT, "wait"),
	AGAINST(BUDGET, "budget"),     AGAINST(POWER, "power"),     AGAINST(INTERVAL, "interval"),
	AGAINST(STEPS, "steps"),       AGAINST(DEAR, "dear"),
};
static_assert(JL_LEN(against) == JL_N_AGAINST, "every reason is counted");
static const struct jl_schema against_schema = JL_SCHEMA("against", jl_recommendation, against);

static const struct jl_field found[] = {
	{ JL_FIELD(jl_recommendation, NUMBER, runs) },      { JL_FIELD_AS(jl_recommendation, SIZE, n, "n_candidates") },
	{ JL_FIELD(jl_recommendation, SIZE, n_setups) },    { JL_FIELD(jl_recommendation, SIZE, n_offers) },
	{ JL_FIELD(jl_recommendation, NUMBER, elapsed_s) }, { JL_FIELD_GROUP("against", &against_schema) },
};
static const struct jl_schema found_schema = JL_SCHEMA("found", jl_recommendation, found);

#define SEEN(M, KEY)                                                                                                   \
	{                                                                                                              \
		JL_FIELD_AS(jl_recommended, SEEN, M, KEY), .sub = &row_schema, .flags = JL_FF_OMIT                     \
	}
static const struct jl_field best[] = { SEEN(best[JL_HOW_NEW], "buy-new"), SEEN(best[JL_HOW_USED], "buy-used"),
					SEEN(best[JL_HOW_RENT], "rent"), SEEN(best[JL_HOW_SPOT], "spot") };
static const struct jl_schema best_schema = JL_SCHEMA("best", jl_recommended, best);

JL_TEXT_OF(purpose, jl_recommended, r->purpose ? r->purpose->id : NULL);
JL_TEXT_OF(task, jl_recommended, r->ask->seen ? "observed" : jl_task_key(r->ask->task));
JL_TEXT_OF(model, jl_recommended, r->ask->run.model);
JL_NUMBER_OF(months, jl_recommended, r->ask->months);
JL_BOOL_OF(serves, jl_recommended, r->ask->task == JL_TASK_SERVE);

#define LOAD(M, KEY)                                                                                                   \
	{                                                                                                              \
		JL_FIELD_AS(jl_recommend_ask, NUMBER, M, KEY)                                                          \
	}
static const struct jl_field load[] = {
	LOAD(users, "users"),
	LOAD(think_s, "think_s"),
	{ JL_FIELD(jl_recommend_ask, NUMBER, concurrency),
	  .about = "requests at once; of users: at the slowest pace that will do" },
	LOAD(context, "context_tokens"),
	LOAD(prompt, "prompt_tokens"),
	LOAD(answer, "answer_tokens"),
	LOAD(tokens_per_s, "tokens_per_s"),
};
static const struct jl_schema load_schema = JL_SCHEMA("load", jl_recommend_ask, load);

static const struct jl_field fields[] = {
	{ JL_FIELD_TEXT_OF("purpose", purpose) },
	{ JL_FIELD_TEXT_OF("task", task) },
	{ JL_FIELD_TEXT_OF("model", model) },
	{ JL_FIELD_NUMBER_OF("months", months) },
	{ JL_FIELD_AS(jl_recommended, SEEN, ask, "load"), .sub = &load_schema, .when = serves },
	{ JL_FIELD_AS(jl_recommended, SEEN, found, "found"), .sub = &found_schema, .flags = JL_FF_FLAT },
	SEEN(pick, "pick"),
	SEEN(nearest, "nearest"),
	SEEN(runner_up, "runner_up"),
	SEEN(cheapest, "cheapest"),
	SEEN(fastest, "fastest"),
	SEEN(asked, "why_not"),
	{ JL_FIELD_MANY(jl_recommended, LIST, rejected, n_rejected, "rejected", &row_schema) },
	{ JL_FIELD_GROUP("best", &best_schema) },
	{ JL_FIELD_MANY(jl_recommended, LIST, front, n_front, "front", &row_schema) },
};
const struct jl_schema jl_recommend_fields = JL_SCHEMA("recommendation", jl_recommended, fields);

static struct jl_recommend_row *row_of(struct jl_recommend_row *at, const struct jl_recommended *a, int i)
{
	*at = (struct jl_recommend_row){ .c = a->found->items[i], .s = *a->found->items[i].setup, .ask = a->ask };
	at->n_caveats = jl_recommend_caveats(at->caveats, &a->found->items[i], a->ask);
	return at;
}

/* Adds candidate `i` as a row; i < 0: NULL. The reason is that of `place`, or for JL_N_PLACE the reason for its rejection. */
static struct jl_recommend_row *placed(struct jl_recommend_row **io_rows, const struct jl_recommended *a, int i,
				       enum jl_place place)
{
	struct jl_recommend_row *at = *io_rows;

	if (i < 0)
		return NULL;
	(void)row_of((*io_rows)++, a, i);
	if (place < JL_N_PLACE)
		jl_recommend_why(&at->why, a->found, place);
	else
		jl_recommend_against(&at->why, a->found, &a->found->items[i], a->ask);
	return at;
}

enum jl_status jl_recommend_answer(struct jl_recommended *io_answer, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_recommendation *r = io_answer->found;
	struct jl_recommend_row *rows;
	size_t n = 0;

	for (size_t i = 0; i < r->n_ok; i++)
		n += r->items[i].on_front;
	rows = jl_arena_array(arena, n + 3 + JL_N_PLACE + JL_REJECTED_MAX + JL_N_HOW, sizeof(*rows));
	JL_TRY(jl_got(rows, err));
	io_answer->front = rows;
	io_answer->n_front = n;
	for (size_t i = 0; i < r->n_ok; i++)
		if (r->items[i].on_front)
			(void)row_of(rows++, io_answer, (int)i);
	io_answer->pick = placed(&rows, io_answer, r->pick, JL_PLACE_PICK);
	io_answer->runner_up = placed(&rows, io_answer, r->runner_up, JL_PLACE_RUNNER_UP);
	io_answer->cheapest = placed(&rows, io_answer, r->pick < 0 ? -1 : r->cheapest, JL_PLACE_CHEAPEST);
	io_answer->fastest = placed(&rows, io_answer, r->pick < 0 ? -1 : r->fastest, JL_PLACE_FASTEST);
	io_answer->nearest = placed(&rows, io_answer, r->nearest, JL_N_PLACE);
	io_answer->asked = placed(&rows, io_answer, io_answer->why_not, JL_N_PLACE);
	io_answer->rejected = rows;
	for (; io_answer->n_rejected < r->n_rejected; io_answer->n_rejected++)
		(void)placed(&rows, io_answer, r->rejected[io_answer->n_rejected], JL_N_PLACE);
	for (int h = 0; h < JL_N_HOW; h++)
		io_answer->best[h] = r->best[h] >= 0 ? row_of(rows++, io_answer, r->best[h]) : NULL;
	return JL_OK;
}

size_t jl_recommend_thin(const struct jl_recommendation *r, size_t max, int *ret_rows)
{
	double step = 1; /* minimum time ratio between shown rows; 1: all are shown */
	size_t n;

	do {
		double last_s = INFINITY;

		n = 0;
		for (size_t i = 0; i < r->n_ok && n <= max; i++) {
			const struct jl_candidate *c = &r->items[i];

			if (!(c->on_front &&
			      (c->wall_s.value <= step * last_s || (int)i == r->pick || (int)i == r->fastest)))
				continue;
			if (n < max)
				ret_rows[n] = (int)i;
			n++;
			last_s = fmin(last_s, c->wall_s.value);
		}
		step *= 0.9;
	} while (n > max && step > 1e-9);
	return n < max ? n : max;
}
