#include "cli/bench_tcp.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

struct door {
	const struct jl_cli *cli;
	int n_ranks, n_refused;
	bool same; /* all hosts are given the same options */
};

bool jl_bench_tcp_asked(const struct jl_cli *cli)
{
	return jl_flag(cli, "listen") || jl_given(cli, "to");
}

/* What happens before anything is measured goes to standard error: columns and JSON stay clean. */
static void say(char line[800])
{
	jl_utf8_sanitize(line);
	(void)fprintf(stderr, "%s\n", line);
	(void)fflush(stderr);
}

static void listening(void *ctx, const char *address, int port)
{
	const struct door *door = ctx;
	const enum jl_lang lang = door->cli->lang;
	const char *what = door->cli->command->name;
	char line[800], option[80] = "";

	if (port != JL_COMM_TCP_PORT)
		(void)snprintf(option, sizeof(option), " --port %d", port);
	if (door->same)
		(void)strncat(option, JL_T(lang, " (with the same options)", " (옵션은 똑같이)"),
			      sizeof(option) - strlen(option) - 1);
	(void)snprintf(line, sizeof(line),
		       JL_T(lang, "Listening on %s port %d for %d more; there: jeoul %s --to THIS_HOST%s",
			    "%s 포트 %d에서 %d개를 더 기다리는 중. 상대에서: jeoul %s --to 이_호스트%s"),
		       address, port, door->n_ranks - 1, what, option);
	say(line);
}

static void seen(void *ctx, const char *peer, int n_here, const struct jl_err *refused)
{
	struct door *door = ctx;
	const enum jl_lang lang = door->cli->lang;
	char line[800];

	if (refused && ++door->n_refused > JL_BENCH_REFUSED_MAX)
		return;
	if (refused)
		(void)snprintf(line, sizeof(line), JL_T(lang, "  %s  refused: %s%s", "  %s  거절: %s%s"), peer,
			       jl_err_text(refused, lang),
			       door->n_refused < JL_BENCH_REFUSED_MAX
				       ? ""
				       : JL_T(lang, "; further ones are not shown", ". 이후는 표시하지 않습니다"));
	else
		(void)snprintf(line, sizeof(line), JL_T(lang, "  %s  joined, %d of %d", "  %s  참여, %d/%d"), peer,
			       n_here, door->n_ranks);
	say(line);
}

static enum jl_status check(const struct jl_cli *cli, struct jl_err *err)
{
	const bool listen = jl_flag(cli, "listen");
	int rank;

	if (listen && jl_given(cli, "to"))
		return jl_fail(err, JL_E_USAGE, "--listen on one host, --to on the others",
			       "한 호스트에는 --listen, 다른 호스트에는 --to를 쓰세요");
	if (!listen && jl_given(cli, "ranks"))
		return jl_fail(err, JL_E_USAGE, "--ranks goes with --listen: that host knows how many there are",
			       "--ranks는 --listen과 함께 씁니다. 그 호스트가 랭크 수를 정합니다");
	if (!listen && cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "an address goes with --listen; to join it: --to %s",
			       "주소는 --listen과 함께 씁니다. 참여하려면: --to %s", cli->args.operands[0]);
	if (jl_comm_mpi_launched(&rank) > 1)
		return jl_fail(err, JL_E_USAGE, "a launcher started several processes: leave out --listen and --to",
			       "실행기가 프로세스를 여러 개 시작했습니다. --listen, --to를 빼세요");
	return JL_OK;
}

enum jl_status jl_bench_tcp_open(struct jl_bench_session *s, uint64_t tag, struct jl_comm **ret_comm,
				 struct jl_err *err)
{
	const struct jl_cli *cli = s->cli;
	const struct jl_given *port = jl_given(cli, "port"), *ranks = jl_given(cli, "ranks"),
			      *timeout = jl_given(cli, "timeout");
	struct jl_wire_secret secret;
	struct door door = { .cli = cli, .n_ranks = ranks ? (int)ranks->count : 2, .same = tag != 0 };
	enum jl_status status = check(cli, err);

	if (!status && timeout && !(timeout->value >= 0.1 && timeout->value <= 86400))
		status = jl_fail(err, JL_E_USAGE, "--timeout: write something from 100 ms to 1 d",
				 "--timeout: 100 ms에서 1 d 사이로 쓰세요");
	if (!status)
		status = jl_wire_read_secret(&secret, jl_text(cli, "secret-file"), err);
	if (!status)
		status = jl_comm_tcp(
			ret_comm,
			&(struct jl_comm_tcp){ .to = jl_text(cli, "to"),
					       .listen = cli->args.n_operands ? cli->args.operands[0] : NULL,
					       .port = port ? (int)port->count : JL_COMM_TCP_PORT,
					       .n_ranks = door.n_ranks,
					       .wait_s = timeout ? timeout->value : 0,
					       .what = cli->command->name,
					       .tag = tag,
					       .secret = secret,
					       .stop = jl_bench_stop,
					       .listening = listening,
					       .seen = seen,
					       .ctx = &door },
			err);
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
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "Took part as rank %d of %d; the results are with %s.\n",
				   "랭크 %d(전체 %d개)로 참여했습니다. 결과는 %s에 있습니다.\n"),
			      comm->rank, comm->n_ranks, to);
		return JL_OK;
	}
	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "listener", to);
	jl_json_put_number(&json, "rank", comm->rank);
	jl_json_put_number(&json, "n_ranks", comm->n_ranks);
	jl_json_end_object(&json);
	jl_json_finish(&json);
	return JL_OK;
}
