#!/usr/bin/env python3
"""Includes point one way: a folder of src/ may include itself and the folders before it in this list."""

import pathlib
import re
import sys

ORDER = ["base", "graph", "models", "tensors", "kernels", "engine", "distributed", "data", "train", "volume", "bench",
         "results", "report", "plan", "cli"]
# Reports are made from stored records alone.
FORBIDDEN = {"report": {"engine", "bench", "train", "volume"}, "plan": {"engine", "bench", "train", "volume"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/')


def violations(source_root):
    for path in sorted(source_root.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        folder = path.relative_to(source_root).parts[0]
        if folder not in ORDER:
            yield f"{path}: folder '{folder}' is not in the list"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            if target not in ORDER:
                yield f"{path}:{number}: '{target}' is not a folder of src/"
            elif ORDER.index(target) > ORDER.index(folder) or target in FORBIDDEN.get(folder, ()):
                yield f"{path}:{number}: {folder}/ must not include {target}/"


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "includes point one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
