"""Every file of the corpus and every capture decodes to the counts stated here, and every byte of
it is accounted for.

The counts are from perf 6.1's dump where perf can read the file (test_against_perf compares all of
it), else from stepping through the record headers.
"""
import collections
import copy
import gzip
import re

import pytest

from conftest import CORPUS_PROGRAMS, FIXTURES

Expected = collections.namedtuple("Expected", "mode counts damage gaps", defaults=(None, ()))
# damage: None, or (offset of the error, bytes it skips). gaps: (offset, hex) of bytes that belong
# to nothing, without trailing zeroes. perf 6.1 keeps data that does not fit into the last
# compressed record, and never writes it.
UNFLUSHED = {"A3-zstd-unflushed.data":
             "SAMPLE at 624: data needs 68 bytes, 60 left; the compressed records end inside it"}


def counted(words):
    """Returns {"MMAP": 3} for "MMAP 3"."""
    words = words.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2])}


CORPUS = {
    "hotspot/perf.data.PerfFormatLost": Expected("file", counted(
        "TIME_CONV 1 ID_INDEX 1 MMAP 140 THREAD_MAP 1 CPU_MAP 1 KSYMBOL 2 COMM 3 FINISHED_INIT 1 "
        "SAMPLE 34 FORK 8 EXIT 1 MMAP2 227 FINISHED_ROUND 1")),
    # magic PERFFILE
    "hotspot/perf.data.true.v1": Expected("file", counted("MMAP 80 COMM 2 EXIT 2")),
    # MMAP2 without prot and flags
    "hotspot/perf.data.true.v2": Expected("file", counted(
        "MMAP 71 COMM 2 MMAP2 17 SAMPLE 1 EXIT 2 FINISHED_ROUND 1")),
    "hotspot/perf.data.true.v2.gz": Expected("file", counted(
        "MMAP 71 COMM 2 MMAP2 17 SAMPLE 1 EXIT 2 FINISHED_ROUND 1")),
    "linux-perf-data/sleep.data": Expected("file", counted(
        "ID_INDEX 1 EVENT_UPDATE 1 THREAD_MAP 1 CPU_MAP 1 COMM 2 FINISHED_INIT 1 MMAP2 4 SAMPLE 7 "
        "EXIT 1 FINISHED_ROUND 1")),
    "linux-perf-data/sleep.compressed.data": Expected("file", counted(
        "TIME_CONV 1 ID_INDEX 1 MMAP 45 THREAD_MAP 1 CPU_MAP 1 KSYMBOL 15 BPF_EVENT 14 COMM 2 "
        "FINISHED_INIT 1 COMPRESSED 1 FINISHED_ROUND 1 SAMPLE 8 MMAP2 4 EXIT 1")),
    # perf record's messages ("[ perf record: Woken up ...") follow the last record
    "linux-perf-data/sleep.compressed2.pipe.data": Expected("pipe", counted(
        "HEADER_ATTR 1 HEADER_FEATURE 21 TIME_CONV 1 ID_INDEX 1 MMAP 165 EVENT_UPDATE 2 "
        "THREAD_MAP 1 CPU_MAP 1 COMM 2 FINISHED_INIT 1 COMPRESSED2 1 FINISHED_ROUND 1 SAMPLE 7 "
        "MMAP2 4 EXIT 1"), damage=(31808, 143)),
    "perfparser/contentsize.data": Expected("pipe", counted(
        "HEADER_ATTR 1 TIME_CONV 1 MMAP 112 COMM 2 SAMPLE 69 MMAP2 34")),
    "perfparser/cpp-inlining.perf.data": Expected("file", counted(
        "TIME_CONV 1 ID_INDEX 1 EVENT_UPDATE 2 THREAD_MAP 1 CPU_MAP 1 KSYMBOL 2 COMM 2 "
        "FINISHED_INIT 1 COMPRESSED 13 FINISHED_ROUND 8 MMAP2 13 SAMPLE 539 EXIT 1")),
    "perfparser/probe.data.file": Expected("file", counted(
        "TIME_CONV 1 MMAP 112 COMM 2 MMAP2 8 SAMPLE 1 EXIT 1 FINISHED_ROUND 1")),
    "perfparser/probe.data.stream": Expected("pipe", counted(
        "HEADER_ATTR 1 HEADER_TRACING_DATA 1 TIME_CONV 1 MMAP 112 COMM 2 MMAP2 8 SAMPLE 1 EXIT 1 "
        "FINISHED_ROUND 1")),
    "perfparser/vector_static_clang.perf.data": Expected("file", counted(
        "TIME_CONV 1 MMAP 141 THREAD_MAP 1 CPU_MAP 1 COMM 2 SAMPLE 54 MMAP2 15 FINISHED_ROUND 3 "
        "EXIT 1")),
    # In armv7, busy, i686, raw and singleprocess, the feature table has an entry without a bit: an
    # offset without a size.
    "quipper/perf.data.armv7-3.4": Expected("file", counted(
        "MMAP 1454 COMM 200 SAMPLE 3893 EXIT 6 FORK 1"), gaps=((381856, "d4e205"),)),
    "quipper/perf.data.branch-4.14": Expected("file", counted(
        "TIME_CONV 1 MMAP 21 COMM 3 SAMPLE 13 MMAP2 10 EXIT 1 FINISHED_ROUND 1")),
    "quipper/perf.data.branch_stack_hw_index": Expected("file", counted(
        "THREAD_MAP 1 CPU_MAP 1 FORK 582 COMM 584 MMAP2 4551 FINISHED_ROUND 3 EXIT 1 SAMPLE 5")),
    "quipper/perf.data.busy.0-3.4": Expected("file", counted(
        "MMAP 1919 COMM 261 SAMPLE 628 EXIT 110 FORK 54"), gaps=((257296, "ccf903"),)),
    "quipper/perf.data.callgraph-3.8": Expected("file", counted(
        "MMAP 1793 COMM 229 SAMPLE 1768 EXIT 6 FORK 2")),
    "quipper/perf.data.callgraph_and_branch-3.4": Expected("file", counted(
        "MMAP 1536 COMM 176 SAMPLE 923 EXIT 6 FORK 2")),
    "quipper/perf.data.ctx_switch_namespaces-4.14": Expected("file", counted(
        "TIME_CONV 1 MMAP 21 COMM 3 NAMESPACES 1 SAMPLE 2 MMAP2 10 SWITCH 2 EXIT 1 FINISHED_ROUND "
        "1")),
    "quipper/perf.data.forkexit-3.8": Expected("file", counted(
        "MMAP 3877 COMM 488 SAMPLE 10335 EXIT 510 FORK 254")),
    "quipper/perf.data.hw_and_sw-3.4": Expected("file", counted(
        "MMAP 2234 COMM 298 SAMPLE 4941 THROTTLE 27 UNTHROTTLE 26 EXIT 6 FORK 1")),
    "quipper/perf.data.i686-3.4": Expected("file", counted(
        "MMAP 1584 COMM 204 SAMPLE 703 FORK 2 EXIT 6"), gaps=((214536, "305203"),)),
    "quipper/perf.data.intel_pt-4.14": Expected("file", counted(
        "TIME_CONV 1 AUXTRACE_INFO 1 MMAP 56 COMM 3 SWITCH_CPU_WIDE 152 FINISHED_ROUND 4 SAMPLE "
        "15 ITRACE_START 2 AUX 10 EXIT 1 AUXTRACE 2 MMAP2 10")),
    "quipper/perf.data.lost_samples-4.4": Expected("file", counted(
        "MMAP 39 COMM 3 SAMPLE 191 MMAP2 6 LOST_SAMPLES 2 EXIT 1 FINISHED_ROUND 1")),
    "quipper/perf.data.numatopology-3.2": Expected("file", counted(
        "MMAP 8631 COMM 1736 SAMPLE 175 EXIT 2")),
    # the header of a sample states size 0: only this sample is lost
    "quipper/perf.data.piped.corrupted.zero_size_sample-3.2": Expected("pipe", counted(
        "HEADER_ATTR 1 HEADER_EVENT_TYPE 1 MMAP 472 COMM 101 SAMPLE 227 EXIT 2 THROTTLE 1 "
        "UNTHROTTLE 1"),
        damage=(49104, 48)),
    "quipper/perf.data.piped.header_features-4.16": Expected("pipe", counted(
        "HEADER_FEATURE 14 HEADER_ATTR 1 TIME_CONV 1 MMAP 28 EVENT_UPDATE 1 THREAD_MAP 1 CPU_MAP "
        "1 COMM 2 MMAP2 4 SAMPLE 2 EXIT 1 FINISHED_ROUND 1")),
    "quipper/perf.data.piped.header_features_aligned-6.12": Expected("pipe", counted(
        "HEADER_ATTR 1 HEADER_FEATURE 20 TIME_CONV 1 ID_INDEX 1 EVENT_UPDATE 2 THREAD_MAP 1 "
        "CPU_MAP 1 COMM 2 FINISHED_INIT 1 MMAP2 4 SAMPLE 9 EXIT 1 FINISHED_ROUND 1")),
    "quipper/perf.data.piped.hw_and_sw-3.4": Expected("pipe", counted(
        "HEADER_ATTR 3 MMAP 2234 COMM 300 SAMPLE 4275 THROTTLE 22 UNTHROTTLE 20 FORK 1 EXIT 4")),
    "quipper/perf.data.piped.no_attr_ids-4.14": Expected("pipe", counted(
        "HEADER_FEATURE 12 HEADER_ATTR 1 TIME_CONV 1 MMAP 21 COMM 3 SAMPLE 7 MMAP2 10 EXIT 1 "
        "FINISHED_ROUND 1")),
    "quipper/perf.data.proc.map.timeout-3.18": Expected("file", counted(
        "TIME_CONV 1 MMAP 49 COMM 13 MMAP2 624 SAMPLE 8 FINISHED_ROUND 1")),
    "quipper/perf.data.raw-3.4": Expected("file", counted(
        "MMAP 1645 COMM 225 SAMPLE 441 FORK 2 EXIT 4"), gaps=((193240, "a4fc02"),)),
    "quipper/perf.data.remmap-3.2": Expected("file", counted(
        "MMAP 138 COMM 2 SAMPLE 198 EXIT 4 FORK 1")),
    "quipper/perf.data.singleprocess-3.4": Expected("file", counted(
        "MMAP 51 COMM 2 SAMPLE 77 EXIT 2"), gaps=((11176, "8835"),)),
    "quipper/perf.data.systemwide.0-3.8": Expected("file", counted(
        "MMAP 1793 COMM 230 SAMPLE 28 EXIT 2")),
    "quipper/perf.data.throttle-3.8": Expected("file", counted(
        "MMAP 1653 COMM 230 SAMPLE 14980 THROTTLE 68 UNTHROTTLE 64 FORK 2 EXIT 4")),
    # four bytes after the last feature
    "quipper/perf.data.weight_struct": Expected("file", counted(
        "TIME_CONV 1 MMAP 15 THREAD_MAP 1 FORK 2955 COMM 2959 MMAP2 6930 FINISHED_ROUND 30 SAMPLE "
        "14 EXIT 59"),
        gaps=((1253196, "022088"),)),
    "tracepoints/perf.data": Expected("file", counted(
        "ID_INDEX 1 MMAP 1 THREAD_MAP 1 CPU_MAP 1 KSYMBOL 6 BPF_EVENT 6 FORK 37 COMM 36 MMAP2 371 "
        "FINISHED_INIT 1 SAMPLE 539 FINISHED_ROUND 2 EXIT 1")),
}
# Not perf.data: a tar archive of the word "dummy", in gzip.
NOT_PERF_DATA = {"hotspot/perf.data.broken.gz"}


