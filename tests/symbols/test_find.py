"""Where files are looked for, and which file is the recorded one."""
import pytest

import compiled

ID = "aabbccddeeff00112233445566778899deadbeef"
REST = ID[2:]


def names(kind, path="-", build_id="-", link="-", *places):
    code, lines = compiled.run("symbols_find", "names", kind, path, build_id, link, *places)
    assert code == 0
    return [tuple(line.split(" ", 1)) for line in lines]


def test_an_image_by_path():
    assert names("image", "/usr/bin/app") == [("recorded", "/usr/bin/app")]
    assert names("image", "/app", ID, "-", "sysroot=/target", "home=/root", "cache=/c") == [
        ("sysroot", "/app"), ("build-id", f"/root/.debug/.build-id/aa/{REST}/elf"),
        ("build-id", f"/root/.debug/.build-id/aa/{REST}"),
        ("build-id", f"/c/{ID}/executable"), ("recorded", "/app")]


def test_servers_are_asked_last_and_only_if_wanted():
    """Never for what has no build id."""
    for kind, file in (("image", "executable"), ("debug", "debuginfo"), ("kernel", "debuginfo")):
        found = names(kind, "/app", ID, "app.debug", "network=1", "cache=/c")
        assert found[-1] == ("debuginfod", f"debuginfod:{ID}/{file}")
        assert found[:-1] == names(kind, "/app", ID, "app.debug", "cache=/c")
        assert names(kind, "/app", "-", "-", "network=1") == names(kind, "/app")


def test_files_named_by_the_user_come_first():
    found = names("image", "/usr/bin/app", ID, "-", "dir=/d1", "dir=/d2", "home=/h")
    assert found[:3] == [("named", f"/d1/.build-id/aa/{REST}/elf"),
                         ("named", f"/d2/.build-id/aa/{REST}/elf"),
                         ("named", f"/d1/.build-id/aa/{REST}")]
    assert ("named", "/d2/usr/bin/app") in found and found[-1] == ("recorded", "/usr/bin/app")
    assert [place for place, _ in found] == sorted((place for place, _ in found),
                                                   key=["named", "build-id", "recorded"].index)


def test_files_alone_in_a_directory_of_the_user():
    """After those of the same path."""
    assert names("image", "/usr/bin/app", "-", "-", "dir=/d") == [
        ("named", "/d/usr/bin/app"), ("named", "/d/app"), ("recorded", "/usr/bin/app")]
    assert ("named", "/d/app.debug") in names("debug", "/usr/bin/app", "-", "-", "dir=/d")
    assert names("image", "[vdso]", "-", "-", "dir=/d") == []


def test_a_debug_file():
    assert names("debug", "/usr/bin/app", ID, "app.debug") == [
        ("build-id", f"/usr/lib/debug/.build-id/aa/{REST}.debug"),
        ("debuglink", "/usr/bin/app.debug"),
        ("debuglink", "/usr/bin/.debug/app.debug"),
        ("debuglink", "/usr/lib/debug/usr/bin/app.debug")]
    assert names("debug", "/app", "-", "app.debug")[0] == ("debuglink", "/app.debug")
    assert names("debug", "/usr/bin/app") == []


def test_below_the_roots_of_processes():
    """Before the path here, which may be another file."""
    assert names("image", "/usr/bin/app", "-", "-", "pid=7", "pid=8", "home=/h") == [
        ("process", "/proc/7/root/usr/bin/app"), ("process", "/proc/8/root/usr/bin/app"),
        ("recorded", "/usr/bin/app")]
    assert [path for place, path in names("debug", "/usr/bin/app", ID, "app.debug", "pid=7")
            if place == "process"] == [
        f"/proc/7/root/usr/lib/debug/.build-id/aa/{REST}.debug",
        "/proc/7/root/usr/bin/app.debug", "/proc/7/root/usr/bin/.debug/app.debug",
        "/proc/7/root/usr/lib/debug/usr/bin/app.debug"]
    assert names("image", "[heap]", "-", "-", "pid=7") == []


