/* Parses system expressions. */
#include "catalog/sysexpr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "catalog/find.h"
#include "catalog/names.h"
#include "catalog/possible.h"
#include "catalog/sysdefault.h"

#define COUNT_MAX 1000000000L /* larger counts are refused for any unit */

struct parser {
	const char *text;
	const char *at;
	const struct jl_catalog *cat;
	struct jl_err *err;
};

struct count {
	bool given;
	long n; /* 1 if not given */
	const char *at;
};

/* A parsed system expression before names are resolved. */
struct draft {
	bool hypothetical;         /* prefix "hypothetical": the system need not exist */
	struct count outer, inner; /* inner: the count in parentheses */
	bool parens;
	char name[JL_NAME_MAX + 1];
	const char *name_at;
	const char *via_at; /* NULL: not written */
	char join[JL_NAME_MAX + 1];
	const char *join_at;
	const char *over_at;
	struct count n_net;
	char net[JL_NAME_MAX + 1];
	const char *net_at;
};

static size_t column(const struct parser *p, const char *at)
{
	size_t n = 1;
	const char *c;

	for (c = p->text; c < at; c++)
		if (((unsigned char)*c & 0xc0) != 0x80)
			n++;
	return n;
}

/* Prefixes the error with the column of `at`. */
static enum jl_status at_column(const struct parser *p, const char *at, enum jl_status status)
{
	if (status == JL_E_NOMEM)
		return status;
	return jl_fail_from(p->err, status, NULL, p->err, "system, column %zu: {}", column(p, at));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

/* Bytes of a multiplication sign (x, X, *, ×); 0: none. */
static size_t times_sign(const char *at)
{
	if (*at == 'x' || *at == 'X' || *at == '*')
		return 1;
	return strncmp(at, "\xc3\x97", 2) == 0 ? 2 : 0;
}

/* True for "via" or "over" as a separate word. */
static bool is_keyword(const char *at, const char *keyword)
{
	size_t len = strlen(keyword);

	return strncasecmp(at, keyword, len) == 0 &&
	       (at[len] == '\0' || is_blank(at[len]) || at[len] == '(' || at[len] == ')');
}

static bool at_keyword(const char *at)
{
	return is_keyword(at, "via") || is_keyword(at, "over");
}

/* Parses "10x", "10 x ", "10×"; consumes nothing if there is no count ("3090 ti"). */
static enum jl_status parse_count(struct parser *p, struct count *ret_count)
{
	struct count count = { .n = 1, .at = p->at };
	const char *at = p->at;
	bool whole = true;
	long n = 0;

	for (; (*at >= '0' && *at <= '9') || *at == '.' || *at == ',' || (at == p->at && (*at == '-' || *at == '+'));
	     at++) {
		if (*at < '0' || *at > '9')
			whole = false;
		else if (n < COUNT_MAX)
			n = n * 10 + (*at - '0');
	}
	const char *end = at;
	while (is_blank(*at))
		at++;
	size_t sign = times_sign(at);
	/* after a blank the sign must be a separate word: "4 xgmi" has no count */
	if (end == p->at || sign == 0 ||
	    (at > end && sign == 1 && *at != '*' && at[1] && !is_blank(at[1]) && at[1] != '(')) {
		*ret_count = count;
		return JL_OK;
	}
	if (!whole || n == 0)
		return at_column(p, count.at,
				 jl_fail(p->err, JL_E_RANGE,
					 "'%.*s' is not a count: write a whole number from 1, e.g. 4x",
					 (int)(end - count.at < 40 ? end - count.at : 40), count.at));
	count.given = true;
	count.n = n;
	p->at = at + sign;
	skip_blanks(p);
	*ret_count = count;
	return JL_OK;
}

/* Text up to a parenthesis, `via`, `over` or the end. */
static enum jl_status parse_name(struct parser *p, char out[JL_NAME_MAX + 1], const char *en)
{
	const char *from = p->at;
	const char *end;
	size_t i;

