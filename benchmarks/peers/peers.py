#!/usr/bin/python3
"""Compares tacho with PyTorch on the same networks, batch, threads and cores, in alternating short turns."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_MODELS = ["squeezenet1_1", "resnet18", "resnet50", "densenet121", "vgg16"]
BUSY_LOAD = 0.5  # load average beyond which a comparison on few cores says nothing
IMAGES = {"inception_v3": "299x299", "unet3d": "40x432x432", "unet3d_lite": "32x128x128"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=DEFAULT_MODELS, metavar="MODEL")
    parser.add_argument("--mode", default="infer,train", help="infer, train or both (default)")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5, help="a turn of each side a round; the order swaps")
    parser.add_argument("--passes", type=int, default=3, help="timed passes a turn, behind one that is not counted")
    parser.add_argument("--threads", type=int, help="default: every core this process may use")
    parser.add_argument("--image", help="HxW or DxHxW; default: each network's own")
    parser.add_argument("--tacho", default=os.path.join(HERE, "..", "..", "build", "release", "tacho"))
    parser.add_argument("--json", metavar="FILE", help="also write all samples there")
    arguments = parser.parse_args()
    arguments.modes = arguments.mode.split(",")
    if not set(arguments.modes) <= {"infer", "train"}:
        parser.error(f"--mode {arguments.mode}: infer, train or infer,train")
    if min(arguments.batch, arguments.rounds, arguments.passes) < 1:
        parser.error("--batch, --rounds and --passes must be at least 1")
    if not os.access(arguments.tacho, os.X_OK):
        parser.error(f"{arguments.tacho} is not there: build tacho with ./run, or name it with --tacho")
    return arguments


def pin(threads):
    """Keeps this process, and so both peers, on as many cores as there are threads."""
    cores = sorted(os.sched_getaffinity(0))
    threads = threads or len(cores)
    os.sched_setaffinity(0, cores[:threads])
    return threads, cores[:threads]


class Torch:
    """A worker process that is idle between its turns."""

    def __init__(self, case):
        environment = dict(os.environ, OMP_NUM_THREADS=str(case["threads"]))
        command = ["/usr/bin/python3", os.path.join(HERE, "torch_worker.py")]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        image = [int(extent) for extent in case["image"].split("x")]
        self.about = self.ask(dict(case, image=image))

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the PyTorch worker ended with status {self.process.wait()}")
        return json.loads(line)

    def turn(self, passes):
        return self.ask({"passes": passes})["samples_ms"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def tacho_turn(tacho, case, passes):
    command = [tacho, "bench", case["model"], "--mode", case["mode"], "--batch", str(case["batch"])]
    command += ["--threads", str(case["threads"]), "--image", case["image"]]
    command += ["--warmup", "1", "--repeat", str(passes), "--format", "json", "--no-db"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"tacho ended with status {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    (record,) = json.loads(done.stdout)
    return record["samples_ms"]


def measure(arguments, case):
    """Rounds of one turn each, never both at once; who begins alternates."""
    result = {**case, "torch_rounds_ms": [], "tacho_rounds_ms": []}
    with Torch(case) as torch:
        result.update(torch.about)
        turns = [
            lambda: result["torch_rounds_ms"].append(torch.turn(arguments.passes)),
            lambda: result["tacho_rounds_ms"].append(tacho_turn(arguments.tacho, case, arguments.passes)),
        ]
        for number in range(arguments.rounds):
            print(f"{case['model']} {case['mode']}: round {number + 1} of {arguments.rounds}", file=sys.stderr)
            for turn in turns if number % 2 == 0 else reversed(turns):
                turn()
    return summarize(result)


def summarize(result):
    pairs = list(zip(result["torch_rounds_ms"], result["tacho_rounds_ms"]))
    for side in ("torch", "tacho"):
        result[f"{side}_ms"] = statistics.median(sum(result[f"{side}_rounds_ms"], []))
    result["ratio"] = result["torch_ms"] / result["tacho_ms"]
    result["round_ratios"] = [statistics.median(torch) / statistics.median(tacho) for torch, tacho in pairs]
    return result


def cpu_name():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


def tacho_version(tacho):
    return subprocess.run([tacho, "--version"], capture_output=True, text=True).stdout.strip()


def row(result):
    return (
        f"| {result['model']} | {result['mode']} | {result['batch']} | {result['layout']} "
        f"| {result['torch_ms']:.1f} | {result['tacho_ms']:.1f} | {result['ratio']:.2f} "
        f"| {min(result['round_ratios']):.2f} - {max(result['round_ratios']):.2f} |"
    )


def table(results):
    lines = [
        "| model | mode | batch | PyTorch layout | PyTorch ms | tacho ms | ratio | rounds |",
        "|---|---|---:|---|---:|---:|---:|---:|",
    ]
    return "\n".join(lines + [row(result) for result in results])


def main():
    arguments = parse_arguments()
    threads, cores = pin(arguments.threads)
    load = os.getloadavg()[0]
    results, failures = [], []
    for model in arguments.models:
        for mode in arguments.modes:
            image = arguments.image or IMAGES.get(model, "224x224")
            case = dict(model=model, mode=mode, batch=arguments.batch, threads=threads, image=image)
            try:
                results.append(measure(arguments, case))
                print(row(results[-1]), file=sys.stderr)
            except (RuntimeError, ValueError, KeyError, OSError) as error:
                failures.append(f"{model} {mode}: {error}")
                print(failures[-1], file=sys.stderr)

    machine = dict(cpu=cpu_name(), cores=cores, threads=threads, load_before=load, os=platform.platform())
    print(table(results))
    if results:
        print(f"\nGeometric mean of the ratios (PyTorch / tacho; above 1 tacho is faster): "
              f"{statistics.geometric_mean(result['ratio'] for result in results):.2f}")
        machine.update(torch=results[0]["torch"], torchvision=results[0]["torchvision"])
        machine.update(tacho=tacho_version(arguments.tacho))
        print(f"\n{machine['cpu']}, {threads} threads on cores {cores}, load before {load:.2f}; "
              f"PyTorch {machine['torch']}, torchvision {machine['torchvision']}, {machine['tacho']}; "
              f"{arguments.rounds} rounds of {arguments.passes} passes a side.")
    if load > BUSY_LOAD:
        print(f"\n**Other programs were running (load {load:.2f} before the start): do not quote these figures.**")
    for failure in failures:
        print(f"\nFailed: {failure}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(dict(machine=machine, results=results, failures=failures), file, indent=1)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
