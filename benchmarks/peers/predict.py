#!/usr/bin/python3
"""Compares `tacho predict` with PyTorch as a sliding window: the same volume, weights, exact halo, threads, type and
compression of the output, in alternating turns. A turn is a process of its own that predicts the whole volume; its time
is that from the first voxel read to the last one written, without loading and compiling."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy
import zarr

from peers import BUSY_LOAD, cpu_name, load_before, pin
from sides import Failure, last_line, run_tacho
from table import with_rounds

HERE = os.path.dirname(os.path.abspath(__file__))
LAYOUTS = ("contiguous", "channels_last")
BLOCKS = {"unet3d_lite": ("32,128,128", "64,192,192", "64,256,256"), "unet3d": ("32,108,108", "64,216,216", "64,324,324")}
TOLERANCE = {"float32": 1e-4, "uint8": 1}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="unet3d_lite", choices=sorted(BLOCKS))
    parser.add_argument("--shape", default="64,512,512", help="of the made-up volume, z,y,x")
    parser.add_argument("--input", metavar="F.h5", help="a volume of yours instead: its /volumes/raw of uint8")
    parser.add_argument("--dtype", default="uint8", choices=sorted(TOLERANCE))
    parser.add_argument("--rounds", type=int, default=5, help="a turn of each side a round; who begins changes")
    parser.add_argument("--threads", type=int, help="default: every core this process may use")
    parser.add_argument("--block", help="of tacho, z,y,x; default: chosen by tacho")
    parser.add_argument("--torch-blocks", metavar="Z,Y,X:...", help="of which PyTorch takes its fastest, multiples of the network's strides")
    parser.add_argument("--tacho", default=os.path.join(HERE, "..", "..", "build", "release", "tacho"))
    parser.add_argument("--json", metavar="FILE", help="also write the times of all rounds there")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    if not os.access(arguments.tacho, os.X_OK):
        parser.error(f"{arguments.tacho} is not there: build tacho with ./run, or name it with --tacho")
    return arguments


class Tacho:
    title = "tacho"

    def __init__(self, arguments, case):
        self.tacho, self.case, self.block = arguments.tacho, case, arguments.block

    def turn(self, output):
        # What was chosen and measured in the first turn holds for all.
        block = ["--block", self.block] if self.block else []
        (record,) = json.loads(run_tacho(
            self.tacho, "predict", self.case["model"], "--weights", self.case["weights"], "--input", self.case["input"],
            "--output", output, "--dtype", self.case["dtype"], "--threads", str(self.case["threads"]), "--format", "json",
            "--no-db", *block))
        self.block = record["block"].replace("x", ",")
        return record["seconds"]

    def about(self):
        return f"block {self.block}"


class Torch:
    """The fastest of its layouts and blocks, by a trial of one block of each."""

    title = "PyTorch"

    def __init__(self, arguments, case):
        self.case = case
        blocks = (arguments.torch_blocks.split(":") if arguments.torch_blocks else BLOCKS[case["model"]])
        choices = [dict(block=[int(extent) for extent in block.split(",")], layout=layout) for block in blocks for layout in LAYOUTS]
        self.choice = max(choices, key=self.trial)

    def ask(self, **question):
        done = subprocess.run(["/usr/bin/python3", os.path.join(HERE, "torch_window.py")], capture_output=True, text=True,
                              input=json.dumps(dict(self.case, **question)))
        if done.returncode != 0:
            raise Failure(f"PyTorch: {last_line(done.stderr)}")
        return json.loads(done.stdout)

    def trial(self, choice):
        try:
            found = self.ask(trial=True, **choice)["voxels_per_s"]
        except Failure as failure:
            print(f"  {choice}: {failure}", file=sys.stderr)
            return 0
        print(f"  PyTorch, block {choice['block']}, {choice['layout']}: {found / 1e6:.3f} Mvox/s", file=sys.stderr)
        return found

    def turn(self, output):
        answer = self.ask(output=output, **self.choice)
        self.version = answer["version"]
        return answer["seconds"]

    def about(self):
        return f"{self.version}, block {','.join(map(str, self.choice['block']))}, {self.choice['layout']}"


def largest_difference(a, b):
    """Of two outputs, section by section."""
    a, b = (zarr.open_group(path, mode="r")["0"] for path in (a, b))
    if a.shape != b.shape:
        raise Failure(f"the outputs have shapes {a.shape} and {b.shape}")
    return max(float(numpy.abs(a[:, z].astype("float32") - b[:, z].astype("float32")).max()) for z in range(a.shape[1]))


def make_case(arguments, threads, folder):
    case = dict(model=arguments.model, dtype=arguments.dtype, threads=threads, weights=f"{folder}/w.safetensors",
                input=os.path.abspath(arguments.input) if arguments.input else f"{folder}/volume.h5")
    run_tacho(arguments.tacho, "weights", "init", arguments.model, "-o", case["weights"])
    if not arguments.input:
        run_tacho(arguments.tacho, "data", "make", "cremi", case["input"], "--shape", arguments.shape)
    return case


def measure(arguments, sides, folder):
    """Seconds of each side by round, and by how much the outputs of the first round differ."""
    seconds, difference = {side.title: [] for side in sides}, None
    for number in range(arguments.rounds):
        print(f"  round {number + 1} of {arguments.rounds}", file=sys.stderr)
        outputs = {side.title: f"{folder}/{side.title}.{number}.zarr" for side in sides}
        for side in sides if number % 2 == 0 else sides[::-1]:
            seconds[side.title].append(side.turn(outputs[side.title]))
        if difference is None:
            difference = largest_difference(*outputs.values())
            if not difference <= TOLERANCE[arguments.dtype]:
                raise Failure(f"the outputs differ by {difference:g}: nothing to compare")
        for output in outputs.values():
            subprocess.run(["rm", "-r", output], check=True)
    return seconds, difference


def voxels_of(path):
    import h5py
    with h5py.File(path, "r") as file:
        return file["volumes/raw"].size, "x".join(map(str, file["volumes/raw"].shape))


def main():
    arguments = parse_arguments()
    threads, cores = pin(arguments.threads, 1)
    load = load_before()
    with tempfile.TemporaryDirectory(prefix="tacho-peers-") as folder:
        case = make_case(arguments, threads, folder)
        voxels, shape = voxels_of(case["input"])
        sides = [Tacho(arguments, case), Torch(arguments, case)]
        seconds, difference = measure(arguments, sides, folder)
    own, peer = seconds["tacho"], seconds["PyTorch"]
    rates = [voxels / statistics.median(times) / 1e6 for times in (own, peer)]
    ratio = with_rounds(statistics.median(peer) / statistics.median(own), [b / a for a, b in zip(own, peer)])
    print("| model | volume | dtype | tacho Mvox/s | PyTorch Mvox/s | tacho / PyTorch (rounds) | largest difference |")
    print("|---|---|---|---:|---:|---:|---:|")
    print(f"| {case['model']} | {shape} | {case['dtype']} | {rates[0]:.3f} | {rates[1]:.3f} | {ratio} | {difference:.1e} |")
    print(f"\n{cpu_name()}, {threads} threads on cores {cores}, {platform.platform()}, load before {load:.2f}; {arguments.rounds} rounds; "
          + "; ".join(f"{side.title}: {side.about()}" for side in sides) + ".")
    if load > BUSY_LOAD:
        print(f"\n**Other programs were running (load {load:.2f} before the start): do not quote these figures.**")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(dict(case=case, voxels=voxels, seconds=seconds, difference=difference), file, indent=1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"peers: {failure}")
