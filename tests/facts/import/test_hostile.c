/* Damaged logs: truncated anywhere, interleaved lines, CRLF, colours, launcher prefixes, any chunk size. A truncated log gives a subset of the
 * whole log's records. */
#include "collect.h"

static const struct {
	const char *name, *kind, *pattern;
	bool is_series; /* one record from many lines: a truncated one has fewer samples */
} logs[] = {
	{ "nccl-allreduce-2x8.txt", NULL, NULL, false },
	{ "nccl-allgather-unnamed.txt", "allgather", NULL, false },
	{ "nccl-old.txt", NULL, NULL, false },
	{ "nccl-allreduce.json", NULL, NULL, false },
	{ "osu-latency.txt", NULL, NULL, false },
	{ "osu-bw.txt", NULL, NULL, false },
	{ "osu-allreduce.txt", NULL, NULL, false },
	{ "iperf3.json", NULL, NULL, false },
	{ "fio.json", NULL, NULL, false },
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

/* Steps of a truncated log are the first steps of the whole; its rates lie within the whole's range. */
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

/* Truncates each line to `columns` bytes, as terminals and log shorteners do. */
static size_t shorten(const char *from, size_t n, size_t columns)
{
	size_t out = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		const bool is_end = from[i] == '\n' || from[i] == '\r';

		if (is_end || at < columns)
			changed[out++] = from[i];
		at = is_end ? 0 : at + 1;
	}
	return out;
}

static bool is_sample(const struct jl_record *r, double value)
{
	for (size_t i = 0; i < r->n_samples; i++)
		if (fabs(r->samples_s[i] - value) <= 1e-9 * value)
			return true;
	return false;
}

/* Names of GPUs may be truncated, numbers may not. */
static bool has_figures_of_whole(const struct jl_record *r)
{
	for (size_t i = 0; i < whole.n; i++) {
		const struct jl_record *w = &whole.records[i];
		bool same = strcmp(r->kind, w->kind) == 0 &&
			    (jl_record_number(r, "size_B") == jl_record_number(w, "size_B") ||
			     isnan(jl_record_number(r, "size_B")));

		for (size_t k = 0; same && k < r->n_metrics; k++) {
			const struct jl_record_metric *m = jl_record_metric(w, r->metrics[k].name);

			same = m && m->value.median == r->metrics[k].value.median;
		}
		if (same)
			return true;
	}
	return false;
}

/* All samples of a shortened series occur in the whole one. */
static bool is_part(const struct jl_record *r)
{
	const struct jl_record *w = &whole.records[0];

	for (size_t i = 0; i < r->n_samples; i++)
		if (!is_sample(w, r->samples_s[i]))
			return false;
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct jl_record_metric *m = jl_record_metric(w, r->metrics[i].name);

		if (!m || r->metrics[i].value.min < m->value.min * (1 - 1e-9) ||
		    r->metrics[i].value.max > m->value.max * (1 + 1e-9))
			return false;
	}
	return true;
}

static void test_lines_shortened(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LOGS; i++) {
		const struct jl_import_options options = options_of(i);
		size_t n = fixture(text, sizeof(text), logs[i].name), m = 0;

		if (strstr(logs[i].name, ".json"))
			continue; /* reported by the JSON parser */
		collect(&whole, text, n, 65536, &options);
		for (size_t columns = 1; columns < 420 && m < n; columns++) {
			m = shorten(text, n, columns);
			collect(&part, changed, m, 65536, &options);
			for (size_t k = 0; k < part.n; k++)
				if (!(logs[i].is_series ? is_part(&part.records[k])
							: has_figures_of_whole(&part.records[k])))
					fail_msg("%s in %zu columns: %s has figures that are not in the log",
						 logs[i].name, columns, part.records[k].source);
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

/* The text with a prefix before and a suffix after each line. */
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
			if (!logs[i].is_series) { /* after a carriage return inside a line there is no prefix */
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

/* A truncated JSON document does not swallow the table after it. */
static void test_torn_json_before_a_table(void **state)
{
	static const char torn[] = "{\n \"nvbandwidth\": {\n  \"testcases\": [ {\"name\": \"dev";
	const struct jl_import_options options = options_of(2);
	size_t n = strlen(torn);

	(void)state;
	memcpy(text, torn, n); /* NOLINT(bugprone-not-null-terminated-result): the end comes below */
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

/* Truncated lines of training logs: nothing imported, each reported. */
static void test_cut_training_lines(void **state)
{
	static const struct {
		const char *text, *pattern;
		size_t n_records, n_dropped;
	} rows[] = {
		{ "iteration 1/ 9 | elapsed time per iteration (ms): 100.0 | lm loss: 2 |\n"
		  "iteration 2/ 9 | elapsed time per iteration (ms): 101.0 | lm loss: 2 |\n"
		  "iteration 3/ 9 | elapsed time per iteration (ms): 102.0 | lm lo",
		  NULL, 1, 1 },
		{ "iteration 1/ 9 | elapsed time per iteration (ms): 100.0 | lm loss: 2 |\n"
		  "iteration 2/ 9 | elapsed time per iteration (ms): 101.0 |\n",
		  NULL, 1, 1 },
		{ "iteration 1/ 9 | elapsed time per iteration (ms): 100.0 | lm l\n"
		  "iteration 2/ 9 | elapsed time per iteration (ms): 101.0 | lm l\n",
		  NULL, 0, 0 },
		{ "epoch=0/micro_step=2/global_step=1, CurrSamplesPerSec=16.1, MemAllocated=0.02GB\n"
		  "epoch=0/micro_step=4/global_step=2, CurrSamplesPerSec=1\n",
		  NULL, 1, 1 },
		{ "steps: 1 loss: 6.9 iter time (s): 0.614 samples/sec: 26.037\n"
		  "steps: 2 loss: 6.9 iter time (s): 0.614 samples/sec: 2\n"
		  "steps: 3 loss: 6.9 iter time (s): 0.6\n",
		  NULL, 1, 1 },
		{ " 10%|#  | 1/10 [00:01<00:09,  1.06s/it]\n 20%|##  | 2/10 [00:01<00:09,  1.0", NULL, 1, 1 },
		{ "took 1.25\ntook 1.2", "took {step_s}", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct jl_import_options options = { .name = "x", .time_s = 1e9, .pattern = rows[i].pattern };

		collect(&part, rows[i].text, strlen(rows[i].text), 65536, &options);
		if (part.n != rows[i].n_records || part.count.n_dropped != rows[i].n_dropped ||
		    !strstr(part.remarks, "cut"))
			fail_msg("row %zu: %zu records, %zu dropped: %s%s", i, part.n, part.count.n_dropped,
				 part.err.en, part.remarks);
		collect_release(&part);
	}
}

static enum jl_status refuse(void *ctx, const struct jl_record *record, struct jl_err *err)
{
	(void)ctx;
	(void)record;
	return jl_fail(err, JL_E_IO, "full");
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
		cmocka_unit_test(test_cut_anywhere),     cmocka_unit_test(test_lines_shortened),
		cmocka_unit_test(test_dressed),          cmocka_unit_test(test_torn_json_before_a_table),
		cmocka_unit_test(test_torn_end_is_said), cmocka_unit_test(test_cut_training_lines),
		cmocka_unit_test(test_sink_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
