/* Imports the tables of nccl-tests and of `jeoul bench`. The header line gives the columns, so that older and newer versions are read alike. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "import/format.h"

/* One measurement of nccl-tests, from its text or JSON. */

struct jl_coll_row {
	double size_B, count, n_ranks, n_nodes, root, n_wrong; /* NAN: unknown */
	const char *type, *redop, *gpu;
	const char *kind; /* NULL: unstated */
	bool in_place;
	struct jl_number time_us, algbw_GBps, busbw_GBps;
};

/* Names of collectives, and busbw / algbw: a·(n-1)/n if each rank keeps its own part, else a. */
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

/* "all_reduce_perf", "./build/all_gather_perf_mpi", "allreduce" → "allreduce"; NULL: unknown. */
static const char *named(const char *program)
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

/* busbw / algbw for n ranks; NAN: unknown. */
static double factor_of(const char *kind, double n_ranks)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].scale * (kinds[i].shared ? (n_ranks - 1) / n_ranks : 1);
	return NAN;
}

/* True if `a` / `b`, both rounded, can be `ratio`. */
static bool may_be(const struct jl_number *a, const struct jl_number *b, double ratio)
{
	const double slack = 1.002; /* the tool rounds once more internally */
	double hi_b = b->value + b->half, lo_b = b->value - b->half;

	return (a->value + a->half) * slack >= ratio * (lo_b > 0 ? lo_b : 0) &&
	       (a->value - a->half) <= ratio * hi_b * slack;
}

/* Infers the collective from the operator, the root and busbw / algbw; NULL: several match. */
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
	return named(options->name);
}

/* Small printed bandwidths have too few digits (two decimals), so they are computed from the time. */
static double algbw_Bps(const struct jl_coll_row *row)
{
	double by_time = row->size_B / (row->time_us.value * 1e-6);
	double printed_error = row->algbw_GBps.value > 0 ? row->algbw_GBps.half / row->algbw_GBps.value : 1;

	return printed_error <= row->time_us.half / row->time_us.value ? row->algbw_GBps.value * 1e9 : by_time;
}

