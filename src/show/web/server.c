/* The server: accepts connections, collects requests, sends answers. A few threads poll many connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "request/cache.h"
#include "base/clock.h"
#include "base/dynlib.h"
#include "base/mem.h"
#include "base/pool.h"
#include "comm/confine.h"
#include "web/inside.h"

#define KEPT_EACH_B ((size_t)64 << 10)
#define KEPT_MAX_B  ((size_t)32 << 20)

extern char **environ;

static enum MHD_Result begin(struct jl_web *web, struct MHD_Connection *connection, const char *url, const char *method,
			     void **request)
{
	struct jl_web_request *r = jl_realloc(NULL, sizeof(*r));
	enum jl_web_refusal why;
	bool enter;

	if (!r)
		return MHD_NO;
	*r = (struct jl_web_request){
		.web = web, .connection = connection, .is_post = strcmp(method, "POST") == 0, .begin_s = jl_clock_s()
	};
	*request = r;
	jl_web_connection_phase(connection, JL_WEB_BODY);
	jl_buf_init(&r->body, JL_WEB_BODY_MAX_B);
	if (strlen(url) >= sizeof(r->path))
		return jl_web_refuse(r, JL_WEB_PATH);
	(void)snprintf(r->path, sizeof(r->path), "%s", url);
	jl_web_client(r->client, connection);
	why = jl_web_door(r, method, &enter);
	if (why != JL_N_WEB_REFUSAL)
		return jl_web_refuse(r, why);
	if (enter) {
		r->refused = true;
		return jl_web_enter(r);
	}
	return MHD_YES;
}

bool jl_web_hold(struct jl_web_request *r, size_t more_B)
{
	r->held_B += more_B;
	return atomic_fetch_add(&r->web->held_B, more_B) + more_B <= JL_WEB_HELD_MAX_B;
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
			      const char *version, const char *data, size_t *n_data, void **request)
{
	struct jl_web_request *r = *request;

	(void)version;
	if (!r)
		return begin(ctx, connection, url, method, request);
	if (*n_data == 0) {
		jl_web_connection_phase(connection, JL_WEB_ANSWERING);
		return r->refused ? MHD_YES : jl_web_route(r);
	}
	if (r->refused) { /* the response is being sent: discards the rest */
		*n_data = 0;
		return MHD_YES;
	}
	jl_buf_add(&r->body, data, *n_data);
	if (!jl_web_hold(r, *n_data)) {
		jl_web_log(r->web, JL_WEB_BUSY);
		return MHD_NO;
	}
	*n_data = 0;
	if (r->body.failed) { /* no length was given, and it does not end */
		jl_web_log(r->web, JL_WEB_SIZE);
		return MHD_NO;
	}
	return MHD_YES;
}

/* Returns freed memory of large request bodies to the system. */
static void give_back(struct jl_web *web, size_t freed_B)
{
	if (freed_B > KEPT_EACH_B && atomic_fetch_add(&web->freed_B, freed_B) + freed_B > KEPT_MAX_B) {
		atomic_store(&web->freed_B, 0);
		(void)malloc_trim(0);
	}
}

static void completed(void *ctx, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode why)
{
	struct jl_web_request *r = *request;
	size_t held_B;

	(void)why;
	if (!r)
		return;
	jl_web_connection_phase(connection, JL_WEB_HEAD);
	if (r->answered)
		jl_answer_release(&r->answer);
	held_B = r->body.size_B;
	atomic_fetch_sub(&r->web->held_B, r->held_B);
	jl_buf_release(&r->body);
	jl_free(r);
	*request = NULL;
	give_back(ctx, held_B);
}

/* URLs are not percent-decoded: none of ours has an escape, so an escaped one matches none and cannot hide a NUL. */
static size_t as_it_is(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx;
	(void)connection;
	return strlen(text);
}

static void quiet(void *ctx, const char *format, va_list args)
{
	(void)ctx;
	(void)format;
	(void)args; /* would log every broken connection */
}

