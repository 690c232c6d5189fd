/* Checks physical limits: FLOP/s above the chip's peak, shares above 100 %, an all-reduce above the network's bandwidth. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/inside.h"
#include "predict/collective_case.h"

#define FIGURES_OF_A_LINE 64 /* more is not a sentence */

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

		for (size_t k = 0; k < JL_LEN(rates); k++)
			if (!isnan(rates[k]))
				most = fmax(isnan(most) ? 0 : most, rates[k]);
		if (isnan(g->bf16_dense_flopps.value) && isnan(g->fp16_dense_flopps.value) &&
		    isnan(g->fp16_fp32acc_dense_flopps.value))
			return NAN;
	}
	return most;
}

/* "..., an MFU of 45 %": checks a share stated after rate and peak. */
static void check_share_said(struct jl_audit_note *note, const struct jl_line *line, int32_t reached)
{
	const struct jl_figure *f = &note->figures[reached], *p = f - 1, *r = f + 1;
	const double want = jl_fig_mid(f) / jl_fig_mid(p),
		     slack = want * (jl_fig_slack(f) / jl_fig_mid(f) + jl_fig_slack(p) / jl_fig_mid(p));

	if ((uint32_t)reached + 1 >= line->fig + line->n_figs || r->qty != JL_Q_PERCENT ||
	    r->at - f->at - f->len > 40 ||
	    !jl_span_has(note->text + f->at + f->len, r->at - f->at - f->len, "MFU|utilization|efficiency|이용률|효율"))
		return;
	if (r->lo - r->digit - slack <= want && want <= r->hi + r->digit + slack) {
		jl_audit_judge(note, reached + 1, JL_AUDIT_CONFIRMED);
		return;
	}
	jl_finding_gives(note, r, want, true, JL_QUOTE(note, f), "÷", JL_QUOTE(note, p));
}

/* "The peak is 312 TFLOPS; we reached 410": checks two figures in one line. */
static void check_peak_said(struct jl_audit_note *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig], *p = f - 1;
	const uint32_t from = (uint32_t)fig > line->fig && p->at > line->at + 24 ? p->at - 24 : line->at;
	struct jl_audit_finding *said;

	if ((uint32_t)fig == line->fig || p->qty != JL_Q_FLOP_RATE || !(p->lo > 0) ||
	    !jl_span_has(note->text + from, p->at - from, "peak|theoretical|피크|이론") ||
	    jl_span_has(note->text + line->at, p->at - line->at, "sparse|reached|achieved|달성") ||
	    !jl_span_has(note->text + p->at + p->len, f->at - p->at - p->len,
			 "reach|reached|achieve|achieved|달성|실측|measured|get|got"))
		return;
	if (f->lo <= p->hi * 1.005)
		check_share_said(note, line, fig);
	else if ((said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "bound", fig)))
		jl_audit_finding_explain(said, "above the peak that the sentence gives, %s", JL_QUOTE(note, p));
}

/* True if the rate is that of all cards: the sentence computes it, or also states the rate per card. */
static bool is_of_all(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *f)
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

static void check_flops(struct jl_audit_note *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig];
	const struct jl_mention *on = line->kind == JL_LINE_ROW
					      ? (line->n_mentions ? &note->mentions[line->mention] : NULL)
					      : jl_audit_line_mention(note, f->line);
	const struct jl_entity *e = jl_mention_entity(note, on);
	const uint32_t section = line->section;
	const char *narrow = "FP8|INT8|FP4|NVFP4|MXFP8|sparse|sparsity|희소|2:4|INT4";
	struct jl_audit_finding *said;

	if (!on || !e->n_gpus ||
	    JL_PART_HAS(note, line, "총|total|aggregate|cluster|클러스터|nodes|노드|GPUs|PFLOPS|system") ||
	    is_of_all(note, line, f))
		return;
	bool wide = JL_PART_HAS(note, line, narrow) ||
		    (section && JL_PART_HAS(note, &note->lines[section - 1], narrow));
	double most = peak(e, wide) * (on->count ? on->count : 1);
	if (isnan(most) || f->lo <= most * 1.12 || wide)
		return;
	/* a note on FP8 need not mention it in each line */
	if (f->lo <= peak(e, true) * (on->count ? on->count : 1) * 1.12 && memmem(note->text, note->len, "FP8", 3))
		return;
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "bound", fig)))
		return;
	jl_fig_text(said->estimate, note, f, most, 0);
	said->source = e->gpus[0]->source;
	/* the table's header may mention FP8 */
	said->shown = line->kind != JL_LINE_ROW;
	jl_audit_finding_explain(said, "more than %s has: its dense peak is %s", e->gpus[0]->name, said->estimate);
}

