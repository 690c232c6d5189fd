/* Compares figures of named hardware with the catalog. A value listed for any variant of the name is right; a value equal to another listed
 * figure (sparse, bidirectional, without tensor cores) is reported as that. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/inside.h"

/* M_SAID_RATE: the words may mean another rate, so only values above the listed one are reported. */
enum metric_kind { M_RATE, M_MEMORY, M_MEM_RATE, M_SAID_RATE, M_LINK, M_POWER, M_COUNT, M_GENERATION, M_YEAR };

struct metric {
	const char *words; /* required: one of these in the label */
	const char * not ; /* none of these in the line */
	enum jl_qty qty;
	enum metric_kind kind;
	size_t fact, other; /* offsets in struct jl_gpu; other: alternative correct fact, 0: none */
	size_t sparse;
	const char *en;
	double within; /* relative tolerance */
};

#define F(member) offsetof(struct jl_gpu, member)
#define MEASURED                                                                                                           \
	"achieved|achieve|measured|달성|실측|측정|MFU|HFU|utilization|throughput|actual|평균|average|GEMM|matmul|" \
	"attention|forward|backward|"                                                                                      \
	"sustained|reach|reached|reaches|per GPU|/GPU|training|학습|kernel|effective|observed|benchmark|up "             \
	"to|get|gets|obtain"

static const struct metric metrics[] = {
	{ "FP64", MEASURED, JL_Q_FLOP_RATE, M_RATE, F(fp64_flopps), 0, 0, JL_N("FP64"), 0.06 },
	{ "TF32", MEASURED, JL_Q_FLOP_RATE, M_RATE, F(tf32_dense_flopps), 0, F(tf32_sparse_flopps),
	  JL_N("TF32 (dense)"), 0.05 },
	{ "BF16|bfloat16", MEASURED, JL_Q_FLOP_RATE, M_RATE, F(bf16_dense_flopps), 0, F(bf16_sparse_flopps),
	  JL_N("BF16 (dense)"), 0.06 },
	{ "FP16|F16|half precision|half-precision", MEASURED, JL_Q_FLOP_RATE, M_RATE, F(fp16_fp32acc_dense_flopps),
	  F(fp16_dense_flopps), F(fp16_sparse_flopps), JL_N("FP16 tensor cores (dense)"), 0.12 },
	{ "FP8", MEASURED, JL_Q_FLOP_RATE, M_RATE, F(fp8_dense_flopps), 0, F(fp8_sparse_flopps), JL_N("FP8 (dense)"),
	  0.06 },
	{ "FP32|F32|single precision", MEASURED, JL_Q_FLOP_RATE, M_RATE, F(fp32_flopps), F(tf32_dense_flopps), 0,
	  JL_N("FP32"), 0.10 },
	{ "메모리 대역폭|memory bandwidth|mem bandwidth|mem BW|HBM bandwidth|Memory BW",
	  "measured|실측|달성|achieved|utilization|stream|nvlink|pcie|effective", JL_Q_BYTE_RATE, M_MEM_RATE,
	  F(mem_Bps), 0, 0, JL_N("memory bandwidth"), 0.045 },
	{ "nvlink", "measured|실측|busbw|algbw|achieved|all-reduce|allreduce|nvswitch", JL_Q_BYTE_RATE, M_LINK,
	  F(link_bothway_Bps), F(link_oneway_Bps), 0, JL_N("NVLink"), 0.03 },
	{ "bandwidth|대역폭|HBM|GDDR|TB/s",
	  MEASURED "|nvlink|pcie|nvswitch|fabric|L1|L2|cache|캐시|shared|network|네트워크|node|nodes|노드|aggregate|"
		   "total|합|총|disk|SSD|NVMe|busbw|algbw|all-reduce|CPU|host",
	  JL_Q_BYTE_RATE, M_SAID_RATE, F(mem_Bps), 0, 0, JL_N("memory bandwidth"), 0.045 },
	{ "메모리|memory|VRAM|GPU RAM|HBM|GDDR",
	  "사용|usage|used|peak|allocated|시스템|system|requirement|필요|host|예산|budget|부족|여유|needs|need|free|"
	  "reserved|shared|공유|L1|L2|cache|이상|up to|left|remain|remaining|in use",
	  JL_Q_BYTES, M_MEMORY, F(mem_B), 0, 0, JL_N("memory"), 0.03 },
	{ "TDP|전력|소비 전력|power limit|max power|power draw|Power|TGP",
	  "PSU|파워|supply|권장|idle|measured|실측|평균|average|서플라이|efficiency", JL_Q_POWER, M_POWER, F(tdp_W), 0,
	  0, JL_N("power limit (TDP)"), 0.06 },
	{ "CUDA cores|CUDA core|CUDA 코어|쿠다 코어|stream processors", "", JL_Q_NUMBER, M_COUNT, F(n_core), 0, 0,
	  JL_N("CUDA cores"), 0.04 },
	{ "Tensor cores|텐서 코어|Tensor core", "per SM|SM당", JL_Q_NUMBER, M_COUNT, F(n_tensor_core), 0, 0,
	  JL_N("tensor cores"), 0.04 },
	{ "SMs|SM 수|streaming multiprocessors", "", JL_Q_NUMBER, M_COUNT, F(n_sm), 0, 0, JL_N("SMs"), 0.04 },
	{ "Tensor core|Tensor cores|텐서 코어|텐서코어", "", JL_Q_GENERATION, M_GENERATION, 0, 0, 0,
	  JL_N("generation of its tensor cores"), 0.001 },
	{ "출시|출시년도|출시연도|release|released|launch|launched|년도|release year|launch year", "driver|version",
	  JL_Q_NUMBER, M_YEAR, 0, 0, 0, JL_N("year of release"), 0 },
};

