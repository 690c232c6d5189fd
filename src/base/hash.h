/* Hash for tables whose keys come from strangers: keyed per process, so that no file can be made whose names collide. Values differ from run to
 * run: never print, store or sort by them (jl_hash in base/text.h is the stable one). */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t jl_hash_keyed(const void *data, size_t len);
