/* Keys and values of sessions between turns: on the device until the room is needed, then in host memory, then on drives. The least recently
 * used are evicted, from their end, so that the remaining blocks are a prefix. */
#include <math.h>

#include "serve/inside.h"

static void cut(struct sim *sim, struct worker *w, int session, enum jl_kv_tier at, int64_t n)
{
	struct held *h = &sim->held[session];
	struct tier *t = &w->tiers[at];

	if (n <= 0)
		return;
	t->used -= n;
	h->blocks[at] -= n;
	if (h->blocks[at] > 0)
		return;
	*(h->prev[at] == NO_ID ? &t->oldest : &sim->held[h->prev[at]].next[at]) = h->next[at];
	*(h->next[at] == NO_ID ? &t->newest : &sim->held[h->next[at]].prev[at]) = h->prev[at];
}

/* Adds blocks of the session's prefix to a tier, as most recently used. */
static void put(struct sim *sim, struct worker *w, int session, enum jl_kv_tier at, int64_t n)
{
	struct held *h = &sim->held[session];
	struct tier *t = &w->tiers[at];

	if (n <= 0)
		return;
	if (h->blocks[at] == 0) {
		h->next[at] = NO_ID;
		h->prev[at] = t->newest;
		*(t->newest == NO_ID ? &t->oldest : &sim->held[t->newest].next[at]) = session;
		t->newest = session;
	}
	h->blocks[at] += n;
	t->used += n;
	t->most = t->used > t->most ? t->used : t->most;
}

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* NOLINTNEXTLINE(misc-no-recursion): one level for each tier */
static void push_down(struct sim *sim, struct worker *w, enum jl_kv_tier at, int64_t n)
{
	while (n > 0 && w->tiers[at].oldest != NO_ID) {
		const int id = w->tiers[at].oldest;
		const int64_t k = least_of(n, sim->held[id].blocks[at]);
		struct tier *below = at + 1 < JL_N_KV_TIER ? &w->tiers[at + 1] : NULL;
		const int64_t kept = below ? least_of(k, below->room) : 0;

		cut(sim, w, id, at, k);
		n -= k;
		/* a lost block makes the later blocks of its sequence unusable: the lower tiers drop them */
		for (int u = (int)at + 1; kept < k && u < JL_N_KV_TIER; u++)
			cut(sim, w, id, (enum jl_kv_tier)u, sim->held[id].blocks[u]);
		if (kept == 0)
			continue;
		push_down(sim, w, at + 1, below->used + kept - below->room);
		put(sim, w, id, at + 1, kept);
	}
}

bool jl_tiers_make_room(struct sim *sim, struct worker *w, int64_t n)
{
	const int64_t k = least_of(n - w->free_blocks, w->tiers[JL_KV_DEVICE].used);

	if (k > 0) {
		push_down(sim, w, JL_KV_DEVICE, k);
		w->free_blocks += k;
	}
	return w->free_blocks >= n;
}

void jl_tiers_keep(struct sim *sim, struct worker *w, const struct seq *s, int64_t n_blocks, double tokens)
{
	const int64_t whole = (int64_t)(fmax(tokens, 0.0) / sim->policy->block_tokens);
	const int64_t kept = sim->held ? least_of(n_blocks, whole) : 0;

	w->free_blocks += n_blocks - kept;
	if (kept > 0)
		put(sim, w, s->session, JL_KV_DEVICE, kept);
}

void jl_tiers_take(struct sim *sim, struct worker *w, struct seq *s)
{
	struct held *h = &sim->held[s->session];
	int left = (s->known < s->target - 1 ? s->known : s->target - 1) / sim->policy->block_tokens *
		   sim->policy->block_tokens;
	int found[JL_N_KV_TIER] = { 0 };

	for (int at = 0; at < JL_N_KV_TIER; at++) {
		const int64_t n = h->blocks[at];

		if (at != JL_KV_DISK) /* drives are not read within a pass */
			found[at] = (int)least_of(n * sim->policy->block_tokens, left);
		left -= found[at];
		cut(sim, w, s->session, (enum jl_kv_tier)at, n);
		w->free_blocks += at == JL_KV_DEVICE ? n : 0;
	}
	const double wait_s = found[JL_KV_HOST] * sim->setup->host_token_s;

	w->now_s += wait_s;
	w->stall_s += wait_s;
	found[JL_KV_DISK] = (int)least_of(h->fetched * sim->policy->block_tokens, found[JL_KV_HOST]);
	found[JL_KV_HOST] -= found[JL_KV_DISK];
	h->fetched = 0;
	s->computed = 0;
	for (int at = 0; at < JL_N_KV_TIER; at++) {
		sim->found[at] += found[at];
		s->computed += found[at];
	}
	sim->missed += s->known > s->computed ? s->known - s->computed : 0;
	if (s->cached > s->computed) {
		sim->found[JL_KV_DEVICE] += s->cached - s->computed;
		s->computed = s->cached;
	}
}

bool jl_tiers_fetch(struct sim *sim, struct worker *w, int id)
{
	struct seq *s = &sim->seqs[id];
	struct held *h = sim->held ? &sim->held[s->session] : NULL;
	struct tier *host = &w->tiers[JL_KV_HOST];

	if (!h || s->fetched || h->blocks[JL_KV_DISK] == 0)
		return false;
	const int64_t on_disk = h->blocks[JL_KV_DISK], own = h->blocks[JL_KV_HOST];
	const int64_t n = least_of(on_disk, host->room - own);

	s->fetched = true;
	cut(sim, w, s->session, JL_KV_DISK, on_disk);
	/* its own blocks last: read blocks follow them */
	cut(sim, w, s->session, JL_KV_HOST, own);
	put(sim, w, s->session, JL_KV_HOST, own);
	push_down(sim, w, JL_KV_HOST, host->used + n - host->room);
	put(sim, w, s->session, JL_KV_HOST, n);
	h->fetched = n;
	w->disk_free_s = fmax(w->disk_free_s, w->now_s) +
			 (double)n * sim->policy->block_tokens * sim->setup->disk_token_s;
	sim->fetching(sim, id, w->disk_free_s);
	return true;
}