static const struct jl_fact *fact_of(const struct jl_gpu *gpu, size_t offset)
{
	return offset ? (const struct jl_fact *)(const void *)((const char *)gpu + offset) : NULL;
}

static bool near(const struct jl_figure *f, double listed, double within)
{
	/* within a range or bound; otherwise within its digits, or the tolerance between sources */
	const double slack = fmax(jl_fig_slack(f), within * listed);

	if (f->flags & JL_FIG_LEAST && listed >= f->lo * 0.98 && listed <= f->lo * 1.5)
		return true;
	if (f->flags & JL_FIG_MOST && listed <= f->hi * 1.02)
		return true;
	return f->lo - slack <= listed && listed <= f->hi + slack;
}

/* Accepts both conventions: "80 GB" of a card are 80 GiB or 80 GB. `count`: total of all cards. */
static bool right(const struct metric *m, const struct jl_figure *f, const struct jl_entity *e, size_t offset,
		  uint32_t count, bool total)
{
	for (size_t i = 0; i < e->n_gpus; i++) {
		const struct jl_fact *fact = fact_of(e->gpus[i], offset);
		double v = fact ? fact->value : NAN;

		if (isnan(v))
			continue;
		for (uint32_t n = 1; n <= 16; n++) {
			if (n > 1 && n != count && !(count == 0 && total && (n == 2 || n == 4 || n == 8)))
				continue;
			if (near(f, v * n, m->within) ||
			    (m->kind == M_MEMORY && near(f, v * n / 1.073741824, m->within)))
				return true;
		}
	}
	return false;
}

static bool known(const struct jl_entity *e, size_t offset)
{
	for (size_t i = 0; i < e->n_gpus; i++)
		if (!isnan(fact_of(e->gpus[i], offset)->value))
			return true;
	return false;
}

struct place { /* text around a figure */
	const char *label, *line;
	size_t label_len, line_len;
};

