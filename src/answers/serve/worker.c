/* One machine: its queue, its key/value blocks, its passes. */
#include <math.h>

#include "serve/inside.h"

#define KEPT_FRAC 0.8

static int64_t blocks_for(const struct sim *sim, double tokens)
{
	return (int64_t)ceil(tokens / sim->policy->block_tokens);
}

int64_t jl_blocks_most(const struct sim *sim, const struct jl_arrival *a)
{
	/* ticks of a block are rounded: one more than the tokens */
	const double ticks = ceil(a->answer / sim->gain);

	return blocks_for(sim, (double)a->prompt + a->answer) + (int64_t)(ticks / sim->block_ticks) -
	       (int64_t)(a->answer / sim->policy->block_tokens) + 2;
}

bool jl_worker_has_work(const struct worker *w)
{
	return w->n_run > 0 || w->n_waiting > 0 || w->partial != NO_ID;
}

void jl_worker_queue(struct sim *sim, struct worker *w, int id, bool front)
{
	struct seq *s = &sim->seqs[id];

	s->next = front ? w->head : NO_ID;
	if (w->n_waiting == 0) {
		w->head = w->tail = id;
	} else if (front) {
		w->head = id;
	} else {
		sim->seqs[w->tail].next = id;
		w->tail = id;
	}
	w->n_waiting++;
	w->quiet_s = w->now_s;
}

static int unqueue(struct sim *sim, struct worker *w)
{
	const int id = w->head;

	w->head = sim->seqs[id].next;
	w->n_waiting--;
	return id;
}

/* Heap of decoding sequences by end tick. */
static void place(struct sim *sim, struct worker *w, int at, int id)
{
	w->heap[at] = id;
	sim->seqs[id].heap_at = at;
}

