/* jeoul bench net: TCP between two hosts, or over the loopback interface. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "bench/net.h"
#include "cli/bench_tcp.h"
#include "cli/cmd_bench.h"
#include "cli/view.h"
#include "comm/confine.h"

static const char *const directions[] = { "send", "receive", "both", "all", NULL };

const struct jl_option jl_bench_net_options[] = {
	JL_O_TEXT("to", "HOST", JL_N("the host that listens (default: loopback of this one)"), .apart = "listen"),
	JL_O_FLAG("listen", JL_N("wait for the other host on ADDR (default 127.0.0.1)")),
	JL_O_FLAG("once", JL_N("with --listen: end after one client"), .with = "listen"),
	JL_O_COUNT("port", "N", 1, 65535, JL_N("TCP port (default 5270)")),
	JL_O_COUNT("streams", "N", 1, JL_NET_STREAMS_MAX, JL_N("parallel connections (default: 1 and 4)")),
	JL_O_CHOICE("direction", "WAY", directions, JL_N("send, receive, both or all (default)")),
	JL_BENCH_SECRET_OPTION,
	JL_BENCH_OPTIONS,
	{ 0 },
};

static const struct jl_bench_backend tcp = { .name = "tcp" };

static const char *direction_name(enum jl_net_direction direction)
{
	return direction == JL_NET_SEND ? "send" : direction == JL_NET_RECEIVE ? "receive" : "both";
}

/* --- listening */

struct waiting {
	struct jl_cli *cli;
	int n_refused;
};

static void seen(void *ctx, const char *peer, const struct jl_err *how)
{
	struct waiting *w = ctx;
	char line[800];

	if (how && ++w->n_refused > JL_BENCH_REFUSED_MAX)
		return;
	(void)jl_format(line, sizeof(line), "  %s  %s%s", peer, how ? how->text : JL_("served"),
			w->n_refused < JL_BENCH_REFUSED_MAX || !how ? "" : JL_("; further ones are not shown"));
	jl_utf8_sanitize(line);
	jl_buf_printf(&w->cli->out, "%s\n", line);
	jl_cli_flush(w->cli);
}

static enum jl_status wait_for_clients(struct jl_cli *cli, int port, struct jl_err *err)
{
	const char *address = cli->args.n_operands ? cli->args.operands[0] : NULL;
	struct waiting waiting = { .cli = cli };
	struct jl_net_listener *l = jl_arena_alloc(&cli->arena, sizeof(*l));
	enum jl_status status;

	if (cli->json)
		return jl_fail(err, JL_E_USAGE, "--listen has no JSON; the side that connects (--to) has it");
	JL_TRY(jl_got(l, err));
	*l = (struct jl_net_listener){
		.door = { .fd = -1 }, .stop = jl_bench_stop, .seen = seen, .ctx = &waiting, .once = jl_flag(cli, "once")
	};
	JL_TRY(jl_wire_read_secret(&l->door.secret, jl_text(cli, "secret-file"), err));
	JL_TRY(jl_net_listen(l, address, port, err));
	jl_bench_watch_keys();
	jl_buf_printf(&cli->out, JL_("Listening on %s port %d; on the other host: jeoul bench net --to THIS_HOST\n"),
		      address ? address : "127.0.0.1", l->port);
	jl_cli_flush(cli);
	jl_confine(JL_CONFINE_FILES);
	status = jl_net_serve(l, err);
	jl_net_unlisten(l);
	return status;
}

/* --- measuring */

static void flow_record(struct jl_bench_session *s, const struct jl_net_result *r, const struct jl_net_flow *flow,
			const char *direction, const char *host)
{
	struct jl_stats wire = flow->rate_Bps;
	const double scale = jl_net_wire_Bps(r, 1);
	struct jl_draft draft;

	wire.median *= scale, wire.mean *= scale, wire.min *= scale, wire.max *= scale;
	wire.p95 *= scale, wire.lo95 *= scale, wire.hi95 *= scale;
	jl_draft_begin(&draft, "net", tcp.name, 0, NULL);
	jl_draft_text(&draft, "test", "bandwidth");
	jl_draft_text(&draft, "direction", direction);
	jl_draft_text(&draft, "host", host);
	jl_draft_number(&draft, "n_streams", r->n_streams);
	jl_draft_number(&draft, "mss_B", r->mss_B);
	jl_draft_number(&draft, "n_unsteady", (double)flow->n_unsteady);
	jl_draft_number(&draft, "both_ways", r->direction == JL_NET_BOTH);
	jl_draft_summary(&draft, "net_Bps", false, &flow->rate_Bps);
	jl_draft_summary(&draft, "wire_Bps", false, &wire);
	struct jl_record record = jl_draft_record(&draft);

	record.noise = r->noise;
	record.noise.why = r->why[0] ? r->why : NULL;
	if (flow->n_samples)
		jl_bench_keep_record(s, &record, NULL);
}