def test_a_file_that_a_process_has_mapped():
    """Before the path here, after the root of the process: what is there has a name to show."""
    assert names("image", "/usr/bin/app", "-", "-", "pid=7:7f00-7fff", "pid=8") == [
        ("process", "/proc/7/root/usr/bin/app"), ("process", "/proc/8/root/usr/bin/app"),
        ("mapped", "/proc/7/map_files/7f00-7fff"), ("recorded", "/usr/bin/app")]
    assert names("image", "/memfd:x", "-", "-", "pid=7:1000-2000")[1] == (
        "mapped", "/proc/7/map_files/1000-2000")
    assert not [place for place, _ in names("debug", "/app", ID, "x", "pid=7:1000-2000")
                if place == "mapped"]


def test_files_that_the_caller_keeps():
    """The one of the recorded inode, of which overlayfs uses the uppermost bits; all if none was
    recorded."""
    held = ["file=7:/proc/1/fd/3", "file=8:/proc/1/fd/4", "file=9000000000007:/proc/1/fd/5"]
    assert names("image", "/app", "-", "-", "ino=8", *held) == [
        ("recorded", "/app"), ("mapped", "/proc/1/fd/4")]
    assert names("image", "/app", "-", "-", "ino=7000000000007", *held)[1:] == [
        ("mapped", "/proc/1/fd/3"), ("mapped", "/proc/1/fd/5")]
    assert len(names("image", "/app", ID, "-", *held)) == 1 + 3
    assert names("debug", "/app", "-", "x", *held) == names("debug", "/app", "-", "x")


def test_split_debug_information():
    """A package is next to the program, an object's file where the compiler wrote it."""
    assert names("package", "/usr/bin/app", "-", "-", "sysroot=/s", "dir=/d", "pid=7") == [
        ("sysroot", "/usr/bin/app.dwp"), ("named", "/d/usr/bin/app.dwp"), ("named", "/d/app.dwp"),
        ("process", "/proc/7/root/usr/bin/app.dwp"), ("recorded", "/usr/bin/app.dwp")]
    assert names("object", "/src/a.dwo", "-", "-", "sysroot=/s", "dir=/d", "pid=7") == [
        ("sysroot", "/src/a.dwo"), ("named", "/d/src/a.dwo"), ("named", "/d/a.dwo"),
        ("process", "/proc/7/root/src/a.dwo"), ("recorded", "/src/a.dwo")]


BY_ID = ("build-id", f"/usr/lib/debug/.build-id/aa/{REST}.debug")


def test_a_file_that_debug_files_share():
    """By its id, by its path, and by that from the file which states it, with its place."""
    debug = "/usr/lib/debug/.build-id/12/34.debug"
    debian = "../../.dwz/x86_64-linux-gnu/x.debug"
    below = "/.dwz/x86_64-linux-gnu/x.debug"
    assert names("alt", "/a/common", ID, "-", "sysroot=/s", "dir=/d", "pid=7") == [
        ("sysroot", "/a/common"), ("sysroot", BY_ID[1]), ("named", f"/d/.build-id/aa/{REST}/debug"),
        ("named", f"/d/.build-id/aa/{REST}.debug"), ("named", f"/d/{ID}/debuginfo"),
        ("named", "/d/a/common"), BY_ID, ("process", "/proc/7/root/a/common"),
        ("process", f"/proc/7/root/usr/lib/debug/.build-id/aa/{REST}.debug"),
        ("debuglink", "/a/common")]
    assert names("alt", debian, ID, "-", f"linking=build-id:{debug}") == [
        BY_ID, ("build-id", "/usr/lib/debug" + below),
        ("build-id", f"/usr/lib/debug/.build-id/12/{debian}")]
    assert names("alt", debian, "-", "-", "dir=tree", "linking=named:tree/.build-id/12/3") == [
        ("named", "tree" + below), ("build-id", "/usr/lib/debug" + below),
        ("named", f"tree/.build-id/12/{debian}")]
    assert names("alt", "common", "-", "-", "linking=recorded:app") == [("recorded", "./common")]
    assert names("alt", "/a/.dwz/../x", "-", "-", "dir=/d") == [
        ("named", "/d/a/.dwz/../x"), ("debuglink", "/a/.dwz/../x")]


