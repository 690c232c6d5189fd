/* A system drawn as a tree with its bandwidths and where each figure comes from. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "catalog/sysexpr.h"
#include "cli/view.h"

#define LABEL_COLUMN 24
#define NOTE_COLUMN  58

static void pad_to(struct jl_buf *out, size_t have, size_t want)
{
	jl_buf_pad(out, ' ', have < want ? want - have : 2);
}

struct tree {
	struct jl_cli *cli;
	struct jl_footnotes notes;
};

/* "├─ label      value            ◇ [1]" */
static void line(struct tree *tree, const char *prefix, const char *label, const char *value,
		 const struct jl_fact *fact)
{
	struct jl_buf *out = &tree->cli->out;
	size_t at = jl_utf8_width(prefix) + jl_utf8_width(label);
	char note[32];

	jl_buf_printf(out, "%s%s", prefix, label);
	pad_to(out, at, LABEL_COLUMN);
	at = (at < LABEL_COLUMN ? LABEL_COLUMN : at + 2) + jl_utf8_width(value);
	jl_buf_puts(out, value);
	if (fact && jl_fact_known(fact)) {
		pad_to(out, at, NOTE_COLUMN);
		jl_buf_printf(out, "%s%s%s", jl_view_dim(tree->cli), jl_view_note(note, &tree->notes, fact),
			      jl_view_reset(tree->cli));
	}
	jl_buf_putc(out, '\n');
}

static void fact_line(struct tree *tree, const char *prefix, const char *label, const struct jl_fact *fact,
		      enum jl_kind kind)
{
	char value[JL_UNITS_TEXT_MAX];

	if (jl_fact_known(fact))
		line(tree, prefix, label, jl_view_value(value, fact->value, kind, true), fact);
}

/* Facts that stand under one node; what is not known is left out, so the last one is only known at the end. */
struct leaf {
	const char *label;
	const struct jl_fact *fact;
	enum jl_kind kind;
};

static void leaves(struct tree *tree, const struct leaf *leaf, size_t n, const char *bar)
{
	char child[32], last[32];

	snprintf(child, sizeof(child), "%s├─ ", bar);
	snprintf(last, sizeof(last), "%s└─ ", bar);
	while (n > 0 && !jl_fact_known(leaf[n - 1].fact))
		n--;
	for (size_t i = 0; i < n; i++)
		fact_line(tree, i + 1 < n ? child : last, leaf[i].label, leaf[i].fact, leaf[i].kind);
}

static void gpu_branch(struct tree *tree, const struct jl_sys *sys, const char *head, const char *bar)
{
	const struct jl_gpu *gpu = sys->gpu;
	const struct leaf rates[] = { { "BF16 dense", &gpu->bf16_dense_flopps, JL_K_FLOP_RATE },
				      { "FP16 dense", &gpu->fp16_fp32acc_dense_flopps, JL_K_FLOP_RATE },
				      { "FP32", &gpu->fp32_flopps, JL_K_FLOP_RATE } };
	size_t rate = 0;

	while (rate < 2 && !jl_fact_known(rates[rate].fact))
		rate++;
	jl_buf_printf(&tree->cli->out, "%s%d x %s\n", head, sys->n_per_node, gpu->name);
	leaves(tree,
	       (const struct leaf[]){ { JL_("memory"), &gpu->mem_B, JL_K_BYTES },
				      { JL_C("of memory", "bandwidth"), &gpu->mem_Bps, JL_K_BYTE_RATE },
				      rates[rate],
				      { JL_("power"), &gpu->tdp_W, JL_K_POWER } },
	       4, bar);
}

static void cpu_branch(struct tree *tree, const struct jl_cpu *cpu, const char *bar)
{
	char under[16];

	snprintf(under, sizeof(under), "%s     ", bar);
	jl_buf_printf(&tree->cli->out, "%s  └─ %s\n", bar, cpu->name);
	leaves(tree,
	       (const struct leaf[]){ { JL_("cores"), &cpu->n_core, JL_K_NUMBER },
				      { "FP32", &cpu->fp32_flopps, JL_K_FLOP_RATE },
				      { JL_C("of memory", "bandwidth"), &cpu->mem_Bps, JL_K_BYTE_RATE },
				      { JL_("power"), &cpu->tdp_W, JL_K_POWER } },
	       4, under);
}

static void link_line(struct tree *tree, const char *prefix, const char *label, const struct jl_link_info *link, int n,
		      bool assumed, const struct jl_fact *rate, const char *per)
{
	const char *below = strncmp(prefix, "│", strlen("│")) == 0 ? "│     " : "      ";
	struct jl_buf text;
	char value[JL_UNITS_TEXT_MAX];

	jl_buf_init(&text, 1024);
	if (n > 1)
		jl_buf_printf(&text, "%dx ", n);
	jl_buf_puts(&text, link->id);
	if (assumed)
		jl_buf_puts(&text, JL_(" (assumed)"));
	line(tree, prefix, label, jl_buf_text(&text), NULL);
	jl_buf_reset(&text);
	if (jl_fact_known(rate)) {
		jl_buf_printf(&text, "%s %s", jl_view_value(value, rate->value, JL_K_BYTE_RATE, false), per);
		line(tree, below, "", jl_buf_text(&text), rate);
	}
	if (rate->origin == JL_ESTIMATED && rate->note)
		line(tree, below, "", rate->note, NULL);
	jl_buf_release(&text);
}

