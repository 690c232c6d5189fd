/* jeoul bench allreduce, allgather, ...: options and columns of nccl-tests, over processes, TCP, MPI or GPUs. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/cpu.h"
#include "cli/bench_tcp.h"
#include "cli/bench_view.h"
#include "cli/cmd_bench.h"
#include "gpu/cuda.h"

static const char *const types[] = { "int8", "uint8", "int32",  "uint32",   "int64", "uint64",
				     "half", "float", "double", "bfloat16", NULL };
static const char *const ops[] = { "sum", "prod", "min", "max", "avg", NULL };
static const char *const checks[] = { "0", "1", NULL };

const struct jl_option jl_bench_coll_options[] = {
	JL_O_TEXT("minbytes", "SIZE", JL_N("smallest message, e.g. 8, 64K, 8M"), .letter = 'b'),
	JL_O_TEXT("maxbytes", "SIZE", JL_N("largest message, e.g. 1G"), .letter = 'e'),
	JL_O_TEXT("stepfactor", "FACTOR", JL_N("factor from one size to the next"), .letter = 'f'),
	JL_O_TEXT("stepbytes", "SIZE", JL_N("step from one size to the next (default 1M)"), .letter = 'i'),
	JL_O_COUNT("iters", "N", 1, JL_BENCH_SAMPLES_MAX, JL_N("iterations (default: until the interval is narrow)"),
		   .letter = 'n'),
	JL_O_COUNT("warmup_iters", "N", 1, JL_SWEEP_WARMUP_MAX, JL_N("iterations before (default 5)"), .letter = 'w'),
	JL_O_CHOICE("check", "0|1", checks, JL_N("verify results exactly (default 1)"), .letter = 'c'),
	JL_O_CHOICE("datatype", "TYPE", types, JL_N("float, half, bfloat16, double, int8 ... (default float)"),
		    .letter = 'd'),
	JL_O_CHOICE("op", "OP", ops, JL_N("sum, prod, min, max or avg (default sum)"), .letter = 'o'),
	JL_O_COUNT("root", "RANK", 0, 1 << 20, JL_N("of broadcast and reduce (default 0)"), .letter = 'r'),
	JL_O_COUNT("ngpus", "N", 1, JL_COMM_RANKS_MAX, JL_N("GPUs, or processes without GPUs (default: all)"),
		   .letter = 'g'),
	JL_BENCH_TCP_OPTIONS,
	JL_BENCH_OPTIONS,
	{ 0 },
};

/* Sizes as in nccl-tests: K, M and G are powers of 1,024. */
static enum jl_status size_of(const struct jl_cli *cli, const char *name, size_t instead, size_t *ret_B,
			      struct jl_err *err)
{
	static const char letters[] = "KMGT";
	const char *text = jl_text(cli, name), *letter;
	double value;
	char *end;

	*ret_B = instead;
	if (!text)
		return JL_OK;
	value = strtod(text, &end);
	letter = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
	if (letter) {
		value *= pow(1024, (double)(letter - letters + 1));
		end++;
		end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0 ? 1 : 0;
	}
	if (end == text || *end || !(value >= 1 && value <= JL_SWEEP_SIZE_MAX_B) || !isdigit((unsigned char)text[0]))
		return jl_fail(err, JL_E_USAGE,
			       "--%s: '%s' is not a size; write e.g. 8, 64K, 8M or 1G (powers of 1,024)", name, text);
	*ret_B = (size_t)value;
	return JL_OK;
}

static enum jl_status read_sizes(const struct jl_cli *cli, struct jl_sweep *sweep, struct jl_err *err)
{
	const bool ranged = jl_given(cli, "minbytes") || jl_given(cli, "maxbytes");
	const char *text = jl_text(cli, "stepfactor");
	size_t min_B, max_B, step_B;
	double factor = ranged ? 0 : 4;
	char *end = NULL;

	JL_TRY(size_of(cli, "minbytes", ranged ? 0 : 1024, &min_B, err));
	JL_TRY(size_of(cli, "maxbytes", ranged ? 0 : (size_t)64 << 20, &max_B, err));
	JL_TRY(size_of(cli, "stepbytes", (size_t)1 << 20, &step_B, err));
	/* one of them alone means a single size */
	min_B = min_B ? min_B : max_B;
	max_B = max_B ? max_B : min_B;
	if (text) {
		factor = strtod(text, &end);
		if (end == text || *end || !(factor > 1 && factor <= 1e6))
			return jl_fail(err, JL_E_USAGE, "-f: '%s' is not a factor above 1; write e.g. 2", text);
	}
	if (min_B > max_B)
		return jl_fail(err, JL_E_USAGE, "-b %zu is larger than -e %zu", min_B, max_B);
	return jl_sweep_sizes(sweep, min_B, max_B, factor, step_B, err);
}