	while (*p->at && *p->at != ')') {
		if (*p->at == '(') {
			const size_t inside = p->at > from ? strcspn(p->at, ")") : 0;

			/* "A100 (80GB)": words in parentheses after a name belong to it */
			if (inside == 0 || p->at[inside] != ')' || strspn(p->at + 1, "0123456789 ") + 1 == inside)
				break;
			p->at += inside + 1;
			continue;
		}
		if ((p->at == from || is_blank(p->at[-1])) && at_keyword(p->at))
			break;
		p->at++;
	}
	for (end = p->at; end > from && is_blank(end[-1]); end--)
		;
	if (end == from)
		return at_column(p, from, jl_fail(p->err, JL_E_PARSE, "here should be {%s}", en));
	if (end - from > JL_NAME_MAX)
		return at_column(p, from, jl_fail(p->err, JL_E_LIMIT, "a name longer than %d bytes", JL_NAME_MAX));
	for (i = 0; from + i < end; i++)
		out[i] = (unsigned char)from[i] < ' ' ? ' ' : from[i]; /* messages that quote it are one line */
	out[i] = '\0';
	return JL_OK;
}

static enum jl_status parse_via(struct parser *p, struct draft *draft)
{
	struct count count = { .n = 1 };

	skip_blanks(p);
	if (!is_keyword(p->at, "via"))
		return JL_OK;
	draft->via_at = p->at;
	p->at += strlen("via");
	skip_blanks(p);
	JL_TRY(parse_count(p, &count));
	if (count.given)
		return at_column(p, count.at,
				 jl_fail(p->err, JL_E_PARSE, "a join has no count: write e.g. 'via pcie4-no-p2p'"));
	draft->join_at = p->at;
	return parse_name(p, draft->join, JL_N("a join, e.g. pcie4-no-p2p or nvlink4-switch"));
}

static enum jl_status parse_over(struct parser *p, struct draft *draft)
{
	skip_blanks(p);
	if (!is_keyword(p->at, "over"))
		return JL_OK;
	draft->over_at = p->at;
	p->at += strlen("over");
	skip_blanks(p);
	JL_TRY(parse_count(p, &draft->n_net));
	if (draft->n_net.n > JL_NET_MAX)
		return at_column(p, draft->n_net.at,
				 jl_fail(p->err, JL_E_RANGE, "a node has at most %d network ports", JL_NET_MAX));
	draft->net_at = p->at;
	return parse_name(p, draft->net, JL_N("a network, e.g. 10gbe or 8x ib-ndr"));
}

static enum jl_status parse_host(struct parser *p, struct draft *draft)
{
	draft->name_at = p->at;
	JL_TRY(parse_name(p, draft->name, JL_N("an accelerator, a system or cpu:NAME, e.g. rtx-3090")));
	return parse_via(p, draft);
}

static enum jl_status parse_parens(struct parser *p, struct draft *draft)
{
	const char *open = p->at++;

