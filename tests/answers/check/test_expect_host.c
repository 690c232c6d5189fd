/* Every figure that `bench all` prints has an expectation that says where it is from, on captured machines too; what is broken is called low,
 * what is healthy never. */
#include "../../facts/probe/machines.h"

#include <math.h>

#include "check/judge.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

/* As `bench all` writes them. Where `value` is 0 only the expectation is looked at. */
#define METRIC(NAME, VALUE, UNIT) "\"metrics\":[{\"name\":\"" NAME "\"" UNIT ",\"n\":1,\"median\":" VALUE "}]"
#define RECORD(ID, KIND, BACKEND, PARAMS, METRICS)                                                                     \
	"{\"record_version\":1,\"id\":\"01M7GQDWH312QYZVEADHJ9" ID "\",\"time_s\":1794784031,\"kind\":\"" KIND         \
	"\",\"backend\":\"" BACKEND "\",\"origin\":\"measured\",\"params\":{" PARAMS "}," METRICS "}"
#define GEMM(B, N, DTYPE, MORE, VALUE)                                                                                 \
	RECORD("Z1AZ", "gemm", B, "\"dtype\":\"" DTYPE "\",\"m\":" N ",\"n\":" N ",\"k\":" N "," MORE,                 \
	       METRIC("gemm_flopps", VALUE, ""))
#define MOVE(B, KIND, TEST, SIZE, MORE, METRIC_NAME, VALUE)                                                            \
	RECORD("Z1AZ", KIND, B, "\"test\":\"" TEST "\",\"size_B\":" SIZE "," MORE, METRIC(METRIC_NAME, VALUE, ""))
#define NET(STREAMS, BOTH, VALUE)                                                                                      \
	RECORD("Z1AZ", "net", "tcp",                                                                                   \
	       "\"test\":\"bandwidth\",\"direction\":\"send\",\"host\":\"127.0.0.1\",\"n_streams\":" STREAMS           \
	       ",\"both_ways\":" BOTH,                                                                                 \
	       METRIC("net_Bps", VALUE, ""))
#define SHM(SIZE, RANKS, VALUE)                                                                                        \
	RECORD("Z1AZ", "allreduce", "shm", "\"size_B\":" SIZE ",\"n_ranks\":" RANKS ",\"in_place\":0",                 \
	       METRIC("algbw_Bps", VALUE, ""))

#define DISK(NAME, TEST, VALUE)                                                                                        \
	MOVE("disk", "storage", TEST, "134217728", "\"disk\":\"" NAME "\"", "storage_Bps", VALUE)

static const char *const host_lines[] = {
	GEMM("cpu", "256", "fp32", "\"n_threads\":0", "1e10"),
	GEMM("cpu", "2048", "fp32", "\"n_threads\":0", "1e11"),
	MOVE("cpu", "memory", "triad", "1258291200", "\"n_threads\":0", "mem_Bps", "2e10"),
	MOVE("cpu", "memory", "copy", "33554432", "\"n_threads\":0", "mem_Bps", "2e10"),
	RECORD("Z1AZ", "net", "tcp", "\"test\":\"latency\",\"host\":\"127.0.0.1\"",
	       METRIC("latency_s", "2e-5", ",\"less_is_better\":true")),
	NET("1", "0", "3e9"),
	NET("4", "1", "3e9"),
	SHM("1024", "2", "1e9"),
	SHM("262144", "8", "1e10"),
	SHM("67108864", "2", "3e9"),
	DISK("nvme0n1", "read", "3e9"),
	DISK("sda", "write", "4e8"),
	MOVE("disk", "storage", "read", "134217728", "\"dir\":\"/mnt/nfs\"", "storage_Bps", "1e9"),
};
static const char *const gpu_lines[] = {
	GEMM("cuda", "1024", "bf16", "\"device\":0", "1e13"),
	GEMM("cuda", "8192", "bf16", "\"device\":0", "1e13"),
	MOVE("cuda", "memory", "triad", "1073741824", "\"device\":0", "mem_Bps", "5e11"),
	MOVE("cuda", "memory", "copy", "16777216", "\"device\":0", "mem_Bps", "5e11"),
	MOVE("cuda", "link", "h2d", "268435456", "\"device\":0,\"pinned\":1", "link_Bps", "2e10"),
	MOVE("cuda", "link", "d2h", "268435456", "\"device\":0,\"pinned\":0", "link_Bps", "6e9"),
	MOVE("cuda", "link", "d2d", "268435456", "\"device\":0,\"peer\":0", "link_Bps", "4e11"),
	MOVE("cuda", "link", "d2d", "268435456", "\"device\":0,\"peer\":1", "link_Bps", "1e10"),
};

