/* emit_short.c - the limit of decoding: prints the lines that pdecode -f jsonl writes for samples
 * of ip, pid, tid, time, cpu and period, and knows of nothing else: emit_short FILE DATA-OFFSET
 * DATA-SIZE EVENT. Other records are stepped over.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLE = 9, OUT = 256 * 1024, LINE = 1024 };

struct short_sample {
	uint32_t type;
	uint16_t misc, size;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
};

static char *text(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}
#define TEXT(p, s) text(p, s, sizeof(s) - 1)

static char pairs[200];

static char *decimal(char *p, uint64_t v)
{
	char digits[20], *at = digits + sizeof(digits);

	for (; v >= 100; v /= 100)
		memcpy(at -= 2, pairs + 2 * (v % 100), 2);
	if (v >= 10)
		memcpy(at -= 2, pairs + 2 * v, 2);
	else
		*--at = (char)('0' + v);
	return text(p, at, (size_t)(digits + sizeof(digits) - at));
}

static char *hex(char *p, uint64_t v)
{
	const unsigned int n = (67 - (unsigned int)__builtin_clzll(v | 1)) / 4;

	for (unsigned int i = n; i--; v >>= 4)
		p[i] = "0123456789abcdef"[v & 15];
	return p + n;
}

static char *line(char *p, const struct short_sample *s, uint64_t offset, const char *event)
{
	static const char *const modes[] = { "UNKNOWN", "KERNEL", "USER" };
	const char *mode = (s->misc & 7) < 3 ? modes[s->misc & 7] : "?";

	p = TEXT(p, "{\"kind\":\"record\",\"offset\":");
	p = decimal(p, offset);
	p = TEXT(p, ",\"type\":\"SAMPLE\",\"size\":");
	p = decimal(p, s->size);
	p = TEXT(p, ",\"misc\":");
	p = decimal(p, s->misc);
	p = TEXT(p, ",\"cpumode\":\"");
	p = text(p, mode, strlen(mode));
	p = TEXT(p, "\",\"attr_index\":0,\"event\":\"");
	p = text(p, event, strlen(event));
	p = TEXT(p, "\",\"ip\":\"0x");
	p = hex(p, s->ip);
	p = TEXT(p, "\",\"pid\":");
	p = decimal(p, s->pid);
	p = TEXT(p, ",\"tid\":");
	p = decimal(p, s->tid);
	p = TEXT(p, ",\"time\":");
	p = decimal(p, s->time);
	p = TEXT(p, ",\"cpu\":");
	p = decimal(p, s->cpu);
	p = TEXT(p, ",\"period\":");
	p = decimal(p, s->period);
	return TEXT(p, "}\n");
}

int main(int argc, char **argv)
{
	static char out[OUT + LINE];
	const int fd = argc > 4 ? open(argv[1], O_RDONLY) : -1;
	uint64_t at = argc > 4 ? strtoull(argv[2], NULL, 10) : 0;
	const uint64_t end = argc > 4 ? at + strtoull(argv[3], NULL, 10) : 0;
	struct stat st;
	char *in, *p = out;

	if (fd < 0 || fstat(fd, &st) || end > (uint64_t)st.st_size) {
		fprintf(stderr, "usage: emit_short FILE DATA-OFFSET DATA-SIZE EVENT\n");
		return 2;
	}
	for (unsigned int i = 0; i < 100; i++) {
		pairs[2 * i] = (char)('0' + i / 10);
		pairs[2 * i + 1] = (char)('0' + i % 10);
	}
	in = malloc(end);
	for (uint64_t done = 0; in && done < end;) {
		const ssize_t n = read(fd, in + done, end - done);

		if (n <= 0)
			return 1;
		done += (uint64_t)n;
	}
	while (in && at + 8 <= end) {
		struct short_sample s;

		memcpy(&s, in + at, 8);
		if (s.size < 8)
			return 1;
		if (s.type == SAMPLE && s.size == sizeof(s)) {
			memcpy(&s, in + at, sizeof(s));
			p = line(p, &s, at, argv[4]);
		}
		at += s.size;
		if (p > out + OUT && write(STDOUT_FILENO, out, (size_t)(p - out)) != p - out)
			return 1;
		p = p > out + OUT ? out : p;
	}
	return in && write(STDOUT_FILENO, out, (size_t)(p - out)) == p - out ? 0 : 1;
}