static enum jl_status read_task(const struct jl_cli *cli, struct jl_sweep *sweep, struct jl_err *err)
{
	const char *name = strchr(cli->command->name, ' ') + 1;
	const int type = jl_chosen(cli, "datatype", types), op = jl_chosen(cli, "op", ops);
	struct jl_bench_task *task = &sweep->task;
	size_t least_B;

	for (int c = 0; c < JL_COLL_BARRIER; c++)
		if (strcmp(jl_coll_name((enum jl_coll)c), name) == 0)
			task->coll = (enum jl_coll)c;
	task->type = type >= 0 ? (enum jl_comm_type)type : JL_COMM_FLOAT;
	task->op = op >= 0 ? (enum jl_redop)op : JL_RED_SUM;
	task->root = (int)jl_whole(cli, "root", 0);
	least_B = jl_comm_type_B(task->type);
	if (sweep->sizes_B[0] < least_B)
		return jl_fail(err, JL_E_USAGE, "-b %zu: one %s takes %zu bytes", sweep->sizes_B[0],
			       jl_comm_type_name(task->type), least_B);
	return JL_OK;
}

/* --- rows */

struct shown {
	struct jl_bench_session *session;
	struct jl_sweep_row *rows;
	size_t n, room;
};

static void on_row(void *ctx, const struct jl_sweep_row *row)
{
	struct shown *shown = ctx;
	struct jl_bench_session *s = shown->session;

	if (shown->n < shown->room)
		shown->rows[shown->n++] = *row;
	if (row->has_out)
		jl_bench_keep(s, &row->out);
	if (row->has_in)
		jl_bench_keep(s, &row->in);
	jl_bench_view_coll_row(s, row);
	if (!s->cli->json)
		jl_bench_flush(s);
}

/* Converts progress over the sweep's rows to progress over the session's tasks. */
static void on_progress(void *ctx, double frac)
{
	const struct shown *shown = ctx;

	shown->session->n_done = 0;
	jl_bench_progress(shown->session, frac * shown->session->n_tasks);
}

enum jl_status jl_bench_sweep(struct jl_bench_session *s, struct jl_sweep *sweep, struct jl_comm *comm,
			      struct jl_err *err)
{
	struct shown shown = { .session = s, .room = sweep->n_sizes };
	enum jl_status status;

	shown.rows = jl_realloc(NULL, sweep->n_sizes * sizeof(*shown.rows));
	JL_TRY(jl_got(shown.rows, err));
	sweep->backend = s->backend;
	sweep->row = on_row;
	sweep->ctx = &shown; /* cppcheck-suppress autoVariables ; reset below */
	sweep->plan.stop = jl_bench_stop;
	sweep->plan.progress = comm ? NULL : on_progress;
	sweep->plan.ctx = &shown;
	s->n_tasks = 2 * (double)sweep->n_sizes;
	jl_bench_view_coll_head(s, sweep, comm);
	jl_bench_flush(s);
	jl_bench_draw(s);
	if (strcmp(s->backend->name, "shm") == 0)
		status = jl_sweep_shm(sweep, NULL, err);
	else
		status = jl_sweep_run(sweep, comm, err);
	if (shown.n)
		jl_bench_view_coll_end(s, shown.rows, shown.n);
	sweep->ctx = sweep->plan.ctx = NULL;
	jl_free(shown.rows);
	return status;
}

/* Number of ranks without a communicator: GPUs, or one process per CPU. */
static enum jl_status count_ranks(struct jl_bench_session *s, struct jl_sweep *sweep, struct jl_err *err)
{
	const struct jl_given *given = jl_given(s->cli, "ngpus");
	const struct jl_cuda *cuda;
	enum jl_status status = JL_OK;

	sweep->n_ranks = given ? (int)given->count : jl_cpu_count();
	const bool amd = strcmp(s->backend->name, "rccl") == 0, gpus = amd || strcmp(s->backend->name, "nccl") == 0;
	if (gpus && !given) {
		status = amd ? jl_hip_open(&cuda, err) : jl_cuda_open(&cuda, err);
		sweep->n_ranks = status ? 0 : jl_cuda_count(cuda);
	}
	if (!given && sweep->n_ranks < 2 && !gpus)
		sweep->n_ranks = 2; /* on a single CPU, two processes still communicate */
	if (!status && sweep->task.root >= sweep->n_ranks)
		return jl_fail(err, JL_E_USAGE, "--root %d: there are ranks 0 to %d", sweep->task.root,
			       sweep->n_ranks - 1);
	return status;
}
static int own_rank;

/* An MPI call hangs: prints and stores the rows so far, names the rank and exits; mpirun ends the others. */
static void on_stuck(int rank)
{
	char line[256];

	if (own_rank == (rank == 0 ? 1 : 0)) {
		const int len = jl_format(line, sizeof(line),
					  JL_("jeoul: rank %d is stuck or gone: it does not answer any more\n"), rank);

		(void)!write(STDERR_FILENO, line, (size_t)len);
		_exit(1);
	}
}

