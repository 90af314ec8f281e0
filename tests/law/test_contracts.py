"""Contracts of the public headers: each exported declaration has a comment of its own that states
what a caller must know."""
import re

import pytest

from conftest import ROOT

HEADERS = sorted([*(ROOT / "libdecode" / "include" / "pd").glob("*.h"),
                  *(ROOT / "libsymbols" / "include" / "pd").glob("*.h"),
                  *(ROOT / "libprofile" / "include" / "pd").glob("*.h"),
                  *(ROOT / "libcolumns" / "include" / "pd").glob("*.h")])

# A comment that ends in the line above the declaration. One comment for several declarations is no
# contract.
DECLARATION = re.compile(r"(?P<comment>^/\*(?:(?!\*/).)*\*/\n)?^P[DSPC]_API\b(?P<code>[^;]*);",
                         flags=re.S | re.M)

LIFETIME = re.compile(
    r"\b(valid until|borrowed until|static|constant|returns buf|free (it|them) with|release it with"
    r"|close (it|the reader) with|the same)\b", flags=re.I)
THREADS = re.compile(r"\bthreads?\b|\bmust not overlap\b", flags=re.I)


def declarations(text):
    """(name, result type, comment or "") of each PD_API declaration."""
    for match in DECLARATION.finditer(text):
        code = " ".join(match["code"].split())
        name = re.search(r"(\w+) ?(\(|$)", code)
        words = re.sub(r"^/\*|\*/$|^ \*", "", (match["comment"] or "").strip(), flags=re.M)
        yield name[1], code[:name.start()].strip(), " ".join(words.split())


def missing(header):
    """The faults of the contracts in a header's text."""
    head = header.split("*/", 1)[0]
    for name, result, comment in declarations(header):
        if len(comment.split()) < 3:
            yield f"{name}: has no contract"
            continue
        if result.endswith("*") and not LIFETIME.search(comment):
            yield f"{name}: does not state how long its result is valid"
        if not (THREADS.search(head) or THREADS.search(comment)):
            yield f"{name}: neither it nor its header mentions threads"


def test_declarations_have_contracts():
    """Counts them, so that the test fails if the pattern finds nothing."""
    counted = sum(1 for path in HEADERS for _ in declarations(path.read_text()))
    assert counted == sum(len(re.findall(r"^P[DSPC]_API\b", path.read_text(), flags=re.M))
                          for path in HEADERS) > 80
    assert ([f"{path.name}: {problem}" for path in HEADERS for problem in missing(path.read_text())]
            == [])


HEAD = "/* some.h - does something. Calls must not overlap. */\n#define PD_SOME_H\n"


@pytest.mark.parametrize("text, problems", [
    (HEAD + "/* Returns the number of files. */\nPD_API int pd_count(void);\n", []),
    (HEAD
     + "/* Returns the name. Static. */\nPD_API const char *pd_name(int i,\n\t\t\t    int j);\n",
     []),
    (HEAD + "PD_API int pd_count(void);\n", ["pd_count: has no contract"]),
    (HEAD + "\nPD_API int pd_count(void);\n", ["pd_count: has no contract"]),
    (HEAD + "/* Returns the count of a. */\nPD_API int pd_a(void);\nPD_API int pd_b(void);\n",
     ["pd_b: has no contract"]),
    (HEAD + "PD_API int pd_count(void);\t/* Returns the number of files. */\n",
     ["pd_count: has no contract"]),
    (HEAD + "/* NULL is fine */\nPD_API void pd_free(void *p);\n", []),
    (HEAD + "/* Frees. */\nPD_API void pd_free(void *p);\n", ["pd_free: has no contract"]),
    (HEAD + "/* Returns the file's name. */\nPD_API const char *pd_name(void);\n",
     ["pd_name: does not state how long its result is valid"]),
    (HEAD + "/* Reads trees of nodes. */\nPD_API extern const struct pd_values pd_v;\n", []),
    ("/* some.h - does something. */\n#define PD_SOME_H\n/* Returns the number of files. */\n"
     "PD_API int pd_count(void);\n",
     ["pd_count: neither it nor its header mentions threads"]),
])
def test_missing_contracts_are_found(text, problems):
    assert list(missing(text)) == problems
