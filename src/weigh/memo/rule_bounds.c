/* What no machine can do: more FLOP/s than the chip has, more than all of the time, an all-reduce above what the network carries. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memo/inside.h"
#include "predict/collective_case.h"

#define FIGURES_OF_A_LINE 64 /* more is no sentence */

/* --- arithmetic above the peak */

static double peak(const struct jl_entity *e, bool wide)
{
	double most = NAN;

	for (size_t i = 0; i < e->n_gpus; i++) {
		const struct jl_gpu *g = e->gpus[i];
		const double rates[] = { g->fp16_fp32acc_dense_flopps.value,
					 g->fp16_dense_flopps.value,
					 g->bf16_dense_flopps.value,
					 g->tf32_dense_flopps.value,
					 g->fp32_flopps.value,
					 wide ? g->fp8_dense_flopps.value : NAN,
					 wide ? g->fp4_dense_flopps.value : NAN };

		for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++)
			if (!isnan(rates[k]))
				most = fmax(isnan(most) ? 0 : most, rates[k]);
		if (isnan(g->bf16_dense_flopps.value) && isnan(g->fp16_dense_flopps.value) &&
		    isnan(g->fp16_fp32acc_dense_flopps.value))
			return NAN;
	}
	return most;
}

/* "..., an MFU of 45 %": the share behind both. */
static void check_share_said(struct jl_memo *note, const struct jl_line *line, int32_t reached)
{
	const struct jl_figure *f = &note->figures[reached], *p = f - 1, *r = f + 1;
	const double want = jl_fig_mid(f) / jl_fig_mid(p),
		     slack = want * (jl_fig_slack(f) / jl_fig_mid(f) + jl_fig_slack(p) / jl_fig_mid(p));

	if ((uint32_t)reached + 1 >= line->fig + line->n_figs || r->qty != JL_Q_PERCENT ||
	    r->at - f->at - f->len > 40 ||
	    !jl_span_has(note->text + f->at + f->len, r->at - f->at - f->len, "MFU|utilization|efficiency|이용률|효율"))
		return;
	if (r->lo - r->digit - slack <= want && want <= r->hi + r->digit + slack) {
		jl_memo_judge(note, reached + 1, JL_MEMO_CONFIRMED);
		return;
	}
	jl_finding_gives(note, r, want, true, jl_memo_quote(note, f->at, f->len), "÷",
			 jl_memo_quote(note, p->at, p->len));
}

/* "The peak is 312 TFLOPS; we reached 410": both in one line. */
static void check_peak_said(struct jl_memo *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig], *p = f - 1;
	const uint32_t from = (uint32_t)fig > line->fig && p->at > line->at + 24 ? p->at - 24 : line->at;
	struct jl_said_finding *said;

	if ((uint32_t)fig == line->fig || p->qty != JL_Q_FLOP_RATE || !(p->lo > 0) ||
	    !jl_span_has(note->text + from, p->at - from, "peak|theoretical|피크|이론") ||
	    jl_span_has(note->text + line->at, p->at - line->at, "sparse|reached|achieved|달성") ||
	    !jl_span_has(note->text + p->at + p->len, f->at - p->at - p->len,
			 "reach|reached|achieve|achieved|달성|실측|measured|get|got"))
		return;
	if (f->lo <= p->hi * 1.005)
		check_share_said(note, line, fig);
	else if ((said = jl_finding_on_figure(note, JL_MEMO_WRONG, "bound", fig)))
		jl_said_finding_say(said, "above the peak that the sentence gives, %s",
				    jl_memo_quote(note, p->at, p->len));
}

/* Does the sentence reckon this rate, or say what of it one card has? Then it is of all of them. */
static bool is_of_all(const struct jl_memo *note, const struct jl_line *line, const struct jl_figure *f)
{
	static const char one[] = "장당|대당|카드당|GPU당|GPU 당|per GPU|per-GPU|per card|per device|each|a card|/GPU";
	const char *t = note->text;
	const uint32_t stop = line->at + line->len, end = f->at + f->len;
	const uint32_t from = f->at > line->at + 16 ? f->at - 16 : line->at, to = stop < end + 12 ? stop : end + 12;
	uint32_t at = f->at;

	while (at > line->at && (strchr(" ~", t[at - 1]) || (at > line->at + 3 && memcmp(t + at - 3, "약", 3) == 0)))
		at -= strchr(" ~", t[at - 1]) ? 1 : 3;
	if (at > line->at && (t[at - 1] == '=' || (at > line->at + 3 && memcmp(t + at - 3, "≈", 3) == 0)) &&
	    (memmem(t + line->at, at - line->at, "×", 2) || memmem(t + line->at, at - line->at, " x ", 3) ||
	     memchr(t + line->at, '*', at - line->at)))
		return true;
	return JL_PART_HAS(note, line, one) && !jl_span_has(t + from, f->at - from, one) &&
	       !jl_span_has(t + end, to - end, one);
}

