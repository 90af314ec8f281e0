"""Call stacks that the CPU recorded as branches (perf record --call-graph lbr), as callchains."""
import json
import subprocess

import pytest

import lbr
from conftest import TOOLS, strict_json_lines
from lbr import BASE, IN_USER, KERNEL, KERNEL_MARK, PID, USER_MARK, Thread, lbr_attr
from perf_oracle import run_perf
from perfdata.sample import branch, sample
from profiles import folded, preport, text
from same_length import zip_all

ATTR = lbr_attr()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """(path, [(address, size)]) of the functions f0 to f11."""
    return lbr.build_image(tmp_path_factory.mktemp("lbr"))


@pytest.fixture
def write(image, tmp_path):
    """Function: writes a recording of the samples; returns its path."""
    def make(*samples, attrs=(ATTR, ), **more):
        path = tmp_path / "lbr.data"
        path.write_bytes(lbr.recording(image[0], attrs, samples, **more))
        return path
    return make


def sampled(functions, registers=8, samples=200, seed=1, steps=7):
    """[(sample, its branches)] of a thread. All have branches: in others perf reads the bytes
    after them."""
    thread = Thread(functions, registers, seed)
    found = []
    while len(found) < samples:
        thread.run(steps, 10)
        if thread.registers.entries():
            found.append((thread.sample(ATTR, 1000 * (len(found) + 1),
                                        in_kernel=len(found) % 5 == 3),
                          thread.registers.entries()))
    return found


def frames(run_pdecode, path, *options):
    """[[frame] of each sample]."""
    done = run_pdecode(["-f", "jsonl", "--types", "SAMPLE", "--symbols", "--no-inline", *options,
                        path])
    assert done.returncode == 0, done.stderr
    return [line["frames"] for line in strict_json_lines(done.stdout)
            if line.get("type") == "SAMPLE"]


def addresses(run_pdecode, path, *options):
    return [[int(frame["addr"], 16) for frame in found]
            for found in frames(run_pdecode, path, *options)]


def perf_frames(perf, path, *options):
    """[[(address or offset in the image, symbol)] of each sample], as perf shows them."""
    code, out, err = run_perf(perf, ["script", "-f", "-F", "tid,time,ip,sym", "--ns", *options,
                                     "-i", path])
    assert code == 0, err
    return [[(int(line.split()[0], 16), line.split()[1]) for line in part.splitlines()[1:]]
            for part in out.strip("\n").split("\n\n")]


def test_chains_are_those_of_perf(image, write, perf, run_pdecode):
    """But for the innermost user frame: perf has the start of the function that was called last,
    which the CPU recorded; ours is the address where the task was, which the kernel recorded."""
    path = write(*[item for item, _ in sampled(image[1])])
    starts = {start - BASE for start, _ in image[1]}
    deep = 0
    for ours, theirs in zip_all(frames(run_pdecode, path), perf_frames(perf, path)):
        own = [(int(frame["addr"], 16), frame.get("symbol", "[unknown]")) for frame in ours]
        own = [(addr - BASE if addr < KERNEL else addr, name) for addr, name in own]
        leaf = next(i for i, (addr, _) in enumerate(own) if addr < KERNEL)
        assert theirs[leaf][0] in starts and own[leaf][1] == theirs[leaf][1]
        assert own[:leaf] + own[leaf + 1:] == theirs[:leaf] + theirs[leaf + 1:]
        assert not any("return_address" in frame for frame in ours[leaf:])
        deep = max(deep, len(ours) - leaf)
    assert deep == 9


