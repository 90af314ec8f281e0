"""precord with PMUs that this machine lacks: their sysfs, in a private mount namespace, and buffers
with prepared content (tests/workload/fakepmu.c). The behaviour of real hardware is not tested."""
import os
import shutil
import struct
import subprocess

import pytest

from conftest import ROOT, TOOLS
from perf_oracle import run_perf
from recorder import (  # noqa: F401
    Recording, needs_root, precord, run_precord, strict_attrs, workload)

DEVICES = "/sys/bus/event_source/devices"
pytestmark = [needs_root,
              pytest.mark.skipif("san" in TOOLS.name, reason="a sanitizer must be loaded first"),
              pytest.mark.skipif(not shutil.which("unshare") or not os.path.isdir(DEVICES),
                                 reason="no unshare, no sysfs")]

PMUS = {
    "intel_pt": {
        "type": 77, "max_nonturbo_ratio": 28, "tsc_art_ratio": "168:2",
        "caps/mtc": 1, "caps/mtc_periods": "249", "caps/psb_cyc": 1, "caps/psb_periods": "3f",
        "caps/event_trace": 1, "format/tsc": "config:10", "format/noretcomp": "config:11",
        "format/mtc": "config:9", "format/pt": "config:0", "format/mtc_period": "config:14-17",
        "format/cyc": "config:1", "format/branch": "config:13",
        "format/psb_period": "config:24-27"},
    "intel_bts": {"type": 78},
    "cs_etm": {
        "type": 79, "format/contextid": "config:14", "format/timestamp": "config:28",
        "format/cycacc": "config:12", "cpu0/trcidr/trcidr0": "0x28000ea1",
        "cpu0/trcidr/trcidr1": "0x4100f403", "cpu0/trcidr/trcidr2": "0x488",
        "cpu0/trcidr/trcidr8": "0x0", "cpu0/mgmt/trcauthstatus": "0xcc",
        "cpu1/trcidr/trcidr0": "0x28000ea1", "cpu1/trcidr/trcidr1": "0x4100fff3",
        "cpu1/trcidr/trcidr2": "0x1088", "cpu1/trcidr/trcidr8": "0x1",
        "cpu1/mgmt/trcauthstatus": "0xcc", "cpu1/mgmt/trcdevarch": "0x47705a13",
        "cpu2/mgmt/etmccer": "0x34c01ac2", "cpu2/mgmt/etmidr": "0x411cf312"},
    "arm_spe_0": {"type": 80, "caps/min_interval": 1024, "format/ts_enable": "config:0"},
    "hisi_ptt0_2": {"type": 81, "format/type": "config1:8-11"},
    "cpum_sf": {"type": 82, "format/event": "config:0-63"},
    "noc": {"type": 83, "format/event": "config:0-7"},
    "cpu_core": {"type": 84, "cpus": "0", "format/event": "config:0-7",
                 "events/cpu-cycles": "event=0x3c"},
    "cpu": {"type": 4, "format/event": "config:0-7", "format/inv": "config:23"},
}


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """The preloaded library, and a directory to mount over the devices in sysfs."""
    directory = tmp_path_factory.mktemp("pmus")
    library = directory / "fakepmu.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-pthread", "-o", library,
                    ROOT / "tests/workload/fakepmu.c",
                    "-ldl"], check=True)
    for pmu, files in PMUS.items():
        for name, content in files.items():
            path = directory / "devices" / pmu / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
    mount = subprocess.run(within(directory / "devices") + ["true"], stderr=subprocess.PIPE)
    if mount.returncode:
        pytest.skip(f"no mount namespace: {mount.stderr.decode()}")
    return library, directory / "devices"


def within(devices):
    return ["unshare", "-m", "sh", "-c",
            f'mount --make-rprivate / && mount --bind "$0" {DEVICES} && exec "$@"',
            str(devices)]


@pytest.fixture
def run(fake, run_precord, tmp_path, decode):
    """Function: a recording with these options, of buffers with these records and AUX data."""
    library, devices = fake

    def call(*options, ring=b"", aux=b"", seconds="0.05", status=0, **environment):
        (tmp_path / "ring").write_bytes(ring)
        (tmp_path / "aux").write_bytes(aux)
        # preloaded into precord only, not into the shell before it
        prefix = within(devices) + ["env", f"LD_PRELOAD={library}"]
        done = run_precord("-o", "perf.data", *options, "--", "sleep", seconds, prefix=prefix,
                           env=dict(os.environ, FAKE_RING=str(tmp_path / "ring"),
                                    FAKE_AUX=str(tmp_path / "aux"), **environment))
        assert done.returncode == status, done.stderr.decode(errors="replace")
        return Recording(done, tmp_path / "perf.data", lambda path: decode(path, "--blobs", "full"))
    return call