static void check_flops(struct jl_memo *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig];
	const struct jl_mention *on = line->kind == JL_LINE_ROW
					      ? (line->n_mentions ? &note->mentions[line->mention] : NULL)
					      : jl_memo_line_mention(note, f->line);
	const struct jl_entity *e = jl_mention_entity(note, on);
	const uint32_t section = line->section;
	const char *narrow = "FP8|INT8|FP4|NVFP4|MXFP8|sparse|sparsity|희소|2:4|INT4";
	struct jl_said_finding *said;

	if (!on || !e->n_gpus ||
	    JL_PART_HAS(note, line, "총|total|aggregate|cluster|클러스터|nodes|노드|GPUs|PFLOPS|system") ||
	    is_of_all(note, line, f))
		return;
	bool wide = JL_PART_HAS(note, line, narrow) ||
		    (section && JL_PART_HAS(note, &note->lines[section - 1], narrow));
	double most = peak(e, wide) * (on->count ? on->count : 1);
	if (isnan(most) || f->lo <= most * 1.12 || wide)
		return;
	/* a note on FP8 need not say so in every line */
	if (f->lo <= peak(e, true) * (on->count ? on->count : 1) * 1.12 && memmem(note->text, note->len, "FP8", 3))
		return;
	if (!(said = jl_finding_on_figure(note, JL_MEMO_WRONG, "bound", fig)))
		return;
	jl_fig_text(said->estimate, note, f, most, 0);
	said->source = e->gpus[0]->source;
	/* a table's head may say FP8 where the row does not */
	said->shown = line->kind != JL_LINE_ROW;
	jl_said_finding_say(said, "more than %s has: its dense peak is %s", e->gpus[0]->name, said->estimate);
}

/* --- shares above all of it */

static void check_share(struct jl_memo *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig];
	const size_t from = f->at - line->at > 40 ? f->at - 40 : line->at;
	struct jl_said_finding *said;

	if (f->lo <= 1.005 ||
	    !jl_span_has(note->text + from, f->at - from,
			 "MFU|HFU|utilization|utilisation|이용률|사용률|가동률|occupancy|점유율") ||
	    JL_PART_HAS(note, line, "CPU|core|코어"))
		return;
	if ((said = jl_finding_on_figure(note, JL_MEMO_WRONG, "bound", fig)))
		jl_said_finding_say(said, "a share of a peak or of time cannot be above 100 %%");
}

/* --- an all-reduce over nodes */

struct network {
	double node_Bps; /* what a node sends; NAN: nobody says */
	int32_t said_by; /* figure; -1: the catalog */
	const struct jl_system *system;
	double size_B;
};

static const char net_words[] = "EFA|InfiniBand|인피니밴드|네트워크|network|NIC|RoCE|RDMA";
static const char coll_words[] = "algbw|busbw|all-reduce|allreduce|all_reduce|NCCL";

/* The network that the note says its nodes have, and the size that it reduces. */
static struct network network_of(const struct jl_memo *note)
{
	struct network net = { .node_Bps = NAN, .said_by = -1, .size_B = NAN };

	for (size_t i = 0; i < note->n_mentions && !net.system; i++) {
		const struct jl_system *s = note->entities[note->mentions[i].entity].system;

		if (s && s->n_gpu > 1 && s->net_Bps.value > 0)
			net.system = s;
	}
	for (size_t i = 0; i < note->n_figures; i++) {
		const struct jl_figure *f = &note->figures[i];
		const struct jl_line *line = &note->lines[f->line];
		const struct jl_line *head = line->section ? &note->lines[line->section - 1] : line;

		if (line->n_figs > FIGURES_OF_A_LINE || (f->qty != JL_Q_BYTES && f->qty != JL_Q_BYTE_RATE))
			continue;
		if (f->qty == JL_Q_BYTES && isnan(net.size_B) && f->lo >= 1e6 && JL_PART_HAS(note, line, coll_words))
			net.size_B = f->lo;
		if (f->qty == JL_Q_BYTE_RATE && isnan(net.node_Bps) && !(f->flags & JL_FIG_RANGE) &&
		    !JL_PART_HAS(note, line, "algbw|busbw") &&
		    (JL_PART_HAS(note, line, "EFA|InfiniBand") ||
		     (line->kind == JL_LINE_HEAD && JL_PART_HAS(note, line, net_words)) ||
		     (JL_PART_HAS(note, head, net_words) && JL_PART_HAS(note, line, "노드|node|최대|max")))) {
			net.node_Bps = f->lo;
			net.said_by = (int32_t)i;
		}
	}
	if (net.system)
		net.node_Bps = net.system->net_Bps.value;
	return net;
}

