/* Imports each tool's output: values in SI units, with their source lines. */
#include "collect.h"

static char text[1 << 16];
static struct collected got;

static const struct jl_import_options plain = { .name = "x.log", .time_s = 1e9 };

static void load(const char *name, const struct jl_import_options *options)
{
	size_t n = fixture(text, sizeof(text), name);

	collect(&got, text, n, 65536, options);
	if (got.status)
		print_error("%s: %s\n%s", name, got.err.en, got.remarks);
	assert_int_equal(got.status, JL_OK);
	for (size_t i = 0; i < got.n; i++) {
		assert_string_equal(got.records[i].origin, "imported");
		assert_true(strncmp(got.records[i].source, "x.log:", 6) == 0);
	}
}

static double metric(size_t record, const char *name)
{
	const struct jl_record_metric *m = jl_record_metric(&got.records[record], name);

	assert_non_null(m);
	return m->value.median;
}

static void near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * fabs(wanted))
		fail_msg("%.17g, not %.17g", value, wanted);
}

static void test_nccl(void **state)
{
	const struct jl_record *r;

	(void)state;
	load("nccl-allreduce-2x8.txt", &plain);
	assert_int_equal(got.n, 10); /* five sizes, out of place and in place */
	assert_int_equal(got.n_remarks, 0);
	assert_string_equal(got.count.formats[0], "nccl-tests");
	r = &got.records[8];
	assert_string_equal(r->kind, "allreduce");
	assert_string_equal(jl_record_text(r, "gpu"), "NVIDIA H100 80GB HBM3");
	near(jl_record_number(r, "size_B"), 8589934592.0);
	near(jl_record_number(r, "n_ranks"), 16);
	near(jl_record_number(r, "n_nodes"), 2);
	assert_true(jl_record_number(r, "in_place") == 0 && jl_record_number(&got.records[9], "in_place") == 1);
	near(metric(8, "busbw_Bps") / metric(8, "algbw_Bps"), 1.875);
	assert_true(fabs(metric(8, "algbw_Bps") - 180e9) < 5e9);
	assert_non_null(strstr(r->line, "8589934592"));
	assert_string_equal(r->source, "x.log:30");
	/* 0.00 GB/s in the table for 8 bytes: computed from the time */
	near(metric(0, "algbw_Bps"), 8 / metric(0, "time_s"));
	collect_release(&got);
}

static void test_nccl_old_columns(void **state)
{
	(void)state;
	load("nccl-old.txt", &plain);
	assert_int_equal(got.n, 4);
	assert_string_equal(got.records[0].kind, "allreduce");
	near(metric(0, "algbw_Bps"), 20.48e9);
	near(jl_record_number(&got.records[0], "n_ranks"), 4);
	collect_release(&got);
}

static void test_nccl_which_collective(void **state)
{
	struct jl_import_options options = plain;
	size_t n;

	(void)state;
	load("nccl-sendrecv-unnamed.txt", &plain); /* only send-receive has no operator and busbw = algbw */
	assert_string_equal(got.records[0].kind, "sendrecv");
	collect_release(&got);
	n = fixture(text, sizeof(text), "nccl-allgather-unnamed.txt");
	collect(&got, text, n, 65536, &plain);
	assert_int_equal(got.status, JL_E_DATA); /* ambiguous: all-gather or all-to-all */
	assert_non_null(strstr(got.remarks, "--kind"));
	collect_release(&got);
	options.kind = "allgather";
	load("nccl-allgather-unnamed.txt", &options);
	assert_int_equal(got.n, 10);
	assert_string_equal(got.records[0].kind, "allgather");
	collect_release(&got);
	/* wrong option: contradicts busbw */
	options.kind = "allreduce";
	collect(&got, text, n, 65536, &options);
	assert_non_null(strstr(got.remarks, "busbw/algbw"));
	collect_release(&got);
}

static void test_nccl_contradiction(void **state)
{
	char *at;
	size_t n = fixture(text, sizeof(text), "nccl-old.txt");

	(void)state;
	at = strstr(text, "  51.20   20.48");
	assert_non_null(at);
	at[2] = '6'; /* change one digit of the time */
	collect(&got, text, n, 65536, &plain);
	assert_int_equal(got.n, 3);
	assert_int_equal(got.count.n_dropped, 1);
	assert_non_null(strstr(got.remarks, "12: dropped"));
	collect_release(&got);
}