@pytest.fixture
def attrs(fake, run_precord):
    def call(*options):
        done = run_precord("--print-attr", *options, prefix=within(fake[1]), stdout=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return strict_attrs(done.stdout)
    return call


def info(run):
    record, = run.records("AUXTRACE_INFO")
    return record


CLOCK = {"time_shift": 31, "time_mult": 0x12345678, "time_zero": 0x123456789abcdef,
         "cap_user_time_zero": 1}


def test_intel_pt(run, perf):
    data = bytes(range(256)) * 41
    recording = run("-e", "intel_pt//u", aux=data)
    about = info(recording)
    assert about["auxtrace_type"] == "INTEL_PT"
    assert about["intel_pt"] == {
        "pmu_type": 77, **CLOCK, "tsc_bit": "0x400", "noretcomp_bit": "0x800",
        "have_sched_switch": 0, "snapshot_mode": 0, "per_cpu_mmaps": 1, "mtc_bit": "0x200",
        "mtc_freq_bits": "0x3c000", "tsc_ctc_ratio_n": 168, "tsc_ctc_ratio_d": 2, "cyc_bit": "0x2",
        "max_nonturbo_ratio": 28, "filter_str_len": 0, "priv": ["0x1"]}
    assert recording.attr()["aux_watermark"] == 1 << 20
    traces = recording.records("AUXTRACE")
    assert "".join(trace["data"] for trace in traces) == data.hex()
    assert recording.document["features"]["AUXTRACE"]["entries"] == [
        {"file_offset": trace["offset"], "size": 48} for trace in traces]
    assert recording.count("TIME_CONV") == 1
    code, out, err = run_perf(perf, ["script", "-D", "-i", recording.path])
    assert code == 0 and "error" not in err.lower() and "fail" not in err.lower(), err
    for words in ("PMU Type            77", "TSC bit             0x400",
                  "MTC freq bits       0x3c000", "TSC:CTC numerator   168",
                  "Max non-turbo ratio 28", "Cap Event Trace     1"):
        assert words in out


def test_a_filter_of_addresses_goes_with_intel_pt(run):
    text = "filter 0x1000/0x200@/bin/true"
    about = info(run("-e", "intel_pt//u", "--filter", text))["intel_pt"]
    assert (about["filter"] == text and about["filter_str_len"] == len(text)
            and about["priv"] == ["0x1"])


@pytest.mark.parametrize("options, how",
                         [(["-e", "intel_pt//"], 2), (["-e", "intel_pt//", "-a"], 3),
                          (["-e", "intel_pt//u", "-e", "sched:sched_switch"], 1)],
                         ids=["tasks", "cpus", "tracepoint"])
def test_how_intel_pt_knows_of_switches(run, options, how):
    if "-e" in options[2:] and not os.path.exists("/sys/kernel/tracing/events/sched"):
        pytest.skip("no tracefs")
    assert info(run(*options))["intel_pt"]["have_sched_switch"] == how


def test_intel_bts(run):
    assert info(run("-e", "intel_bts//u"))["intel_bts"] == {"pmu_type": 78, **CLOCK,
                                                            "snapshot_mode": 0}


def test_coresight(run):
    about = info(run("-e", "cs_etm//u"))["cs_etm"]
    # bit 6: context ids, bit 11: timestamps
    assert about == {
        "version": 1, "nr_cpus": 3, "pmu_type": 79, "snapshot": 0, "cpus": [
            {"magic": "0x4040404040404040", "cpu": 0, "nr_params": 7,
             "params": ["0x840", "0x10", "0x28000ea1", "0x4100f403", "0x488", "0x0", "0xcc"]},
            {"magic": "0x5050505050505050", "cpu": 1, "nr_params": 8,
             "params": ["0x840", "0x12", "0x28000ea1", "0x4100fff3", "0x1088", "0x1", "0xcc",
                        "0x47705a13"]},
            {"magic": "0x3030303030303030", "cpu": 2, "nr_params": 4,
             "params": ["0x10004000", "0x14", "0x34c01ac2", "0x411cf312"]}]}


def test_coresight_of_some_cpus(run):
    about = info(run("-e", "cs_etm/cycacc/", "-C", "0"))["cs_etm"]
    assert ([unit["cpu"] for unit in about["cpus"]] == [0] and about["cpus"][0]["params"][0]
            == "0x850")


def test_spe(run, perf):
    recording = run("-e", "arm_spe_0/ts_enable/", "--per-thread", aux=bytes(64))
    assert info(recording)["arm_spe"] == {"pmu_type": 80, "per_cpu_mmaps": 0}
    code, out, _ = run_perf(perf, ["script", "-D", "-i", recording.path])
    assert code == 0 and "AUXTRACE_INFO type: 4" in out


def test_ptt_and_cpumsf(run):
    about = info(run("-e", "hisi_ptt0_2//"))
    assert about["auxtrace_type"] == "HISI_PTT" and about["priv"] == ["0x51"]
    about = info(run("-e", "cpum_sf/event=0xbd000/"))
    assert about["auxtrace_type"] == "S390_CPUMSF" and about["size"] == 16
    assert not run("-e", "cpum_sf/event=0xb0000/").records("AUXTRACE_INFO")


def test_snapshots_hold_the_newest(run):
    data = os.urandom(3 * 4096 + 100)
    recording = run("-e", "intel_pt//u", "-S", "-m", "16,1", aux=data, FAKE_OVERWRITE="1")
    assert (info(recording)["intel_pt"]["snapshot_mode"] == 1 and recording.attr()["aux_watermark"]
            == 0)
    trace, = recording.records("AUXTRACE")
    assert (trace["data"][:2 * 4096] == data[-4096:].hex() and trace["data_offset"] == len(data)
            - 4096)


def test_a_trace_that_wraps_and_is_not_whole_words(run):
    data = os.urandom(5 * 4096 + 13)
    recording = run("-e", "intel_pt//u", "-m", "16,1", aux=data, seconds="0.2")
    traces = recording.records("AUXTRACE")
    assert len(traces) > 4 and all(trace["data_size"] % 8 == 0 for trace in traces)
    ends = [trace["data_offset"] for trace in traces[1:]] + [len(data)]
    references = [trace["reference"] for trace in traces]
    assert references == sorted(references) and references[0] > 1 << 20
    whole = b"".join(bytes.fromhex(trace["data"])[:end - trace["data_offset"]]
                     for trace, end in zip(traces, ends))
    assert whole == data


def test_samples_of_a_trace_leave_it_to_themselves(run, attrs):
    leader, member, _ = attrs("-e", "{intel_pt//u,cpu-clock}", "--aux-sample=8192")
    assert "AUX" not in leader.sample_type and leader.fields.get("aux_sample_size", 0) == 0
    assert "AUX" in member.sample_type and member["aux_sample_size"] == 8192
    recording = run("-e", "{intel_pt//u,noc/event=1,aux-sample-size=64/}", "-m", "16,1",
                    aux=bytes(8192))
    assert not recording.records("AUXTRACE") and info(recording)["intel_pt"]["snapshot_mode"] == 0


def test_the_size_of_snapshots(run):
    data = os.urandom(5 * 4096)
    trace, = run("-e", "intel_pt//u", "-S9000", aux=data, FAKE_OVERWRITE="1").records("AUXTRACE")
    assert trace["data"] == data[-4 * 4096:].hex()


def test_snapshots_need_an_event_that_traces(run_precord):
    done = run_precord("-S", "-o", "perf.data", "--", "true")
    assert done.returncode == 2 and b"'-S' needs an event with an AUX area" in done.stderr
    done = run_precord("--aux-sample", "-e", "cpu-clock", "-o", "perf.data", "--", "true")
    assert done.returncode == 2 and b"'--aux-sample' needs an event with an AUX area" in done.stderr
    done = run_precord("-m", "16,16", "-e", "cpu-clock", "-o", "perf.data", "--", "true")
    assert done.returncode == 0 and b"no event has an AUX area" in done.stderr


def test_attributes_required_for_tracing(attrs):
    attr, helper = attrs("-e", "intel_pt//u")
    # pt, mtc, tsc, branch; mtc_period=3, psb_period=3
    assert (attr["type"], attr["config"], attr["sample_period"]) == ("77", "0x300e601", 1)
    assert {"TIME", "CPU", "IDENTIFIER"} <= attr.sample_type and "freq" not in attr.flags
    assert (helper.name == "dummy:u" and "mmap" in helper.flags
            and "context_switch" not in helper.flags)
    assert "context_switch" in attrs("-e", "intel_pt//")[-1].flags
    assert attrs("-e", "intel_pt/tsc=0,cyc,mtc_period=6/u")[0]["config"] == "0x301a203"
    spe = attrs("-e", "arm_spe_0//")[0]
    assert spe["sample_period"] == 1024 and "freq" not in spe.flags
    assert attrs("-e", "arm_spe_0//", "-c", "4096")[0]["sample_period"] == 4096


def test_the_event_that_traces_comes_first(attrs, fake, run_precord):
    names = [attr.name
             for attr in attrs("-e", "cpu-clock,{page-faults,cs},{intel_pt//u,faults},dummy")]
    assert names == ["intel_pt//u", "faults", "cpu-clock", "page-faults", "cs", "dummy", "dummy:u"]
    leaders = [("disabled" in attr.flags)
               for attr in attrs("-e", "cpu-clock,{page-faults,cs},{intel_pt//u,faults}")]
    assert leaders == [True, False, True, True, False, True]
    done = run_precord("--print-attr", "-e", "{cpu-clock,intel_pt//u}", prefix=within(fake[1]))
    assert (done.returncode == 2 and b"intel_pt//u must be the first event of its group"
            in done.stderr)


@pytest.mark.parametrize("event, kind, config", [
    ("cpu/cycles/", "HARDWARE", 0), ("cpu/LLC-load-misses/u", "HW_CACHE", 0x10002),
    ("cpu/event=0x3c,inv/", "RAW", 0x80003c),
    ("cpu_core/instructions/", "HARDWARE", 84 << 32 | 1),
    ("cpu_core/L1-dcache-loads/", "HW_CACHE", 84 << 32),
    ("cpu_core/cpu-cycles/", "84", 0x3c),
])
def test_names_of_cores_events(attrs, event, kind, config):
    attr = attrs("-e", event)[0]
    assert (attr["type"], attr["config"], attr.name) == (kind, hex(config), event)


def test_other_pmus_have_no_cycles(fake, run_precord):
    done = run_precord("--print-attr", "-e", "noc/cycles/", prefix=within(fake[1]))
    assert done.returncode == 2 and b"noc has no term or event 'cycles'" in done.stderr


def record(kind, body, misc=0):
    assert len(body) % 8 == 0
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def test_records_that_need_hardware_reach_the_file(run):
    """Types that no machine of the tests writes, with the trailer of sample_id_all: pid, tid, time,
    cpu, id."""
    trailer = struct.pack("<IIQIIQ", 7, 8, 1000, 1, 0, 1000)
    ring = b"".join([
        record(11, struct.pack("<QQQ", 0x100, 0x40, 2) + trailer),		# AUX
        record(12, struct.pack("<II", 7, 8) + trailer),				# ITRACE_START
        # TEXT_POKE
        record(20, struct.pack("<QHH4s", 0xffffffff81000000, 2, 2, b"\x66\x90\xeb\x00") + trailer),
        record(21, struct.pack("<Q", 0x1234) + trailer),			# AUX_OUTPUT_HW_ID
        record(13, struct.pack("<Q", 5) + trailer),				# LOST_SAMPLES
    ])
    recording = run("-e", "intel_pt//u", ring=ring)
    assert [recording.count(kind)
            for kind in ("AUX", "ITRACE_START", "TEXT_POKE", "AUX_OUTPUT_HW_ID", "LOST_SAMPLES")
            ] == [1] * 5
    aux, = recording.records("AUX")
    assert (aux["aux_offset"], aux["aux_size"]) in ((0x100, 0x40), ("0x100", 64))
    assert aux["event"] == "intel_pt//u" and aux["sample_id"]["time"] == 1000
    assert recording.records("TEXT_POKE")[0]["sample_id"]["tid"] == 8


def test_the_index_of_traces_holds_where_records_are_compressed(run):
    ring = b"".join(record(9, struct.pack("<QIIQIIQ", 1000, 7, 8, 1000 + i, 0, 0, 1)
                           + os.urandom(40), misc=2)
                    for i in range(2000))
    recording = run("-e", "intel_pt//u", "-m", "1,1", "-z", ring=ring, aux=bytes(6 * 4096),
                    seconds="0.2")
    traces = recording.records("AUXTRACE")
    assert len(traces) > 3 and recording.count("COMPRESSED") + recording.count("COMPRESSED2") > 3
    assert [entry["file_offset"]
            for entry in recording.document["features"]["AUXTRACE"]["entries"]] == \
        [trace["offset"] for trace in traces]


@pytest.mark.parametrize("options", [[], ["-z"]], ids=["as it is", "compressed"])
def test_a_trace_that_wraps_many_times_is_whole_and_in_order(run, options):
    """Many records of different lengths go through a buffer of one page; some wrap around its
    end."""
    ring, sizes = b"", []
    for i in range(900):
        words = 1 + i * 7 % 60
        sizes.append(words)
        # IP, TID, TIME, CPU of a sample, and RAW data
        raw = struct.pack("<I", 8 * words - 4) + bytes([i % 256]) * (8 * words - 4)
        ring += record(9, struct.pack("<QIIQII", 0x400000 + i, 7, 8, 1000 + i, 0, 0) + raw, misc=2)
    recording = run("-e", "noc/event=1/u", "-c", "1", "-R", "-m", "1", *options, ring=ring,
                    seconds="0.5")
    assert recording.captured == 900
    samples = recording.samples
    assert [sample["time"] for sample in samples] == [1000 + i for i in range(900)]
    assert [sample["raw"]["size"] for sample in samples] == [8 * words - 4 for words in sizes]
    assert not recording.document["errors"]