static void sift(struct sim *sim, struct worker *w, int at, int id)
{
	const int64_t end = sim->seqs[id].end_tick;

	while (at > 0 && sim->seqs[w->heap[(at - 1) / 2]].end_tick > end) {
		place(sim, w, at, w->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (int child = 2 * at + 1; child < w->n_run; child = 2 * at + 1) {
		if (child + 1 < w->n_run && sim->seqs[w->heap[child + 1]].end_tick < sim->seqs[w->heap[child]].end_tick)
			child++;
		if (sim->seqs[w->heap[child]].end_tick >= end)
			break;
		place(sim, w, at, w->heap[child]);
		at = child;
	}
	place(sim, w, at, id);
}

static bool grows(const struct sim *sim)
{
	return sim->policy->kv_rule != JL_KV_RESERVED;
}

static int64_t class_of(const struct sim *sim, const struct seq *s)
{
	const int64_t q = sim->block_ticks, c = (s->tick0 - s->phase) % q;

	return c < 0 ? c + q : c;
}

/* Its prompt is complete: decodes from the next tick. */
static void join(struct sim *sim, struct worker *w, int id)
{
	struct seq *s = &sim->seqs[id];
	const int used = (s->target - 1) % sim->policy->block_tokens + 1;
	const double filled = nearbyint(used / sim->gain);

	s->tick0 = w->tick;
	s->end_tick = w->tick + (int64_t)ceil((s->answer - s->made) / sim->gain - 1e-9);
	s->phase = (int)fmin(fmax(filled, 1.0), sim->block_ticks);
	s->prev = w->newest;
	s->next = NO_ID;
	if (w->newest != NO_ID)
		sim->seqs[w->newest].next = id;
	w->newest = id;
	w->n_run++;
	sift(sim, w, w->n_run - 1, id);
	w->context += s->target;
	w->inverse += 1.0 / fmax(s->answer - 1.0, 1.0);
	w->end_ticks += (double)s->end_tick;
	if (grows(sim))
		w->opens[class_of(sim, s)]++;
}

/* Removes a decoding sequence and its blocks. */
static void leave(struct sim *sim, struct worker *w, int id)
{
	struct seq *s = &sim->seqs[id];
	const int64_t ticks = w->tick - s->tick0;
	const int last = w->heap[--w->n_run], at = s->heap_at;

	if (last != id)
		sift(sim, w, at, last);
	if (s->next != NO_ID)
		sim->seqs[s->next].prev = s->prev;
	else
		w->newest = s->prev;
	if (s->prev != NO_ID)
		sim->seqs[s->prev].next = s->next;
	w->context = w->n_run > 0 ? w->context - s->target - sim->gain * (double)ticks : 0.0;
	w->end_ticks -= (double)s->end_tick;
	w->inverse = w->n_run > 0 ? w->inverse - 1.0 / fmax(s->answer - 1.0, 1.0) : 0.0;
	int64_t n_blocks = s->blocks;
	if (grows(sim)) {
		w->opens[class_of(sim, s)]--;
		n_blocks += ticks > 0 ? (s->phase + ticks - 1) / sim->block_ticks : 0;
	}
	/* the last token has no keys yet */
	jl_tiers_keep(sim, w, s, n_blocks,
		      fmin(s->target + floor(sim->gain * (double)ticks), (double)s->prompt + s->answer) - 1);
}

/* New blocks of the next k ticks. */
static int64_t blocks_of_ticks(const struct sim *sim, const struct worker *w, int64_t k)
{
	const int64_t q = sim->block_ticks;
	int64_t n = k / q * w->n_run;

	if (!grows(sim))
		return 0;
	for (int64_t i = 0; i < k % q; i++)
		n += w->opens[(w->tick + i) % q];
	return n;
}

static void end_request(struct sim *sim, int id, double at_s)
{
	struct seq *s = &sim->seqs[id];

	sim->answer_tokens += s->answer;
	s->last_s = at_s;
	sim->ended(sim, id, at_s);
}

/* Preempts the last admitted request: it restarts with its prompt and its answer so far. */
static void throw_back(struct sim *sim, struct worker *w)
{
	const bool half = w->partial != NO_ID; /* partial prompt */
	const int id = half ? w->partial : w->newest;
	struct seq *s = &sim->seqs[id];

	if (half) {
		w->partial = NO_ID;
		sim->again += s->computed;
		jl_tiers_keep(sim, w, s, s->blocks, s->computed);
	} else {
		const double given = floor(sim->gain * (double)(w->tick - s->tick0) + 1e-9);

		leave(sim, w, id);
		s->made = (int)fmin(s->made + given, s->answer - 1);
	}
	s->target = s->known = s->prompt + s->made;
	sim->again += half ? 0 : s->target;
	s->kept = !sim->held && !half && w->host_tokens + s->target <= sim->setup->host_tokens;
	if (s->kept)
		w->host_tokens += s->target;
	/* freed blocks mostly still hold their data at readmission: engines that preempt look there first */
	s->computed = s->kept ? s->target : (int)fmax(s->cached, floor(KEPT_FRAC * s->computed));
	s->thrown = !s->kept;
	s->fetched = false;
	sim->n_preempted++;
	jl_worker_queue(sim, w, id, true);
}

static int64_t blocks_to_enter(const struct sim *sim, const struct worker *w, const struct seq *s)
{
	const struct jl_policy *p = sim->policy;
	double tokens = s->target;

	if (w->prompts_only)
		return blocks_for(sim, tokens);
	if (p->kv_rule == JL_KV_RESERVED)
		tokens = (double)s->prompt + s->answer;
	if (p->kv_rule == JL_KV_ESTIMATED && w->n_run > 0)
		tokens += p->kept_frac * (s->answer + sim->gain * (w->end_ticks - (double)w->tick * (double)w->n_run));
	return blocks_for(sim, tokens);
}

/* An engine limit, for all parts of the machine with their own. */
static double limit(const struct worker *w, int each)
{
	return each * fmax(w->kind->ranks, 1.0);
}

static bool may_enter(const struct sim *sim, const struct worker *w)
{
	if (w->n_waiting == 0 || w->n_run + (w->partial != NO_ID) >= limit(w, sim->policy->max_seqs))
		return false;
	return blocks_to_enter(sim, w, &sim->seqs[w->head]) <= w->free_blocks + w->tiers[JL_KV_DEVICE].used;
}

/* Transfer to the host and back: all wait. */
static void fetch(const struct sim *sim, struct worker *w, struct seq *s)
{
	const double wait_s = 2 * s->target * sim->setup->host_token_s;

	w->now_s += wait_s;
	w->stall_s += wait_s;
	w->host_tokens -= s->target;
	s->kept = false;
}

static void enter(struct sim *sim, struct worker *w, int id)
{
	struct seq *s = &sim->seqs[id];

	s->blocks = (int)blocks_for(sim, sim->policy->kv_rule == JL_KV_RESERVED && !w->prompts_only
						 ? (double)s->prompt + s->answer
						 : (double)s->target);
	if (sim->held)
		jl_tiers_take(sim, w, s);
	else
		sim->found[s->kept ? JL_KV_HOST : JL_KV_DEVICE] += s->computed;
	if (s->kept)
		fetch(sim, w, s);
	(void)jl_tiers_make_room(sim, w, s->blocks);
	w->free_blocks -= s->blocks;
}

/* Prompt tokens of a pass. Prompts completed by it are linked by `next`. */
struct chunks {
	double n, tokens, pairs;
	int first, last;
	int n_done;
};

static void take(struct sim *sim, struct worker *w, int id, int tokens, struct chunks *c)
{
	struct seq *s = &sim->seqs[id];

	c->n += tokens > 0;
	c->tokens += tokens;
	c->pairs += (double)tokens * (s->computed + 0.5 * tokens);
	s->computed += tokens;
	sim->prompt_tokens += tokens;
	if (s->computed < s->target) {
		w->partial = id;
		return;
	}
	w->partial = NO_ID;
	s->next = NO_ID;
	if (c->n_done++ == 0)
		c->first = id;
	else
		sim->seqs[c->last].next = id;
	c->last = id;
}

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

static void fill_pass(struct sim *sim, struct worker *w, int budget, struct chunks *c)
{
	if (w->partial != NO_ID && budget > 0) {
		const struct seq *s = &sim->seqs[w->partial];
		const int n = min_int(budget, s->target - s->computed);

		budget -= n;
		take(sim, w, w->partial, n, c);
	}
	/* includes requests in this pass */
	while (w->partial == NO_ID && w->n_run + c->n_done < limit(w, sim->policy->max_seqs) && may_enter(sim, w) &&
	       (budget > 0 || sim->seqs[w->head].computed >= sim->seqs[w->head].target)) {
		const int id = unqueue(sim, w);
		const struct seq *s = &sim->seqs[id];

		if (jl_tiers_fetch(sim, w, id))
			continue;
		enter(sim, w, id);
		const int n = min_int(budget, s->target - s->computed);

		budget -= n;
		take(sim, w, id, n, c);
	}
}

/* Effect of k such passes on the mean times: of requests waiting for their first token, and of decoding ones. */
static void note(struct sim *sim, const struct worker *w, const struct jl_pass *pass, double n_first, double k)
{
	const double n = (double)sim->load->n, waiting = w->n_waiting + n_first;
	const bool apart = sim->setup->prompts.n > 0 && !w->prompts_only; /* already have it, and wait for the next */
	const double inverse = w->inverse + (apart && w->n_run > 0 ? waiting * w->inverse / w->n_run : 0.0);

	jl_passes_add(sim->profile, &(struct jl_pass_share){ .pass = *pass,
							     .ttft = apart ? 0.0 : waiting * k / n,
							     .tpot = inverse * k / n,
							     .span = k,
							     .prompts = w->prompts_only });
}

static void spend(struct worker *w, double pass_s, double n_passes)
{
	const int64_t used = w->n_blocks - w->free_blocks - w->tiers[JL_KV_DEVICE].used;

	w->now_s += pass_s * n_passes;
	w->busy_s += pass_s * n_passes;
	w->kv_s += pass_s * n_passes * (double)used;
	w->used_max = used > w->used_max ? used : w->used_max;
	w->n_passes += (int64_t)n_passes;
}

/* k tokens (times gain) for each decoding sequence. */
static void tick_on(struct sim *sim, struct worker *w, int64_t k, double pass_s)
{
	const double n = w->n_run, new_s = pass_s + w->stall_s;

	w->free_blocks -= blocks_of_ticks(sim, w, k);
	w->tick += k;
	w->tick_s += (double)k * pass_s;
	w->batch_s += n * (double)k * pass_s;
	w->batch_max = fmax(w->batch_max, n);
	w->context += n * sim->gain * (double)k;
	jl_itl_add(sim, new_s / sim->gain, n * sim->gain);
	if (k > 1)
		jl_itl_add(sim, pass_s / sim->gain, n * sim->gain * (double)(k - 1));
	w->stall_s = 0.0;
	while (w->n_run > 0 && sim->seqs[w->heap[0]].end_tick <= w->tick) {
		const int id = w->heap[0];

		leave(sim, w, id);
		end_request(sim, id, fmax(w->now_s, sim->seqs[id].first_s));
	}
}

/* Completed prompts give their first token and start decoding. */
static void finish_prompts(struct sim *sim, struct worker *w, const struct chunks *c)
{
	const double late_s = sim->setup->late * w->answer_s;

	for (int id = c->n_done > 0 ? c->first : NO_ID, next; id != NO_ID; id = next) {
		struct seq *s = &sim->seqs[id];

		next = s->next;
		if (w->prompts_only) {
			w->free_blocks += s->blocks;
			sim->prompted(sim, id, w->now_s);
			continue;
		}
		/* brought its first token from a prompt machine */
		if (s->made == 0 || s->thrown) {
			s->made++;
			s->first_s = isnan(s->first_s) ? w->now_s + late_s : s->first_s;
		}
		s->thrown = false;
		if (s->made >= s->answer) {
			jl_tiers_keep(sim, w, s, s->blocks, s->target);
			end_request(sim, id, fmax(w->now_s, s->first_s));
			continue;
		}
		join(sim, w, id);
	}
}

/* With separate prompt passes the host launches their kernels while the previous answer pass still runs (SGLang since 0.4): if that was longer
 * than the launches, there is no wait. */
static double pass_s_of(const struct sim *sim, struct worker *w, struct jl_pass *pass)
{
	const double alone_s = jl_audit_pass_s(w->memo, w->kind, sim->policy, pass);

	if (!sim->policy->prompts_first || !(pass->prompt_tokens > 0.0))
		return alone_s;
	pass->captured = true;
	const double ready_s = jl_audit_pass_s(w->memo, w->kind, sim->policy, pass), host_s = alone_s - ready_s;

	pass->captured = host_s <= w->ahead_s;
	w->ahead_s = 0.0;
	return pass->captured ? ready_s : alone_s;
}

static struct jl_pass pass_of(const struct sim *sim, const struct worker *w, const struct chunks *c, bool answers)
{
	return (struct jl_pass){ .n_seqs = answers ? w->n_run : 0,
				 .n_drafted = 1 + sim->setup->n_draft,
				 .context = answers && w->n_run > 0 ? w->context / w->n_run : 0.0,
				 .n_prompts = c->n,
				 .prompt_tokens = c->tokens,
				 .prompt_pairs = c->pairs };
}

/* Without admissible prompts: passes until a request ends or something arrives. */
static void answer_on(struct sim *sim, struct worker *w, double until_s)
{
	const struct jl_pass pass = pass_of(sim, w, &(struct chunks){ 0 }, true);
	double middle;
	const double bucket_end = jl_context_bucket(pass.context, &middle);
	const double pass_s = jl_audit_pass_s(w->memo, w->kind, sim->policy, &pass);
	const double to_end = (double)(sim->seqs[w->heap[0]].end_tick - w->tick);
	const double to_bucket = ceil((bucket_end - pass.context) / sim->gain);
	const double to_event = ceil((until_s - w->now_s) / pass_s);
	double k = fmax(fmin(to_end, fmin(to_bucket, to_event)), 1.0);

	while (k > 1.0 && blocks_of_ticks(sim, w, (int64_t)k) > w->free_blocks + w->tiers[JL_KV_DEVICE].used)
		k = floor(0.5 * k);
	(void)jl_tiers_make_room(sim, w, blocks_of_ticks(sim, w, (int64_t)k));
	if (sim->profile)
		note(sim, w, &pass, 0.0, k);
	spend(w, pass_s, k);
	w->answer_s = w->ahead_s = pass_s;
	tick_on(sim, w, (int64_t)k, pass_s);
}

static double quiet_until_s(const struct sim *sim, const struct worker *w)
{
	if (!jl_worker_has_work(w))
		return INFINITY;
	if (w->prompts_only || w->partial != NO_ID || w->n_waiting > 0)
		return w->now_s;
	const struct jl_pass pass = pass_of(sim, w, &(struct chunks){ 0 }, true);

	return w->now_s + 0.98 * jl_audit_pass_s(w->memo, w->kind, sim->policy, &pass) *
				  (double)(sim->seqs[w->heap[0]].end_tick - w->tick);
}

static void step(struct sim *sim, struct worker *w, double until_s)
{
	const bool mixed = !sim->policy->prompts_first;
	const int drafted = 1 + sim->setup->n_draft;
	struct chunks c = { .first = NO_ID };

	while (!jl_tiers_make_room(sim, w, blocks_of_ticks(sim, w, 1)) && w->n_run + (w->partial != NO_ID) > 1)
		throw_back(sim, w);
	const int64_t opened = blocks_of_ticks(sim, w, 1); /* reserved against admissions */

	w->free_blocks -= opened;
	const double budget = w->kind->budget > 0 ? w->kind->budget : limit(w, sim->policy->token_budget);

	fill_pass(sim, w, (int)budget - (mixed ? w->n_run * drafted : 0), &c);
	w->free_blocks += opened;
	if (c.tokens == 0.0) {
		finish_prompts(sim, w, &c); /* keys and values from elsewhere */
		if (w->n_run > 0)
			answer_on(sim, w, until_s);
		return;
	}
	const bool answers = mixed && w->n_run > 0;
	struct jl_pass pass = pass_of(sim, w, &c, answers);
	const double pass_s = pass_s_of(sim, w, &pass);

	if (sim->profile)
		note(sim, w, &pass, c.n_done + (w->partial != NO_ID), 1.0);
	spend(w, pass_s, 1.0);
	if (answers)
		tick_on(sim, w, 1, pass_s);
	else if (w->n_run > 0)
		w->stall_s += pass_s;
	finish_prompts(sim, w, &c);
}

void jl_worker_step(struct sim *sim, struct worker *w, double until_s)
{
	step(sim, w, until_s);
	if (sim->n_workers > 1)
		w->quiet_s = quiet_until_s(sim, w);
}
