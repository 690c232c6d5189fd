/* Cache of pass times: computed for few shapes only, contexts and prompts in steps of about three per cent. */
#include <math.h>

#include "serve/inside.h"

#define FINEST 32.0 /* tokens */
#define STEPS  16.0 /* of an octave */

double jl_context_bucket(double context, double *ret_middle)
{
	double step = FINEST;

	while (step * 2.0 * STEPS <= context)
		step *= 2.0;
	const double from = step * floor(context / step);

	*ret_middle = from + 0.5 * step;
	return from + step;
}

static uint64_t mixed(uint64_t key)
{
	key ^= key >> 31;
	key *= 0x9E3779B97F4A7C15u;
	return key ^ (key >> 29);
}

/* Rounds a count to a step of an eighth of 16 or about three per cent, to its middle; 0 stays 0. */
static double stepped(double value, double finest)
{
	double step = finest;

	while (step * 2.0 * STEPS <= value)
		step *= 2.0;
	return value > 0.0 ? fmax(step * nearbyint(value / step), 1.0) : 0.0;
}

/* Batch with which a captured pass of n sequences runs. */
static double padded(const struct jl_policy *policy, double n)
{
	double size = 1.0;

	if (n >= policy->graph_step)
		return policy->graph_step * ceil(n / policy->graph_step);
	while (size < n)
		size *= 2.0;
	return size;
}

double jl_audit_pass_s(struct memo *memo, const struct jl_workers *kind, const struct jl_policy *policy,
		       const struct jl_pass *pass)
{
	struct jl_pass p = *pass;

	(void)jl_context_bucket(pass->context, &p.context);
	const bool graph = pass->prompt_tokens == 0.0 && pass->n_seqs <= policy->graph_max * fmax(kind->ranks, 1.0);

	p.captured = graph || (pass->captured && pass->prompt_tokens > 0.0);
	p.n_seqs = graph ? padded(policy, pass->n_seqs) : stepped(pass->n_seqs, 1.0);
	p.prompt_tokens = stepped(pass->prompt_tokens, 8.0);
	p.n_prompts = stepped(pass->n_prompts, 1.0);
	/* attention pairs by the mean context of a token */
	const double reach = pass->prompt_tokens > 0.0 ? pass->prompt_pairs / pass->prompt_tokens : 0.0;
	const double seen = stepped(reach, 16.0);

	p.prompt_pairs = seen * p.prompt_tokens;
	uint64_t key = mixed((uint64_t)p.n_seqs + ((uint64_t)p.context << 20));

	key = mixed(key + (uint64_t)p.prompt_tokens + ((uint64_t)(p.captured && !graph) << 60));
	key = mixed(key + (uint64_t)seen + ((uint64_t)p.n_prompts << 40)) | 1;
	struct memo_entry *entry = &memo->entries[key >> (64 - MEMO_BITS)];

	if (entry->key != key) {
		entry->key = key;
		entry->pass_s = kind->pass_s(kind->ctx, &p);
	}
	return entry->pass_s;
}

/* Alike: same number of sequences and prompt tokens, context within half or a whole octave. */
static int octaves(double value, double steps)
{
	return value > 0.0 ? 1 + (int)fmax(steps * log2(value), 0.0) : 0;
}

void jl_passes_add(struct jl_passes *profile, const struct jl_pass_share *share)
{
	const struct jl_pass *p = &share->pass;
	const int key = octaves(p->n_seqs, p->prompt_tokens > 0.0 ? 0.5 : 2.0) * 1000 +
			octaves(p->prompt_tokens, 1.0) * 10 + 2 * (p->captured && p->prompt_tokens > 0.0) +
			share->prompts;
	int at = 0;

	while (at < profile->n && profile->keys[at] != key)
		at++;
	if (at == profile->n) {
		if (profile->n == JL_PASSES_MAX) {
			at = JL_PASSES_MAX - 1;
		} else {
			profile->n++;
			profile->keys[at] = key;
			profile->shares[at] = (struct jl_pass_share){ .prompts = share->prompts };
		}
	}
	struct jl_pass_share *s = &profile->shares[at];
	const double old = s->tpot + 0.1 * s->ttft, more = share->tpot + 0.1 * share->ttft, all = old + more;
	const double f = all > 0.0 ? more / all : 1.0;

	s->pass.n_seqs += f * (p->n_seqs - s->pass.n_seqs);
	s->pass.n_drafted = p->n_drafted;
	s->pass.context += f * (p->context - s->pass.context);
	s->pass.n_prompts += f * (p->n_prompts - s->pass.n_prompts);
	s->pass.prompt_tokens += f * (p->prompt_tokens - s->pass.prompt_tokens);
	s->pass.prompt_pairs += f * (p->prompt_pairs - s->pass.prompt_pairs);
	s->pass.captured = p->captured || p->prompt_tokens == 0.0;
	s->ttft += share->ttft;
	s->tpot += share->tpot;
	s->span += share->span;
}

/* Bins of equal ratio from a microsecond to a quarter of an hour. */
#define FROM_LN (-13.8)
#define BIN_LN  0.02

void jl_itl_add(struct sim *sim, double itl_s, double n_tokens)
{
	if (sim->setup->means)
		return;
	const double at = (log(fmax(itl_s, 1e-6)) - FROM_LN) / BIN_LN;

	sim->itl_tokens[at < 0.0 ? 0 : at >= HISTOGRAM_BINS - 1 ? HISTOGRAM_BINS - 1 : (int)at] += n_tokens;
}

static double bin_s(int bin)
{
	return exp(FROM_LN + (bin + 0.5) * BIN_LN);
}

double jl_itl_quantile(const struct sim *sim, double q)
{
	double all = 0.0, below = 0.0;

	for (int i = 0; i < HISTOGRAM_BINS; i++)
		all += sim->itl_tokens[i];
	for (int i = 0; i < HISTOGRAM_BINS; i++) {
		below += sim->itl_tokens[i];
		if (below > 0.0 && below >= q * all)
			return bin_s(i);
	}
	return NAN;
}

double jl_itl_mean(const struct sim *sim)
{
	double all = 0.0, sum = 0.0;

	for (int i = 0; i < HISTOGRAM_BINS; i++) {
		all += sim->itl_tokens[i];
		sum += sim->itl_tokens[i] * bin_s(i);
	}
	return all > 0.0 ? sum / all : NAN;
}
