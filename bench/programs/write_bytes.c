/* write_bytes.c - write_bytes N: writes N bytes from one buffer to standard output, 256 KiB at a
 * time, as pdecode does. Its time is that of writing alone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buffer[256 * 1024];
	unsigned long long left = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

	memset(buffer, '{', sizeof(buffer));
	while (left) {
		const size_t n = left < sizeof(buffer) ? (size_t)left : sizeof(buffer);
		const ssize_t did = write(STDOUT_FILENO, buffer, n);

		if (did <= 0)
			return 1;
		left -= (unsigned long long)did;
	}
	return 0;
}
