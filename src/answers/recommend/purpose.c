/* Reads purposes and fills in their defaults. */
#include "recommend/recommend.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "catalog/find.h"
#include "base/buf.h"
#include "base/units.h"
#include "base/yaml.h"
#include "serve/infer.h"

#define PURPOSES_MAX 64

static const char *const tasks[JL_N_TASK] = {
	[JL_TASK_TRAIN] = "train",
	[JL_TASK_LORA] = "lora",
	[JL_TASK_SERVE] = "serve",
};

const char *jl_task_key(enum jl_task task)
{
	return tasks[task];
}

static const struct {
	const char *key;
	size_t offset;
} words[] = {
	{ "id", offsetof(struct jl_purpose, id) },
	{ "en", offsetof(struct jl_purpose, en) },
	{ "model", offsetof(struct jl_purpose, model) },
	{ "caveat", offsetof(struct jl_purpose, caveat) },
};

static const struct {
	const char *key;
	size_t offset;
	enum jl_kind kind;
} numbers[] = {
	{ "seq", offsetof(struct jl_purpose, seq), JL_K_NUMBER },
	{ "global_batch", offsetof(struct jl_purpose, global_batch), JL_K_NUMBER },
	{ "samples", offsetof(struct jl_purpose, samples), JL_K_NUMBER },
	{ "tokens", offsetof(struct jl_purpose, tokens), JL_K_NUMBER },
	{ "epochs", offsetof(struct jl_purpose, epochs), JL_K_NUMBER },
	{ "runs", offsetof(struct jl_purpose, runs), JL_K_NUMBER },
	{ "months", offsetof(struct jl_purpose, months), JL_K_NUMBER },
	{ "wait", offsetof(struct jl_purpose, wait_s), JL_K_TIME },
	{ "concurrency", offsetof(struct jl_purpose, concurrency), JL_K_NUMBER },
	{ "context", offsetof(struct jl_purpose, context), JL_K_NUMBER },
	{ "tokens_per_s", offsetof(struct jl_purpose, tokens_per_s), JL_K_NUMBER },
};

#define N_WORDS   (JL_LEN(words))
#define N_NUMBERS (JL_LEN(numbers))

static enum jl_status read_numbers(struct jl_purpose *p, const struct jl_yaml *map, struct jl_err *err)
{
	for (size_t i = 0; i < N_NUMBERS; i++) {
		double *to = (double *)(void *)((char *)p + numbers[i].offset);
		const char *text = jl_yaml_text(map, numbers[i].key);

		*to = NAN;
		if (!text)
			continue;
		JL_TRY(jl_units_parse(to, text, numbers[i].kind, numbers[i].key, err));
		if (!(*to > 0))
			return jl_fail(err, JL_E_RANGE, "%s: %s must be above zero", p->id, numbers[i].key);
	}
	return JL_OK;
}

static enum jl_status read_purpose(struct jl_purpose *p, const struct jl_yaml *map, struct jl_err *err)
{
	const char *keys[N_WORDS + N_NUMBERS + 2];
	const char *task = jl_yaml_text(map, "task");
	int t = 0;

	for (size_t i = 0; i < N_WORDS; i++) {
		keys[i] = words[i].key;
		*(const char **)(void *)((char *)p + words[i].offset) = jl_yaml_text(map, words[i].key);
	}
	for (size_t i = 0; i < N_NUMBERS; i++)
		keys[N_WORDS + i] = numbers[i].key;
	keys[N_WORDS + N_NUMBERS] = "task";
	keys[N_WORDS + N_NUMBERS + 1] = NULL;
	JL_TRY(jl_yaml_check_keys(map, JL_N("a purpose"), keys, err));
	if (!p->id || !p->en || !p->model || !task)
		return jl_fail(err, JL_E_PARSE, "line %zu: a purpose has id, en, task and model", map->where.line);
	while (t < JL_N_TASK && strcmp(tasks[t], task) != 0)
		t++;
	if (t == JL_N_TASK)
		return jl_fail(err, JL_E_PARSE, "%s: task is train, lora or serve, not '%s'", p->id, task);
	p->task = (enum jl_task)t;
	return read_numbers(p, map, err);
}

enum jl_status jl_purposes_parse(struct jl_purposes *ret_list, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_yaml *root, *list;
	struct jl_purpose *items;
	size_t n = 0;

	JL_TRY(jl_yaml_read(&root, name, text, len, arena, err));
	list = jl_yaml_get(root, "purposes");
	if (!list || list->kind != JL_YAML_LIST || list->n_items == 0 || list->n_items > PURPOSES_MAX)
		return jl_fail(err, JL_E_PARSE, "%s: a list 'purposes:' of 1 to %d is needed", name, PURPOSES_MAX);
	items = jl_arena_array(arena, list->n_items, sizeof(*items));
	JL_TRY(jl_got(items, err));
	for (const struct jl_yaml *map = list->items; map; map = map->next)
		JL_TRY(read_purpose(&items[n++], map, err));
	*ret_list = (struct jl_purposes){ .items = items, .n = n };
	return JL_OK;
}

