"""The flame graph page in chromium: a script in it presses its keys and reports what it says."""
import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import TIMEOUT
from known_recording import EXEC, FAULTS, Recording
from profiles import preport

pytestmark = pytest.mark.skipif("PD_CLIENTS" not in os.environ or not shutil.which("chromium"),
                                reason="run by make check-clients, needs chromium")
MS = 1_000_000
DRIVER = """
<script>
const root = document.documentElement, press = (key, target, shiftKey) =>
    (target || document.body).dispatchEvent(
        new KeyboardEvent('keydown', {key, shiftKey, bubbles: true}));
const text = id => document.getElementById(id).textContent;
const cells = () => [...document.querySelectorAll('tbody tr')].map(
    row => [...row.cells].map(cell => cell.textContent));
const wait = setInterval(async () => {
    if (!root.dataset.ready)
        return;
    clearInterval(wait);
    let result;
    try {
        result = await (async () => { @STEPS@ })();
    } catch (error) {
        result = String(error.stack);
    }
    root.dataset.result = JSON.stringify(result);
}, 10);
</script></body>"""


def recording(path, leaf=5, program="/bin/app"):
    """main() calls leaf() and, in the second half of the time, work() which calls itself."""
    it = Recording()
    it.comm(1, 10, "worker-1", misc=EXEC)
    for i, name in enumerate((program, "/lib/leaf", "/lib/work")):
        it.map(2 + i, 10, 0x1000 * (i + 1), 0x1000, name)
    for i in range(leaf):
        it.sample((10 + i) * MS, 10, MS, 0x2010, 0x1010)
    for i in range(5):
        it.sample((100 + i) * MS, 10, MS, 0x3010, 0x3010, 0x1010)
    path.write_bytes(it.file())
    return path


@pytest.fixture
def shown(tmp_path):
    """Opens a file in chromium; what its script has put into data-result."""
    def go(out, link=""):
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", f"--user-data-dir={tmp_path}/profile", "--window-size=1000,700",
             "--virtual-time-budget=10000", "--dump-dom", f"file://{out}{link}"],
            capture_output=True, timeout=TIMEOUT, text=True)
        found = re.search(r'data-result="([^"]*)"', done.stdout)
        assert found, done.stdout[-2000:] + done.stderr[-2000:]
        return json.loads(found[1].replace("&quot;", '"').replace("&lt;", "<").replace(
            "&gt;", ">").replace("&amp;", "&"))
    return go


@pytest.fixture
def drive(shown, tmp_path):
    def go(data, steps, *options, link=""):
        out = tmp_path / "page.html"
        preport("-o", out, *options, data)
        html = out.read_text().replace("</body>", DRIVER.replace("@STEPS@", steps))
        out.write_text(html)
        return shown(out, link)
    return go


def test_keys_show_the_views(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const says = [];
        for (const key of ['i', 'c', 's', 'h', 't', 'f']) {
            press(key);
            says.push(document.querySelector('[aria-pressed=true]').id);
        }
        press('t');
        return [says, cells()];""")
    assert got[0] == ["icicle", "callers", "sandwich", "time", "table", "flame"]
    assert got[1] == [["50.00 %", "50.00 %", "5", "[leaf]", "leaf"],
                      ["50.00 %", "50.00 %", "5", "[work]", "work"],
                      ["0.00 %", "100.00 %", "0", "[app]", "app"]]


def test_the_view_of_the_command_is_the_first(drive, tmp_path):
    steps = """
        const says = [document.querySelector('[aria-pressed=true]').id, location.hash];
        press('f');
        return [...says, document.querySelector('[aria-pressed=true]').id, location.hash];"""
    data = recording(tmp_path / "perf.data")
    assert drive(data, steps, "--callers") == ["callers", "", "flame", "#v=flame"]
    assert drive(data, steps, "--inverted") == ["icicle", "", "flame", "#v=flame"]
    assert drive(data, steps, "--heatmap") == ["time", "", "flame", "#v=flame"]
    assert drive(data, steps, "--callers", link="#v=flame")[0] == "flame"


def test_search_counts_each_sample_once(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const says = [];
        for (const query of ['[WORK', '/^.(leaf|work)/', '/(/', 'nothing']) {
            find(query);
            says.push(text('found'));
        }
        find('[work');
        press('n');
        return [says, text('status')];""")
    assert got[0] == ["50.00 % matched, 1 function", "100.00 % matched, 2 functions",
                      "not a valid expression", "0.00 % matched, 0 functions"]
    assert got[1].startswith("[work]") and "total 5.000 ms · 50.00 % of all" in got[1]


