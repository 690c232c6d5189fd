/* Declarations shared by the files of this module. */
#pragma once

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"
#include "web/web.h"

/* The used functions of libmicrohttpd, loaded at start of the page: with its dependencies, loading takes longer than a prediction. */
#define JL_MHD_FUNCTIONS(X)                                                                                            \
	X(add_response_header)                                                                                         \
	X(create_response_from_buffer)                                                                                 \
	X(create_response_from_buffer_with_free_callback)                                                              \
	X(destroy_response)                                                                                            \
	X(get_connection_info)                                                                                         \
	X(get_connection_values_n)                                                                                     \
	X(lookup_connection_value)                                                                                     \
	X(queue_response)                                                                                              \
	X(quiesce_daemon)                                                                                              \
	X(resume_connection)                                                                                           \
	X(start_daemon)                                                                                                \
	X(stop_daemon)                                                                                                 \
	X(suspend_connection)
#define JL_MHD_MEMBER(NAME) __typeof__(MHD_##NAME) *NAME;
struct jl_mhd {
	JL_MHD_FUNCTIONS(JL_MHD_MEMBER)
};
extern struct jl_mhd jl_mhd;

#define JL_WEB_BODY_MAX_B   JL_ASK_REQUEST_MAX_B
#define JL_WEB_BODY_MAX_S   20  /* from the first to the last byte of a request */
#define JL_WEB_HEAD_MAX_S   10  /* from the connection to the end of its first header */
#define JL_WEB_IDLE_MAX_S   30  /* from an answer to the end of the next header */
#define JL_WEB_SEND_MAX_S   300 /* from a header to the end of its answer: clients may read slowly */
#define JL_WEB_HEAD_MAX_B   (16 << 10)
#define JL_WEB_OPEN_MAX     4096       /* connections; fewer with a lower limit of open files */
#define JL_WEB_OPEN_EACH    256        /* ... per remote address */
#define JL_WEB_MOMENT_S     0.3        /* longer requests are slow ones, */
#define JL_WEB_MOMENT_CPU_S 0.01       /* as are those with more processor time: others wait behind them */
#define JL_WEB_ANSWER_MAX_S 20         /* limit of a slow request; a search returns its best result before */
#define JL_WEB_STEPS_MAX    400000000u /* base/budget.h */
#define JL_WEB_BYTES_MAX    ((unsigned long long)256 << 20)
#define JL_WEB_PAGE_MAX_B   ((size_t)1 << 20)
#define JL_WEB_HELD_MAX_B   ((size_t)512 << 20) /* of all requests */
#define JL_WEB_TOKEN_MAX    65
#define JL_WEB_COMMANDS_MAX 64

/* Reasons to refuse a client. */
enum jl_web_refusal {
	JL_WEB_HOST,
	JL_WEB_TOKEN,
	JL_WEB_ORIGIN,
	JL_WEB_METHOD,
	JL_WEB_TYPE,
	JL_WEB_SIZE,
	JL_WEB_SLOW,
	JL_WEB_BUSY,
	JL_WEB_PATH,
	JL_WEB_FRAMING,
	JL_N_WEB_REFUSAL
};

/* How a worker process ended. */
enum jl_web_worker_end { JL_WEB_STARTED, JL_WEB_STOPPED, JL_WEB_DIED, JL_N_WEB_WORKER_END };

struct jl_web_counts {
	atomic_ullong workers[JL_N_WEB_WORKER_END];
	atomic_ullong answered[JL_WEB_COMMANDS_MAX][4]; /* by row of the command table and by code */
	atomic_ullong refused[JL_N_WEB_REFUSAL];
	atomic_long logged_s[JL_N_WEB_REFUSAL]; /* last log entry: the log is rate-limited */
	atomic_ullong pages, answered_us;
};

struct jl_web_jobs;
struct jl_web_workers;
struct jl_web_connections;

struct jl_web {
	struct jl_web_options options;
	struct jl_web_counts counts;
	struct jl_web_jobs *jobs;
	struct jl_web_workers *workers;
	atomic_bool broken; /* no worker process is left: the server ends */
	struct jl_web_connections *connections;
	struct jl_ask_cache *cache;
	struct jl_store_folders folders; /* location of the store */
	bool guarded;                    /* not only loopback: the token is required */
	char token[JL_WEB_TOKEN_MAX];    /* of this start; never logged */
	char host[256];                  /* this machine's name */
	double begin_s;
	pthread_mutex_t hello_lock;
	struct jl_buf hello;   /* first data of the page, computed once: every network is read for it */
	atomic_size_t held_B;  /* received bodies and unsent answers */
	atomic_size_t freed_B; /* body memory since it was last returned */
};

/* A queue with its processes per class: quick, large, slow. */
enum jl_web_speed { JL_WEB_QUICK, JL_WEB_LARGE, JL_WEB_LONG, JL_N_WEB_SPEED };