static struct jl_judged judged_of(struct jl_judge *judge, const char *line)
{
	struct jl_record *record = jl_arena_alloc(&arena, sizeof(*record));
	struct jl_judged judged = { 0 };
	struct jl_err err = { 0 };

	assert_non_null(record);
	if (jl_record_read(line, strlen(line), &arena, record, &err) || jl_judge(&judged, judge, record, &err))
		fail_msg("%s: %s", line, err.en);
	return judged;
}

static struct jl_judge judge_on(const char *name, struct jl_sys *sys)
{
	struct jl_judge judge = { .cat = jl_catalog_embedded(), .arena = &arena, .here = read_machine(name, &arena) };
	struct jl_err err = { 0 };

	if (judge.here->n_gpus && judge.here->system) {
		assert_int_equal(jl_sys_parse(sys, judge.cat, judge.here->system, &arena, &err), JL_OK);
		judge.here_sys = sys;
	}
	return judge;
}

static void must_expect(struct jl_judge *judge, const char *line)
{
	const struct jl_judged j = judged_of(judge, line);

	if (j.basis == JL_BASIS_NONE || !(j.expect.lo < j.expect.value) || !(j.expect.value <= j.expect.hi))
		fail_msg("%s: %s: %g, %g, %g", judge->here->short_name, line, j.expect.lo, j.expect.value, j.expect.hi);
	assert_true((j.basis == JL_BASIS_HOST) == (j.from_en && j.from_en[0] && j.from_text[0]));
	assert_true(j.verdict != JL_VERDICT_FIRST);
}

static void test_every_figure(void **state)
{
	static const char *const machines[] = { "hgx-h100-8gpu", "supermicro-10x-rtx3090", "dgx-station-v100",
						"server-4x-rtx-pro-6000", "gpuless-arm64-vm" };

	(void)state;
	for (size_t m = 0; m < sizeof(machines) / sizeof(*machines); m++) {
		struct jl_sys sys;
		struct jl_judge judge = judge_on(machines[m], &sys);

		for (size_t i = 0; i < sizeof(host_lines) / sizeof(*host_lines); i++)
			must_expect(&judge, host_lines[i]);
		for (size_t i = 0; judge.here_sys && i < sizeof(gpu_lines) / sizeof(*gpu_lines); i++)
			if (i > 1 || m != 2) /* a V100 has no bf16 units, and bench asks for none */
				must_expect(&judge, gpu_lines[i]);
	}
}