/* Links to an earlier finding about the same thing. Wrong generation counts are one mistake. */
static void link_root(struct jl_audit_note *note, struct jl_audit_finding *said, const struct jl_entity *e)
{
	const struct jl_figure *f = &note->figures[said->figure];

	said->about = e;
	for (struct jl_audit_finding *r = note->findings; r < said; r++) {
		const struct jl_figure *g = r->figure < 0 ? NULL : &note->figures[r->figure];

		if (r->root >= 0 || !g || !r->about || g->qty != f->qty || strcmp(r->rule, said->rule) != 0)
			continue;
		if (g->qty == JL_Q_GENERATION || (g->lo == f->lo && jl_entities_overlap(r->about, e))) {
			said->root = (int32_t)(r - note->findings);
			said->shown &= r->shown;
			return;
		}
	}
}

static void say_listed(struct jl_audit_note *note, struct jl_audit_finding *said, const struct metric *m,
		       const struct jl_figure *f, const struct jl_entity *e)
{
	const struct jl_fact *fact = NULL;
	double lo = INFINITY, hi = 0;

	for (size_t i = 0; i < e->n_gpus; i++) {
		const struct jl_fact *one = fact_of(e->gpus[i], m->fact);

		if (isnan(one->value))
			continue; /* not listed for this variant */
		fact = fact ? fact : one;
		lo = fmin(lo, one->value);
		hi = fmax(hi, one->value);
	}
	if (!fact)
		return;
	if (m->kind == M_MEMORY && f->scale == 1e9) {
		lo /= 1.073741824; /* display in the vendor's convention */
		hi /= 1.073741824;
	}
	if (hi > lo * 1.001) {
		jl_fig_range_text(said->estimate, note, f, lo, hi);
	} else {
		jl_fig_text(said->estimate, note, f, lo, 0);
		jl_fig_digits(said->fix, f, lo, 0);
	}
	said->source = fact->source ? fact->source : e->gpus[0]->source;
}

/* True for "1,008 Gb/s" of a card with 1,008 GB/s. */
static bool bits_for_bytes(const struct metric *m, const struct jl_figure *f, const struct jl_entity *e)
{
	const double digits = log10(f->scale * 8);
	struct jl_figure bytes = *f;

	if ((m->kind != M_MEM_RATE && m->kind != M_SAID_RATE) || fabs(digits - round(digits)) > 1e-9)
		return false;
	bytes.lo *= 8;
	bytes.hi *= 8;
	bytes.digit *= 8;
	return right(m, &bytes, e, m->fact, 1, false);
}

static void differs(struct jl_audit_note *note, const struct metric *m, int32_t fig, const struct jl_entity *e)
{
	const struct jl_figure *f = &note->figures[fig];
	const char *name = e->gpus[0]->name;
	struct jl_audit_finding *said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "listed", fig);

	if (!said)
		return;
	say_listed(note, said, m, f, e);
	link_root(note, said, e);
	if (m->sparse && right(m, f, e, m->sparse, 1, false)) {
		for (size_t i = 0; i < e->n_gpus; i++) /* the variant with this sparse rate */
			if (near(f, fact_of(e->gpus[i], m->sparse)->value, m->within) &&
			    !isnan(fact_of(e->gpus[i], m->fact)->value)) {
				jl_fig_text(said->estimate, note, f, fact_of(e->gpus[i], m->fact)->value, 0);
				jl_fig_digits(said->fix, f, fact_of(e->gpus[i], m->fact)->value, 0);
				name = e->gpus[i]->name;
				break;
			}
		jl_audit_finding_explain(
			said,
			"%s: {%s} is listed at %s; the figure is the rate for 2:4 sparse matrices, given "
			"as if it were dense",
			name, m->en, said->estimate);
		return;
	}
	if (bits_for_bytes(m, f, e)) {
		said->fix[0] = '\0';
		jl_audit_finding_explain(said,
					 "%s: {%s} is listed at %s; the digits are those of bytes, the unit is of bits",
					 name, m->en, said->estimate);
		return;
	}
	if (m->kind == M_RATE && m->fact != F(fp32_flopps) && right(m, f, e, F(fp32_flopps), 1, false))
		jl_audit_finding_explain(said, "%s: {%s} is listed at %s; the figure is the rate without tensor cores",
					 name, m->en, said->estimate);
	else
		jl_audit_finding_explain(said, "%s: {%s} is listed at %s", name, m->en, said->estimate);
}

