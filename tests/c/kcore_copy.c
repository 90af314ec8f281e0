/* kcore_copy.c - FROM TO PAGE [START END]...: joins the ranges and copies them. Prints the
 * errno. */
#include "run/kcore_copy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct code_range ranges[16];
	int from = open(argv[1], O_RDONLY), to = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t n = 0;

	for (int i = 4; i + 1 < argc && n < 16; i += 2)
		ranges[n++] = (struct code_range){ strtoull(argv[i], NULL, 0),
						   strtoull(argv[i + 1], NULL, 0) };
	n = code_ranges_join(ranges, n, strtoull(argv[3], NULL, 0));
	printf("%d\n", kcore_copy(from, to, ranges, n));
	return 0;
}
