"""Each row of the layout tables is in at least one fixture or case of the builder's catalogue."""
import compiled
from conftest import fixture_files
from perfdata import catalog


def test_every_row_has_a_fixture(tmp_path):
    files = [file.path for file in fixture_files()] + list(catalog.write(tmp_path).values())
    code, missing = compiled.run("row_coverage", *files)
    assert not missing, "no file has these rows:\n" + "\n".join(missing)
    assert code == 0


def test_a_row_without_one_is_reported():
    code, missing = compiled.run("row_coverage", *[file.path for file in fixture_files()[:1]])
    assert code == 1
    assert "TEXT_POKE old_bytes" in missing
    assert "MMAP2 filename" not in missing
