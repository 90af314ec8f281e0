# `make help` lists the targets and the variables.

VERSION := 0.1.0
LIBRARY_NAMES := libdecode libpdsymbols libpdprofile libpdcolumns
# The number in the names of the shared libraries, which changes with their interfaces:
ABI := 0

TOOLS := pdecode pencode prepair preport pquery
# pkg-config names.  The library and whatever is linked with it:
LIB_PACKAGES := libzstd zlib liblzma
# libbz2, which Debian 12 has no .pc file for:
LIB_PLAIN := -lbz2
# What the tools need besides, to read JSON and to close themselves off:
TOOL_PACKAGES := json-c libseccomp
# What pquery needs as well:
QUERY_PACKAGES := sqlite3
# What precord needs as well, to read ELF files:
RECORD_PACKAGES := libelf
# What libpdsymbols is linked with, besides libdecode; libiberty has no .pc file:
SYM_PACKAGES = libdw libelf liblzma libzstd zlib $(WITH_DEFLATE)
SYM_PLAIN := -liberty
# The same of libpdprofile:
PROFILE_PACKAGES := zlib
# The same of libpdcolumns:
COLUMNS_PACKAGES := libzstd

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man

ifeq ($(origin CC),default)
CC := gcc
endif
PKG_CONFIG ?= pkg-config
OPT ?= $(if $(filter 1,$(SAN)),-O1,-O2) -g
SETUP ?= scripts/install-packages
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
DEMO_INPUT ?= fixtures/perf/02-callgraph-fp.data
DEMO_OUTPUT ?= out.json
FUZZ_SECONDS ?= 60

ifeq ($(SAN),1)
B ?= build/san
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else ifeq ($(FUZZ),1)
B ?= build/fuzz
# Comparisons are not traced: that is half of the time, and the seeds have the numbers that it would find.
FUZZ_CHECKS ?= address,undefined
SANITIZE := -fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) -fno-sanitize-recover=undefined -fno-sanitize-coverage=trace-cmp
else
B ?= build
endif

# What an object depends on is noted under its name: it must be the same name however B is written.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $(B)))

# Programs hold the sanitizers themselves (clang does that unasked), and stand at fixed addresses: they start faster, and the tests
# start thousands.
SANITIZE_LINK = $(if $(and $(SANITIZE),$(findstring gcc,$(CC))),-static-libasan -static-libubsan)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough \
	-Wno-missing-field-initializers -Wno-psabi
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif

# Asked for once and only where something is compiled or linked: on a fresh machine the set-up runs
# before there is a pkg-config.
once = $(eval $(1) := $(2))$($(1))
probe = $(shell $(PKG_CONFIG) --exists $(2) 2>/dev/null || echo missing)
packages = $(if $(strip $(2)),$(if $(call probe,,$(2)),$(error missing: \
	$(2) (or $(PKG_CONFIG) itself). Run 'make deps'),$(shell $(PKG_CONFIG) $(1) $(2))))
# Expands debug information in a third of the time:
WITH_DEFLATE = $(call once,WITH_DEFLATE,$(if $(call probe,,libdeflate),,libdeflate))
PACKAGES = $(LIB_PACKAGES) $(TOOL_PACKAGES) $(QUERY_PACKAGES) $(RECORD_PACKAGES) $(SYM_PACKAGES)
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(call packages,--cflags,$(PACKAGES)))
LIB_LIBS = $(call once,LIB_LIBS,$(call packages,--libs,$(LIB_PACKAGES)) $(LIB_PLAIN))
PROFILE_LIBS = $(call once,PROFILE_LIBS,$(call packages,--libs,$(PROFILE_PACKAGES)))
COLUMNS_LIBS = $(call once,COLUMNS_LIBS,$(call packages,--libs,$(COLUMNS_PACKAGES)))
TOOL_LIBS = $(call once,TOOL_LIBS,$(call packages,--libs,$(TOOL_PACKAGES)))
QUERY_LIBS = $(call once,QUERY_LIBS,$(call packages,--libs,$(QUERY_PACKAGES)))
RECORD_LIBS = $(call once,RECORD_LIBS,$(call packages,--libs,$(RECORD_PACKAGES)))
SYM_LIBS = $(call once,SYM_LIBS,$(call packages,--libs,$(SYM_PACKAGES)) $(SYM_PLAIN))
STATIC_LIBS = $(LIB_LIBS) $(TOOL_LIBS) $(QUERY_LIBS) $(SYM_LIBS) $(call once,STATIC_MORE,$(call packages,--static --libs,$(PACKAGES))) \
	$(B)/eu_search.a

# What --version shows of the libraries: name-version.
versions = $(foreach p,$(1),$(p)-$(shell $(PKG_CONFIG) --modversion $(p)))
TOOL_VERSIONS = $(call once,TOOL_VERSIONS,$(call versions,$(LIB_PACKAGES) $(TOOL_PACKAGES)))
QUERY_VERSIONS = $(call once,QUERY_VERSIONS,$(call versions,$(LIB_PACKAGES) $(QUERY_PACKAGES) libseccomp))
RECORD_VERSIONS = $(call once,RECORD_VERSIONS,$(call versions,$(LIB_PACKAGES) $(RECORD_PACKAGES) libseccomp))

