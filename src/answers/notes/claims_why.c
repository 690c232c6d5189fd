/* Explains why a claim is wrong by usual mistakes. A mistake is reported only if it yields exactly the claimed value. */
#include <math.h>
#include <string.h>

#include "notes/claims.h"

struct words_row {
	const char *id, *en;
};

static const struct words_row reasons[] = {
	{ "larger-batch",
	  JL_N("the number of batches was kept although the batch is larger: twice the batch needs half as many") },
	{ "sparse", JL_N("a 2:4 sparse rate, given as if it were dense: dense is half of it") },
	{ "bothway", JL_N("the sum of both directions, where one direction counts") },
	{ "gib", JL_N("GB and GiB are mixed up (7 % apart)") },
	{ "bits", JL_N("bits and bytes are mixed up (a factor of eight)") },
	{ "generation", JL_N("counts the generations wrong: Turing's was the second, so Ampere's is the third and "
			     "Hopper's the fourth") },
	{ "generation-link", JL_N("the figure of another link generation") },
	{ "rounding", JL_N("rounded more coarsely than it is written") },
	{ "rounded-input", JL_N("computed from a figure that had been rounded before") },
	{ "column", JL_N("taken from another column or row") },
	{ "mixed-modes", JL_N("two modes are mixed: one mode's result over the other mode's base") },
	{ "other-mode", JL_N("the other mode's figure: it is DeepSpeed ZeRO-2's, not DDP's") },
	{ "one-epoch", JL_N("the time of one epoch, where ten epochs are meant") },
	{ "ends-swapped", JL_N("longest minus shortest: the ends of the two ranges do not belong together") },
	{ "month-steps",
	  JL_N("a whole year's electricity was added at once and the result rounded up to months of 30 days") },
	{ "vector", JL_N("the rate without tensor cores") },
	{ "other-gpu", JL_N("the figure of another GPU") },
	{ "fp16-accumulate", JL_N("the rate with FP16 accumulation; training accumulates in FP32") },
	{ "large-n", JL_N("only for many GPUs: the factor is 2(n-1)/n, 1 for two GPUs and 1.75 for eight") },
	{ "whole-in-one", JL_N("counts the whole buffer per step; a ring sends 1/n of it") },
	{ "carried", JL_N("follows from a figure that is wrong itself") },
	{ "whole-system", JL_N("the batch of all GPUs together, not of one") },
	{ "ring-bounded", JL_N("the traffic of one GPU does not grow with n: a ring sends 2(n-1)/n of the buffer, "
			       "never more than twice") },
	{ "not-reachable", JL_N("set against a rate that an all-reduce cannot reach") },
	{ "whole-year", JL_N("a whole year's electricity, where the time is shorter") },
	{ "contradiction", JL_N("the text says something else in another place") },
};

/* What a claim needs that cannot be derived. */
static const struct words_row needs[] = {
	{ "measured", JL_N("needs a measurement; the text gives none") },
	{ "memory", JL_N("depends on the model: its parameters and the memory of one sample") },
	{ "model", JL_N("depends on which model was trained, and in which format") },
	{ "price", JL_N("a price: its date and source are needed") },
	{ "source", JL_N("no source is given") },
	{ "experience", JL_N("an opinion from experience: no arithmetic gives it") },
	{ "benchmark", JL_N("needs the benchmark behind it: model, batch, software") },
	{ "workload", JL_N("depends on what is run") },
	{ "design", JL_N("a choice of the author, not a result") },
	{ "setup", JL_N("describes the machine: look at the machine") },
	{ "chip", JL_N("a detail of the chip that the catalog does not list") },
};

static const char *find_text(const struct words_row *rows, size_t n, const char *id)
{
	for (size_t i = 0; id && i < n; i++)
		if (strcmp(rows[i].id, id) == 0)
			return rows[i].en;
	return NULL;
}

const char *jl_claim_reason_text(const char *id)
{
	return find_text(reasons, JL_LEN(reasons), id);
}

