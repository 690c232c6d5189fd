#include "base/text.h"

#include <stdio.h>

void jl_both_text(char *ret_en, char *ret_ko, size_t size_B, const char *en, const char *ko, va_list args)
{
	va_list again;

	va_copy(again, args);
	(void)vsnprintf(ret_en, size_B, en, args);
	(void)vsnprintf(ret_ko, size_B, ko, again);
	va_end(again);
}
