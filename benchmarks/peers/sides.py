"""The sides of the comparison. Each is a context manager for one case: turn(passes) gives samples in ms, output() the
flat prediction, peak_mib() the most memory that its process held, `about` what else there is to say of it."""

import json
import os
import re
import subprocess

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 2**20
TRIAL_PASSES = 2  # timed, of each of PyTorch's layouts, to choose between them


class Failure(Exception):
    """Why a side cannot run a case, in one line."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def run_tacho(tacho, *arguments, environment=None):
    done = subprocess.run([tacho, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise Failure(f"tacho {arguments[0]}, status {done.returncode}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


class Tacho:
    """A process of its own for each turn."""

    title = "tacho"
    modes = ("infer", "train")

    def __init__(self, case, arguments):
        self.case, self.tacho, self.environment = case, arguments.tacho, None
        self.about, self.peaks_mib = {}, []

    def turn(self, passes):
        case = self.case
        image = "x".join(map(str, case["image"]))
        (record,) = json.loads(run_tacho(
            self.tacho, "bench", case["model"], "--mode", case["mode"], "--batch", str(case["batch"]),
            "--threads", str(case["threads"]), "--image", image, "--weights", case["weights"],
            "--warmup", "1", "--repeat", str(passes), "--format", "json", "--no-db",
            environment=self.environment))
        self.peaks_mib.append(record["peak_memory_mib"])
        return record["samples_ms"]

    def output(self):
        path = os.path.join(self.case["folder"], "tacho.npy")
        run_tacho(self.tacho, "infer", self.case["model"], "--weights", self.case["weights"],
                  "--threads", str(self.case["threads"]), "--input", self.case["input"], "--output", path,
                  environment=self.environment)
        return numpy.load(path).ravel()

    def peak_mib(self):
        return max(self.peaks_mib, default=None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class EarlierTacho(Tacho):
    """Another build of tacho, which remembers its kernels in a place of its own."""

    title = "tacho before"

    def __init__(self, case, arguments):
        super().__init__(case, arguments)
        self.tacho = arguments.before
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(case["folder"], "before"))


class Worker:
    """A process that holds one network and sleeps between its turns; torch_worker.py has the protocol."""

    def __init__(self, command, case):
        environment = dict(os.environ, OMP_NUM_THREADS=str(case["threads"]))
        self.case = case
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.about = self.ask(case)
        except Failure:
            self.close()
            raise

    def ask(self, question):
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failure(f"its process ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def turn(self, passes):
        return self.ask({"passes": passes})["samples_ms"]

    def output(self):
        path = os.path.join(self.case["folder"], "peer.f32")
        self.ask({"output": path})
        return numpy.fromfile(path, "<f4")

    def peak_mib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) * 1024 / MIB

    def close(self):
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Torch(Worker):
    """PyTorch in the faster of its two memory layouts, found by a trial in other processes."""

    title = "PyTorch"
    modes = ("infer", "train")
    layouts = ("contiguous", "channels_last")
    command = ["/usr/bin/python3", os.path.join(HERE, "torch_worker.py")]

    def __init__(self, case, arguments):
        layout = self.layouts[0] if arguments.check else min(self.layouts, key=lambda each: self.trial(case, each))
        super().__init__(self.command, dict(case, layout=layout))
        self.about["layout"] = layout

    def trial(self, case, layout):
        with Worker(self.command, dict(case, layout=layout)) as worker:
            return min(worker.turn(TRIAL_PASSES))


class OnnxRuntime(Worker):
    title = "ONNX Runtime"
    modes = ("infer",)
    command = ["node", "--expose-gc", os.path.join(HERE, "ort_worker.js")]

    def __init__(self, case, _):
        super().__init__(self.command, case)


SIDES = {"tacho": Tacho, "torch": Torch, "ort": OnnxRuntime, "before": EarlierTacho}
