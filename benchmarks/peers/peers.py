#!/usr/bin/python3
"""Compares tacho with PyTorch and ONNX Runtime: same networks, weights, inputs, batch, threads and cores, in
alternating short turns. Inference runs on all, training on tacho and PyTorch, also on several devices."""

import argparse
import contextlib
import json
import os
import platform
import signal
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy

from sides import SIDES, Failure, Torch, other_torch, run_tacho
from table import table

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_MODELS = ["squeezenet1_1", "resnet18", "resnet50", "densenet121", "vgg16"]
BUSY_LOAD = 0.5  # load average beyond which a comparison on few cores says nothing
TOLERANCE = 1e-3  # of the largest output
INTERRUPTED = 130  # exit status, as a shell has it for Ctrl-C
IMAGES = {"inception_v3": "299x299", "unet3d": "40x432x432", "unet3d_lite": "32x128x128"}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"peers: {message}\n")


def parse_arguments():
    parser = Parser(description=__doc__)
    parser.add_argument("models", nargs="*", default=DEFAULT_MODELS, metavar="MODEL", help="names, or all")
    parser.add_argument("--mode", default="infer,train", help="infer, train or both (default)")
    parser.add_argument("--peers", default="torch,ort", help="torch (PyTorch), ort (ONNX Runtime) or both (default)")
    parser.add_argument("--torch-python", metavar="PATH", help="a Python with another PyTorch, one more peer: torch2")
    parser.add_argument("--batch", default="16", help="per device, a comma list")
    parser.add_argument("--rounds", type=int, default=5, help="a turn of each side a round; who begins changes")
    parser.add_argument("--warmup", type=int, default=2, help="passes a turn that are not counted, before the timed ones")
    parser.add_argument("--passes", type=int, default=3, help="timed passes a turn")
    parser.add_argument("--check", action="store_true", help="only whether the outputs agree: no rounds, inference")
    parser.add_argument("--devices", default="1", help="a comma list, of training: all of them take turns together")
    parser.add_argument("--threads", type=int, help="per device; default: every core this process may use")
    parser.add_argument("--image", help="HxW or DxHxW; default: each network's own")
    parser.add_argument("--tacho", default=os.path.join(HERE, "..", "..", "build", "release", "tacho"))
    parser.add_argument("--engine", default="native", help="of tacho, such as torch: what it costs beside PyTorch itself")
    parser.add_argument("--before", metavar="PATH", help="another build of tacho, the only peer")
    parser.add_argument("--json", metavar="FILE", help="also write all samples there")
    arguments = parser.parse_args()
    arguments.modes = ["infer"] if arguments.check else arguments.mode.split(",")
    arguments.peers = ["before"] if arguments.before else arguments.peers.split(",")
    if not set(arguments.modes) <= {"infer", "train"}:
        parser.error(f"--mode {arguments.mode}: infer, train or infer,train")
    if not set(arguments.peers) <= {"torch", "ort", "torch2"} and not arguments.before:
        parser.error(f"--peers {','.join(arguments.peers)}: of torch, ort and torch2, such as torch,ort")
    add_other_torch(parser, arguments)
    for option, text in (("--batch", arguments.batch), ("--devices", arguments.devices)):
        if not all(number.isdigit() and int(number) > 0 for number in text.split(",")):
            parser.error(f"{option} {text}: whole numbers from 1, such as 1,2")
    arguments.devices = [int(devices) for devices in arguments.devices.split(",")]
    if arguments.devices != [1]:
        if arguments.modes != ["train"]:
            parser.error("--devices: several devices are compared in training; add --mode train")
        arguments.peers = [name for name in arguments.peers if "train" in SIDES[name].modes]
    if min(arguments.rounds, arguments.warmup, arguments.passes) < 1:
        parser.error("--rounds, --warmup and --passes must be at least 1")
    for option, path in (("--tacho", arguments.tacho), ("--before", arguments.before)):
        if path and not os.access(path, os.X_OK):
            parser.error(f"{path} is not there: build tacho with ./run, or name it with {option}")
    return arguments


