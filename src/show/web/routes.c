/* URLs: static files, the commands under /api/v1, health and metrics. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "catalog/find.h"
#include "catalog/schema.h"
#include "web/inside.h"
#include "program/convnet.h"

#define API     "/api/v1/"
#define SMALL_B ((size_t)1 << 20)
#define WORDS_B 80
#define LARGE_B ((size_t)64 << 10)

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
			     "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/* Response from static memory. */
static struct MHD_Response *from_static(size_t len, const void *data)
{
	return jl_mhd.create_response_from_buffer(len, (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result send_response(struct jl_web_request *r, unsigned code, const char *type,
				     struct MHD_Response *response)
{
	enum MHD_Result done;

	if (!response)
		return MHD_NO;
	(void)jl_mhd.add_response_header(response, "Content-Type", type);
	if (r->closes)
		(void)jl_mhd.add_response_header(response, "Connection", "close");
	(void)jl_mhd.add_response_header(response, "Content-Security-Policy", policy);
	(void)jl_mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
	(void)jl_mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
	(void)jl_mhd.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	(void)jl_mhd.add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
	done = jl_mhd.queue_response(r->connection, code, response);
	jl_mhd.destroy_response(response);
	return done;
}

/* Takes ownership of the buffer. */
static enum MHD_Result send_buf(struct jl_web_request *r, unsigned code, const char *type, struct jl_buf *text)
{
	struct MHD_Response *response;

	if (text->failed) {
		jl_buf_release(text);
		return MHD_NO;
	}
	response = jl_mhd.create_response_from_buffer_with_free_callback(text->len, text->data ? text->data : NULL,
									 jl_free);
	if (response)
		*text = (struct jl_buf){ 0 };
	else
		jl_buf_release(text);
	if (response)
		(void)jl_mhd.add_response_header(response, "Cache-Control", "no-store");
	return send_response(r, code, type, response);
}

static void put_error(struct jl_buf *out, const char *status, const char *text, const char *en)
{
	struct jl_json json;

	jl_json_init(&json, out, false);
	jl_json_pack(&json, "{error:{status:s text:s en:s}}", status, text, en);
	jl_json_finish(&json);
}

enum MHD_Result jl_web_refuse(struct jl_web_request *r, enum jl_web_refusal why)
{
	static const char *const en[JL_N_WEB_REFUSAL] = {
		[JL_WEB_HOST] = "this server is not known by that name: use its address, or localhost",
		[JL_WEB_TOKEN] = "the token is wrong or missing: open the address that 'jeoul web' printed",
		[JL_WEB_ORIGIN] = "a page of another site may not ask here",
		[JL_WEB_METHOD] = "GET for pages, POST with JSON for questions",
		[JL_WEB_TYPE] = "a question is JSON: Content-Type: application/json",
		[JL_WEB_SIZE] = "the request is larger than 8 MiB",
		[JL_WEB_SLOW] = "the request took too long to arrive",
		[JL_WEB_BUSY] = "too many questions are waiting; ask again in a moment",
		[JL_WEB_PATH] = "nothing is here; /api/v1/openapi.json lists what is",
		[JL_WEB_FRAMING] =
			"one Host, and one length or chunks: where this request ends can be read in two ways",
	};
	struct jl_buf text;

	jl_web_log(r->web, why);
	r->refused = true;
	r->closes = why == JL_WEB_FRAMING; /* the following bytes may belong to this request */
	jl_buf_init(&text, SMALL_B);
	put_error(&text, jl_web_refusals[why], en[why], en[why]);
	return send_buf(r, jl_web_refusal_codes[why], "application/json", &text);
}

/* Moves the token from the URL into a cookie that scripts and other sites cannot read. */
enum MHD_Result jl_web_enter(struct jl_web_request *r)
{
	struct MHD_Response *response = from_static(0, "");
	char cookie[160];

	if (!response)
		return MHD_NO;
	(void)snprintf(cookie, sizeof(cookie), "jeoul=%s; HttpOnly; SameSite=Strict; Path=/", r->web->token);
	(void)jl_mhd.add_response_header(response, "Set-Cookie", cookie);
	(void)jl_mhd.add_response_header(response, "Location", "/");
	(void)jl_mhd.add_response_header(response, "Cache-Control", "no-store");
	return send_response(r, 303, "text/plain", response);
}

static enum MHD_Result send_asset(struct jl_web_request *r, const struct jl_web_asset *a)
{
	const char *takes = jl_mhd.lookup_connection_value(r->connection, MHD_HEADER_KIND, "Accept-Encoding"),
		   *has = jl_mhd.lookup_connection_value(r->connection, MHD_HEADER_KIND, "If-None-Match");
	const bool packed = takes && strstr(takes, "gzip"), same = has && strcmp(has, a->tag) == 0;
	struct MHD_Response *response = same ? from_static(0, "")
					     : from_static(packed ? a->packed_len : a->plain_len,
							   packed ? a->packed : a->plain);

	if (!response)
		return MHD_NO;
	if (packed && !same)
		(void)jl_mhd.add_response_header(response, "Content-Encoding", "gzip");
	(void)jl_mhd.add_response_header(response, "Vary", "Accept-Encoding");
	(void)jl_mhd.add_response_header(response, "Cache-Control", "no-cache");
	(void)jl_mhd.add_response_header(response, "ETag", a->tag);
	atomic_fetch_add(&r->web->counts.pages, 1);
	return send_response(r, same ? 304 : 200, a->type, response);
}

static enum MHD_Result healthz(struct jl_web_request *r)
{
	return send_response(r, 200, "text/plain", from_static(3, "ok\n"));
}

static void make_openapi(struct jl_web_request *r, struct jl_buf *out)
{
	jl_ask_openapi(out, r->web->options.front, r->web->options.version);
}

/* [["rtx-3090", "GeForce RTX 3090"], ...]: suggestions for a field of the page. */
static void names_of(struct jl_json *json, const struct jl_catalog *cat, enum jl_catalog_kind kind)
{
	const struct jl_schema *schema = jl_schema_of(kind);
	const size_t name = jl_schema_field(schema, "name");
	size_t n;
	const char *list = jl_catalog_list(cat, kind, &n);

	for (size_t i = 0; i < n; i++)
		jl_json_pack(json, "[s s]", jl_record_id(schema, list + i * schema->size_B),
			     *(const char *const *)jl_field_at(&schema->fields[name], list + i * schema->size_B));
}

static void names_json(struct jl_json *json, const struct jl_catalog *cat)
{
	struct jl_convnet_list nets = { 0 };
	struct jl_arena arena;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_json_pack(json, "models:[");
	names_of(json, cat, JL_R_MODEL);
	if (jl_convnets(&nets, cat, &arena, NULL) == JL_OK)
		for (size_t i = 0; i < nets.n_nets; i++)
			jl_json_pack(json, "[s s]", nets.nets[i].id, nets.nets[i].name);
	jl_json_pack(json, "] gpus:[");
	names_of(json, cat, JL_R_GPU);
	jl_json_pack(json, "] systems:[");
	names_of(json, cat, JL_R_SYSTEM);
	jl_json_pack(json, "] links:[");
	for (const struct jl_link_info *l = cat->links; l < cat->links + cat->n_links; l++)
		if (l->role == JL_ROLE_JOIN || l->role == JL_ROLE_NETWORK)
			jl_json_pack(json, "[s s s]", l->id, l->name, l->role == JL_ROLE_JOIN ? "join" : "network");
	jl_json_pack(json, "]}");
	jl_arena_release(&arena);
}

static void make_hello(struct jl_buf *text, const struct jl_web_options *o)
{
	const struct jl_rule *won = jl_rule_by_id(o->cat, "krw-per-usd");
	struct jl_json json;

	jl_buf_init(text, SMALL_B);
	jl_json_init(&json, text, false);
	jl_json_pack(&json, "{version:s lang:s krw_per_usd:f krw_per_usd_date:s", o->version, jl_lang()->code,
		     jl_figure(o->cat, "krw-per-usd"), won ? won->date : NULL);
	names_json(&json, o->cat);
	jl_json_finish(&json);
}

bool jl_web_prepare(struct jl_web *web)
{
	bool made;

	(void)pthread_mutex_lock(&web->hello_lock);
	if (web->hello.failed)
		jl_buf_release(&web->hello);
	if (web->hello.len == 0)
		make_hello(&web->hello, &web->options);
	made = !web->hello.failed;
	(void)pthread_mutex_unlock(&web->hello_lock);
	return made;
}

/* Initial data of the page. */
static void give_hello(struct jl_web_request *r, struct jl_buf *out)
{
	struct jl_web *web = r->web;

	if (jl_web_prepare(web))
		jl_buf_add(out, web->hello.data, web->hello.len);
	else
		out->failed = JL_E_NOMEM;
}

/* Dynamic pages. The event stream ends after one event: EventSource reconnects after a second, and no connection is held. */
static const struct {
	const char *path, *type;
	void (*make)(struct jl_web_request *r, struct jl_buf *out);
	enum jl_web_speed speed;
} pages[] = { { "/metrics", "text/plain; version=0.0.4; charset=utf-8", jl_web_metrics, JL_WEB_LARGE },
	      { API "openapi.json", "application/json", make_openapi, JL_WEB_QUICK },
	      { API "hello", "application/json", give_hello, JL_WEB_QUICK },
	      { API "live", "text/event-stream", jl_web_live, JL_WEB_QUICK } };

/* "/api/v1/catalog/show": the row of "catalog show". */
static bool find_command(struct jl_web_request *r)
{
	const struct jl_askable *askable = r->web->options.front->askable;
	const struct jl_command *command;
	char words[WORDS_B];

	if (strncmp(r->path, API, strlen(API)) != 0 || strlen(r->path + strlen(API)) >= sizeof(words))
		return false;
	(void)snprintf(words, sizeof(words), "%s", r->path + strlen(API));
	for (char *at = words; (at = strchr(at, '/'));)
		*at = ' ';
	const struct jl_askable *found = jl_ask_find(r->web->options.front, words, &command);

	if (!found || found - askable >= JL_WEB_COMMANDS_MAX)
		return false;
	r->command = found->command;
	r->row = (size_t)(found - askable);
	return true;
}

/* Commands known to be slow. */
static bool is_long(const char *command)
{
	return strcmp(command, "plan") == 0 || strcmp(command, "report") == 0 || strcmp(command, "validate") == 0;
}

static enum MHD_Result send_answer(struct jl_web_request *r)
{
	struct jl_answer *a = &r->answer;
	enum MHD_Result done;

	if (a->code == 1 || a->code == 2) {
		jl_buf_reset(&a->out);
		put_error(&a->out, a->code == 2 ? "usage" : "failed", a->err.text, a->err.en);
		done = send_buf(r, a->code == 2 ? 400 : 422, "application/json", &a->out);
	} else {
		static const char *const types[] = { "application/json", "text/html; charset=utf-8",
						     "text/plain; charset=utf-8" };

		done = send_buf(r, 200, types[a->form], &a->out);
	}
	return done;
}

static enum MHD_Result put_job(struct jl_web_request *r)
{
	return jl_web_jobs_put(r->web->jobs, r) ? MHD_YES : jl_web_refuse(r, JL_WEB_BUSY);
}

static enum MHD_Result route_page(struct jl_web_request *r)
{
	if (strcmp(r->path, "/healthz") == 0)
		return healthz(r);
	for (size_t i = 0; i < JL_LEN(pages); i++)
		if (strcmp(pages[i].path, r->path) == 0) {
			r->make = pages[i].make;
			r->type = pages[i].type;
			r->speed = pages[i].speed;
			return put_job(r);
		}
	for (const struct jl_web_asset *a = jl_web_assets; a->path; a++)
		if (strcmp(a->path, strcmp(r->path, "/") == 0 ? "/index.html" : r->path) == 0)
			return send_asset(r, a);
	return jl_web_refuse(r, find_command(r) ? JL_WEB_METHOD : JL_WEB_PATH);
}

enum MHD_Result jl_web_route(struct jl_web_request *r)
{
	if (r->dropped)
		return MHD_NO;
	if (r->busy)
		return jl_web_refuse(r, JL_WEB_BUSY);
	if (r->answered)
		return r->type ? send_buf(r, 200, r->type, &r->answer.out) : send_answer(r);
	if (!r->is_post)
		return route_page(r);
	if (!find_command(r))
		return jl_web_refuse(r, JL_WEB_PATH);
	if (jl_web_recall(r))
		return send_answer(r);
	r->speed = is_long(r->command) ? JL_WEB_LONG : r->body.len > LARGE_B ? JL_WEB_LARGE : JL_WEB_QUICK;
	return put_job(r);
}
