/* jeoul serve: a language model that serves requests on a system under a load. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "catalog/find.h"
#include "catalog/names.h"
#include "cli/ask.h"
#include "cli/view.h"
#include "predict/kind.h"
#include "serve/infer.h"

#define TOKENS_MAX  10000000
#define TRACE_MAX_B ((size_t)512 << 20)
#define DAY_MAX_B   ((size_t)1 << 20)
#define SPREAD_LN   0.3 /* spread of lengths: half of them within 20 % of the nominal length */
#define USD_PER_KWH 0.12
#define USUAL_INPUT 512 /* tokens of a sequence that is embedded */
#define PUE         1.2

static const char *const routes[] = { "random", "least", NULL };

/* clang-format off */
const struct jl_option jl_serve_options[] = {
	JL_O_TEXT("on", "SYSTEM", JL_N("system that serves, e.g. dgx-h100 or \"4x h100-sxm5\""), JL_TO(jl_request, system)),
	JL_O_COUNT("concurrency", "N", 1, 100000, JL_N("concurrent requests; each is followed by the next (default: 32)"), JL_TO(jl_infer_ask, concurrency)),
	JL_O_TEXT("rate", "N/s", JL_N("requests that arrive per second, at random: 20/s")),
	JL_O_COUNT("users", "N", 1, 100000, JL_N("users who ask, read the answer and ask again"), JL_TO(jl_infer_ask, users)),
	JL_O_AMOUNT("think", "TIME", JL_K_TIME, JL_N("with --users: time between an answer and the next question (default: 20 s)"), JL_TO(jl_infer_ask, think_s), .with = "users"),
	JL_O_COUNT("turns", "N", 2, 1000, JL_N("turns of an agent or chat session: each sends everything before it; --concurrency counts sessions"), JL_TO_INT(jl_infer_ask, turns)),
	JL_O_COUNT("turn-tokens", "TOKENS", 1, TOKENS_MAX, JL_N("new tokens of each further turn, of the user or a tool (default: 500)"), JL_TO(jl_infer_ask, turn_tokens), .with = "turns"),
	JL_O_AMOUNT("tool-wait", "TIME", JL_K_TIME, JL_N("time between an answer and the next turn (default: 5 s)"), JL_TO(jl_infer_ask, wait_s), .with = "turns", JL_WITHIN(0, 86400, JL_N("must be 0 to a day, e.g. 5 s"))),
	JL_O_COUNT("requests", "N", 1, 1000000, JL_N("a job of N requests, all waiting at the start; it ends with the last answer"), JL_TO(jl_infer_ask, n_job)),
	JL_O_TEXT("trace", "FILE", JL_N("requests of a file: CSV or JSON lines with arrival_s, input_tokens, output_tokens")),
	JL_O_COUNT("burst", "N", 1, 10000, JL_N("with --rate: requests that arrive together (default: 1)"), JL_TO(jl_infer_ask, burst)),
	JL_O_COUNT("prompt", "TOKENS", 1, TOKENS_MAX, JL_N("tokens of a question (default: 1024)"), JL_TO(jl_infer_ask, prompt)),
	JL_O_COUNT("input", "TOKENS", 1, TOKENS_MAX, JL_N("models that embed or rank: tokens of a sequence (default: 512)"), JL_TO(jl_infer_ask, prompt), .apart = "prompt"),
	JL_O_COUNT("answer", "TOKENS", 1, TOKENS_MAX, JL_N("tokens of an answer (default: 256)"), JL_TO(jl_infer_ask, answer)),
	JL_O_COUNT("answer-most", "TOKENS", 1, TOKENS_MAX, JL_N("longest answer: each ends at any token with the same chance, after --answer in the mean (default: lengths about --answer)"), JL_TO(jl_infer_ask, answer_most)),
	JL_O_AMOUNT("cached", "SHARE", JL_K_FRACTION, JL_N("share of a prompt that the prefix cache holds: 30%"), JL_TO(jl_infer_ask, cached_frac), JL_WITHIN(0, 0.999, JL_N("must be a share, e.g. 30%"))),
	JL_O_COUNT("draft", "N", 0, 16, JL_N("speculative decoding: tokens drafted for each pass"), JL_TO_INT(jl_infer_ask, n_draft)),
	JL_O_AMOUNT("accept", "SHARE", JL_K_FRACTION, JL_N("speculative decoding: drafted tokens that are right (default: 70%)"), JL_TO(jl_infer_ask, accept_frac), .with = "draft", JL_WITHIN(0, 1, JL_N("must be a share, e.g. 30%"))),
	JL_O_TEXT("draft-model", "MODEL|eagle|mtp", JL_N("draft model: a smaller model, or a layer of the model itself (default: at no cost)"), JL_TO(jl_infer_ask, draft), .with = "draft"),
	JL_O_COUNT("adapters", "N", 0, 10000, JL_N("LoRA adapters loaded on the GPUs and served together, with requests spread evenly"), JL_TO_INT(jl_infer_ask, n_adapters)),
	JL_O_COUNT("adapter-rank", "R", 1, 512, JL_N("their rank: 8, 16, 32, 64, 128, 256, 320 or 512 (default: 16)"), JL_TO_INT(jl_infer_ask, adapter_rank), .with = "adapters"),
	JL_O_TEXT("engine", "vllm|sglang|trtllm|llama.cpp", JL_N("serving engine, with its version if not the current one, e.g. \"vllm 0.6\" (default: no particular one)")),
	JL_O_TEXT("weights", "FORMAT", JL_N("format of the weights: bf16, fp8, nvfp4, int8, int4, awq, q4_k_m ... (default: as the model is published)"), JL_TO(jl_infer_ask, weights)),
	JL_O_TEXT("kv", "FORMAT", JL_N("format of keys and values: bf16, fp8 (default: 16 bit)"), JL_TO(jl_infer_ask, kv)),
	JL_O_COUNT("gpus", "N", 1, 1024, JL_N("GPUs that share one copy of the model (default: as requests are answered soonest)"), JL_TO_INT(jl_infer_ask, n_gpus)),
	JL_O_COUNT("copies", "N", 1, 1024, JL_N("copies of the model (default: as many as the system holds)"), JL_TO_INT(jl_infer_ask, n_copies)),
	JL_O_CHOICE("route", "random|least", routes, JL_N("where a request goes: any copy, or the one with the fewest requests (default: random)"), JL_TO(jl_infer_ask, least_busy)),
	JL_O_COUNT("pp", "N", 1, 64, JL_N("stages that hold different layers of a copy; --gpus share each (default: 1)"), JL_TO_INT(jl_infer_ask, n_stages)),
	JL_O_COUNT("ep", "N", 1, 1024, JL_N("GPUs of a copy that share the experts whole (default: each has a piece of every one)"), JL_TO_INT(jl_infer_ask, n_ep)),
	JL_O_FLAG("dp-attention", JL_N("attention of different requests on different GPUs of a copy"), JL_TO(jl_infer_ask, dp_attention)),
	JL_O_COUNT("prompt-gpus", "N", 1, 1024, JL_N("separate copies for the prompts (disaggregated): GPUs of one copy"), JL_TO_INT(jl_infer_ask, prompt_gpus)),
	JL_O_COUNT("prompt-copies", "N", 1, 128, JL_N("with --prompt-gpus: how many of them (default: 1)"), JL_TO_INT(jl_infer_ask, prompt_copies), .with = "prompt-gpus"),
	JL_O_AMOUNT("kv-host", "SIZE", JL_K_BYTES, JL_N("host memory of a copy for keys and values that do not fit beside the weights"), JL_TO(jl_infer_ask, host_B)),
	JL_O_AMOUNT("kv-nvme", "SIZE", JL_K_BYTES, JL_N("drive space for session keys and values that do not fit there either"), JL_TO(jl_infer_ask, disk_B), .with = "kv-host"),
	JL_O_COUNT("max-seqs", "N", 1, 65536, JL_N("requests that a copy works on at once, at most (default: as the engine starts)"), JL_TO_INT(jl_infer_ask, max_seqs)),
	JL_O_COUNT("batched-tokens", "N", 16, 1048576, JL_N("tokens of one pass, at most (default: as the engine starts)"), JL_TO_INT(jl_infer_ask, batched_tokens)),
	JL_O_COUNT("kv-tokens", "N", 16, 1000000000, JL_N("tokens whose keys and values a copy has room for (default: what the memory leaves)"), JL_TO(jl_infer_ask, kv_tokens)),
	JL_O_TEXT("day", "office|evening|flat|FILE", JL_N("load over a day, and how many copies: a shape whose peak is --rate, or CSV with hour, rate")),
	JL_O_AMOUNT("start", "TIME", JL_K_TIME, JL_N("with --day: time from requesting a copy to its first request (default: one minute plus reading the weights)"), JL_TO(jl_infer_ask, start_s), .with = "day", JL_WITHIN(0, 86400, JL_N("must be 0 to a day, e.g. 3 min"))),
	JL_O_TEXT("observed", "FILE", JL_N("a benchmark's result or an engine's metrics of this model here: the answer is corrected by it")),
	JL_O_AMOUNT("ttft", "TIME", JL_K_TIME, JL_N("target: first token of 90 % of the requests"), JL_TO(jl_infer_ask, ttft_max_s)),
	JL_O_AMOUNT("tpot", "TIME", JL_K_TIME, JL_N("target: each further token of 90 % of the requests"), JL_TO(jl_infer_ask, tpot_max_s)),
	JL_ASK_KWH_OPTION,
	JL_O_AMOUNT("pue", "X", JL_K_NUMBER, JL_N("power of the building / of the machines (default: 1.2)"), JL_TO(jl_infer_ask, pue), JL_WITHIN(1, 5, JL_N("must be 1 (no cooling) to 5, e.g. 1.2"))),
	JL_O_TEXT("sweep", "rate=N,N,...", JL_N("the same at several rates, with the knee: rate=1,2,5,10")),
	JL_O_FLAG("compare-weights", JL_N("one row for each format of the weights"), .apart = "sweep"),
	JL_O_COUNT("seed", "N", 0, 1000000000, JL_N("random seed for arrivals and lengths (default: 1)")),
	JL_ASK_SHAPE_OPTIONS,
	{ 0 },
};
/* clang-format on */

