/* build.h - how a program was built, in lines for --version. */
#ifndef PD_TOOLS_BUILD_H
#define PD_TOOLS_BUILD_H

#include <limits.h>	/* defines __GLIBC__ */

#ifndef PD_LIBRARIES	/* the Makefile's: "zlib-1.2.13 ..." */
#define PD_LIBRARIES "unknown"
#endif

#define BUILD_TEXT_OF(x) #x
#define BUILD_TEXT(x) BUILD_TEXT_OF(x)

#ifdef __clang__
#define BUILD_COMPILER "clang " __clang_version__
#else
#define BUILD_COMPILER "gcc " __VERSION__
#endif

#ifdef __GLIBC__
#define BUILD_LIBC "glibc " BUILD_TEXT(__GLIBC__) "." BUILD_TEXT(__GLIBC_MINOR__)
#else
#define BUILD_LIBC "a libc other than glibc"
#endif

#ifdef __SSP_STRONG__
#define BUILD_STACK " stack-protector"
#else
#define BUILD_STACK ""
#endif

#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0
#define BUILD_FORTIFY " fortify-" BUILD_TEXT(_FORTIFY_SOURCE)
#else
#define BUILD_FORTIFY ""
#endif

#if defined(__CET__) || defined(__ARM_FEATURE_BTI_DEFAULT)
#define BUILD_BRANCHES " branch-protection"
#else
#define BUILD_BRANCHES ""
#endif

#if defined(__SANITIZE_ADDRESS__)
#define BUILD_SANITIZERS " sanitizers"
#else
#define BUILD_SANITIZERS ""
#endif

#define BUILD_LINES \
	"libraries: " PD_LIBRARIES "\n" \
	"compiler: " BUILD_COMPILER ", " BUILD_LIBC "\n" \
	"hardening:" BUILD_STACK BUILD_FORTIFY BUILD_BRANCHES BUILD_SANITIZERS

/* For the tools that read untrusted files. */
#define BUILD_LINES_SANDBOXED BUILD_LINES "\n" "sandbox: seccomp landlock"

#endif