	draft->parens = true;
	skip_blanks(p);
	JL_TRY(parse_count(p, &draft->inner));
	if (*p->at == '(')
		return at_column(
			p, p->at,
			jl_fail(p->err, JL_E_PARSE,
				"parentheses do not nest: hosts hold cards, e.g. 2x(10x rtx-3090) over 10gbe"));
	JL_TRY(parse_host(p, draft));
	skip_blanks(p);
	if (is_keyword(p->at, "over"))
		return at_column(
			p, p->at,
			jl_fail(p->err, JL_E_PARSE, "'over' joins hosts: write it after the closing parenthesis"));
	if (*p->at == '\0')
		return at_column(p, open, jl_fail(p->err, JL_E_PARSE, "this parenthesis is not closed"));
	if (*p->at != ')')
		return at_column(p, p->at, jl_fail(p->err, JL_E_PARSE, "here should be ')'"));
	p->at++;
	skip_blanks(p);
	if (is_keyword(p->at, "via"))
		return at_column(p, p->at,
				 jl_fail(p->err, JL_E_PARSE,
					 "'via' joins the cards of one host: write it inside the parentheses"));
	return JL_OK;
}

static enum jl_status check_end(struct parser *p)
{
	skip_blanks(p);
	if (*p->at == '\0')
		return JL_OK;
	if (*p->at == ')')
		return at_column(p, p->at, jl_fail(p->err, JL_E_PARSE, "no parenthesis was opened for this one"));
	if (is_keyword(p->at, "via"))
		return at_column(p, p->at, jl_fail(p->err, JL_E_PARSE, "'via' comes once, before 'over'"));
	if (is_keyword(p->at, "over"))
		return at_column(p, p->at, jl_fail(p->err, JL_E_PARSE, "'over' comes only once"));
	return at_column(
		p, p->at,
		jl_fail(p->err, JL_E_PARSE, "unexpected text: a system ends here, or continues with 'over NETWORK'"));
}

/* "7900xtx" is a card, not a count of 7900. */
static bool begins_with_name(const struct parser *p)
{
	struct parser ahead = *p;
	char name[JL_NAME_MAX + 1];
	struct jl_err ignored;

	ahead.err = &ignored;
	return *p->at >= '0' && *p->at <= '9' && parse_name(&ahead, name, "") == JL_OK &&
	       jl_unit_is_called(p->cat, name);
}

static enum jl_status parse_draft(struct parser *p, struct draft *draft)
{
	skip_blanks(p);
	draft->hypothetical = is_keyword(p->at, JL_HYPOTHETICAL);
	if (draft->hypothetical) {
		p->at += strlen(JL_HYPOTHETICAL);
		skip_blanks(p);
	}
	draft->name_at = p->at;
	draft->inner.n = draft->outer.n = 1;
	if (!begins_with_name(p))
		JL_TRY(parse_count(p, &draft->outer));
	JL_TRY(*p->at == '(' ? parse_parens(p, draft) : parse_host(p, draft));
	JL_TRY(parse_over(p, draft));
	return check_end(p);
}

/* A number of cards or hosts within its limit. */
static enum jl_status take_count(struct parser *p, int *ret_n, const struct count *count, int max, const char *en)
{
	if (count->n > max)
		return at_column(p, count->at, jl_fail(p->err, JL_E_RANGE, "too many: at most %d {%s}", max, en));
	*ret_n = (int)count->n;
	return JL_OK;
}

static enum jl_status take_cpu(struct parser *p, struct jl_sys *sys, const struct draft *draft)
{
	const char *name = draft->name + strlen("cpu:");
	enum jl_status status = jl_find_cpu(&sys->cpu, p->cat, name, p->err);

	if (status)
		return at_column(p, draft->name_at, status);
	if (draft->via_at)
		return at_column(p, draft->via_at,
				 jl_fail(p->err, JL_E_PARSE, "a CPU-only host has no accelerators to join"));
	if (draft->inner.given || (draft->outer.given && !draft->parens))
		return at_column(p, draft->name_at,
				 jl_fail(p->err, JL_E_PARSE,
					 "CPU hosts are counted with parentheses, e.g. 2x(cpu:%s) over 10gbe",
					 sys->cpu->id));
	return take_count(p, &sys->n_nodes, &draft->outer, JL_NODES_MAX, JL_NC("at most", "hosts"));
}

static enum jl_status take_system(struct parser *p, struct jl_sys *sys, const struct draft *draft)
{
	const struct jl_system *system = sys->system;

	if (draft->via_at)
		return at_column(
			p, draft->via_at,
			jl_fail(p->err, JL_E_PARSE,
				"%s has its own join: leave 'via' out, or write its cards out (8x h100-sxm5 via ...)",
				system->id));
	if (draft->inner.given)
		return at_column(p, draft->inner.at,
				 jl_fail(p->err, JL_E_PARSE,
					 "%s is a whole host already: write the number of hosts once, e.g. 4x %s",
					 system->id, system->id));
	JL_TRY(take_count(p, &sys->n_nodes, &draft->outer, JL_NODES_MAX, JL_NC("at most", "hosts")));
	sys->gpu = jl_gpu_by_id(p->cat, system->gpu);
	if (!sys->gpu)
		return at_column(p, draft->name_at,
				 jl_fail(p->err, JL_E_DATA, "the accelerator of %s (%s) is not in the catalog",
					 system->id, system->gpu_text ? system->gpu_text : "?"));
	if (system->n_gpu < 1 || system->n_gpu > JL_PER_NODE_MAX)
		return at_column(p, draft->name_at,
				 jl_fail(p->err, JL_E_DATA,
					 "the catalog does not say how many %s are in %s: write 8x %s", sys->gpu->id,
					 system->id, sys->gpu->id));
	sys->n_per_node = system->n_gpu;
	return JL_OK;
}

/* A name with a number of chips, "v5e-256": a count before it counts such slices. */
static enum jl_status take_slice(struct parser *p, struct jl_sys *sys, const struct draft *draft, int n)
{
	const struct count cards = { .given = true, .n = n, .at = draft->name_at };

