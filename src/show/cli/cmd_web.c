/* jeoul web: serves the page and its API. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/data_dir.h"
#include "version.inc"
#include "web/web.h"

#define PORT 8410

const struct jl_option jl_web_command_options[] = {
	JL_O_COUNT("port", "N", 1, 65535, JL_N("TCP port (default: 8410)")),
	JL_O_TEXT("listen", "ADDR",
		  JL_N("wait on this address, for other machines too; they need the token that is printed (default: "
		       "127.0.0.1, this machine only)")),
	JL_O_FLAG("open", JL_N("show it in the browser")),
	JL_O_COUNT("threads", "N", 1, 256, JL_N("that answer (default: one for each processor)")),
	{ 0 },
};

enum jl_status jl_cmd_web(struct jl_cli *cli, struct jl_err *err)
{
	return jl_web_serve(&(struct jl_web_options){ .front = &jl_cli_front,
						      .cat = cli->cat,
						      .version = JEOUL_VERSION,
						      .listen = jl_text(cli, "listen"),
						      .port = (int)jl_whole(cli, "port", PORT),
						      .open = jl_flag(cli, "open"),
						      .fixed_day = getenv("JEOUL_TODAY") ? cli->today : 0,
						      .data_dir = jl_data_dir(cli),
						      .machine = getenv("JEOUL_MACHINE"),
						      .n_threads = (int)jl_whole(cli, "threads", 0) },
			    err);
}