static enum jl_status resolve(struct sockaddr_storage *ret_address, socklen_t *ret_len, const struct jl_web_options *o,
			      struct jl_err *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	const char *text = o->listen ? o->listen : "127.0.0.1";
	struct addrinfo *list = NULL;
	char port[8];

	(void)snprintf(port, sizeof(port), "%d", o->port);
	if (getaddrinfo(text, port, &hints, &list) != 0 || !list)
		return jl_fail(err, JL_E_USAGE, "--listen: '%s' is not an address; write e.g. 0.0.0.0 or 192.168.0.5",
			       text);
	memcpy(ret_address, list->ai_addr, list->ai_addrlen);
	*ret_len = list->ai_addrlen;
	freeaddrinfo(list);
	return JL_OK;
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *four = (const void *)a;
	const struct sockaddr_in6 *six = (const void *)a;

	return a->ss_family == AF_INET ? ntohl(four->sin_addr.s_addr) >> 24 == 127
				       : IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) != 0;
}

/* Own socket, so that errors of the address can be reported. */
static enum jl_status bind_to(int *ret_fd, const struct sockaddr_storage *address, socklen_t len,
			      const struct jl_web_options *o, struct jl_err *err)
{
	const int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	const char *where = o->listen ? o->listen : "127.0.0.1";
	int why;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (const void *)address, len) == 0 && listen(fd, 1024) == 0) {
		*ret_fd = fd;
		return JL_OK;
	}
	why = errno;
	if (fd >= 0)
		(void)close(fd);
	if (why == EADDRINUSE)
		return jl_fail(err, JL_E_IO, "port %d of %s is taken; take another one: --port %d", o->port, where,
			       o->port < 65535 ? o->port + 1 : o->port - 1);
	return jl_fail(err, JL_E_IO, "port %d of %s cannot be used: {%s}", o->port, where, strerror(why));
}

/* Raises the limit of open files: one per connection. */
static unsigned most_connections(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return 512;
	if (files.rlim_cur < JL_WEB_OPEN_MAX + 256 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max < JL_WEB_OPEN_MAX + 256 ? files.rlim_max : JL_WEB_OPEN_MAX + 256;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	return files.rlim_cur > JL_WEB_OPEN_MAX + 128 ? JL_WEB_OPEN_MAX
	       : files.rlim_cur > 256                 ? (unsigned)files.rlim_cur - 128
						      : 128;
}

static struct MHD_Daemon *start(struct jl_web *web, int fd, int port, unsigned n_threads, unsigned n_connections)
{
	/* poll instead of epoll: with edge triggering the library missed the end of a connection that arrived with half a request and kept it
	 * until its timeout; four thousand of them blocked the server */
	const unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

	return jl_mhd.start_daemon(flags, (uint16_t)port, NULL, NULL, handle, web, MHD_OPTION_EXTERNAL_LOGGER, quiet,
				   NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, completed, web,
				   MHD_OPTION_NOTIFY_CONNECTION, jl_web_connection_notify, web->connections,
				   MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, as_it_is, NULL,
				   MHD_OPTION_THREAD_POOL_SIZE, n_threads, MHD_OPTION_CONNECTION_LIMIT, n_connections,
				   MHD_OPTION_PER_IP_CONNECTION_LIMIT, web->guarded ? (unsigned)JL_WEB_OPEN_EACH : 0u,
				   MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)JL_WEB_IDLE_MAX_S,
				   MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)JL_WEB_HEAD_MAX_B, MHD_OPTION_END);
}

static void open_browser(const char *url)
{
	static char program[] = "xdg-open";
	char *argv[] = { program, (char *)(uintptr_t)url, NULL };
	pid_t pid;

	if (posix_spawnp(&pid, program, NULL, NULL, argv, environ) != 0)
		(void)fprintf(stderr, JL_("jeoul web: no browser could be started (xdg-open); open %s\n"), url);
}

static void greet(const struct jl_web *web)
{
	const struct jl_web_options *o = &web->options;
	char url[512];
	const char *host = !o->listen                                                          ? "127.0.0.1"
			   : strcmp(o->listen, "0.0.0.0") == 0 || strcmp(o->listen, "::") == 0 ? web->host
											       : o->listen;
	const bool six = strchr(host, ':') != NULL;

	(void)snprintf(url, sizeof(url), "http://%s%s%s:%d/%s%s", six ? "[" : "", host, six ? "]" : "", o->port,
		       web->guarded ? "?token=" : "", web->guarded ? web->token : "");
	(void)printf(JL_("jeoul web: %s   (Ctrl-C ends it)\n"), url);
	if (web->guarded)
		(void)printf("%s\n",
			     JL_("Anyone with this address can ask; it is shown once. The connection is not encrypted: "
				 "use it in a network that you trust, or behind a server that speaks TLS."));
	if (o->open && web->guarded) /* any process of this machine could read the token in the browser's arguments */
		(void)printf(
			"%s\n",
			JL_("--open: open the address above yourself; with its token it is in no list of processes."));
	else if (o->open)
		open_browser(url);
	(void)fflush(stdout);
}