/* --- shares above 100 % */

static void check_share(struct jl_audit_note *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig];
	const size_t from = f->at - line->at > 40 ? f->at - 40 : line->at;
	struct jl_audit_finding *said;

	if (f->lo <= 1.005 ||
	    !jl_span_has(note->text + from, f->at - from,
			 "MFU|HFU|utilization|utilisation|이용률|사용률|가동률|occupancy|점유율") ||
	    JL_PART_HAS(note, line, "CPU|core|코어"))
		return;
	if ((said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "bound", fig)))
		jl_audit_finding_explain(said, "a share of a peak or of time cannot be above 100 %%");
}

/* --- an all-reduce over nodes */

struct network {
	double node_Bps; /* bandwidth of a node; NAN: unknown */
	int32_t said_by; /* figure that states it; -1: the catalog */
	const struct jl_system *system;
	double size_B;
};

static const char net_words[] = "EFA|InfiniBand|인피니밴드|네트워크|network|NIC|RoCE|RDMA";
static const char coll_words[] = "algbw|busbw|all-reduce|allreduce|all_reduce|NCCL";

/* The nodes' network and message size stated in the note. */
static struct network network_of(const struct jl_audit_note *note)
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

/* Default network of a node: the fastest of the catalog's systems with these GPUs. */
static struct network largest_network(const struct jl_audit_note *note, const struct jl_entity *e, struct network net)
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

/* Number of nodes that the line mentions: "8 노드: 270 GB/s", "on 16 nodes", "DGX H100 4대", "4x dgx-h100"; 0: none or several. */
static uint32_t nodes_in(const struct jl_audit_note *note, const struct jl_line *line)
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

/* The same; if a line about a collective mentions none, from the headings above. */
static uint32_t nodes_of(const struct jl_audit_note *note, const struct jl_line *line)
{
	uint32_t n = nodes_in(note, line);

	for (uint32_t s = line->section; !n && s && JL_PART_HAS(note, line, coll_words); s = note->lines[s - 1].section)
		n = nodes_in(note, &note->lines[s - 1]);
	/* "the DGX H100 nodes": the number given elsewhere, if unique */
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

/* True if the word before the rate, otherwise after it, is bus bandwidth ("busbw"). */
static bool is_busbw(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *f)
{
	const char *t = note->text;
	uint32_t end = line->at + line->len;

	for (uint32_t at = f->at; at > line->at; at--)
		if (jl_words_begin(t + at, end - at, "busbw|bus bandwidth|algbw|algorithm|알고리즘", false))
			return (t[at] | 0x20) == 'b';
	return jl_span_has(t + f->at, end - f->at, "busbw|bus bandwidth");
}

static bool expect(struct jl_estimate *ret, struct jl_audit_note *note, const struct network *net, uint32_t nodes)
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

static void check_share_of_net(struct jl_audit_note *note, const struct jl_line *line, const struct jl_figure *f,
			       double bound, const struct network *net)
{
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *p = &note->figures[i];
		struct jl_audit_finding *said;

		if (p->qty != JL_Q_PERCENT || fabs(jl_fig_mid(p) - jl_fig_mid(f) / net->node_Bps) > p->digit ||
		    bound > 0.9 * net->node_Bps)
			continue;
		jl_audit_judge(note, (int32_t)i, JL_AUDIT_CONFIRMED);
		if (jl_fig_mid(f) > bound ||
		    !(said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "bound", (int32_t)i)))
			continue;
		jl_fig_text(said->estimate, note, p, jl_fig_mid(f) / bound, 0);
		jl_audit_finding_explain(
			said,
			"a share of a rate that an all-reduce over these nodes cannot reach; of the bound it is %s",
			said->estimate);
	}
}

