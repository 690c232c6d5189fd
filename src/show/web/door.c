/* Access control: pages of other sites must not reach this server. Checks the Host header (DNS rebinding), Origin and Sec-Fetch headers, and a
 * content type that forms cannot send. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "web/inside.h"

#define LOG_EVERY_S 60

const char *const jl_web_refusals[JL_N_WEB_REFUSAL] = {
	[JL_WEB_HOST] = "host", [JL_WEB_TOKEN] = "token",     [JL_WEB_ORIGIN] = "origin", [JL_WEB_METHOD] = "method",
	[JL_WEB_TYPE] = "type", [JL_WEB_SIZE] = "size",       [JL_WEB_SLOW] = "slow",     [JL_WEB_BUSY] = "busy",
	[JL_WEB_PATH] = "path", [JL_WEB_FRAMING] = "framing",
};

const unsigned jl_web_refusal_codes[JL_N_WEB_REFUSAL] = {
	[JL_WEB_HOST] = 421, [JL_WEB_TOKEN] = 401, [JL_WEB_ORIGIN] = 403, [JL_WEB_METHOD] = 405, [JL_WEB_TYPE] = 415,
	[JL_WEB_SIZE] = 413, [JL_WEB_SLOW] = 408,  [JL_WEB_BUSY] = 503,   [JL_WEB_PATH] = 404,   [JL_WEB_FRAMING] = 400,
};

enum jl_status jl_web_token(struct jl_web *web, struct jl_err *err)
{
	unsigned char bytes[(JL_WEB_TOKEN_MAX - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return jl_fail(err, JL_E_IO, "no random numbers from the system: {%s}", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(web->token + 2 * i, 3, "%02x", bytes[i]);
	return JL_OK;
}

/* constant time */
static bool web_same_secret(const char *a, const char *b)
{
	volatile unsigned char differs = 0;
	const size_t n = strlen(b);

	for (size_t i = 0, k = 0; i <= n; i++) {
		differs |= (unsigned char)(a[k] ^ b[i]);
		k += a[k] != '\0';
	}
	return !differs && strlen(a) == n;
}

static bool is_address(const char *host)
{
	unsigned char ignored[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, ignored) == 1 || inet_pton(AF_INET6, host, ignored) == 1;
}

/* A site can make its name resolve to this machine, but not a numeric address or our own name. */
static bool web_host_fits(const struct jl_web *web, const char *text)
{
	char host[256];
	const char *end = text ? text + (text[0] == '[' ? strcspn(text, "]") + (strchr(text, ']') != NULL)
							: strcspn(text, ":"))
			       : NULL;
	const size_t len = end ? (size_t)(end - text) : 0;

	if (!end || len == 0 || len >= sizeof(host) || (*end && *end != ':'))
		return false;
	/* digits only: strtol accepts signs and blanks */
	if (*end && (!end[1] || end[1 + strspn(end + 1, "0123456789")] || strlen(end + 1) > 5 ||
		     strtol(end + 1, NULL, 10) > 65535 || strtol(end + 1, NULL, 10) == 0))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (host[0] == '[') {
		host[len - 1] = '\0';
		memmove(host, host + 1, len - 1);
	}
	if (strcasecmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0)
		return true;
	return web->guarded && (is_address(host) || (*web->host && strcasecmp(host, web->host) == 0));
}

static const char *header(struct jl_web_request *r, const char *name)
{
	return jl_mhd.lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

static bool knows_token(struct jl_web_request *r, bool *ret_enter)
{
	const char *cookie = jl_mhd.lookup_connection_value(r->connection, MHD_COOKIE_KIND, "jeoul");
	const char *bearer = header(r, "Authorization");
	const char *given = jl_mhd.lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "token");
	const char *token = r->web->token;

	if (cookie && web_same_secret(cookie, token))
		return true;
	if (bearer && strncmp(bearer, "Bearer ", 7) == 0 && web_same_secret(bearer + 7, token))
		return true;
	*ret_enter = !r->is_post && strcmp(r->path, "/") == 0 && given && web_same_secret(given, token);
	return *ret_enter;
}