def test_frames_are_the_address_and_the_calls(image, write, run_pdecode):
    """The callchain's own user part is left out, with and without names."""
    made = sampled(image[1])
    path = write(*[item for item, _ in made])
    for found, (_, entries) in zip_all(addresses(run_pdecode, path), made):
        user = [addr for addr in found if addr < KERNEL]
        assert user[1:] == [source for source, _ in entries]
    done = run_pdecode(["-f", "jsonl", "--types", "SAMPLE", "--resolve", path])
    plain = [[int(frame["addr"], 16) for frame in line["frames"]]
             for line in strict_json_lines(done.stdout) if line.get("type") == "SAMPLE"]
    assert plain == addresses(run_pdecode, path)


def one(image, chain, entries, attr=ATTR, ip=None):
    entries = [branch(*entry) for entry in entries]
    return sample(attr, IN_USER, pid=PID, tid=PID, time=5, ip=ip or image[1][0][0] + 9, period=1,
                  callchain=chain, branch_stack={"entries": entries})


def test_chains_without_branches_or_user_part_stay(image, write, run_pdecode):
    (f0, _), (f1, _), (f2, _) = image[1][:3]
    calls = [(f1 + 10, f0), (f2 + 10, f1)]
    any_branches = lbr_attr("USER|ANY")
    path = write(one(image, [USER_MARK, f0 + 9, f1 + 20], []),
                 one(image, [KERNEL_MARK, KERNEL + 16], calls, ip=KERNEL + 16),
                 one(image, [USER_MARK], calls), one(image, [], calls))
    assert addresses(run_pdecode, path) == [
        [f0 + 9, f1 + 20], [KERNEL + 16], [f0 + 9, f0, f1 + 10, f2 + 10], [f0 + 9]]
    path = write(one(image, [USER_MARK, f0 + 9, f2 + 20], calls, any_branches),
                 attrs=[any_branches])
    assert addresses(run_pdecode, path) == [[f0 + 9, f2 + 20]]


def test_profiles_have_the_chains(image, write, perf):
    """The functions of preport's stacks are those of perf's, with names and without."""
    path = write(*[item for item, _ in sampled(image[1])])
    wanted = {}
    for chain in perf_frames(perf, path):
        names = [f"f{name[1:]}" for _, name in chain if name.startswith("f")]
        key = ";".join(["calls", *reversed(names)])
        wanted[key] = wanted.get(key, 0) + 1
    for jobs in "12":
        found = {}
        stacks = text(folded(preport("-f", "folded", "-j", jobs, path, symbols=())))
        for stack, weight in stacks.items():
            names = [name for name in stack.split(";") if "kernel" not in name and
                     "unknown" not in name and "0x" not in name]
            found[";".join(names)] = found.get(";".join(names), 0) + weight
        assert found == wanted
    plain = text(folded(preport("-f", "folded", path)))
    assert max(stack.count("[calls.so]") for stack in plain) == 9


def test_the_table_of_frames_has_the_chains(image, write, run_pdecode):
    path = write(*[item for item, _ in sampled(image[1])])
    ids = run_pdecode(["-f", "jsonl", "--types", "SAMPLE", "--symbols=table", path])
    lines = strict_json_lines(ids.stdout)
    table = {line["id"]: line for line in lines if line["kind"] == "frame"}
    shown = [[table[id]["symbol"] if "symbol" in table[id] else "" for id in line["frame_ids"]]
             for line in lines if line.get("type") == "SAMPLE"]
    assert shown == [[frame.get("symbol", "") for frame in found]
                     for found in frames(run_pdecode, path)]
    assert json.dumps(shown).count("f") > 500


def test_columns_have_the_chains(image, write):
    """As many frames as branches, and the address before them; with names and without."""
    made = sampled(image[1])
    path = write(*[item for item, _ in made])
    for names in ((), ("--symbols", )):
        done = subprocess.run([TOOLS / "pquery", *names, "-f", "json",
                               "select depth from samples join stacks using (stack) order by time",
                               path], stdout=subprocess.PIPE, check=True)
        assert [row["depth"] for row in json.loads(done.stdout)] == [
            1 + len(entries) + 2 * (i % 5 == 3) for i, (_, entries) in enumerate(made)]
