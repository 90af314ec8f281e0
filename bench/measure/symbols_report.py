"""Prints what was measured of names, and whether their goals are met."""

COPIED, CHAINS = "copied stacks", "frame pointers"
INLINED, NAMES = "preport folded --inline", "preport folded"
BUNDLE = 256 * 1024             # bytes, and half a percent of the recording
MEMORY = 96                     # MiB
CHAINS_SECONDS = 0.1            # for 20,000 samples


# what, program of perf, ours, how many times as long perf takes at least; (new) is PERF_NEW
SPEED = [(f"{what}{of}", f"{peer}{mark}", fast, least)
         for mark, of, goals in (("", ", of perf script", (25, 15, 15, 4)),
                                 (" (new)", ", of the new perf script", (6, 4, 4, 8)))
         for (what, peer, fast), least in zip(
             (("stacks with inlined functions", "perf script", INLINED),
              ("text like perf's with inlined functions", "perf script", "preport script --inline"),
              ("JSON with inlined functions", "perf script", "pdecode inlined"),
              ("stacks without inlined functions", "perf script --no-inline", NAMES)), goals)]


class SymbolsReport:
    def __init__(self):
        self.rows = []

    def _of(self, kind):
        """The row of a kind, and cpu seconds by program; None if it was not measured."""
        for row in self.rows:
            if row["input"]["kind"] == kind:
                return row, {one["program"]: one["cpu"] for one in row["programs"]
                             if "failed" not in one}
        return None, {}

    def lines(self):
        """Rows of words: what, wall seconds, cpu seconds, MiB."""
        found = []
        for row in self.rows:
            label = row["input"]["kind"]
            for one in row["programs"] + row.get("apart", []):
                found.append([f"{label}: {one['program']}", *([one["failed"], "", ""] if "failed"
                             in one else [f"{one['wall']:.3f}", f"{one['cpu']:.3f}",
                                          f"{one['rss_kib'] / 1024:.1f}"])])
            found.append([f"{label}: samples, frames, addresses of the program",
                          f"{row['samples']}", f"{row['frames']}", f"{row['addresses']}"])
        return found

    def _speed_goals(self):
        _, cpu = self._of(COPIED)
        for what, slow, fast, least in SPEED:
            if cpu.get(slow) and cpu.get(fast):
                yield f"symbols: {what}, times", least, cpu[slow] / cpu[fast]

    def _part_goals(self):
        row, _ = self._of(COPIED)
        if not row or "parts" not in row:
            return
        unwinding, index = row["parts"]["unwinding"], row["parts"]["index"]
        yield "symbols: frames unwound a second from cold, millions", 8, unwinding["cold"]
        yield ("symbols: unwinding, of libdwfl with a kept Dwfl, times", 5,
               unwinding["cold"] / unwinding["libdwfl"])
        yield "symbols: .debug_info indexed a second, MB", 120, index["mb_per_second"]
        yield "symbols: inlined functions at an address, ns", -100, index["ns"]
        yield "symbols: a symbol, ns", -50, row["parts"]["symbol_ns"]
        apart = {one["program"]: one for one in row["apart"] if "failed" not in one}
        if "kallsyms" in apart and "cat kallsyms" in apart:
            yield (f"symbols: kallsyms, read and sorted, cpu s (cat: "
                   f"{apart['cat kallsyms']['cpu']:.3f})", -0.03, apart["kallsyms"]["cpu"])
        one, two = (apart.get(f"preport folded, {word}") for word in ("one thread", "two threads"))
        if one and two:
            yield "symbols: stacks, two threads against one, wall", 1.7, one["wall"] / two["wall"]

    def _size_goals(self):
        for row in self.rows:
            kind, memory = row["input"]["kind"], [
                one["rss_kib"] / 1024 for one in row["programs"]
                if one["program"].startswith(("preport", "pdecode")) and "failed" not in one]
            most = BUNDLE + row["input"]["file_bytes"] * 0.005
            yield (f"symbols: names that the recording of {kind} carries, KiB", -most / 1024,
                   row["carried"] / 1024)
            if memory:
                yield f"symbols: memory for {kind}, MiB", -MEMORY, max(memory)

    def goals(self):
        """(what, goal, what was reached); a negative goal is the most that it may be."""
        yield from self._speed_goals()
        yield from self._part_goals()
        yield from self._size_goals()
        row, cpu = self._of(CHAINS)
        if row and cpu.get(NAMES):
            yield (f"symbols: everything of 20,000 samples of {CHAINS}, cpu s", -CHAINS_SECONDS,
                   cpu[NAMES] * 20000 / row["samples"])