static void check_allreduce(struct jl_audit_note *note, const struct jl_line *line, int32_t fig,
			    const struct network *said_net)
{
	const struct jl_figure *f = &note->figures[fig];
	const uint32_t nodes = nodes_of(note, line);
	uint32_t from, to;

	/* another kind of rate may be in the line */
	jl_audit_sentence(note, line, f->at, &from, &to);
	if (jl_span_has(note->text + from, to - from, "memory|메모리|HBM|NVLink|PCIe") &&
	    !jl_span_has(note->text + from, to - from, coll_words))
		return;
	if (!nodes ||
	    JL_PART_HAS(note, line, "SHARP|all-gather|allgather|broadcast|reduce-scatter|all-to-all|alltoall"))
		return;
	const struct network net = largest_network(note, jl_mention_entity(note, jl_audit_line_mention(note, f->line)),
						   *said_net);
	const double ranks = nodes * (net.system ? net.system->n_gpu : 8.0), bus = 2 * (ranks - 1) / ranks,
		     as = is_busbw(note, line, f) ? bus : 1, bound = as * net.node_Bps * nodes / (2.0 * (nodes - 1));
	struct jl_audit_finding *said = NULL;
	struct jl_estimate e;
	char lo[JL_SHOULD_MAX];

	if (isnan(bound))
		return;
	if (jl_fig_mid(f) > bound * 1.02)
		said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "bound", fig);
	else if (as == 1)
		check_share_of_net(note, line, f, bound, &net);
	if (said) {
		jl_fig_text(said->premises, note, f, bound, 0);
		snprintf(lo, sizeof lo, "≤ %.50s", said->premises);
		memcpy(said->premises, lo, sizeof lo);
		if (as > 1)
			jl_audit_finding_explain(
				said,
				"the busbw of an all-reduce over %u nodes cannot be above the network's "
				"%.3g GB/s x %u/%u x %.3g: every byte leaves a node nearly twice",
				nodes, net.node_Bps / 1e9, nodes, 2 * (nodes - 1), as);
		else
			jl_audit_finding_explain(
				said,
				"an all-reduce over %u nodes cannot be above the network's %.3g GB/s x "
				"%u/%u: every byte leaves a node nearly twice",
				nodes, net.node_Bps / 1e9, nodes, 2 * (nodes - 1));
	}
	if (!expect(&e, note, &net, nodes))
		return;
	if (said) {
		jl_fig_range_text(said->estimate, note, f, as * e.lo, as * e.hi);
		return;
	}
	/* unlikely: outside the verdict "normal" */
	const bool inside = f->lo <= as * e.value * pow(e.hi / e.value, JL_VERDICT_WIDER) &&
			    f->hi >= as * e.value * pow(e.lo / e.value, JL_VERDICT_WIDER);
	if (note->verdicts[fig] == JL_AUDIT_CANNOT && said_net->system &&
	    (said = jl_finding_on_figure(note, inside ? JL_AUDIT_COMPATIBLE : JL_AUDIT_UNLIKELY, "expected", fig))) {
		jl_fig_range_text(said->estimate, note, f, as * e.lo, as * e.hi);
		said->beside = inside && (f->lo > as * e.hi || f->hi < as * e.lo);
		if (said->beside)
			jl_audit_finding_explain(said,
						 "jeoul expects %s there (80 %% interval); this is just outside it, as "
						 "is one run in five",
						 said->estimate);
		else
			jl_audit_finding_explain(said, "jeoul expects %s there (80 %% interval)", said->estimate);
	}
}

/* --- swapped faster and slower */

/* "A100은 H100보다 3배 빠릅니다", "the A100 is 3x faster than the H100": one figure, two names. */
static void check_faster(struct jl_audit_note *note, const struct jl_line *line, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig];
	const struct jl_mention *m = &note->mentions[line->mention];
	struct jl_audit_finding *said;

	if (line->n_figs != 1 || line->n_mentions != 2 || m[0].count || m[1].count || line->kind == JL_LINE_ROW ||
	    line->len > 300 || f->lo <= 1 ||
	    JL_PART_HAS(note, line, "servers|server|nodes|cluster|서버|노드|클러스터|not|않|아니") ||
	    JL_PART_HAS(note, line, "price|cost|dollar|가격|비용|달러|원|watt|와트|전력|efficien|FP64|latency|지연"))
		return;
	/* "X is 3x faster than Y", "X는 Y보다 3배 빠르다", "X보다 Y가 3배 빠르다" */
	const uint32_t between = m[0].at + m[0].len, behind = m[1].at + m[1].len;
	const bool slow = JL_PART_HAS(note, line, "slower|느리|느립|느린"),
		   than = jl_span_has(note->text + between, m[1].at - between, "faster than|slower than|quicker than"),
		   korean = jl_words_begin(note->text + behind, line->at + line->len - behind, "보다", false) &&
			    f->at > behind && JL_PART_HAS(note, line, "빠르|빠릅|빠른|느리|느립|느린"),
		   turned = jl_words_begin(note->text + between, m[1].at - between, "보다", false) && f->at > behind &&
			    JL_PART_HAS(note, line, "빠르|빠릅|빠른|느리|느립|느린");
	if (!than && !korean && !turned)
		return;
	const struct jl_mention *fast = &m[slow != turned], *other = &m[slow == turned];
	const struct jl_entity *x = jl_mention_entity(note, fast), *y = jl_mention_entity(note, other);
	const double most = jl_entity_rate_ratio(x, y);
	if (!(most < 1.05) || !(f->lo > 1.3 * most) ||
	    !(said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "listed", fig)))
		return;
	said->source = x->gpus[0]->source;
	jl_audit_finding_explain(said, "no listed rate of %s is more than %.2gx that of %s; is it the other way round?",
				 JL_QUOTE(note, fast), most, JL_QUOTE(note, other));
}

