/* symbols_x86.c - decodes instructions: symbols_x86 64|32, with the bytes of one in hex on each
 * line of standard input.
 *
 * Prints the length, 0 if it is not known, and what the instruction does to the stack: the number
 * of enum ps_x86_effect, the registers and the value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "unwind/x86.h"

#define LONGEST 64

static size_t read_hex(const char *text, uint8_t bytes[LONGEST])
{
	size_t n = 0;
	unsigned int byte;

	while (n < LONGEST && sscanf(text + 2 * n, "%2x", &byte) == 1)
		bytes[n++] = (uint8_t)byte;
	return n;
}

int main(int argc, char **argv)
{
	char line[4 * LONGEST];

	if (argc != 2)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[LONGEST];
		const struct pd_bytes code = { bytes, read_hex(line, bytes) };
		struct ps_x86 in;

		if (ps_x86_decode(code, atoi(argv[1]) == 64, &in))
			printf("%u %u %u %u %" PRId64 "\n", in.length, in.effect, in.reg, in.base,
			       in.value);
		else
			puts("0");
	}
	return 0;
}
