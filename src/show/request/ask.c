/* Answers JSON requests by running commands in this process. */
#include "request/ask.h"

#include <string.h>

#include "request/cache.h"
#include "base/json_read.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/offered.h"
#include "document/escape.h"

#define ARGS_MAX (JL_GIVEN_MAX + JL_OPERANDS_MAX + 2)

/* A request converted to command-line arguments. */
struct typed {
	struct jl_cli *cli;
	const struct jl_askable *askable;
	char *options[JL_GIVEN_MAX], *operands[JL_OPERANDS_MAX];
	size_t n_options, n_operands;
	struct jl_offered files[JL_ASK_FILES_MAX + 1];
};

const struct jl_askable *jl_ask_find(const struct jl_front *front, const char *name,
				     const struct jl_command **ret_command)
{
	const struct jl_askable *a = front->askable;
	const struct jl_command *c = front->commands;

	while (c->name && !jl_command_is(c, name))
		c++;
	while (c->name && a->command && strcmp(a->command, c->name) != 0)
		a++;
	if (!c->name || !a->command)
		return NULL;
	*ret_command = c;
	return a;
}

/* False for options that concern the terminal. */
bool jl_ask_option(const struct jl_option *option)
{
	static const char *const terminal[] = { "json", "no-color", "help" };

	for (size_t i = 0; i < JL_LEN(terminal); i++)
		if (strcmp(option->name, terminal[i]) == 0)
			return false;
	return true;
}

static bool is_called(const char *name, const char *key)
{
	for (; *name && (*name == *key || (*name == '-' && *key == '_')); name++, key++)
		;
	return *name == *key;
}

static const struct jl_option *find_option(const struct jl_command *command, const char *key)
{
	const struct jl_option *tables[2] = { command->options, jl_global_options };

	for (size_t t = 0; t < 2; t++)
		for (const struct jl_option *o = tables[t]; o && o->name; o++)
			if (is_called(o->name, key) && jl_ask_option(o))
				return o;
	return NULL;
}