@pytest.mark.parametrize("linking", ["mapped:/proc/7/map_files/1-2",
                                     "debuginfod:debuginfod:1234/debuginfo"])
def test_nothing_is_next_to_these(linking):
    assert names("alt", "../common", "-", "-", f"linking={linking}") == []


@pytest.mark.parametrize("link", ["../../etc/shadow", "/etc/shadow", "a/b"])
def test_a_debuglink_stays_in_its_directory(link):
    assert names("debug", "/usr/bin/app", "-", link) == []


@pytest.mark.parametrize("path",
                         ["//anon", "[heap]", "[vdso]", "relative", "/", "-", "/" + "x" * 5000])
def test_names_that_are_no_path(path):
    assert names("image", path) == []


def test_a_kernel():
    assert names("kernel", "[kernel.kallsyms]", ID, "-", "vmlinux=/boot/mine")[:2] == [
        ("named", "/boot/mine"), ("build-id", f"/usr/lib/debug/.build-id/aa/{REST}.debug")]
    assert (names("kallsyms", "[kernel.kallsyms]", ID, "-", "home=/h")
            == [("build-id", f"/h/.debug/.build-id/aa/{REST}/kallsyms"),
                ("running", "/proc/kallsyms")])
    assert (names("vdso", "[vdso]", ID, "-", "home=/h")
            == [("build-id", f"/h/.debug/.build-id/aa/{REST}/vdso"), ("running", "[vdso]")])


@pytest.mark.parametrize("build_id", ["aa", ""])
def test_an_id_that_makes_no_name(build_id):
    assert names("image", "/app", build_id or "-", "-", "home=/h") == [("recorded", "/app")]


def judge(what, recorded, found):
    return compiled.run("symbols_find", "judge", what, recorded, found)[1][0]


@pytest.mark.parametrize("recorded, found, verdict", [
    (ID, ID, "BUILD_ID"), (ID, ID[:-2] + "00", "MISMATCH"), (ID, "-", "MISMATCH"),
    (ID[:32], ID[:32], "BUILD_ID"), (ID[:32] + "0" * 8, ID[:32], "BUILD_ID"),
    (ID[:32], ID[:32] + "0" * 8, "BUILD_ID"),
    (ID[:32], ID, "MISMATCH"), (ID[:16], ID[:16], "BUILD_ID"), (ID[:14], ID[:14], "BUILD_ID"),
    (ID[:14], ID[:14] + "00", "MISMATCH"),
    ("00" * 20, "00" * 16, "BUILD_ID"), ("-", ID, "MISMATCH"), ("-", "-", "MISMATCH"),
])
def test_images_by_id(recorded, found, verdict):
    """An id that was recorded decides; without one and without an age, nothing is known."""
    assert judge("image", recorded, found) == verdict


@pytest.mark.parametrize("image, found, verdict", [
    (ID, ID, "BUILD_ID"), (ID, ID[:-2] + "00", "MISMATCH"), ("-", "-", "DEBUGLINK"),
    ("-", ID, "DEBUGLINK"), (ID, "-", "DEBUGLINK"),
])
def test_debug_files(image, found, verdict):
    assert judge("debug", image, found) == verdict


@pytest.mark.parametrize("recorded, found, verdict", [
    ("7,8,1,3,100", "7,8,1,3,99", "INODE"), ("7,8,1,0,100", "7,8,1,3,99", "INODE"),
    ("7,8,1,3,100", "7,8,1,4,99", "NAME_ONLY"),
    ("7,8,1,0,100", "7,8,2,0,99", "NAME_ONLY"), ("7,8,1,0,100", "9,8,1,0,99", "NAME_ONLY"),
    ("7,8,1,3,100", "7,8,1,3,100", "MISMATCH"),
    ("7,8,1,3,100", "7,8,1,3,101", "MISMATCH"), ("0,0,0,0,100", "7,8,1,3,50", "NAME_ONLY"),
    ("7,8,1,3,0", "7,8,1,3,50", "MISMATCH"),
])
def test_images_without_an_id(recorded, found, verdict):
    """A file that changed after the recording is another one."""
    assert compiled.run("symbols_find", "age", recorded, found)[1] == [verdict]
