/* Time of a training run's input pipeline. Knows no device. */
#include "program/input.h"

#include <math.h>

#include "catalog/find.h"

const char *jl_input_name(enum jl_input_kind kind)
{
	static const char *const names[JL_N_INPUT] = { [JL_INPUT_SYNTHETIC] = "synthetic",
						       [JL_INPUT_TOKENS] = "tokens",
						       [JL_INPUT_IMAGES] = "images",
						       [JL_INPUT_IMAGES_GPU] = "images-gpu" };

	return names[kind];
}

struct jl_input jl_input_of(const struct jl_catalog *cat, enum jl_input_kind kind, double pixels, double elements)
{
	const double usual = jl_figure(cat, "input-image-pixels"), out = pixels > 0 ? pixels : usual;
	const bool large = out > jl_figure(cat, "input-large-from");
	const double scale = large ? jl_figure(cat, "input-large-source") / jl_figure(cat, "input-image-source") : 1;
	const double image_B = jl_figure(cat, large ? "input-large-image" : "input-image");
	struct jl_input in = {
		.kind = kind, .n_threads = 1, .storage_Bps = NAN, .half_ln = jl_figure(cat, "input-half-width")
	};

	switch (kind) {
	case JL_INPUT_TOKENS:
		in.sample_s = jl_figure(cat, "input-element") * elements;
		in.sample_B = 2 * elements;
		break;
	case JL_INPUT_IMAGES:
		in.sample_s = jl_figure(cat, "input-decode") * scale + jl_figure(cat, "input-augment") / usual * out;
		in.sample_B = image_B;
		break;
	case JL_INPUT_IMAGES_GPU:
		in.sample_s = jl_figure(cat, "input-gpu-decode") * scale;
		in.sample_B = image_B;
		break;
	default: break;
	}
	return in;
}

struct jl_input_time jl_input_time(const struct jl_input *in, double samples_per_host)
{
	struct jl_input_time t = { 0 };

	if (in->kind == JL_INPUT_SYNTHETIC)
		return t;
	t.threads_s = samples_per_host * in->sample_s / (in->n_threads >= 1 ? in->n_threads : 1);
	t.storage_s = in->storage_Bps > 0 ? samples_per_host * in->sample_B / in->storage_Bps : 0;
	t.input_s = fmax(t.threads_s, t.storage_s);
	t.half_ln = t.storage_s > t.threads_s ? JL_INPUT_GIVEN_HALF_LN : in->half_ln;
	return t;
}
