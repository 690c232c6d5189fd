#include "check/nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "check/verdict.h"

static const double least_sd_ln = 0.01, least_figure_sd_ln = 0.02; /* smallest spread between nodes of one kind */
/* Relative efficiency of a median-based spread compared with squares. */
static const double mad_worth = 0.3;
#define STRAY_FREEDOM                                                                                                  \
	6 /* a figure of one healthy node occasionally deviates far: heavy tails above the smallest spread */
#define SHARED_MOST 8 /* degrees of freedom that a figure gets from the pooled spread */

/* Median distance from 0 as a standard deviation: factor 1.48 for many values, larger for few, whose own median is included. */
static double spread_of(const double *off, size_t n, double *scratch)
{
	static const double of_few[] = { 1, 1, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107 };
	const double few = n < JL_LEN(of_few) ? of_few[n] : (double)n / ((double)n - 0.8);

	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(off[i]);
	return 1.4826 * few * jl_stats_median(scratch, n);
}

static size_t freedom(size_t n)
{
	return n > 1 ? (size_t)fmax(1, mad_worth * (double)(n - 1)) : 1;
}

/* Replaces the rates of one figure by ln(rate / median); false: too few. */
static bool centre(double *figure, size_t n_nodes, double *scratch, double *ret_sd_ln, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < n_nodes; i++)
		if (figure[i] > 0)
			scratch[n++] = log(figure[i]);
	*ret_n = n;
	const double middle = n >= JL_NODES_LEAST ? jl_stats_median(scratch, n) : NAN;

	for (size_t i = n = 0; i < n_nodes; i++) {
		figure[i] = figure[i] > 0 ? log(figure[i]) - middle : NAN;
		if (!isnan(figure[i]))
			scratch[n++] = figure[i];
	}
	if (!n)
		return false;
	*ret_sd_ln = fmax(spread_of(scratch, n, scratch), least_figure_sd_ln);
	return true;
}

/* Threshold of one figure among n_tests: its own spread, combined with the pooled one. */
static double figure_least_ln(double sd_ln, double usual_sd_ln, size_t n, size_t n_figures, size_t n_tests)
{
	const size_t own = freedom(n), shared = n_figures > 1 ? (n_figures - 1) * own : 0,
		     more = shared < SHARED_MOST ? shared : SHARED_MOST;
	const double sd = sqrt(((double)own * sd_ln * sd_ln + (double)more * usual_sd_ln * usual_sd_ln) /
			       (double)(own + more));

	const double p = 1 - JL_NODES_ALARMS / 2 / (double)n_tests;

	return fmax(least_figure_sd_ln * jl_stats_t_quantile(p, STRAY_FREEDOM),
		    fmax(sd, sd_ln) * jl_stats_t_quantile(p, own + more));
}

static void score_node(struct jl_node_score *s, const double *off, const double *least, size_t n_nodes,
		       size_t n_figures, double *scratch)
{
	double worst = -INFINITY;

	*s = (struct jl_node_score){ .score_ln = NAN, .worst_ln = NAN };
	for (size_t f = 0; f < n_figures; f++) {
		const double ln = off[f * n_nodes];

		if (isnan(ln))
			continue;
		scratch[s->n_figures++] = ln;
		if (-ln / least[f] > worst) {
			worst = -ln / least[f];
			s->worst = f;
			s->worst_ln = ln;
		}
	}
	s->slow_in = worst > 1;
	if (s->n_figures)
		s->score_ln = jl_stats_median(scratch, s->n_figures);
}

enum jl_status jl_nodes_weigh(struct jl_node_score *ret_scores, double *ret_least_ln, const double *rates,
			      size_t n_nodes, size_t n_figures, struct jl_arena *arena, struct jl_err *err)
{
	double *off = jl_arena_array(arena, n_nodes * n_figures + 1, sizeof(*off)),
	       *least = jl_arena_array(arena, n_figures + 1, sizeof(*least)),
	       *scratch = jl_arena_array(arena, n_nodes + n_figures + 1, sizeof(*scratch));
	size_t *n = jl_arena_array(arena, n_figures + 1, sizeof(*n)), n_tests = 0, n_used = 0, n_scores = 0;

	JL_TRY(jl_got(off && least && scratch && n, err));
	memcpy(off, rates, n_nodes * n_figures * sizeof(*off));
	for (size_t f = 0; f < n_figures; f++) {
		least[f] = NAN;
		if (centre(off + f * n_nodes, n_nodes, scratch, &least[f], &n[f])) {
			n_tests += n[f];
			n_used++;
		}
	}
	for (size_t f = 0, k = 0; f < n_figures; f++)
		if (!isnan(least[f]))
			scratch[k++] = least[f];
	const double usual = n_used ? jl_stats_median(scratch, n_used) : NAN;

	for (size_t f = 0; f < n_figures; f++)
		if (!isnan(least[f]))
			least[f] = figure_least_ln(least[f], usual, n[f], n_used, n_tests);
	for (size_t i = 0; i < n_nodes; i++)
		score_node(&ret_scores[i], off + i, least, n_nodes, n_figures, scratch);
	for (size_t i = 0; i < n_nodes; i++)
		if (ret_scores[i].n_figures)
			scratch[n_scores++] = ret_scores[i].score_ln;
	*ret_least_ln = NAN;
	if (n_scores < JL_NODES_LEAST)
		return JL_OK;
	*ret_least_ln = fmax(spread_of(scratch, n_scores, scratch), least_sd_ln) *
			jl_stats_t_quantile(1 - JL_NODES_ALARMS / 2 / (double)n_scores, freedom(n_scores));
	for (size_t i = 0; i < n_nodes; i++)
		ret_scores[i].slow = ret_scores[i].n_figures && -ret_scores[i].score_ln > *ret_least_ln;
	return JL_OK;
}