/* Cross-checks the values, infers the collective if unstated, and makes the record; a contradictory row is dropped with a remark. */
static void emit_row(struct jl_importer *imp, struct jl_draft *d, const struct jl_coll_row *row)
{
	/* bytes / time_us is MB/s, hence 1e-3 for GB/s */
	const struct jl_number size = { .value = row->size_B * 1e-3 };
	const char *kind = find_kind(imp, row);

	if (!(row->size_B > 0) || !(row->time_us.value > 0))
		return; /* nccl-tests also measures 0 bytes, which has no bandwidth */
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

#define COLUMNS_MAX 40

enum { SIZE, COUNT, TYPE, REDOP, ROOT, N_LEFT };
enum { TIME, ALGBW, BUSBW, WRONG, N_RIGHT };

struct nccl {
	bool in_table;
	int left[N_LEFT];      /* column index of each value; -1: none */
	int right[2][N_RIGHT]; /* the same for out of place, in place */
	size_t n_columns;
	bool has_timestamp;
	const char *kind;
	double n_ranks, n_nodes;
	char host[64], gpu[64], version[64];
	char row[JL_IMPORT_LINE_MAX_B + 1]; /* the line, split into tokens */
	struct jl_draft draft;
};

/* Parses "#  Rank  0 Group  0 Pid  12345 on  host device  0 [0000:07:00] NVIDIA H100 80GB HBM3". */
static bool take_rank(struct nccl *n, const char *text)
{
	unsigned rank, group = 0;
	char host[64];
	int used = 0;

	if (sscanf(text, "# Rank %u Group %u Pid %*u on %63s device%n", &rank, &group, host, &used) < 3 || !used) {
		group = 0;
		used = 0;
		if (sscanf(text, "# Rank %u Pid %*u on %63s device%n", &rank, host, &used) < 2 || !used)
			return false;
	}
	if (group != 0)
		return true; /* another communicator, measured concurrently */
	if (rank == 0) {
		n->n_ranks = n->n_nodes = 0;
		n->host[0] = '\0';
	}
	n->n_ranks++;
	n->n_nodes += strcmp(n->host, host) != 0;
	(void)snprintf(n->host, sizeof(n->host), "%s", host);
	const char *bracket = strchr(text + used, ']');
	if (bracket)
		(void)snprintf(n->gpu, sizeof(n->gpu), "%s", bracket + 1 + strspn(bracket + 1, " "));
	return true;
}

static bool is_last(const char *name)
{
	return strcmp(name, "#wrong") == 0 || strcmp(name, "error") == 0 || strcmp(name, "timestamp") == 0;
}

static bool take_header(struct jl_importer *imp, struct nccl *n, const struct jl_line *line)
{
	static const char *const left[] = { "size", "count", "type", "redop", "root" };
	static const char *const right[] = { "time", "algbw", "busbw", "#wrong" };
	char *tokens[COLUMNS_MAX];
	size_t n_tokens, group = 0;

	(void)snprintf(n->row, sizeof(n->row), "%s", line->text + 1);
	n_tokens = jl_scan_split(n->row, tokens, COLUMNS_MAX);
	if (n_tokens < 8 || n_tokens > COLUMNS_MAX || strcmp(tokens[0], "size") != 0 || strcmp(tokens[1], "count") != 0)
		return false;
	n->in_table = false;
	if (!is_last(tokens[n_tokens - 1])) { /* truncated header: rows below may be truncated too */
		jl_importer_remark(imp, line->number, true, "dropped: a table of nccl-tests whose heading is cut");
		return true;
	}
	memset(n->left, -1, sizeof(n->left));
	memset(n->right, -1, sizeof(n->right));
	n->has_timestamp = strcmp(tokens[n_tokens - 1], "timestamp") == 0;
	n->n_columns = n_tokens - n->has_timestamp;
	for (size_t i = 0; i < n->n_columns; i++) {
		const char *name = strcmp(tokens[i], "cputime") == 0 ? "time" : tokens[i];

		for (size_t k = 0; k < N_LEFT; k++)
			if (strcmp(name, left[k]) == 0)
				n->left[k] = (int)i;
		for (size_t k = 0; k < N_RIGHT; k++) {
			if (strcmp(name, right[k]) != 0)
				continue;
			if (k == TIME && n->right[0][TIME] >= 0)
				group = 1;
			n->right[group][k] = (int)i;
		}
	}
	n->in_table = n->left[SIZE] == 0 && n->right[0][TIME] > 0 && n->right[0][ALGBW] > 0 && n->right[0][BUSBW] > 0;
	return n->in_table;
}

static bool take_comment(struct jl_importer *imp, struct nccl *n, const struct jl_line *line)
{
	static const char starting[] = "# Collective test starting: ";
	const char *text = line->text;

	if (line->torn)
		return true;
	if (strncmp(text, starting, strlen(starting)) == 0) {
		n->kind = named(text + strlen(starting));
		n->in_table = false;
		n->n_ranks = n->n_nodes = NAN;
		jl_importer_seen(imp, "nccl-tests");
		return true;
	}
	if (strncmp(text, "# nccl-tests version ", 21) == 0) {
		(void)sscanf(text, "# nccl-tests version %63s", n->version);
		return true;
	}
	if (strncmp(text, "# nThread ", 10) == 0) { /* first line of older versions: resets the ranks */
		n->in_table = false;
		n->n_ranks = n->n_nodes = NAN;
		return true;
	}
	if (strstr(text, " Rank ") && take_rank(n, text))
		return true;
	if (strstr(text, "busbw") && take_header(imp, n, line)) {
		jl_importer_seen(imp, "nccl-tests");
		return true;
	}
	return false;
}

static bool number_at(char **tokens, int column, int shift, struct jl_number *ret_number)
{
	return column >= 0 && jl_scan_token(tokens[column + shift], ret_number);
}

/* Half of a row: out of place or in place. */
static void take_half(struct jl_importer *imp, struct nccl *n, const struct jl_line *line, char **tokens, int shift,
		      size_t group, const struct jl_coll_row *common)
{
	struct jl_coll_row row = *common;
	const int *at = n->right[group];
	struct jl_number wrong;

	if (at[TIME] < 0)
		return;
	if (!number_at(tokens, at[TIME], shift, &row.time_us) ||
	    !number_at(tokens, at[ALGBW], shift, &row.algbw_GBps) ||
	    !number_at(tokens, at[BUSBW], shift, &row.busbw_GBps)) {
		jl_importer_remark(imp, line->number, true, "dropped: a row of nccl-tests without its numbers");
		return;
	}
	row.in_place = group == 1;
	row.n_wrong = number_at(tokens, at[WRONG], shift, &wrong) ? wrong.value : NAN;
	jl_draft_begin(&n->draft, NULL, "nccl-tests", line->number, line->text);
	jl_draft_version(&n->draft, "nccl-tests", n->version);
	emit_row(imp, &n->draft, &row);
}

static bool take_row(struct jl_importer *imp, struct nccl *n, const struct jl_line *line)
{
	char *tokens[COLUMNS_MAX + 3];
	struct jl_coll_row row = { .n_ranks = n->n_ranks, .n_nodes = n->n_nodes, .kind = n->kind, .gpu = n->gpu };
	struct jl_number root;
	int shift = 0;

	memcpy(n->row, line->text, line->len + 1);
	size_t n_tokens = jl_scan_split(n->row, tokens, COLUMNS_MAX + 2);
	if (n_tokens == 0 || !jl_scan_whole(tokens[0], &row.size_B))
		return false;
	/* older versions leave the operator column blank if there is none */
	if (n_tokens + 1 == n->n_columns && n->left[REDOP] > 0)
		shift = -1;
	if (line->torn || n_tokens + (size_t)-shift < n->n_columns ||
	    n_tokens > n->n_columns + (n->has_timestamp ? 2 : 0)) {
		if (n_tokens > 2)
			jl_importer_remark(imp, line->number, true,
					   "dropped: a row of nccl-tests that is not complete");
		return n_tokens > 2;
	}
	if (n->left[COUNT] < 0 || !jl_scan_whole(tokens[n->left[COUNT]], &row.count))
		row.count = NAN;
	row.type = n->left[TYPE] > 0 ? tokens[n->left[TYPE]] : NULL;
	row.redop = shift ? "none" : n->left[REDOP] > 0 ? tokens[n->left[REDOP]] : NULL;
	row.root = NAN;
	if (n->left[ROOT] > 0) {
		const char *token = tokens[n->left[ROOT] + shift];

		if (strcmp(token, "-1") == 0)
			row.root = -1;
		else if (jl_scan_token(token, &root))
			row.root = root.value;
	}
	take_half(imp, n, line, tokens, shift, 0, &row);
	take_half(imp, n, line, tokens, shift, 1, &row);
	return true;
}

static bool take_line(struct jl_importer *imp, void *state, const struct jl_line *line)
{
	struct nccl *n = state;
	const char *text = line->text;

	if (text[0] == '#')
		return take_comment(imp, n, line);
	if (!n->in_table)
		return false;
	text += strspn(text, " \t");
	return isdigit((unsigned char)*text) && take_row(imp, n, line);
}

const struct jl_format jl_format_nccl = { .name = "nccl-tests", .state_B = sizeof(struct nccl), .line = take_line };

static struct jl_number exact(const json_t *object, const char *key)
{
	return (struct jl_number){ .value = jl_scan_json(object, key), .half = 5e-7 };
}

static void take_json_half(struct jl_importer *imp, struct jl_draft *draft, const json_t *half,
			   const struct jl_coll_row *common, size_t line, bool in_place)
{
	struct jl_coll_row row = *common;

	if (!json_is_object(half))
		return;
	row.in_place = in_place;
	row.time_us = exact(half, json_object_get(half, "time") ? "time" : "cpu_time");
	row.algbw_GBps = exact(half, "alg_bw");
	row.busbw_GBps = exact(half, "bus_bw");
	row.n_wrong = jl_scan_json(half, "nwrong");
	if (isnan(row.time_us.value) || isnan(row.algbw_GBps.value) || isnan(row.busbw_GBps.value))
		return;
	jl_draft_begin(draft, NULL, "nccl-tests", line, NULL);
	emit_row(imp, draft, &row);
}

static bool take_json(struct jl_importer *imp, const json_t *root, size_t line)
{
	const json_t *results = json_object_get(root, "results"), *config = json_object_get(root, "config"), *result;
	const json_t *devices = json_object_get(config, "devices");
	const char *program = json_string_value(json_array_get(json_object_get(root, "args"), 0));
	struct jl_coll_row row = { .n_nodes = NAN };
	struct jl_draft draft;
	size_t i;

	if (!json_is_array(results) || !json_is_object(config) || !json_object_get(root, "nccl_version"))
		return false;
	jl_importer_seen(imp, "nccl-tests");
	/* one entry per process, which drives nthreads x ngpus devices */
	row.n_ranks = (double)json_array_size(devices) * jl_scan_json(config, "nthreads") *
		      jl_scan_json(config, "ngpus");
	if (!(row.n_ranks > 0))
		row.n_ranks = NAN;
	row.gpu = json_string_value(json_object_get(json_array_get(devices, 0), "device_info"));
	row.kind = program ? named(program) : NULL;
	json_array_foreach(results, i, result)
	{
		row.size_B = jl_scan_json(result, "size");
		row.count = jl_scan_json(result, "count");
		row.root = jl_scan_json(result, "root");
		row.type = json_string_value(json_object_get(result, "type"));
		row.redop = json_string_value(json_object_get(result, "redop"));
		take_json_half(imp, &draft, json_object_get(result, "out_of_place"), &row, line, false);
		take_json_half(imp, &draft, json_object_get(result, "in_place"), &row, line, true);
	}
	return true;
}

const struct jl_format jl_format_nccl_json = { .name = "nccl-tests", .json = take_json };