static void test_nccl_json(void **state)
{
	(void)state;
	load("nccl-allreduce.json", &plain);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.records[0].kind, "allreduce");
	near(jl_record_number(&got.records[0], "n_ranks"), 8);
	near(metric(0, "time_s"), 3900e-6);
	collect_release(&got);
}

static void test_osu(void **state)
{
	(void)state;
	load("osu-latency.txt", &plain);
	assert_int_equal(got.n, 4);
	assert_string_equal(got.records[0].kind, "net");
	near(metric(0, "latency_s"), 1.52e-6);
	collect_release(&got);
	load("osu-bw.txt", &plain);
	near(metric(2, "net_Bps"), 12021.77e6);
	collect_release(&got);
	load("osu-allreduce.txt", &plain);
	assert_int_equal(got.n, 3);
	near(metric(2, "time_s"), 0.106101);
	near(metric(2, "algbw_Bps"), 268435456 / 0.106101);
	assert_int_equal(got.records[2].metrics[0].value.n, 10);
	near(got.records[2].metrics[0].value.max, 0.107);
	collect_release(&got);
}

static void test_iperf3(void **state)
{
	size_t n;

	(void)state;
	load("iperf3.json", &plain);
	assert_int_equal(got.n, 1);
	near(got.records[0].metrics[0].value.mean, 9.42e9 / 8);
	near(got.records[0].metrics[0].value.min, 9.41e9 / 8); /* omitted intervals do not count */
	assert_int_equal(got.records[0].metrics[0].value.n, 4);
	near(got.records[0].time_s, 1772323200);
	collect_release(&got);
	n = fixture(text, sizeof(text), "iperf3-error.json");
	collect(&got, text, n, 65536, &plain);
	assert_int_equal(got.status, JL_E_DATA);
	assert_non_null(strstr(got.remarks, "Connection refused"));
	collect_release(&got);
}

static void test_nvbandwidth(void **state)
{
	char *at;
	size_t n;

	(void)state;
	load("nvbandwidth.json", &plain);
	assert_int_equal(got.n, 2);
	near(metric(1, "link_Bps"), (395.1e9 + 394.7e9) / 2);
	assert_string_equal(jl_record_text(&got.records[1], "row_0"), "N/A 395.1");
	collect_release(&got);
	load("nvbandwidth.txt", &plain);
	assert_int_equal(got.n, 2);
	near(got.records[0].metrics[0].value.min, 55.42e9);
	collect_release(&got);
	n = fixture(text, sizeof(text), "nvbandwidth.txt");
	at = strstr(text, "55.42");
	at[0] = '6'; /* contradicts the sum */
	collect(&got, text, n, 65536, &plain);
	assert_int_equal(got.n, 1);
	assert_non_null(strstr(got.remarks, "do not agree"));
	collect_release(&got);
}

static void test_topo(void **state)
{
	(void)state;
	load("topo-m.txt", &plain);
	assert_int_equal(got.n, 1);
	assert_string_equal(got.records[0].kind, "topology");
	assert_string_equal(jl_record_text(&got.records[0], "GPU2"), "SYS SYS X NV4 SYS");
	near(jl_record_number(&got.records[0], "n_gpus"), 4);
	collect_release(&got);
	load("topo-p2p.txt", &plain);
	assert_string_equal(got.records[0].kind, "p2p");
	near(jl_record_number(&got.records[0], "n_gpus"), 10);
	assert_string_equal(jl_record_text(&got.records[0], "GPU9"), "CNS CNS CNS CNS CNS CNS CNS CNS CNS X");
	collect_release(&got);
}

