/* The table that nccl-tests prints, and that `jeoul bench` prints too. The line with the names of the columns says what
 * is where, so that older and newer versions are read alike. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/collective.h"

#define COLUMNS_MAX 40

enum { SIZE, COUNT, TYPE, REDOP, ROOT, N_LEFT };
enum { TIME, ALGBW, BUSBW, WRONG, N_RIGHT };

struct nccl {
	bool in_table;
	int left[N_LEFT];      /* which column; -1: none */
	int right[2][N_RIGHT]; /* out of place, in place */
	size_t n_columns;
	bool has_timestamp;
	const char *kind;
	double n_ranks, n_nodes;
	char host[64], gpu[64], version[64];
	char row[JL_IMPORT_LINE_MAX_B + 1]; /* the line, cut into tokens */
	struct jl_draft draft;
};

/* #  Rank  0 Group  0 Pid  12345 on  host device  0 [0000:07:00] NVIDIA H100 80GB HBM3 */
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
		return true; /* another communicator, measured beside ours */
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
	if (!is_last(tokens[n_tokens - 1])) { /* rows below it may end in the middle of a number */
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
		n->kind = jl_collective_named(text + strlen(starting));
		n->in_table = false;
		n->n_ranks = n->n_nodes = NAN;
		jl_importer_seen(imp, "nccl-tests");
		return true;
	}
	if (strncmp(text, "# nccl-tests version ", 21) == 0) {
		(void)sscanf(text, "# nccl-tests version %63s", n->version);
		return true;
	}
	if (strncmp(text, "# nThread ", 10) ==
	    0) { /* the first line of older versions: nothing is known of who takes part */
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

/* One half of a row: out of place or in place. */
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
	jl_collective_emit(imp, &n->draft, &row);
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
	/* older versions leave the operator blank where there is none */
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

/* ---- the file that -J writes */

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
	jl_collective_emit(imp, draft, &row);
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
	/* one entry for each process, and each drives nthreads x ngpus */
	row.n_ranks = (double)json_array_size(devices) * jl_scan_json(config, "nthreads") *
		      jl_scan_json(config, "ngpus");
	if (!(row.n_ranks > 0))
		row.n_ranks = NAN;
	row.gpu = json_string_value(json_object_get(json_array_get(devices, 0), "device_info"));
	row.kind = program ? jl_collective_named(program) : NULL;
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