/* True if a rate far below the listed one may be a measurement. */
static bool may_be_measured(const struct metric *m, const struct jl_figure *f, const struct jl_entity *e, bool strong)
{
	double listed = 0;

	for (size_t i = 0; i < e->n_gpus; i++)
		listed = fmax(listed, fact_of(e->gpus[i], m->fact)->value);
	return (m->kind == M_RATE || m->kind == M_MEM_RATE || m->kind == M_SAID_RATE || m->kind == M_LINK) &&
	       f->hi < listed && !strong;
}

/* Half-precision rate without tensor cores, as some sites list it: two or four times FP32. */
static bool half_of_cores(const struct jl_figure *f, const struct jl_entity *e)
{
	for (size_t i = 0; i < e->n_gpus; i++)
		if (near(f, 2 * e->gpus[i]->fp32_flopps.value, 0.01) ||
		    near(f, 4 * e->gpus[i]->fp32_flopps.value, 0.01))
			return true;
	return false;
}

static void check_fact(struct jl_audit_note *note, const struct metric *m, int32_t fig, const struct jl_entity *e,
		       uint32_t count, const struct place *p, bool strong)
{
	const struct jl_figure *f = &note->figures[fig];

	const bool total = jl_span_has(p->line, p->line_len, "총|총합|total|합계|all GPUs|전체|aggregate|합") &&
			   !(m->kind == M_LINK && jl_span_has(p->line, p->line_len, "양방향|bidirectional"));

	if (right(m, f, e, m->fact, count, total) || (m->other && right(m, f, e, m->other, count, total))) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		return;
	}
	if (!known(e, m->fact) || (may_be_measured(m, f, e, strong) && !bits_for_bytes(m, f, e)) ||
	    (f->flags & (JL_FIG_LEAST | JL_FIG_MOST) && !(f->flags & JL_FIG_ABOUT)))
		return;
	if (m->sparse && jl_span_has(p->line, p->line_len, "sparse|sparsity|희소|2:4"))
		return;
	if (m->fact == F(fp16_fp32acc_dense_flopps) && half_of_cores(f, e))
		return;
	if (total && m->kind != M_RATE)
		return;
	differs(note, m, fig, e);
}

static void check_power(struct jl_audit_note *note, const struct metric *m, int32_t fig, const struct jl_mention *on,
			const struct jl_entity *e, const struct place *p)
{
	const struct jl_figure *f = &note->figures[fig];
	const bool limit = jl_span_has(p->label, p->label_len, "TDP|TGP|power limit|max power");

	if (right(m, f, e, m->fact, on->count ? on->count : 1, false)) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		return;
	}
	if (known(e, m->fact) && limit && !jl_span_has(p->line, p->line_len, "총|total|system"))
		differs(note, m, fig, e);
}

static int generation_of(const struct jl_audit_note *note, const struct jl_entity *e)
{
	const struct jl_family *family = e->family;

	for (size_t i = 0; !family && e->n_gpus && i < note->cat->n_families; i++)
		if (strcmp(note->cat->families[i].id, e->gpus[0]->family) == 0)
			family = &note->cat->families[i];
	return family ? family->tensor_generation : 0;
}

