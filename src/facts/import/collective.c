#include "import/collective.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Their names, and how busbw follows from algbw: a·(n-1)/n, where each rank keeps its own part, or the same. */
#define KINDS(X)                                                                                                       \
	X("allreduce", 2, true)                                                                                        \
	X("allgather", 1, true)                                                                                        \
	X("reducescatter", 1, true)                                                                                    \
	X("broadcast", 1, false)                                                                                       \
	X("reduce", 1, false)                                                                                          \
	X("alltoall", 1, true)                                                                                         \
	X("sendrecv", 1, false)                                                                                        \
	X("gather", 1, true)                                                                                           \
	X("scatter", 1, true)

#define NAME(name, scale, shared) name,
#define ROW(...)                  { __VA_ARGS__ },
const char *const jl_import_collectives[] = { KINDS(NAME) NULL };
static const struct {
	const char *kind;
	double scale;
	bool shared;
} kinds[] = { KINDS(ROW) };

#define N_KINDS (JL_LEN(kinds))

const char *jl_collective_named(const char *program)
{
	const char *slash = strrchr(program, '/');
	char plain[32];
	size_t n = 0;

	for (const char *c = slash ? slash + 1 : program; *c && n + 1 < sizeof(plain); c++)
		if (isalpha((unsigned char)*c))
			plain[n++] = (char)tolower((unsigned char)*c);
		else if (*c != '_' && *c != '-')
			break;
	plain[n] = '\0';
	for (size_t i = 0; i < N_KINDS; i++) {
		size_t len = strlen(kinds[i].kind);

		if (strncmp(plain, kinds[i].kind, len) == 0 &&
		    (plain[len] == '\0' || strncmp(plain + len, "perf", 4) == 0 || strncmp(plain + len, "mpi", 3) == 0))
			return kinds[i].kind;
	}
	return NULL;
}

/* busbw over algbw on n ranks; NAN: not known. */
static double factor_of(const char *kind, double n_ranks)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].scale * (kinds[i].shared ? (n_ranks - 1) / n_ranks : 1);
	return NAN;
}

/* Could `a` over `b`, both rounded, be `ratio`? */
static bool may_be(const struct jl_number *a, const struct jl_number *b, double ratio)
{
	const double slack = 1.002; /* the tool rounds once more on the way */
	double hi_b = b->value + b->half, lo_b = b->value - b->half;

	return (a->value + a->half) * slack >= ratio * (lo_b > 0 ? lo_b : 0) &&
	       (a->value - a->half) <= ratio * hi_b * slack;
}

/* By the operator, the root and the ratio of the two bandwidths; NULL where several fit. */
static const char *infer(const struct jl_coll_row *row)
{
	const bool reduces = row->redop && strcmp(row->redop, "none") != 0;
	const bool rooted = row->root >= 0;
	const char *found = NULL;

	if (!(row->n_ranks > 1) || !row->redop)
		return NULL;
	for (size_t i = 0; i < N_KINDS; i++) {
		bool has_op = strstr(kinds[i].kind, "reduce") != NULL;
		bool has_root = strcmp(kinds[i].kind, "broadcast") == 0 || strcmp(kinds[i].kind, "reduce") == 0 ||
				strcmp(kinds[i].kind, "gather") == 0 || strcmp(kinds[i].kind, "scatter") == 0;

		if (has_op != reduces || (!isnan(row->root) && has_root != rooted) ||
		    !may_be(&row->busbw_GBps, &row->algbw_GBps, factor_of(kinds[i].kind, row->n_ranks)))
			continue;
		if (found)
			return NULL;
		found = kinds[i].kind;
	}
	return found;
}

static const char *find_kind(struct jl_importer *imp, const struct jl_coll_row *row)
{
	const struct jl_import_options *options = jl_importer_options(imp);

	if (row->kind)
		return row->kind;
	if (options->kind)
		return options->kind;
	if (infer(row))
		return infer(row);
	return jl_collective_named(options->name);
}

/* The printed figure has two decimals: of a small one little is left, and the time says more. */
static double algbw_Bps(const struct jl_coll_row *row)
{
	double by_time = row->size_B / (row->time_us.value * 1e-6);
	double printed_error = row->algbw_GBps.value > 0 ? row->algbw_GBps.half / row->algbw_GBps.value : 1;

	return printed_error <= row->time_us.half / row->time_us.value ? row->algbw_GBps.value * 1e9 : by_time;
}

void jl_collective_emit(struct jl_importer *imp, struct jl_draft *d, const struct jl_coll_row *row)
{
	const struct jl_number size = { .value = row->size_B * 1e-3 }; /* B/µs = MB/s: GB/s when divided by 1,000 */
	const char *kind = find_kind(imp, row);

	if (!(row->size_B > 0) || !(row->time_us.value > 0))
		return; /* nccl-tests measures 0 bytes too: there is no bandwidth in it */
	if (row->n_ranks == 1) {
		jl_importer_remark(
			imp, d->line, true,
			"dropped: one rank exchanges nothing, so there is no bandwidth in it; run it with two "
			"GPUs or more (-g 2)");
		return;
	}
	if (row->algbw_GBps.value > 0) {
		struct jl_number product = { .value = size.value, .half = 0 };
		double lo = (row->time_us.value - row->time_us.half) * (row->algbw_GBps.value - row->algbw_GBps.half);
		double hi = (row->time_us.value + row->time_us.half) * (row->algbw_GBps.value + row->algbw_GBps.half);

		if (product.value < lo * 0.998 || product.value > hi * 1.002) {
			jl_importer_remark(imp, d->line, true, "dropped: size, time and algbw contradict one another");
			return;
		}
	} else if (row->size_B / row->time_us.value * 1e-3 > 0.02) {
		jl_importer_remark(imp, d->line, true, "dropped: size, time and algbw contradict one another");
		return;
	}
	if (!kind) {
		jl_importer_remark(imp, d->line, true, "dropped: the collective is not stated; say --kind allgather");
		return;
	}
	double factor = row->n_ranks > 0 ? factor_of(kind, row->n_ranks) : NAN;
	if (isfinite(factor) && !may_be(&row->busbw_GBps, &row->algbw_GBps, factor)) {
		jl_importer_remark(imp, d->line, true, "dropped: busbw/algbw is not that of %s on %.0f ranks", kind,
				   row->n_ranks);
		return;
	}
	if (row->n_wrong > 0)
		jl_importer_remark(imp, d->line, false, "the tool found %.0f wrong elements", row->n_wrong);
	double algbw = algbw_Bps(row);
	d->kind = kind;
	d->second = row->in_place;
	jl_draft_number(d, "size_B", row->size_B);
	jl_draft_number(d, "count", row->count);
	jl_draft_text(d, "dtype", row->type);
	jl_draft_text(d, "redop", row->redop);
	jl_draft_number(d, "root", row->root);
	jl_draft_number(d, "n_ranks", row->n_ranks);
	jl_draft_number(d, "n_nodes", row->n_nodes);
	jl_draft_text(d, "gpu", row->gpu);
	jl_draft_number(d, "in_place", row->in_place);
	jl_draft_number(d, "n_wrong", row->n_wrong);
	jl_draft_metric(d, "algbw_Bps", false, algbw);
	jl_draft_metric(d, "busbw_Bps", false, isfinite(factor) ? algbw * factor : row->busbw_GBps.value * 1e9);
	jl_draft_metric(d, "time_s", true, row->time_us.value * 1e-6);
	jl_importer_emit(imp, d);
}
