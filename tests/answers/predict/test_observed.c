#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"
#include "catalog/find.h"
#include "predict/observed.h"

static struct jl_arena arena;

static void near(double got, double wanted, double tolerance)
{
	if (!(fabs(got - wanted) <= tolerance)) {
		print_error("%.9g, wanted %.9g\n", got, wanted);
		fail();
	}
}

static struct jl_machine machine(const char *text)
{
	struct jl_machine m = { 0 };
	struct jl_sys sys;
	struct jl_err err = { 0 };

	if (jl_sys_parse(&sys, jl_catalog_embedded(), text, &arena, &err) ||
	    jl_machine_make(&m, jl_catalog_embedded(), &sys, &err)) {
		print_error("%s: %s\n", text, err.en);
		fail();
	}
	return m;
}

static struct jl_observed dgx_station_run(void)
{
	struct jl_observed run = jl_observed_empty();

	run.step_s = 1.06;
	run.batch = 128;
	run.batches = 19252;
	run.kind = JL_MIX_CNN;
	return run;
}

static void test_batches_follow_the_batch(void **state)
{
	const struct jl_observed run = dgx_station_run();

	(void)state;
	near(run.batches * run.step_s / 3600, 5.67, 0.005);
	near(jl_observed_batches(&run, 128), 19252, 0);
	near(jl_observed_batches(&run, 64), 38504, 0);
	near(jl_observed_batches(&run, 256), 9626, 0);
	near(jl_observed_batches(&run, 24), 102678, 0); /* the last one is not full */
	near(jl_observed_batches(&run, 8), 308032, 0);
	near(jl_observed_batches(&run, 512), 4813, 0);
}

static void test_practical_sizes(void **state)
{
	(void)state;
	near(jl_practical_batch(0.7), 0, 0);
	near(jl_practical_batch(1), 1, 0);
	near(jl_practical_batch(7.9), 7, 0);
	near(jl_practical_batch(23.2), 20, 0);
	near(jl_practical_batch(32), 32, 0);
	near(jl_practical_batch(150), 128, 0);
	near(jl_practical_batch(NAN), 0, 0);
}

static void test_the_baseline_is_what_was_observed(void **state)
{
	const struct jl_machine base = machine("4x v100-dgxs-32gb via nvlink2-mesh");
	const struct jl_observed run = dgx_station_run();
	struct jl_carried c;

	(void)state;
	near(jl_observed_limit(&run, &base, &base), 32, 0);
	jl_observed_carry(&c, &run, &base, &base, 128, 32);
	near(c.step_s.value, 1.06, 0);
	near(c.step_s.lo, 1.06, 0);
	near(c.step_s.hi, 1.06, 0);
	near(c.part_s.matrix + c.part_s.memory + c.part_s.host + c.part_s.links, 1.06, 1e-9);
	/* three times the work in three passes, one exchange: about three times the time */
	jl_observed_carry(&c, &run, &base, &base, 384, 32);
	near(c.n_passes, 3, 0);
	assert_true(c.step_s.value > 2.8 * 1.06 && c.step_s.value <= 3.001 * 1.06);
}

static void test_every_row_has_an_interval_around_its_point(void **state)
{
	static const char *const systems[] = {
		"rtx-4090", "rtx-3080-10gb", "rtx-3060",      "2x a100-sxm4-80gb",           "4x a100-sxm4-40gb",
		"h200-sxm", "2x h200-sxm",   "cpu:i9-13900k", "2x(8x h100-sxm5) over ib-ndr"
	};
	static const int dtypes[] = { JL_UNSET, JL_FP32, JL_FP16 };
	const struct jl_machine base = machine("4x v100-dgxs-32gb via nvlink2-mesh");

	(void)state;
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		for (int kind = 0; kind < JL_N_MIX; kind++)
			for (size_t d = 0; d < 3; d++) {
				const struct jl_machine to = machine(systems[i]);
				struct jl_observed run = dgx_station_run();
				struct jl_carried c;
				struct jl_err err = { 0 };

				run.kind = (enum jl_mix_kind)kind;
				run.dtype = dtypes[d];
				assert_int_equal(jl_observed_check_target(&run, &to, &err), JL_OK);
				jl_observed_carry(&c, &run, &base, &to, 128, jl_observed_limit(&run, &base, &to));
				assert_true(c.step_s.lo > 0 && isfinite(c.step_s.hi));
				assert_true(c.step_s.lo < c.step_s.value && c.step_s.value < c.step_s.hi);
				assert_true(c.step_s.hi / c.step_s.lo > 1.2); /* honestly wide */
				near(c.part_s.matrix + c.part_s.memory + c.part_s.host + c.part_s.links, c.step_s.value,
				     1e-9 * c.step_s.value);
				assert_true(c.power_W > 0);
			}
}