static void latency_record(struct jl_bench_session *s, const struct jl_net_latency *latency, const char *host)
{
	struct jl_draft draft;

	jl_draft_begin(&draft, "net", tcp.name, 0, NULL);
	jl_draft_text(&draft, "test", "latency");
	jl_draft_text(&draft, "host", host);
	jl_draft_summary(&draft, "latency_s", true, &latency->round_s);
	draft.samples_s = latency->samples_s;
	draft.n_samples = latency->n_samples;
	const struct jl_record record = jl_draft_record(&draft);

	jl_bench_keep_record(s, &record, NULL);
}

/* Networks are usually given in bits: 9.4 Gb/s. */
static const char *bits(char out[32], double Bps)
{
	static const struct {
		double least;
		const char *unit;
	} units[] = { { 1e12, "Tb/s" }, { 1e9, "Gb/s" }, { 1e6, "Mb/s" }, { 0, "kb/s" } };
	const double b = 8 * Bps;
	size_t i = 0;

	while (b < units[i].least)
		i++;
	(void)snprintf(out, 32, "%.3g %s", b / (units[i].least > 0 ? units[i].least : 1e3), units[i].unit);
	return out;
}

/* Korean letters are two columns wide; the longest direction has 14 columns. */
static const int columns[] = { 2, -14, 6, 11, 20, 12, 13 };

static void flow_row(struct jl_bench_session *s, const struct jl_net_result *r, const struct jl_net_flow *flow,
		     const char *what)
{
	char conns[16], lo[32], hi[32], range[64 + 8];

	if (s->cli->json || flow->n_samples == 0)
		return;
	(void)snprintf(conns, sizeof(conns), "%d", r->n_streams);
	bits(lo, flow->rate_Bps.lo95);
	bits(hi, flow->rate_Bps.hi95);
	(void)snprintf(range, sizeof(range), "%.*s–%s", /* shows the unit once if both ends share it */
		       (int)(strcmp(strchr(lo, ' '), strchr(hi, ' ')) == 0 ? strcspn(lo, " ") : strlen(lo)), lo, hi);
	JL_LIVE(s->cli, columns, "", what, conns, bits(JL_TXT, flow->rate_Bps.median), range,
		jl_units_text(JL_TXT, flow->rate_Bps.median, JL_K_BYTE_RATE, 3),
		isnan(r->mss_B) ? "?" : bits(JL_TXT, jl_net_wire_Bps(r, flow->rate_Bps.median)));
	jl_buf_puts(&s->cli->out, r->noise.noisy ? " ~\n" : "\n");
}

static enum jl_status one_transfer(struct jl_bench_session *s, struct jl_net_client *client, const char *host,
				   enum jl_net_direction direction, int n_streams, double time_s, struct jl_err *err)
{
	static struct jl_net_result result;
	enum jl_status status = jl_net_transfer(client, direction, n_streams, time_s, &result, err);
	const bool both = direction == JL_NET_BOTH;

	if (status)
		return status;
	flow_record(s, &result, &result.send, "send", host);
	flow_record(s, &result, &result.receive, "receive", host);
	flow_row(s, &result, &result.send, both ? JL_("both: out") : JL_("send"));
	flow_row(s, &result, &result.receive, both ? JL_("both: in") : JL_("receive"));
	jl_bench_flush(s);
	return JL_OK;
}

static void net_head(struct jl_bench_session *s, const char *host, const struct jl_net_latency *latency)
{
	if (s->cli->json)
		return;
	jl_buf_printf(&s->cli->out, JL_("TCP to %s · latency %s there and back (p95 %s)\n\n"), host,
		      jl_units_text(JL_TXT, latency->round_s.median, JL_K_TIME, 3),
		      jl_units_text(JL_TXT, latency->round_s.p95, JL_K_TIME, 3));
	JL_LIVE(s->cli, columns, "", JL_("way"), JL_("conns"), JL_("payload"), JL_("95 % interval"), JL_("bytes"),
		JL_("on the link"));
	jl_buf_puts(&s->cli->out, "\n");
}

