/* jeoul bench cluster: measures all ranks of a launcher, or the hosts of a list. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/bench_tcp.h"
#include "cli/view.h"
#include "bench/cluster.h"

#define HOSTS_MAX 127
#define JOIN_S    30.0

const struct jl_option jl_bench_cluster_options[] = {
	JL_O_TEXT("hosts", "LIST",
		  JL_N("hosts that ssh reaches, e.g. node2,node3: each is started there and joins this one"),
		  .local = true),
	JL_BENCH_TCP_OPTIONS,
	JL_BENCH_OPTIONS,
	{ 0 },
};

/* static: printed by the thread that detects a hung MPI call */
static struct run {
	struct jl_bench_session s;
	struct jl_cluster cluster;
	const char *over;
	int rank;
} run;

static void put_cluster(struct jl_json *json, const struct jl_cluster *c, const char *ended)
{
	jl_json_pack(json, "{n_ranks:i over:s ended_early:s ranks:[", c->n, run.over, ended);
	for (int r = 0; r < c->n; r++) {
		jl_json_pack(json, "{host:s slow:b score_frac:f gemm_flopps:f mem_Bps:f to_Bps:[", c->hosts[r],
			     c->scores[r].slow || c->scores[r].slow_in, expm1(c->scores[r].score_ln),
			     c->rates[JL_CLUSTER_GEMM][r], c->rates[JL_CLUSTER_MEMORY][r]);
		for (int to = 0; to < c->n; to++)
			jl_json_number(json, c->pair_Bps[r][to]);
		jl_json_pack(json, "]}");
	}
	jl_json_pack(json, "] bad_links:[");
	for (size_t i = 0; i < c->n_bad; i++)
		jl_json_pack(json, "{from:i to:i link_Bps:f}", c->bad[i].from, c->bad[i].to, c->bad[i].Bps);
	jl_json_pack(json, "] allreduce:[");
	for (size_t i = 0; i < JL_CLUSTER_SIZES && !isnan(c->reduce_s[i]); i++)
		jl_json_pack(json, "{size_B:f time_s:f}", c->reduce_B[i], c->reduce_s[i]);
	jl_json_pack(json, "]}");
}

static enum jl_status show(const struct jl_err *ended, struct jl_err *err)
{
	struct jl_cli *cli = run.s.cli;

	JL_TRY(jl_cluster_weigh(&run.cluster, &cli->arena, err));
	cli->exit_code = ended ? 1 : run.cluster.n_slow || run.cluster.n_bad ? 3 : 0;
	if (cli->json)
		JL_JSON(cli, put_cluster(&json, &run.cluster, ended ? ended->en : NULL));
	JL_PAGE(cli, err, jl_show_cluster(&doc, &run.cluster, run.over, ended ? ended->text : NULL));
}

/* MPI hangs: responsive ranks print their results and exit; the launcher kills the others. */
static void on_stuck(int rank)
{
	struct jl_err why = { 0 };

	if (run.rank != (rank == 0 ? 1 : 0))
		return;
	(void)jl_fail(&why, JL_E_IO, "rank %d is stuck or gone: it does not answer any more", rank);
	(void)show(&why, NULL);
	jl_cli_flush(run.s.cli);
	_exit(1);
}

/* ---- hosts from a list */

struct started {
	const char *names[HOSTS_MAX];
	pid_t pids[HOSTS_MAX];
	int n, lost; /* lost: host whose ssh ended before all had joined; -1: none */
	bool joined;
};

static enum jl_status read_hosts(struct started *s, struct jl_cli *cli, struct jl_err *err)
{
	char *text = jl_arena_strdup(&cli->arena, jl_text(cli, "hosts")), *rest = NULL;

