/* The requesting side of `bench net`. */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/net_flow.h"

#define PING_S     2.0 /* for all pings together, after the minimum number */
#define PINGS_MIN  20
#define REPORT_S   (JL_NET_WAIT_S + 2) /* the listener first waits for its last stream */
#define ETHERNET_B 14
#define IPV4_B     20
#define IPV6_B     40
#define TCP_B      32 /* with time stamps, the default */

struct jl_net_client {
	int fd;
	struct jl_wire_peer peer;
	union jl_wire_address address;
	uint64_t session;
	char name[JL_WIRE_PEER_MAX];
};

enum jl_status jl_net_connect(struct jl_net_client **ret_client, const struct jl_wire_peer *peer, struct jl_err *err)
{
	struct jl_net_client *c = jl_realloc(NULL, sizeof(*c));
	socklen_t len = sizeof(c->address);
	struct jl_wire_message hello = { 0 }, answer;

	JL_TRY(jl_got(c, err));
	*c = (struct jl_net_client){ .fd = -1, .peer = *peer };
	(void)jl_wire_peer_name(c->name, peer->host, peer->port);
	enum jl_status status = jl_wire_join(peer, &hello, JL_WIRE_SESSION, &c->fd, &answer, err);
	if (!status && getpeername(c->fd, &c->address.any, &len) != 0)
		status = jl_fail(err, JL_E_IO, "connection lost: {%s}", strerror(errno));
	if (status) {
		jl_net_close(c);
		return status;
	}
	c->session = answer.n[0];
	*ret_client = c;
	return JL_OK;
}

static enum jl_status say(const struct jl_net_client *c, uint32_t word, uint64_t a, uint64_t b, uint64_t number,
			  struct jl_err *err)
{
	return jl_wire_from(jl_wire_send(c->fd, &(struct jl_wire_message){ .word = word, .n = { a, b, number } }, err),
			    c->name, err);
}

/* Waits for the next message, which must have word `word`. */
static enum jl_status await(const struct jl_net_client *c, double wait_s, uint32_t word, struct jl_wire_message *ret,
			    struct jl_err *err)
{
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + wait_s, .stop = c->peer.stop, .ctx = c->peer.ctx };

	enum jl_status status = jl_wire_receive(c->fd, &wait, ret, err);
	if (!status && ret->version == JL_WIRE_VERSION && ret->word == JL_WIRE_REFUSED)
		status = jl_fail(err, JL_E_IO, "the listener refused the request");
	else if (!status && (ret->version != JL_WIRE_VERSION || ret->word != word))
		status = jl_wire_nonsense(err);
	return jl_wire_from(status, c->name, err);
}

void jl_net_close(struct jl_net_client *c)
{
	if (!c)
		return;
	if (c->fd >= 0) {
		(void)jl_wire_try_send(c->fd, &(struct jl_wire_message){ .word = JL_WIRE_BYE });
		(void)close(c->fd);
	}
	jl_free(c);
}

enum jl_status jl_net_ping(struct jl_net_client *c, size_t n, struct jl_net_latency *ret, struct jl_err *err)
{
	double *scratch = jl_realloc(NULL, JL_NET_PINGS_MAX * sizeof(*scratch));
	const size_t n_warm = 20;
	const double end_s = jl_clock_s() + PING_S;
	enum jl_status status = scratch ? JL_OK : jl_fail_nomem(err);

	ret->n_samples = 0;
	n = n < JL_NET_PINGS_MAX - n_warm ? n : JL_NET_PINGS_MAX - n_warm;
	for (size_t i = 0; i < n + n_warm && !status; i++) {
		struct jl_wire_message answer;
		const double start_s = jl_clock_s();

		status = say(c, JL_WIRE_PING, i, 0, 0, err);
		JL_THEN(status, await(c, JL_NET_WAIT_S, JL_WIRE_PING, &answer, err));
		if (!status && answer.n[0] != i)
			status = jl_wire_from(jl_wire_nonsense(err), c->name, err);
		if (!status && i >= n_warm)
			ret->samples_s[ret->n_samples++] = jl_clock_s() - start_s;
		if (ret->n_samples >= PINGS_MIN && jl_clock_s() > end_s)
			break;
	}
	if (!status)
		jl_stats_of(&ret->round_s, ret->samples_s, ret->n_samples, scratch);
	jl_free(scratch);
	return status;
}

static enum jl_status open_streams(struct jl_net_client *c, struct jl_net_streams *s, int n, struct jl_err *err)
{
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + JL_NET_WAIT_S,
					   .stop = c->peer.stop,
					   .ctx = c->peer.ctx };
	enum jl_status status = JL_OK;

	for (s->n = 0; s->n < n && !status; s->n++) {
		struct jl_wire_message hello = { .n = { (uint64_t)s->n, c->session }, .text = JL_NET_WHAT };
		const int fd = jl_wire_connect(&c->address.any, jl_wire_len(&c->address), JL_NET_WAIT_S);

		if (fd < 0)
			return jl_fail(err, JL_E_IO, "stream %d of %d: {%s}", s->n + 1, n, strerror(errno));
		s->fds[s->n] = fd;
		status = jl_wire_greet(fd, c->name, &hello, &c->peer.secret, &wait, err);
	}
	return status;
}

