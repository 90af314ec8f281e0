"""How many records of each type perf finds in a file."""
import re
import subprocess


def stats(perf, path):
    """{"SAMPLE": 12} as perf counts them; None where perf can't read it."""
    done = subprocess.run([perf, "report", "--stats", "-i", path], capture_output=True, timeout=60,
                          text=True, errors="replace")
    if done.returncode or not done.stdout:
        return None
    totals = re.split(r" stats:", done.stdout)[1]      # those of each event follow
    return {name: int(n) for name, n in re.findall(r"(\w+) events:\s+(\d+)", totals)
            if name not in ("TOTAL", "COMPRESSED")}
