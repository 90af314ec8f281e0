"""Plain English: patterns that GLOSSARY.md and the rules for comments exclude do not come back.

Comments of C and Python sources, docstrings and documents are searched. ALLOWED lists the correct
uses.
"""
import ast
import io
import re
import tokenize

import pytest

from conftest import ROOT

PATTERNS = {
    r"\banew\b": "again",
    r"(^|[.:;] |\*\* )(What|Who|Whose|Whom|Whoever|Whatever)\b(?![^.]*\?)":
        "a noun as subject: 'The caller', 'The bytes that follow'",
    r"(^|[.:;] |\*\* )Of\b": "a noun as subject: 'The X of Y', 'One of 62 million'",
    r"\bof whom\b|\bfor whom\b|\bfor who\b|\bby who\b": "a noun",
    r"\bis let off\b|\blet off\b": "excepted, exempt",
    r"\bare had\b|\bis had\b|\bto be had\b": "available, found",
    r"\btells? of\b|\btold of\b": "reports, lists",
    r"(?<!left )(?<!leaves )(?<!leave )\b[Bb]ehind\b": "after",
    r"\bso many\b": "the number",
    r"\bmended?\b": "repaired, recovered, restored",
    r"\bspool(s|ed)?\b": "temporary file",
    r"\blane\b": "async writer",
    r"\bstand-?in\b": "placeholder",
}

ALLOWED = {
}


def comments(text):
    """The texts of the comments of a C source, without the stars, each as one line."""
    for comment in re.findall(r"/\*(.*?)\*/", text, flags=re.S):
        yield re.sub(r"\s*\n\s*\*? ?", " ", comment).strip()


def comments_of_python(text):
    """The comments and docstrings of a Python source, each as one line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield " ".join((ast.get_docstring(node) or "").split())


def comments_of_sql(text):
    """The comments, each as one line."""
    for comment in re.findall(r"(?:^--[^\n]*\n)+", text, flags=re.M):
        yield " ".join(line.lstrip("- ") for line in comment.splitlines())


def documents():
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md"),
            *(ROOT / "fixtures").glob("*.md")]


def complaints(text):
    return [f"'{found[0]}' (write: {better})" for pattern, better in PATTERNS.items()
            if (found := re.search(pattern, text))]


@pytest.mark.parametrize("top", ["libdecode", "libsymbols", "libprofile", "libcolumns", "sqlite",
                                 "python", "record", "tools"])
def test_comments(top):
    wrong = [f"{path.relative_to(ROOT)}: {text[:100]}: {problem}"
             for path in sorted((ROOT / top).rglob("*.[ch]")) for text in comments(path.read_text())
             for problem in complaints(text)
             if (str(path.relative_to(ROOT)), problem.split("'")[1]) not in ALLOWED]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)
    least = (20 if top in ("sqlite", "python") else
             50 if top in ("libsymbols", "libprofile", "libcolumns") else 300)
    assert sum(1 for path in (ROOT / top).rglob("*.[ch]")
               for _ in comments(path.read_text())) > least


def comments_of_tests():
    """(path, comment) for the tests and the benchmarks, and for the sources in Python."""
    for top in ("tests", "bench", "python", "fleet"):
        for path in sorted((ROOT / top).rglob("*")):
            of_language = {".c": comments, ".h": comments, ".py": comments_of_python,
                           ".sql": comments_of_sql}
            if path.suffix in of_language:
                for text in of_language[path.suffix](path.read_text()):
                    yield path, text


def test_comments_of_tests():
    found = list(comments_of_tests())
    wrong = [f"{path.relative_to(ROOT)}: {text[:100]}: {problem}"
             for path, text in found for problem in complaints(text)]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)
    assert len(found) > 2000


def test_names_of_tests():
    """A noun as subject here, too: test_late_records_are_reported()."""
    names = [(path.name, name) for path in sorted((ROOT / "tests").rglob("test_*.py"))
             for name in re.findall(r"^ *def (test_\w+)", path.read_text(), flags=re.M)]
    assert [found for found in names if re.match(r"test_(what|who)(ever|m|se)?_", found[1])] == []
    assert len(names) > 1000


def test_documents():
    glossary = {"GLOSSARY.md"}      # its last column lists the words
    wrong = [f"{path.relative_to(ROOT)}: {line[:100]}: {problem}"
             for path in documents() if path.name not in glossary
             for line in path.read_text().splitlines() for problem in complaints(line)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("text", ["Who reads it", "Of that the parts", "written anew",
                                  "the bytes behind the header", "is to be had",
                                  "What a walk saw.", "found: whose it is. Whose it was",
                                  "found. Of 20 samples",
                                  "**Cost.** Of a stream", "search behind damage"])
def test_a_pattern_is_found(text):
    assert complaints(text)