/* ---- a store */

struct seen { /* a quiet result */
	size_t figure, node;
	double ln; /* of the rate */
};

struct fleet {
	struct jl_node *nodes;
	const struct jl_record **figures; /* one record per measured figure */
	struct seen *seen;                /* sorted */
	double *rates;                    /* one figure, machines of one kind */
	size_t n, n_figures, n_seen;
	struct jl_arena *arena;
};

static const char *name_of(const struct jl_record *r)
{
	return r->node ? r->node : r->machine ? r->machine : "?";
}

static const char *class_of(const struct jl_record *r)
{
	return r->machine_name ? r->machine_name : "";
}

static struct jl_node *node_of(struct fleet *f, const struct jl_record *r)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->nodes[i].name, name_of(r)) == 0 && strcmp(f->nodes[i].machine_name, class_of(r)) == 0)
			return &f->nodes[i];
	if (f->n == JL_NODES_KEPT)
		return NULL;
	f->nodes[f->n] = (struct jl_node){ .name = name_of(r), .machine_name = class_of(r), .least_ln = NAN };
	return &f->nodes[f->n++];
}

static int by_figure_and_node(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->figure != y->figure)
		return x->figure < y->figure ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->ln < y->ln ? -1 : x->ln > y->ln;
}

static enum jl_status gather(struct fleet *f, const struct jl_record *const *records, size_t n_records,
			     struct jl_err *err)
{
	for (size_t i = 0; i < n_records; i++) {
		const struct jl_record *r = records[i];
		const double value = r->n_metrics ? r->metrics[0].value.median : NAN;
		struct jl_node *node = value > 0 ? node_of(f, r) : NULL;
		size_t k = 0;

		if (value > 0 && !node)
			return jl_fail(err, JL_E_LIMIT, "more than %d nodes", JL_NODES_KEPT);
		if (!node)
			continue;
		node->n_records++;
		node->n_noisy += r->noise.noisy;
		if (r->noise.noisy || jl_check_jumps_by_itself(r))
			continue;
		while (k < f->n_figures && !jl_check_alike(f->figures[k], r))
			k++;
		if (k == JL_FIGURES_MAX)
			continue;
		if (k == f->n_figures)
			f->figures[f->n_figures++] = r;
		f->seen[f->n_seen++] = (struct seen){ .figure = k,
						      .node = (size_t)(node - f->nodes),
						      .ln = log(value) * (r->metrics[0].less_is_better ? -1 : 1) };
	}
	qsort(f->seen, f->n_seen, sizeof(*f->seen), by_figure_and_node);
	return JL_OK;
}

/* Median rate of each node's results by figure. `place_of`: index of a node among the n of its kind; n: not of that kind. */
static void fill_rates(struct fleet *f, const size_t *place_of, size_t n)
{
	for (size_t i = 0; i < n * f->n_figures; i++)
		f->rates[i] = NAN;
	for (size_t i = 0, end; i < f->n_seen; i = end) {
		const struct seen *s = &f->seen[i];

		for (end = i; end < f->n_seen && f->seen[end].figure == s->figure && f->seen[end].node == s->node;)
			end++;
		if (place_of[s->node] < n)
			f->rates[s->figure * n + place_of[s->node]] = exp(
				(f->seen[(i + end - 1) / 2].ln + f->seen[(i + end) / 2].ln) / 2);
	}
}

static enum jl_status weigh_class(struct fleet *f, size_t first, size_t *place_of, struct jl_node_score *scores,
				  struct jl_err *err)
{
	size_t n = 0;
	double least_ln;

	for (size_t i = 0; i < f->n; i++)
		place_of[i] = strcmp(f->nodes[i].machine_name, f->nodes[first].machine_name) == 0 ? n++ : JL_NODES_KEPT;
	fill_rates(f, place_of, n);
	enum jl_status status = jl_nodes_weigh(scores, &least_ln, f->rates, n, f->n_figures, f->arena, err);
	for (size_t i = 0; i < f->n && !status; i++)
		if (place_of[i] < n) {
			f->nodes[i].score = scores[place_of[i]];
			f->nodes[i].least_ln = least_ln;
			f->nodes[i].worst = f->nodes[i].score.n_figures ? f->figures[f->nodes[i].score.worst] : NULL;
		}
	return status;
}