/* Where nobody says what a node has: the largest network of the systems that are listed with these GPUs. */
static struct network largest_network(const struct jl_memo *note, const struct jl_entity *e, struct network net)
{
	for (size_t i = 0; e && isnan(net.node_Bps) && e->n_gpus && i < note->cat->n_systems; i++) {
		const struct jl_system *s = &note->cat->systems[i];
		bool is = false;

		for (size_t k = 0; k < e->n_gpus && s->gpu; k++)
			is |= strcmp(e->gpus[k]->id, s->gpu) == 0;
		if (is && s->n_gpu > 1 && s->net_Bps.value > (net.system ? net.system->net_Bps.value : 0))
			net.system = s;
	}
	if (net.system)
		net.node_Bps = net.system->net_Bps.value;
	return net;
}

/* "8 노드: 270 GB/s", "on 16 nodes", "DGX H100 4대", "4x dgx-h100": how many nodes the line speaks of; 0: it does not say, or says several. */
static uint32_t nodes_in(const struct jl_memo *note, const struct jl_line *line)
{
	bool system = false;
	uint32_t n = 0;

	for (uint32_t i = line->mention; i < line->mention + line->n_mentions; i++)
		if (jl_mention_entity(note, &note->mentions[i])->system) {
			system = true;
			n = note->mentions[i].count;
		}
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *f = &note->figures[i];

		if (f->qty != JL_Q_COUNT || !JL_PART_HAS(note, f, system ? "노드|nodes|node|대" : "노드|nodes|node"))
			continue;
		if (n && n != (uint32_t)f->lo)
			return 0;
		n = f->lo >= 2 && f->lo < 100000 ? (uint32_t)f->lo : n;
	}
	return n > 1 ? n : 0;
}

/* The same, where a line about a collective says nothing the headings above it do. */
static uint32_t nodes_of(const struct jl_memo *note, const struct jl_line *line)
{
	uint32_t n = nodes_in(note, line);

	for (uint32_t s = line->section; !n && s && JL_PART_HAS(note, line, coll_words); s = note->lines[s - 1].section)
		n = nodes_in(note, &note->lines[s - 1]);
	/* "the DGX H100 nodes": as many as the note says elsewhere, where it says one number */
	const struct jl_mention *on = NULL;
	for (uint32_t i = 0; !n && i < line->n_mentions && JL_PART_HAS(note, line, "nodes|노드|servers"); i++)
		if (jl_mention_entity(note, &note->mentions[line->mention + i])->system)
			on = &note->mentions[line->mention + i];
	for (size_t i = 0; on && i < note->n_mentions; i++)
		if (note->mentions[i].count > 1 && jl_same_entity(note, on, &note->mentions[i])) {
			if (n && n != note->mentions[i].count)
				return 0;
			n = note->mentions[i].count;
		}
	return n;
}

/* Is it the rate of a link ("busbw") and not of the data? The word before it says so, else the one behind. */
static bool is_busbw(const struct jl_memo *note, const struct jl_line *line, const struct jl_figure *f)
{
	const char *t = note->text;
	uint32_t end = line->at + line->len;

	for (uint32_t at = f->at; at > line->at; at--)
		if (jl_words_begin(t + at, end - at, "busbw|bus bandwidth|algbw|algorithm|알고리즘", false))
			return (t[at] | 0x20) == 'b';
	return jl_span_has(t + f->at, end - f->at, "busbw|bus bandwidth");
}

static bool expect(struct jl_estimate *ret, struct jl_memo *note, const struct network *net, uint32_t nodes)
{
	struct jl_collective_case c;
	struct jl_machine machine;
	struct jl_sys sys;
	struct jl_err err;

	if (!net->system || jl_sys_parse(&sys, note->cat, net->system->id, note->arena, &err) ||
	    jl_machine_hosts(&machine, note->cat, &sys, (int)nodes, note->arena, &err) ||
	    jl_collective_case(&c, &machine,
			       &(struct jl_collective_ask){ .kind = JL_ALLREDUCE,
							    .size_B = isnan(net->size_B) ? 16e9 : net->size_B },
			       &err))
		return false;
	*ret = c.algbw_Bps;
	return true;
}

