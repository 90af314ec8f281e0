"""Functions of one source have names that a search finds: a word alone, such as `put` or `fail`, is
the name of one function at most."""
import collections
import re

import pytest

from conftest import ROOT

TOPS = ("libdecode", "libsymbols", "libprofile", "libcolumns", "sqlite", "python", "tools",
        "record")
STATIC = re.compile(r"^static [^=;()]*?\b(\w+)\(", flags=re.M)


def repeated(texts):
    """{name: sources} of the words alone that are the names of functions of several sources."""
    found = collections.defaultdict(set)
    for source, text in texts.items():
        for name in STATIC.findall(text):
            if "_" not in name:
                found[name].add(source)
    return {name: sorted(sources) for name, sources in found.items() if len(sources) > 1}


def test_a_word_alone_is_one_function():
    texts = {str(path.relative_to(ROOT)): path.read_text()
             for top in TOPS for path in (ROOT / top).rglob("*.[ch]")}
    assert repeated(texts) == {}
    assert sum(len(STATIC.findall(text)) for text in texts.values()) > 3000


@pytest.mark.parametrize("text", ["static void put(int a)\n", "static inline char *put(void)\n",
                                  "static const struct item *put(int a,\n"])
def test_a_repeated_word_is_found(text):
    assert repeated({"a.c": text, "b.c": "static int put(void)\n"}) == {"put": ["a.c", "b.c"]}
    assert repeated({"a.c": text, "b.c": "static int put_number(void)\n"}) == {}