# Hardening: those of these flags that the compiler has for the machine it compiles for. Fortified functions
# need optimization, and sanitizers check more than they do.
CANDIDATES := -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard
FORTIFY := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE
accepts = $(CC) -Werror $(1) -S -x c -o /dev/null /dev/null 2>/dev/null
HARDENING = $(call once,HARDENING,$(shell for f in $(CANDIDATES); do $(call accepts,$$f) && echo "$$f"; done) \
	$(if $(SANITIZE)$(findstring _FORTIFY_SOURCE,$(CC) $(CPPFLAGS) $(CFLAGS)),,$(if $(filter-out -O0, \
		$(lastword $(filter -O%,$(OPT) $(CFLAGS)))),$(FORTIFY)=$(shell \
		$(call accepts,-O2 $(FORTIFY)=3 -include features.h) && echo 3 || echo 2))))

ALL_CFLAGS = -std=gnu11 $(OPT) $(WARNINGS) -fPIC -pthread -fvisibility=hidden $(HARDENING) $(SANITIZE) \
	-D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -DPD_VERSION='"$(VERSION)"' \
	$(WITH_DEFLATE:%=-DPD_LIBDEFLATE) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(SANITIZE) -pthread -Wl,--as-needed -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)

LIB_SRC := $(sort $(wildcard libdecode/*.c libdecode/*/*.c))
SYM_SRC := $(sort $(filter-out libsymbols/static/%,$(wildcard libsymbols/*.c libsymbols/*/*.c)))
PROFILE_SRC := $(sort $(wildcard libprofile/*.c libprofile/*/*.c))
COLUMNS_SRC := $(sort $(wildcard libcolumns/*/*.c))
QUERY_SRC := $(sort $(wildcard sqlite/*.c))
PYTHON_SRC := $(sort $(wildcard python/*.c))
TOOL_SRC := $(sort $(wildcard tools/*/*.c))
RECORD_SRC := $(sort $(wildcard record/*.c record/*/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

# tools/NAME/ makes the tool NAME; the other folders of tools/ are for all of them.
# pquery has the virtual tables; the extension of SQLite is made of the same sources.
PQUERY_ALSO := $(filter-out sqlite/extension.c,$(QUERY_SRC))
PROGRAMS := $(foreach t,$(TOOLS),$(if $(wildcard tools/$(t)/$(t).c),$(t)))
src_of = $(filter tools/$(1)/%,$(TOOL_SRC))
SHARED_SRC := $(filter-out $(foreach t,$(TOOLS),$(call src_of,$(t))),$(TOOL_SRC))
RECORDER := $(if $(wildcard record/main.c),precord)

objects = $(patsubst %.c,$(B)/obj/%.o,$(1))
LIB_OBJ := $(call objects,$(LIB_SRC))
SYM_OBJ := $(call objects,$(SYM_SRC))
PROFILE_OBJ := $(call objects,$(PROFILE_SRC) libprofile/page/page.c)
COLUMNS_OBJ := $(call objects,$(COLUMNS_SRC))
# Parts of libdecode that it does not export: the shared library has copies of its own.
SYM_BASE := $(call objects,$(addprefix libdecode/base/,arena.c buf.c hash.c map.c thread.c))
PROFILE_BASE := $(call objects,$(addprefix libdecode/base/,hash.c jsonw.c tempfile.c thread.c))
COLUMNS_BASE := $(call objects,$(addprefix libdecode/base/,buf.c hash.c tempfile.c thread.c))
PYTHON_OBJ := $(call objects,$(PYTHON_SRC))
EXTENSION_OBJ := $(QUERY_SRC:%.c=$(B)/obj/extension/%.o)
ALL_OBJ := $(call objects,$(LIB_SRC) $(SYM_SRC) libsymbols/static/eu_search.c $(PROFILE_SRC) $(COLUMNS_SRC) $(QUERY_SRC) $(TOOL_SRC) $(RECORD_SRC) $(wildcard tests/fuzz/*.c)) \
	$(EXTENSION_OBJ) $(PYTHON_OBJ)
BINARIES := $(addprefix $(B)/,$(PROGRAMS) $(RECORDER))
LIBRARIES := $(foreach l,$(LIBRARY_NAMES),$(B)/$(l).a $(B)/$(l).so)
EXTENSION := $(B)/perfdata.so
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/%,$(FUZZ_SRC))
EXPORT_MAP := $(wildcard libdecode/libdecode.map)
SYM_MAP := $(wildcard libsymbols/libpdsymbols.map)
PROFILE_MAP := $(wildcard libprofile/libpdprofile.map)
COLUMNS_MAP := $(wildcard libcolumns/libpdcolumns.map)

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif
# A make of our own, on every core unless the user said how many.
SUBMAKE = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: all help deps demo check check-more check-short check-builds check-user check-distro check-compilers check-clients fleet-demo check-crash fuzzers mutators fuzz bench soak pictures schemas enums abi man3 \
	analyze tidy cppcheck analyzer analyzed compiled valgrind lint-packages install uninstall clean FORCE
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(LIBRARIES) $(BINARIES) $(EXTENSION)

# Changed flags or another compiler rebuild what they touch.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS))' > $@

$(B)/obj/libdecode/%.o $(B)/tidy/libdecode/%: INCLUDES := -iquote libdecode -Ilibdecode/include
$(B)/obj/libsymbols/%.o $(B)/tidy/libsymbols/%: INCLUDES := -iquote libsymbols -Ilibsymbols/include -iquote libdecode -Ilibdecode/include
$(B)/obj/libprofile/%.o $(B)/tidy/libprofile/%: INCLUDES := -iquote libprofile -Ilibprofile/include -iquote libdecode -Ilibdecode/include
$(B)/obj/libcolumns/%.o $(B)/tidy/libcolumns/%: INCLUDES := -iquote libcolumns -Ilibcolumns/include -iquote libdecode -Ilibdecode/include
$(B)/obj/sqlite/%.o $(B)/obj/extension/sqlite/%.o $(B)/tidy/sqlite/%: INCLUDES := -iquote sqlite -Ilibdecode/include -Ilibcolumns/include
$(B)/obj/extension/sqlite/%.o: DEFINES := -DPQ_EXTENSION
$(B)/obj/tools/%.o $(B)/tidy/tools/%: INCLUDES := -iquote tools -iquote sqlite -Ilibdecode/include -Ilibsymbols/include -Ilibprofile/include -Ilibcolumns/include
$(B)/obj/record/%.o $(B)/tidy/record/%: INCLUDES := -iquote record -iquote tools -Ilibdecode/include -Ilibsymbols/include
$(B)/obj/tools/%.o $(B)/tidy/tools/%: DEFINES = -DPD_LIBRARIES='"$(TOOL_VERSIONS)"'
$(B)/obj/tools/pquery/%.o $(B)/tidy/tools/pquery/%: DEFINES = -DPD_LIBRARIES='"$(QUERY_VERSIONS)"'
$(B)/obj/record/%.o $(B)/tidy/record/%: DEFINES = -DPD_LIBRARIES='"$(RECORD_VERSIONS)"'
$(B)/obj/python/%.o: INCLUDES = -iquote python -isystem $(PYTHON_INCLUDE) -Ilibdecode/include -Ilibcolumns/include
$(B)/obj/tests/%.o: INCLUDES := -Ilibdecode/include
$(B)/obj/tests/fuzz/%.o: INCLUDES := -iquote libdecode -Ilibdecode/include -iquote tools -iquote libsymbols -Ilibsymbols/include \
	-Ilibcolumns/include -Ilibprofile/include

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEFINES) $(INCLUDES) -MMD -MP -c -o $@ $<

$(B)/obj/extension/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEFINES) $(INCLUDES) -MMD -MP -c -o $@ $<

$(B)/libdecode.a: $(LIB_OBJ)
$(B)/libpdsymbols.a: $(SYM_OBJ)
$(B)/libpdprofile.a: $(PROFILE_OBJ)
$(B)/libpdcolumns.a: $(COLUMNS_OBJ)
# The page as a string: its parts joined, without comments, indentation and most blanks.
PAGE := libprofile/page
PAGE_SCRIPTS := $(patsubst %,$(PAGE)/%.js,data tree text colors draw time table search main)
PAGE_QUOTED := sed -e 's/^[[:blank:]]*//; s/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/'
$(B)/gen/page.c: $(PAGE)/page.html $(PAGE)/page.css $(PAGE_SCRIPTS) $(PAGE)/svg.js scripts/squeeze-script Makefile
	@mkdir -p $(@D)
	$(Q)awk -f scripts/squeeze-script $(PAGE_SCRIPTS) > $(@D)/page.js
	$(Q)awk -f scripts/squeeze-script $(PAGE)/svg.js > $(@D)/svg.js
	$(Q)sed 's/ *\([{}]\) */\1/g; s/\([:;,]\) /\1/g' $(PAGE)/page.css > $(@D)/page.css
	$(Q)(echo '#include "page/page.h"'; echo 'const char pp_page[] ='; \
		sed -e '/@STYLE@/{r $(@D)/page.css' -e 'd;}' -e '/@SCRIPT@/{r $(@D)/page.js' -e 'd;}' $< | \
		$(PAGE_QUOTED); echo ';'; echo 'const char pp_svg_script[] ='; $(PAGE_QUOTED) $(@D)/svg.js; \
		echo ';') > $@
$(B)/obj/libprofile/page/page.o: $(B)/gen/page.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -iquote libprofile -MMD -MP -c -o $@ $<
$(B)/shared.a: $(call objects,$(SHARED_SRC))
$(B)/eu_search.a: $(call objects,libsymbols/static/eu_search.c)
$(B)/libdecode.a $(B)/libpdsymbols.a $(B)/libpdprofile.a $(B)/libpdcolumns.a $(B)/shared.a $(B)/eu_search.a:
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

comma := ,
shared_library = $(CC) $(filter-out $(STATIC),$(ALL_LDFLAGS)) -shared $(if $(SANITIZE),,-Wl,-z,defs) -Wl,-soname,$(@F).$(ABI) \
	$(addprefix -Wl$(comma)--version-script=,$(filter %.map,$^)) -o $@ $(filter %.o %.so,$^) $(1) && ln -sf $(@F) $@.$(ABI)
$(B)/libdecode.so: $(LIB_OBJ) $(EXPORT_MAP)
	$(call say,LD,$@)
	$(Q)$(call shared_library,$(LIB_LIBS))
$(B)/libpdsymbols.so: $(SYM_OBJ) $(SYM_BASE) $(B)/libdecode.so $(SYM_MAP)
	$(call say,LD,$@)
	$(Q)$(call shared_library,$(SYM_LIBS))
$(B)/libpdprofile.so: $(PROFILE_OBJ) $(PROFILE_BASE) $(B)/libdecode.so $(PROFILE_MAP)
	$(call say,LD,$@)
	$(Q)$(call shared_library,$(PROFILE_LIBS))
$(B)/libpdcolumns.so: $(COLUMNS_OBJ) $(COLUMNS_BASE) $(B)/libdecode.so $(COLUMNS_MAP)
	$(call say,LD,$@)
	$(Q)$(call shared_library,$(COLUMNS_LIBS))

# Self-contained: SQLite's functions come from the program that loads it.
$(EXTENSION): $(EXTENSION_OBJ) $(B)/libpdcolumns.a $(B)/libdecode.a sqlite/perfdata.map
	$(call say,LD,$@)
	$(Q)$(CC) $(filter-out $(STATIC),$(ALL_LDFLAGS)) -shared $(if $(SANITIZE),,-Wl,-z,defs) -Wl,-soname,$(@F) \
		-Wl,--version-script=sqlite/perfdata.map -o $@ $(filter %.o %.a,$^) $(LIB_LIBS) $(COLUMNS_LIBS)

# The binding of Python: needs its headers, of 3.11 or later.
PYTHON_INCLUDE = $(call once,PYTHON_INCLUDE,$(or $(shell $(PYTHON) -c 'import os, sys, sysconfig; \
	path = sysconfig.get_path("include"); \
	sys.version_info >= (3, 11) and os.path.exists(path + "/Python.h") and print(path)'),$(error \
	Python 3.11 or later is needed, and its headers: python3-dev)))
PYTHON_MODULE := $(B)/python/_perfdata.abi3.so
$(PYTHON_MODULE): $(PYTHON_OBJ) $(B)/libpdcolumns.a $(B)/libdecode.a python/perfdata.map
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(filter-out $(STATIC),$(ALL_LDFLAGS)) -shared -Wl,--version-script=python/perfdata.map \
		-o $@ $(filter %.o %.a,$^) $(LIB_LIBS) $(COLUMNS_LIBS)
.PHONY: python
python: $(PYTHON_MODULE)
	$(Q)$(PYTHON) scripts/wheel $(VERSION) $< $(B)/python

# LDFLAGS=-static works as well; a shared library stays one.
STATIC = $(filter -static -static-pie,$(LDFLAGS))
link = $(CC) $(1) $(ALL_LDFLAGS) $(SANITIZE_LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(2)
LINK = $(if $(STATIC),$(call link,,$(STATIC_LIBS)),$(call link,$(if $(SANITIZE_LINK),-no-pie,-pie),$(LIB_LIBS) $(TOOL_LIBS) $(QUERY_LIBS) $(RECORD_LIBS) $(SYM_LIBS) -ldl))
define program
$(B)/$(1) $(B)/static/$(1): $(call objects,$(2)) $(B)/shared.a $(B)/libpdsymbols.a $(B)/libdecode.a | $(B)/eu_search.a
$(B)/$(1):
	$$(call say,LD,$$@)
	$$(Q)$$(LINK)
$(B)/static/$(1):
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(call link,-static-pie,$$(STATIC_LIBS))
endef
$(B)/preport $(B)/static/preport: $(B)/libpdprofile.a
$(B)/pdecode $(B)/static/pdecode $(B)/pquery $(B)/static/pquery: $(B)/libpdcolumns.a
$(foreach t,$(PROGRAMS),$(eval $(call program,$(t),$(call src_of,$(t)) $(if $(filter pquery,$(t)),$(PQUERY_ALSO)))))
$(eval $(call program,precord,$(RECORD_SRC)))

# A fuzz target is driven by libFuzzer (FUZZ=1), else by main.c, which replays files.
$(FUZZERS): ALL_LDFLAGS += $(if $(filter 1,$(FUZZ)),-fsanitize=fuzzer)
FUZZ_MAIN := $(if $(filter 1,$(FUZZ)),,$(call objects,$(wildcard tests/fuzz/main.c)))
FUZZ_OBJ := $(call objects,tests/fuzz/harness.c tests/fuzz/json_fault.c tools/pencode/pencode_json.c)
$(FUZZERS): $(B)/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_MAIN) $(FUZZ_OBJ) $(B)/libpdprofile.a $(B)/libpdcolumns.a $(B)/libpdsymbols.a \
	$(B)/libdecode.a
	$(call say,LD,$@)
	$(Q)$(LINK)
fuzzers: $(FUZZERS)

# The same targets over mutants that are the same every time.
MUTATORS := $(B)/mutate_decode $(B)/mutate_order $(B)/mutate_roundtrip
$(MUTATORS): $(B)/mutate_%: $(B)/obj/tests/fuzz/fuzz_%.o $(call objects,tests/fuzz/mutate.c) $(FUZZ_OBJ) $(B)/libdecode.a
	$(call say,LD,$@)
	$(Q)$(LINK)
mutators: $(MUTATORS)

.PHONY: static
static: $(BINARIES:$(B)/%=$(B)/static/%)

deps:
	$(Q)$(SETUP)

# The set-up comes first; only then does a second make look at compilers and libraries.
demo: deps
	+$(Q)$(SUBMAKE) all
	$(Q)scripts/demo '$(B)' '$(DEMO_INPUT)' '$(DEMO_OUTPUT)'

PYTHON = $(call once,PYTHON,$(shell for p in /usr/bin/python3 python3; do \
	$$p -c 'import pytest, jsonschema' 2>/dev/null && echo $$p && break; done))
# Compiled tests are kept there: to compile them takes as long as a hundred tests, for each process.
PYTEST = PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=build/pycache $(or $(PYTHON),$(error no python3 with pytest and \
	jsonschema. Run 'make deps')) -m pytest -o cache_dir=build/pytest -q $(PYTEST_ARGS)
# Tests find the tools through PD_TOOLS and PDECODE, the libraries through PD_BUILD.  A sanitizer's
# report must not pass for the exit status 1 of a damaged input.
export ASAN_OPTIONS ?= exitcode=99
export UBSAN_OPTIONS ?= exitcode=99:print_stacktrace=1
pytest_env = PD_BUILD='$(abspath build)' PD_TOOLS='$(abspath $(1))' \
	PDECODE='$(abspath $(1)/pdecode)'

# In parallel where pytest can, with two more than cores, since many tests wait. Alone: tests that measure time, or record or change the whole machine.
# In pairs: recordings that wait more than they compute, and are not compared with others.
# Waiting: tests that only wait. They run in parallel with each other, not with others: a recording of the machine would wait for
# their files.
HAS_XDIST = $(call once,HAS_XDIST,$(shell $(PYTHON) -c 'import xdist' 2>/dev/null && echo yes || echo no))
workers = $(if $(filter yes,$(HAS_XDIST)),--numprocesses=$(1) --dist=$(or $(2),loadfile))
PARALLEL = $(call once,PARALLEL,$(call workers,$(shell echo $$(($$(nproc) + 2)))))
record_tests = $(1:%=tests/record/test_%.py)
WAITING := $(call record_tests,record_silent_files)
NOT_ALONE := $(addprefix record_,attr aux events kcore names oldkernel output perf places report tracefs unwind) synth
PAIRS := $(call record_tests,$(addprefix record_,hostile mounts out_of_memory programs replaced run threads user) switch_event)
ALONE := $(filter-out $(WAITING) $(PAIRS) $(call record_tests,$(NOT_ALONE)),$(wildcard tests/record/*.py))
SHORT := tests/law tests/decode/test_catalogue.py tests/decode/test_containers.py tests/decode/test_stats.py \
	tests/encode/test_pencode_roundtrip.py tests/repair/test_repair.py tests/cli/test_pdecode_cli.py tests/record/test_record_attr.py

# $(call run_tests,folder of the tools,parallel workers,which marks,arguments): no test of that name is no failure.
run_tests = $(Q)$(call pytest_env,$(1)) $(PYTEST) $(2) -m '$(3)' $(4) || test $$? -eq 5

# Tests marked `sanitize` run with the tools under ASan and UBSan; check-more runs them as users have the tools, and those marked `long`.
check: deps
	+$(Q)$(SUBMAKE) check-builds
	$(call run_tests,build/san,$(PARALLEL),sanitize and not long,tests)
	$(call run_tests,build,$(PARALLEL),not sanitize and not long,$(addprefix --ignore=,$(PAIRS) $(ALONE) $(WAITING)) tests)
	$(call run_tests,build,$(call workers,8,load),not long,$(WAITING))
	$(call run_tests,build,$(call workers,2),not sanitize and not long,$(PAIRS))
	$(call run_tests,build,,not sanitize and not long,$(ALONE))

# What check leaves out.
check-more: deps
	+$(Q)$(SUBMAKE) check-builds
	+$(Q)if command -v clang >/dev/null; then \
		$(SUBMAKE) B=build/clang SAN=0 CC=clang OPT=-O1 all; \
	else echo 'clang: not here, skipped'; fi
	$(call run_tests,build/san,$(PARALLEL),sanitize and long,tests)
	$(call run_tests,build,$(PARALLEL),sanitize or long,$(addprefix --ignore=,$(ALONE)) tests)
	$(call run_tests,build,,sanitize or long,$(ALONE))

# For every change: one build, and the tests that find most mistakes.
check-short: deps
	+$(Q)$(SUBMAKE) B=build SAN=0 all
	$(Q)$(call pytest_env,build) $(PYTEST) $(PARALLEL) $(SHORT)

check-builds:
	+$(Q)$(SUBMAKE) B=build SAN=0 all
	+$(Q)$(SUBMAKE) B=build/san SAN=1 all check-crash mutators

# Needs root, to become another user.
check-user: deps
	+$(Q)$(SUBMAKE) B=build SAN=0 all
	$(Q)PYTHON='$(PYTHON)' scripts/check-user build

# Programs that read preport's files are kept in CLIENTS: a second run installs nothing.
CLIENTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/perf-data-clients
check-clients: deps
	+$(Q)$(SUBMAKE) B=build SAN=0 all
	$(Q)scripts/clients '$(CLIENTS)'
	$(Q)PD_CLIENTS='$(CLIENTS)' $(call pytest_env,build) $(PYTEST) -rs tests/clients

# FLEET_ARGS=--slices=200: fewer.
fleet-demo: deps
	+$(Q)$(SUBMAKE) B=build SAN=0 all python
	$(Q)scripts/clients '$(CLIENTS)' fleet
	$(Q)'$(CLIENTS)/python/bin/python' -m pip install -q --no-index --upgrade --target build/fleet/packages \
		build/python/perfdata-$(VERSION)-*.whl
	$(Q)PYTHONPATH='$(abspath build/fleet/packages):$(abspath fleet)' PYTHONDONTWRITEBYTECODE=1 \
		'$(CLIENTS)/python/bin/python' fleet/demo.py build build/fleet/demo $(FLEET_ARGS)

# Another Debian release; and every compiler that is installed, the build alone.
check-distro:
	$(Q)scripts/check-distro $(SUITE) $(if $(RUN),'$(RUN)')

COMPILERS ?= $(sort $(notdir $(wildcard /usr/bin/gcc-[1-9][0-9] /usr/bin/clang-[1-9][0-9])))
check-compilers: $(COMPILERS:%=build-with-%)
build-with-%:
	@echo '$*'
	+$(Q)$(SUBMAKE) B=build/compilers/$* SAN=0 CC=$* WERROR=1 all

check-crash: $(FUZZERS)
	$(Q)for f in $(FUZZERS); do \
		for c in fixtures/crash/*; do test ! -f "$$c" || $$f "$$c" || exit 1; done; \
	done

# Which of the seeds that tests/fuzz/seeds.py makes a target starts from.
seeds_of = build/fuzz/seeds/$(or $(filter feature tracing image demangle kallsyms jit bundle simpleperf unwind debug bpf,$(1)),$(if $(filter encode,$(1)),json,data))
fuzz: lint-packages
	+$(Q)$(SUBMAKE) B=build all
	+$(Q)$(SUBMAKE) B=build/fuzz FUZZ=1 CC=clang fuzzers
	$(Q)$(PYTHON) tests/fuzz/seeds.py build/pdecode build/fuzz/seeds
	$(Q)JOBS=$(JOBS) scripts/fuzz $(FUZZ_SECONDS) $(foreach t,$(FUZZ_SRC:tests/fuzz/fuzz_%.c=%),$(t)=$(call seeds_of,$(t)))

bench: all
	$(Q)if test -x scripts/bench; then scripts/bench '$(B)'; else echo 'bench: not here yet'; fi

# PICTURES_OF='FILE BASE': recordings of your own.
pictures: all
	$(Q)scripts/pictures '$(B)' '$(B)/pictures' $(PICTURES_OF)

SOAK_SECONDS ?= 600
soak: all
	$(Q)scripts/soak '$(B)' --seconds $(SOAK_SECONDS) $(SOAK_ARGS)

schemas: $(B)/pdecode
	$(Q)$(B)/pdecode --schema=schemas

# The public header of the kernel's numbers, from the tables of their names.
enums:
	$(Q)scripts/enums > libdecode/include/pd/enums.h.new
	$(Q)mv libdecode/include/pd/enums.h.new libdecode/include/pd/enums.h

# Section 3 of the manual, from the headers.
man3:
	$(Q)scripts/man3 '$(B)/man3'

# The interface of the shared library, for tests/law/test_abi.py: of a release, or of a state that
# programs are built against.
abi: all
	$(Q)mkdir -p tests/abi
	$(Q)scripts/abi '$(abspath $(B))/libdecode.so' | xz -9 > tests/abi/libdecode.abi.xz

# Three readers of the source, each clean, or with an exception and its reason: in .clang-tidy, in
# scripts/cppcheck-suppressions, here, in the line itself. What clang-tidy has read it reads again when it changes.
ANALYZED := $(LIB_SRC) $(SYM_SRC) $(PROFILE_SRC) $(COLUMNS_SRC) $(QUERY_SRC) $(TOOL_SRC) $(RECORD_SRC)
HEADERS := $(shell find libdecode libsymbols libprofile libcolumns sqlite tools record -name '*.h')
analyze: lint-packages
	+$(Q)$(SUBMAKE) tidy
	+$(Q)$(SUBMAKE) cppcheck
	+$(Q)$(SUBMAKE) analyzer

lint-packages:
	$(Q)$(SETUP) lint

tidy: $(ANALYZED:%=$(B)/tidy/%)
$(B)/tidy/%: % $(HEADERS) .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)clang-tidy --quiet --warnings-as-errors='*' $< -- $(ALL_CFLAGS) $(DEFINES) $(INCLUDES) 2>$@.log || \
		{ grep -v 'warnings\? generated' $@.log; exit 1; }
	$(Q)touch $@

cppcheck:
	$(call say,CHECK,cppcheck)
	$(Q)cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=scripts/cppcheck-suppressions -D_GNU_SOURCE -DPD_VERSION='"$(VERSION)"' \
		-Ilibdecode -Ilibdecode/include -Irecord -Itools -Ilibsymbols -Ilibsymbols/include -Ilibprofile \
		-Ilibprofile/include -Ilibcolumns -Ilibcolumns/include -Isqlite libdecode libsymbols libprofile libcolumns sqlite tools record

# gcc's own, in a build of its own. Off are, of gcc 12:
# malloc-leak: it loses sight of blocks kept in arrays and structures; LeakSanitizer and memcheck look for leaks.
ANALYZER := -fanalyzer -Wno-analyzer-malloc-leak
# shift-count-overflow: it takes a shift of a vector's elements for one of the whole vector.
ANALYZER += -Wno-analyzer-shift-count-overflow
# use-of-uninitialized-value: it forgets that an initializer sets the rest of an array, too.
ANALYZER += -Wno-analyzer-use-of-uninitialized-value
analyzer:
	+$(Q)$(SUBMAKE) B=$(B)/analyzer CC=gcc SAN=0 FUZZ=0 WERROR=1 OPT='-O1 -g $(ANALYZER)' analyzed
analyzed: compiled $(call objects,$(PYTHON_SRC))
compiled: $(call objects,$(ANALYZED))

valgrind: lint-packages all
	$(Q)scripts/memcheck '$(B)'

# Elsewhere: 32 bits, compiled only; another architecture in an emulator, another libc.
.PHONY: check-32bit check-arch check-musl
check-32bit:
	$(Q)$(SETUP) 32bit
	+$(Q)$(SUBMAKE) B=build/i686 SAN=0 FUZZ=0 CC=i686-linux-gnu-gcc WERROR=1 \
		CPPFLAGS='-idirafter /usr/include -idirafter /usr/include/$(shell gcc -print-multiarch)' compiled
check-arch: all
	+$(Q)PYTHON='$(PYTHON)' PARALLEL='$(PARALLEL)' SETUP='$(filter :,$(SETUP))' scripts/check-arch '$(ARCH)' '$(B)' '$(SUITE)'
check-musl: all
	+$(Q)SETUP='$(filter :,$(SETUP))' scripts/check-musl '$(B)'

# The tools print their manual pages and completions themselves.
BASHDIR := $(DATADIR)/bash-completion/completions
ZSHDIR := $(DATADIR)/zsh/site-functions
FISHDIR := $(DATADIR)/fish/vendor_completions.d

# A .pc file with these packages and other libraries.
pc = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	-e 's|@VERSION@|$(VERSION)|' -e 's|@PACKAGES@|$(1)|' -e 's|@PLAIN@|$(2)|'

install: all
	$(Q)install -d $(foreach d,$(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR)/pd $(MANDIR)/man1 \
		$(BASHDIR) $(ZSHDIR) $(FISHDIR),'$(DESTDIR)$(d)')
	$(Q)install -m 644 libdecode/include/pd/*.h libsymbols/include/pd/*.h libprofile/include/pd/*.h libcolumns/include/pd/*.h '$(DESTDIR)$(INCLUDEDIR)/pd'
	$(Q)install -m 644 $(LIBRARY_NAMES:%=$(B)/%.a) '$(DESTDIR)$(LIBDIR)'
	$(Q)install -m 755 $(EXTENSION) '$(DESTDIR)$(LIBDIR)'
	$(Q)set -e; cd '$(DESTDIR)$(LIBDIR)'; for l in $(LIBRARY_NAMES); do \
		install -m 755 '$(abspath $(B))'/$$l.so $$l.so.$(VERSION); \
		ln -sf $$l.so.$(VERSION) $$l.so.$(ABI); \
		ln -sf $$l.so.$(ABI) $$l.so; \
	done
	$(Q)umask 022 && $(call pc,$(LIB_PACKAGES),$(LIB_PLAIN)) \
		libdecode/libdecode.pc.in > '$(DESTDIR)$(LIBDIR)/pkgconfig/libdecode.pc'
	$(Q)umask 022 && $(call pc,$(SYM_PACKAGES),$(SYM_PLAIN)) \
		libsymbols/libpdsymbols.pc.in > '$(DESTDIR)$(LIBDIR)/pkgconfig/libpdsymbols.pc'
	$(Q)umask 022 && $(call pc,$(PROFILE_PACKAGES),) \
		libprofile/libpdprofile.pc.in > '$(DESTDIR)$(LIBDIR)/pkgconfig/libpdprofile.pc'
	$(Q)umask 022 && $(call pc,$(COLUMNS_PACKAGES),) \
		libcolumns/libpdcolumns.pc.in > '$(DESTDIR)$(LIBDIR)/pkgconfig/libpdcolumns.pc'
	$(Q)set -e; umask 022; for t in $(PROGRAMS) $(RECORDER); do \
		install -m 755 $(B)/$$t '$(DESTDIR)$(BINDIR)'; \
		$(B)/$$t --man > '$(DESTDIR)$(MANDIR)'/man1/$$t.1; \
		$(B)/$$t --completion bash > '$(DESTDIR)$(BASHDIR)'/$$t; \
		$(B)/$$t --completion zsh > '$(DESTDIR)$(ZSHDIR)'/_$$t; \
		$(B)/$$t --completion fish > '$(DESTDIR)$(FISHDIR)'/$$t.fish; \
	done
	$(Q)umask 022 && if command -v python3 >/dev/null; then \
		scripts/man3 '$(DESTDIR)$(MANDIR)/man3'; \
	else echo 'python3: not here, no manual pages of section 3'; fi

uninstall:
	$(Q)rm -f $(foreach t,$(PROGRAMS) $(RECORDER),'$(DESTDIR)$(BINDIR)/$(t)' \
		'$(DESTDIR)$(MANDIR)/man1/$(t).1' '$(DESTDIR)$(BASHDIR)/$(t)' \
		'$(DESTDIR)$(ZSHDIR)/_$(t)' '$(DESTDIR)$(FISHDIR)/$(t).fish')
	$(Q)rm -f '$(DESTDIR)$(LIBDIR)/$(notdir $(EXTENSION))' $(foreach l,$(LIBRARY_NAMES),'$(DESTDIR)$(LIBDIR)'/$(l).a '$(DESTDIR)$(LIBDIR)'/$(l).so* \
		'$(DESTDIR)$(LIBDIR)/pkgconfig/$(l).pc') \
		$(patsubst %,'$(DESTDIR)$(INCLUDEDIR)/pd/%', \
			$(notdir $(wildcard libdecode/include/pd/*.h libsymbols/include/pd/*.h libprofile/include/pd/*.h libcolumns/include/pd/*.h)))
	$(Q)command -v python3 >/dev/null && scripts/man3 --remove '$(DESTDIR)$(MANDIR)/man3' || true
	$(Q)rmdir '$(DESTDIR)$(INCLUDEDIR)/pd' 2>/dev/null || true

# B=DIR elsewhere may hold other files: those of the build go, and the folder if it is empty then.
BUILT = $(BINARIES) $(EXTENSION) $(FUZZERS) $(foreach l,$(LIBRARY_NAMES),$(B)/$(l).a $(B)/$(l).so $(B)/$(l).so.$(ABI)) \
	$(addprefix $(B)/,flags shared.a eu_search.a obj gen static python man3 tidy analyzer bench)
clean:
ifneq ($(filter build build/%,$(B)),)
	$(Q)rm -rf build
else
	$(Q)rm -rf $(foreach f,$(BUILT),'$(f)')
	$(Q)rmdir '$(B)' 2>/dev/null || true
endif

help:
	@sed -n 's/^#: //p' Makefile

#: Targets
#:   all          the library and the tools, in build/ (the default)
#:   static       the tools without shared libraries, in build/static
#:   deps         look for the Debian packages that are needed, install the missing ones
#:   demo         deps, all, then decode a capture (DEMO_INPUT=FILE) to out.json
#:   check        deps, builds with gcc and sanitizers, the tests (PYTEST_ARGS="-k NAME")
#:   check-more   what check leaves out: clang, tests that take long, and those with sanitizers once more without
#:   check-short  one build and a part of the tests, in 3 minutes
#:   check-user   the recorder's tests as a user without rights and without perf_event_open; needs root
#:   check-distro the same in a fresh Debian SUITE=trixie (or bullseye, bookworm) under build/distro, of which the base system
#:                and the packages are kept for the next run; needs root and debootstrap (RUN="make demo" for that alone)
#:   check-compilers  builds with every gcc and clang from 10 on that is installed, warnings are errors
#:   check-clients  preport's files and the tables in the programs that read them, which are installed to CLIENTS
#:                (~/.cache/perf-data-clients)
#:   fleet-demo   Spark converts 2,000 slices of a fleet, loses a worker meanwhile, and the counts are those of pdecode;
#:                the same questions on DuckDB, Spark and ClickHouse. Spark and ClickHouse are installed to CLIENTS
#:   pictures     screenshots of the flame graph page, in build/pictures; needs chromium (PICTURES_OF='FILE BASE')
#:   python       the binding of Python, a wheel in build/python: needs Python 3.11
#:   schemas      write schemas/ from the tables
#:   abi          write tests/abi from the library that is built, with abidw
#:   man3         write the library's manual pages, from its headers, to build/man3
#:   enums        write pd/enums.h from the tables
#:   fuzz         fuzz each target for FUZZ_SECONDS (60), JOBS at once, with clang; the corpus stays in build/fuzz
#:                (FUZZ_CHECKS=undefined: five times as many inputs a second; the next run replays the corpus)
#:   analyze      clang-tidy, cppcheck and gcc's analyzer (tidy, cppcheck, analyzer: one of them)
#:   check-arch   ARCH=arm64|armhf|i386|riscv64|s390x: cross-build, then compare captures and run tests
#:                in an emulator (SUITE=trixie: with libraries of that Debian release)
#:   check-32bit  compiles everything for i386, warnings are errors; nothing of it runs
#:   check-musl   builds against musl, then compares captures
#:   valgrind     the tools over captures, under memcheck
#:   bench        measure
#:   soak         record a busy machine for SOAK_SECONDS (600), as root, and count whether all of it is there;
#:                SOAK_ARGS=--peer does the same with perf
#:   install, uninstall, clean
#: Variables
#:   V=1          show the commands         SAN=1     ASan and UBSan, in build/san
#:   WERROR=1     warnings are errors       CC=clang  another compiler
#:   PREFIX=/usr/local  DESTDIR=            B=DIR     build elsewhere
#:   SETUP=:      leave the packages alone  JOBS=N    parallel steps of demo and check
#:   HARDENING=   without stack protector and the like
#:   WITH_DEFLATE=  without libdeflate, where there is one

-include $(ALL_OBJ:.o=.d)