static enum jl_status parse_rate(double *ret_hz, const char *text, const char *what, struct jl_err *err)
{
	double value;
	size_t used;

	if (jl_num_parse(text, &value, &used) != JL_NUM_OK || !(value >= 1e-6 && value <= 1e6) ||
	    (text[used] && strcmp(text + used, "/s") != 0))
		return jl_fail(err, JL_E_USAGE,
			       "%s: '%.40s' is not a rate from one in days to a million a second; write e.g. 20/s",
			       what, text);
	*ret_hz = value;
	return JL_OK;
}

static enum jl_status read_sweep(double *ret_rates, size_t *ret_n, const char *text, struct jl_err *err)
{
	char piece[JL_ITEM_MAX];

	*ret_n = 0;
	if (strncmp(text, "rate=", 5) != 0)
		return jl_fail(err, JL_E_USAGE, "--sweep: '%.40s'; write e.g. rate=1,2,5,10", text);
	for (text += 5; jl_next_item(&text, piece);) {
		if (*ret_n == JL_INFER_ROWS)
			return jl_fail(err, JL_E_LIMIT, "--sweep: more than %d rates", JL_INFER_ROWS);
		JL_TRY(parse_rate(&ret_rates[(*ret_n)++], piece, "--sweep", err));
	}
	return *ret_n ? JL_OK : jl_fail(err, JL_E_USAGE, "--sweep: no rate; write e.g. rate=1,2,5,10");
}