def add_other_torch(parser, arguments):
    if not arguments.torch_python:
        if "torch2" in arguments.peers:
            parser.error("--peers torch2: name its Python with --torch-python")
        return
    if arguments.before:
        parser.error("--torch-python: --before is the only peer")
    try:
        SIDES["torch2"] = other_torch(arguments.torch_python)
    except Failure as failure:
        parser.error(f"--torch-python: {failure}")
    if "torch2" not in arguments.peers:
        arguments.peers.insert(arguments.peers.index("torch") + 1 if "torch" in arguments.peers else 0, "torch2")


def pin(threads, devices):
    """Keeps this process, and so every side, on as many cores as there are threads on all devices."""
    cores = sorted(os.sched_getaffinity(0))
    threads = threads or max(1, len(cores) // devices)
    if devices > 1 and threads * devices > len(cores):
        sys.exit(f"peers: {devices} devices of {threads} threads need {threads * devices} cores, {len(cores)} are usable")
    os.sched_setaffinity(0, cores[:threads * devices])
    return threads, cores[:threads * devices]


def cases(arguments, threads, cores):
    """Lists of cases that take turns together."""
    models = arguments.models
    if models == ["all"]:
        zoo = run_tacho(arguments.tacho, "models", "--format", "json")
        models = [row["model"] for row in json.loads(zoo)]
    for model in models:
        for batch in map(int, arguments.batch.split(",")):
            for mode in arguments.modes:
                image = arguments.image or IMAGES.get(model, "224x224")
                channels = 1 if model.startswith("unet3d") else 3
                yield [dict(model=model, mode=mode, batch=batch, devices=devices, threads=threads,
                            cores=cores[:devices * threads], channels=channels,
                            image=[int(extent) for extent in image.split("x")]) for devices in arguments.devices]


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
    return dict(folder=folder, **files)


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


def rounds(arguments, turns):
    """One turn of each side a round, never two at once; who begins changes."""
    for number in range(arguments.rounds if turns else 0):
        print(f"  round {number + 1} of {arguments.rounds}", file=sys.stderr)
        first = number % len(turns)
        for result, name, side in turns[first:] + turns[:first]:
            samples = attempt(result, name, lambda: side.turn(arguments.warmup, arguments.passes))
            if samples:
                result["rounds_ms"][name].append(samples)


def read_memory(turns):
    for result, name, side in turns:
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


def check_outputs(result, turns):
    running = {name: side for of, name, side in turns if of is result}
    expected = attempt(result, "tacho", running["tacho"].output) if "tacho" in running else None
    if expected is None:
        return
    for name, side in running.items():
        if name != "tacho":
            found = attempt(result, name, lambda: difference(side.output(), expected))
            if found is not None:
                result["differences"][name] = found


def empty_result(arguments, case):
    print(f"{case['model']} {case['mode']} batch {case['batch']} devices {case['devices']}", file=sys.stderr)
    names = ["tacho"] + [name for name in arguments.peers if case["mode"] in SIDES[name].modes]
    return dict(case, failed={}, about={}, memory_mib={}, differences={}, rounds_ms={name: [] for name in names})


def start_sides(arguments, result, case, variants, stack):
    """The sides of a case that can run, each with the result it belongs to and its name."""
    turns = []
    for name in result["rounds_ms"]:
        own = dict(case, **variants.get(name, {}))
        side = attempt(result, name, lambda: stack.enter_context(SIDES[name](own, arguments)))
        if side:
            turns.append((result, name, side))
            result["about"][name] = side.about
    return turns


def choose_variant(arguments, side, case):
    """What suits one device suits several."""
    return side.variants[0] if arguments.check else side.fastest(case)


def choose_variants(arguments, results, case):
    """Of each PyTorch; tacho's torch engine takes the layout of Debian's."""
    chosen = {}
    for name in arguments.peers:
        if not issubclass(SIDES[name], Torch):
            continue
        variant = attempt(results[0], name, lambda: choose_variant(arguments, SIDES[name], case))
        if variant:
            chosen[name] = variant
        else:
            for result in results[1:]:
                result["failed"][name] = results[0]["failed"][name]
    chosen["tacho"] = {"layout": chosen["torch"]["layout"]} if "torch" in chosen else {}
    return chosen


def measure(arguments, together, folder):
    """The results of cases that take turns together; they differ only in their devices."""
    results = [empty_result(arguments, case) for case in together]
    with contextlib.ExitStack() as stack:
        files = attempt(results[0], "tacho", lambda: make_files(arguments.tacho, together[0], folder))
        if files is None:
            return results
        variants = choose_variants(arguments, results, dict(together[0], **files))
        turns = []
        for result, case in zip(results, together):
            turns += start_sides(arguments, result, dict(case, layout=None, **files), variants, stack)
        if not arguments.check:
            rounds(arguments, turns)
            read_memory(turns)
        for result in results:
            if result["mode"] == "infer":
                check_outputs(result, turns)
    for result in results:
        summarize(result)
    add_speedups(results)
    return results


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


def add_speedups(results):
    """How many times the throughput of one device, over all samples and round by round."""
    one = next((result for result in results if result["devices"] == 1), None)
    for result in results if one else []:
        both = [name for name in result["median_ms"] if name in one["median_ms"]]
        result["speedup"] = {name: result["devices"] * one["median_ms"][name] / result["median_ms"][name] for name in both}
        result["round_speedups"] = {
            name: [result["devices"] * statistics.median(alone) / statistics.median(shared)
                   for alone, shared in zip(one["rounds_ms"][name], result["rounds_ms"][name])] for name in both}


def cpu_name():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def load_before():
    """The load average before the script that runs this installed and built anything."""
    return float(os.environ.get("TACHO_PEERS_LOAD", os.getloadavg()[0]))


def versions(results, tacho):
    found = {"tacho": run_tacho(tacho, "--version").strip()}
    for result in results:
        found.update({name: about["version"] for name, about in result["about"].items() if "version" in about})
    return found


def report(arguments, machine, results):
    print(table(results, arguments.peers))
    named = ", ".join(f"{SIDES[name].product} {version}" if name != "tacho" else version
                      for name, version in machine["versions"].items())
    turns = "outputs only" if arguments.check else f"{arguments.rounds} rounds of {arguments.passes} passes a side"
    per_device = " a device" if max(arguments.devices) > 1 else ""
    load = machine["load_before"]
    print(f"\n{machine['cpu']}, {machine['threads']} threads{per_device} on cores {machine['cores']}, "
          f"load before {load:.2f}; {named}; {turns}.")
    if load > BUSY_LOAD and not arguments.check:
        print(f"\n**Other programs were running (load {load:.2f} before the start): do not quote these figures.**")


def keep(path, machine, results):
    """Beside, then renamed: what was there stays whole."""
    with open(path + ".part", "w") as file:
        json.dump(dict(machine=machine, results=results), file, indent=1)
    os.replace(path + ".part", path)


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, interrupt)
    arguments = parse_arguments()
    threads, cores = pin(arguments.threads, max(arguments.devices))
    machine = dict(cpu=cpu_name(), cores=cores, threads=threads, load_before=load_before(), os=platform.platform())
    results = []
    interrupted = False
    try:
        for together in cases(arguments, threads, cores):
            with tempfile.TemporaryDirectory(prefix="tacho-peers-") as folder:
                results += measure(arguments, together, folder)
            machine["versions"] = versions(results, arguments.tacho)
            if arguments.json:
                keep(arguments.json, machine, results)
    except KeyboardInterrupt:
        interrupted = True
    if results:
        report(arguments, machine, results)
    if interrupted:
        print("\n**Interrupted: networks that were not finished are missing.**")
        return INTERRUPTED
    return 1 if any(result["failed"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
