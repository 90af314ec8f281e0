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
from schema_check import complaints

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
    """[[(address, symbol)] of each sample]; perf 6.1 shows offsets of addresses in the image."""
    code, out, err = run_perf(perf, ["script", "-f", "-F", "tid,time,ip,sym", "--ns", *options,
                                     "-i", path])
    assert code == 0, err
    found = [[line.split()[:2] for line in part.splitlines()[1:]]
             for part in out.strip("\n").split("\n\n")]
    return [[(int(at, 16) + BASE * (int(at, 16) < BASE), name) for at, name in chain]
            for chain in found]


def test_chains_are_those_of_perf(image, write, perf, run_pdecode):
    """But for the innermost user frame: perf has the start of the function that was called last,
    which the CPU recorded; ours is the address where the task was, which the kernel recorded."""
    path = write(*[item for item, _ in sampled(image[1])])
    starts = {start for start, _ in image[1]}
    deep = 0
    for ours, theirs in zip_all(frames(run_pdecode, path), perf_frames(perf, path)):
        own = [(int(frame["addr"], 16), frame.get("symbol", "[unknown]")) for frame in ours]
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


# --- stitching ------------------------------------------------------------------------------------


REGISTERS = 8


def deep_samples(functions, count=300, seed=3, threads=1):
    """[(sample, calls)] of threads whose stacks are deeper than the CPU's registers; the calls of
    the whole stack, innermost first."""
    found = []
    running = [Thread(functions, REGISTERS, seed + i, PID + i) for i in range(threads)]
    while len(found) < count:
        thread = running[len(found) % threads]
        thread.run(5, 14)
        if thread.registers.entries():
            found.append((thread.sample(ATTR, 1000 * (len(found) + 1)),
                          [source for source, _ in reversed(thread.calls)]))
    return found


def stitched(run_pdecode, path, *options):
    """[([call of the branches], [stitched call])] of each sample."""
    found = []
    for sampled_frames in frames(run_pdecode, path, "--stitch-lbr", *options):
        marks = ["stitched" in frame for frame in sampled_frames]
        assert marks == sorted(marks)
        calls = [int(frame["addr"], 16) for frame in sampled_frames]
        own = marks.count(False)
        found.append((calls[1:own], calls[own:]))
    return found


def test_stitched_calls_are_those_of_the_thread(image, write, run_pdecode):
    """The whole stack is a part of that which the thread has, for threads that take turns."""
    made = deep_samples(image[1], threads=3)
    path = write(*[item for item, _ in made], registers=REGISTERS)
    found = stitched(run_pdecode, path)
    for (own, more), (_, calls) in zip_all(found, made):
        assert own + more == calls[:len(own) + len(more)]
    assert sum(bool(more) for _, more in found) > 100
    assert max(len(own) + len(more) for own, more in found) > 2 * REGISTERS


def was_wrapped(before, now):
    """Whether perf's distance between the registers of two samples' branches is wrong: it does not
    reduce the oldest branch's register by the number of registers, nor compare with it itself."""
    (newest_before, _), (newest, nr) = before, now
    base = REGISTERS - nr + newest + 1
    distance = newest_before - base if newest_before > base else REGISTERS + newest_before - base
    return distance != (newest_before - base) % REGISTERS


def test_stitched_stacks_are_those_of_perf(image, write, perf, run_pdecode):
    thread, made, registers = Thread(image[1], REGISTERS, 4), [], []
    while len(made) < 400:
        thread.run(5, 14)
        if thread.registers.entries():
            made.append(thread.sample(ATTR, 1000 * (len(made) + 1)))
            registers.append((thread.registers.newest, len(thread.registers.entries())))
    path = write(*made, registers=REGISTERS)
    theirs = perf_frames(perf, path, "--stitch-lbr")
    assert sum(map(len, theirs)) > sum(map(len, perf_frames(perf, path))) + 100
    same = explained = 0
    lost = False     # perf did not stitch a sample, so that what it adds to later ones is shorter
    for i, ((own, more), chain) in enumerate(zip_all(stitched(run_pdecode, path), theirs)):
        its = [addr for addr, _ in chain[1:]]
        lost = bool(more) and (lost or (i > 0 and was_wrapped(registers[i - 1], registers[i])))
        if its == own + more:
            same += 1
        else:
            assert lost and its == (own + more)[:len(its)], i
            explained += 1
    assert same > 250 and explained > 0