static void headline(struct jl_cli *cli, const struct jl_sys *sys)
{
	char value[JL_UNITS_TEXT_MAX];
	double n = (double)sys->n_nodes * sys->n_per_node;

	jl_buf_printf(&cli->out, "%s%s%s\n", jl_view_bold(cli), sys->text, jl_view_reset(cli));
	if (sys->gpu) {
		jl_buf_printf(&cli->out, JL_("%.0f GPU{/s}"), n);
		if (jl_fact_known(&sys->gpu->mem_B))
			jl_buf_printf(&cli->out, JL_(" · %s of GPU memory"),
				      jl_view_value(value, n * sys->gpu->mem_B.value, JL_K_BYTES, true));
		if (jl_fact_known(&sys->gpu->tdp_W))
			jl_buf_printf(&cli->out, JL_(" · GPUs up to %s"),
				      jl_view_value(value, n * sys->gpu->tdp_W.value, JL_K_POWER, false));
		jl_buf_putc(&cli->out, '\n');
	}
}

/* The network of a catalog system that stands alone: nothing is at its other end, but the host has it. */
static void net_line(struct tree *tree, const struct jl_system *system, const char *prefix)
{
	char rate[JL_UNITS_TEXT_MAX], count[16] = "";
	const char *text;

	if (system->net && system->n_net > 1)
		snprintf(count, sizeof(count), "%dx ", system->n_net);
	if (!system->net && !jl_fact_known(&system->net_Bps))
		return;
	text = jl_arena_printf(&tree->cli->arena, "%s%s%s%s%s", count, system->net ? system->net : "",
			       system->net && jl_fact_known(&system->net_Bps) ? "  " : "",
			       jl_fact_known(&system->net_Bps)
				       ? jl_view_value(rate, system->net_Bps.value, JL_K_BYTE_RATE, false)
				       : "",
			       jl_fact_known(&system->net_Bps) ? JL_(" one way") : "");
	line(tree, prefix, JL_("network"), text ? text : "", &system->net_Bps);
}

static void system_facts(struct tree *tree, const struct jl_system *system, const char *prefix)
{
	const struct jl_schema *schema = jl_schema_of(JL_R_SYSTEM);

	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *field = &schema->fields[i];

		/* the link and the network are drawn on their own lines */
		if (field->type == JL_F_FACT && strcmp(field->key, "link_bothway") != 0 &&
		    strcmp(field->key, "net_rate") != 0)
			fact_line(tree, prefix, jl_view_label(JL_R_SYSTEM, field), jl_field_at(field, system),
				  field->kind);
	}
	if (system->cpu)
		line(tree, prefix, "CPU", system->cpu, NULL);
}

enum jl_status jl_view_system(struct jl_cli *cli, const struct jl_sys *sys, struct jl_err *err)
{
	struct jl_buf *out = &cli->out;
	struct tree tree = { .cli = cli };
	bool has_net = sys->net != NULL;

	(void)err;
	headline(cli, sys);
	jl_buf_putc(out, '\n');
	jl_buf_printf(out, "%s %s", has_net ? "├─" : "└─", JL_("host"));
	if (sys->n_nodes > 1)
		jl_buf_printf(out, " x %d", sys->n_nodes);
	if (sys->system)
		jl_buf_printf(out, "  %s (%s)", sys->system->id, sys->system->kind);
	jl_buf_putc(out, '\n');
	if (sys->system)
		system_facts(&tree, sys->system, has_net ? "│  ├─ " : "   ├─ ");
	if (sys->system && !has_net)
		net_line(&tree, sys->system, "   ├─ ");
	if (sys->cpu)
		cpu_branch(&tree, sys->cpu, has_net ? "│" : " ");
	if (sys->gpu) {
		const char *bar = has_net ? "│" : " ";
		char head[16], under[16], join[16];
		bool has_join = sys->join != NULL;

		snprintf(head, sizeof(head), "%s  %s ", bar, has_join ? "├─" : "└─");
		snprintf(under, sizeof(under), "%s  %s  ", bar, has_join ? "│" : " ");
		snprintf(join, sizeof(join), "%s  └─ ", bar);
		gpu_branch(&tree, sys, head, under);
		if (has_join)
			link_line(&tree, join, JL_("joined via"), sys->join, 1, sys->join_assumed,
				  &sys->join_oneway_Bps, JL_("one way, per GPU"));
	}
	if (has_net)
		link_line(&tree, "└─ ", JL_("network"), sys->net, sys->n_net, sys->net_assumed, &sys->net_oneway_Bps,
			  JL_("one way, per host"));
	jl_view_footnotes(cli, &tree.notes);
	return JL_OK;
}

void jl_view_system_json(struct jl_json *json, const struct jl_catalog *cat, const struct jl_sys *sys)
{
	jl_json_object(json);
	jl_json_put_string(json, "record", "system expression");
	jl_json_put_string(json, "text", sys->text);
	jl_json_put_integer(json, "n_nodes", sys->n_nodes);
	jl_json_put_integer(json, "n_per_node", sys->n_per_node);
	if (sys->gpu) {
		jl_json_key(json, "gpu");
		jl_view_record_json(json, cat, JL_R_GPU, sys->gpu);
	}
	if (sys->cpu) {
		jl_json_key(json, "cpu");
		jl_view_record_json(json, cat, JL_R_CPU, sys->cpu);
	}
	if (sys->system) {
		jl_json_key(json, "system");
		jl_view_record_json(json, cat, JL_R_SYSTEM, sys->system);
	}
	if (sys->join) {
		jl_json_put_string(json, "join", sys->join->id);
		jl_json_put_bool(json, "join_assumed", sys->join_assumed);
		jl_fact_put(json, "join_oneway_Bps", &sys->join_oneway_Bps);
	}
	if (sys->net) {
		jl_json_put_string(json, "network", sys->net->id);
		jl_json_put_integer(json, "n_network", sys->n_net);
		jl_json_put_bool(json, "network_assumed", sys->net_assumed);
		jl_fact_put(json, "network_oneway_Bps", &sys->net_oneway_Bps);
	}
	jl_json_end_object(json);
}