/* What a small virtual machine did when quiet, and what a broken one would do: nothing was held against such estimates, only bounds speak. */
static void test_verdicts(void **state)
{
	static const struct {
		const char *line;
		enum jl_verdict verdict;
	} rows[] = {
		{ SHM("1048576", "2", "1.75e10"), JL_VERDICT_UNJUDGED },
		{ SHM("1048576", "2", "3.5e10"), JL_VERDICT_UNJUDGED },
		{ SHM("1048576", "2", "2e8"), JL_VERDICT_UNJUDGED },
		{ MOVE("cpu", "memory", "triad", "1258291200", "\"n_threads\":0", "mem_Bps", "3.1e10"),
		  JL_VERDICT_UNJUDGED },
		{ MOVE("cpu", "memory", "triad", "1258291200", "\"n_threads\":0", "mem_Bps", "1e9"),
		  JL_VERDICT_UNJUDGED },
		{ GEMM("cpu", "2048", "fp32", "\"n_threads\":0", "5e10"), JL_VERDICT_UNJUDGED },
		{ GEMM("cpu", "2048", "fp32", "\"n_threads\":0", "5e9"), JL_VERDICT_UNJUDGED },
		{ NET("1", "0", "4e9"), JL_VERDICT_UNJUDGED },
		{ NET("1", "0", "1e8"), JL_VERDICT_UNJUDGED },
		{ DISK("vda", "write", "1.2e8"), JL_VERDICT_UNJUDGED }, /* a volume as it is sold */
		{ DISK("vda", "read", "1.2e6"), JL_VERDICT_UNJUDGED },
		{ DISK("nvme0n1", "read", "1.25e8"), JL_VERDICT_UNJUDGED },
		{ DISK("nvme0n1", "read", "3e7"), JL_VERDICT_UNJUDGED },
	};
	struct jl_sys sys;
	struct jl_judge judge = judge_on("gpuless-arm64-vm", &sys);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct jl_judged j = judged_of(&judge, rows[i].line);

		if (j.verdict != rows[i].verdict)
			fail_msg("%s: %s, expected %g to %g", rows[i].line, jl_verdict_name(j.verdict), j.expect.lo,
				 j.expect.hi);
	}
}

/* Three quiet runs of the machine itself say more than an estimate from its parts. */
static void test_history_takes_over(void **state)
{
	static const char *const earlier[] = {
		RECORD("Z1AW", "memory", "cpu", "\"test\":\"triad\",\"size_B\":1258291200,\"n_threads\":0",
		       METRIC("mem_Bps", "3e10", "")),
		RECORD("Z1AX", "memory", "cpu", "\"test\":\"triad\",\"size_B\":1258291200,\"n_threads\":0",
		       METRIC("mem_Bps", "3.1e10", "")),
		RECORD("Z1AY", "memory", "cpu", "\"test\":\"triad\",\"size_B\":1258291200,\"n_threads\":0",
		       METRIC("mem_Bps", "3.05e10", "")),
	};
	const char *now = MOVE("cpu", "memory", "triad", "1258291200", "\"n_threads\":0", "mem_Bps", "1.6e10");
	const struct jl_record *past[3];
	struct jl_sys sys;
	struct jl_judge judge = judge_on("gpuless-arm64-vm", &sys);

	(void)state;
	assert_int_equal(judged_of(&judge, now).basis, JL_BASIS_HOST);
	for (size_t i = 0; i < 3; i++)
		past[i] = judged_of(&judge, earlier[i]).record;
	judge.past = past;
	judge.n_past = 3;
	const struct jl_judged j = judged_of(&judge, now);

	assert_int_equal(j.basis, JL_BASIS_HISTORY);
	assert_int_equal(j.verdict, JL_VERDICT_LOW);
}

/* Products of a healthy H200, repeated for seconds at its power limit, and of one that is not. */
static void test_power_cap(void **state)
{
	static const struct {
		double n, flopps;
		bool low;
	} rows[] = {
		{ 1024, 248e12, false }, { 4096, 665e12, false }, { 4096, 649e12, false }, { 8192, 790e12, false },
		{ 4096, 860e12, false }, { 4096, 480e12, true },  { 8192, 500e12, true },  { 1024, 120e12, true }
	};
	struct jl_sys sys;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), "h200", &arena, &err), JL_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct jl_device_ask ask = {
			.kind = JL_CHECK_GEMM, .dtype = JL_BF16, .m = rows[i].n, .n = rows[i].n, .k = rows[i].n
		};
		const struct jl_figure f = { .value = rows[i].flopps, .lo95 = NAN, .hi95 = NAN };
		struct jl_device_expect e;

		assert_int_equal(jl_check_device(&e, jl_catalog_embedded(), &sys, &ask, &err), JL_OK);
		if ((jl_verdict_of(&f, &e.range) == JL_VERDICT_LOW) != rows[i].low)
			fail_msg("%g: %g of %g to %g", rows[i].n, f.value, e.range.lo, e.range.hi);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_figure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_verdicts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_history_takes_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_power_cap, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
