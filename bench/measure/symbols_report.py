"""Prints what was measured of names, and whether their goals are met."""

COPIED, CHAINS = "copied stacks", "frame pointers"
INLINED, NAMES = "preport folded --inline", "preport folded"
BUNDLE = 256 * 1024             # bytes, and half a percent of the recording
MEMORY = 96                     # MiB
CHAINS_SECONDS = 0.1            # for 20,000 samples


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
            for one in row["programs"]:
                found.append([f"{label}: {one['program']}", *([one["failed"], "", ""] if "failed"
                             in one else [f"{one['wall']:.3f}", f"{one['cpu']:.3f}",
                                          f"{one['rss_kib'] / 1024:.1f}"])])
            found.append([f"{label}: samples, frames, addresses of the program",
                          f"{row['samples']}", f"{row['frames']}", f"{row['addresses']}"])
        return found

    def _speed_goals(self):
        _, cpu = self._of(COPIED)
        for what, slow, fast, least in (
                ("stacks with inlined functions, of perf script", "perf script", INLINED, 25),
                ("text with inlined functions, of perf script", "perf script", "pdecode inlined",
                 15),
                ("stacks without inlined functions, of perf script", "perf script --no-inline",
                 NAMES, 4)):
            if cpu.get(slow) and cpu.get(fast):
                yield f"symbols: {what}, times", least, cpu[slow] / cpu[fast]

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
        yield from self._size_goals()
        row, cpu = self._of(CHAINS)
        if row and cpu.get(NAMES):
            yield (f"symbols: everything of 20,000 samples of {CHAINS}, cpu s", -CHAINS_SECONDS,
                   cpu[NAMES] * 20000 / row["samples"])
