/* Derives the trained model's tensors, their places in the flat buffers and their first weights from a catalog entry. */
#include "train/shape.h"

#include <math.h>
#include <string.h>

#include "program/transformer.h"

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Reason why this model cannot be trained; NULL: it can. */
static const char *refusal(const struct jl_model_info *info, const struct jl_transformer *m)
{
	const struct {
		bool is;
		const char *en;
	} reasons[] = {
		{ m->moe.n_experts > 0, JL_N("is a mixture of experts") },
		{ m->mla.kv_lora > 0, JL_N("has latent attention") },
		{ !(info->patch > 0) && (!m->causal || m->head != JL_HEAD_LM), JL_N("is an encoder") },
		{ m->alibi, JL_N("has ALiBi positions") },
		{ m->qk_norm, JL_N("normalises q and k") },
		{ m->post_norm, JL_N("has a norm behind each part") },
		{ m->embed_norm, JL_N("has a norm behind the embedding") },
		{ info->parallel_block, JL_N("has parallel attention and feed-forward") },
		{ !m->final_norm, JL_N("has no final norm") },
		{ fmod(m->head_dim, 2) != 0 || m->head_dim > 1024, JL_N("has an odd head size") },
		{ fmod(m->ffn, 8) != 0, JL_N("has a feed-forward width that is not a multiple of 8") },
		{ m->n_layers + 2 > JL_TRAIN_UNITS_MAX, JL_N("has too many layers") },
	};
	for (size_t i = 0; i < JL_LEN(reasons); i++)
		if (reasons[i].is)
			return reasons[i].en;
	return NULL;
}

static void place(struct jl_train_shape *s, enum jl_tensor weight, enum jl_unit_kind unit, size_t rows,
		  size_t real_rows, size_t cols)
{
	s->weights[weight] = (struct jl_tensor_place){
		.rows = rows, .real_rows = real_rows, .cols = cols, .unit = unit, .at = s->unit_n[unit]
	};
	s->unit_n[unit] += round_up(rows * cols, JL_TRAIN_ALIGN);
	s->n_params += real_rows * cols * (unit == JL_UNIT_LAYER ? s->n_layers : 1);
}

static void place_norm(struct jl_train_shape *s, enum jl_tensor weight, enum jl_unit_kind unit)
{
	place(s, weight, unit, 1, 1, s->hidden);
	if (!s->rms)
		place(s, weight + 1, unit, 1, 1, s->hidden);
}

static void place_linear(struct jl_train_shape *s, enum jl_tensor weight, size_t n_out, size_t n_in, bool bias)
{
	place(s, weight, JL_UNIT_LAYER, n_out, n_out, n_in);
	if (bias)
		place(s, weight + 1, JL_UNIT_LAYER, 1, 1, n_out);
}

static void place_all(struct jl_train_shape *s, const struct jl_transformer *m)
{
	const size_t n_tokens = s->patches ? 1 : s->vocab;
	place(s, JL_W_TOKENS, JL_UNIT_EMBED, s->patches ? 1 : s->vocab_pad, n_tokens, s->hidden);
	if (s->n_positions)
		place(s, JL_W_POSITIONS, JL_UNIT_EMBED, s->n_positions, s->n_positions, s->hidden);
	place_norm(s, JL_W_NORM1, JL_UNIT_LAYER);
	place_linear(s, JL_W_QKV, jl_train_width_qkv(s), s->hidden, m->bias || m->qkv_bias);
	place_linear(s, JL_W_OUT, s->hidden, s->heads * s->head_dim, m->bias);
	place_norm(s, JL_W_NORM2, JL_UNIT_LAYER);
	place_linear(s, JL_W_UP, jl_train_width_up(s), s->hidden, m->bias);
	place_linear(s, JL_W_DOWN, s->hidden, s->ffn, m->bias);
	place_norm(s, JL_W_NORMF, s->tied ? JL_UNIT_EMBED : JL_UNIT_HEAD);
	if (!s->tied)
		place(s, JL_W_LOGITS, JL_UNIT_HEAD, s->vocab_pad, s->vocab, s->hidden);
}

static void place_images(struct jl_train_shape *s)
{
	place(s, JL_W_PATCH, JL_UNIT_EMBED, s->hidden, s->hidden, s->patch_width);
	place(s, JL_W_PATCH_BIAS, JL_UNIT_EMBED, 1, 1, s->hidden);
	place(s, JL_W_LOGITS_BIAS, JL_UNIT_HEAD, s->vocab_pad, s->vocab, 1);
	s->n_params -= s->hidden * (s->patch_width - s->patch_values);
}

