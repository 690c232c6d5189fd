/* Sandbox: requests are answered in processes that hold only the catalog and may do nothing else (comm/confine.h). They are forked by the
 * nursery process, which is forked before any thread starts. A request with files gets its own process. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "comm/confine.h"
#include "store/store.h"
#include "web/inside.h"

#define WORKERS_MAX   128
#define QUESTIONS_MAX 20000 /* requests per process */
#define GRACE_S       1.0   /* a process is killed this long after its limit */
#define CANCEL_S      0.25  /* ... or after it was asked to stop */
#define DATA_MAX_B    ((size_t)500 << 20)
#define STACK_B       ((size_t)8 << 20)
#define SAID_EVERY_S  60

/* Fixed size: written and read atomically. */
struct question {
	bool cancels; /* cancels the running request */
	size_t row, len;
	double limit_s, cpu_s; /* wall-clock and processor time; cpu_s 0: no limit */
	long today;
};

struct reply {
	int code, end, form;
	bool lasting;
	size_t out_len, warn_len;
	struct jl_err err;
};

struct order { /* to the nursery */
	enum { START, STOP } what;
	bool alone; /* for one request with files */
	int nice;
	pid_t pid;
};

/* --- in a worker */

static int own_fd;         /* of a worker: socket to its server */
static double cpu_until_s; /* ... and processor time limit of its request */

static bool is_called_off(void *ctx)
{
	struct pollfd next = { .fd = own_fd, .events = POLLIN };

	(void)ctx;
	return jl_clock_cpu_s() > cpu_until_s || poll(&next, 1, 0) != 0; /* a message of the server, or its end */
}

