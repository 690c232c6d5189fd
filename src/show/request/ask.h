/* Answers a JSON request in this process by running the command; used by libjeoul and the page.
 *
 * {"command": "predict", "model": "llama-3-8b", "on": "8x h100-sxm5", "batch": 4, "near": true}
 *
 * Keys are the command's options as in its table ('_' may replace '-'), the key of its operands (struct jl_askable), and
 *   "as"     "json" (default): the command's JSON; "html": its document as an HTML fragment; "text"
 *   "files"  {"name": "text"}: files that arguments refer to. Only `paths` are read from disk; nothing is written.
 * Thread-safe. An answer depends only on the request, the catalog, the date and, with `this` or the store, this machine. */
#pragma once

#include "request/command.h"
#include "base/budget.h"

#define JL_ASK_REQUEST_MAX_B ((size_t)8 << 20)
#define JL_ASK_ANSWER_MAX_B  ((size_t)64 << 20)
#define JL_ASK_FILES_MAX     64

struct jl_ask_cache;

struct jl_ask {
	const struct jl_front *front;
	const struct jl_catalog *cat; /* NULL: loaded per request, with the user's overlays */
	long today;                   /* days since 1970-01-01 */
	struct jl_ask_cache *cache;   /* request/cache.h; NULL: none */
	const char *const *paths;     /* readable files and folders of this machine, by these names; NULL: none */
	/* Budget (base/budget.h); a search ends earlier with the best so far. 0, NULL: no limit. */
	unsigned long long steps_max, bytes_max;
	double limit_s;
	bool (*cancelled)(void *ctx);
	void *cancelled_ctx;
};

enum jl_form { JL_FORM_JSON, JL_FORM_PAGE, JL_FORM_TEXT };

struct jl_answer {
	int code;               /* exit code of the command: 0 ok, 1 failed, 2 usage error, 3 bad verdict */
	enum jl_budget_end end; /* code 1: which budget was exhausted */
	enum jl_form form;
	bool lasting;                     /* the answer is the same for the rest of the day */
	struct jl_err err;                /* for codes 1 and 2 */
	struct jl_buf out;                /* for codes 0 and 3 */
	struct jl_buf warn;               /* lines for stderr */
	const struct jl_command *command; /* NULL: unknown command */
};

/* Answers a request. `command`: given separately, e.g. by a URL; NULL: in the request. */
void jl_ask(struct jl_answer *ret_answer, const struct jl_ask *ask, const char *command, const char *request,
	    size_t len);
/* Answers from the cache only; false: not cached, and `ret_answer` is empty. */
bool jl_ask_recall(struct jl_answer *ret_answer, const struct jl_ask *ask, const char *command, const char *request,
		   size_t len);
/* Caches an answer if it is lasting; jl_ask does this itself. */
void jl_ask_keep(const struct jl_answer *answer, const struct jl_ask *ask, const char *command, const char *request,
		 size_t len);
void jl_answer_release(struct jl_answer *answer);

/* Finds a command that requests may use; NULL: none. */
const struct jl_askable *jl_ask_find(const struct jl_front *front, const char *name,
				     const struct jl_command **ret_command);
/* True if requests may contain this option. */
bool jl_ask_option(const struct jl_option *option);

/* For HTML: wraps plain text printed since the last fragment. */
void jl_ask_page(struct jl_cli *cli);

/* Generates OpenAPI 3.1 for all requests from the same tables. */
void jl_ask_openapi(struct jl_buf *out, const struct jl_front *front, const char *version);