def test_the_table_is_the_corpus(corpus):
    """The table lists all files of the corpus, and no others."""
    names = {str(path.relative_to(corpus)) for path in corpus.glob("*/*") if path.is_file()}
    names = {name for name in names if not name.split("/")[1].startswith("README")}
    assert names == set(CORPUS) | NOT_PERF_DATA | CORPUS_PROGRAMS


def records_by_type(document):
    """Counts by type, without SKIPPED, which are not records."""
    return collections.Counter(record["type"] for record in document["records"]
                               if record["type"] != "SKIPPED")


@pytest.mark.sanitize
def test_corpus_file(corpus_file, decoder, run_pdecode):
    if corpus_file.name in NOT_PERF_DATA:
        done = run_pdecode([corpus_file.path])
        assert done.returncode == 3 and done.stderr.strip()
        return
    expected = CORPUS[corpus_file.name]
    document, returncode, stderr = decoder.result(corpus_file.path)
    assert document["file"]["mode"] == expected.mode
    assert document["file"]["byte_order"] == "little"
    assert document["summary"]["by_type"] == expected.counts
    assert records_by_type(document) == expected.counts
    assert document["summary"]["records"] == sum(expected.counts.values())
    if expected.damage is None:
        assert (returncode, document["errors"]) == (0, [])
        assert document["file"]["complete"] is True
    else:
        assert returncode == 1
        assert stderr.strip()
        assert expected.damage in [(error["offset"], error["skipped"])
                                   for error in document["errors"]]
        assert all(error["code"] and error["message"] for error in document["errors"])
    gaps = document["file"].get("gaps", [])
    assert ([(gap["offset"], re.sub("(00)*$", "", gap["data"])) for gap in gaps]
            == list(expected.gaps))


