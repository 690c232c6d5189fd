/* Joins hosts for a benchmark over TCP. */
#include "cli/bench_tcp.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "comm/confine.h"

struct door {
	const struct jl_cli *cli;
	int n_ranks, n_refused;
	bool same; /* all hosts get the same options */
};

bool jl_bench_tcp_asked(const struct jl_cli *cli)
{
	return jl_flag(cli, "listen") || jl_given(cli, "to");
}

/* Messages before the first measurement go to stderr, so that columns and JSON stay clean. */
static void say(char line[800])
{
	jl_utf8_sanitize(line);
	(void)fprintf(stderr, "%s\n", line);
	(void)fflush(stderr);
}

static void listening(void *ctx, const char *address, int port)
{
	const struct door *door = ctx;
	const char *what = door->cli->command->name;
	char line[800], option[80] = "";

	if (port != JL_COMM_TCP_PORT)
		(void)snprintf(option, sizeof(option), " --port %d", port);
	if (door->same)
		(void)strncat(option, JL_(" (with the same options)"), sizeof(option) - strlen(option) - 1);
	(void)jl_format(line, sizeof(line),
			JL_("Listening on %s port %d for %d more; there: jeoul %s --to THIS_HOST%s"), address, port,
			door->n_ranks - 1, what, option);
	say(line);
	/* results are stored and kernels are loaded later, so file access must stay allowed */
	jl_confine(JL_CONFINE_PROGRAMS);
}

static void seen(void *ctx, const char *peer, int n_here, const struct jl_err *refused)
{
	struct door *door = ctx;
	char line[800];

	if (refused && ++door->n_refused > JL_BENCH_REFUSED_MAX)
		return;
	if (refused)
		(void)jl_format(line, sizeof(line), JL_("  %s  refused: %s%s"), peer, refused->text,
				door->n_refused < JL_BENCH_REFUSED_MAX ? "" : JL_("; further ones are not shown"));
	else
		(void)jl_format(line, sizeof(line), JL_("  %s  joined, %d of %d"), peer, n_here, door->n_ranks);
	say(line);
}

static enum jl_status check(const struct jl_cli *cli, struct jl_err *err)
{
	const bool listen = jl_flag(cli, "listen");
	int rank;

	if (!listen && cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "an address goes with --listen; to join it: --to %s",
			       cli->args.operands[0]);
	if (jl_comm_mpi_launched(&rank) > 1)
		return jl_fail(err, JL_E_USAGE, "a launcher started several processes: leave out --listen and --to");
	return JL_OK;
}

enum jl_status jl_bench_tcp_open(struct jl_bench_session *s, uint64_t tag, struct jl_comm **ret_comm,
				 struct jl_err *err)
{
	const struct jl_cli *cli = s->cli;
	const struct jl_given *timeout = jl_given(cli, "timeout");
	struct jl_wire_secret secret;
	struct door door = { .cli = cli, .n_ranks = (int)jl_whole(cli, "ranks", 2), .same = tag != 0 };
	enum jl_status status = check(cli, err);

	JL_THEN(status, jl_wire_read_secret(&secret, jl_text(cli, "secret-file"), err));
	JL_THEN(status,
		jl_comm_tcp(ret_comm,
			    &(struct jl_comm_tcp){ .to = jl_text(cli, "to"),
						   .listen = cli->args.n_operands ? cli->args.operands[0] : NULL,
						   .port = (int)jl_whole(cli, "port", JL_COMM_TCP_PORT),
						   .n_ranks = door.n_ranks,
						   .wait_s = timeout ? timeout->value : 0,
						   .what = cli->command->name,
						   .tag = tag,
						   .secret = secret,
						   .stop = jl_bench_stop,
						   .listening = listening,
						   .seen = seen,
						   .ctx = &door },
			    err));
	if (!status)
		s->silent = (*ret_comm)->rank > 0;
	return status;
}

enum jl_status jl_bench_tcp_left(struct jl_bench_session *s, const struct jl_comm *comm, enum jl_status status)
{
	struct jl_cli *cli = s->cli;
	const char *to = jl_text(cli, "to");
	struct jl_json json;

	jl_progress_clear(&s->progress);
	jl_buf_reset(&cli->out);
	if (status)
		return status;
	if (!cli->json) {
		jl_buf_printf(&cli->out, JL_("Took part as rank %d of %d; the results are with %s.\n"), comm->rank,
			      comm->n_ranks, to);
		return JL_OK;
	}
	jl_json_init(&json, &cli->out, true);
	jl_json_pack(&json, "{listener:s rank:i n_ranks:i}", to, comm->rank, comm->n_ranks);
	jl_json_finish(&json);
	return JL_OK;
}
