/* A secret that both sides read from a file. It is never sent: each side proves knowledge of it by an HMAC challenge. Later messages are neither
 * encrypted nor authenticated. */
#pragma once

#include "base/err.h"
#include "base/sha256.h"

/* All zero: no secret. */
struct jl_wire_secret {
	bool given;
	unsigned char key[JL_SHA256_B];
};
/* `path` NULL: no secret. Trailing white space is ignored. */
enum jl_status jl_wire_read_secret(struct jl_wire_secret *ret_secret, const char *path, struct jl_err *err);