static enum jl_status read_trace(struct jl_infer_ask *ask, struct jl_arrival **ret_arrivals, const char *path,
				 struct jl_err *err)
{
	struct jl_buf text;
	bool timed;
	enum jl_status status;

	JL_TRY(jl_buf_read_file(&text, path, TRACE_MAX_B, err));
	status = jl_arrivals_read(ret_arrivals, &ask->n_trace, &timed, text.data ? text.data : "", text.len, path, err);
	jl_buf_release(&text);
	if (status)
		return status;
	double prompt = 0, answer = 0;

	for (size_t i = 0; i < ask->n_trace; i++) {
		prompt += (*ret_arrivals)[i].prompt;
		answer += (*ret_arrivals)[i].answer;
	}
	ask->trace = *ret_arrivals;
	ask->prompt = prompt / (double)ask->n_trace;
	ask->answer = answer / (double)ask->n_trace;
	ask->kind = JL_LOAD_TRACE;
	return JL_OK;
}

/* A day's load: finds the system's highest rate within the targets and derives the number of replicas. */
static enum jl_status read_day(struct jl_infer_ask *ask, struct jl_cli *cli, struct jl_day_load *day,
			       struct jl_err *err)
{
	const char *shape = jl_text(cli, "day"), *rate = jl_text(cli, "rate");
	double peak_hz = NAN;
	struct jl_buf text = { 0 };
	enum jl_status status = rate ? parse_rate(&peak_hz, rate, "--rate", err) : JL_OK;

