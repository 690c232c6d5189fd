/* Logs as they really come: cut anywhere, with other lines between, CRLF, colours, tags of the launcher, in pieces of any size. What is
 * taken from a cut log is what would be taken from the whole, and nothing else. */
#include "collect.h"

static const struct {
	const char *name, *kind, *pattern;
	bool is_series; /* one record of many lines: a cut one has fewer samples */
} logs[] = {
	{ "nccl-allreduce-2x8.txt", NULL, NULL, false },
	{ "nccl-allgather-unnamed.txt", "allgather", NULL, false },
	{ "nccl-old.txt", NULL, NULL, false },
	{ "nccl-allreduce.json", NULL, NULL, false },
	{ "osu-latency.txt", NULL, NULL, false },
	{ "osu-bw.txt", NULL, NULL, false },
	{ "osu-allreduce.txt", NULL, NULL, false },
	{ "iperf3.json", NULL, NULL, false },
	{ "nvbandwidth.json", NULL, NULL, false },
	{ "nvbandwidth.txt", NULL, NULL, false },
	{ "topo-m.txt", NULL, NULL, false },
	{ "topo-p2p.txt", NULL, NULL, false },
	{ "hf-trainer.log", NULL, NULL, false },
	{ "tqdm.log", NULL, NULL, true },
	{ "tqdm-fast.log", NULL, NULL, true },
	{ "deepspeed.log", NULL, NULL, true },
	{ "megatron.log", NULL, NULL, true },
	{ "plain.log", NULL, "step {step} loss {*} {step_s} s", true },
};

#define N_LOGS (sizeof(logs) / sizeof(*logs))

static char text[1 << 16], changed[1 << 19];
static struct collected whole, part;

static struct jl_import_options options_of(size_t i)
{
	return (struct jl_import_options){
		.name = "x", .time_s = 1e9, .kind = logs[i].kind, .pattern = logs[i].pattern
	};
}

static bool same_figures(const struct jl_record *a, const struct jl_record *b)
{
	if (strcmp(a->kind, b->kind) != 0 || a->n_metrics != b->n_metrics || a->n_params != b->n_params)
		return false;
	for (size_t i = 0; i < a->n_metrics; i++)
		if (strcmp(a->metrics[i].name, b->metrics[i].name) != 0 ||
		    a->metrics[i].value.median != b->metrics[i].value.median)
			return false;
	for (size_t i = 0; i < a->n_params; i++) {
		const struct jl_record_item *x = &a->params[i], *y = &b->params[i];

		if (strcmp(x->key, y->key) != 0 || !x->text != !y->text ||
		    (x->text ? strcmp(x->text, y->text) != 0 : x->number != y->number))
			return false;
	}
	return true;
}

static bool is_in_whole(const struct jl_record *r)
{
	for (size_t i = 0; i < whole.n; i++)
		if (same_figures(r, &whole.records[i]))
			return true;
	return false;
}

/* The steps of a cut log are the first steps of the whole one; the rates lie within its range. */
static bool is_beginning(const struct jl_record *r)
{
	const struct jl_record *w = &whole.records[0];

	if (whole.n != 1 || strcmp(r->backend, w->backend) != 0 || r->n_samples > w->n_samples)
		return false;
	for (size_t i = 0; i < r->n_samples; i++)
		if (r->samples_s[i] != w->samples_s[i])
			return false;
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct jl_record_metric *m = jl_record_metric(w, r->metrics[i].name);

		if (!m || r->metrics[i].value.min < m->value.min || r->metrics[i].value.max > m->value.max)
			return false;
	}
	return true;
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LOGS; i++) {
		const struct jl_import_options options = options_of(i);
		size_t n = fixture(text, sizeof(text), logs[i].name);
		size_t stride = n > 4000 ? 7 : 1;

		collect(&whole, text, n, 65536, &options);
		assert_int_equal(whole.status, JL_OK);
		for (size_t cut = 0; cut < n; cut += stride) {
			collect(&part, text, cut, 65536, &options);
			for (size_t k = 0; k < part.n; k++)
				if (!(logs[i].is_series ? is_beginning(&part.records[k])
							: is_in_whole(&part.records[k])))
					fail_msg("%s cut at %zu: %s has figures that are not in the log", logs[i].name,
						 cut, part.records[k].source);
			collect_release(&part);
		}
		collect_release(&whole);
	}
}