/* Headers that a proxy might interpret differently (request smuggling): each may occur once. */
static const char *const once[] = { "Host",          "Content-Length", "Transfer-Encoding", "Origin", "Content-Type",
				    "Authorization", "Cookie",         "Sec-Fetch-Site" };
struct framing {
	int n[JL_LEN(once)];
	bool odd; /* an invalid header name, or a control character in a value */
};

static enum MHD_Result count_framing(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_len,
				     const char *value, size_t len)
{
	struct framing *f = ctx;

	(void)kind;
	for (size_t i = 0; i < name_len; i++)
		f->odd |= !isalnum((unsigned char)name[i]) && !(name[i] && strchr("!#$%&'*+-.^_`|~", name[i]));
	for (size_t i = 0; value && i < len; i++)
		f->odd |= ((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7f;
	for (size_t i = 0; i < JL_LEN(once); i++)
		f->n[i] += strcasecmp(name, once[i]) == 0;
	f->odd |= name_len == 0;
	return MHD_YES;
}

static bool is_ambiguous(struct jl_web_request *r)
{
	struct framing f = { 0 };

	(void)jl_mhd.get_connection_values_n(r->connection, MHD_HEADER_KIND, count_framing, &f);
	for (size_t i = 0; i < JL_LEN(once); i++)
		f.odd |= f.n[i] > 1;
	return f.odd || f.n[1] + f.n[2] > 1;
}

/* True for a request from another site's page; programs send neither header. */
static bool is_foreign(struct jl_web_request *r)
{
	const char *site = header(r, "Sec-Fetch-Site"), *origin = header(r, "Origin"), *host = header(r, "Host");
	const size_t scheme = !origin                                   ? 0
			      : strncasecmp(origin, "http://", 7) == 0  ? 7
			      : strncasecmp(origin, "https://", 8) == 0 ? 8
									: 0;

	return (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) ||
	       (origin && (!scheme || strcasecmp(origin + scheme, host) != 0));
}

static bool is_json(const char *type)
{
	const size_t n = sizeof("application/json") - 1;

	return strncasecmp(type, "application/json", n) == 0 && (!type[n] || strchr(" \t;", type[n]));
}

enum jl_web_refusal jl_web_door(struct jl_web_request *r, const char *method, bool *ret_enter)
{
	const char *type = header(r, "Content-Type"), *length = header(r, "Content-Length");

	*ret_enter = false;
	if (is_ambiguous(r))
		return JL_WEB_FRAMING;
	if (!web_host_fits(r->web, header(r, "Host")))
		return JL_WEB_HOST;
	if (!r->is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return JL_WEB_METHOD;
	if (r->web->guarded && strcmp(r->path, "/healthz") != 0 && !knows_token(r, ret_enter))
		return JL_WEB_TOKEN;
	if ((r->is_post || strncmp(r->path, "/api/", 5) == 0 || strcmp(r->path, "/metrics") == 0) && is_foreign(r))
		return JL_WEB_ORIGIN;
	if (r->is_post && (!type || !is_json(type)))
		return JL_WEB_TYPE;
	if (length && (strlen(length) > 12 || strtoull(length, NULL, 10) > JL_WEB_BODY_MAX_B))
		return JL_WEB_SIZE;
	return JL_N_WEB_REFUSAL;
}

void jl_web_log(struct jl_web *web, enum jl_web_refusal why)
{
	const long now_s = (long)time(NULL);
	long last_s = atomic_load(&web->counts.logged_s[why]);

	atomic_fetch_add(&web->counts.refused[why], 1);
	if (now_s - last_s >= LOG_EVERY_S && atomic_compare_exchange_strong(&web->counts.logged_s[why], &last_s, now_s))
		(void)fprintf(stderr, JL_("jeoul web: requests are refused: %s (%u); counted in /metrics\n"),
			      jl_web_refusals[why], jl_web_refusal_codes[why]);
}