	if (isnan(ask->ttft_max_s) && isnan(ask->tpot_max_s))
		return jl_fail(err, JL_E_USAGE, "--day needs a target, e.g. --ttft \"1 s\" --tpot \"60 ms\"");
	if (!status && strpbrk(shape, "./"))
		status = jl_buf_read_file(&text, shape, DAY_MAX_B, err);
	JL_THEN(status, jl_day_read(day, shape, text.data, text.len, peak_hz, err));
	jl_buf_release(&text);
	ask->kind = JL_LOAD_OPEN;
	ask->find_rate = true;
	ask->day = day;
	return status;
}

/* Nothing but the rate says how much of the system serves. */
static bool is_sized_by_rate(struct jl_cli *cli)
{
	static const char *const sizes[] = { "gpus",  "copies",          "pp",      "ep", "prompt-gpus",
					     "sweep", "compare-weights", "observed" };

	for (size_t i = 0; i < JL_LEN(sizes); i++)
		if (jl_given(cli, sizes[i]))
			return false;
	return true;
}

static enum jl_status read_load(struct jl_infer_ask *ask, struct jl_cli *cli, struct jl_arrival **ret_arrivals,
				struct jl_day_load *day, struct jl_err *err)
{
	static const char *const loads[] = { "concurrency", "rate", "users", "requests", "trace" };
	const bool target = !isnan(ask->ttft_max_s) || !isnan(ask->tpot_max_s);
	const struct jl_idle rules[] = {
		{ .when = !jl_given(cli, "rate") && !jl_given(cli, "sweep"), .options = "burst", .with = "--rate" },
		{ .when = jl_given(cli, "trace"), .options = "prompt answer answer-most", .beside = "--trace" },
		{ .when = !jl_given(cli, "layers"), .options = "seq", .with = "--layers" },
		{ .when = jl_given(cli, "turns"),
		  .options = "rate users requests trace sweep observed prompt-gpus",
		  .beside = "--turns" },
		{ .when = !jl_given(cli, "turns"), .options = "kv-nvme", .with = "--turns" },
		{ .when = ask->model && ask->model->embeds,
		  .options = "answer answer-most cached draft kv kv-host kv-tokens turns users prompt-gpus observed "
			     "tpot adapters pp",
		  .beside = ask->model_name },
		{ .when = !ask->model || !ask->model->embeds, .options = "input", .with = JL_("a model that embeds") },
		{ .when = jl_given(cli, "day"),
		  .options = "concurrency users requests trace turns sweep compare-weights copies prompt-gpus burst",
		  .beside = "--day" },
	};
	int n = 0;

	ask->assumed &= ~(1u << JL_ASSUMED_TARGET);
	JL_TRY(jl_check_idle(cli, rules, JL_LEN(rules), err));
	for (size_t i = 0; i < JL_LEN(loads); i++)
		n += jl_given(cli, loads[i]) != NULL;
	if (n > 1)
		return jl_fail(err, JL_E_USAGE,
			       "one load at a time: --concurrency, --rate, --users, --requests or --trace");
	if (ask->answer_most > 0 && ask->answer_most < ask->answer)
		return jl_fail(
			err, JL_E_USAGE,
			"--answer-most: the longest answer of %.0f tokens is shorter than --answer, %.0f in the mean",
			ask->answer_most, ask->answer);
	ask->kind = jl_given(cli, "users")      ? JL_LOAD_USERS
		    : jl_given(cli, "requests") ? JL_LOAD_JOB
		    : ask->turns > 1            ? JL_LOAD_SESSIONS
						: JL_LOAD_CLOSED;
	ask->find_rate = target && n == 0;
	if (jl_given(cli, "day"))
		return read_day(ask, cli, day, err);
	if (jl_given(cli, "trace"))
		return read_trace(ask, ret_arrivals, jl_text(cli, "trace"), err);
	if (jl_given(cli, "rate")) {
		ask->kind = JL_LOAD_OPEN;
		JL_TRY(parse_rate(&ask->rate_hz, jl_text(cli, "rate"), "--rate", err));
		if (!target && is_sized_by_rate(cli)) {
			ask->ttft_max_s = JL_USUAL_TTFT_S;
			ask->tpot_max_s = JL_USUAL_TPOT_S;
			ask->assumed |= 1u << JL_ASSUMED_TARGET;
		}
	}
	return JL_OK;
}

