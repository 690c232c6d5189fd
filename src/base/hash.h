/* Keyed hash for tables whose keys come from untrusted files: collisions cannot be prepared. Values differ from run to run: never print, store or
 * sort by them (jl_hash in base/text.h is stable). */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t jl_hash_keyed(const void *data, size_t len);
