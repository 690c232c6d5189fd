/* jeoul bench gemm, memory, storage, link, list: benchmarks of a single machine. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"
#include "bench/cpu.h"
#include "bench/cpu_libs.h"
#include "bench/disk.h"
#include "cli/bench_session.h"
#include "cli/bench_view.h"
#include "cli/cmd_bench.h"
#include "cli/view.h"
#include "gpu/cuda.h"

#define SIZES_MAX 32

static const char *const dtypes[] = { "fp32", "tf32", "fp16", "bf16", "fp8", NULL };

#define CHECK_OPTION JL_O_FLAG("check", JL_N("verify the result exactly"), .letter = 'c')
#define DEVICE_OPTIONS                                                                                                 \
	JL_O_COUNT("threads", "N", 1, 1024, JL_N("CPU threads (default: all)")),                                       \
		JL_O_COUNT("device", "N", 0, 63, JL_N("GPU (default: 0)")), CHECK_OPTION

const struct jl_option jl_bench_gemm_options[] = {
	JL_O_TEXT("size", "N,N,...", JL_N("square products N x N x N")),
	JL_O_COUNT("m", "N", 1, 1 << 20, JL_N("rows of the result")),
	JL_O_COUNT("n", "N", 1, 1 << 20, JL_N("columns of the result")),
	JL_O_COUNT("k", "N", 1, 1 << 20, JL_N("length of the sums")),
	JL_O_CHOICE("dtype", "TYPE", dtypes, JL_N("fp32, tf32, fp16, bf16 or fp8 (default: bf16 on a GPU, else fp32)")),
	DEVICE_OPTIONS,
	JL_BENCH_OPTIONS,
	{ 0 },
};

const struct jl_option jl_bench_memory_options[] = {
	JL_O_AMOUNT("size", "SIZE", JL_K_BYTES, JL_N("of one array (default: four times the largest cache)"),
		    JL_WITHIN(4096, 1e13, JL_N("must be 4 KiB to 10 TB"))),
	DEVICE_OPTIONS,
	JL_BENCH_OPTIONS,
	{ 0 },
};

const struct jl_option jl_bench_link_options[] = {
	JL_O_AMOUNT("size", "SIZE", JL_K_BYTES, JL_N("of one transfer (default: 256 MiB)"),
		    JL_WITHIN(64, 1e12, JL_N("must be 64 B to 1 TB"))),
	CHECK_OPTION,
	JL_BENCH_OPTIONS,
	{ 0 },
};

const struct jl_option jl_bench_storage_options[] = {
	JL_BENCH_DIR,
	JL_O_AMOUNT("size", "SIZE", JL_K_BYTES, JL_N("of the file (default: 128 MiB)"),
		    JL_WITHIN(1 << 20, 1e13, JL_N("must be 1 MiB to 10 TB"))),
	CHECK_OPTION,
	JL_BENCH_OPTIONS,
	{ 0 },
};

const struct jl_option jl_bench_list_options[] = { { 0 } };

static enum jl_dtype dtype_of(const char *name)
{
	for (int i = 0; i < JL_N_DTYPE; i++)
		if (strcmp(jl_dtype_name((enum jl_dtype)i), name) == 0)
			return (enum jl_dtype)i;
	return JL_FP32;
}

static enum jl_status task_run(struct jl_bench_session *s, const struct jl_bench_task *task, double time_s, bool check,
			       struct jl_bench_result *ret_result, struct jl_err *err)
{
	const struct jl_bench_plan plan = {
		.time_s = time_s, .check = check, .stop = jl_bench_stop, .progress = jl_bench_progress, .ctx = s
	};
	enum jl_status status;

	jl_bench_draw(s);
	status = jl_bench_measure(s->backend, task, &plan, ret_result, err);
	s->n_done++; /* the progress line adds the running task's own fraction */
	if (!status)
		jl_bench_keep(s, ret_result);
	return status;
}

/* The same, and prints the row; `n`: tasks that share --time. */
static enum jl_status run_row(struct jl_bench_session *s, const struct jl_bench_task *task, size_t n, double instead_s,
			      const char *what, enum jl_kind kind, struct jl_err *err)
{
	static struct jl_bench_result result;

	JL_TRY(task_run(s, task, jl_bench_time_s(s->cli, n, instead_s), jl_flag(s->cli, "check"), &result, err));
	jl_bench_view_row(s, what, &result, kind);
	jl_bench_flush(s);
	return JL_OK;
}

