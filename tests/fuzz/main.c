/* main.c - runs a fuzz target over files, where there is no libFuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define SECONDS 30	/* for one file: more is a hang, and that is a failure */

static int run(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct fuzz_bytes bytes = { NULL, 0, 0 };
	char buffer[65536];
	uint8_t *exact;
	size_t got;

	if (!f) {
		perror(path);
		return 1;
	}
	while ((got = fread(buffer, 1, sizeof(buffer), f)) > 0)
		fuzz_append(&bytes, buffer, got);
	fclose(f);
	exact = malloc(bytes.size ? bytes.size : 1);	/* so that a byte too many is seen */
	if (!exact)
		return 1;
	if (bytes.size)
		memcpy(exact, bytes.data, bytes.size);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(exact, bytes.size);
	alarm(0);
	free(exact);
	fuzz_free(&bytes);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= run(argv[i]);
	return failed;
}