static void check_share_of_net(struct jl_memo *note, const struct jl_line *line, const struct jl_figure *f,
			       double bound, const struct network *net)
{
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *p = &note->figures[i];
		struct jl_said_finding *said;

		if (p->qty != JL_Q_PERCENT || fabs(jl_fig_mid(p) - jl_fig_mid(f) / net->node_Bps) > p->digit ||
		    bound > 0.9 * net->node_Bps)
			continue;
		jl_memo_judge(note, (int32_t)i, JL_MEMO_CONFIRMED);
		if (jl_fig_mid(f) > bound || !(said = jl_finding_on_figure(note, JL_MEMO_DIFFERS, "bound", (int32_t)i)))
			continue;
		jl_fig_text(said->estimate, note, p, jl_fig_mid(f) / bound, 0);
		jl_said_finding_say(
			said,
			"a share of a rate that an all-reduce over these nodes cannot reach; of the bound it is %s",
			said->estimate);
	}
}

static void check_allreduce(struct jl_memo *note, const struct jl_line *line, int32_t fig,
			    const struct network *said_net)
{
	const struct jl_figure *f = &note->figures[fig];
	const uint32_t nodes = nodes_of(note, line);
	uint32_t from, to;

	/* another rate may stand in the line */
	jl_memo_sentence(note, line, f->at, &from, &to);
	if (jl_span_has(note->text + from, to - from, "memory|메모리|HBM|NVLink|PCIe") &&
	    !jl_span_has(note->text + from, to - from, coll_words))
		return;
	if (!nodes ||
	    JL_PART_HAS(note, line, "SHARP|all-gather|allgather|broadcast|reduce-scatter|all-to-all|alltoall"))
		return;
	const struct network net = largest_network(note, jl_mention_entity(note, jl_memo_line_mention(note, f->line)),
						   *said_net);
	const double ranks = nodes * (net.system ? net.system->n_gpu : 8.0), bus = 2 * (ranks - 1) / ranks,
		     as = is_busbw(note, line, f) ? bus : 1, bound = as * net.node_Bps * nodes / (2.0 * (nodes - 1));
	struct jl_said_finding *said = NULL;
	struct jl_estimate e;
	char lo[JL_SHOULD_MAX];

	if (isnan(bound))
		return;
	if (jl_fig_mid(f) > bound * 1.02)
		said = jl_finding_on_figure(note, JL_MEMO_WRONG, "bound", fig);
	else if (as == 1)
		check_share_of_net(note, line, f, bound, &net);
	if (said) {
		jl_fig_text(said->premises, note, f, bound, 0);
		snprintf(lo, sizeof lo, "≤ %.50s", said->premises);
		memcpy(said->premises, lo, sizeof lo);
		jl_said_finding_say(said,
				    "an all-reduce over %u nodes cannot be above the network's %.3g GB/s x %u/%u: "
				    "every byte leaves a node nearly twice",
				    nodes, as * net.node_Bps / 1e9, nodes, 2 * (nodes - 1));
	}
	if (!expect(&e, note, &net, nodes))
		return;
	if (said) {
		jl_fig_range_text(said->estimate, note, f, as * e.lo, as * e.hi);
		return;
	}
	const bool inside = f->lo <= as * e.hi && f->hi >= as * e.lo;
	if (note->verdicts[fig] == JL_MEMO_CANNOT && said_net->system &&
	    (said = jl_finding_on_figure(note, inside ? JL_MEMO_COMPATIBLE : JL_MEMO_UNLIKELY, "expected", fig))) {
		jl_fig_range_text(said->estimate, note, f, as * e.lo, as * e.hi);
		jl_said_finding_say(said, "jeoul expects %s there (80 %% interval)", said->estimate);
	}
}

/* --- both directions beside one */

static const struct jl_mention *section_mention(const struct jl_memo *note, uint32_t line)
{
	for (uint32_t s = note->lines[line].section; s; s = note->lines[s - 1].section)
		if (note->lines[s - 1].n_mentions)
			return jl_memo_line_mention(note, s - 1);
	return NULL;
}