/* Local path of a model for the engine's start command: a folder, or a file with the whole model. NULL for files sent with a request. */
static const char *path_of(struct jl_cli *cli, const struct jl_subject *subject)
{
	const char *path = subject->info || cli->asked || access(subject->id, F_OK) != 0 ? NULL : subject->id;
	const char *end = path ? strrchr(path, '.') : NULL, *slash = path ? strrchr(path, '/') : NULL;

	if (!end || (strcmp(end, ".json") != 0 && strcmp(end, ".safetensors") != 0))
		return path;
	return slash ? jl_arena_printf(&cli->arena, "%.*s", (int)(slash - path) + (slash == path), path) : ".";
}

/* Takes the weights' format from the model's tag ("llama3:70b-instruct-q4_K_M") if no option gives one. */
static void take_named_weights(struct jl_infer_ask *ask, struct jl_cli *cli, const struct jl_subject *subject,
			       const char *name)
{
	const char *weights = ask->weights || !subject->info || !name ? NULL : jl_name_weights(cli->cat, name);
	char meant[JL_NAME_MAX + 1];

	if (!weights)
		return;
	ask->weights = weights;
	ask->assumed &= ~(1u << JL_ASSUMED_WEIGHTS);
	snprintf(meant, sizeof(meant), "%s, --weights %s", subject->id, weights);
	jl_reading_add(cli->cat, name, meant, "--weights bf16");
}

static enum jl_status read_ask(struct jl_infer_ask *ask, struct jl_cli *cli, struct jl_subject *subject,
			       struct jl_arrival **ret_arrivals, struct jl_day_load *day, struct jl_err *err)
{
	/* in the order of enum jl_infer_assumed */
	static const char *const given[JL_N_ASSUMED] = { "prompt",      "answer",    "concurrency", "think",
							 "weights",     "engine",    "kwh",         "pue",
							 "turn-tokens", "tool-wait", "start",       "ttft" };
	const char *engine = jl_text(cli, "engine");
	struct jl_serve_format format;
	struct jl_request req;

	JL_TRY(jl_ask_request(&req, cli, err));
	JL_TRY(jl_subject_find(subject, cli->cat, &req, &cli->arena, err));
	JL_TRY(jl_subject_check_tokens(subject, false, err));
	if (!jl_text(cli, "on"))
		return jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on \"4x h100-sxm5\"");
	*ask = (struct jl_infer_ask){ .model = subject->info,
				      .shape = &subject->model,
				      .model_name = subject->id,
				      .path = path_of(cli, subject),
				      .context = jl_subject_context(subject),
				      .engine = engine ? jl_engine_by_text(engine) : JL_ENGINE_GENERAL,
				      .n_stages = 1,
				      .n_ep = 1,
				      .prompt_copies = 1,
				      .host_B = NAN,
				      .disk_B = NAN,
				      .turn_tokens = JL_TURN_TOKENS,
				      .wait_s = JL_TOOL_WAIT_S,
				      .concurrency = JL_USUAL_AT_ONCE,
				      .users = NAN,
				      .think_s = JL_THINK_S,
				      .burst = 1,
				      .prompt = JL_USUAL_PROMPT,
				      .answer = JL_USUAL_ANSWER,
				      .spread_ln = SPREAD_LN,
				      .accept_frac = 0.7,
				      .adapter_rank = 16,
				      .kv_tokens = NAN,
				      .ttft_max_s = NAN,
				      .tpot_max_s = NAN,
				      .start_s = NAN,
				      .usd_per_kWh = USD_PER_KWH,
				      .pue = PUE,
				      .seed = (uint64_t)jl_whole(cli, "seed", 1) };
	JL_READ(ask, jl_infer_ask, cli);
	for (unsigned i = 0; i < JL_N_ASSUMED; i++)
		ask->assumed |= jl_given(cli, given[i]) ? 0 : 1u << i;
	if (subject->info && subject->info->embeds) { /* the prompt's pass is all there is */
		ask->answer = 1;
		ask->prompt = jl_given(cli, "input") || jl_given(cli, "prompt") ? ask->prompt : USUAL_INPUT;
		ask->assumed &= ~(1u << JL_ASSUMED_ANSWER | (jl_given(cli, "input") ? 1u << JL_ASSUMED_PROMPT : 0));
	}
	take_named_weights(ask, cli, subject, req.model);
	JL_TRY(jl_ask_kwh(&ask->usd_per_kWh, cli, err));
	if (ask->draft && strcmp(ask->draft, "eagle") != 0 && strcmp(ask->draft, "mtp") != 0)
		JL_TRY(jl_find_model(&ask->draft_model, cli->cat, ask->draft, err));
	if ((ask->weights && jl_served_format(&format, ask->weights, err)) ||
	    (ask->kv && jl_served_format(&format, ask->kv, err)))
		return err->status = JL_E_USAGE;
	if (engine && ask->engine == JL_ENGINE_GENERAL)
		return jl_fail(err, JL_E_USAGE,
			       "--engine: '%.40s' is not known; write vllm, sglang, trtllm or llama.cpp", engine);
	return read_load(ask, cli, ret_arrivals, day, err);
}

