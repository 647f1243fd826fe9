#!/usr/bin/env python3
"""Includes point one way: a folder of src/ may include itself and the folders that its CMakeLists.txt names.

The DEPENDS lines are the dependency diagram; tests may also include what TEST_DEPENDS names. No folder may depend
on itself by way of others. A library that is slow to compile is included in one place.
"""

import pathlib
import re
import sys

# Reports are made from stored records alone.
APART = {"report": {"engine", "bench", "train"}, "forecast": {"engine", "bench", "train"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/')
ONLY_IN = {"<CLI/CLI.hpp>": "cli/command_line.cpp"}
KEYWORDS = {"SOURCES", "DEPENDS", "TESTS", "TEST_DEPENDS", "PRIVATE", "QUICK_TO_BUILD"}


def words_after(keyword, text):
    """The words of a CMake call from a keyword to the next one."""
    words = text.split()
    if keyword not in words:
        return set()
    rest = words[words.index(keyword) + 1:]
    end = next((i for i, word in enumerate(rest) if word in KEYWORDS), len(rest))
    return {word for word in rest[:end] if "::" not in word}


def dependencies(source_root):
    """For each folder the folders that its library may include, and those that only its tests may."""
    allowed, of_tests = {}, {}
    for path in sorted(source_root.glob("*/CMakeLists.txt")):
        text = re.sub(r"#.*", "", path.read_text())
        call = re.search(r"tacho_(?:library|link)\(\w+(.*?)\)", text, re.DOTALL).group(1)
        allowed[path.parent.name] = words_after("DEPENDS", call) | words_after("PRIVATE", call)
        of_tests[path.parent.name] = words_after("TEST_DEPENDS", call)
    return allowed, of_tests


def reachable(start, allowed):
    """Every folder that `start` depends on, directly or by way of others."""
    found, waiting = set(), list(allowed[start])
    while waiting:
        folder = waiting.pop()
        if folder not in found:
            found.add(folder)
            waiting += allowed.get(folder, ())
    return found


def wrong_dependencies(allowed):
    for folder in allowed:
        reached = reachable(folder, allowed)
        if folder in reached:
            yield f"src/{folder} depends on itself by way of others"
        for other in sorted(reached & APART.get(folder, set())):
            yield f"src/{folder} must not depend on {other}, not even by way of others"


def violations(source_root, allowed, of_tests):
    for path in sorted(source_root.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        folder = path.relative_to(source_root).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) == folder:
                continue
            target = match.group(1)
            if target in allowed[folder] or (path.stem.endswith("_test") and target in of_tests[folder]):
                continue
            yield f"{path}:{number}: the DEPENDS of {folder}/ does not name {target}"


def leaks(source_root):
    for path in sorted(source_root.rglob("*")):
        for header, place in ONLY_IN.items():
            if path.suffix in (".h", ".cpp") and path != source_root / place and header in path.read_text():
                yield f"{path}: only {place} includes {header}"


def main():
    source_root = pathlib.Path(sys.argv[1])
    allowed, of_tests = dependencies(source_root)
    found = list(wrong_dependencies(allowed)) + list(violations(source_root, allowed, of_tests)) + list(leaks(source_root))
    print("\n".join(found) or "includes point one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
