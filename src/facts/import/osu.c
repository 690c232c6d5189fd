/* Imports OSU micro-benchmarks: "# OSU MPI Allreduce Latency Test v7.2", a header line, rows. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "import/format.h"

#define COLUMNS_MAX    16
#define ITERATIONS_MAX 1000000000000LL

enum what { OTHER, LATENCY_US, MIN_US, MAX_US, BANDWIDTH_MBPS, ITERATIONS };

struct osu {
	const char *kind, *test;
	char title[96];
	bool in_table;
	double last_size_B;
	enum what columns[COLUMNS_MAX];
	size_t n_columns;
	char row[JL_IMPORT_LINE_MAX_B + 1];
	struct jl_draft draft;
};

/* Words of the title, the most specific first. */
static const struct {
	const char *word, *kind, *test;
} tests[] = {
	{ "Reduce_scatter", "reducescatter", "reduce_scatter" },
	{ "Allreduce", "allreduce", "allreduce" },
	{ "All-to-All", "alltoall", "alltoall" },
	{ "Alltoall", "alltoall", "alltoall" },
	{ "Allgather", "allgather", "allgather" },
	{ "Broadcast", "broadcast", "bcast" },
	{ "Bcast", "broadcast", "bcast" },
	{ "Reduce ", "reduce", "reduce" },
	{ "Bi-Directional Bandwidth", "net", "bibw" },
	{ "Bandwidth", "net", "bw" },
	{ "Latency", "net", "latency" },
};

static void take_title(struct jl_importer *imp, struct osu *o, const char *text)
{
	o->in_table = false;
	o->kind = NULL;
	(void)snprintf(o->title, sizeof(o->title), "%s", text + 2);
	/* not imported: "v" variants send different sizes per rank; one-sided and persistent tests measure something else */
	if (strstr(text, "Gatherv") || strstr(text, "Allgatherv") || strstr(text, "Alltoallv") ||
	    strstr(text, "All-to-Allv") || strstr(text, "Multiple"))
		return;
	for (size_t i = 0; i < JL_LEN(tests); i++) {
		if (!strstr(text, tests[i].word))
			continue;
		o->kind = tests[i].kind;
		o->test = tests[i].test;
		jl_importer_seen(imp, "OSU micro-benchmarks");
		return;
	}
}

static enum what column_named(const char *name)
{
	if (strstr(name, "(MB/s)"))
		return BANDWIDTH_MBPS;
	if (strncmp(name, "Iterations", 10) == 0)
		return ITERATIONS;
	if (!strstr(name, "(us)") || strstr(name, "Tail"))
		return OTHER;
	if (strncmp(name, "Min ", 4) == 0)
		return MIN_US;
	return strncmp(name, "Max ", 4) == 0 ? MAX_US : LATENCY_US;
}

/* "# Size          Avg Latency(us)   Min Latency(us)": columns are separated by two blanks or a tab. */
static bool take_header(struct osu *o, const char *text)
{
	bool useful = false;
	char *at = o->row;

	(void)snprintf(o->row, sizeof(o->row), "%s", text + 1);
	o->n_columns = 0;
	for (at += strspn(at, " \t"); *at && o->n_columns < COLUMNS_MAX;) {
		char *end = at;

		while (*end && *end != '\t' && !(end[0] == ' ' && (end[1] == ' ' || end[1] == '\t' || !end[1])))
			end++;
		if (*end)
			*end++ = '\0';
		if (o->n_columns == 0 && strcmp(at, "Size") != 0)
			return false;
		o->columns[o->n_columns] = o->n_columns ? column_named(at) : OTHER;
		useful |= o->columns[o->n_columns] == LATENCY_US || o->columns[o->n_columns] == BANDWIDTH_MBPS;
		o->n_columns++;
		at = end + strspn(end, " \t");
	}
	o->in_table = useful && o->n_columns >= 2;
	o->last_size_B = -1;
	return o->in_table;
}