#define SEEN_MAX_B ((size_t)64 << 20)

static enum jl_status read_seen(struct jl_infer_ask *ask, struct jl_served_seen *seen, const char *path,
				struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status;

	if (!path)
		return JL_OK;
	JL_TRY(jl_buf_read_file(&text, path, SEEN_MAX_B, err));
	status = jl_served_seen_read(seen, text.data ? text.data : "", text.len, path, err);
	jl_buf_release(&text);
	ask->seen = seen;
	return status;
}

static enum jl_status weigh(struct jl_infer *infer, const struct jl_infer_ask *ask, struct jl_cli *cli,
			    struct jl_err *err)
{
	const char *sweep = jl_text(cli, "sweep");
	double rates_hz[JL_INFER_ROWS];
	struct jl_machine machine;
	struct jl_sys sys;
	size_t n = 0;
	enum jl_status status = jl_sys_parse(&sys, cli->cat, jl_text(cli, "on"), &cli->arena, err);

	JL_THEN(status, sweep ? read_sweep(rates_hz, &n, sweep, err) : JL_OK);
	JL_THEN(status, jl_machine_make(&machine, cli->cat, &sys, err));
	JL_THEN(status, jl_infer(infer, cli->cat, &machine, ask, err));
	if (!status && (ask->assumed & 1u << JL_ASSUMED_TARGET) && !infer->meets) { /* default targets */
		struct jl_infer_ask plain = *ask;

		plain.ttft_max_s = plain.tpot_max_s = NAN;
		plain.assumed &= ~(1u << JL_ASSUMED_TARGET);
		status = jl_infer(infer, cli->cat, &machine, &plain, err);
	}
	JL_THEN(status, jl_infer_held(infer, cli->cat, &machine, ask, err));
	if (!status && ask->day)
		status = jl_infer_day(infer, cli->cat, &machine, ask, err);
	else if (!status && sweep && infer->fits)
		status = jl_infer_sweep(infer, cli->cat, &machine, ask, rates_hz, n, err);
	else if (!status && jl_flag(cli, "compare-weights"))
		status = jl_infer_compare_weights(infer, cli->cat, &machine, ask, err);
	return status;
}

enum jl_status jl_cmd_serve(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_arrival *arrivals = NULL;
	struct jl_infer_ask ask;
	struct jl_served_seen seen;
	struct jl_day_load day;
	struct jl_subject subject;
	struct jl_infer infer;
	enum jl_status status = read_ask(&ask, cli, &subject, &arrivals, &day, err);

	JL_THEN(status, read_seen(&ask, &seen, jl_text(cli, "observed"), err));
	JL_THEN(status, weigh(&infer, &ask, cli, err));
	jl_free(arrivals);
	if (status)
		return status;
	if (infer.has_target && (isnan(infer.rate_max_hz) ? !infer.meets : infer.rate_max_hz <= 0))
		cli->exit_code = 3;
	JL_ANSWER(cli, err, &jl_infer_fields, &infer, jl_show_infer(&doc, &infer));
}