def test_frames_too_narrow_to_draw_are_counted(drive, tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for i in range(5000):
        it.map(3, 10, 0x100000 + 0x1000 * i, 0x1000, f"/lib/lib{i}.so")
        it.sample(10 * MS + i, 10, MS, 0x100010 + 0x1000 * i, 0x1010)
    (tmp_path / "perf.data").write_bytes(it.file())
    got = drive(tmp_path / "perf.data", """
        const graph = document.getElementById('graph'), says = [];
        const at = () => {
            const place = graph.getBoundingClientRect(), [, x, y] = boxes.find(box => box[0] < 0);
            return {clientX: place.left + x + 5, clientY: place.top + y + 5};
        };
        graph.onmousemove(at());
        says.push(text('tip'));
        for (let i = 0; i < 2; i++) {
            graph.onclick(at());
            says.push(text('status').split('  ')[0], view);
        }
        return [...says, cells().length > 100];""")
    assert got == ["5000 functions too narrow to draw · 100.00 %",
                   "[app]", "flame", "[app]", "table", True]


def test_zoom_and_back(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const graph = document.getElementById('graph'), says = [];
        for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'Enter', 'ArrowRight', 'ArrowDown',
                           'Backspace', 'Escape']) {
            press(key, graph);
            says.push(text('status').split('  ')[0] + location.hash);
        }
        return says;""")
    assert [row.split("#")[0] for row in got] == [
        "worker-1", "[app]", "[leaf]", "[leaf]", "[work]", "[app]", "cpu-clock", "cpu-clock"]
    assert "z=worker-1%3B%5Bapp%5D%3B%5Bleaf%5D" in got[3] and "z=" not in got[6]


def test_the_browser_goes_back_and_forward(drive, tmp_path):
    """Each zoom and view is a place of the history, a choice is not."""
    got = drive(recording(tmp_path / "perf.data"), """
        const says = [], graph = document.getElementById('graph');
        const say = () => says.push([text('status').split('  ')[0], location.hash,
            document.querySelector('[aria-pressed=true]').id, history.length]);
        const go = async n => {
            const went = new Promise(done => addEventListener('popstate', done, {once: true}));
            history.go(n);
            await went;
            say();
        };
        say();
        ['ArrowUp', 'ArrowUp', 'Enter', 'ArrowUp', 'Enter', 't'].forEach(key => press(key, graph));
        say();
        press('s');
        say();
        for (const n of [-1, -1, -1, -1, 3])
            await go(n);
        return says;""")
    depth = got[0][3]
    zooms = ["", "z=worker-1%3B%5Bapp%5D", "z=worker-1%3B%5Bapp%5D%3B%5Bleaf%5D"]
    assert [view for *_, view, _ in got] == ["flame", "table", "sandwich", "table", "flame",
                                             "flame", "flame", "table"]
    assert [row[1].lstrip("#") for row in got if row[2] != "sandwich"] == [
        "", "v=table&" + zooms[2], "v=table&" + zooms[2], zooms[2], zooms[1], "",
        "v=table&" + zooms[2]]
    assert [row[3] - depth for row in got] == [0, 3, 4, 4, 4, 4, 4, 4]
    assert [row[0] for row in got[4:7]] == ["[leaf]", "[app]", "cpu-clock"]


def test_copied_stacks_are_folded_ones(drive, tmp_path):
    """Each leaf is chosen and copied; in this recording no other node has samples of its own."""
    it = Recording()
    it.comm(1, 10, "a b", misc=EXEC)
    for i, name in enumerate(("/bin/one;two", "/lib/leaf", "/lib/work x")):
        it.map(2 + i, 10, 0x1000 * (i + 1), 0x1000, name)
    for i, chain in enumerate(((0x2010, 0x1010), (0x3010, 0x3010, 0x1010), (0x2010,), (0x9010,))):
        it.sample((10 + i) * MS, 10, (i + 1) * MS, *chain)
    data = tmp_path / "perf.data"
    data.write_bytes(it.file())
    got = drive(data, """
        const copied = [], leaves = [];
        Object.defineProperty(navigator, 'clipboard', {value: {writeText: t => copied.push(t)}});
        for (let n = 1; n < tree.parent.length; n++)
            if (!tree.parent.includes(n))
                leaves.push(n);
        for (const leaf of leaves) {
            chosen = leaf;
            press('y');
        }
        return copied;""")
    folded = preport("-f", "folded", "--raw-names", data).decode().splitlines()
    assert sorted(got) == folded and len(got) == 4


def test_the_sandwich_shows_callers_and_callees(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const graph = document.getElementById('graph'), says = [text('status')];
        const names = sandwich.map(t => Array.from(t.func, f => file.functions[f][0]));
        press('ArrowUp', graph);
        press('Enter', graph);
        says.push(text('status'));
        press('Backspace');
        says.push(text('status'));
        return [names, says];""", link="#v=sandwich&f=%5Bwork%5D")
    assert got[0] == [["[work]", "[app]", "worker-1"], ["[work]", "[work]"]]
    assert [says.split("  ")[0] for says in got[1]] == ["[work]", "[app]", "[work]"]
    assert "total 5.000 ms · 50.00 %" in got[1][0] and "total 10.000 ms" in got[1][1]