/* A JSON value as command-line text; NULL: invalid, see err. */
static const char *value_text(struct typed *t, const char *key, const json_t *value, struct jl_err *err)
{
	const char *text = NULL;

	if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
		return json_string_value(value);
	if (json_is_integer(value))
		text = jl_arena_printf(&t->cli->arena, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		text = jl_arena_strdup(&t->cli->arena, jl_num_text(JL_TXT, json_real_value(value)));
	else
		(void)jl_fail(err, JL_E_USAGE, "\"%s\": text or a number is required", key);
	if (!text && !json_is_boolean(value) && json_is_number(value))
		(void)jl_fail_nomem(err);
	return text;
}

static enum jl_status add_option(struct typed *t, const struct jl_option *option, const char *key, const json_t *value,
				 struct jl_err *err)
{
	const char *text = "";
	char *arg;

	if (option->local)
		return jl_fail(err, JL_E_USAGE,
			       "\"%s\" refers to files and servers of this machine: not allowed in a request", key);
	if (t->n_options == JL_GIVEN_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d options", JL_GIVEN_MAX);
	if (option->type == JL_OPT_FLAG) {
		if (!json_is_boolean(value))
			return jl_fail(err, JL_E_USAGE, "\"%s\": true or false is required", key);
		if (json_is_false(value))
			return JL_OK;
	} else if (!(text = value_text(t, key, value, err))) {
		return err->status;
	}
	arg = jl_arena_printf(&t->cli->arena, option->type == JL_OPT_FLAG ? "--%s%s" : "--%s=%s", option->name, text);
	JL_TRY(jl_got(arg, err));
	t->options[t->n_options++] = arg;
	return JL_OK;
}

static enum jl_status add_operand(struct typed *t, const char *key, const json_t *value, struct jl_err *err)
{
	const char *text = value_text(t, key, value, err);

	if (!text)
		return err->status;
	if (t->n_operands == JL_OPERANDS_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d arguments", JL_OPERANDS_MAX);
	/* parsed after "--", so that a leading dash is not an option */
	return (t->operands[t->n_operands++] = jl_arena_strdup(&t->cli->arena, text)) ? JL_OK : jl_fail_nomem(err);
}

static enum jl_status add_file(struct typed *t, const char *name, const json_t *text, struct jl_err *err)
{
	size_t n = 0;

	while (t->files[n].name)
		n++;
	if (n == JL_ASK_FILES_MAX)
		return jl_fail(err, JL_E_LIMIT, "\"files\": more than %d", JL_ASK_FILES_MAX);
	t->files[n] = (struct jl_offered){ name, json_string_value(text), json_string_length(text) };
	return JL_OK;
}

static enum jl_status add_files(struct typed *t, const json_t *files, const char *const *paths, struct jl_err *err)
{
	const char *name;
	json_t *text;

	if (files && !json_is_object(files))
		return jl_fail(err, JL_E_USAGE, "\"files\": an object of names and texts is required");
	json_object_foreach((json_t *)files, name, text)
	{
		if (!json_is_string(text))
			return jl_fail(err, JL_E_USAGE, "\"files\": the text of '%.80s' is required", name);
		JL_TRY(add_file(t, name, text, err));
	}
	for (; paths && *paths; paths++)
		JL_TRY(add_file(t, *paths, NULL, err));
	return JL_OK;
}

static enum jl_status unknown_key(const struct typed *t, const char *key, struct jl_err *err)
{
	const struct jl_command *command = t->cli->command;
	const char *names[160] = { "as", "files", "command" };
	size_t n = 3;
	const struct jl_option *tables[2] = { command->options, jl_global_options };
	const char *nearest;

	if (t->askable->operands)
		names[n++] = t->askable->operands;
	for (size_t i = 0; i < 2; i++)
		for (const struct jl_option *o = tables[i]; o && o->name && n < 160; o++)
			if (jl_ask_option(o))
				names[n++] = o->name;
	nearest = jl_nearest_name(key, names, n);
	if (nearest)
		return jl_fail(err, JL_E_USAGE, "\"%.80s\" is not a key of '%s'; did you mean \"%s\"?", key,
			       command->name, nearest);
	return jl_fail(err, JL_E_USAGE, "\"%.80s\" is not a key of '%s'; 'jeoul help %s' lists the options", key,
		       command->name, command->name);
}

static enum jl_status add_key(struct typed *t, const char *key, const json_t *value, struct jl_err *err)
{
	const struct jl_command *command = t->cli->command;
	const struct jl_option *option = find_option(command, key);
	const bool operand = t->askable->operands && strcmp(t->askable->operands, key) == 0;
	enum jl_status status = JL_OK;

	if (json_is_null(value) || strcmp(key, "command") == 0 || strcmp(key, "files") == 0 || strcmp(key, "as") == 0)
		return JL_OK;
	if (!operand && !option)
		return unknown_key(t, key, err);
	if (json_is_array(value) && (operand || option->many)) {
		for (size_t i = 0; !status && i < json_array_size(value); i++)
			status = operand ? add_operand(t, key, json_array_get(value, i), err)
					 : add_option(t, option, key, json_array_get(value, i), err);
		return status;
	}
	return operand ? add_operand(t, key, value, err) : add_option(t, option, key, value, err);
}

static enum jl_status read_form(struct jl_cli *cli, const json_t *root, struct jl_err *err)
{
	const json_t *as = json_object_get(root, "as");
	const char *form = as ? json_string_value(as) : "json";

	cli->json = form && strcmp(form, "json") == 0;
	cli->page = form && strcmp(form, "html") == 0;
	return cli->json || cli->page || (form && strcmp(form, "text") == 0)
		       ? JL_OK
		       : jl_fail(err, JL_E_USAGE, "\"as\": \"json\", \"html\" or \"text\" is required");
}

static enum jl_status find_named(struct typed *t, const struct jl_front *front, const char *name, const json_t *root,
				 struct jl_err *err)
{
	const char *names[64], *nearest;
	size_t n = 0;

	if (!name)
		name = json_string_value(json_object_get(root, "command"));
	if (!name)
		return jl_fail(err, JL_E_USAGE, "\"command\" is missing, e.g. {\"command\": \"predict\"}");
	t->askable = jl_ask_find(front, name, &t->cli->command);
	if (t->askable)
		return JL_OK;
	for (const struct jl_askable *a = front->askable; a->command && n < 64; a++)
		names[n++] = a->command;
	nearest = jl_nearest_name(name, names, n);
	return jl_fail(err, JL_E_USAGE,
		       nearest ? JL_N("'%.80s' cannot be asked; did you mean '%s'?")
			       : JL_N("'%.80s' cannot be asked; '%s' can, for example"),
		       name, nearest ? nearest : names[0]);
}

void jl_ask_page(struct jl_cli *cli)
{
	const size_t begin = cli->page_end;
	char *text;

	if (!cli->page || cli->out.failed || cli->out.len == begin)
		return;
	text = jl_arena_strndup(&cli->arena, cli->out.data + begin, cli->out.len - begin);
	if (!text) {
		cli->out.failed = JL_E_NOMEM;
		return;
	}
	cli->out.len = begin;
	jl_buf_puts(&cli->out, "<pre>");
	jl_html_escape(&cli->out, text);
	jl_buf_puts(&cli->out, "</pre>\n");
	cli->page_end = cli->out.len;
}

static enum jl_status parse(struct typed *t, struct jl_err *err)
{
	char *args[ARGS_MAX];
	size_t n = 0;
	static char behind[] = "--";

	memcpy(args, t->options, t->n_options * sizeof(*args));
	n += t->n_options;
	args[n++] = behind;
	memcpy(args + n, t->operands, t->n_operands * sizeof(*args));
	n += t->n_operands;
	return jl_args_parse(&t->cli->args, t->cli->command, (int)n, args, err);
}

static enum jl_status answer(struct typed *t, const struct jl_ask *ask, const char *command, const json_t *root,
			     struct jl_err *err)
{
	struct jl_cli *cli = t->cli;
	const json_t *files = json_object_get(root, "files"), *lang = json_object_get(root, "lang");
	const char *key;
	json_t *value;
	enum jl_status status;

	if (json_is_string(lang) && jl_lang_find(json_string_value(lang))) /* errors are in this language too */
		jl_lang_set(jl_lang_find(json_string_value(lang)));
	status = find_named(t, ask->front, command, root, err);
	JL_THEN(status, read_form(cli, root, err));
	JL_THEN(status, add_files(t, files, ask->paths, err));
	if (!status)
		json_object_foreach((json_t *)root, key, value)
		{
			status = add_key(t, key, value, err);
			if (status)
				break;
		}
	JL_THEN(status, parse(t, err));
	JL_THEN(status, ask->front->prepare(cli, err));
	JL_THEN(status, cli->command->run(cli, err));
	jl_ask_page(cli);
	if (!status && cli->out.failed)
		status = cli->out.failed == JL_E_LIMIT ? jl_fail(err, JL_E_LIMIT, "the answer is too large")
						       : jl_fail_nomem(err);
	return status;
}

static json_t *read_request(const char *request, size_t len, struct jl_err *err)
{
	json_error_t why;
	json_t *root;

	if (len > JL_ASK_REQUEST_MAX_B) {
		(void)jl_fail(err, JL_E_LIMIT, "the request is larger than %zu MiB", JL_ASK_REQUEST_MAX_B >> 20);
		return NULL;
	}
	root = jl_json_load(request, len, JSON_REJECT_DUPLICATES, &why);
	if (json_is_object(root))
		return root;
	if (root)
		(void)jl_fail(err, JL_E_USAGE, "the request is not a JSON object: {\"command\": \"predict\", ...}");
	else
		(void)jl_fail(err, JL_E_USAGE, "the request is not JSON: line %d, column %d: %s", why.line, why.column,
			      why.text);
	json_decref(root);
	return NULL;
}

/* Usage errors are the requester's fault. */
static int code_of(const struct jl_err *err)
{
	return jl_err_is_usage(err) ? 2 : 1;
}

/* True if the answer depends on the catalog only, so that it may be cached. */
static bool is_lasting(const struct typed *t, const char *request, size_t len)
{
	const struct jl_cli *cli = t->cli;

	return t->askable && !t->askable->here && !cli->cut && !cli->warn.len && !memmem(request, len, "this", 4) &&
	       !memchr(request, '\\', len); /* an escape sequence could hide `this` */
}

static void work(struct jl_answer *ret_answer, const struct jl_ask *ask, const struct jl_ask_key *key)
{
	struct jl_err *err = &ret_answer->err;
	struct typed *t = jl_realloc(NULL, sizeof(*t));
	struct jl_cli *cli = jl_realloc(NULL, sizeof(*cli));
	struct jl_budget budget;
	json_t *root = NULL;
	enum jl_status status;

	if (!t || !cli) {
		(void)jl_fail_nomem(err);
		goto out;
	}
	memset(t, 0, sizeof(*t));
	*cli = (struct jl_cli){ .asked = true,
				.width = 80,
				.today = ask->today,
				.cat = ask->cat,
				.out = ret_answer->out,
				.warn = ret_answer->warn };
	t->cli = cli;
	jl_arena_init(&cli->arena, JL_ARENA_LIMIT_B);
	const struct jl_offered *before = jl_offer(t->files);

	jl_budget_init(&budget, ask->steps_max, ask->limit_s);
	budget.bytes_max = ask->bytes_max;
	budget.cancelled = ask->cancelled;
	budget.ctx = ask->cancelled_ctx;
	struct jl_budget *const outer = jl_budget_enter(&budget);

	root = read_request(key->request, key->len, err);
	status = root ? answer(t, ask, key->command, root, err) : err->status;
	ret_answer->end = (enum jl_budget_end)atomic_load(&budget.end);
	if (ret_answer->end) /* the output is truncated */
		status = jl_budget_fail(err);
	(void)jl_budget_enter(outer);
	if (status)
		err->status = status;
	else
		*err = (struct jl_err){ 0 }; /* errors of failed attempts do not matter */
	(void)jl_offer(before);
	ret_answer->code = status ? code_of(err) : cli->exit_code;
	ret_answer->command = cli->command;
	ret_answer->out = cli->out;
	ret_answer->warn = cli->warn;
	ret_answer->form = cli->json ? JL_FORM_JSON : cli->page ? JL_FORM_PAGE : JL_FORM_TEXT;
	ret_answer->lasting = !status && is_lasting(t, key->request, key->len);
	jl_arena_release(&cli->arena);
out:
	json_decref(root);
	jl_free(t);
	jl_free(cli);
}

static struct jl_ask_key key_of(const struct jl_ask *ask, const char *command, const char *request, size_t len)
{
	return (struct jl_ask_key){
		.command = command, .request = request, .len = len, .today = ask->today, .lang = jl_lang()
	};
}

bool jl_ask_recall(struct jl_answer *ret_answer, const struct jl_ask *ask, const char *command, const char *request,
		   size_t len)
{
	const struct jl_ask_key key = key_of(ask, command, request, len);

	int code = 0;

	*ret_answer = (struct jl_answer){ .code = 1 };
	jl_buf_init(&ret_answer->out, JL_ASK_ANSWER_MAX_B);
	jl_buf_init(&ret_answer->warn, JL_ASK_ANSWER_MAX_B);
	if (!ask->cache || !jl_ask_cache_get(ask->cache, &key, &code, &ret_answer->out))
		return false;
	ret_answer->code = code & 3;
	ret_answer->form = (enum jl_form)(code >> 2);
	return true;
}

void jl_ask_keep(const struct jl_answer *answer_, const struct jl_ask *ask, const char *command, const char *request,
		 size_t len)
{
	const struct jl_ask_key key = key_of(ask, command, request, len);

	if (ask->cache && answer_->lasting)
		jl_ask_cache_put(ask->cache, &key, answer_->code | (int)answer_->form << 2, &answer_->out);
}

void jl_ask(struct jl_answer *ret_answer, const struct jl_ask *ask, const char *command, const char *request,
	    size_t len)
{
	const struct jl_ask_key key = key_of(ask, command, request, len);
	const struct jl_language *reader = jl_lang_set(NULL);

	(void)jl_lang_set(reader);
	if (jl_ask_recall(ret_answer, ask, command, request, len))
		return;
	work(ret_answer, ask, &key);
	jl_ask_keep(ret_answer, ask, command, request, len);
	(void)jl_lang_set(reader);
}

void jl_answer_release(struct jl_answer *answer_)
{
	jl_buf_release(&answer_->out);
	jl_buf_release(&answer_->warn);
}
