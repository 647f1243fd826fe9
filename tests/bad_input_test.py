#!/usr/bin/env python3
"""Calls the program wrongly in every way a user might: bad_input_test.py TACHO

Each wrong call must end with status 2 and one line on stderr that says what is wrong. Needs only the standard library.
"""

import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tensor_files import float_bytes, npy_bytes, read_npy, read_safetensors, safetensors_bytes, write_safetensors

MODEL = "squeezenet1_1"
SIDE = 32
IMAGE = (1, 3, SIDE, SIDE)
PIXELS = float_bytes([(i * 37 % 101) / 50 - 1 for i in range(3 * SIDE * SIDE)])


class Checks:
    """Runs the program in a scratch folder and counts what went wrong."""

    def __init__(self, tacho, folder):
        self.tacho, self.folder = os.path.abspath(tacho), folder
        self.passed, self.failed = 0, 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return name

    def run(self, *arguments):
        return subprocess.run([self.tacho, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=600)

    def report(self, title, problem):
        if problem:
            self.failed += 1
            print(f"FAILED {title}: {problem}")
        else:
            self.passed += 1

    def refuses(self, title, arguments, *words):
        done = self.run(*arguments)
        lines = done.stderr.splitlines()
        if done.returncode != 2:
            problem = f"exit status {done.returncode} instead of 2; stderr: {done.stderr!r}"
        elif len(lines) != 1 or not lines[0].startswith("tacho: "):
            problem = f"stderr is not one line that begins with 'tacho: ': {done.stderr!r}"
        else:
            absent = [word for word in words if word not in lines[0]]
            problem = f"{absent} not in {lines[0]!r}" if absent else None
        self.report(title, problem)

    def accepts(self, title, arguments, *, stdout=(), stderr=()):
        done = self.run(*arguments)
        absent = [word for word in stdout if word not in done.stdout]
        absent += [word for word in stderr if word not in done.stderr]
        if done.returncode != 0:
            problem = f"exit status {done.returncode}; stderr: {done.stderr!r}"
        elif absent:
            problem = f"{absent} not in stdout {done.stdout[-300:]!r} or stderr {done.stderr!r}"
        else:
            problem = f"unexpected stderr {done.stderr!r}" if done.stderr and not stderr else None
        self.report(title, problem)
        return problem is None


def infer(weights="w.safetensors", image="x.npy", model=MODEL, *more):
    return ["infer", model, "--weights", weights, "--input", image, "--output", "y.npy", *more]


EXPORT = ["export", MODEL, "--image", "64", "-o"]


def good_paths(checks):
    init = ["weights", "init", MODEL, "--seed", "7", "-o"]
    checks.accepts("weights init", [*init, "w.safetensors"])
    checks.accepts("weights init again", [*init, "same.safetensors"])
    checks.accepts("weights init, other seed", [*init[:-2], "8", "-o", "other.safetensors"])
    checks.accepts("weights init, 10 classes", [*init, "w10.safetensors", "--classes", "10"])
    weights = [read_safetensors(checks.path(f"{name}.safetensors")) for name in ("w", "same", "other")]
    checks.report("the seed decides the weights", None if weights[0] == weights[1] != weights[2] else "it does not")
    checks.accepts(
        "weights show",
        ["weights", "show", "w.safetensors"],
        stdout=["classifier.1.weight", "float32", "1000x512x1x1", "512,000", "1,235,496"],
    )
    checks.file("x.npy", npy_bytes(IMAGE, PIXELS))
    for engine in ("native", "reference"):
        if checks.accepts(f"infer on {engine}", infer("w.safetensors", "x.npy", MODEL, "--engine", engine)):
            shape, values = read_npy(checks.path("y.npy"))
            finite = all(abs(value) < 1e6 for value in values)
            checks.report(f"logits of {engine}", None if shape == (1, 1000) and finite else f"shape {shape}")
    ten = infer("w10.safetensors", "x.npy", MODEL, "--classes", "10", "--threads", "1")
    if checks.accepts("infer with 10 classes", ten):
        shape, _ = read_npy(checks.path("y.npy"))
        checks.report("10 logits", None if shape == (1, 10) else f"shape {shape}")
    checks.file("batch.npy", npy_bytes((2, 3, SIDE, SIDE), PIXELS * 2, version=2))
    if checks.accepts("infer on a batch", infer(image="batch.npy")):
        shape, _ = read_npy(checks.path("y.npy"))
        checks.report("a row an image", None if shape == (2, 1000) else f"shape {shape}")
    checks.accepts("export", [*EXPORT, "a.onnx", "--weights", "w.safetensors"])
    checks.accepts("export of first weights", [*EXPORT, "b.onnx", "--seed", "7"])
    with open(checks.path("a.onnx"), "rb") as a, open(checks.path("b.onnx"), "rb") as b:
        checks.report("export takes the weights it is given", None if a.read() == b.read() else "it does not")


def not_finite(checks):
    for name in ("nan", "inf"):
        checks.file(f"{name}.npy", npy_bytes(IMAGE, float_bytes([float(name)]) + PIXELS[4:]))
        checks.accepts(f"{name} in the input is a warning", infer(image=f"{name}.npy"), stderr=["warning", "NaN"])


def wrong_calls(checks):
    bench = ["bench", "resnet18"]
    checks.refuses("no command", [])
    checks.refuses("unknown command", ["bensh"], "unknown command 'bensh', did you mean 'bench'?")
    checks.refuses("unknown command with arguments", ["benhc", "resnet18", "--batch", "1"], "'benhc'", "'bench'")
    checks.refuses("unknown command like no other", ["dance"], "unknown command 'dance'", "tacho --help")
    checks.refuses("unknown command before a known one", ["resnet18", "bench"], "unknown command 'resnet18'")
    checks.refuses("unknown subcommand", ["results", "lits"], "unknown command 'lits', did you mean 'list'?")
    checks.refuses("unknown model", ["bench", "resnet81"], "resnet81", "resnet18")
    checks.refuses("unknown model to infer", infer(model="squeezenet11"), "squeezenet11", MODEL)
    checks.refuses("unknown model to init", ["weights", "init", "vgg61", "-o", "v"], "vgg61", "vgg16")
    checks.refuses("unknown option", [*bench, "--batches", "1"], "--batches")
    checks.refuses("unknown mode", [*bench, "--mode", "trian"], "trian", "train")
    checks.refuses("unknown engine", [*bench, "--engine", "nativ"], "nativ", "native")
    checks.refuses("unknown engine to infer", infer("w.safetensors", "x.npy", MODEL, "--engine", "tpu"), "tpu", "native")
    checks.refuses("unknown format", [*bench, "--format", "xml"], "xml", "json")
    checks.refuses("no threads", infer("w.safetensors", "x.npy", MODEL, "--threads", "0"), "--threads", "0")
    checks.refuses("no devices", [*bench, "--devices", "0"], "--devices", "1")
    checks.refuses("no such way to share", [*bench, "--parallel", "ring"], "--parallel", "scatter")
    for axis in ("--batch", "--threads", "--image"):
        checks.refuses(f"empty list for {axis}", [*bench, axis, ","], axis)
        checks.refuses(f"words for {axis}", [*bench, axis, "many"], "many")
        checks.refuses(f"zero for {axis}", [*bench, axis, "0"], "0")
        checks.refuses(f"negative number for {axis}", [*bench, f"{axis}=-1"], "-1")
    checks.refuses("reversed range", [*bench, "--batch", "8-1"], "8-1")
    checks.refuses("range that never grows", [*bench, "--batch", "1-8*1"], "1-8*1")
    checks.refuses("range without an end", [*bench, "--batch", "1-"], "1-")
    checks.refuses("image too small to bench", ["bench", "inception_v3", "--image", "32"], "inception_v3", "75")
    checks.refuses("image the U-Net cannot take", ["bench", "unet3d", "--image", "40x100x100"], "27")
    checks.refuses("no weights", ["infer", MODEL, "--input", "x.npy", "--output", "y.npy"], "tacho weights init")
    checks.refuses("no input", ["infer", MODEL, "--weights", "w.safetensors", "--output", "y.npy"], "--input")
    checks.refuses("export without a file", EXPORT[:-1], "--output")
    checks.refuses("export of no image", [*EXPORT, "e.onnx", "--batch", "0"], "batch", "0")
    checks.refuses("export of two sizes", ["export", MODEL, "--image", "64,96", "-o", "e.onnx"], "64,96")
    checks.refuses("export into no folder", [*EXPORT, "none/e.onnx"], "none/e.onnx")
    checks.refuses("export of what ONNX cannot say", ["export", "vgg16", "--image", "256", "-o", "e.onnx"], "avgpool")
    checks.refuses("weights without a verb", ["weights"])
    checks.refuses("no classes", ["weights", "init", MODEL, "--classes", "0", "-o", "v"], "classes")
    checks.refuses("seed that is no number", ["weights", "init", MODEL, "--seed", "x", "-o", "v"], "seed")


def wrong_profiles(checks):
    def refuses(title, arguments, *words):
        checks.refuses(f"profile: {title}", ["profile", *arguments], *words)

    refuses("no network", [], "model")
    refuses("unknown network", ["squeezenet11"], "squeezenet11", MODEL)
    refuses("two networks", [MODEL, "resnet18"], "one", "2")
    refuses("a list of networks", [f"{MODEL},resnet18"], "one", "2")
    refuses("two modes", [MODEL, "--mode", "infer,train"], "one", "2")
    refuses("two batches", [MODEL, "--batch", "1,2"], "one", "2")
    for engine in ("reference", "null"):
        refuses(f"steps of {engine}", [MODEL, "--image", "64", "--batch", "1", "--engine", engine], engine, "native")
    refuses("unknown engine", [MODEL, "--engine", "nativ"], "nativ", "native")
    refuses("unknown mode", [MODEL, "--mode", "trian"], "trian")
    refuses("no timed pass", [MODEL, "--repeat", "0"], "--repeat")
    refuses("image too small", [MODEL, "--image", "4"], "4x4", "smallest")
    for top in ("0", "-1", "many"):
        refuses(f"top {top}", [MODEL, f"--top={top}"], "--top")
    for threads in ("0", "-1", "4097", "many", ""):
        refuses(f"{threads} simulated threads", [MODEL, f"--threads-simulated={threads}"], "--threads-simulated")
    refuses("unknown format", [MODEL, "--format", "xml"], "xml", "json")
    refuses("missing weights", [MODEL, "--weights", "none.safetensors"], "none.safetensors")
    for option in ("--trace", "-o"):
        refuses(f"{option} into no folder", [MODEL, option, "none/f.json"], option, "none/f.json")
        refuses(f"{option} onto a folder", [MODEL, option, "."], option, "directory")
    refuses("one file twice", [MODEL, "--trace", "f.json", "-o", "f.json"], "--trace", "f.json")


def wrong_files(checks):
    checks.refuses("missing weights file", infer("none.safetensors"), "none.safetensors")
    checks.refuses("missing weights file to show", ["weights", "show", "none.safetensors"], "none.safetensors")
    checks.refuses("missing weights file to bench", ["bench", MODEL, "--weights", "none.safetensors"], "none.safetensors")
    checks.refuses("missing input", infer(image="none.npy"), "none.npy")
    checks.refuses("folder as input", infer(image="."), ".")
    checks.refuses("folder as weights", infer("."), ".")
    checks.refuses("output into a missing folder", ["weights", "init", MODEL, "-o", "no/v.safetensors"], "no/v.safetensors")
    if os.geteuid() != 0:
        os.chmod(checks.path(checks.file("secret.npy", b"")), 0)
        checks.refuses("unreadable input", infer(image="secret.npy"), "secret.npy")


def wrong_images(checks):
    def refuses(title, content, *words, model=MODEL, weights="w.safetensors"):
        checks.refuses(title, infer(weights, checks.file("bad.npy", content), model), *words)

    refuses("npy of rank 3", npy_bytes(IMAGE[1:], PIXELS), "bad.npy", "3 axes", "N,C,H,W")
    refuses("npy of doubles", npy_bytes((1, 1, 1, 1), bytes(8), "<f8"), "bad.npy", "float64", "float32")
    refuses("npy of bytes", npy_bytes(IMAGE, PIXELS[: 3 * SIDE * SIDE], "|u1"), "bad.npy", "uint8")
    refuses("npy in Fortran order", npy_bytes(IMAGE, PIXELS, fortran_order=True), "bad.npy", "Fortran")
    refuses("npy big-endian", npy_bytes(IMAGE, PIXELS, ">f4"), "bad.npy", "big-endian")
    refuses("npy of objects", npy_bytes(IMAGE, PIXELS, "|O"), "bad.npy", "|O")
    refuses("npy of one channel", npy_bytes((3, 1, SIDE, SIDE), PIXELS), "bad.npy", "1 channels", "3")
    refuses("npy without images", npy_bytes((0, 3, SIDE, SIDE), b""), "bad.npy", "no image")
    refuses("truncated npy", npy_bytes(IMAGE, PIXELS[:-1]), "bad.npy", "truncated")
    refuses("trailing bytes in a npy", npy_bytes(IMAGE, PIXELS + b"x"), "bad.npy", "trailing")
    refuses("absurd shape", npy_bytes((2**40, 2**40), b""), "bad.npy", "more elements")
    refuses("not a npy", b"hello", "bad.npy", "not an npy file")
    refuses("empty npy", b"", "bad.npy", "not an npy file")
    refuses("image too small", npy_bytes((1, 3, 4, 4), float_bytes([0.5] * 48)), MODEL, "4x4", "smallest")
    lite = "unet3d_lite"
    checks.accepts("weights of unet3d_lite", ["weights", "init", lite, "-o", "u.safetensors"])
    volume = npy_bytes((1, 1, 4, 8, 9), float_bytes([0.5] * 288))
    refuses("volume not divisible", volume, lite, "9", "8", model=lite, weights="u.safetensors")


def lying_headers(checks):
    def refuses(title, content, *words):
        checks.file("lie.safetensors", content)
        checks.refuses(title, infer("lie.safetensors"), "lie.safetensors", *words)

    def entry(shape=(2,), offsets=(0, 8), dtype="F32"):
        return {"dtype": dtype, "shape": shape, "data_offsets": offsets}

    def one(data=bytes(8), **fields):
        return safetensors_bytes({"w": entry(**fields)}, data)

    with open(checks.path("w.safetensors"), "rb") as file:
        sound = file.read()
    refuses("empty safetensors", b"", "too few")
    refuses("safetensors cut in its length", sound[:5], "too few")
    refuses("safetensors cut in its header", sound[:100], "header")
    refuses("safetensors cut in its data", sound[:-1], "beyond")
    refuses("trailing bytes in safetensors", sound + b"x", "behind the last tensor")
    refuses("absurd header length", struct.pack("<Q", 2**63) + b"{}", "absurd")
    refuses("header length beyond the file", struct.pack("<Q", 1000) + b"{}", "1000")
    refuses("header that is not JSON", safetensors_bytes(b"{'w'}", b""), "not JSON")
    refuses("header that is a list", safetensors_bytes(b"[]", b""), "object")
    refuses("offsets beyond the file", one(shape=[4], offsets=[0, 16]), '"w"', "beyond")
    refuses("offsets reversed", one(offsets=[8, 0]), '"w"', "before")
    refuses("offsets that do not fit the shape", one(shape=[3]), '"w"', "12")
    refuses("a gap before the data", one(shape=[1], offsets=[4, 8]), '"w"', "begins at 4")
    overlapping = {"a": entry(), "b": entry(offsets=(4, 12))}
    refuses("overlapping tensors", safetensors_bytes(overlapping, bytes(12)), '"b"', "inside another")
    refuses("negative shape", one(shape=[-2]), '"w"', "-2")
    refuses("overflowing shape", one(shape=[2**40, 2**40]), '"w"', "more elements")
    refuses("unsupported type", one(shape=[4], dtype="BF16"), '"w"', "BF16", "F32")
    twice = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    refuses("one name twice", safetensors_bytes(twice, bytes(8)), '"w"', "twice")


def wrong_weights(checks):
    sound = read_safetensors(checks.path("w.safetensors"))
    bias = "classifier.1.bias"

    def refuses(title, change, *words):
        changed = dict(sound)
        change(changed)
        write_safetensors(checks.path("wrong.safetensors"), changed)
        checks.refuses(title, infer("wrong.safetensors"), "wrong.safetensors", *words)

    refuses("missing weights", lambda weights: weights.pop(bias), "missing", bias)
    refuses("extra weights", lambda weights: weights.update(bonus=("F32", (1,), bytes(4))), "bonus")
    refuses("misshapen weights", lambda weights: weights.update({bias: ("F32", (1000, 1), bytes(4000))}), bias, "1000x1")
    refuses("weights of another type", lambda weights: weights.update({bias: ("F64", (1000,), bytes(8000))}), bias, "float64")
    checks.refuses("weights of another network", infer("u.safetensors"), "u.safetensors", "features.0.weight")
    checks.refuses("weights of 10 classes", infer("w10.safetensors"), "w10.safetensors", bias, "--classes 10")
    to_export = [*EXPORT, "e.onnx", "--weights", "w10.safetensors"]
    checks.refuses("export of 10 classes", to_export, "w10.safetensors", bias, "--classes 10")


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="tacho-bad-input-") as folder:
        checks = Checks(arguments[0], folder)
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")  # the user's own stays out of this
        for group in (good_paths, not_finite, wrong_calls, wrong_profiles, wrong_files, wrong_images, lying_headers,
                      wrong_weights):
            group(checks)
    print(f"{checks.passed} checks passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