static void test_tqdm(void **state)
{
	(void)state;
	load("tqdm.log", &plain);
	assert_int_equal(got.n, 1); /* progress bars of loading shards are ignored */
	assert_string_equal(got.records[0].backend, "tqdm");
	assert_string_equal(jl_record_text(&got.records[0], "label"), "Epoch");
	near(metric(0, "step_s"), 1.06);
	assert_int_equal(got.records[0].metrics[0].value.n, 200);
	assert_int_equal(got.records[0].n_samples, 200);
	assert_string_equal(got.records[0].source, "x.log:3");
	collect_release(&got);
	load("tqdm-fast.log", &plain); /* a bar without a line end is complete if its bracket closes */
	assert_int_equal(got.records[0].metrics[0].value.n, 2);
	near(got.records[0].metrics[0].value.max, 1 / 12.3);
	collect_release(&got);
}

static void test_trainers(void **state)
{
	static const char results[] =
		"{\n    \"epoch\": 3.0,\n    \"train_loss\": 1.2,\n    \"train_runtime\": 100.5,\n"
		"    \"train_samples_per_second\": 80.25,\n    \"train_steps_per_second\": 5.016\n}\n";

	(void)state;
	load("hf-trainer.log", &plain);
	assert_int_equal(got.n, 1);
	near(metric(0, "samples_per_s"), 156.15);
	near(metric(0, "step_s"), 1 / 9.759);
	assert_string_equal(got.records[0].source, "x.log:5");
	collect_release(&got);
	collect(&got, results, strlen(results), 65536, &plain);
	assert_int_equal(got.n, 1);
	near(metric(0, "samples_per_s"), 80.25);
	collect_release(&got);
	load("deepspeed.log", &plain);
	assert_int_equal(got.n, 1);
	near(metric(0, "samples_per_s"), 16.55);
	near(jl_record_number(&got.records[0], "last_step"), 100);
	assert_string_equal(got.records[0].source, "x.log:2-20");
	collect_release(&got);
	load("megatron.log", &plain);
	near(metric(0, "step_s"), 5.2941);
	near(metric(0, "gpu_flopps"), 237e12);
	near(jl_record_number(&got.records[0], "batch"), 256);
	collect_release(&got);
}

static void test_pattern(void **state)
{
	static const char *const bad[] = { "no holes", "{step} only", "{step_s}{step}",
					   "{step_s",  "{hours} h",   "{*}{step_s}" };
	struct jl_import_options options = plain;
	size_t n;

	(void)state;
	options.pattern = "step {step} loss {*} {step_s} s";
	load("plain.log", &options);
	assert_int_equal(got.n, 1);
	near(metric(0, "step_s"), 0.51);
	near(jl_record_number(&got.records[0], "last_step"), 30);
	collect_release(&got);
	n = fixture(text, sizeof(text), "plain.log");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		options.pattern = bad[i];
		collect(&got, text, n, 65536, &options);
		assert_int_equal(got.status, JL_E_USAGE);
		collect_release(&got);
	}
	options.pattern = "{it_per_s} it/sec";
	collect(&got, "speed 1.2.3 it/sec\nspeed 12.5 it/sec\nspeed -3 it/sec\n", 52, 65536, &options);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.records[0].metrics[0].value.n, 1);
	near(metric(0, "step_s"), 0.08);
	collect_release(&got);
}

static void test_unknown_is_refused(void **state)
{
	static const char words[] = "Dear diary,\ntoday it took 12 s.\n";

	(void)state;
	collect(&got, words, strlen(words), 65536, &plain);
	assert_int_equal(got.status, JL_E_DATA);
	assert_non_null(strstr(got.err.en, "nccl-tests"));
	assert_non_null(strstr(got.err.text, "Megatron-LM"));
	collect_release(&got);
	collect(&got, "", 0, 65536, &plain);
	assert_int_equal(got.status, JL_E_DATA);
	collect_release(&got);
	collect(&got, "\xff\xfe#\0 \0", 6, 65536, &plain);
	assert_non_null(strstr(got.err.en, "UTF-16"));
	collect_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nccl),
		cmocka_unit_test(test_nccl_old_columns),
		cmocka_unit_test(test_nccl_which_collective),
		cmocka_unit_test(test_nccl_contradiction),
		cmocka_unit_test(test_nccl_json),
		cmocka_unit_test(test_osu),
		cmocka_unit_test(test_iperf3),
		cmocka_unit_test(test_nvbandwidth),
		cmocka_unit_test(test_topo),
		cmocka_unit_test(test_tqdm),
		cmocka_unit_test(test_trainers),
		cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_unknown_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