static void emit_row(struct jl_importer *imp, struct osu *o, const struct jl_line *line, double size_B,
		     const double *values)
{
	struct jl_stats latency = jl_summary_unknown();
	struct jl_draft *d = &o->draft;
	double rate_Bps = NAN;
	bool is_coll = strcmp(o->kind, "net") != 0;

	for (size_t i = 1; i < o->n_columns; i++) {
		switch (o->columns[i]) {
		case LATENCY_US: latency.median = latency.mean = values[i] * 1e-6; break;
		/* 0.00: below the resolution */
		case MIN_US: latency.min = values[i] > 0 ? values[i] * 1e-6 : NAN; break;
		case MAX_US: latency.max = values[i] * 1e-6; break;
		case BANDWIDTH_MBPS: rate_Bps = values[i] * 1e6; break;
		case ITERATIONS: latency.n = (size_t)jl_num_whole(values[i], 0, ITERATIONS_MAX); break;
		case OTHER: break;
		}
	}
	jl_draft_begin(d, o->kind, "osu", line->number, line->text);
	jl_draft_number(d, "size_B", size_B);
	jl_draft_text(d, "test", o->test);
	jl_draft_text(d, "title", o->title);
	jl_draft_summary(d, is_coll ? "time_s" : "latency_s", true, &latency);
	jl_draft_metric(d, "net_Bps", false, rate_Bps);
	/* for other collectives the size is one rank's share: converting it needs the number of ranks, which is not printed */
	if (strcmp(o->kind, "allreduce") == 0)
		jl_draft_metric(d, "algbw_Bps", false, size_B / latency.median);
	if (d->n_metrics)
		jl_importer_emit(imp, d);
}

/* True if all values are plausible. */
static bool is_sound(const struct osu *o, const double *values)
{
	double low = 0, middle = NAN, high = INFINITY;

	for (size_t i = 1; i < o->n_columns; i++) {
		const double v = values[i];

		switch (o->columns[i]) {
		case LATENCY_US: middle = v; break;
		case MIN_US: low = v; break;
		case MAX_US: high = v; break;
		case BANDWIDTH_MBPS: middle = isnan(middle) ? v : middle; break;
		case ITERATIONS: break;
		case OTHER: continue;
		}
		if (!isfinite(v) || v < 0 || (v > ITERATIONS_MAX && o->columns[i] == ITERATIONS) ||
		    ((o->columns[i] == LATENCY_US || o->columns[i] == BANDWIDTH_MBPS) && v <= 0))
			return false;
	}
	return low <= middle && middle <= high;
}

static bool take_row(struct jl_importer *imp, struct osu *o, const struct jl_line *line)
{
	char *tokens[COLUMNS_MAX + 1];
	double values[COLUMNS_MAX], size_B;
	bool cut = false;

	memcpy(o->row, line->text, line->len + 1);
	size_t n = jl_scan_split(o->row, tokens, COLUMNS_MAX);
	if (n == 0 || n > COLUMNS_MAX || !jl_scan_whole(tokens[0], &size_B))
		return false;
	if (size_B <= o->last_size_B) { /* sizes must increase: otherwise this is another table, or none */
		o->in_table = false;
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		struct jl_number number;

		if (!jl_scan_token(tokens[i], &number) && n != o->n_columns)
			return false;
		if (!jl_scan_token(tokens[i], &number))
			number = (struct jl_number){ .value = NAN };
		values[i] = number.value;
		/* values have two decimals; fewer in the last one mean a truncated line */
		cut = i + 1 == n && n == o->n_columns && o->columns[i] != ITERATIONS && number.half > 0.006;
	}
	if (line->torn || n != o->n_columns || cut) {
		jl_importer_remark(imp, line->number, true, "dropped: a row of OSU that is not complete");
		return true;
	}
	o->last_size_B = size_B;
	if (!is_sound(o, values)) {
		jl_importer_remark(imp, line->number, true, "dropped: a row of OSU with a figure that cannot be");
		return true;
	}
	emit_row(imp, o, line, size_B, values);
	return true;
}

static bool take_line(struct jl_importer *imp, void *state, const struct jl_line *line)
{
	struct osu *o = state;
	const char *text = line->text;

	if (strncmp(text, "# OSU ", 6) == 0) {
		if (!line->torn)
			take_title(imp, o, text);
		return true;
	}
	if (!o->kind)
		return false;
	if (text[0] == '#')
		return strncmp(text, "# Size", 6) == 0 && !line->torn && take_header(o, text);
	return o->in_table && isdigit((unsigned char)text[strspn(text, " \t")]) && take_row(imp, o, line);
}

const struct jl_format jl_format_osu = { .name = "OSU micro-benchmarks",
					 .state_B = sizeof(struct osu),
					 .line = take_line };