/* Is a rate of PCIe, which is one way, set beside it? */
static bool pcie_beside(const struct jl_memo *note, uint32_t l)
{
	for (uint32_t i = l > 3 ? l - 3 : 0; i < l + 4 && i < note->n_lines; i++)
		for (uint32_t f = note->lines[i].fig; i != l && f < note->lines[i].fig + note->lines[i].n_figs; f++)
			if (note->figures[f].qty == JL_Q_BYTE_RATE && JL_PART_HAS(note, &note->lines[i], "PCIe"))
				return true;
	return false;
}

static void check_both_ways(struct jl_memo *note, uint32_t l, int32_t fig)
{
	const struct jl_line *line = &note->lines[l];
	const struct jl_figure *f = &note->figures[fig];
	const struct jl_mention *on = line->n_mentions ? jl_memo_line_mention(note, l) : section_mention(note, l);
	const struct jl_entity *e = jl_mention_entity(note, on);
	struct jl_said_finding *said;

	if (!on || e->n_gpus != 1 || !JL_PART_HAS(note, line, "nvlink") ||
	    JL_PART_HAS(note, line, "양방향|bidirectional|both|duplex|total|합") || !pcie_beside(note, l))
		return;
	double one = e->gpus[0]->link_oneway_Bps.value;
	if (!(fabs(f->lo / e->gpus[0]->link_bothway_Bps.value - 1) < 0.01) || !(f->lo > 1.5 * one) ||
	    !(said = jl_finding_on_figure(note, JL_MEMO_DIFFERS, "listed", fig)))
		return;
	jl_fig_text(said->estimate, note, f, one, 0);
	said->source = e->gpus[0]->source;
	jl_said_finding_say(said, "the sum of both directions beside PCIe's one: one way it is %s", said->estimate);
}

/* --- a model that does not fit */

static const char small[] = "LoRA|QLoRA|8-bit|4-bit|8bit|4bit|INT8|INT4|FP8|FP4|quant|quantized|양자화|offload|"
			    "offloading|오프로딩|오프로드|GGUF|AWQ|GPTQ|MoE|pruned";

enum use { USE_NONE, USE_TRAIN, USE_INFER };

static enum use use_of(const struct jl_memo *note, uint32_t line)
{
	for (uint32_t s = line + 1, hops = 0; s && hops < 3; s = note->lines[s - 1].section, hops++) {
		if (JL_PART_HAS(note, &note->lines[s - 1], "추론|inference|serving|서빙|serve|LLaMA 70B"))
			return USE_INFER;
		if (JL_PART_HAS(note, &note->lines[s - 1], "학습|training|train|fine-tuning|pretraining"))
			return USE_TRAIN;
	}
	return USE_NONE;
}

/* Bytes of one GPU that weights, gradients and AdamW's states take at least. */
static double least_B(const struct jl_memo *note, const struct jl_line *line, enum use use, double params, double n)
{
	if (use == USE_INFER)
		return params * 2 / n;
	if (JL_PART_HAS(note, line, "ZeRO-2|ZeRO 2|ZeRO2"))
		return params * 2 + params * 14 / n;
	return params * 16 / n; /* sharded as far as it goes */
}

/* A model that a line names: its figure, or part of a name ("Llama-3-70B"). */
struct named_model {
	double params;
	int32_t fig; /* -1: in a name */
	uint32_t at, len;
};

static void check_fit(struct jl_memo *note, uint32_t l, const struct named_model *m, double n)
{
	const struct jl_line *line = &note->lines[l];
	const struct jl_mention *on = line->n_mentions ? jl_memo_line_mention(note, l) : section_mention(note, l);
	const struct jl_entity *e = jl_mention_entity(note, on);
	const enum use use = use_of(note, l);
	struct jl_said_finding *said;
	const char *name = NULL;
	double mem = 0, need;

	if (!on || !e->n_gpus || use == USE_NONE || JL_PART_HAS(note, line, small) || m->params < 5e8)
		return;
	for (size_t i = 0; i < e->n_gpus; i++) /* the roomiest that it may mean */
		if (e->gpus[i]->mem_B.value > mem) {
			mem = e->gpus[i]->mem_B.value;
			name = e->gpus[i]->name;
		}
	need = least_B(note, line, use, m->params, n);
	if (!(mem > 0) || need <= mem * 1.02 ||
	    !(said = jl_finding_new(note, JL_MEMO_UNLIKELY, "bound", m->at, m->len, m->fig)))
		return;
	snprintf(said->estimate, sizeof said->estimate, "%.0f GB > %.0f GiB", need / 1e9, mem / 1073741824.0);
	if (use == USE_INFER)
		jl_said_finding_say(
			said,
			"16-bit weights take %.0f GB on each of %.0f, and %s has %.0f GiB; %d bits or fewer would fit",
			need / 1e9, n, name, mem / 1073741824.0,
			need / 2 < mem   ? 8
			: need / 4 < mem ? 4
					 : 2);
	else
		jl_said_finding_say(said,
				    "weights, gradients and AdamW's states (16 bytes a parameter) take %.0f GB on each "
				    "of %.0f, and %s has %.0f GiB",
				    need / 1e9, n, name, mem / 1073741824.0);
}

