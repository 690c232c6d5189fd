#pragma once

#include "base/fields.h"

extern const struct jl_schema jl_memo_audit_fields; /* struct jl_memo */
