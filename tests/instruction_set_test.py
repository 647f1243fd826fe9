#!/usr/bin/env python3
"""Code for every CPU holds no instruction beyond the baseline, x86-64 with SSE2.

instruction_set_test.py BUILD

Objects compiled without -mavx... contain no such instruction. Those compiled with it define no weak symbol: of equal
ones, such as an inline function's, the linker keeps any, and might keep theirs for everyone.
"""
import json
import os
import re
import subprocess
import sys

SKIPPED = 77
# SSE3 to SSE4.2 and the bit manipulation that came with AVX2; what begins with v, or names ymm or zmm, is AVX.
# Not tzcnt: the baseline has it as `rep bsf`, which older CPUs run as bsf, and GCC writes it only where both agree.
BEYOND = re.compile(r"^(v[a-z]\w*|add?sub[ps][sd]|h(add|sub)p[sd]|lddqu|mov[sd](hd|ld|d)up|ph(add|sub)\w+|pshufb|palignr"
                    r"|pabs[bwd]|psign[bwd]|pmulhrsw|pmaddubsw|pblend\w+|blend\w+|pm(in|ax)(sb|uw|sd|ud)|pmulld|pmuldq"
                    r"|pmov[sz]x\w+|pcmpeqq|pcmpgtq|packusdw|ptest|round[ps][sd]|dpp[sd]|insertps|extractps"
                    r"|p(ins|ext)r[bdq]|popcnt\w?|lzcnt|crc32\w?|andn|bextr|bl[sc]\w+|bzhi|mulx|pdep|pext"
                    r"|rorx|s[ah][rl]x)$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+(\S+)(.*)$")


def objects(build):
    """Of src/ without its tests: (compiled for the baseline, compiled for more)."""
    baseline, wider = [], []
    with open(os.path.join(build, "compile_commands.json")) as file:
        commands = json.load(file)
    for entry in commands:
        path = os.path.join(entry["directory"], entry["output"]) if "output" in entry else None
        path = path or os.path.join(entry["directory"], re.search(r"-o (\S+)", entry["command"]).group(1))
        in_sources = os.path.relpath(path, build).startswith("src" + os.sep)
        if in_sources and path.endswith(".o") and "_test.dir" + os.sep not in path and os.path.exists(path):
            (wider if re.search(r"\s-m(avx|fma|sse|bmi|arch)", entry["command"]) else baseline).append(path)
    return baseline, wider


def instructions_beyond(paths):
    """(object, function, instruction) of each that the baseline lacks."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--demangle", *paths], check=True,
                             capture_output=True, text=True).stdout
    found, path, function = [], "", ""
    for line in listing.splitlines():
        if ":     file format " in line:
            path = line.split(":")[0]
        elif line.endswith(">:"):
            function = line.split("<", 1)[1][:-2]
        elif match := INSTRUCTION.match(line):
            if BEYOND.match(match.group(1)) or "%ymm" in match.group(2) or "%zmm" in match.group(2):
                found.append((path, function, match.group(0).split("\t", 1)[-1].strip()))
    return found


def weak_symbols(paths):
    """(object, symbol) of each that the linker may take for another object's of the same name."""
    listing = subprocess.run(["nm", "--demangle", "--defined-only", "--print-file-name", *paths], check=True,
                             capture_output=True, text=True).stdout
    found = []
    for line in listing.splitlines():
        match = re.match(r"(.*):[0-9a-f]+ ([A-Za-z]) (.*)$", line)
        # The reference to the handler of exceptions is a pointer, not code.
        if match and match.group(2) in "WVu" and not match.group(3).startswith("DW.ref."):
            found.append((match.group(1), match.group(3)))
    return found


def main():
    build = os.path.abspath(sys.argv[1])
    baseline, wider = objects(build)
    if not baseline or not wider:
        print("nothing was built for x86")
        return SKIPPED
    unexpected = instructions_beyond(baseline)
    for path, function, instruction in unexpected[:20]:
        print(f"{os.path.relpath(path, build)}: {function}: {instruction}")
    weak = weak_symbols(wider)
    for path, symbol in weak[:20]:
        print(f"{os.path.relpath(path, build)}: {symbol} is weak: put it into an unnamed namespace")
    unseen = [path for path in wider if not instructions_beyond([path])]
    for path in unseen:
        print(f"{os.path.relpath(path, build)}: compiled for more than the baseline, and uses nothing of it")
    print(f"{len(baseline)} objects for every CPU with {len(unexpected)} instructions beyond the baseline, "
          f"{len(wider)} others with {len(weak)} weak symbols")
    return 1 if unexpected or weak or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
