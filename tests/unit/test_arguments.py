"""No NULL and no number out of range crashes: every declaration of the public headers is called.

The program is generated from the headers. Each call is made in a process of its own, with valid
arguments of which one is replaced.
"""
import re
import subprocess

import pytest

from conftest import FIXTURES, ROOT
from installed import Installed

HEADERS = sorted((ROOT / "libdecode" / "include" / "pd").glob("*.h"))
FILES = ["12-tracepoints.data", "18-pipe.data"]

# Valid arguments, by type. The child makes what they need before the call. In a static variable of
# its own name (but for index(3)) is each of these:
OBJECTS = ("reader record attr sink filter writer encoder tree item feed history index_ field "
           "items").split()
TYPES = {"index_": "index", "items": "fields"}
VALID = {f"{const}struct pd_{TYPES.get(name, name)} *": name
         for name in OBJECTS for const in ("", "const ")}
VALID |= {f"{const}struct pd_{kind} *": f"&{name}" for const in ("", "const ") for kind, name in [
    ("value", "value"), ("values", "pd_value_values"), ("error", "error"), ("bytes", "bytes"),
    ("visitor", "visitor"), ("fields_batch", "batch"), ("numbers", "numbers"),
    ("lender", "lender"), ("sink_ops", "ops"), ("account", "account"), ("moment", "moment")]}
VALID |= {"pd_node": "&value", "struct pd_bytes": "bytes", "struct pd_output": "output",
          "struct pd_range": "range", "const char *": '"ip"',
          "const struct pd_record **": "&record",
          "struct pd_sample_test": "(struct pd_sample_test){ NULL, NULL }"}
SCRATCH = re.compile(
    r"(struct \w+|u?int\d+_t|void|char|const void|const uint64_t|const char \*|pd_node|size_t|bool)"
    r" ?\*+$")
# A size goes with the bytes it counts: only smaller ones are tried.
COUNTS = {"n", "size", "nr_ids", "attr_size", "capacity"}
EXTREMES = {"int": ["-1", "INT_MAX", "INT_MIN"], "uint16_t": ["UINT16_MAX"],
            "uint32_t": ["UINT32_MAX", "250"],
            "uint64_t": ["UINT64_MAX"], "size_t": ["SIZE_MAX", "100000"]}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def functions():
    """{name: (result, [(type, name)])} of the exported functions."""
    found = {}
    for path in HEADERS:
        for code in re.findall(r"^PD_API\b([^;]*\));",
                               without_comments(path.read_text()), flags=re.M):
            result, name, given = re.fullmatch(r"(.*?)(\w+) ?\((.*)\)",
                                               " ".join(code.split())).groups()
            pairs = [re.fullmatch(r"(.*?)\s?(\w+)", argument.strip()).groups()
                     for argument in given.split(",") if given != "void"]
            found[name] = result.strip(), pairs
    return found


def is_pointer(kind):
    return kind.endswith("*") or kind == "pd_node"


def valid(kind, name):
    if kind.endswith("_options *"):
        return "NULL"
    if kind in VALID:
        return VALID[kind]
    if SCRATCH.match(kind):
        return f"({kind})scratch"
    return {"attr_size": "64", "fd": "fd"}.get(name, "8" if name in COUNTS else f"({kind})0")


def replacements(kind, name):
    """Returns the values to try in place of a valid argument."""
    if kind == "struct pd_bytes":
        yield from ("(struct pd_bytes){ NULL, 0 }", "(struct pd_bytes){ NULL, 5 }")
    elif kind == "struct pd_output":
        yield "(struct pd_output){ NULL, NULL }"
    elif is_pointer(kind):
        yield "NULL"
    elif name in COUNTS:
        yield "0"
    elif kind.startswith("enum"):
        yield from (f"({kind})99", f"({kind})-1")
    else:
        yield from EXTREMES.get(kind, [])


