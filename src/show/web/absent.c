/* Replaces this module in builds without libmicrohttpd. */
#include "web/web.h"

enum jl_status jl_web_serve(const struct jl_web_options *options, struct jl_err *err)
{
	(void)options;
	return jl_fail(err, JL_E_ABSENT,
		       "the page needs libmicrohttpd, which was not there when this was built: install "
		       "libmicrohttpd-dev and build again");
}
