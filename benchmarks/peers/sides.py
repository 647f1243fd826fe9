"""The sides of the comparison. Each is a context manager for one case: turn(warmup, passes) gives samples in ms, output() the
flat prediction, peak_mib() the most memory that its process held, `about` what else there is to say of it."""

import json
import os
import re
import select
import statistics
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TORCH_WORKER = os.path.join(HERE, "torch_worker.py")
LAYOUTS = ("contiguous", "channels_last")
MIB = 2**20
TRIAL = dict(warmup=1, passes=2)  #, of each of PyTorch's variants, to choose between them
CLOSING_SECONDS = 20  # a rank whose peer is lost may never notice


class Failure(Exception):
    """Why a side cannot run a case, in one line."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def pinned_to(cores):
    """Keeps a process that is about to start on these cores."""
    return lambda: os.sched_setaffinity(0, cores)


def run_tacho(tacho, *arguments, environment=None, cores=None):
    done = subprocess.run([tacho, *arguments], capture_output=True, text=True, env=environment,
                          preexec_fn=pinned_to(cores) if cores else None)
    if done.returncode != 0:
        raise Failure(f"tacho {arguments[0]}, status {done.returncode}: {last_line(done.stderr or done.stdout)}")
    return done.stdout


class Tacho:
    """A process of its own for each turn."""

    title = "tacho"
    modes = ("infer", "train")

    def __init__(self, case, arguments):
        self.case, self.tacho, self.engine, self.environment = case, arguments.tacho, arguments.engine, None
        self.peaks_mib = []
        self.about = {"layout": case["layout"]} if self.engine == "torch" and case["layout"] else {}

    def turn(self, warmup, passes):
        case = self.case
        image = "x".join(map(str, case["image"]))
        extra = ["--devices", str(case["devices"])] if case["devices"] > 1 else []
        if "layout" in self.about:
            extra += ["--kernel", self.about["layout"]]
        (record,) = json.loads(run_tacho(
            self.tacho, "bench", case["model"], "--engine", self.engine, "--mode", case["mode"], "--batch", str(case["batch"]),
            "--threads", str(case["threads"]), "--image", image, "--weights", case["weights"],
            "--warmup", str(warmup), "--repeat", str(passes), "--format", "json", "--no-db", *extra,
            environment=self.environment, cores=case["cores"]))
        if "samples_ms" not in record:
            raise Failure(f"{record['verdict']}: {record.get('reason', '')}")
        self.peaks_mib.append(record["peak_memory_mib"])
        return record["samples_ms"]

    def output(self):
        path = os.path.join(self.case["folder"], "tacho.npy")
        run_tacho(self.tacho, "infer", self.case["model"], "--engine", self.engine, "--weights", self.case["weights"],
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
        environment = dict(os.environ, OMP_NUM_THREADS=str(case["threads"]), GLOO_SOCKET_IFNAME="lo",
                           TORCHINDUCTOR_CACHE_DIR=os.path.join(case["folder"], "compiled"))
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=pinned_to(case["cores"]))
        self.tell(case)

    def tell(self, question):
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # then it has nothing to say either

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"its process ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def peak_mib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) * 1024 / MIB

    def close(self):
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        try:
            self.process.wait(CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Workers:
    """One worker a device; all of them take each turn together."""

    def __init__(self, command, cases):
        self.folder = cases[0]["folder"]
        self.workers = [Worker(command, case) for case in cases]
        try:
            self.about = self.hear_all()[0]
        except Failure:
            self.close()
            raise

    def hear_all(self):
        """Whoever answers first is heard first: where one fails, the others may wait for it for ever."""
        answers, silent = {}, {worker.process.stdout: worker for worker in self.workers}
        while silent:
            for pipe in select.select(list(silent), [], [])[0]:
                answers[pipe] = silent.pop(pipe).hear()
        return [answers[worker.process.stdout] for worker in self.workers]

    def ask_all(self, question):
        for worker in self.workers:
            worker.tell(question)
        return self.hear_all()

    def turn(self, warmup, passes):
        """A pass takes as long as on the devices on average: what one waits for another it began earlier."""
        samples = [answer["samples_ms"] for answer in self.ask_all({"warmup": warmup, "passes": passes})]
        return [statistics.mean(ranks) for ranks in zip(*samples)]

    def output(self):
        path = os.path.join(self.folder, "peer.f32")
        self.ask_all({"output": path})
        return numpy.fromfile(path, "<f4")

    def peak_mib(self):
        return max(worker.peak_mib() for worker in self.workers)

    def close(self):
        for worker in self.workers:
            worker.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Torch(Workers):
    """Debian's PyTorch in the variant of the case: eager or compiled, in one memory layout. Several devices are processes with
    DistributedDataParallel over gloo, each on its own cores."""

    title = "PyTorch"
    product = "PyTorch"
    modes = ("infer", "train")
    variants = [dict(compiled=False, layout=layout) for layout in LAYOUTS]
    command = ["/usr/bin/python3", TORCH_WORKER]

    def __init__(self, case, _):
        super().__init__(self.command, [dict(case, **place) for place in places(case)])
        self.about["layout"] = case["layout"]
        self.about["variant"] = variant_name(case)
        self.about["trials"] = case.get("trials", [])

    @classmethod
    def fastest(cls, case):
        """The fastest variant, with what was tried."""
        trials = [cls.trial(case, variant) for variant in cls.variants]
        good = [(trial["ms"], number) for number, trial in enumerate(trials) if "ms" in trial]
        if not good:
            raise Failure("; ".join(f"{trial['variant']}: {trial['failed']}" for trial in trials))
        return dict(cls.variants[min(good)[1]], trials=trials)

    @classmethod
    def trial(cls, case, variant):
        """Of one device, in a process of its own."""
        alone = dict(case, devices=1, **variant, **places(case)[0])
        found = {"variant": variant_name(variant)}
        try:
            with Workers(cls.command, [alone]) as worker:
                found.update(ms=min(worker.turn(**TRIAL)), **compile_time(worker.about))
        except Failure as failure:
            found["failed"] = str(failure)
            print(f"  {cls.title}, {found['variant']}: {failure}", file=sys.stderr)
        return found


def variant_name(variant):
    return f"{'compiled' if variant['compiled'] else 'eager'} {variant['layout']}"


def compile_time(about):
    return {"compile_s": about["compile_s"]} if "compile_s" in about else {}


def other_torch(python):
    """The PyTorch of another Python, which may be new enough to compile; named by its version."""
    version = torch_version(python)

    class OtherTorch(Torch):
        title = f"PyTorch {'.'.join(version.split('.')[:2])}"
        variants = [dict(compiled=compiled, layout=layout) for compiled in (False, True) for layout in LAYOUTS]
        command = [python, TORCH_WORKER]

    return OtherTorch


def torch_version(python):
    try:
        done = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    except OSError as error:
        raise Failure(f"{python} cannot be run: {error.strerror}")
    version = done.stdout.strip()
    if done.returncode != 0 or not re.fullmatch(r"\d+\.\d+\S*", version):
        raise Failure(f"{python} is no Python with PyTorch: {last_line(done.stderr or done.stdout)}")
    return version


def places(case):
    """The rank and the cores of each device."""
    threads, cores = case["threads"], case["cores"]
    return [dict(rank=rank, cores=cores[rank * threads:(rank + 1) * threads]) for rank in range(case["devices"])]


class OnnxRuntime(Workers):
    title = "ONNX Runtime"
    product = "ONNX Runtime"
    modes = ("infer",)
    command = ["node", "--expose-gc", os.path.join(HERE, "ort_worker.js")]

    def __init__(self, case, _):
        super().__init__(self.command, [case])


SIDES = {"tacho": Tacho, "torch": Torch, "ort": OnnxRuntime, "before": EarlierTacho}