static bool put_all(int fd, const void *data, size_t len)
{
	for (const char *at = data; len > 0;) {
		const ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool get_all(int fd, void *data, size_t len)
{
	for (char *at = data; len > 0;) {
		const ssize_t n = recv(fd, at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool answer_one(struct jl_web *web, const struct question *q, char *body)
{
	const struct jl_ask ask = { .front = web->options.front,
				    .cat = web->options.cat,
				    .today = q->today,
				    .steps_max = JL_WEB_STEPS_MAX,
				    .bytes_max = JL_WEB_BYTES_MAX,
				    .limit_s = q->limit_s,
				    .cancelled = is_called_off };
	struct jl_answer answer;
	struct reply reply = { 0 };
	bool sent;

	cpu_until_s = q->cpu_s > 0 ? jl_clock_cpu_s() + q->cpu_s : INFINITY;
	jl_ask(&answer, &ask, web->options.front->askable[q->row].command, body, q->len);
	if (answer.end == JL_BUDGET_CANCELLED && jl_clock_cpu_s() > cpu_until_s)
		answer.end = JL_BUDGET_TIME;
	reply = (struct reply){ .code = answer.code,
				.end = (int)answer.end,
				.form = (int)answer.form,
				.lasting = answer.lasting,
				.out_len = answer.out.len,
				.warn_len = answer.warn.len,
				.err = answer.err };
	sent = put_all(own_fd, &reply, sizeof(reply)) && put_all(own_fd, answer.out.data, reply.out_len) &&
	       put_all(own_fd, answer.warn.data, reply.warn_len);
	jl_answer_release(&answer);
	return sent && !jl_mem_ran_out();
}

static void confine(struct jl_web *web, bool alone)
{
	/* only /proc itself and machine-wide files, not those of other processes: their environment holds secrets, as /etc and /run do */
	static const char *const system[] = { "/proc/self",
					      "/proc/cpuinfo",
					      "/proc/meminfo",
					      "/proc/stat",
					      "/proc/loadavg",
					      "/proc/uptime",
					      "/proc/version",
					      "/proc/devices",
					      "/proc/modules",
					      "/proc/cmdline",
					      "/proc/filesystems",
					      "/proc/sys",
					      "/proc/bus",
					      "/proc/driver",
					      "/sys",
					      "/etc/ld.so.cache",
					      "/etc/localtime",
					      "/etc/os-release",
					      "/etc/hosts",
					      "/etc/resolv.conf",
					      "/etc/nsswitch.conf",
					      "/etc/host.conf",
					      "/etc/gai.conf",
					      "/etc/services",
					      "/etc/passwd",
					      "/etc/ssl/openssl.cnf",
					      "/etc/ssl/certs",
					      "/etc/pki/tls/certs",
					      "/usr",
					      "/lib",
					      "/lib64",
					      "/opt",
					      "/run/udev",
					      "/.dockerenv",
					      "/dev/urandom",
					      "/dev/null",
					      NULL };
	const char *readable[JL_LEN(system) + 4], *writable[2] = { NULL, NULL };
	size_t n = 0;
	const struct jl_web_options *o = &web->options;

	for (; system[n]; n++)
		readable[n] = system[n];
	if (o->data_dir)
		readable[n++] = o->data_dir;
	if (o->machine)
		readable[n++] = o->machine;
	if (web->folders.own)
		readable[n++] = web->folders.own;
	if (web->folders.of_store)
		readable[n++] = writable[0] = web->folders.of_store;
	readable[n] = NULL;
	jl_confine_cell(&(struct jl_confine_cell){
		.readable = readable,
		.writable = alone || !writable[0] ? NULL : writable,
		.sockets = !alone && web->folders.on_server,
		.devices = !alone,
		.data_B = DATA_MAX_B + (size_t)jl_pool_n_cpus() * 2 * STACK_B,
		.cpu_s = alone ? (unsigned)(2 + jl_pool_n_cpus() * JL_WEB_ANSWER_MAX_S) : 0,
	});
}

static void keep_only(int fd)
{
	const int nowhere = open("/dev/null", O_RDWR);

	if (nowhere >= 0) {
		(void)dup2(nowhere, 0);
		(void)dup2(nowhere, 1);
	}
	own_fd = dup2(fd, 3);
	for (int i = 4; i < 256; i++)
		(void)close(i);
}

static _Noreturn void work(struct jl_web *web, int fd, bool alone, int nice)
{
	struct question q;
	const pid_t nursery = getppid();

	keep_only(fd);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != nursery)
		_exit(0);
	(void)setpriority(PRIO_PROCESS, 0, nice);
	confine(web, alone);
	for (int i = 0; i < QUESTIONS_MAX && get_all(own_fd, &q, sizeof(q)); i++) {
		char *body;

		if (q.cancels) /* arrived too late */
			continue;
		body = jl_realloc(NULL, q.len + 1);
		if (!body || !get_all(own_fd, body, q.len) || !answer_one(web, &q, body) || alone)
			break;
		jl_free(body);
	}
	_exit(0);
}

/* --- the nursery */

struct child {
	pid_t pid;
	bool stopped; /* by us: not an error */
};

static struct child children[WORKERS_MAX];

static void on_child(int number)
{
	(void)number;
}

static void reap(void)
{
	static double said_s = -SAID_EVERY_S;
	int status;

	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
		for (struct child *c = children; c < children + WORKERS_MAX; c++) {
			if (c->pid != pid)
				continue;
			c->pid = 0;
			if (c->stopped || !WIFSIGNALED(status) || jl_clock_s() - said_s < SAID_EVERY_S)
				continue;
			said_s = jl_clock_s();
			(void)fprintf(stderr,
				      JL_("jeoul web: a process that answered ended: %s; counted in /metrics\n"),
				      strsignal(WTERMSIG(status)));
		}
}

static void stop(pid_t pid)
{
	for (struct child *c = children; pid > 0 && c < children + WORKERS_MAX; c++)
		if (c->pid == pid) {
			c->stopped = true;
			(void)kill(pid, SIGKILL); /* our child and not reaped: its pid is not reused */
		}
}

/* Sends the pid with the socket; -1 alone: failure. */
static bool hand_over(int control, pid_t pid, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} beside = { 0 };
	struct iovec text = { &pid, sizeof(pid) };
	struct msghdr message = { .msg_iov = &text, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = beside.bytes;
		message.msg_controllen = sizeof(beside.bytes);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);

		*head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	return sendmsg(control, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(pid);
}

static bool start(struct jl_web *web, int control, const struct order *order, const sigset_t *waiting)
{
	int pair[2] = { -1, -1 };
	struct child *place = children;
	pid_t pid = -1;
	bool sent;

	while (place < children + WORKERS_MAX && place->pid)
		place++;
	if (place < children + WORKERS_MAX && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0)
		pid = fork();
	if (pid == 0) {
		(void)sigprocmask(SIG_SETMASK, waiting, NULL);
		work(web, pair[1], order->alone, order->nice);
	}
	if (pid > 0)
		*place = (struct child){ .pid = pid };
	sent = hand_over(control, pid, pid > 0 ? pair[0] : -1);
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			(void)close(pair[i]);
	return sent;
}

/* Warms up: initialises what the first request would, for all forked processes. */
static void warm_up(const struct jl_web *web)
{
	static const char request[] = "{\"model\":\"gpt2-124m\",\"on\":\"rtx-4090\"}";
	const struct jl_ask ask = { .front = web->options.front, .cat = web->options.cat, .today = 20000 };
	struct jl_answer answer;

	jl_ask(&answer, &ask, "predict", request, sizeof(request) - 1);
	jl_answer_release(&answer);
}

static _Noreturn void tend(struct jl_web *web, int control)
{
	struct order order;
	sigset_t child, waiting;

	(void)signal(SIGINT, SIG_IGN); /* Ctrl-C is for the server, which ends this process */
	(void)signal(SIGTERM, SIG_IGN);
	(void)sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = on_child }, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, &waiting);
	explicit_bzero(web->token, sizeof(web->token)); /* workers do not need the token */
	json_object_seed(0); /* from the system's random numbers; inherited by every process */
	warm_up(web);
	for (;;) {
		struct pollfd next = { .fd = control, .events = POLLIN };

		reap();
		if (ppoll(&next, 1, NULL, &waiting) < 0)
			continue;
		if (recv(control, &order, sizeof(order), 0) != (ssize_t)sizeof(order))
			break;
		if (order.what == STOP)
			stop(order.pid);
		else if (!start(web, control, &order, &waiting))
			break;
	}
	_exit(0);
}

/* --- in the server */

struct jl_web_workers {
	struct jl_web *web;
	int control;
	pid_t nursery;
	pthread_mutex_t lock; /* one order and its reply at a time */
};

enum jl_status jl_web_workers_create(struct jl_web_workers **ret_workers, struct jl_web *web, struct jl_err *err)
{
	struct jl_web_workers *w = jl_realloc(NULL, sizeof(*w));
	const pid_t server = getpid();
	int pair[2];

	JL_TRY(jl_got(w, err));
	*w = (struct jl_web_workers){ .web = web, .nursery = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0)
		w->nursery = fork();
	if (w->nursery == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != server)
			_exit(0);
		for (int i = 3; i < 256; i++)
			if (i != pair[1])
				(void)close(i);
		tend(web, pair[1]);
	}
	if (w->nursery < 0) {
		jl_free(w);
		return jl_fail(err, JL_E_IO, "no process could be started to answer questions: {%s}", strerror(errno));
	}
	(void)close(pair[1]);
	w->control = pair[0];
	(void)pthread_mutex_init(&w->lock, NULL);
	*ret_workers = w;
	return JL_OK;
}

/* All of them end with the nursery. */
void jl_web_workers_end(struct jl_web_workers *w)
{
	if (w && w->nursery > 0)
		(void)kill(w->nursery, SIGKILL);
}

void jl_web_workers_destroy(struct jl_web_workers *w)
{
	if (!w)
		return;
	jl_web_workers_end(w);
	(void)waitpid(w->nursery, NULL, 0);
	(void)close(w->control);
	(void)pthread_mutex_destroy(&w->lock);
	jl_free(w);
}

static void close_worker(struct jl_web_workers *w, struct jl_web_worker *worker)
{
	const struct order order = { .what = STOP, .pid = worker->pid };

	if (worker->pid <= 0)
		return;
	(void)close(worker->fd);
	(void)send(w->control, &order, sizeof(order), MSG_NOSIGNAL);
	*worker = (struct jl_web_worker){ .nice = worker->nice };
}

static bool open_worker(struct jl_web_workers *w, struct jl_web_worker *worker, bool alone)
{
	const struct order order = { .what = START, .alone = alone, .nice = worker->nice };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} beside = { 0 };
	pid_t pid = -1;
	struct iovec text = { &pid, sizeof(pid) };
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = sizeof(beside.bytes)
	};
	const struct cmsghdr *head = NULL;

	if (worker->pid > 0)
		return true;
	pthread_mutex_lock(&w->lock);
	if (send(w->control, &order, sizeof(order), MSG_NOSIGNAL) == (ssize_t)sizeof(order) &&
	    recvmsg(w->control, &message, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof(pid))
		head = CMSG_FIRSTHDR(&message);
	pthread_mutex_unlock(&w->lock);
	if (pid == -1 && !head && kill(w->nursery, 0) != 0 && !atomic_exchange(&w->web->broken, true))
		(void)kill(getpid(), SIGTERM);
	if (pid <= 0 || !head)
		return false;
	worker->pid = pid;
	memcpy(&worker->fd, CMSG_DATA(head), sizeof(worker->fd));
	(void)fcntl(worker->fd, F_SETFL, O_NONBLOCK);
	atomic_fetch_add(&w->web->counts.workers[JL_WEB_STARTED], 1);
	return true;
}