static enum jl_status run(struct jl_web *web, int fd, const sigset_t *ends, struct jl_err *err)
{
	const int n_cpus = web->options.n_threads ? web->options.n_threads : jl_pool_n_cpus();
	const unsigned n_threads = (unsigned)(n_cpus < 2    ? 2
					      : n_cpus > 16 ? 16
							    : n_cpus),
		       n_connections = most_connections();
	struct MHD_Daemon *daemon = NULL;
	int signal_number;

	greet(web); /* the socket already listens: early clients wait */
	jl_confine(JL_CONFINE_PROGRAMS);
	web->cache = jl_ask_cache_create();
	web->jobs = jl_web_jobs_create(web, (int)n_threads);
	web->connections = jl_web_connections_create(web, n_connections);
	if (web->jobs && web->connections)
		daemon = start(web, fd, web->options.port, n_threads, n_connections);
	if (daemon) {
		(void)jl_web_prepare(web);
		(void)sigwait(ends, &signal_number);
		(void)jl_mhd.quiesce_daemon(daemon);
	}
	jl_web_jobs_end(web->jobs);
	if (daemon)
		jl_mhd.stop_daemon(daemon);
	jl_web_jobs_destroy(web->jobs); /* its threads used workers until now */
	jl_web_connections_destroy(web->connections);
	jl_ask_cache_destroy(web->cache);
	jl_web_live_close();
	if (atomic_load(&web->broken))
		return jl_fail(err, JL_E_IO,
			       "the process that starts those that answer has ended: start the server again");
	return daemon ? JL_OK : jl_fail(err, JL_E_IO, "the server could not be started");
}

struct jl_mhd jl_mhd;

static enum jl_status open_library(struct jl_err *err)
{
#define SYMBOL(NAME) { .name = "MHD_" #NAME, .offset = offsetof(struct jl_mhd, NAME) },
	static const struct jl_dynlib_symbol symbols[] = { JL_MHD_FUNCTIONS(SYMBOL) };
	static const char *const names[] = { "libmicrohttpd.so.12", "libmicrohttpd.so", NULL };
	static struct jl_dynlib lib; /* kept until exit */
	struct jl_err why;

	if (!lib.handle && jl_dynlib_open(&lib, "JEOUL_MICROHTTPD", names, symbols, JL_LEN(symbols), &jl_mhd, &why))
		return jl_fail_from(err, JL_E_ABSENT, NULL, &why,
				    "the page needs libmicrohttpd: {}; install the package libmicrohttpd12");
	return JL_OK;
}

enum jl_status jl_web_serve(const struct jl_web_options *options, struct jl_err *err)
{
	struct jl_web *web;
	struct sockaddr_storage address = { 0 };
	socklen_t len = 0;
	sigset_t ends;
	int fd = -1;
	enum jl_status status;

	JL_TRY(open_library(err));
	web = jl_realloc(NULL, sizeof(*web));
	JL_TRY(jl_got(web, err));
	memset(web, 0, sizeof(*web));
	web->options = *options;
	(void)pthread_mutex_init(&web->hello_lock, NULL);
	web->begin_s = jl_clock_s();
	(void)gethostname(web->host, sizeof(web->host) - 1);
	status = resolve(&address, &len, options, err);
	web->guarded = !status && !is_loopback(&address);
	JL_THEN(status, web->guarded ? jl_web_token(web, err) : JL_OK);
	JL_THEN(status, bind_to(&fd, &address, len, options, err));
	if (!status) {
		sigemptyset(&ends);
		sigaddset(&ends, SIGINT);
		sigaddset(&ends, SIGTERM);
		(void)pthread_sigmask(SIG_BLOCK, &ends, NULL); /* inherited by all threads */
		jl_store_folders(&web->folders, NULL);
		status = jl_web_workers_create(&web->workers, web, err);
		JL_THEN(status, run(web, fd, &ends, err));
		jl_web_workers_destroy(web->workers);
		jl_free(web->folders.own);
		jl_free(web->folders.of_store);
		(void)close(fd);
	}
	jl_buf_release(&web->hello);
	(void)pthread_mutex_destroy(&web->hello_lock);
	jl_free(web);
	return status;
}
