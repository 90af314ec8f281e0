"""The number of records of each type in a file, according to perf."""
import re
import subprocess


def stats(perf, path):
    """{"SAMPLE": 12}; None if perf can't read the file."""
    done = subprocess.run([perf, "report", "--stats", "-i", path], capture_output=True, timeout=60,
                          text=True, errors="replace")
    if done.returncode or not done.stdout:
        return None
    totals = re.split(r" stats:", done.stdout)[1]      # followed by the counts of each event
    return {name: int(n) for name, n in re.findall(r"(\w+) events:\s+(\d+)", totals)
            if name not in ("TOTAL", "COMPRESSED")}