static const char *const cuda_cpu[] = { "cuda", "cpu", NULL }, *const gpu_cpu[] = { "cuda", "hip", "cpu", NULL },
			 *const gpu_only[] = { "cuda", "hip", NULL }, *const disk_only[] = { "disk", NULL };

/* Runs one benchmark on the first available backend. */
static enum jl_status alone(struct jl_cli *cli, const char *const *backends,
			    enum jl_status (*measure)(struct jl_bench_session *s, double instead_s, struct jl_err *err),
			    double instead_s, struct jl_err *err)
{
	struct jl_bench_session s;
	enum jl_status status = jl_bench_begin(&s, cli, err);

	if (!status && s.silent)
		return JL_OK;
	JL_THEN(status, jl_bench_choose(&s, backends, err));
	JL_THEN(status, measure(&s, instead_s, err));
	return jl_bench_close(&s, status);
}

/* --- gemm */

static bool on_gpu(const struct jl_bench_session *s)
{
	return strcmp(s->backend->name, "cuda") == 0 || strcmp(s->backend->name, "hip") == 0;
}

static enum jl_status gemm_shapes(const struct jl_bench_session *s, struct jl_bench_task *tasks, size_t *ret_n,
				  struct jl_err *err)
{
	const struct jl_cli *cli = s->cli;
	const char *text = jl_text(cli, "size");
	const bool one = jl_given(cli, "m") || jl_given(cli, "n") || jl_given(cli, "k");
	const char *at = text ? text : on_gpu(s) ? "1024,2048,4096,8192" : "256,512,1024,2048";
	char piece[JL_ITEM_MAX];
	long long size;
	size_t n = 0;

	if (one && text)
		return jl_fail(err, JL_E_USAGE, "--size or --m, --n and --k, not both");
	if (one) {
		const long long m = jl_whole(cli, "m", 1024);

		tasks[0].m = (size_t)m;
		tasks[0].n = (size_t)jl_whole(cli, "n", m);
		tasks[0].k = (size_t)jl_whole(cli, "k", m);
		*ret_n = 1;
		return JL_OK;
	}
	while (jl_next_item(&at, piece)) {
		if (jl_units_parse_count(&size, piece, 1, 65536, "--size", err))
			return jl_fail(err, JL_E_USAGE, "--size: '%s' is not a size; write e.g. 1024,2048,4096", piece);
		if (n == SIZES_MAX)
			return jl_fail(err, JL_E_USAGE, "--size: more than %d sizes", SIZES_MAX);
		tasks[n].m = tasks[n].n = tasks[n].k = (size_t)size;
		n++;
	}
	*ret_n = n;
	return JL_OK;
}

enum jl_status jl_bench_gemm(struct jl_bench_session *s, double instead_s, struct jl_err *err)
{
	struct jl_bench_task tasks[SIZES_MAX] = { 0 };
	const char *dtype = jl_text(s->cli, "dtype");
	const enum jl_dtype type = dtype ? dtype_of(dtype) : on_gpu(s) ? JL_BF16 : JL_FP32;
	size_t n = 0;
	char what[96];
	enum jl_status status = JL_OK;

	JL_TRY(gemm_shapes(s, tasks, &n, err));
	if (strcmp(s->backend->name, "cpu") == 0) {
		if (type != JL_FP32)
			return jl_fail(err, JL_E_ABSENT,
				       "the CPU backend multiplies fp32 only, not %s; a GPU does more",
				       jl_dtype_name(type));
		const struct jl_cpu_lib *libs;
		size_t n_libs;

		JL_TRY(jl_cpu_libs(&libs, &n_libs, err));
	}
	(void)jl_format(what, sizeof(what), "%s %s", JL_("Matrix product"), jl_dtype_name(type));
	jl_bench_view_title(s, what);
	jl_bench_view_head(s, JL_K_FLOP_RATE);
	s->n_tasks += (double)n;
	for (size_t i = 0; i < n && !status && !jl_bench_stop(NULL); i++) {
		tasks[i].kind = JL_BENCH_GEMM;
		tasks[i].dtype = type;
		tasks[i].n_threads = on_gpu(s) ? 0 : (int)jl_whole(s->cli, "threads", jl_cpu_count());
		tasks[i].device = (int)jl_whole(s->cli, "device", 0);
		(void)snprintf(what, sizeof(what), "%zu x %zu x %zu", tasks[i].m, tasks[i].n, tasks[i].k);
		status = run_row(s, &tasks[i], n, instead_s, what, JL_K_FLOP_RATE, err);
	}
	return status;
}

