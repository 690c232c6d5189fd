/* A transformer as serving sees it: what is read and computed for each token. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "catalog/catalog.h"
#include "timeline/serve.h"
#include "program/transformer.h"

/* From a shape. */
struct jl_served jl_served_of(const struct jl_transformer *model);
/* From the catalog: local and linear attention of its family included. */
struct jl_served jl_served_from_catalog(const struct jl_model_info *info);

/* What the weights of a model are kept in: as asked, else as it is published, else JL_WEIGHTS_16. */
#define JL_WEIGHTS_16 "16-bit"
const char *jl_served_weights(const char *asked, const struct jl_model_info *info);

/* Bytes and arithmetic of a format as people write it ("fp8", "int4 AWQ", "Q4_K_M"); an unknown one is an error. */
enum jl_status jl_served_format(struct jl_serve_format *ret_format, const char *text, struct jl_err *err);
bool jl_served_gguf(const char *text); /* a type of llama.cpp's files; NULL: no */
/* As a device runs it: 4 bits that it cannot compute with are widened on the way. */
void jl_served_format_on(struct jl_serve_format *io_format, const struct jl_device *dev);

/* An exchange over PCIe takes so much longer to begin than one over NVLink. */
#define JL_PCIE_HOP 3.0
/* Links between the devices of a host: NVLink, PCIe, or PCIe through the host's memory. */
void jl_served_join(struct jl_serve_place *place, const struct jl_device *dev, bool p2p, bool nvlink);