	JL_TRY(jl_got(text, err));
	for (char *name = strtok_r(text, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
		/* ssh would take a leading dash as an option */
		if (*name == '-' || s->n == HOSTS_MAX)
			return jl_fail(err, JL_E_USAGE, "--hosts: '%s' is not a host, or there are more than %d", name,
				       HOSTS_MAX);
		s->names[s->n++] = name;
	}
	return s->n ? JL_OK : jl_fail(err, JL_E_USAGE, "--hosts: write e.g. node2,node3");
}

static void start(struct started *s, const char *address, int port)
{
	const char *ssh = getenv("JEOUL_SSH");
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", port);
	ssh = ssh && *ssh ? ssh : "ssh";
	for (int i = 0; i < s->n; i++) {
		s->pids[i] = fork();
		if (s->pids[i] == 0) {
			(void)!freopen("/dev/null", "r", stdin);
			(void)!freopen("/dev/null", "w", stdout);
			(void)execlp(ssh, ssh, "-o", "BatchMode=yes", s->names[i], "jeoul", "bench", "cluster", "--to",
				     address, "--port", text, "--timeout", "30s", (char *)NULL);
			_exit(127);
		}
	}
}

static void end_all(struct started *s)
{
	for (int i = 0; i < s->n; i++)
		if (s->pids[i] > 0) {
			if (!s->joined)
				(void)kill(s->pids[i], SIGKILL); /* a stopped process reacts to no other signal */
			(void)waitpid(s->pids[i], NULL, 0);
			s->pids[i] = 0;
		}
}

/* Called ten times a second until all hosts have joined. */
static bool has_lost(void *ctx)
{
	struct started *s = ctx;

	for (int i = 0; i < s->n && s->lost < 0; i++)
		if (s->pids[i] > 0 && waitpid(s->pids[i], NULL, WNOHANG) == s->pids[i]) {
			s->pids[i] = 0;
			s->lost = i;
		}
	return s->lost >= 0 || jl_bench_stop(NULL);
}

/* Starts the hosts; one that fails is reported and left out, and the others are restarted without it. */
static enum jl_status open_hosts(struct started *s, struct jl_comm **ret_comm, struct jl_err *err)
{
	struct jl_cli *cli = run.s.cli;
	char name[JL_CLUSTER_HOST_MAX] = "127.0.0.1";
	const char *address = cli->args.n_operands ? cli->args.operands[0] : name;
	struct jl_comm_tcp how = { .listen = address,
				   .port = (int)jl_whole(cli, "port", JL_COMM_TCP_PORT),
				   .wait_s = JOIN_S,
				   .what = cli->command->name,
				   .stop = has_lost,
				   .ctx = s };
	enum jl_status status = read_hosts(s, cli, err);

	if (!cli->args.n_operands && gethostname(name, sizeof(name) - 1))
		(void)snprintf(name, sizeof(name), "127.0.0.1");
	JL_THEN(status, jl_wire_read_secret(&how.secret, jl_text(cli, "secret-file"), err));
	while (!status) {
		s->lost = -1;
		how.n_ranks = s->n + 1;
		start(s, address, how.port);
		status = jl_comm_tcp(ret_comm, &how, err);
		s->joined = !status;
		if (!status || s->lost < 0 || s->n < 2)
			break;
		end_all(s);
		jl_buf_printf(&cli->warn,
			      JL_("jeoul: %s could not be started (ssh or jeoul ended there); measured without it\n"),
			      s->names[s->lost]);
		memmove(s->names + s->lost, s->names + s->lost + 1, (size_t)(s->n - s->lost - 1) * sizeof(*s->names));
		s->n--;
		status = JL_OK;
	}
	if (status)
		end_all(s);
	return status;
}

static enum jl_status open_all(struct started *started, struct jl_comm **ret_comm, struct jl_err *err)
{
	struct jl_cli *cli = run.s.cli;
	const int n = jl_comm_mpi_launched(&run.rank);

	run.over = n > 1 ? "MPI" : "TCP";
	if (n > 1) {
		jl_comm_mpi_on_stuck(on_stuck);
		return jl_comm_mpi_plain(ret_comm, err);
	}
	if (jl_text(cli, "hosts"))
		return open_hosts(started, ret_comm, err);
	if (jl_bench_tcp_asked(cli))
		return jl_bench_tcp_open(&run.s, 0, ret_comm, err);
	return jl_fail(err, JL_E_USAGE,
		       "which hosts? --hosts node2,node3 (by ssh), mpirun or srun in front, or --listen ADDR --ranks N "
		       "here and --to HOST on the others");
}

enum jl_status jl_cmd_bench_cluster(struct jl_cli *cli, struct jl_err *err)
{
	struct started started = { .lost = -1 };
	struct jl_comm *comm = NULL;
	struct jl_err why = { 0 };
	enum jl_status status = jl_bench_begin(&run.s, cli, err);

	jl_buf_reset(&cli->out); /* discard: JSON output is a single document */
	jl_cluster_begin(&run.cluster);
	JL_THEN(status, open_all(&started, &comm, err));
	if (status)
		return status;
	run.rank = comm->rank;
	status = jl_cluster_measure(&run.cluster, comm, &why);
	started.joined = !status;
	if (comm->rank == 0)
		status = show(status ? &why : NULL, err);
	else if (status)
		*err = why;
	jl_comm_destroy(comm);
	end_all(&started);
	return status;
}
