/* Ask libjeoul what the program answers, in its JSON: cc ask.c $(pkg-config --cflags --libs jeoul)
 *
 *     ./ask predict '{"model": "llama-3-8b", "on": "8x h100-sxm5", "batch": 1}'
 *     ./ask check '{"kind": "allreduce", "on": "125x aws:p5.48xlarge", "size": "16GB", "algbw": "156 GB/s"}' */
#include <stdio.h>

#include <jeoul/jeoul.h>

int main(int argc, char **argv)
{
	struct jeoul_error error;
	struct jeoul *jeoul = jeoul_open(NULL, &error);
	enum jeoul_status status = jeoul ? JEOUL_OK : error.status;
	char *answer = NULL;

	if (argc != 3) {
		fprintf(stderr, "usage: %s COMMAND REQUEST\n", argv[0]);
		status = JEOUL_USAGE;
	} else if (status == JEOUL_OK) {
		status = jeoul_ask(jeoul, argv[1], argv[2], &answer, &error);
		if (answer)
			fputs(answer, stdout);
		else
			fprintf(stderr, "%s: %s\n", argv[0], error.text);
	}
	jeoul_free(answer);
	jeoul_close(jeoul);
	return (int)status;
}
