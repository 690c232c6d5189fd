/* Entry point of the program. */
#include "cli/command.h"

int main(int argc, char **argv)
{
	return jl_cli_main(argc, argv);
}