static enum jl_status measure(struct jl_bench_session *s, const struct jl_wire_peer *peer, double instead_s,
			      struct jl_err *err)
{
	static struct jl_net_latency latency;
	static const enum jl_net_direction ways[] = { JL_NET_SEND, JL_NET_RECEIVE, JL_NET_BOTH };
	const struct jl_given *streams = jl_given(s->cli, "streams");
	const char *way = jl_text(s->cli, "direction");
	const int counts[2] = { (int)jl_whole(s->cli, "streams", 1), 4 }, n_counts = streams ? 1 : 2;
	const int n_ways = !way || strcmp(way, "all") == 0 ? 3 : 1;
	const double whole_s = jl_bench_time_s(s->cli, (size_t)n_ways * (size_t)n_counts, instead_s + JL_NET_TAIL_S);
	const double time_s = fmin(JL_NET_TIME_MAX_S, fmax(0.5, whole_s - JL_NET_TAIL_S));
	struct jl_net_client *client = NULL;
	enum jl_status status = jl_net_connect(&client, peer, err);

	JL_THEN(status, jl_net_ping(client, 1000, &latency, err));
	if (!status) {
		latency_record(s, &latency, peer->host);
		net_head(s, peer->host, &latency);
		jl_bench_flush(s);
	}
	s->n_tasks = 3.0 * n_counts;
	for (int i = 0; i < 3 * n_counts && !status && !jl_bench_stop(NULL); i++) {
		const enum jl_net_direction direction = ways[i % 3];

		jl_bench_draw(s);
		jl_bench_progress(s, 0);
		if (n_ways == 3 || strcmp(way, direction_name(direction)) == 0)
			status = one_transfer(s, client, peer->host, direction, counts[i / 3], time_s, err);
		s->n_done++;
	}
	jl_net_close(client);
	return jl_bench_stop(NULL) ? JL_OK : status; /* results up to the interrupt count */
}

/* --- loopback: a thread of this program listens */

struct own {
	struct jl_net_listener listener;
	_Atomic bool ending;
};

static bool own_ending(void *ctx)
{
	return atomic_load(&((struct own *)ctx)->ending);
}

static void *serve_own(void *ctx)
{
	(void)jl_net_serve(&((struct own *)ctx)->listener, NULL);
	return NULL;
}

enum jl_status jl_bench_loopback(struct jl_bench_session *s, double instead_s, struct jl_err *err)
{
	struct jl_wire_peer peer = { .host = "127.0.0.1", .what = JL_NET_WHAT, .stop = jl_bench_stop };
	struct own *own = jl_arena_alloc(&s->cli->arena, sizeof(*own));
	pthread_t thread;
	enum jl_status status;

	JL_TRY(own ? jl_wire_random(peer.secret.key, sizeof(peer.secret.key), err) : jl_fail_nomem(err));
	/* protected by a secret from other users of this host */
	*own = (struct own){ .listener = { .door = { .fd = -1, .secret = peer.secret }, .stop = own_ending } };
	own->listener.ctx = own;
	JL_TRY(jl_net_listen(&own->listener, NULL, 0, err));
	if (pthread_create(&thread, NULL, serve_own, own) != 0) {
		jl_net_unlisten(&own->listener);
		return jl_fail_nomem(err);
	}
	s->backend = &tcp;
	peer.port = own->listener.port;
	status = measure(s, &peer, instead_s, err);
	atomic_store(&own->ending, true);
	(void)pthread_join(thread, NULL);
	jl_net_unlisten(&own->listener);
	return status;
}

enum jl_status jl_cmd_bench_net(struct jl_cli *cli, struct jl_err *err)
{
	const char *host = jl_text(cli, "to"), *backend = jl_text(cli, "backend");
	struct jl_wire_peer peer = { .host = host,
				     .port = (int)jl_whole(cli, "port", JL_NET_PORT),
				     .what = JL_NET_WHAT,
				     .stop = jl_bench_stop };
	struct jl_bench_session s = { 0 };
	enum jl_status status;

	if (backend && strcmp(backend, tcp.name) != 0)
		return jl_fail(err, JL_E_USAGE, "--backend %s: bench net measures TCP; leave --backend out", backend);
	if (jl_flag(cli, "listen"))
		return wait_for_clients(cli, peer.port, err);
	if (cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "an address goes with --listen; to measure towards it: --to %s",
			       cli->args.operands[0]);
	status = jl_wire_read_secret(&peer.secret, jl_text(cli, "secret-file"), err);
	JL_THEN(status, jl_bench_begin(&s, cli, err));
	if (status || s.silent)
		return status;
	s.backend = &tcp;
	JL_THEN(status, host ? measure(&s, &peer, 3, err) : jl_bench_loopback(&s, 3, err));
	return jl_bench_close(&s, status);
}
