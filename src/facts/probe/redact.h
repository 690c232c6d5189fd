/* Takes out of a capture what says whose machine it is: hardware addresses, UUIDs, names of containers, boot options.
 * Host names and serial numbers are not even read. */
#pragma once

#include "probe/records.h"

/* `ret_out` uses the arena of `records`. */
enum jl_status jl_redact(const struct jl_records *records, struct jl_records *ret_out, struct jl_err *err);