	JL_TRY(take_count(p, &sys->n_per_node, &cards, JL_PER_NODE_MAX, JL_NC("at most", "accelerators in one host")));
	return take_count(p, &sys->n_nodes, draft->parens && draft->inner.given ? &draft->inner : &draft->outer,
			  JL_NODES_MAX, JL_NC("at most", "hosts"));
}

static enum jl_status take_gpu(struct parser *p, struct jl_sys *sys, const struct draft *draft)
{
	const struct count *cards = draft->parens ? &draft->inner : &draft->outer;
	const bool fixed = draft->parens || draft->via_at || draft->hypothetical || p->cat->hypothetical;
	const int n_hosts = fixed ? 0 : jl_hosts_of(sys->gpu, p->cat, cards->n);

	if (n_hosts > 0) { /* "16384x h100": more than any host holds is a cluster */
		sys->n_nodes = n_hosts;
		sys->n_per_node = (int)(cards->n / n_hosts);
		return JL_OK;
	}
	enum jl_status status = take_count(p, &sys->n_per_node, cards, JL_PER_NODE_MAX,
					   JL_N("cards in one host; write N hosts as Nx(8x ...)"));

	if (status || !draft->parens)
		return status;
	return take_count(p, &sys->n_nodes, &draft->outer, JL_NODES_MAX, JL_NC("at most", "hosts"));
}

static enum jl_status take_join(struct parser *p, struct jl_sys *sys, const struct draft *draft)
{
	enum jl_status status;

	if (draft->via_at) {
		status = strcasecmp(draft->join, "nvlink") == 0
				 ? jl_sysdefault_nvlink(sys, p->cat, p->err)
				 : jl_find_link(&sys->join, p->cat, draft->join, JL_ROLE_JOIN, p->err);
		if (status)
			return at_column(p, draft->join_at, status);
		if (sys->n_per_node == 1)
			return at_column(
				p, draft->via_at,
				jl_fail(p->err, JL_E_PARSE,
					"one card has nothing to join: leave 'via' out, or write e.g. 2x %s via %s",
					sys->gpu->id, sys->join->id));
		if (sys->join->topology && strcmp(sys->join->topology, "none") == 0)
			return at_column(p, draft->join_at,
					 jl_fail(p->err, JL_E_PARSE,
						 "'%s' joins nothing: write e.g. 'via pcie4', or leave 'via' out",
						 sys->join->id));
		return JL_OK;
	}
	if (sys->n_per_node <= 1)
		return JL_OK;
	if (sys->system && sys->system->join) {
		sys->join = jl_link_by_id(p->cat, sys->system->join);
		if (sys->join)
			return JL_OK;
	}
	status = jl_sysdefault_join(sys, p->cat, p->err);
	return status ? at_column(p, draft->name_at, status) : JL_OK;
}

static enum jl_status take_net(struct parser *p, struct jl_sys *sys, const struct draft *draft)
{
	enum jl_status status;

	if (draft->over_at) {
		status = jl_find_link(&sys->net, p->cat, draft->net, JL_ROLE_NETWORK, p->err);
		if (status)
			return at_column(p, draft->net_at, status);
		if (sys->n_nodes == 1 && sys->n_per_node > 1 && !sys->system && !draft->parens)
			return at_column(p, draft->over_at,
					 jl_fail(p->err, JL_E_PARSE,
						 "one host has no network: for %d hosts write %dx(%s) over %s",
						 sys->n_per_node, sys->n_per_node, sys->gpu->id, sys->net->id));
		if (sys->n_nodes == 1)
			return at_column(
				p, draft->over_at,
				jl_fail(p->err, JL_E_PARSE,
					"one host has no network: leave 'over' out, or write the hosts, e.g. 2x(...)"));
		sys->n_net = (int)draft->n_net.n;
		return JL_OK;
	}
	if (sys->n_nodes == 1)
		return JL_OK;
	status = jl_sysdefault_net(sys, p->cat, p->err);
	return status ? at_column(p, draft->name_at, status) : JL_OK;
}

static enum jl_status write_canonical(struct jl_sys *sys, const struct draft *draft, struct jl_arena *arena,
				      struct jl_err *err)
{
	bool parens = sys->n_nodes > 1 && !sys->system;
	char hosts[24] = "", cards[24] = "", ports[24] = "";