def test_a_range_of_time_is_that_of_all_views(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        setRange([0, 50000]);
        const early = base.total[0];
        setRange([50000, 200000]);
        press('t');
        const rows = cells();
        press('h');
        const names = boxes.map(box => nameOf(box[4], box[0]));
        press('Escape');
        press('t');
        return [rows, [...new Set(names)], cells().length, text('status'), early];""")
    assert got[0] == [["100.00 %", "100.00 %", "5", "[work]", "work"],
                      ["0.00 %", "100.00 %", "0", "[app]", "app"]]
    assert sorted(got[1]) == ["[app]", "[work]"] and got[2] == 3
    assert "total 10.000 ms" in got[3] and got[4] == 5 * MS


def test_a_range_is_chosen_by_keys_and_by_the_pointer(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const heat_ = document.getElementById('heat'), says = [];
        press('h');
        press('ArrowLeft', heat_);
        says.push(range);
        press('ArrowRight', heat_);
        says.push(range);
        const place = heat_.getBoundingClientRect(), at = (type, x, y) => heat_.dispatchEvent(
            new PointerEvent(type, {clientX: place.left + x, clientY: place.top + y}));
        heat_.setPointerCapture = () => {};
        at('pointerdown', place.width - 1, 1);
        at('pointermove', 500, 60);
        at('pointerup', 1, 124);
        says.push(range);
        says.push(base.total[0]);
        return [says, heat.column, heat.columns];""")
    says, column, columns = got
    assert says[:2] == [[0, column], [column, 2 * column]]
    assert says[2] == [0, column * columns] and says[3] == 10 * MS


