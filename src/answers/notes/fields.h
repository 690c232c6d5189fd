/* Audits as JSON. */
#pragma once

#include "base/fields.h"

extern const struct jl_schema jl_audit_audit_fields; /* struct jl_audit_note */