	if (sys->n_nodes > 1)
		snprintf(hosts, sizeof(hosts), "%dx%s", sys->n_nodes, parens ? "(" : " ");
	if (sys->n_per_node > 1 && !sys->system)
		snprintf(cards, sizeof(cards), "%dx ", sys->n_per_node);
	if (sys->n_net > 1)
		snprintf(ports, sizeof(ports), "%dx ", sys->n_net);
	sys->text = jl_arena_printf(arena, "%s%s%s%s%s%s%s%s%s%s%s", sys->hypothetical ? JL_HYPOTHETICAL " " : "",
				    hosts, cards, sys->cpu ? "cpu:" : "",
				    sys->cpu      ? sys->cpu->id
				    : sys->system ? sys->system->id
						  : sys->gpu->id,
				    draft->via_at ? " via " : "", draft->via_at ? sys->join->id : "", parens ? ")" : "",
				    draft->over_at ? " over " : "", draft->over_at ? ports : "",
				    draft->over_at ? sys->net->id : "");
	return sys->text ? JL_OK : jl_fail_nomem(err);
}

/* Refuses a system that does not exist, unless marked as hypothetical. */
static enum jl_status take_possible(struct parser *p, struct jl_sys *sys, const struct draft *draft)
{
	enum jl_status status = jl_sys_possible(sys, p->cat, p->err);

	if (!status)
		return JL_OK;
	sys->hypothetical = draft->hypothetical || p->cat->hypothetical;
	return sys->hypothetical ? JL_OK : status;
}

static enum jl_status take_draft(struct parser *p, struct jl_sys *sys, const struct draft *draft,
				 struct jl_arena *arena)
{
	enum jl_status status;
	struct jl_found unit = { 0 };

