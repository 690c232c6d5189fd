/* A transformer as serving uses it: parameters read and products computed per token. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "catalog/catalog.h"
#include "timeline/serve.h"
#include "program/transformer.h"

/* Serving view of a model's shape. */
struct jl_served jl_served_of(const struct jl_transformer *model);
/* From a catalog record, with local and linear attention of its family. */
struct jl_served jl_served_from_catalog(const struct jl_model_info *info);

/* Weight format of a model: as requested, else as published, else JL_WEIGHTS_16. */
#define JL_WEIGHTS_16 "16-bit"
const char *jl_served_weights(const char *asked, const struct jl_model_info *info);

/* Parses a format as users write it ("fp8", "int4 AWQ", "Q4_K_M"): bytes and arithmetic. Unknown formats are an error. */
enum jl_status jl_served_format(struct jl_serve_format *ret_format, const char *text, struct jl_err *err);
bool jl_served_gguf(const char *text); /* a type of llama.cpp files; NULL: false */
/* Adapts a format to a device: weights in 4 bits that it cannot compute with are dequantised in the kernel. */
void jl_served_format_on(struct jl_serve_format *io_format, const struct jl_device *dev);

/* start-up of an exchange over PCIe / over NVLink */
#define JL_PCIE_HOP 3.0
/* Sets the link between the devices of a host: NVLink, PCIe, or PCIe through host memory. */
void jl_served_join(struct jl_serve_place *place, const struct jl_device *dev, bool p2p, bool nvlink);
