#!/usr/bin/python3
"""Compares tacho with PyTorch and ONNX Runtime: same networks, weights, inputs, batch, threads and cores, in
alternating short turns. Inference runs on all, training on tacho and PyTorch."""

import argparse
import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy

from sides import SIDES, Failure, run_tacho
from table import table

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_MODELS = ["squeezenet1_1", "resnet18", "resnet50", "densenet121", "vgg16"]
BUSY_LOAD = 0.5  # load average beyond which a comparison on few cores says nothing
TOLERANCE = 1e-3  # of the largest output
IMAGES = {"inception_v3": "299x299", "unet3d": "40x432x432", "unet3d_lite": "32x128x128"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=DEFAULT_MODELS, metavar="MODEL", help="names, or all")
    parser.add_argument("--mode", default="infer,train", help="infer, train or both (default)")
    parser.add_argument("--peers", default="torch,ort", help="torch (PyTorch), ort (ONNX Runtime) or both (default)")
    parser.add_argument("--batch", default="16", help="a comma list")
    parser.add_argument("--rounds", type=int, default=5, help="a turn of each side a round; who begins changes")
    parser.add_argument("--passes", type=int, default=3, help="timed passes a turn, behind one that is not counted")
    parser.add_argument("--check", action="store_true", help="only whether the outputs agree: no rounds, inference")
    parser.add_argument("--threads", type=int, help="default: every core this process may use")
    parser.add_argument("--image", help="HxW or DxHxW; default: each network's own")
    parser.add_argument("--tacho", default=os.path.join(HERE, "..", "..", "build", "release", "tacho"))
    parser.add_argument("--before", metavar="PATH", help="another build of tacho, the only peer")
    parser.add_argument("--json", metavar="FILE", help="also write all samples there")
    arguments = parser.parse_args()
    arguments.modes = ["infer"] if arguments.check else arguments.mode.split(",")
    arguments.peers = ["before"] if arguments.before else arguments.peers.split(",")
    if not set(arguments.modes) <= {"infer", "train"}:
        parser.error(f"--mode {arguments.mode}: infer, train or infer,train")
    if not set(arguments.peers) <= {"torch", "ort"} and not arguments.before:
        parser.error(f"--peers {','.join(arguments.peers)}: torch, ort or torch,ort")
    if not all(batch.isdigit() and int(batch) > 0 for batch in arguments.batch.split(",")):
        parser.error(f"--batch {arguments.batch}: whole numbers from 1, such as 1,16")
    if min(arguments.rounds, arguments.passes) < 1:
        parser.error("--rounds and --passes must be at least 1")
    for option, path in (("--tacho", arguments.tacho), ("--before", arguments.before)):
        if path and not os.access(path, os.X_OK):
            parser.error(f"{path} is not there: build tacho with ./run, or name it with {option}")
    return arguments


def pin(threads):
    """Keeps this process, and so every side, on as many cores as there are threads."""
    cores = sorted(os.sched_getaffinity(0))
    threads = threads or len(cores)
    os.sched_setaffinity(0, cores[:threads])
    return threads, cores[:threads]


def cases(arguments, threads):
    models = arguments.models
    if models == ["all"]:
        zoo = run_tacho(arguments.tacho, "models", "--format", "json")
        models = [row["model"] for row in json.loads(zoo)]
    for model in models:
        for batch in map(int, arguments.batch.split(",")):
            for mode in arguments.modes:
                image = arguments.image or IMAGES.get(model, "224x224")
                channels = 1 if model.startswith("unet3d") else 3
                yield dict(model=model, mode=mode, batch=batch, threads=threads, channels=channels,
                           image=[int(extent) for extent in image.split("x")])


def make_files(tacho, case, folder):
    """The weights, images and ONNX file that all sides of a case share."""
    files = {kind: os.path.join(folder, name) for kind, name in
             dict(weights="w.safetensors", input="x.npy", onnx="network.onnx").items()}
    shape = [case["batch"], case["channels"]] + case["image"]
    numpy.save(files["input"], numpy.random.default_rng(0).standard_normal(shape, dtype=numpy.float32))
    run_tacho(tacho, "weights", "init", case["model"], "-o", files["weights"])
    if case["mode"] == "infer":
        image = "x".join(map(str, case["image"]))
        run_tacho(tacho, "export", case["model"], "--weights", files["weights"], "--batch", str(case["batch"]),
                  "--image", image, "-o", files["onnx"])
    return dict(case, folder=folder, **files)