static double place(const struct jl_node *n)
{
	return isnan(n->score.score_ln)            ? INFINITY
	       : n->score.slow || n->score.slow_in ? n->score.score_ln - 100
						   : n->score.score_ln;
}

static int slowest_first(const void *a, const void *b)
{
	const double x = place(a), y = place(b);

	return x < y ? -1 : x > y ? 1 : strcmp(((const struct jl_node *)a)->name, ((const struct jl_node *)b)->name);
}

enum jl_status jl_nodes_of_records(struct jl_nodes *ret_nodes, const struct jl_record *const *records, size_t n_records,
				   struct jl_arena *arena, struct jl_err *err)
{
	struct fleet f = { .nodes = jl_arena_array(arena, JL_NODES_KEPT, sizeof(*f.nodes)),
			   .figures = jl_arena_array(arena, JL_FIGURES_MAX, sizeof(*f.figures)),
			   .seen = jl_arena_array(arena, n_records + 1, sizeof(*f.seen)),
			   .arena = arena };
	struct jl_nodes nodes = { .nodes = f.nodes };
	enum jl_status status = f.nodes && f.figures && f.seen ? gather(&f, records, n_records, err)
							       : jl_fail_nomem(err);
	size_t *place_of;
	struct jl_node_score *scores;

	if (status)
		return status;
	f.rates = jl_arena_array(arena, f.n * f.n_figures + 1, sizeof(*f.rates));
	place_of = jl_arena_array(arena, f.n + 1, sizeof(*place_of));
	scores = jl_arena_array(arena, f.n + 1, sizeof(*scores));
	JL_TRY(jl_got(f.rates && place_of && scores, err));
	for (size_t i = 0; i < f.n && !status; i++) {
		bool done = false;

		for (size_t k = 0; k < i && !done; k++)
			done = strcmp(f.nodes[k].machine_name, f.nodes[i].machine_name) == 0;
		if (!done)
			status = weigh_class(&f, i, place_of, scores, err);
	}
	if (status)
		return status;
	qsort(f.nodes, f.n, sizeof(*f.nodes), slowest_first);
	nodes.n = f.n;
	for (size_t i = 0; i < f.n; i++) {
		nodes.n_slow += (size_t)(f.nodes[i].score.slow || f.nodes[i].score.slow_in);
		nodes.n_unknown += isnan(f.nodes[i].least_ln) ? 1 : 0;
	}
	*ret_nodes = nodes;
	return JL_OK;
}

/* ---- as JSON */

static const char *worst_what(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	const struct jl_node *n = record;

	return n->worst ? jl_record_what(out, n->worst) : NULL;
}

JL_TEXT_OF(worst_kind, jl_node, r->worst ? r->worst->kind : NULL);
JL_BOOL_OF(is_slow, jl_node, r->score.slow || r->score.slow_in);
JL_NUMBER_OF(score_frac, jl_node, expm1(r->score.score_ln));
JL_NUMBER_OF(least_frac, jl_node, expm1(-r->least_ln));
JL_NUMBER_OF(worst_frac, jl_node, expm1(r->score.worst_ln));

#define OF(TYPE, M, KEY) JL_FIELD_AS(jl_node, TYPE, M, KEY)
static const struct jl_field node_fields[] = {
	{ OF(TEXT, name, "node") },
	{ OF(TEXT, machine_name, "machine_name") },
	{ JL_FIELD_BOOL_OF("slow", is_slow) },
	{ OF(BOOL, score.slow, "slow_all_in_all") },
	{ JL_FIELD_NUMBER_OF("score_frac", score_frac) },
	{ JL_FIELD_NUMBER_OF("would_count_from_frac", least_frac) },
	{ JL_FIELD_TEXT_OF("worst_kind", worst_kind) },
	{ JL_FIELD_TEXT_OF("worst_what", worst_what) },
	{ JL_FIELD_NUMBER_OF("worst_frac", worst_frac) },
	{ OF(BOOL, score.slow_in, "slow_in_worst") },
	{ OF(SIZE, score.n_figures, "n_figures") },
	{ OF(SIZE, n_records, "n_records") },
	{ OF(SIZE, n_noisy, "n_noisy") },
};
static const struct jl_schema node_schema = JL_SCHEMA("node", jl_node, node_fields);
static const struct jl_field nodes_fields[] = {
	{ JL_FIELD_AS(jl_nodes, SIZE, n_slow, "n_slow") },
	{ JL_FIELD_AS(jl_nodes, SIZE, n_unknown, "n_too_few_alike") },
	{ JL_FIELD_MANY(jl_nodes, LIST, nodes, n, "nodes", &node_schema) },
};
const struct jl_schema jl_nodes_fields = JL_SCHEMA("check-fleet", jl_nodes, nodes_fields);