enum jl_status jl_train_shape(const struct jl_model_info *info, int n_ranks, struct jl_train_shape *ret_shape,
			      struct jl_err *err)
{
	struct jl_transformer m;
	jl_transformer_from_catalog(&m, info);
	JL_TRY(jl_transformer_check(&m, err));
	const char *en = refusal(info, &m);
	if (en)
		return jl_fail(err, JL_E_RANGE,
			       "%s {%s}: bench train knows dense decoders such as gpt-305m, gpt2-124m, llama-2-7b",
			       info->id, en);
	const bool images = info->patch > 0;
	const size_t patch_values = images ? (size_t)(3 * info->patch * info->patch) : 0;
	struct jl_train_shape s = { .id = info->id,
				    .n_layers = (size_t)m.n_layers,
				    .hidden = (size_t)m.hidden,
				    .heads = (size_t)m.heads,
				    .kv_heads = (size_t)m.kv_heads,
				    .head_dim = (size_t)m.head_dim,
				    .ffn = (size_t)m.ffn,
				    .vocab = (size_t)m.vocab,
				    .vocab_pad = round_up((size_t)m.vocab, JL_TRAIN_VOCAB_PAD),
				    .n_positions = (size_t)m.n_positions,
				    .patches = images ? (size_t)m.n_positions - 1 : 0,
				    .patch_values = patch_values,
				    .patch_width = round_up(patch_values, JL_TRAIN_PATCH_PAD),
				    .gated = m.gated != 0,
				    .tied = m.tied != 0,
				    .rms = m.norm == JL_NORM_RMS,
				    .norm_eps = images ? 1e-6 : 1e-5,
				    .rope_theta = m.n_positions > 0 ? 0 : 10000 };
	place_all(&s, &m);
	if (images)
		place_images(&s);
	for (size_t i = 0; i < JL_N_UNIT_KIND; i++)
		s.unit_n[i] = round_up(s.unit_n[i], JL_TRAIN_ALIGN * (size_t)n_ranks);
	s.n_units = s.n_layers + (s.tied ? 1 : 2);
	*ret_shape = s;
	return JL_OK;
}

enum jl_unit_kind jl_train_unit_kind(const struct jl_train_shape *shape, size_t unit)
{
	return unit == 0 ? JL_UNIT_EMBED : unit <= shape->n_layers ? JL_UNIT_LAYER : JL_UNIT_HEAD;
}

size_t jl_train_unit_n(const struct jl_train_shape *shape, size_t unit)
{
	return shape->unit_n[jl_train_unit_kind(shape, unit)];
}

size_t jl_train_width_qkv(const struct jl_train_shape *shape)
{
	return (shape->heads + 2 * shape->kv_heads) * shape->head_dim;
}

size_t jl_train_width_up(const struct jl_train_shape *shape)
{
	return shape->gated ? 2 * shape->ffn : shape->ffn;
}

/* Attention: scores and their use are 2 products forward, 4 backward and 1 recomputed: 7 products of 2·seq²/2·inner FLOP, twice that without a
 * causal mask. */
double jl_train_attention_flop(const struct jl_train_shape *s, double n_samples, double seq)
{
	return (s->patches ? 14.0 : 7.0) * (double)s->n_layers * n_samples * seq * seq *
	       (double)(s->heads * s->head_dim);
}

double jl_train_step_flop(const struct jl_train_shape *s, double n_samples, double seq)
{
	double tokens = n_samples * seq, inner = (double)(s->heads * s->head_dim);
	double layer = (double)(jl_train_width_qkv(s) * s->hidden) + inner * (double)s->hidden +
		       (double)(jl_train_width_up(s) * s->hidden) + (double)(s->ffn * s->hidden);
	double logits = (s->patches ? n_samples : tokens) * (double)(s->vocab * s->hidden);
	double patches = n_samples * (double)(s->patches * s->patch_width * s->hidden); /* images need no gradient */
	double products = 6.0 * (tokens * (double)s->n_layers * layer + logits) + 4.0 * patches;
	return products + jl_train_attention_flop(s, n_samples, seq);
}

uint64_t jl_train_mix(uint64_t counter)
{
	uint64_t z = counter + 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Initial values of a tensor: a constant, or uniform within ±spread. */
static void first_values(const struct jl_train_shape *shape, enum jl_tensor weight, double *ret_constant,
			 double *ret_spread)
{
	double spread = 0.02 * sqrt(3.0);
	bool norm = weight == JL_W_NORM1 || weight == JL_W_NORM2 || weight == JL_W_NORMF;
	bool bias = weight == JL_W_NORM1_BIAS || weight == JL_W_NORM2_BIAS || weight == JL_W_NORMF_BIAS ||
		    weight == JL_W_QKV_BIAS || weight == JL_W_OUT_BIAS || weight == JL_W_UP_BIAS ||
		    weight == JL_W_DOWN_BIAS || weight == JL_W_PATCH_BIAS || weight == JL_W_LOGITS_BIAS;
	if (weight == JL_W_OUT || weight == JL_W_DOWN)
		spread /= sqrt(2.0 * (double)shape->n_layers);
	*ret_constant = norm ? 1.0 : 0.0;
	*ret_spread = norm || bias ? 0.0 : spread;
}

void jl_train_init(const struct jl_train_shape *shape, uint64_t seed, size_t unit, size_t begin, size_t n,
		   float *ret_values)
{
	enum jl_unit_kind kind = jl_train_unit_kind(shape, unit);
	memset(ret_values, 0, n * sizeof *ret_values);
	for (int w = 0; w < JL_N_TENSOR; w++) {
		const struct jl_tensor_place *p = &shape->weights[w];
		size_t from = p->at > begin ? p->at : begin, to = p->at + p->real_rows * p->cols;
		double constant, spread;
		if (p->rows == 0 || p->unit != kind)
			continue;
		first_values(shape, (enum jl_tensor)w, &constant, &spread);
		uint64_t key = jl_train_mix(jl_train_mix(seed) + (uint64_t)(w * 1000) +
					    (kind == JL_UNIT_LAYER ? unit : 0));
		for (size_t i = from; i < to && i < begin + n; i++) {
			double unit_frac = ((double)(jl_train_mix(key + (i - p->at)) >> 40) + 0.5) / 8388608.0 - 1.0;
			ret_values[i - begin] = (float)(constant + spread * unit_frac);
		}
	}
}
