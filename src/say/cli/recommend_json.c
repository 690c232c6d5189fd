/* jeoul recommend --json: stable keys, units in them. */

#include "cli/recommend_view.h"
#include "cli/view.h"
#include "cli/view.h"

static void put_candidate(struct jl_json *json, const struct jl_recommend_page *page, int index)
{
	const struct jl_candidate *c = &page->result->items[index];
	const struct jl_setup *s = c->setup;
	const bool serve = page->ask->task == JL_TASK_SERVE;
	struct jl_caveat caveats[JL_CAVEATS_MAX];
	const size_t n = jl_recommend_caveats(caveats, c, page->ask);

	jl_json_put_string(json, "how", jl_how_key(c->how));
	jl_json_put_string(json, "system", s->text);
	jl_json_put_string(json, "gpu", s->sys.gpu->id);
	jl_json_put_integer(json, "n_gpus", (long long)s->sys.n_per_node * s->sys.n_nodes);
	jl_json_put_integer(json, "n_machines", s->sys.n_nodes);
	jl_json_put_string(json, "provider", c->price ? c->price->provider : NULL);
	jl_json_put_string(json, "item", c->price ? c->price->item : NULL);
	jl_json_put_string(json, "region", c->price ? c->price->region : NULL);
	jl_json_put_string(json, "price_date", c->price_date);
	jl_json_put_number(json,
			   c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT ? "machine_usd_per_hour" : "machine_usd",
			   c->unit_usd);
	if (c->how == JL_HOW_NEW || c->how == JL_HOW_USED)
		jl_json_put_number(json, "purchase_usd", c->unit_usd * s->sys.n_nodes);
	jl_json_put_number(json, "host_assumed_usd", c->host_usd);
	jl_view_estimate_json(json, serve ? "token_s" : "run_s", &s->run_s);
	jl_view_estimate_json(json, "per_s", &s->per_s);
	jl_view_estimate_json(json, "cost_usd", &c->cost_usd);
	jl_view_estimate_json(json, "run_cost_usd", &c->run_cost_usd);
	jl_json_put_number(json, "work_h", c->work_h);
	jl_json_put_number(json, "power_W", s->power_W);
	jl_json_put_number(json, "peak_W", s->peak_W);
	jl_json_put_number(json, "energy_kWh", c->energy_kWh);
	jl_json_put_number(json, "memory_B", s->memory_B);
	jl_json_put_number(json, "dp", s->dp);
	jl_json_put_number(json, "tp", s->tp);
	jl_json_put_number(json, "pp", s->pp);
	jl_json_put_integer(json, "zero", s->zero);
	jl_json_put_bool(json, "offload", s->offload != 0);
	if (!serve) {
		jl_json_put_number(json, "micro_batch", s->micro_batch);
		jl_json_put_number(json, "global_batch", s->global_batch);
	}
	if (!serve && !page->ask->seen)
		jl_json_put_string(json, "precision", jl_dtype_name(s->dtype));
	if (serve)
		jl_json_put_number(json, "weight_bits", s->weight_bits);
	jl_json_put_bool(json, "on_front", c->on_front);
	jl_json_put_array(json, "caveats");
	for (size_t i = 0; i < n; i++) {
		jl_json_object(json);
		jl_json_put_string(json, "key", caveats[i].key);
		jl_json_put_string(json, "text", caveats[i].text);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

void jl_view_recommend_json(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	const struct jl_recommendation *r = page->result;
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "purpose", page->purpose ? page->purpose->id : NULL);
	jl_json_put_string(&json, "task", page->ask->seen ? "observed" : jl_task_key(page->ask->task));
	jl_json_put_string(&json, "model", page->ask->run.model);
	jl_json_put_number(&json, "runs", r->runs);
	jl_json_put_number(&json, "months", page->ask->months);
	jl_json_put_integer(&json, "n_candidates", (long long)r->n);
	jl_json_put_integer(&json, "n_setups", (long long)r->n_setups);
	jl_json_put_integer(&json, "n_offers", (long long)r->n_offers);
	jl_json_put_number(&json, "elapsed_s", r->elapsed_s);
	jl_json_put_object(&json, "against");
	for (int a = 0; a < JL_N_AGAINST; a++)
		jl_json_put_integer(&json, jl_against_key((enum jl_against)a), (long long)r->n_against[a]);
	jl_json_end_object(&json);
	if (r->pick >= 0) {
		jl_json_put_object(&json, "pick");
		put_candidate(&json, page, r->pick);
		jl_json_end_object(&json);
	} else {
		cli->exit_code = 3;
	}
	if (r->nearest >= 0) {
		jl_json_put_object(&json, "nearest");
		jl_json_put_string(&json, "misses", jl_against_key(r->items[r->nearest].against));
		put_candidate(&json, page, r->nearest);
		jl_json_end_object(&json);
	}
	jl_json_put_object(&json, "best");
	for (int h = 0; h < JL_N_HOW; h++)
		if (r->best[h] >= 0) {
			jl_json_put_object(&json, jl_how_key((enum jl_how)h));
			put_candidate(&json, page, r->best[h]);
			jl_json_end_object(&json);
		}
	jl_json_end_object(&json);
	jl_json_put_array(&json, "front");
	for (size_t i = 0; i < r->n_ok; i++)
		if (r->items[i].on_front) {
			jl_json_object(&json);
			put_candidate(&json, page, (int)i);
			jl_json_end_object(&json);
		}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}