static void check_generation(struct jl_audit_note *note, int32_t fig, const struct jl_entity *e, const char *name)
{
	const struct jl_figure *f = &note->figures[fig];
	const int listed = generation_of(note, e);
	struct jl_audit_finding *said;

	if (!listed)
		return;
	if (f->lo == listed) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		return;
	}
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "listed", fig)))
		return;
	jl_fig_text(said->estimate, note, f, listed, 0);
	jl_fig_digits(said->fix, f, listed, 0);
	link_root(note, said, e);
	jl_audit_finding_explain(
		said,
		"the tensor cores of %s are of generation %d: Volta's were the first, Turing's the second, "
		"Ampere's the third, Hopper's the fourth",
		name, listed);
}

static void years_of(const struct jl_audit_note *note, const struct jl_entity *e, int *ret_lo, int *ret_hi)
{
	*ret_lo = 9999;
	*ret_hi = 0;
	for (size_t i = 0; i < note->cat->n_gpus; i++) {
		const struct jl_gpu *gpu = &note->cat->gpus[i];
		bool is = e->family && strcmp(gpu->family, e->family->id) == 0;

		for (size_t k = 0; k < e->n_gpus; k++)
			is |= e->gpus[k] == gpu;
		if (is && gpu->year) {
			*ret_lo = gpu->year < *ret_lo ? gpu->year : *ret_lo;
			*ret_hi = gpu->year > *ret_hi ? gpu->year : *ret_hi;
		}
	}
}

static void check_year(struct jl_audit_note *note, int32_t fig, const struct jl_entity *e, const char *name)
{
	const struct jl_figure *f = &note->figures[fig];
	struct jl_audit_finding *said;
	int lo, hi;

	years_of(note, e, &lo, &hi);
	if (f->lo != f->hi || f->lo < 2006 || f->lo > 2100 || !hi)
		return;
	if (f->lo >= lo && f->lo <= hi && (!e->family || f->lo == lo)) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		return;
	}
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_DIFFERS, "listed", fig)))
		return;
	snprintf(said->estimate, sizeof said->estimate, "%d", lo);
	snprintf(said->fix, sizeof said->fix, "%d", lo);
	if (e->family && f->lo > lo && f->lo <= hi)
		said->fix[0] = '\0'; /* the year may be that of a later card elsewhere in the note */
	/* years of announcement and of sale may differ */
	said->shown = e->family || fabs(f->lo - lo) > 1;
	link_root(note, said, e);
	jl_audit_finding_explain(said, "%s came in %d", name, lo);
}

/* Returns true if the figure is a known metric. */
static bool judge(struct jl_audit_note *note, int32_t fig, const struct jl_mention *on, const struct place *p,
		  bool strong)
{
	const struct jl_figure *f = &note->figures[fig];
	const struct jl_entity *e = jl_mention_entity(note, on);

	for (size_t i = 0; i < JL_LEN(metrics); i++) {
		const struct metric *m = &metrics[i];
		const bool counts = m->qty == JL_Q_NUMBER && (f->qty == JL_Q_NUMBER || f->qty == JL_Q_COUNT);

		if ((f->qty != m->qty && !counts) || !jl_span_has(p->label, p->label_len, m->words) ||
		    (*m->not &&jl_span_has(p->line, p->line_len, m->not )))
			continue;
		if (!strong && (m->kind == M_MEMORY || m->kind == M_POWER || m->kind == M_COUNT))
			continue; /* a sentence may be about required or free memory */
		if (m->kind == M_GENERATION)
			check_generation(note, fig, e, JL_QUOTE(note, on));
		else if (m->kind == M_YEAR)
			check_year(note, fig, e, JL_QUOTE(note, on));
		else if (!e->n_gpus)
			continue;
		else if (m->kind == M_POWER)
			check_power(note, m, fig, on, e, p);
		else if (!counts || (f->lo > 32 && strong && p->label_len < 40 &&
				     !jl_span_has(p->label, p->label_len, "per|/|당|FLOP|FMA|clock|ops")))
			check_fact(note, m, fig, e, on->count, p, strong && m->kind != M_SAID_RATE);
		return true;
	}
	return false;
}