static void test_unknown_is_wider_than_cnn(void **state)
{
	const struct jl_machine base = machine("4x v100-dgxs-32gb via nvlink2-mesh"), to = machine("rtx-4090");
	struct jl_observed run = dgx_station_run();
	struct jl_carried cnn, unknown;

	(void)state;
	run.dtype = JL_FP16;
	jl_observed_carry(&cnn, &run, &base, &to, 128, 20);
	run.kind = JL_MIX_UNKNOWN;
	jl_observed_carry(&unknown, &run, &base, &to, 128, 20);
	assert_true(unknown.step_s.hi / unknown.step_s.lo > cnn.step_s.hi / cnn.step_s.lo);
}

static void test_faster_parts_never_make_it_slower(void **state)
{
	const struct jl_machine base = machine("4x v100-dgxs-32gb via nvlink2-mesh");

	(void)state;
	for (int kind = 0; kind < JL_N_MIX; kind++)
		for (double gain = 1.1; gain < 5; gain *= 1.7) {
			struct jl_machine slow = machine("2x a100-sxm4-80gb"), faster[3];
			struct jl_observed run = dgx_station_run();
			struct jl_carried was, is;

			run.kind = (enum jl_mix_kind)kind;
			faster[0] = faster[1] = faster[2] = slow;
			faster[0].dev.mem_Bps *= gain;
			for (int d = 0; d < JL_N_DTYPE; d++)
				faster[1].dev.peak_flopps[d] *= gain;
			faster[2].fabric.intra.rate_Bps *= gain;
			jl_observed_carry(&was, &run, &base, &slow, 128, 64);
			for (int i = 0; i < 3; i++) {
				jl_observed_carry(&is, &run, &base, &faster[i], 128, 64);
				assert_true(is.step_s.value <= was.step_s.value * (1 + 1e-12));
				assert_true(is.step_s.lo <= was.step_s.lo * (1 + 1e-12));
				assert_true(is.step_s.hi <= was.step_s.hi * (1 + 1e-12));
			}
		}
}

static void test_memory_decides_the_batch(void **state)
{
	const struct jl_machine base = machine("4x v100-dgxs-32gb via nvlink2-mesh"), small = machine("rtx-3080-10gb"),
				middle = machine("rtx-4090"), large = machine("h200-sxm");
	struct jl_observed run = dgx_station_run();

	(void)state;
	assert_true(jl_observed_limit(&run, &base, &small) < jl_observed_limit(&run, &base, &middle));
	assert_true(jl_observed_limit(&run, &base, &middle) < 32);
	assert_true(jl_observed_limit(&run, &base, &large) > 100);
	run.batch_limit = 64; /* the baseline had room for twice as much */
	assert_true(jl_observed_limit(&run, &base, &middle) >= 40);
	run.sample_B = 1.0 * (1 << 30);
	run.fixed_B = 2.0 * (1 << 30);
	near(jl_observed_limit(&run, &base, &middle), 20, 0); /* 0.95 x 24 - 2 = 20.8 */
	run.sample_B = 1e12;
	near(jl_observed_limit(&run, &base, &middle), 0, 0);
}

static void test_bad_runs_are_refused(void **state)
{
	const struct jl_machine base = machine("4x v100-dgxs-32gb via nvlink2-mesh");
	struct jl_machine nameless = base;
	struct jl_observed run = dgx_station_run();
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_observed_check(&run, &base, &err), JL_OK);
	run.step_s = -1;
	assert_int_equal(jl_observed_check(&run, &base, &err), JL_E_RANGE);
	run = dgx_station_run();
	run.batch = 2;
	assert_int_equal(jl_observed_check(&run, &base, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "4 devices"));
	run = dgx_station_run();
	run.dtype = JL_BF16;
	assert_int_equal(jl_observed_check(&run, &base, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "fp16"));
	run = dgx_station_run();
	nameless.dev.mem_B = NAN;
	assert_int_equal(jl_observed_check(&run, &nameless, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "memory"));
}

/* Published runs of one model on one GPU: each pair of GPUs is an observed run and what came of it elsewhere. */
struct published {
	char model[24], gpu[32];
	int half;
	double per_s;
	struct jl_machine *machine;
};

#define PUBLISHED_MAX 600
static struct published rows[PUBLISHED_MAX];
static struct jl_machine machines[64];
static char machine_names[64][32];

