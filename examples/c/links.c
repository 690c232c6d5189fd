/* How fast can the GPUs of a system talk to each other, and who says so?
 *     cc links.c $(pkg-config --cflags --libs jeoul) && ./a.out "125x aws:p5.48xlarge" */
#include <math.h>
#include <stdio.h>

#include <jeoul/jeoul.h>

static void say(const char *what, const struct jeoul_fact *fact)
{
	if (isnan(fact->value))
		printf("%-28s unknown\n", what);
	else
		printf("%-28s %g GB/s (%s, %s)\n", what, fact->value / 1e9, fact->origin, fact->date);
}

int main(int argc, char **argv)
{
	struct jeoul_error error;
	struct jeoul_system system;
	struct jeoul_fact memory;
	struct jeoul *jeoul = jeoul_open(NULL, &error);
	const char *text = argc > 1 ? argv[1] : "125x aws:p5.48xlarge";
	int code = 1;

	if (!jeoul || jeoul_system_parse(jeoul, text, &system, &error) || !system.gpu ||
	    jeoul_gpu_fact(jeoul, system.gpu, "mem_Bps", &memory, &error)) {
		fprintf(stderr, "%s\n", error.text);
		goto out;
	}
	printf("%s: %d x %d x %s\n", system.text, system.n_nodes, system.n_per_node, system.gpu);
	say("memory of one GPU", &memory);
	say("between GPUs of a node", &system.join_oneway_Bps);
	say("between nodes, per node", &system.network_oneway_Bps);
	code = 0;
out:
	jeoul_close(jeoul);
	return code;
}