def calls():
    """(what it is, the call) for each argument of each function."""
    for name, (_, pairs) in functions().items():
        arguments = [valid(*pair) for pair in pairs]
        tried = [(i, other) for i, pair in enumerate(pairs) for other in replacements(*pair)]
        yield f"{name}: valid", f"{name}({', '.join(arguments)})"
        for i, other in tried:
            given = ", ".join([*arguments[:i], other, *arguments[i + 1:]])
            yield f"{name}: {pairs[i][1]} = {other}", f"{name}({given})"
        nulls = ["NULL" if is_pointer(kind) else "0" if not kind.startswith("struct")
                 else next(iter(replacements(kind, argument)), valid(kind, argument))
                 for kind, argument in pairs]
        yield f"{name}: all NULL", f"{name}({', '.join(nulls)})"
    for member, arguments in [
            ("type", "NULL"), ("number", "NULL"), ("real", "NULL"), ("text", "NULL"),
            ("member", "NULL, NULL"), ("member", "&value, NULL"), ("length", "NULL"),
            ("item", "NULL, 0, NULL"), ("item", "&value, SIZE_MAX, NULL"),
            ("member_at", "NULL, 0, NULL, NULL"), ("member_at", "&value, 0, NULL, NULL")]:
        yield f"pd_value_values.{member}: {arguments}", f"pd_value_values.{member}({arguments})"


def options():
    """(function, name of the options, {member: enum}) of each function that takes options."""
    text = "".join(without_comments(path.read_text()) for path in HEADERS)
    members = {name: {member: enum for enum, member in re.findall(r"enum (\w+) (\w+);", body)}
               for name, body in re.findall(r"^struct (\w+_options) \{(.*?)^\};", text,
                                            flags=re.M | re.S)}
    for name, (_, pairs) in functions().items():
        for kind, _ in pairs:
            match = re.fullmatch(r"const struct (\w+_options) \*", kind)
            if match:
                yield name, pairs, match[1], members[match[1]]


def checks():
    """(what it is, statements that set `refused`) for options that have to be refused."""
    for name, pairs, struct, members in options():
        has_error = any(kind == "struct pd_error *" for kind, _ in pairs)
        arguments = ", ".join("&o" if kind.endswith("_options *")
                              else valid(kind, argument) for kind, argument in pairs)
        wrong = [(f"size = {size}", f"o.size = {size};")
                 for size in ("0", "1", "SIZE_MAX", "1 << 20")]
        wrong += [(f"{member} = 99", f"o.{member} = (enum {enum})99;")
                  for member, enum in members.items()]
        for what, code in wrong:
            also = " && error.code == PD_E_ARGUMENT" if has_error else ""
            yield (f"{name}: {what}",
                   f"struct {struct} o = {{ .size = sizeof(o) }}; {code} error.code = PD_OK; "
                   f"refused = !{name}({arguments}){also};")