def test_stitched_stacks_do_not_depend_on_order_or_threads(image, write, run_pdecode):
    """Samples of a thread are in the buffers of several CPUs, and so not in the order of time."""
    made = [item for item, _ in deep_samples(image[1])]
    wanted = stitched(run_pdecode, write(*made, registers=REGISTERS))
    turned = [made[i] for start in range(0, len(made), 20)
              for i in reversed(range(start, start + 20))]
    path = write(*turned, registers=REGISTERS)
    for jobs in "14":
        assert stitched(run_pdecode, path, "--sort=time", "-j", jobs) == wanted
    piped = run_pdecode(["-f", "jsonl", "--types", "SAMPLE", "--symbols", "--stitch-lbr", "-"],
                        path.read_bytes())
    assert piped.stdout.count(b'"stitched":true') == sum(len(more) for _, more in wanted)
    stacks = [preport("-f", "folded", "--stitch-lbr", "-j", jobs, path, symbols=())
              for jobs in "14"]
    assert stacks[0] == stacks[1]
    assert max(stack.count(b";") for stack in stacks[0].splitlines()) == max(
        len(own) + len(more) + 1 for own, more in wanted)


def test_ids_of_stitched_frames(image, write, run_pdecode):
    path = write(*[item for item, _ in deep_samples(image[1])], registers=REGISTERS)
    done = run_pdecode(["-f", "jsonl", "--symbols=table", "--stitch-lbr", path])
    lines = strict_json_lines(done.stdout)
    last = [next(line for line in reversed(lines) if line["kind"] == "record"),
            next(line for line in lines if line["kind"] == "frame" and "stitched" in line)]
    assert not [text for line in last for text in complaints("line.schema.json", line)]
    table = {line["id"]: line for line in lines if line["kind"] == "frame"}
    assert {id.endswith("s") for id, line in table.items() if "stitched" in line} == {True}
    used = [id for line in lines for id in line.get("frame_ids", ())]
    assert sum(id.endswith("s") for id in used) == sum(
        len(more) for _, more in stitched(run_pdecode, path))


def test_no_more_calls_than_asked_for(image, write, run_pdecode):
    path = write(*[item for item, _ in deep_samples(image[1])], registers=REGISTERS)
    whole = stitched(run_pdecode, path)
    assert stitched(run_pdecode, path, "--max-frames=10") == [
        (own, more[:max(0, 10 - len(own))]) for own, more in whole]


def two_samples(image, *, hw_idx=3, **more):
    """A sample of a full stack, and one whose oldest call is in the middle of the first's."""
    calls = [branch(image[1][i][0] + 20, image[1][i - 1][0]) for i in range(1, 9)]
    first = {"entries": calls, "hw_idx": 7}
    then = {"entries": calls[2:5], "hw_idx": hw_idx, **more}
    return [sample(ATTR, IN_USER, pid=PID, tid=PID, time=9 + i, period=1, ip=BASE + 0x1200,
                   callchain=[USER_MARK, BASE + 0x1200], branch_stack=stack)
            for i, stack in enumerate((first, then))]


def test_calls_in_other_registers_are_not_stitched(image, write, run_pdecode):
    """The oldest call of the second sample was in register 3."""
    def more(**other):
        path = write(*two_samples(image, **other), registers=REGISTERS)
        return [len(calls) for _, calls in stitched(run_pdecode, path)]

    assert more(hw_idx=5) == [0, 3]
    for index in (0, 4, 6, 8, 2**64 - 1):
        assert more(hw_idx=index) == [0, 0]
    other = [branch(image[1][i][0] + 20, image[1][i - 1][0], mispred=i == 5) for i in (3, 4, 5)]
    assert more(hw_idx=5, entries=other) == [0, 0]


def test_recordings_that_cannot_be_stitched(image, write, run_pdecode):
    """The size of the registers must be known, and one for all PMUs."""
    plain = lbr_attr("USER|ANY|HW_INDEX")
    unknown = b"does not state how many branches its CPU keeps"
    for more, message in (
            ({}, unknown), ({"registers": 5000}, unknown), ({"registers": "x"}, unknown),
            ({"pmu_caps": [("cpu_core", 8), ("cpu_atom", 16)]}, unknown),
            ({"pmu_caps": [("cpu_core", 8), ("cpu_atom", 8)]}, None),
            ({"registers": 8, "attrs": [plain]}, b"has no call stacks in branches")):
        path = write(*two_samples(image, hw_idx=5), **more)
        done = run_pdecode(["-f", "jsonl", "--symbols", "--stitch-lbr", path])
        assert done.returncode == 0
        assert (b'"stitched":true' in done.stdout) == (message is None)
        assert message is None or message in done.stderr, done.stderr
    assert run_pdecode(["--stitch-lbr", path]).returncode == 2