/* Tables: the header is the metric and the row names the hardware, or transposed. */
static void judge_grid(struct jl_audit_note *note, const struct jl_grid *g)
{
	for (uint32_t r = g->has_heads; r < g->n_rows; r++)
		for (uint32_t c = 1; c < g->n_cols; c++) {
			const struct jl_cell *cell = jl_grid_cell(g, r, c), *head = jl_grid_cell(g, 0, c),
					     *label = jl_grid_cell(g, r, 0);
			struct place p = { .label = note->text + head->at, .label_len = head->len };
			const struct jl_mention *on = NULL;

			if (cell->fig < 0 || note->verdicts[cell->fig] != JL_AUDIT_CANNOT || !g->has_heads)
				continue;
			if (head->mention >= 0 && label->mention < 0) {
				on = &note->mentions[head->mention];
				p.label = note->text + label->at;
				p.label_len = label->len;
			} else if (label->mention >= 0) {
				on = &note->mentions[label->mention];
			}
			if (!on)
				continue;
			p.line = p.label;
			p.line_len = p.label_len;
			judge(note, cell->fig, on, &p, true);
		}
}

/* True if adjacent text names the quantity: "32 GB GDDR6X", "80 GB of HBM3", "has 80 GB of memory", "메모리는 32 GB", "TDP 400 W". */
static bool is_named(const struct jl_audit_note *note, const struct jl_figure *f, uint32_t from, uint32_t to)
{
	const char *t = note->text;
	uint32_t at = f->at + f->len, before = f->at;

	at += at < to && t[at] == ' ';
	at += to - at > 3 && memcmp(t + at, "of ", 3) == 0 ? 3 : 0;
	if (f->qty == JL_Q_BYTES && (jl_words_begin(t + at, to - at, "GDDR|HBM|VRAM", false) ||
				     (jl_words_begin(t + at, to - at, "memory", false) &&
				      jl_span_has(t + from, f->at - from, "has|have|offers|comes with"))))
		return true;
	while (before > from && strchr(" :", t[before - 1]))
		before--;
	if (before > from + 3 && (memcmp(t + before - 3, "는", 3) == 0 || memcmp(t + before - 3, "은", 3) == 0))
		before -= 3;
	for (const char *w = f->qty == JL_Q_BYTES ? "메모리|VRAM" : f->qty == JL_Q_POWER ? "TDP|TGP" : ""; *w;) {
		const size_t n = jl_word_len(w);

		if (before >= from + n && memcmp(t + before - n, w, n) == 0)
			return true;
		w += n + (w[n] == '|');
	}
	return false;
}