/* The number of GPUs that a line gives a model: "2GPU", "single GPU"; 0: none, or several nodes. */
static double gpus_of(const struct jl_memo *note, const struct jl_line *line)
{
	double n = 0;

	if (JL_PART_HAS(note, line, "멀티노드|multi-node|multinode|nodes|노드|Tensor Parallel"))
		return 0;
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *f = &note->figures[i];

		if (f->qty == JL_Q_COUNT && JL_PART_HAS(note, f, "GPU|GPUs|장") && f->lo >= 1)
			n = f->hi;
	}
	if (n == 0 && JL_PART_HAS(note, line, "단일 GPU|single GPU|one GPU|1 GPU|single-GPU"))
		n = 1;
	return n;
}

/* "-70B" at the end of a name. */
static bool model_in_name(const struct jl_memo *note, const struct jl_line *line, struct named_model *ret)
{
	const char *t = note->text + line->at;

	for (uint32_t i = 1; i + 2 < line->len; i++) {
		uint32_t from = i, to;
		double v = 0;

		if (t[i - 1] != '-' || !isdigit((unsigned char)t[i]))
			continue;
		for (to = i; to < line->len && isdigit((unsigned char)t[to]) && to - i < 4; to++)
			v = v * 10 + (t[to] - '0');
		if (to >= line->len || t[to] != 'B' || (to + 1 < line->len && isalnum((unsigned char)t[to + 1])))
			continue;
		while (from && (isalnum((unsigned char)t[from - 1]) || strchr("-.", t[from - 1])))
			from--;
		*ret = (struct named_model){ v * 1e9, -1, line->at + from, to + 1 - from };
		return v > 0;
	}
	return false;
}

static void check_model(struct jl_memo *note, uint32_t l)
{
	const struct jl_line *line = &note->lines[l];
	const double n = gpus_of(note, line);
	struct named_model m = { .fig = -1 };

	if (!(n > 0))
		return;
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++)
		if (note->figures[i].qty == JL_Q_PARAMS && note->figures[i].scale >= 1e9) {
			if (m.len)
				return; /* two models */
			m = (struct named_model){ note->figures[i].lo, (int32_t)i, note->figures[i].at,
						  note->figures[i].len };
		}
	if (m.len || (line->len < 400 && line->kind != JL_LINE_HEAD && model_in_name(note, line, &m)))
		check_fit(note, l, &m, n);
}

static bool is_collective(const struct jl_memo *note, const struct jl_line *line, const struct network *net)
{
	return net->said_by >= 0 || JL_PART_HAS(note, line, coll_words) ||
	       (line->section && JL_PART_HAS(note, &note->lines[line->section - 1], coll_words));
}

void jl_rule_bounds(struct jl_memo *note)
{
	const struct network net = network_of(note);

	for (size_t l = 0; l < note->n_lines; l++) {
		const struct jl_line *line = &note->lines[l];
		int coll = -1; /* not looked at yet */

		if (line->n_figs > FIGURES_OF_A_LINE)
			continue;
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			const uint8_t q = note->figures[i].qty;

			if (note->verdicts[i] <= JL_MEMO_UNLIKELY)
				continue;
			if (q == JL_Q_FLOP_RATE)
				check_flops(note, line, (int32_t)i), check_peak_said(note, line, (int32_t)i);
			else if (q == JL_Q_PERCENT)
				check_share(note, line, (int32_t)i);
			else if (q == JL_Q_BYTE_RATE && (coll < 0 ? (coll = is_collective(note, line, &net)) : coll))
				check_allreduce(note, line, (int32_t)i, &net);
			if (q == JL_Q_BYTE_RATE)
				check_both_ways(note, (uint32_t)l, (int32_t)i);
		}
		if (line->n_figs)
			check_model(note, (uint32_t)l);
	}
}
