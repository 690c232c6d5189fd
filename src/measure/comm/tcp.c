/* Opens and closes the TCP communicator. */
#include "comm/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define N_SPIN 40 /* polls before sleeping; each is a system call */
/* limit of unsent bytes in the kernel: enough for one piece's reduction, and still in the cache */
#define UNSENT_B (1 << 20)

static void tcp_destroy(struct jl_comm *comm)
{
	struct tcp_comm *c = (struct tcp_comm *)comm;

	jl_tcp_watch_end(c->watch);
	for (int r = 0; c->fds && r < comm->n_ranks; r++)
		if (c->fds[r] >= 0)
			(void)close(c->fds[r]);
	jl_free(c->fds);
	jl_free(c->piece);
	jl_free(c->scratch);
	jl_free(c->segs);
	jl_free(c);
}

static const struct jl_comm_backend tcp_backend = {
	.name = "tcp",
	.destroy = tcp_destroy,
	.run = jl_tcp_run,
};

static void keep_queues_short(const struct tcp_comm *c)
{
	const int most_B = UNSENT_B;

	for (int r = 0; r < c->comm.n_ranks; r++)
		if (c->fds[r] >= 0)
			(void)setsockopt(c->fds[r], IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_B, sizeof(most_B));
}

static int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

enum jl_status jl_comm_tcp(struct jl_comm **ret_comm, const struct jl_comm_tcp *how, struct jl_err *err)
{
	struct tcp_comm *c = jl_realloc(NULL, sizeof(*c));
	int *controls = NULL;

	JL_TRY(jl_got(c, err));
	memset(c, 0, sizeof(*c));
	c->comm = (struct jl_comm){ .backend = &tcp_backend, .host = c->host };
	c->piece = jl_realloc(NULL, JL_TCP_PIECE_B);
	c->scratch = jl_realloc(NULL, 2 * JL_TCP_SMALL_B);
	c->scratch_B = 2 * JL_TCP_SMALL_B;
	enum jl_status status = c->piece && c->scratch ? jl_tcp_join(c, how, &controls, err) : jl_fail_nomem(err);
	JL_THEN(status, jl_tcp_watch_start(&c->watch, controls, c->comm.n_ranks, c->comm.rank, err));
	for (int r = 0; controls && r < c->comm.n_ranks; r++) /* close connections that no rank took over */
		if (controls[r] >= 0)
			(void)close(controls[r]);
	jl_free(controls);
	if (!status) {
		keep_queues_short(c);
		/* with fewer CPUs than ranks, polling would keep the peer from running */
		c->n_spin = c->comm.n_local <= cpus() ? N_SPIN : 0;
		status = jl_comm_barrier(&c->comm, err); /* all ranks succeed, or none */
	}
	if (status) {
		tcp_destroy(&c->comm);
		return status;
	}
	*ret_comm = &c->comm;
	return JL_OK;
}