@pytest.mark.sanitize
def test_capture(fixture_file, decoder):
    """All captures decode without an error."""
    document, returncode, stderr = decoder.result(fixture_file.path)
    if fixture_file.name in UNFLUSHED:
        assert ((returncode, [error["message"] for error in document["errors"]])
                == (1, [UNFLUSHED[fixture_file.name]]))
        assert UNFLUSHED[fixture_file.name] in stderr
    else:
        assert (returncode, document["errors"], stderr) == (0, [], "")
    assert document["file"]["complete"] is True
    directory = fixture_file.is_directory
    pipe = not directory and fixture_file.path.read_bytes()[8:16] == (16).to_bytes(8, "little")
    assert document["file"]["mode"] == ("directory" if directory else "pipe" if pipe else "file")
    assert not [record for record in document["records"] if record["type"] == "UNKNOWN"]
    # perf writes EVENT_UPDATE records that are longer than their content
    assert not [record for record in document["records"] if record.get("trailing", "").strip("0")
                and "cut" not in record]
    assert all("attr_index" in record for record in document["records"]
               if record["type"] == "SAMPLE")


@pytest.mark.sanitize
@pytest.mark.parametrize("program", sorted(CORPUS_PROGRAMS))
def test_a_program_is_not_perf_data(program, corpus, run_pdecode):
    done = run_pdecode([corpus / program])
    assert done.returncode == 3
    assert program.split("/")[1].encode() in done.stderr


