#include "workload/input.h"

#include <math.h>

/* Decoding: an ImageNet JPEG of about 500 x 375 takes 1.4 to 1.9 ms of one core with Pillow, 1.2 to 1.6 ms with torchvision
 * (arXiv:2605.08731, five server processors). Threads that share a core get less each, hence the upper end. */
static const double decode_s = 1.9e-3;
/* Crop, resize, flip, normalise, collate: 3.1 ms for 224 x 224, an estimate. Together 5 ms: 200 images a second and thread. */
static const double augment_s_per_pixel = 3.1e-3 / (224.0 * 224.0);
/* With the GPU: reading, parsing and a part of the entropy decoding stay on the host; an estimate. */
static const double gpu_decode_s = 0.8e-3;
static const double prepared_s = 1e-8; /* an element that is prepared: indexed, copied, collated */

/* ImageNet's training set: 1,281,167 files in 138 GB. Larger inputs come from larger pictures (COCO: 118,287 in 19 GB). */
static const double image_B = 108e3, large_image_B = 161e3;
static const double image_pixels = 224.0 * 224.0, large_pixels = 256.0 * 256.0;
static const double source_pixels = 500.0 * 375.0, large_source_pixels = 640.0 * 480.0;

static const double estimated_half_ln = 0.45;

const char *jl_input_name(enum jl_input_kind kind)
{
	static const char *const names[JL_N_INPUT] = { [JL_INPUT_SYNTHETIC] = "synthetic",
						       [JL_INPUT_TOKENS] = "tokens",
						       [JL_INPUT_IMAGES] = "images",
						       [JL_INPUT_IMAGES_GPU] = "images-gpu" };

	return names[kind];
}

struct jl_input jl_input_of(enum jl_input_kind kind, double pixels, double elements)
{
	const double out = pixels > 0 ? pixels : image_pixels;
	const int large = out > large_pixels;
	const double scale = large ? large_source_pixels / source_pixels : 1;
	struct jl_input in = { .kind = kind, .n_threads = 1, .storage_Bps = NAN, .half_ln = estimated_half_ln };

	switch (kind) {
	case JL_INPUT_TOKENS:
		in.sample_s = prepared_s * elements;
		in.sample_B = 2 * elements;
		break;
	case JL_INPUT_IMAGES:
		in.sample_s = decode_s * scale + augment_s_per_pixel * out;
		in.sample_B = large ? large_image_B : image_B;
		break;
	case JL_INPUT_IMAGES_GPU:
		in.sample_s = gpu_decode_s * scale;
		in.sample_B = large ? large_image_B : image_B;
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