def test_waits_are_as_long_as_they_took(drive, tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    for time in (10, 11, 12, 13):
        it.sample(time * MS, 10, MS, 0x1010)
    for time, misc in ((13, 1 << 13), (113, 0)):
        it.switch(time * MS, 10, 10, misc)
    it.sample(114 * MS, 10, MS, 0x1010)
    (tmp_path / "perf.data").write_bytes(it.file())
    got = drive(tmp_path / "perf.data", """
        press('h');
        const wide = boxes.filter(box => nameOf(box[4], box[0]).startsWith('[blocked'));
        const cells = heat.cells.reduce((n, cell) => n + (cell > 0), 0), all = sum(heat.cells);
        setRange([53000, 63000]);
        const part = base.total[0];
        setRange([0, 2000]);
        return [wide.length, wide[0][3] / document.getElementById('main').clientWidth, cells, all,
                part, base.total[0]];""", "--wall")
    assert got[0] == 1 and got[1] == pytest.approx(100 / 104, abs=0.01)
    assert got[2] > 1000 and got[3] == pytest.approx(105 * MS)
    assert got[4] == pytest.approx(10 * MS) and got[5] == 2 * MS


def test_a_difference_by_sums_has_widths_of_the_larger(drive, tmp_path):
    old = recording(tmp_path / "old", leaf=15)
    got = drive(recording(tmp_path / "perf.data"), """
        press('t');
        return [cells(), whole.total[0]];""", "--base", old, "--absolute")
    assert got[0] == [
        ["75.00 %", "25.00 %", "−50.00", "75.00 %", "25.00 %", "−50.00", "[leaf]", "leaf"],
        ["0.00 %", "0.00 %", "±0.00", "100.00 %", "50.00 %", "−50.00", "[app]", "app"],
        ["25.00 %", "25.00 %", "±0.00", "25.00 %", "25.00 %", "±0.00", "[work]", "work"]]
    assert got[1] == 0.5


def test_a_difference_in_red_and_blue(drive, tmp_path):
    old = recording(tmp_path / "old", leaf=15, program="/old/app")
    got = drive(recording(tmp_path / "perf.data"), """
        press('t');
        const rows = cells();
        press('f');
        const at = name => whole.func.findIndex(f => file.functions[f][0] === name);
        const colors_ = ['[work]', '[leaf]', '[app]'].map(name => colorOf(whole, at(name)));
        press('w');
        const before = whole.total[at('[leaf]')];
        press('w');
        return [rows, colors_, before, whole.total[at('[leaf]')], whole.total[0]];""",
                "--base", old)
    assert got[0] == [
        ["75.00 %", "50.00 %", "−25.00", "75.00 %", "50.00 %", "−25.00", "[leaf]", "leaf"],
        ["25.00 %", "50.00 %", "+25.00", "25.00 %", "50.00 %", "+25.00", "[work]", "work"],
        ["0.00 %", "0.00 %", "±0.00", "100.00 %", "100.00 %", "±0.00", "[app]", "app"]]
    red, blue, same = ([int(n) for n in re.findall(r"\d+", color)] for color in got[1])
    assert red[0] > red[2] + 80 and blue[2] > blue[0] + 80 and max(same) - min(same) < 20
    assert got[2:] == [0.75, 0.75, 1.25]


def events(path):
    """Two threads of a process wait, run, and fault; another process runs."""
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.comm(3, 20, "other", misc=EXEC)
    it.map(4, 20, 0x1000, 0x1000, "/bin/other")
    it.comm(5, 10, "worker", tid=11)
    it.sample(10 * MS, 10, MS, 0x1010)
    for time, misc in ((13, 1 << 13), (113, 0)):
        it.switch(time * MS, 10, 10, misc)
    it.sample(114 * MS, 10, 2 * MS, 0x1010, tid=11)
    it.sample(115 * MS, 20, 4 * MS, 0x1010)
    it.sample(116 * MS, 10, 3, 0x1010, event=FAULTS)
    path.write_bytes(it.file())
    return path


def test_measures_are_those_of_each_event(drive, tmp_path):
    got = drive(events(tmp_path / "perf.data"), """
        const says = [];
        press('ArrowUp', document.getElementById('graph'));
        press('Enter');
        for (let i = 0; i <= measures.length; i++) {
            says.push([measures[measured][0], base.total[0], location.hash,
                       document.getElementById('measure').selectedOptions[0].textContent,
                       nameOf(tree, focus), text('facts').split(';')[0], text('legend')]);
            press('m');
        }
        press('h');
        return [says, threads.length];""", "--off-cpu", "--theme=light")
    says, threads = got
    assert [row[0] for row in says] == [
        "off-CPU: time", "off-CPU: samples", "cpu-clock: time", "cpu-clock: samples",
        "page-faults:HG: period", "page-faults:HG: samples", "off-CPU: time"]
    assert [row[1] for row in says] == [100 * MS, 1, 7 * MS, 3, 3, 1, 100 * MS]
    assert [row[3] for row in says] == [row[0] for row in says]
    assert "m=cpu-clock%3A+time" in says[2][2] and "m=" not in says[0][2]
    assert [row[4] for row in says] == ["app"] * 7
    assert [row[5] for row in says][::2] == [
        "1 sample of off-CPU", "3 samples of cpu-clock", "1 sample of page-faults:HG",
        "1 sample of off-CPU"]
    assert [row[6] for row in says][::2] == ["programoff-CPU"] + ["program"] * 2 + [
        "programoff-CPU"]
    assert threads == 1


def test_wall_time_is_that_on_and_off_the_cpu(drive, tmp_path):
    got = drive(events(tmp_path / "perf.data"), """
        const says = [];
        for (const range of [null, [5000, 55000]]) {
            setRange(range);
            for (let i = 0; i < 3; i++, press('m'))
                says.push([measures[measured][0], base.total[0]]);
            measured = -1;
            press('m');
        }
        return says;""", "--wall", link="#m=wall-clock%3A+time+on+CPU")
    assert got == [
        ["wall-clock: time" + part, value]
        for part, value in ((" on CPU", 7 * MS), (" off CPU", 100 * MS))] + [
        ["wall-clock: samples", 4], ["wall-clock: time", 50 * MS],
        ["wall-clock: time on CPU", 0], ["wall-clock: time off CPU", 50 * MS]]


def test_groups_are_threads_processes_or_none(drive, tmp_path):
    got = drive(events(tmp_path / "perf.data"), """
        const says = [], list = () => {
            const names = [];
            for (let n = tree.first[0]; n >= 0; n = tree.next[n])
                names.push([nameOf(tree, n), tree.total[n]]);
            return names;
        };
        for (let i = 0; i < 4; i++, press('g'))
            says.push([group, location.hash, list()]);
        press('h');
        const box = boxes.find(([n, , , , t]) => nameOf(t, n) === '[other]');
        clickBox(box[0], box[4]);
        const chosen_ = path(tree, chosen);
        setRange([103000, 200000]);
        return [says, chosen_, list()];""", "-e", "cpu-clock", link="#d=light")
    says, chosen, late = got
    assert [row[:2] for row in says] == [
        ["threads", "#d=light"], ["processes", "#d=light&g=processes"], ["none", "#d=light&g=none"],
        ["threads", "#d=light"]]
    threads = [["other", 4 * MS], ["worker", 2 * MS], ["app", MS]]
    processes = [["other 20", 4 * MS], ["app 10", 3 * MS]]
    assert [row[2] for row in says] == [
        threads, processes, [["[other]", 4 * MS], ["[app]", 3 * MS]], threads]
    assert chosen == ["other 20", "[other]"] and late == [["other 20", 4 * MS],
                                                          ["app 10", 2 * MS]]


def test_groups_and_themes(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        press('g');
        press('g');
        const functions = [...new Set(base.func)].map(f => file.functions[f][0]);
        press('d');
        return [functions, base.total[0], root.dataset.theme, location.hash];""",
                "--theme=light")
    assert sorted(got[0]) == ["[app]", "[leaf]", "[work]", "cpu-clock"] and got[1] == 10 * MS
    assert got[2] == "dark" and "g=none" in got[3] and "d=dark" in got[3]


def test_colors_are_by_kind_image_or_own_time(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const says = [];
        for (let i = 0; i < 4; i++) {
            const at = name => whole.func.findIndex(f => file.functions[f][0] === name);
            says.push([coloring, location.hash, text('legend'),
                       ['[work]', '[leaf]', '[app]'].map(name => colorOf(whole, at(name)))]);
            press('k');
        }
        return says;""", "--theme=light")
    kind, image, own, again = got
    assert [row[0] for row in got] == ["kind", "image", "self", "kind"] and again[2:] == kind[2:]
    assert [row[1].strip("#") for row in got] == [
        "d=light", "d=light&k=image", "d=light&k=self", "d=light"]
    assert kind[2] == "program" and image[2] == "leafworkothers"
    assert "5 % of all" in own[2]

    def far(a, b):
        a, b = ([int(n) for n in re.findall(r"\d+", color)] for color in (a, b))
        return max(abs(i - j) for i, j in zip(a, b)) > 30
    assert not far(*kind[3][:2]) and far(*image[3][:2]) and far(*image[3][1:])
    assert own[3][0] == own[3][2] and far(*own[3][1:])    # the outer work() has none


def test_a_wait_has_a_color_of_its_own(drive, tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x1000, 0x1000, "/bin/app")
    it.sample(10 * MS, 10, MS, 0x1010)
    for time, misc in ((13, 1 << 13), (113, 0)):
        it.switch(time * MS, 10, 10, misc)
    (tmp_path / "perf.data").write_bytes(it.file())
    got = drive(tmp_path / "perf.data", """
        const at = whole.func.findIndex(f => file.functions[f][0].startsWith('[blocked'));
        return [colorOf(whole, at), text('legend'), describe(whole, at)];""",
                "--wall", "--theme=light")
    color = [int(n) for n in re.findall(r"\d+", got[0])]
    assert all(abs(a - b) <= 6 for a, b in zip(color, (0xd4, 0xed, 0xff)))
    assert got[1].endswith("off-CPU") and "off-CPU" in got[2]


def test_a_low_flame_stands_on_the_ground(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const place = id => document.getElementById(id).getBoundingClientRect(), says = [];
        for (const key of ['f', 'i']) {
            press(key);
            says.push(place('main').bottom - place('graph').bottom);
        }
        return says;""")
    assert abs(got[0]) < 1 and got[1] > 100


def test_the_keys_are_explained(drive, tmp_path):
    got = drive(recording(tmp_path / "perf.data"), """
        const help_ = document.getElementById('help'), says = [help_.hidden];
        for (const key of ['?', 'Escape']) {
            press(key);
            says.push(help_.hidden);
        }
        const letters = Object.keys(keys).filter(key => key.length === 1 && key !== '?');
        const shown = [...help_.querySelectorAll('dt')].map(dt => dt.textContent).join(' ');
        return [says, letters.filter(key => !shown.split(' ').includes(
            'nNy/'.includes(key) ? key : key.toUpperCase()))];""")
    assert got == [[True, False, True], []]


def test_three_hundred_thousand_frames(drive, tmp_path):
    it = Recording()
    it.comm(1, 10, "app", misc=EXEC)
    it.map(2, 10, 0x100000, 0x4000000, "/bin/app")
    chain = 1
    for i in range(24000):
        frames = []
        for depth in range(15):
            chain = (chain * 1103515245 + 12345) % 2**31
            frames.append(0x100000 + (chain >> 8) % min(3 ** depth, 3000) * 16)
        it.sample(1000 + i * 50000, 10, 50000, *frames[::-1], tid=10 + i % 4)
    path = tmp_path / "perf.data"
    path.write_bytes(it.file())
    got = drive(path, """
        for (const key of ['c', 's', 'h', 't', 'f'])
            press(key);
        find('0x1');
        return [whole.count, boxes.length, base.total[0], text('found')];""", "--addrs")
    assert got[0] > 200_000 and 50 < got[1] < 50_000 and got[2] == 24000 * 50000
    assert "matched" in got[3]


def test_a_picture_is_zoomed_and_searched(shown, tmp_path):
    out = tmp_path / "x.svg"
    preport("-o", out, recording(tmp_path / "perf.data"))
    steps = """<script><![CDATA[
        const all = [...document.querySelectorAll('g')], key = k => dispatchEvent(
            new KeyboardEvent('keydown', { key: k }));
        const at = start => all.find(g => g.textContent.startsWith(start)), work = at('[work]');
        const widths = () => all.filter(g => g.style.display !== 'none').map(
            g => Math.round(g.querySelector('rect').getAttribute('width')));
        const labels = () => [...document.querySelectorAll('svg > text')].map(t => t.textContent);
        const says = [widths()];
        work.onclick();
        says.push(widths(), at('[app]').style.opacity);
        for (const query of ['[WORK', '/^.(leaf|work)/', '/(/', null]) {
            window.prompt = () => query;
            key('/');
            says.push(labels().pop());
        }
        window.prompt = () => '[leaf';
        key('/');
        says.push(at('[leaf]').querySelector('rect').getAttribute('fill'));
        key('Escape');
        says.push(widths(), labels().pop(),
                  at('[leaf]').querySelector('rect').getAttribute('fill') !== says[7]);
        document.documentElement.dataset.result = JSON.stringify(says);
    ]]></script></svg>"""
    out.write_text(out.read_text().replace("</svg>", steps))
    # the event, worker-1 and app; leaf and the two of work
    whole = [1180, 1180, 1180, 590, 590, 590]
    assert shown(out) == [
        whole, [1180, 1180, 1180, 1180, 1180], "0.5", "50.00 % matched", "100.00 % matched",
        "not a valid expression", "not a valid expression", "#ff6ac6", whole, "", True]