extern const unsigned char jl_purposes_text[];
extern const size_t jl_purposes_text_len;

enum jl_status jl_purposes_embedded(struct jl_purposes *ret_list, struct jl_arena *arena, struct jl_err *err)
{
	return jl_purposes_parse(ret_list, (const char *)jl_purposes_text, jl_purposes_text_len, "purposes.yaml", arena,
				 err);
}

enum jl_status jl_purpose_find(const struct jl_purpose **ret_purpose, const struct jl_purposes *list, const char *name,
			       struct jl_err *err)
{
	struct jl_buf all;
	enum jl_status status;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].id, name) == 0) {
			*ret_purpose = &list->items[i];
			return JL_OK;
		}
	jl_buf_init(&all, 4096);
	for (size_t i = 0; i < list->n; i++)
		jl_buf_printf(&all, "%s%s", i ? ", " : "", list->items[i].id);
	status = jl_fail(err, JL_E_USAGE, "--purpose '%s' is none of: %s", name, jl_buf_text(&all));
	jl_buf_release(&all);
	return status;
}

static void fill(double *value, double from)
{
	if (isnan(*value))
		*value = from;
}

void jl_recommend_purpose(struct jl_recommend_ask *ask, const struct jl_purpose *p)
{
	const bool own_length = !isnan(ask->run.samples) || !isnan(ask->run.tokens) || !isnan(ask->run.steps_per_epoch);
	const bool own_model = ask->run.model || !isnan(ask->run.shape.layers);

	ask->task = p->task;
	if (!own_model && !ask->seen) {
		ask->run.model = p->model;
		fill(&ask->run.seq, p->seq);
	}
	if (!ask->seen) {
		fill(&ask->run.global_batch, p->global_batch);
		if (!own_length) {
			ask->run.samples = p->samples;
			ask->run.tokens = p->tokens;
			fill(&ask->run.epochs, p->epochs);
		}
	}
	fill(&ask->runs_per_month, p->runs);
	fill(&ask->months, p->months);
	if (isnan(ask->prompt) && isnan(ask->answer))
		fill(&ask->context, p->context);
	fill(&ask->wait_s, p->wait_s);
	jl_serve_load(ask);
	if (isnan(ask->tokens_per_s) && ask->concurrency > 0 && p->concurrency > 0) /* rate per request × requests */
		ask->tokens_per_s = p->tokens_per_s / p->concurrency * ask->concurrency;
	fill(&ask->concurrency, p->concurrency);
	fill(&ask->tokens_per_s, p->tokens_per_s);
}

struct jl_recommend_ask jl_recommend_ask_empty(void)
{
	struct jl_recommend_ask ask = { .run = jl_request_empty(),
					.seen_epochs = 1,
					.rent_days_max = JL_PRICE_STALE_DAYS,
					.usd_per_kWh = 0.12,
					.pue = 1 };

	ask.runs_per_month = ask.months = ask.users = ask.think_s = ask.concurrency = ask.context = ask.tokens_per_s =
		ask.wait_s = NAN;
	ask.setup_s = ask.prompt = ask.answer = ask.deadline_s = ask.budget_usd = ask.power_W = ask.util_frac = NAN;
	return ask;
}

void jl_recommend_defaults(struct jl_recommend_ask *ask)
{
	const bool once = !ask->seen && ask->task != JL_TASK_SERVE && isnan(ask->runs_per_month);

	if (isnan(ask->months))
		ask->months = ask->seen || ask->task == JL_TASK_SERVE || isnan(ask->deadline_s)
				      ? 12
				      : fmin(600, ceil(ask->deadline_s / (JL_RECOMMEND_HOURS * 3600)));
	if (isnan(ask->runs_per_month))
		ask->runs_per_month = once ? 1 / ask->months : 4;
	ask->setup_s = jl_given_or(ask->setup_s, jl_figure(ask->cat, "rent-setup"));
	jl_serve_load(ask);
	if (ask->task != JL_TASK_SERVE)
		return;
	/* only a total rate is given: derives the concurrency from the usual reading speed */
	ask->concurrency = jl_given_or(
		ask->concurrency, fmax(JL_USUAL_AT_ONCE, ceil(jl_given_or(ask->tokens_per_s, 0) * JL_READ_TOKEN_S)));
	ask->tokens_per_s = jl_given_or(ask->tokens_per_s, ask->concurrency / JL_READ_TOKEN_S);
}