const char *jl_claim_need_text(const char *id)
{
	return find_text(needs, JL_LEN(needs), id);
}

/* Tests whether this expression yields the claimed value. */
static enum jl_status try_expression(bool *ret_fits, const struct jl_claim *c, struct jl_expr_scope *scope,
				     const char *text, struct jl_err *err)
{
	struct jl_claim wide = *c;
	struct jl_val v;
	enum jl_status status = jl_expr_eval(&v, scope, text, err);

	wide.near = fmax(c->near, 0.003 * c->hi); /* tolerates rounding of intermediate values: 1979 for 2 × 989 */
	*ret_fits = !status && jl_dim_same(&v.dim, &c->unit.dim) && jl_claim_fits(&wide, &v);
	return status == JL_E_ABSENT ? JL_OK : status;
}

/* Tries the expression with one word replaced, e.g. *_dense by *_sparse, oneway by bothway. */
static bool try_replaced(const struct jl_claim *c, struct jl_expr_scope *scope, const char *from, const char *to)
{
	const char *at = strstr(c->from, from);
	struct jl_err ignored;
	bool fits = false;
	char *text;

	if (!at ||
	    !(text = jl_arena_printf(scope->arena, "%.*s%s%s", (int)(at - c->from), c->from, to, at + strlen(from))))
		return false;
	return try_expression(&fits, c, scope, text, &ignored) == JL_OK && fits;
}

static bool near_ratio(double ratio, double wanted)
{
	return fabs(ratio / wanted - 1) < 0.004;
}

/* True if the claim is rounded to 5 or 10 in its last digit: 3.6 as 3.5, 118 as 120. */
static bool is_rounded(const struct jl_claim *c)
{
	const double place = pow(10, -c->n_decimals) * c->unit.v;

	for (int tens = 0; tens < 2; tens++) {
		const double step = place * (tens ? 10 : 5);

		if (step < 0.2 * c->result.v && fabs(nearbyint(c->result.v / step) * step - c->lo) < 1e-6 * step)
			return true;
	}
	return false;
}

/* Guesses the mistake from the ratio and the expression if no hint is given. */
static const char *guess(const struct jl_claim *c, struct jl_expr_scope *scope)
{
	const double claimed = (c->lo + c->hi) / 2, ratio = claimed / c->result.v;
	const bool bytes = c->result.dim.e[JL_DIM_B] == 1;

	if (try_replaced(c, scope, "_fp32acc_dense", "_sparse") || try_replaced(c, scope, "_dense", "_sparse"))
		return "sparse";
	if (try_replaced(c, scope, "_fp32acc_dense", "_dense"))
		return "fp16-accumulate";
	if (try_replaced(c, scope, "oneway", "bothway"))
		return "bothway";
	if (bytes && (near_ratio(ratio, 1.073741824) || near_ratio(ratio, 1 / 1.073741824)))
		return "gib";
	if (bytes && (near_ratio(ratio, 8) || near_ratio(ratio, 0.125)))
		return "bits";
	if (c->bound == JL_CLAIM_IS && *c->unit_text && !c->is_range && is_rounded(c))
		return "rounding";
	return NULL;
}

enum jl_status jl_claim_explain(struct jl_claim *c, struct jl_expr_scope *scope, struct jl_err *err)
{
	const char *expression = NULL;

	for (const struct jl_yaml *item = c->instead ? c->instead->items : NULL; item && !c->reason;
	     item = item->next) {
		struct jl_err inner;
		bool fits;
		enum jl_status status = try_expression(&fits, c, scope, item->text, &inner);

		if (status)
			return jl_fail_from(err, status, &item->where, &inner, "{}");
		if (fits) {
			c->reason = item->key;
			expression = item->text;
		}
	}
	if (!c->reason)
		c->reason = guess(c, scope);
	c->taken_from = expression;
	if (c->reason)
		jl_msg_print(c->why_en, c->why_text, sizeof c->why_en, "{%s}", jl_claim_reason_text(c->reason));
	return JL_OK;
}