/* Sentences: "GPU memory: 80 GB", with the hardware possibly in the context; otherwise a clause with both. */
static void judge_said(struct jl_audit_note *note, const struct jl_line *line, uint32_t i)
{
	const struct jl_figure *f = &note->figures[i];
	const char *t = note->text;
	uint32_t from, to;

	jl_audit_sentence(note, line, f->at, &from, &to);
	const char *colon = memchr(t + from, ':', to - from);
	const bool keyed = colon && colon - (t + from) < 60 && colon < t + f->at;
	const struct jl_mention *here = jl_audit_mention_in(note, line, from, to), *on;
	struct place p = { .line = t + from, .line_len = to - from };

	/* with several names, the one between the previous figure and this one */
	if (!here && jl_span_has(t + from, to - from, "against|vs|versus|than|보다|비해"))
		return;
	if (!here && i > line->fig && f[-1].at >= from)
		here = jl_audit_mention_in(note, line, f[-1].at + f[-1].len, f->at);
	else if (!here)
		here = jl_audit_mention_in(note, line, from, f->at);
	on = here;
	if (!on && (keyed || f->qty == JL_Q_GENERATION))
		on = jl_audit_speaks_of(note, f->at);
	for (uint32_t m = line->mention; !on && f->qty == JL_Q_GENERATION && m < line->mention + line->n_mentions; m++)
		on = &note->mentions[m]; /* e.g. "Hopper, 4th generation tensor cores" */
	if (!on)
		return;
	if (keyed) {
		p.label = t + from;
		p.label_len = (size_t)(colon - p.label);
		if (judge(note, (int32_t)i, on, &p, true) || !here)
			return;
	}
	const bool named = is_named(note, f, from, to);
	for (uint32_t k = line->fig; named && f->qty == JL_Q_BYTES && k < line->fig + line->n_figs; k++)
		for (size_t g = 0;
		     k != i && note->figures[k].qty == JL_Q_BYTES && g < jl_mention_entity(note, on)->n_gpus; g++)
			if (near(&note->figures[k], jl_mention_entity(note, on)->gpus[g]->mem_B.value / 1.073741824,
				 0.01))
				return; /* another figure of the line is right; this one may count differently */
	from = f->at - from > 60 ? f->at - 60 : from;
	for (uint32_t k = i; k-- > line->fig;)
		if (note->figures[k].qty == f->qty && note->figures[k].at + note->figures[k].len > from)
			from = note->figures[k].at + note->figures[k].len; /* excludes the words of another figure */
	p.label = t + from;
	for (p.label_len = f->at + f->len - from; p.label + p.label_len < t + to &&
						  from + p.label_len < f->at + f->len + 40 &&
						  !strchr(",|(", p.label[p.label_len]);)
		p.label_len++;
	judge(note, (int32_t)i, on, &p, named);
}

/* Figures right after the name: "RTX 3090 48GB", "Hopper (2023)". */
static void judge_adjacent(struct jl_audit_note *note, const struct jl_mention *m)
{
	const struct jl_line *line = &note->lines[m->line];
	const struct jl_entity *e = jl_mention_entity(note, m);
	const uint32_t end = m->at + m->len;
	const struct metric *rate = metrics;

	while (rate->kind != M_MEM_RATE)
		rate++;
	if (line->n_figs > 64)
		return;
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *f = &note->figures[i];
		const bool bracket = f->at == end + 2 && memcmp(note->text + end, " (", 2) == 0;
		const struct place p = { .label = "memory", .label_len = 6, .line = "memory", .line_len = 6 };

		if (f->at < end || (!bracket && f->at - end > 1) || note->verdicts[i] != JL_AUDIT_CANNOT ||
		    f->flags & JL_FIG_RANGE)
			continue;
		if (e->family && bracket && f->qty == JL_Q_NUMBER && note->text[f->at + f->len] == ')')
			check_year(note, (int32_t)i, e, JL_QUOTE(note, m));
		else if (e->n_gpus && f->qty == JL_Q_BYTES && f->scale > 9e8)
			judge(note, (int32_t)i, m, &p, true);
		else if (e->n_gpus && f->qty == JL_Q_BYTE_RATE && bits_for_bytes(rate, f, e))
			differs(note, rate, (int32_t)i, e);
		return;
	}
}

void jl_rule_listed(struct jl_audit_note *note)
{
	for (size_t i = 0; i < note->n_grids; i++)
		if (note->grids[i].kind == JL_GRID_TABLE)
			judge_grid(note, &note->grids[i]);
	for (size_t i = 0; i < note->n_mentions; i++)
		judge_adjacent(note, &note->mentions[i]);
	for (size_t l = 0; l < note->n_lines; l++)
		if (note->lines[l].n_figs && note->lines[l].kind != JL_LINE_ROW && note->lines[l].n_figs < 64)
			for (uint32_t k = 0; k < note->lines[l].n_figs; k++)
				if (note->verdicts[note->lines[l].fig + k] == JL_AUDIT_CANNOT)
					judge_said(note, &note->lines[l], note->lines[l].fig + k);
}