/* One request, from its first header to its response. */
struct jl_web_request {
	struct jl_web *web;
	struct MHD_Connection *connection;
	char path[256];
	bool is_post, refused, answered, closes;
	bool dropped;            /* client disconnected, or server ending: closed without an answer */
	enum jl_web_speed speed; /* class of the request, known or observed */
	bool busy;               /* ... whose queue is full */
	int fd;                  /* its connection, once queued */
	void (*make)(struct jl_web_request *r, struct jl_buf *out); /* dynamic page, of */
	const char *type;                                           /* this type; NULL: a command's answer */
	double begin_s;
	struct jl_buf body;
	size_t held_B;                 /* of body and answer, as the server counts it */
	const char *command;           /* requested command, and */
	size_t row;                    /* its row in the command table */
	struct jl_answer answer;       /* valid with `answered` */
	unsigned char client[16];      /* address, for limits per client */
	struct jl_web_worker *workers; /* of the thread that handles it */
	struct jl_web_request *next;
};

/* door.c */
enum jl_status jl_web_token(struct jl_web *web, struct jl_err *err);
/* Checks if a request is allowed; JL_N_WEB_REFUSAL: yes. `ret_enter`: the URL has the token, and the answer sets a cookie. */
enum jl_web_refusal jl_web_door(struct jl_web_request *r, const char *method, bool *ret_enter);
/* Adds a request's memory; false: limit of all requests exceeded. */
bool jl_web_hold(struct jl_web_request *r, size_t more_B);
void jl_web_log(struct jl_web *web, enum jl_web_refusal why);
extern const char *const jl_web_refusals[JL_N_WEB_REFUSAL];
extern const unsigned jl_web_refusal_codes[JL_N_WEB_REFUSAL];

/* routes.c */
enum MHD_Result jl_web_refuse(struct jl_web_request *r, enum jl_web_refusal why);
enum MHD_Result jl_web_enter(struct jl_web_request *r); /* sets the cookie and redirects to the page */
enum MHD_Result
jl_web_route(struct jl_web_request *r); /* called with the complete request, and again when its job is done */

bool jl_web_prepare(struct jl_web *web); /* false: out of memory; callers retry */

/* jobs.c: computation, outside the connection threads. */
struct jl_web_jobs *jl_web_jobs_create(struct jl_web *web, int n_threads);
/* Answers all waiting requests and accepts no more; calls remain safe until the queues are destroyed. NULL is allowed. */
void jl_web_jobs_end(struct jl_web_jobs *jobs);
void jl_web_jobs_destroy(struct jl_web_jobs *jobs);
/* False: too many, in total or of this client. */
bool jl_web_jobs_put(struct jl_web_jobs *jobs, struct jl_web_request *r);
bool jl_web_recall(struct jl_web_request *r); /* a cached answer; false: none */

/* workers.c */
struct jl_web_worker {
	pid_t pid; /* 0: none */
	int fd, n_asked, nice;
};
enum { JL_WEB_KINDS = 2 }; /* requests without files, and with files */
/* Call before any thread is started. */
enum jl_status jl_web_workers_create(struct jl_web_workers **ret_workers, struct jl_web *web, struct jl_err *err);
void jl_web_workers_end(struct jl_web_workers *workers); /* immediately: running requests end with an error */
void jl_web_workers_destroy(struct jl_web_workers *workers);
/* Fills r->answer with a worker's answer to r->row and r->body; limits of its wall-clock and processor time (0: none). */
void jl_web_workers_ask(struct jl_web_workers *workers, struct jl_web_request *r, double limit_s, double cpu_s);
long jl_web_today(const struct jl_web *web);

/* connections.c */
enum jl_web_phase { JL_WEB_HEAD, JL_WEB_BODY, JL_WEB_ANSWERING, JL_WEB_CLOSING };
struct jl_web_connections *jl_web_connections_create(struct jl_web *web, size_t n_max);
void jl_web_connections_destroy(struct jl_web_connections *all); /* NULL is allowed */
void jl_web_connection_notify(void *ctx, struct MHD_Connection *connection, void **socket_context,
			      enum MHD_ConnectionNotificationCode code);
void jl_web_connection_phase(struct MHD_Connection *connection, enum jl_web_phase phase);
void jl_web_client(unsigned char ret_client[16], struct MHD_Connection *connection); /* its address */

/* metrics.c, live.c */
void jl_web_metrics(struct jl_web_request *r, struct jl_buf *out);
void jl_web_live(struct jl_web_request *r, struct jl_buf *out); /* one event: current GPUs, load and memory */
void jl_web_live_close(void);

/* generated at build time: cmake/assets.cmake */
struct jl_web_asset {
	const char *path, *type;
	const unsigned char *plain, *packed; /* packed: gzip */
	size_t plain_len, packed_len;
	const char *tag;
};
extern const struct jl_web_asset jl_web_assets[]; /* terminated by path NULL */
