/* Prometheus metrics: activity of the server, and verdicts of the last benchmarks. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_read.h"
#include "web/inside.h"

#define CHECKED_S 5

static void label(struct jl_buf *out, const char *name, const char *text, bool last)
{
	jl_buf_printf(out, "%s=", name);
	jl_json_escape(out, text ? text : ""); /* the same escapes as in JSON */
	if (!last)
		jl_buf_putc(out, ',');
}

static void head(struct jl_buf *out, const char *name, const char *type, const char *help)
{
	jl_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void requests(struct jl_web *web, struct jl_buf *out)
{
	static const char *const became[] = { "started", "stopped", "died" };
	static const char *const codes[4] = { "ok", "failed", "usage", "bad" };

	head(out, "jeoul_requests_total", "counter", "Questions answered, by command and by how it ended.");
	for (size_t i = 0; i < JL_WEB_COMMANDS_MAX && web->options.front->askable[i].command; i++)
		for (size_t k = 0; k < 4; k++) {
			const unsigned long long n = atomic_load(&web->counts.answered[i][k]);

			if (n)
				jl_buf_printf(out, "jeoul_requests_total{command=\"%s\",end=\"%s\"} %llu\n",
					      web->options.front->askable[i].command, codes[k], n);
		}
	head(out, "jeoul_request_seconds_total", "counter", "Time spent on them.");
	jl_buf_printf(out, "jeoul_request_seconds_total %.6f\n", 1e-6 * (double)atomic_load(&web->counts.answered_us));
	head(out, "jeoul_refused_total", "counter", "Requests sent away at the door, by reason.");
	for (size_t i = 0; i < JL_N_WEB_REFUSAL; i++)
		jl_buf_printf(out, "jeoul_refused_total{why=\"%s\"} %llu\n", jl_web_refusals[i],
			      (unsigned long long)atomic_load(&web->counts.refused[i]));
	head(out, "jeoul_processes_total", "counter", "Processes that answer, by what became of them.");
	for (size_t i = 0; i < JL_N_WEB_WORKER_END; i++)
		jl_buf_printf(out, "jeoul_processes_total{what=\"%s\"} %llu\n", became[i],
			      (unsigned long long)atomic_load(&web->counts.workers[i]));
	head(out, "jeoul_pages_total", "counter", "Files of the page sent.");
	jl_buf_printf(out, "jeoul_pages_total %llu\n", (unsigned long long)atomic_load(&web->counts.pages));
	head(out, "jeoul_up_seconds", "gauge", "Since this server started.");
	jl_buf_printf(out, "jeoul_up_seconds %.0f\n", jl_clock_s() - web->begin_s);
}

static void line(struct jl_buf *out, const char *name, const json_t *judged, const char *last, double value)
{
	const char *const keys[] = { "kind", "what", last };

	jl_buf_printf(out, "%s{", name);
	for (size_t i = 0; i < JL_LEN(keys); i++)
		label(out, keys[i], json_string_value(json_object_get(judged, keys[i])), keys[i] == last);
	jl_buf_printf(out, "} %.9g\n", value);
}

static void gauge(struct jl_buf *out, const char *name, const json_t *judged, const char *key)
{
	const json_t *value = json_object_get(judged, key);

	if (!json_is_number(value))
		return;
	line(out, name, judged, "metric", json_number_value(value));
}

static void verdicts(struct jl_buf *out, const json_t *list)
{
	static const struct {
		const char *name, *key, *help;
	} rows[] = { { "jeoul_measured", "value", "Last measured figure of this machine, SI units." },
		     { "jeoul_expected", "expected", "What is expected of it." },
		     { "jeoul_expected_low", "expected_lo", "Lower end of that." },
		     { "jeoul_expected_high", "expected_hi", "Upper end of that." },
		     { "jeoul_measured_age_seconds", "age_s", "How long ago it was measured." } };
	size_t i;
	json_t *judged;

	for (size_t k = 0; k < JL_LEN(rows); k++) {
		head(out, rows[k].name, "gauge", rows[k].help);
		json_array_foreach(list, i, judged)
		{
			gauge(out, rows[k].name, judged, rows[k].key);
		}
	}
	head(out, "jeoul_verdict", "gauge", "1 for the verdict that each figure has.");
	json_array_foreach(list, i, judged)
	{
		line(out, "jeoul_verdict", judged, "verdict", 1);
	}
}

/* Finds the list of verdicts in the answer of `check`. */
static const json_t *judged_of(const json_t *root)
{
	const char *key;
	json_t *value;

	if (json_is_object(root))
		json_object_foreach((json_t *)root, key,
				    value) if (json_is_array(value) &&
					       json_object_get(json_array_get(value, 0), "verdict")) return value;
	return NULL;
}

/* Cached for some seconds, however often it is scraped. */
static struct {
	pthread_mutex_t lock;
	double asked_s;
	struct jl_buf text;
} checked = { .lock = PTHREAD_MUTEX_INITIALIZER, .text = { .limit_B = JL_WEB_PAGE_MAX_B } };

static void ask_check(struct jl_web_request *r, struct jl_buf *out)
{
	const struct jl_askable *all = r->web->options.front->askable, *a = all;
	struct jl_web_request question = { .web = r->web, .fd = r->fd, .workers = r->workers };
	json_t *root = NULL;

	while (a->command && strcmp(a->command, "check") != 0)
		a++;
	jl_buf_init(&question.body, 8);
	jl_buf_puts(&question.body, "{}");
	question.row = (size_t)(a - all);
	jl_web_workers_ask(r->web->workers, &question, 2,
			   0); /* scrapes have a timeout: better without verdicts than late */
	if (question.answer.code == 0 || question.answer.code == 3)
		root = jl_json_load(jl_buf_text(&question.answer.out), question.answer.out.len, 0, NULL);
	head(out, "jeoul_checked", "gauge", "Whether this machine has stored results to judge.");
	jl_buf_printf(out, "jeoul_checked %d\n", judged_of(root) != NULL);
	if (judged_of(root))
		verdicts(out, judged_of(root));
	json_decref(root);
	jl_answer_release(&question.answer);
	jl_buf_release(&question.body);
}

void jl_web_metrics(struct jl_web_request *r, struct jl_buf *out)
{
	requests(r->web, out);
	if (pthread_mutex_trylock(&checked.lock) != 0) /* another scrape is computing it */
		return;
	if (checked.text.len == 0 || jl_clock_s() - checked.asked_s > CHECKED_S) {
		jl_buf_reset(&checked.text);
		ask_check(r, &checked.text);
		checked.asked_s = jl_clock_s();
	}
	jl_buf_add(out, jl_buf_text(&checked.text), checked.text.len);
	pthread_mutex_unlock(&checked.lock);
}