/* One exchange with a worker: with time limit, cancelled if the client disconnects. */
struct exchange {
	struct jl_web_worker *worker;
	struct jl_web_request *r;
	double until_s;
	bool called_off;
};

static bool call_off(struct exchange *e)
{
	const struct question q = { .cancels = true };

	e->called_off = true;
	e->until_s = fmin(e->until_s, jl_clock_s() + CANCEL_S);
	return send(e->worker->fd, &q, sizeof(q), MSG_NOSIGNAL) == (ssize_t)sizeof(q);
}

/* Waits until the worker's socket is writable or readable; false: timeout. */
static bool wait_for(struct exchange *e, short events)
{
	for (;;) {
		struct pollfd fds[2] = { { .fd = e->worker->fd, .events = events },
					 { .fd = e->called_off ? -1 : e->r->fd, .events = POLLRDHUP } };
		const double left_s = e->until_s - jl_clock_s();

		if (left_s <= 0)
			return false;
		if (poll(fds, 2, (int)(1e3 * left_s) + 1) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			return true;
		if (fds[1].revents && !call_off(e))
			return false;
	}
}

static bool move_all(struct exchange *e, void *data, size_t len, bool out)
{
	for (char *at = data; len > 0;) {
		const ssize_t n = out ? send(e->worker->fd, at, len, MSG_NOSIGNAL) : recv(e->worker->fd, at, len, 0);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return false;
		if (n < 0 && !wait_for(e, out ? POLLOUT : POLLIN))
			return false;
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool get_text(struct exchange *e, struct jl_buf *out, size_t len)
{
	jl_buf_init(out, JL_ASK_ANSWER_MAX_B + 1);
	if (len == 0)
		return true;
	out->data = len <= JL_ASK_ANSWER_MAX_B ? jl_realloc(NULL, len + 1) : NULL;
	if (!out->data)
		return false;
	out->size_B = len + 1;
	out->len = len;
	out->data[len] = '\0';
	return move_all(e, out->data, len, false);
}

/* A worker is sandboxed because it parses requests; its reply is not trusted. */
static bool is_sound(struct reply *reply)
{
	reply->err.en[sizeof(reply->err.en) - 1] = reply->err.text[sizeof(reply->err.text) - 1] = '\0';
	return reply->form >= 0 && reply->form <= JL_FORM_TEXT && reply->code >= 0 && reply->code <= 3 &&
	       reply->end >= JL_BUDGET_OPEN && reply->end <= JL_BUDGET_CANCELLED;
}

static bool exchange(struct exchange *e, const struct question *q)
{
	struct jl_web_request *r = e->r;
	struct reply reply;

	if (!move_all(e, (void *)(uintptr_t)q, sizeof(*q), true) || !move_all(e, r->body.data, q->len, true) ||
	    !move_all(e, &reply, sizeof(reply), false) || !is_sound(&reply))
		return false;
	r->answer = (struct jl_answer){ .code = reply.code,
					.end = (enum jl_budget_end)reply.end,
					.err = reply.err,
					.form = (enum jl_form)reply.form,
					.lasting = reply.lasting };
	return get_text(e, &r->answer.out, reply.out_len) && get_text(e, &r->answer.warn, reply.warn_len);
}

/* True if the body may contain files: it has the key "files", or an escape that could hide it. */
static bool brings_files(const struct jl_web_request *r)
{
	return r->body.len > 0 &&
	       (memmem(r->body.data, r->body.len, "\"files\"", 7) || memchr(r->body.data, '\\', r->body.len));
}

void jl_web_workers_ask(struct jl_web_workers *w, struct jl_web_request *r, double limit_s, double cpu_s)
{
	const bool alone = brings_files(r);
	struct jl_web_worker *worker = &r->workers[alone];
	const struct question q = {
		.row = r->row, .len = r->body.len, .limit_s = limit_s, .cpu_s = cpu_s, .today = jl_web_today(w->web)
	};
	struct exchange e = { .worker = worker, .r = r };
	bool done = false, late = false;

	/* a worker that ended while idle, or reached its request limit, is not a failure of this request */
	for (int attempt = 0; attempt < 2 && !done && open_worker(w, worker, alone); attempt++) {
		const bool fresh = worker->n_asked++ == 0;

		e.until_s = jl_clock_s() + limit_s + GRACE_S;
		done = exchange(&e, &q);
		if (!done) {
			late = !e.called_off && jl_clock_s() >= e.until_s;
			jl_answer_release(&r->answer);
			atomic_fetch_add(
				&w->web->counts.workers[e.called_off || jl_clock_s() >= e.until_s ? JL_WEB_STOPPED
												  : JL_WEB_DIED],
				1);
		}
		if (!done || alone || worker->n_asked >= QUESTIONS_MAX)
			close_worker(w, worker);
		if (fresh || e.called_off)
			break;
	}
	if (done)
		return;
	/* too slow: repeated in the slower queue, if any */
	r->answer = (struct jl_answer){ .code = 1, .end = late ? JL_BUDGET_TIME : JL_BUDGET_OPEN };
	jl_buf_init(&r->answer.out, JL_WEB_PAGE_MAX_B);
	(void)jl_fail(&r->answer.err, JL_E_LIMIT,
		      "the process that answered this ended: it needed more memory or time than one question may have, "
		      "or the "
		      "program has a fault there");
}