/* --- a bidirectional rate compared with a unidirectional one */

/* True if a unidirectional PCIe rate is nearby. */
static bool pcie_beside(const struct jl_audit_note *note, uint32_t l)
{
	for (uint32_t i = l > 3 ? l - 3 : 0; i < l + 4 && i < note->n_lines; i++)
		for (uint32_t f = note->lines[i].fig; i != l && f < note->lines[i].fig + note->lines[i].n_figs; f++)
			if (note->figures[f].qty == JL_Q_BYTE_RATE && JL_PART_HAS(note, &note->lines[i], "PCIe"))
				return true;
	return false;
}

static void check_both_ways(struct jl_audit_note *note, uint32_t l, int32_t fig)
{
	const struct jl_line *line = &note->lines[l];
	const struct jl_figure *f = &note->figures[fig];
	const struct jl_mention *on = line->n_mentions ? jl_audit_line_mention(note, l)
						       : jl_audit_section_mention(note, l);
	const struct jl_entity *e = jl_mention_entity(note, on);
	struct jl_audit_finding *said;

	if (!on || e->n_gpus != 1 || !JL_PART_HAS(note, line, "nvlink") ||
	    JL_PART_HAS(note, line, "양방향|bidirectional|both|duplex|total|합") || !pcie_beside(note, l))
		return;
	double one = e->gpus[0]->link_oneway_Bps.value;
	if (!(fabs(f->lo / e->gpus[0]->link_bothway_Bps.value - 1) < 0.01) || !(f->lo > 1.5 * one) ||
	    !(said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "listed", fig)))
		return;
	jl_fig_text(said->estimate, note, f, one, 0);
	said->source = e->gpus[0]->source;
	jl_audit_finding_explain(said,
				 "the sum of both directions, compared with PCIe's one-way rate: one way it is %s",
				 said->estimate);
}

static bool is_collective(const struct jl_audit_note *note, const struct jl_line *line, const struct network *net)
{
	return net->said_by >= 0 || JL_PART_HAS(note, line, coll_words) ||
	       (line->section && JL_PART_HAS(note, &note->lines[line->section - 1], coll_words));
}

void jl_rule_bounds(struct jl_audit_note *note)
{
	const struct network net = network_of(note);

	for (size_t l = 0; l < note->n_lines; l++) {
		const struct jl_line *line = &note->lines[l];
		int coll = -1; /* not yet determined */

		if (line->n_figs > FIGURES_OF_A_LINE)
			continue;
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			const uint8_t q = note->figures[i].qty;

			if (note->verdicts[i] <= JL_AUDIT_UNLIKELY)
				continue;
			if (q == JL_Q_FLOP_RATE)
				check_flops(note, line, (int32_t)i), check_peak_said(note, line, (int32_t)i);
			else if (q == JL_Q_RATIO)
				check_faster(note, line, (int32_t)i);
			else if (q == JL_Q_PERCENT)
				check_share(note, line, (int32_t)i);
			else if (q == JL_Q_BYTE_RATE && (coll < 0 ? (coll = is_collective(note, line, &net)) : coll))
				check_allreduce(note, line, (int32_t)i, &net);
			if (q == JL_Q_BYTE_RATE)
				check_both_ways(note, (uint32_t)l, (int32_t)i);
		}
	}
}