	sys->n_nodes = 1;
	if (strncasecmp(draft->name, "cpu:", 4) == 0) {
		status = take_cpu(p, sys, draft);
	} else {
		status = jl_find_unit(&unit, p->cat, draft->name, p->err);
		if (status && strchr(draft->name, '+'))
			return jl_fail(
				p->err, JL_E_PARSE,
				"'%s': two kinds of GPU in one job work in 'jeoul predict MODEL' only; here name "
				"one kind",
				draft->name);
		if (status && jl_find_cpu(&sys->cpu, p->cat, draft->name, NULL) == JL_OK)
			return at_column(p, draft->name_at,
					 jl_fail(p->err, JL_E_NOTFOUND, "'%s' is a CPU: write cpu:%s", draft->name,
						 sys->cpu->id));
		if (status)
			return at_column(p, draft->name_at, status);
		sys->gpu = unit.gpu;
		sys->system = unit.system;
		status = unit.system ? take_system(p, sys, draft)
			 : unit.n    ? take_slice(p, sys, draft, unit.n)
				     : take_gpu(p, sys, draft);
	}
	if (!status && sys->n_per_node > 0)
		status = take_join(p, sys, draft);
	JL_THEN(status, take_possible(p, sys, draft));
	JL_THEN(status, take_net(p, sys, draft));
	JL_THEN(status, jl_sysdefault_rates(sys, p->cat, arena, p->err));
	JL_THEN(status, write_canonical(sys, draft, arena, p->err));
	if (!status && sys->n_nodes > 1 && unit.gpu && !unit.n && !draft->parens) {
		char written[JL_NAME_MAX + 1];

		snprintf(written, sizeof(written), "%ldx %.*s", draft->outer.n, JL_NAME_MAX - 12, draft->name);
		jl_reading_add(p->cat, written, sys->text, "");
	}
	return status;
}

static bool is_known(const struct parser *p, const char *name)
{
	struct jl_catalog quiet = *p->cat;
	struct jl_found unit;

	quiet.readings = NULL;
	return *name && jl_find_unit(&unit, &quiet, name, NULL) != JL_E_NOTFOUND;
}

/* Count after the name: "rtx-4090 x2", "H100x8", "H100:8", "RTX 4090 * 4". */
static bool take_count_behind(struct draft *draft)
{
	char *at = draft->name + strlen(draft->name), *sign;

	while (at > draft->name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	const size_t n_digits = strlen(at);

	for (sign = at; sign > draft->name && sign[-1] == ' '; sign--)
		;
	if (n_digits == 0 || n_digits > 6 || *at == '0' || sign == draft->name || !strchr("xX*:\x97", sign[-1]))
		return false;
	draft->outer = (struct count){ .given = true, .n = strtol(at, NULL, 10), .at = draft->name_at };
	for (sign -= sign[-1] == '\x97' ? 2 : 1; sign > draft->name && sign[-1] == ' '; sign--)
		;
	*sign = '\0';
	return true;
}

static const struct {
	const char *word;
	long n;
} count_words[] = {
	{ "a", 1 },     { "one", 1 },  { "single", 1 }, { "1", 1 },   { "two", 2 },   { "dual", 2 },
	{ "three", 3 }, { "four", 4 }, { "quad", 4 },   { "six", 6 }, { "eight", 8 }, { "sixteen", 16 },
};

/* Count before the name without a sign: "8 H100", "dual 3090". */
static bool take_count_before(struct draft *draft)
{
	const size_t len = strcspn(draft->name, " "), gap = strspn(draft->name + len, " ");
	const bool number = len > 0 && len <= 6 && strspn(draft->name, "0123456789") == len && draft->name[0] != '0';
	long n = number ? strtol(draft->name, NULL, 10) : 0;

	for (size_t i = 0; n == 0 && i < JL_LEN(count_words); i++)
		if (strlen(count_words[i].word) == len && strncasecmp(draft->name, count_words[i].word, len) == 0)
			n = count_words[i].n;
	if (n == 0 || gap == 0)
		return false;
	draft->outer = (struct count){ .given = true, .n = n, .at = draft->name_at };
	memmove(draft->name, draft->name + len + gap, strlen(draft->name + len + gap) + 1);
	return true;
}

/* Count without a sign, or after the name; only if the whole text is not a better match itself ("3090 ti" is a card). */
static void take_loose_count(const struct parser *p, struct draft *draft)
{
	struct draft other = *draft;

	if (draft->outer.given || draft->parens || strncasecmp(draft->name, "cpu:", 4) == 0 ||
	    jl_unit_is_called(p->cat, draft->name))
		return;
	if ((take_count_behind(&other) || take_count_before(&other)) && is_known(p, other.name))
		*draft = other;
}

enum jl_status jl_sys_parse(struct jl_sys *ret_sys, const struct jl_catalog *cat, const char *text,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct parser p = { .text = text, .at = text, .cat = cat, .err = err };
	struct jl_sys sys = { .join_oneway_Bps = JL_FACT_UNKNOWN, .net_oneway_Bps = JL_FACT_UNKNOWN };
	struct draft draft = { .n_net = { .n = 1 } };
	size_t len, bad;

	len = strnlen(text, JL_SYSEXPR_MAX + 1);
	if (len > JL_SYSEXPR_MAX)
		return jl_fail(err, JL_E_LIMIT, "a system is written in at most %d characters", JL_SYSEXPR_MAX);
	if (!jl_utf8_valid(text, len, &bad))
		return jl_fail(err, JL_E_PARSE, "system, byte %zu: not UTF-8 text", bad + 1);
	if (text[strspn(text, " \t\r\n")] == '\0')
		return jl_fail(err, JL_E_USAGE,
			       "the system is empty: write e.g. rtx-4090, 4x rtx-3090 or 2x aws:p5.48xlarge");
	JL_TRY(parse_draft(&p, &draft));
	take_loose_count(&p, &draft);
	JL_TRY(take_draft(&p, &sys, &draft, arena));
	*ret_sys = sys;
	return JL_OK;
}