/* --- hosts that join over TCP: rank 0's options are sent to the others */

static enum jl_status open_tcp(struct jl_bench_session *s, const struct jl_sweep *sweep, struct jl_comm **ret_comm,
			       struct jl_err *err)
{
	const char *wanted = jl_text(s->cli, "backend");
	const int n_ranks = (int)jl_whole(s->cli, "ranks", 2);

	if (wanted && strcmp(wanted, "tcp") != 0 && jl_bench_tcp_asked(s->cli))
		return jl_fail(err, JL_E_USAGE, "--listen and --to are for --backend tcp, not for %s", wanted);
	if (!jl_bench_tcp_asked(s->cli) && s->cli->args.n_operands == 0)
		return jl_fail(err, JL_E_USAGE,
			       "--backend tcp: write --listen ADDR --ranks N on one host, --to HOST on the others");
	if (jl_flag(s->cli, "listen") && sweep->task.root >= n_ranks)
		return jl_fail(err, JL_E_USAGE, "--root %d: there are ranks 0 to %d", sweep->task.root, n_ranks - 1);
	s->backend = &jl_bench_tcp;
	return jl_bench_tcp_open(s, 0, ret_comm, err);
}

static bool tcp_asked(const struct jl_cli *cli)
{
	const char *wanted = jl_text(cli, "backend");

	return jl_bench_tcp_asked(cli) || cli->args.n_operands || (wanted && strcmp(wanted, "tcp") == 0);
}

/* With a launcher every process is a rank, and all must see each other: isolated ranks would print meaningless figures. */
static enum jl_status open_mpi(struct jl_bench_session *s, struct jl_comm **ret_comm, struct jl_err *err)
{
	const char *wanted = jl_text(s->cli, "backend");
	const bool mpi = wanted && strcmp(wanted, "mpi") == 0;
	int rank, n = jl_comm_mpi_launched(&rank);

	*ret_comm = NULL;
	if (n > 1 && wanted && strcmp(wanted, "mpi") != 0 && strcmp(wanted, "nccl") != 0 && strcmp(wanted, "rccl") != 0)
		return jl_fail(err, JL_E_USAGE,
			       "%d processes were started; --backend %s is for one. Leave --backend out", n, wanted);
	if (n < 2 && mpi)
		return jl_fail(err, JL_E_USAGE, "--backend mpi needs a launcher: mpirun -np 2 jeoul bench ...");
	if (n < 2)
		return JL_OK;
	own_rank = rank;
	jl_comm_mpi_on_stuck(on_stuck);
	JL_TRY(jl_comm_mpi_plain(ret_comm, err));
	s->silent = (*ret_comm)->rank > 0;
	s->where.mpi_version = (*ret_comm)->backend->version ? (*ret_comm)->backend->version(*ret_comm) : NULL;
	if (!wanted || mpi)
		s->backend = &jl_bench_mpi;
	return JL_OK;
}

static void read_plan(const struct jl_cli *cli, struct jl_sweep *sweep)
{
	sweep->plan.n_iters = (size_t)jl_whole(cli, "iters", 0);
	sweep->plan.n_warmup = (size_t)jl_whole(cli, "warmup_iters", 0);
	sweep->plan.check = !jl_text(cli, "check") || strcmp(jl_text(cli, "check"), "1") == 0;
	sweep->plan.time_s = jl_bench_time_s(cli, 2 * sweep->n_sizes, 0.5);
}

enum jl_status jl_cmd_bench_coll(struct jl_cli *cli, struct jl_err *err)
{
	static const char *const backends[] = { "nccl", "rccl", "shm", NULL };
	struct jl_sweep *sweep = jl_arena_alloc(&cli->arena, sizeof(*sweep));
	const bool tcp = tcp_asked(cli);
	struct jl_comm *comm = NULL;
	struct jl_bench_session s;
	enum jl_status status = jl_bench_begin(&s, cli, err);

	JL_THEN(status, !sweep ? jl_fail_nomem(err) : JL_OK);
	JL_THEN(status, read_sizes(cli, sweep, err));
	JL_THEN(status, read_task(cli, sweep, err));
	if (!status) {
		read_plan(cli, sweep);
		status = tcp ? open_tcp(&s, sweep, &comm, err) : open_mpi(&s, &comm, err);
	}
	JL_THEN(status, !s.backend ? jl_bench_choose(&s, backends, err) : JL_OK);
	JL_THEN(status, !comm ? count_ranks(&s, sweep, err) : JL_OK);
	JL_THEN(status, tcp ? jl_sweep_share(sweep, comm, err) : JL_OK);
	JL_THEN(status, jl_bench_sweep(&s, sweep, comm, err));
	status = tcp && s.silent ? jl_bench_tcp_left(&s, comm, status) : jl_bench_close(&s, status);
	jl_comm_destroy(comm);
	return status;
}
