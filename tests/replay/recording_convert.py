#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recording_convert.py OLD NEW OUT - copies recording OLD to OUT with the tables of recording NEW.

For tests/replay/recordings/: OUT has the schema version of NEW, which a current wallsample made,
and the rows of OLD. Columns and tables that OLD does not have get the values that the reader
assumes for OLD. Add the new ones below when the schema version grows.
"""
import sqlite3
import sys

COLUMN_DEFAULTS = {"process": 0, "raw_ns": "wall_ns", "parent": 0}


def table_columns(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def processes_of(old):
    """Version 5 describes its process in table meta."""
    meta = dict(old.execute("SELECT key, value FROM meta"))
    return [(0, meta["pid"], meta["start_time"], meta["comm"], meta.get("cmdline", ""), 0)]


TABLE_DEFAULTS = {"processes": processes_of}


def copy_table(old, new, out, table):
    columns = table_columns(new, table)
    known = table_columns(old, table)
    if not known:
        rows = TABLE_DEFAULTS[table](old)
    else:
        wanted = [c if c in known else str(COLUMN_DEFAULTS[c]) for c in columns]
        rows = old.execute(f"SELECT {', '.join(wanted)} FROM {table}")
    marks = ", ".join("?" for _ in columns)
    out.executemany(f"INSERT INTO {table} VALUES({marks})", rows)


def main():
    old, new, out = (sqlite3.connect(path) for path in sys.argv[1:])
    for pragma in ("application_id", "user_version"):
        value = new.execute(f"PRAGMA {pragma}").fetchone()[0]
        out.execute(f"PRAGMA {pragma}={value}")
    for kind in ("table", "view"):
        for name, sql in new.execute("SELECT name, sql FROM sqlite_master WHERE type = ?",
                                     (kind,)):
            out.execute(sql)
            if kind == "table":
                copy_table(old, new, out, name)
    out.commit()


main()