enum jl_status jl_cmd_bench_gemm(struct jl_cli *cli, struct jl_err *err)
{
	return alone(cli, cuda_cpu, jl_bench_gemm, 2, err);
}

/* --- memory, storage: two tasks of one size */

static enum jl_status run_both(struct jl_bench_session *s, struct jl_bench_task *task, const char *title,
			       const enum jl_bench_kind kinds[2], const char *const names[2], double instead_s,
			       struct jl_err *err)
{
	char what[96];
	enum jl_status status = JL_OK;

	(void)jl_format(what, sizeof(what), title, jl_value_text(JL_TXT, (double)task->size_B, JL_K_BYTES, true));
	jl_bench_view_title(s, what);
	jl_bench_view_head(s, JL_K_BYTE_RATE);
	s->n_tasks += 2;
	for (size_t i = 0; i < 2 && !status && !jl_bench_stop(NULL); i++) {
		task->kind = kinds[i];
		if (task->kind == JL_BENCH_TRIAD && jl_bench_can(s->backend, task, NULL))
			continue; /* a triad needs a kernel, which may not exist */
		status = run_row(s, task, 2, instead_s, names[i], JL_K_BYTE_RATE, err);
	}
	return status;
}

static size_t array_B(const struct jl_bench_session *s)
{
	const struct jl_given *given = jl_given(s->cli, "size");
	const size_t cache_B = jl_cpu_cache_B(), least_B = (size_t)64 << 20;

	if (given)
		return (size_t)jl_num_whole(given->value, 0, LLONG_MAX) / 64 * 64;
	if (on_gpu(s))
		return (size_t)1 << 30;
	return cache_B * 4 > least_B ? cache_B * 4 : least_B;
}

enum jl_status jl_bench_memory(struct jl_bench_session *s, double instead_s, struct jl_err *err)
{
	static const enum jl_bench_kind kinds[] = { JL_BENCH_TRIAD, JL_BENCH_COPY };
	static const char *const names[] = { "triad  a = b + s·c", "copy  a = b" };
	struct jl_bench_task task = { .size_B = array_B(s),
				      .device = (int)jl_whole(s->cli, "device", 0),
				      .n_threads = on_gpu(s) ? 0 : (int)jl_whole(s->cli, "threads", jl_cpu_count()) };

	return run_both(s, &task, JL_("Memory, arrays of %s"), kinds, names, instead_s, err);
}

enum jl_status jl_cmd_bench_memory(struct jl_cli *cli, struct jl_err *err)
{
	return alone(cli, gpu_cpu, jl_bench_memory, 2, err);
}

enum jl_status jl_bench_storage(struct jl_bench_session *s, double instead_s, struct jl_err *err)
{
	static const enum jl_bench_kind kinds[] = { JL_BENCH_WRITE, JL_BENCH_READ };
	const char *const names[] = { JL_("write and flush"), JL_("read") };
	const struct jl_given *given = jl_given(s->cli, "size");
	const char *dir = jl_text(s->cli, "dir");
	char whole[PATH_MAX];
	struct jl_bench_task task = { .dir = realpath(dir ? dir : ".", whole) ? whole : dir,
				      .size_B = given ? (size_t)given->value / 4096 * 4096 : (size_t)128 << 20,
				      .stop = jl_bench_stop };

	if (!task.dir)
		return jl_fail(err, JL_E_IO, "storage: the folder that this runs in is gone; --dir names another");
	jl_disk_under(task.dir, task.disk);
	return run_both(s, &task, JL_("Storage, a file of %s"), kinds, names, instead_s, err);
}

enum jl_status jl_cmd_bench_storage(struct jl_cli *cli, struct jl_err *err)
{
	return alone(cli, disk_only, jl_bench_storage, 2, err);
}

/* --- link */

static int gpu_count(const struct jl_bench_session *s)
{
	const struct jl_cuda *cuda;

	if (!on_gpu(s))
		return 2; /* for the fake backend */
	const bool amd = strcmp(s->backend->name, "hip") == 0;
	return (amd ? jl_hip_open(&cuda, NULL) : jl_cuda_open(&cuda, NULL)) == JL_OK ? jl_cuda_count(cuda) : 0;
}

