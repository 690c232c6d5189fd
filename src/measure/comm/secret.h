/* A secret that both sides read from a file. It is never sent: each proves to the other that it knows it (HMAC challenge). Later messages are
 * neither encrypted nor authenticated. */
#pragma once

#include "base/err.h"
#include "base/sha256.h"

/* All zero: none. */
struct jl_wire_secret {
	bool given;
	unsigned char key[JL_SHA256_B];
};
/* `path` NULL: none. White space at the end does not count. */
enum jl_status jl_wire_read_secret(struct jl_wire_secret *ret_secret, const char *path, struct jl_err *err);