static void same_as_whole(size_t log, const char *what)
{
	if (part.status || part.n != whole.n)
		fail_msg("%s %s: %zu records, not %zu: %s%s", logs[log].name, what, part.n, whole.n, part.err.en,
			 part.remarks);
	for (size_t k = 0; k < part.n; k++)
		if (!same_figures(&part.records[k], &whole.records[k]))
			fail_msg("%s %s: record %zu differs", logs[log].name, what, k);
}

/* The text with something before each line and something at its end. */
static size_t dress(const char *from, size_t n, const char *before, const char *after)
{
	size_t out = 0;
	bool at_start = true;

	for (size_t i = 0; i < n; i++) {
		if (at_start)
			out += (size_t)sprintf(changed + out, "%s", before);
		at_start = from[i] == '\n';
		if (at_start)
			out += (size_t)sprintf(changed + out, "%s", after);
		changed[out++] = from[i];
		assert_true(out < sizeof(changed) - 4096);
	}
	return out;
}

static void test_dressed(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LOGS; i++) {
		const struct jl_import_options options = options_of(i);
		bool is_json = strstr(logs[i].name, ".json") != NULL;
		size_t n = fixture(text, sizeof(text), logs[i].name), m;

		collect(&whole, text, n, 65536, &options);
		m = dress(text, n, "", "\r"); /* CRLF */
		collect(&part, changed, m, 65536, &options);
		same_as_whole(i, "with CRLF");
		collect_release(&part);
		for (size_t chunk = 1; chunk < 70; chunk += 17) {
			collect(&part, text, n, chunk, &options);
			same_as_whole(i, "in pieces");
			collect_release(&part);
		}
		if (!is_json) {
			m = dress(text, n, "\033[32m", "\033[0m");
			collect(&part, changed, m, 65536, &options);
			same_as_whole(i, "in colour");
			collect_release(&part);
			m = dress(text, n, "[1,0]<stdout>:", "");
			if (!logs[i].is_series) { /* carriage returns inside a line have no tag of their own */
				collect(&part, changed, m, 65536, &options);
				same_as_whole(i, "under mpirun");
				collect_release(&part);
			}
			m = dress(text, n, "",
				  "\nnode3:771:790 [0] NCCL INFO Channel 00/02 : 0 1\n2026-01-02 WARN 17 things");
			collect(&part, changed, m, 65536, &options);
			same_as_whole(i, "mixed with other lines");
			collect_release(&part);
		}
		collect_release(&whole);
	}
}

/* A document that never ends does not swallow what comes after the line where it breaks. */
static void test_torn_json_before_a_table(void **state)
{
	static const char torn[] = "{\n \"nvbandwidth\": {\n  \"testcases\": [ {\"name\": \"dev";
	const struct jl_import_options options = options_of(2);
	size_t n = strlen(torn);

	(void)state;
	memcpy(text, torn, n);
	text[n++] = '\n';
	n += fixture(text + n, sizeof(text) - n, "nccl-old.txt");
	collect(&part, text, n, 65536, &options);
	assert_int_equal(part.n, 4);
	assert_int_equal(part.n_remarks, 1);
	assert_non_null(strstr(part.remarks, "1: JSON"));
	collect_release(&part);
}

static void test_torn_end_is_said(void **state)
{
	static const char row[] = "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1    3.31\n4096   812";
	const struct jl_import_options options = { .name = "x", .time_s = 1e9 };

	(void)state;
	collect(&part, row, strlen(row), 65536, &options);
	assert_int_equal(part.n, 1);
	assert_int_equal(part.count.n_dropped, 1);
	assert_non_null(strstr(part.remarks, "4: dropped"));
	collect_release(&part);
}

static enum jl_status refuse(void *ctx, const struct jl_record *record, struct jl_err *err)
{
	(void)ctx;
	(void)record;
	return jl_fail(err, JL_E_IO, "full", "가득 참");
}

static void test_sink_that_fails(void **state)
{
	const struct jl_import_sink sink = { .record = refuse, .ctx = &part };
	const struct jl_import_reader reader = { .read = read_text, .ctx = &part };
	const struct jl_import_options options = options_of(0);
	struct jl_import_count count;
	struct jl_err err;

	(void)state;
	memset(&part, 0, sizeof(part));
	part.data = text;
	part.len = fixture(text, sizeof(text), logs[0].name);
	part.chunk = 100;
	assert_int_equal(jl_import_stream(&reader, &options, &sink, &count, &err), JL_E_IO);
	assert_string_equal(err.en, "full");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_dressed),
		cmocka_unit_test(test_torn_json_before_a_table),
		cmocka_unit_test(test_torn_end_is_said),
		cmocka_unit_test(test_sink_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