static struct jl_machine *machine_of(const char *gpu)
{
	static size_t n;
	const struct jl_gpu *found;
	struct jl_err err = { 0 };
	size_t i = 0;

	while (i < n && strcmp(machine_names[i], gpu) != 0)
		i++;
	if (i < n)
		return &machines[i];
	if (n == 64 || jl_find_gpu(&found, jl_catalog_embedded(), gpu, &err))
		return NULL;
	strncpy(machine_names[n], gpu, sizeof(machine_names[n]) - 1);
	machines[n] = machine(found->id);
	return &machines[n++];
}

static size_t read_published(void)
{
	struct jl_buf text;
	struct jl_csv csv;
	struct jl_err err = { 0 };
	bool more;
	size_t n = 0;

	assert_int_equal(
		jl_buf_read_file(&text, JL_SOURCE_DIR "/data/validation/train_other.csv", (size_t)16 << 20, &err),
		JL_OK);
	assert_int_equal(jl_csv_open(&csv, text.data, text.len, "train_other.csv", &err), JL_OK);
	while (jl_csv_next(&csv, &more, &err) == JL_OK && more && n < PUBLISHED_MAX) {
		const char *gpu = jl_csv_text(&csv, jl_csv_find(&csv, "gpu"));
		struct published *row = &rows[n];

		if (strcmp(jl_csv_text(&csv, jl_csv_find(&csv, "n_gpus")), "1") != 0 ||
		    !(row->machine = machine_of(gpu)))
			continue;
		strncpy(row->model, jl_csv_text(&csv, jl_csv_find(&csv, "model")), sizeof(row->model) - 1);
		strncpy(row->gpu, gpu, sizeof(row->gpu) - 1);
		row->half = strstr(jl_csv_text(&csv, jl_csv_find(&csv, "precision")), "fp16") != NULL;
		assert_int_equal(jl_csv_number(&csv, jl_csv_find(&csv, "throughput"), &row->per_s, &err), JL_OK);
		n++;
	}
	jl_csv_release(&csv);
	jl_buf_release(&text);
	return n;
}

static enum jl_mix_kind kind_of(const char *model)
{
	if (strcmp(model, "resnet50") == 0 || strcmp(model, "ssd") == 0 || strcmp(model, "maskrcnn") == 0)
		return JL_MIX_CNN;
	return strncmp(model, "transformerxl", 13) == 0 ? JL_MIX_TRANSFORMER : JL_MIX_UNKNOWN;
}

static void test_intervals_hold_on_published_pairs(void **state)
{
	const size_t n = read_published();
	size_t n_pair[JL_N_MIX] = { 0 }, n_in[JL_N_MIX] = { 0 };

	(void)state;
	assert_true(n > 300);
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < n; b++) {
			struct jl_observed run = jl_observed_empty();
			struct jl_carried c;
			enum jl_mix_kind kind = kind_of(rows[a].model);

			if (rows[a].machine == rows[b].machine || rows[a].half != rows[b].half ||
			    strcmp(rows[a].model, rows[b].model) != 0)
				continue;
			run.batch = 64;
			run.step_s = run.batch / rows[a].per_s;
			run.kind = kind;
			run.dtype = rows[a].half ? JL_FP16 : JL_TF32;
			jl_observed_carry(&c, &run, rows[a].machine, rows[b].machine, run.batch, 64);
			n_pair[kind]++;
			n_in[kind] += run.batch / rows[b].per_s >= c.step_s.lo &&
				      run.batch / rows[b].per_s <= c.step_s.hi;
		}
	for (int k = 0; k < JL_N_MIX; k++)
		print_message("%s: %zu of %zu pairs inside (%.0f %%)\n", jl_mixes[k].id, n_in[k], n_pair[k],
			      100 * (double)n_in[k] / (double)n_pair[k]);
	for (int k = 0; k < JL_N_MIX; k++)
		assert_true((double)n_in[k] >= (k == JL_MIX_CNN ? 0.85 : 0.75) * (double)n_pair[k]);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batches_follow_the_batch),
		cmocka_unit_test(test_practical_sizes),
		cmocka_unit_test(test_the_baseline_is_what_was_observed),
		cmocka_unit_test(test_every_row_has_an_interval_around_its_point),
		cmocka_unit_test(test_unknown_is_wider_than_cnn),
		cmocka_unit_test(test_faster_parts_never_make_it_slower),
		cmocka_unit_test(test_memory_decides_the_batch),
		cmocka_unit_test(test_bad_runs_are_refused),
		cmocka_unit_test(test_intervals_hold_on_published_pairs),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
