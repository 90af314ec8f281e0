/* fortified.c - what Debian's static libraries call and musl has not: fortified functions of glibc,
 * without their checks, and error(3). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list args);
int __vasprintf_chk(char **to, int flag, const char *format, va_list args);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
void error(int status, int errnum, const char *format, ...);
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int byte, size_t n, size_t room);

/* The result of a v function with the arguments from `last` on. */
#define PASS(call, last) \
	va_list args; \
	int result; \
	va_start(args, last); \
	result = call; \
	va_end(args); \
	return result

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
	(void)flag;
	PASS(vfprintf(file, format, args), format);
}

int __printf_chk(int flag, const char *format, ...)
{
	(void)flag;
	PASS(vprintf(format, args), format);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...)
{
	(void)flag, (void)room;
	PASS(vsnprintf(to, n, format, args), format);
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	(void)flag;
	PASS(vsnprintf(to, room, format, args), format);
}

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list args)
{
	(void)flag, (void)room;
	return vsnprintf(to, n, format, args);
}

int __vasprintf_chk(char **to, int flag, const char *format, va_list args)
{
	(void)flag;
	return vasprintf(to, format, args);
}

char *__strcat_chk(char *to, const char *from, size_t room)
{
	(void)room;
	return strcat(to, from);
}

char *__strcpy_chk(char *to, const char *from, size_t room)
{
	(void)room;
	return strcpy(to, from);
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
	(void)room;
	return strncpy(to, from, n);
}

char *__stpcpy_chk(char *to, const char *from, size_t room)
{
	(void)room;
	return stpcpy(to, from);
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	(void)room;
	return memcpy(to, from, n);
}

void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
	(void)room;
	return memmove(to, from, n);
}

void *__memset_chk(void *to, int byte, size_t n, size_t room)
{
	(void)room;
	return memset(to, byte, n);
}

void error(int status, int errnum, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (errnum)
		fprintf(stderr, ": %s", strerror(errnum));
	fputc('\n', stderr);
	if (status)
		exit(status);
}