TEMPLATE = """/* Generated from the public headers by test_arguments.py. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
%(includes)s

static max_align_t scratch[4096];
static struct pd_reader *reader;
static const struct pd_record *record;
static const struct pd_attr *attr;
static struct pd_sink *sink;
static struct pd_filter *filter;
static struct pd_writer *writer;
static struct pd_encoder *encoder;
static struct pd_tree *tree;
static const struct pd_item *item;
static struct pd_feed *feed;
static struct pd_history *history;
static struct pd_moment moment;
static struct pd_index *index_;
static struct pd_error error;
static struct pd_value value = { .name = "HOSTNAME", .kind = PD_VALUE_OBJECT };
static struct pd_bytes bytes;
static struct pd_visitor visitor = { .size = sizeof(visitor) };
static struct pd_fields items[4];
static struct pd_fields_batch batch = { sizeof(batch), items, sizeof(*items), 4, 0 };
static uint8_t some[64];
static struct pd_numbers numbers = { some, 8, 8, 0, NULL };
static const struct pd_field *field;
static struct pd_sink_ops ops = { .size = sizeof(ops) };
static struct pd_account account = { .size = sizeof(account) };
static struct pd_range range;
static int fd, refused;
static uint8_t file[1 << 20];

static int discard(void *ctx, const void *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return 0;
}
static struct pd_output output = { discard, NULL };

static void give_back(void *owner, size_t n)
{
	(void)owner;
	(void)n;
}
static struct pd_lender lender = { give_back, NULL };

static void on_number(void *ctx, const struct pd_field *f, uint64_t v)
{
	(void)ctx;
	(void)v;
	field = f;
}

static void require(const void *p, const char *what)
{
	if (!p) {
		fprintf(stderr, "no %%s\\n", what);
		exit(3);
	}
}

static void prepare(const char *path)
{
	FILE *in = fopen(path, "rb"), *out = tmpfile();
	const struct pd_record *next;

	require(in, path);
	require(out, "file");
	bytes = (struct pd_bytes){ file, fread(file, 1, sizeof(file), in) };
	fclose(in);
	fd = fileno(out);
	require(reader = pd_reader_open_memory(bytes, NULL, &error), "reader");
	visitor.number = on_number;
	while (!field && pd_reader_next(reader, &next, &error) == 1) {
		pd_record_visit(next, &visitor, NULL);
		record = next;
	}
	require(field, "field");
	require(attr = pd_reader_attr(reader, 0), "attr");
	require(sink = pd_sink_new_json(NULL, output), "sink");
	pd_sink_begin(sink, reader);
	require(filter = pd_filter_new(NULL), "filter");
	require(writer = pd_writer_open_fd(fd, NULL, &error), "writer");
	require(encoder = pd_encoder_new(&pd_value_values, fd, NULL, &error), "encoder");
	require(tree = pd_tree_new(NULL), "tree");
	require(item = pd_tree_read_record(tree, record, &error), "item");
	require(history = pd_history_new(NULL, &error), "history");
	pd_history_seal(history, NULL, &error);
	require(index_ = pd_index_new(1), "index");
	require(feed = pd_feed_new(NULL, &error), "feed");
	items[0].place = UINT32_MAX;
	bytes.size = 8;
}

%(bodies)s

static const struct {
	const char *what;
	void (*run)(void);
} all[] = {
%(rows)s
};

/* Returns what is wrong with the i-th call, or 0. */
static int run_alone(const char *path, size_t i)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		prepare(path);
		refused = 1;
		all[i].run();
		_exit(refused ? 0 : 4);
	}
	return child < 0 || waitpid(child, &status, 0) != child ? -1 : status;
}

int main(int argc, char **argv)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const int status = run_alone(argv[argc - 1], i);

		wrong += status != 0;
		if (status)
			printf("%%s: %%s %%d\\n", all[i].what,
			       WIFSIGNALED(status) ? "signal" : "status",
			       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	printf("%%zu calls, %%d wrong\\n", sizeof(all) / sizeof(*all), wrong);
	return wrong != 0;
}
"""


def program():
    bodies, rows = [], []
    for i, (what, call) in enumerate([*calls(), *checks()]):
        code = call if call.endswith(";") else f"(void){call};"
        bodies.append(f"static void run_{i}(void)\n{{\n\t{code}\n}}\n")
        rows.append(f'\t{{ "{what}", run_{i} }},'.replace('"ip"', "ip"))
    includes = "\n".join(f"#include <pd/{path.name}>" for path in HEADERS)
    return TEMPLATE % {"includes": includes, "bodies": "\n".join(bodies), "rows": "\n".join(rows)}


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arguments")
    installed = Installed(folder)
    source = folder / "arguments.c"
    source.write_text(program())
    return installed.link(source, "static", ["-Wno-nonnull"])


def test_every_function_is_tried():
    names = {call.split("(")[0] for _, call in calls()}
    assert set(functions()) <= names and len(names) > 100
    assert len({what for what, _ in calls()}) == len(list(calls())) > 400
    assert len(list(checks())) > 40


@pytest.mark.sanitize
@pytest.mark.parametrize("name", FILES)
def test_nothing_crashes(name, tried):
    done = subprocess.run([tried, FIXTURES / "perf" / name],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert re.search(r"^\d+ calls, 0 wrong$", done.stdout, flags=re.M)