def attempt(result, name, action):
    """What `action` gives; a side that fails is out of the case, with its reason."""
    if name in result["failed"]:
        return None
    try:
        return action()
    except (Failure, OSError, ValueError, KeyError) as error:
        result["failed"][name] = str(error)
        print(f"  {name} failed: {error}", file=sys.stderr)
        return None


def rounds(arguments, result, running):
    """One turn of each side a round, never two at once; who begins changes."""
    for number in range(arguments.rounds):
        print(f"  round {number + 1} of {arguments.rounds}", file=sys.stderr)
        first = number % len(running)
        for name in list(running)[first:] + list(running)[:first]:
            samples = attempt(result, name, lambda: running[name].turn(arguments.passes))
            if samples:
                result["rounds_ms"][name].append(samples)


def read_memory(result, running):
    for name, side in running.items():
        memory = attempt(result, name, side.peak_mib)
        if memory:
            result["memory_mib"][name] = memory


def difference(output, expected):
    """The largest difference from tacho's output over its largest value."""
    if output.size != expected.size:
        raise Failure(f"{output.size} outputs, tacho has {expected.size}")
    largest = numpy.abs(expected).max()
    if not numpy.isfinite(expected).all() or largest == 0:
        raise Failure("tacho's output is zero or not finite, so nothing can be said")
    found = float(numpy.abs(output - expected).max() / largest)
    if not found <= TOLERANCE:
        raise Failure(f"outputs differ from tacho's by {found:.1e} of the largest")
    return found


def check_outputs(result, running):
    expected = attempt(result, "tacho", running["tacho"].output) if "tacho" in running else None
    if expected is None:
        return
    for name, side in running.items():
        if name != "tacho":
            found = attempt(result, name, lambda: difference(side.output(), expected))
            if found is not None:
                result["differences"][name] = found


def measure(arguments, case, folder):
    print(f"{case['model']} {case['mode']} batch {case['batch']}", file=sys.stderr)
    names = ["tacho"] + [name for name in arguments.peers if case["mode"] in SIDES[name].modes]
    result = dict(case, failed={}, about={}, memory_mib={}, differences={}, rounds_ms={name: [] for name in names})
    with contextlib.ExitStack() as stack:
        files = attempt(result, "tacho", lambda: make_files(arguments.tacho, case, folder))
        if files is None:
            return result
        running = {}
        for name in names:
            side = attempt(result, name, lambda: stack.enter_context(SIDES[name](files, arguments)))
            if side:
                running[name] = side
                result["about"][name] = side.about
        if not arguments.check:
            rounds(arguments, result, running)
            read_memory(result, running)
        if case["mode"] == "infer":
            check_outputs(result, running)
    return summarize(result)


def ratios_by_round(result, name):
    pairs = zip(result["rounds_ms"][name], result["rounds_ms"]["tacho"])
    return [statistics.median(peer) / statistics.median(own) for peer, own in pairs]


def summarize(result):
    good = [name for name, samples in result["rounds_ms"].items() if samples and name not in result["failed"]]
    result["median_ms"] = {name: statistics.median(sum(result["rounds_ms"][name], [])) for name in good}
    if "tacho" in good:
        result["ratio"] = {name: result["median_ms"][name] / result["median_ms"]["tacho"]
                           for name in good if name != "tacho"}
        result["round_ratios"] = {name: ratios_by_round(result, name) for name in result["ratio"]}
    return result


def cpu_name():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions(results, tacho):
    found = {"tacho": run_tacho(tacho, "--version").strip()}
    for result in results:
        found.update({name: about["version"] for name, about in result["about"].items() if "version" in about})
    return found


def main():
    arguments = parse_arguments()
    threads, cores = pin(arguments.threads)
    load = os.getloadavg()[0]
    results = []
    for case in cases(arguments, threads):
        with tempfile.TemporaryDirectory(prefix="tacho-peers-") as folder:
            results.append(measure(arguments, case, folder))

    machine = dict(cpu=cpu_name(), cores=cores, threads=threads, load_before=load, os=platform.platform(),
                   versions=versions(results, arguments.tacho))
    print(table(results, arguments.peers))
    named = ", ".join(f"{SIDES[name].title} {version}" if name != "tacho" else version
                      for name, version in machine["versions"].items())
    turns = "outputs only" if arguments.check else f"{arguments.rounds} rounds of {arguments.passes} passes a side"
    print(f"\n{machine['cpu']}, {threads} threads on cores {cores}, load before {load:.2f}; {named}; {turns}.")
    if load > BUSY_LOAD and not arguments.check:
        print(f"\n**Other programs were running (load {load:.2f} before the start): do not quote these figures.**")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(dict(machine=machine, results=results), file, indent=1)
    return 1 if any(result["failed"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