static enum jl_status impossible(const struct jl_net_client *c, const char *why, struct jl_err *err)
{
	return jl_fail(err, JL_E_DATA, "%s: the figures of the other side cannot be: {%s}", c->name, why);
}

/* Checks the reported rates against the bytes sent. Tolerates the difference that clocks and half-length samples can make. */
static enum jl_status check_report(const struct jl_net_client *c, const struct jl_net_streams *s,
				   const struct jl_net_flow *flow, struct jl_err *err)
{
	double sum_B = 0;

	for (size_t i = 0; i < flow->n_samples; i++)
		sum_B += JL_NET_SAMPLE_S * flow->samples_Bps[i];
	if (sum_B > 1.5 * (double)s->sent_B)
		return impossible(c, JL_N("it received more than was sent"), err);
	if (s->sends && !(flow->rate_Bps.median > 0))
		return impossible(c, JL_N("it received nothing"), err);
	return JL_OK;
}

/* Receives the listener's samples. */
static enum jl_status read_report(struct jl_net_client *c, const struct jl_net_streams *s, struct jl_net_flow *ret_flow,
				  struct jl_err *err)
{
	struct jl_wire_message m;
	size_t n;

	JL_TRY(await(c, REPORT_S, JL_WIRE_REPORT, &m, err));
	n = (size_t)m.n[0];
	if ((double)n > 2 * s->time_s / JL_NET_SAMPLE_S + 2)
		return impossible(c, JL_N("more samples than the time holds"), err);
	memset(ret_flow, 0, sizeof(*ret_flow));
	while (ret_flow->n_samples < n) {
		JL_TRY(await(c, JL_NET_WAIT_S, JL_WIRE_RATES, &m, err));
		for (size_t i = 0; i < JL_WIRE_NUMBERS && ret_flow->n_samples < n; i++)
			ret_flow->samples_Bps[ret_flow->n_samples++] = (double)m.n[i];
	}
	jl_net_summarise(ret_flow);
	return check_report(c, s, ret_flow, err);
}

static void look_at_headers(const struct jl_net_client *c, int fd, struct jl_net_result *result)
{
	int mss = 0;
	socklen_t size = sizeof(mss);

	result->mss_B = getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &size) == 0 && mss > 0 ? mss : (double)NAN;
	result->header_B = ETHERNET_B + TCP_B + (c->address.any.sa_family == AF_INET6 ? IPV6_B : IPV4_B);
}

double jl_net_wire_Bps(const struct jl_net_result *result, double payload_Bps)
{
	return payload_Bps * (result->mss_B + result->header_B) / result->mss_B;
}

static enum jl_status transfer(struct jl_net_client *c, struct jl_net_streams *s, struct jl_net_result *r,
			       struct jl_err *err)
{
	struct jl_wire_message go;

	JL_TRY(say(c, JL_WIRE_TEST, (uint64_t)r->direction, (uint64_t)r->n_streams, (uint64_t)llround(1e3 * r->time_s),
		   err));
	JL_TRY(open_streams(c, s, r->n_streams, err));
	JL_TRY(await(c, JL_NET_WAIT_S, JL_WIRE_GO, &go, err));
	look_at_headers(c, s->fds[0], r);
	JL_TRY(jl_wire_from(jl_net_run(s, &r->receive, err), c->name, err));
	return read_report(c, s, &r->send, err);
}

enum jl_status jl_net_transfer(struct jl_net_client *c, enum jl_net_direction direction, int n_streams, double time_s,
			       struct jl_net_result *r, struct jl_err *err)
{
	struct jl_net_streams streams = { .sends = direction & JL_NET_SEND,
					  .receives = direction & JL_NET_RECEIVE,
					  .time_s = time_s,
					  .stop = c->peer.stop,
					  .ctx = c->peer.ctx };
	struct jl_noise_watch watch;

	if (n_streams < 1 || n_streams > JL_NET_STREAMS_MAX || !(time_s >= 0.5 && time_s <= JL_NET_TIME_MAX_S))
		return jl_fail(err, JL_E_RANGE, "1 to %d streams, 0.5 to %.0f s", JL_NET_STREAMS_MAX,
			       JL_NET_TIME_MAX_S);
	memset(r, 0, sizeof(*r));
	r->direction = direction;
	r->n_streams = n_streams;
	r->time_s = time_s;
	jl_noise_begin(&watch);
	enum jl_status status = transfer(c, &streams, r, err);
	jl_net_close_streams(&streams);
	JL_THEN(status, jl_noise_end(&watch, NULL, &r->noise, err));
	if (!status)
		jl_noise_judge(&r->noise, r->why);
	if (!status && r->noise.noisy) { /* only this side's noise is known */
		r->send.rate_Bps.lo95 = r->send.rate_Bps.min;
		r->send.rate_Bps.hi95 = r->send.rate_Bps.max;
		r->receive.rate_Bps.lo95 = r->receive.rate_Bps.min;
		r->receive.rate_Bps.hi95 = r->receive.rate_Bps.max;
	}
	return status;
}