def test_gzip_is_the_same_document(corpus, decode):
    plain, packed = (decode(corpus / "hotspot" / name)
                     for name in ("perf.data.true.v2", "perf.data.true.v2.gz"))
    for key in ("attrs", "features", "records", "errors", "summary"):
        assert plain[key] == packed[key]


# --- every byte -----------------------------------------------------------------------------------

Piece = collections.namedtuple("Piece", "start end what")


def record_pieces(records):
    """The places of records with the data after them; inner records have no place in the file."""
    pieces = []
    for record in records:
        if "inner_offset" in record:
            continue
        after = 0
        if record["type"] == "AUXTRACE" or record["type"] == "HEADER_TRACING_DATA":
            # old simpleperf writes tracing data inside the record
            after = (record["data_size"] if record["type"] == "AUXTRACE" or record["size"] <= 16
                     else 0)
        size = len(record["body"]) // 2 if record["type"] == "SKIPPED" else record["size"]
        pieces.append(Piece(record["offset"], record["offset"] + size + after, record["type"]))
    return pieces


def main_pieces(document):
    """The places of everything that the document has from the main file."""
    file = document["file"]
    pipe = file["mode"] == "pipe"
    pieces = [Piece(0, 16 if pipe else file["header_size"], "header")]
    pieces += [Piece(section["offset"], section["offset"] + section["size"], section["name"])
               for section in file.get("sections", []) if section["name"] not in ("data", "header")
               and section["size"]]
    pieces += record_pieces(record for record in document["records"] if "file" not in record)
    pieces += [Piece(gap["offset"], gap["offset"] + len(gap["data"]) // 2, "gap")
               for gap in file.get("gaps", [])]
    pieces += [Piece(error["offset"], error["offset"] + error["skipped"], f"error {error['code']}")
               for error in document["errors"] if error.get("skipped") and "file" not in error
               and "inner_offset" not in error and not _inside_a_record(error, document)]
    return pieces


def _inside_a_record(error, document):
    """An error inside a record of `records` skips bytes that are counted with the record."""
    return any(record["offset"] == error["offset"] for record in document["records"]
               if "file" not in record)


def accounts(pieces, data):
    """The faults of the pieces as a tiling of the data: overlaps, pieces that extend beyond it,
    uncovered bytes that are not zero."""
    wrong = []
    position, before = 0, "the start"
    for piece in sorted(pieces):
        if piece.start < position:
            wrong.append(f"{piece.what} at {piece.start:#x} begins within {before} that ends at "
                         f"{position:#x}")
        elif any(data[position:piece.start]):
            wrong.append(f"{piece.start - position} bytes at {position:#x}, between {before} and "
                         f"{piece.what}, "
                         "belong to nothing and are not zero")
        if piece.end > len(data):
            wrong.append(
                f"{piece.what} at {piece.start:#x} ends at {piece.end:#x}, after the file's end")
        if piece.end > position:
            position, before = piece.end, piece.what
    if any(data[position:]):
        wrong.append(f"{len(data) - position} bytes at {position:#x}, after {before}, "
                     "belong to nothing and are not zero")
    return wrong


def inner_accounts(records):
    """Inner records must follow each other without gaps, from the start of the stream."""
    wrong = []
    streams = collections.defaultdict(list)
    for record in records:
        if "inner_offset" in record:
            streams[record.get("file")].append(record)
    for file, inside in streams.items():
        position = 0
        for record in sorted(inside, key=lambda record: record["inner_offset"]):
            if record["inner_offset"] != position:
                wrong.append(
                    f"{file}: {record['type']} at inner offset {record['inner_offset']:#x}, "
                    f"expected {position:#x}")
            position = record["inner_offset"] + record["size"]
    return wrong


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def test_every_byte_is_accounted_for(data_file, decode):
    if data_file.name in NOT_PERF_DATA:
        pytest.skip("not a perf.data file: see test_corpus_file")
    document = decode(data_file.path)
    data = content(data_file.path / "data" if data_file.is_directory else data_file.path)
    if not data_file.is_directory:
        assert document["file"]["size"] == len(data)
    wrong = accounts(main_pieces(document), data)
    for gap in document["file"].get("gaps", []):
        if data[gap["offset"]:gap["offset"] + len(gap["data"]) // 2].hex() != gap["data"]:
            wrong.append(f"the gap at {gap['offset']:#x} has other bytes than the file")
    if document["file"]["mode"] != "pipe":
        start, end = (document["file"]["data_offset"], document["file"]["data_offset"]
                      + document["file"]["data_size"])
        inside = record_pieces(record for record in document["records"] if "file" not in record)
        wrong += [f"{piece.what} at {piece.start:#x} is not in the data section" for piece in inside
                  if piece.start < start or piece.end > end]
        # In the data section, zeroes must not be left over either.
        missing = end - start - sum(piece.end - piece.start for piece in inside)
        if missing and not document["errors"]:
            wrong.append(f"{missing} bytes of the data section are in no record")
    for path in sorted(data_file.path.glob("data.*")) if data_file.is_directory else ():
        pieces = record_pieces(record for record in document["records"]
                               if record.get("file") == path.name)
        wrong += [f"{path.name}: {line}" for line in accounts(pieces, path.read_bytes())]
        assert sum(piece.end - piece.start for piece in pieces) == path.stat().st_size
    wrong += inner_accounts(document["records"])
    assert not wrong, "\n".join(wrong[:20])


def section(document, name):
    return next(section for section in document["file"]["sections"] if section["name"] == name)


@pytest.mark.parametrize("change, word", [
    (lambda document: document["records"].pop(3), "belong to nothing"),
    (lambda document: document["records"].append(dict(document["records"][3], size=16)),
     "begins within"),
    (lambda document: document["file"]["sections"].remove(section(document, "HOSTNAME")),
     "belong to nothing"),
    (lambda document: document["records"][3].update(size=document["records"][3]["size"] + 8),
     "begins within"),
    (lambda document: document["file"]["sections"].append({"name": "more", "offset": 1 << 20,
                                                           "size": 1}),
     "after the file"),
], ids=["a record missing", "a record twice", "a section missing", "a record too long",
        "a section too far"])
def test_a_wrong_account_is_reported(change, word, decode):
    path = FIXTURES / "perf" / "01-basic.data"
    document = copy.deepcopy(decode(path))
    assert not accounts(main_pieces(document), path.read_bytes())
    change(document)
    assert any(word in line for line in accounts(main_pieces(document), path.read_bytes()))


def test_a_hole_in_a_compressed_stream_is_reported(decode):
    records = list(decode(FIXTURES / "perf" / "16-zstd.data")["records"])
    assert not inner_accounts(records)
    inside = [record for record in records if "inner_offset" in record]
    records.remove(inside[len(inside) // 2])
    assert inner_accounts(records)