static enum jl_status link_rows(struct jl_bench_session *s, size_t size_B, int n_gpus, size_t n_tasks, double instead_s,
				struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (int gpu = 0; gpu < n_gpus && !status; gpu++)
		for (int way = 0; way < 4 && !status && !jl_bench_stop(NULL); way++) {
			const struct jl_bench_task task = { .kind = way & 1 ? JL_BENCH_D2H : JL_BENCH_H2D,
							    .size_B = size_B,
							    .device = gpu,
							    .pinned = way < 2 };
			char what[64];

			(void)jl_format(what, sizeof(what), "%s GPU%d%s", way & 1 ? "D2H" : "H2D", gpu,
					way < 2 ? "" : JL_(" pageable"));
			status = run_row(s, &task, n_tasks, instead_s, what, JL_K_BYTE_RATE, err);
		}
	return status;
}

enum jl_status jl_bench_link(struct jl_bench_session *s, double instead_s, struct jl_err *err)
{
	const struct jl_given *given = jl_given(s->cli, "size");
	const size_t size_B = given ? (size_t)jl_num_whole(given->value, 0, LLONG_MAX) : (size_t)256 << 20;
	const int n = gpu_count(s);
	const size_t n_tasks = (size_t)n * 4 + (size_t)n * (size_t)n;
	const double time_s = jl_bench_time_s(s->cli, n_tasks, instead_s);
	static struct jl_bench_result result;
	double *Bps = jl_arena_array(&s->cli->arena, (size_t)n * (size_t)n + 1, sizeof(*Bps));
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(Bps, err));
	jl_bench_view_title(s, JL_("Links"));
	jl_bench_view_head(s, JL_K_BYTE_RATE);
	s->n_tasks += (double)n_tasks;
	status = link_rows(s, size_B, n, n_tasks, instead_s, err);
	for (int i = 0; i < n * n && !status; i++) {
		const struct jl_bench_task task = {
			.kind = JL_BENCH_D2D, .size_B = size_B, .device = i / n, .peer = i % n
		};
		struct jl_err why = { 0 };

		Bps[i] = NAN;
		/* an impossible pair leaves its cell empty */
		if (!jl_bench_stop(NULL) &&
		    task_run(s, &task, time_s, jl_flag(s->cli, "check"), &result, &why) == JL_OK && result.n_samples)
			Bps[i] = (double)size_B / result.time_s.median;
	}
	if (status || n == 0)
		return status;
	jl_buf_puts(&s->cli->out, s->cli->json ? "" : "\n");
	return jl_bench_view_matrix(s, JL_("from \\ to, GB/s"), Bps, n, err);
}

enum jl_status jl_cmd_bench_link(struct jl_cli *cli, struct jl_err *err)
{
	return alone(cli, gpu_only, jl_bench_link, 0.5, err);
}

/* --- list */

static void put_backends(struct jl_json *json)
{
	jl_json_pack(json, "{backends:[");
	for (const struct jl_bench_backend *const *b = jl_bench_backends; *b; b++) {
		struct jl_err why = { 0 };
		const bool present = (*b)->present(&why) == JL_OK;

		jl_json_pack(json, "{name:s measures:s present:b reason?s versions?s}", (*b)->name, (*b)->en, present,
			     present ? NULL : why.en, present && (*b)->versions ? (*b)->versions() : NULL);
	}
	jl_json_pack(json, "]}");
}

enum jl_status jl_cmd_bench_list(struct jl_cli *cli, struct jl_err *err)
{
	(void)err;
	if (cli->json)
		JL_JSON(cli, put_backends(&json));
	for (const struct jl_bench_backend *const *b = jl_bench_backends; *b; b++) {
		struct jl_err why = { 0 };
		const bool present = (*b)->present(&why) == JL_OK;

		const char *state = present ? JL_("ready") : JL_("absent");

		jl_buf_printf(&cli->out, "  %-5s %s%*s", (*b)->name, state, (int)(8 - jl_utf8_width(state)), "");
		jl_view_flow(cli, 16, 16, jl_msg((*b)->en));
		if (!present) {
			jl_buf_pad(&cli->out, ' ', 16);
			jl_view_flow(cli, 16, 16, why.text);
		}
	}
	return JL_OK;
}
