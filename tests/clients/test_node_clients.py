"""Clients of Node read the tables: DuckDB and parquet-wasm (Rust's Arrow) the Parquet files,
apache-arrow the streams. All have the rows that the tests' own readers have.

They are installed by scripts/clients; PD_CLIENTS is their folder (make check-clients sets it).
"""
import json
import os
import subprocess

import pytest

from arrow_reader import read_arrow
from conftest import FIXTURES, TIMEOUT
from test_clients import MODULES, need
from test_columns_clients import GROUPS, RECORDINGS

pytestmark = pytest.mark.skipif("PD_CLIENTS" not in os.environ, reason="run by make check-clients")

# argv: folder of *.parquet and *.arrow. Prints a line for each table and client.
PROGRAM = """
const fs = require("fs"), path = require("path");
const arrow = require("apache-arrow"), wasm = require("parquet-wasm");
const {DuckDBInstance} = require("@duckdb/node-api");
const folder = process.argv[1];

function plain(v) {
    if (v === null || v === undefined) return null;
    if (typeof v === "bigint" || typeof v === "number") return String(v);
    if (typeof v !== "object") return v;
    if (v instanceof Uint8Array) return Buffer.from(v).toString("hex");
    if (Array.isArray(v) || v instanceof arrow.Vector) return Array.from(v, plain);
    return Object.fromEntries(Object.entries(v.toJSON ? v.toJSON() : v)
                                    .map(([name, part]) => [name, plain(part)]));
}

function say(client, table, columns) {
    console.log(JSON.stringify({client, table, columns}));
}

function of_arrow(table) {
    return Object.fromEntries(table.schema.fields.map(
        (field, i) => [field.name, Array.from(table.getChildAt(i), plain)]));
}

async function main() {
    const db = await (await DuckDBInstance.create()).connect();
    for (const file of fs.readdirSync(folder).filter(name => name.endsWith(".parquet"))) {
        const table = path.basename(file, ".parquet"), at = path.join(folder, file);
        const read = wasm.readParquet(fs.readFileSync(at));
        say("parquet-wasm", table, of_arrow(arrow.tableFromIPC(read.intoIPCStream())));
        say("apache-arrow", table, of_arrow(arrow.tableFromIPC(
            fs.readFileSync(path.join(folder, table + ".arrow")))));
        const hex = table === "samples" ? `replace (lower(hex(raw)) as raw,
                                                    lower(hex(user_stack)) as user_stack)` : "";
        const rows = await db.runAndReadAll(`select * ${hex} from '${at}'`);
        say("duckdb", table, plain(rows.getColumnsObjectJson()));
    }
}
main();
"""


def plain(value):
    """Numbers as texts, since those of Node have 53 bits; bytes in hex."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, (int, float)):
        return str(int(value))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {name: plain(part) for name, part in value.items()}


@pytest.mark.parametrize("name", RECORDINGS)
def test_clients_of_node_agree(name, run_pdecode, tmp_path):
    need("node", *(MODULES / module for module in ("@duckdb/node-api", "apache-arrow",
                                                   "parquet-wasm")))
    path = FIXTURES / "perf" / name
    tables, want = tmp_path / "tables", {}
    assert run_pdecode(["-f", "parquet", "--with", GROUPS, "-o", tables, path]).returncode == 0
    for file in list(tables.glob("*.parquet")):
        done = run_pdecode(["-f", "arrow", "--with", GROUPS, "--table", file.stem, path])
        file.with_suffix(".arrow").write_bytes(done.stdout)
        want[file.stem] = plain(read_arrow(done.stdout)[0])
    done = subprocess.run(["node", "-e", PROGRAM, tables], capture_output=True, text=True,
                          timeout=TIMEOUT, env={**os.environ, "NODE_PATH": MODULES})
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 3 * len(want)
    for answer in found:
        assert answer["columns"] == want[answer["table"]], answer["client"]
