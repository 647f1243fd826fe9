#!/usr/bin/env python3
"""Runs the program end to end: cli_test.py TACHO. Needs only the standard library.

Measures with the null engine, which does nothing, so that only the program itself is tested; profiles need the native.
"""

import csv
import fcntl
import io
import json
import os
import pty
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

TACHO = ""

PARAMETERS = {
    "squeezenet1_0": 1248424,
    "squeezenet1_1": 1235496,
    "vgg16": 138357544,
    "vgg19": 143667240,
    "resnet18": 11689512,
    "resnet34": 21797672,
    "resnet50": 25557032,
    "resnet101": 44549160,
    "resnet152": 60192808,
    "densenet121": 7978856,
    "densenet161": 28681000,
    "densenet169": 14149480,
    "densenet201": 20013928,
    "inception_v3": 23834568,
    "unet3d": 93659931,
    "unet3d_lite": 365827,
}

ALWAYS = """schema id time kind model mode engine precision batch devices threads image warmup repeat verdict system""".split()
MEASURED = """samples_ms median_ms mad_ms min_ms mean_ms images_per_s compile_ms peak_memory_mib""".split()
PHASES = ["forward_ms", "backward_ms", "update_ms"]


def run(*arguments, **options):
    return subprocess.run([TACHO, *arguments], capture_output=True, text=True, timeout=600, **options)


def bench(*arguments):
    return run("bench", *arguments, "--engine", "null")


def rows_of(markdown):
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row)) for row in cells[2:]]


class Models(unittest.TestCase):
    def test_lists_the_zoo_with_exact_parameter_counts(self):
        done = run("models")
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = {row["model"]: int(row["parameters"].replace(",", "")) for row in rows_of(done.stdout)}
        self.assertEqual(counts, PARAMETERS)

    def test_json_has_the_same_rows(self):
        rows = json.loads(run("models", "--format", "json").stdout)
        self.assertEqual({row["model"]: row["parameters"] for row in rows}, PARAMETERS)
        gflop = {row["model"]: row["gflop"] for row in rows}
        self.assertAlmostEqual(gflop["resnet50"], 8.18, delta=0.05)

    def test_prints_the_layers_of_one(self):
        done = run("models", "resnet18")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("layer4.1.conv2", done.stdout)


class System(unittest.TestCase):
    def test_json_has_what_was_measured(self):
        done = run("system", "--format", "json", "--system", "somewhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        system = json.loads(done.stdout)
        self.assertEqual(system["name"], "somewhere")
        self.assertIn("null", system["engines"])
        self.assertGreater(system["speeds"][0]["fma_gflops"], 0)
        self.assertEqual(system["speeds"][-1]["threads"], system["cores"])

    def test_engines_say_what_they_use(self):
        details = {engine["name"]: engine for engine in json.loads(run("system", "--format", "json").stdout)["engine_details"]}
        native, reference = details["native"], details["reference"]
        self.assertEqual(native["precisions"], {"cpu": ["f32"]})
        self.assertEqual((native["threads"], reference["threads"]), (len(os.sched_getaffinity(0)), 1))
        self.assertRegex(native["instruction_set"], "^(SSE4.1|AVX)")
        self.assertNotIn("instruction_set", reference)
        narrow = run("system", env=dict(os.environ, TACHO_INSTRUCTION_SET="sse2")).stdout
        self.assertRegex(narrow, r"engine native +\| oneDNN [0-9.]+; SSE4.1, \d+ threads?; cpu: f32")
        if "torch" in details:
            self.assertEqual(details["torch"]["precisions"]["cpu"], ["f32", "bf16"])
            self.assertEqual(details["torch"]["threads"], native["threads"])
            self.assertRegex(details["torch"]["instruction_set"], "^(AVX|DEFAULT|NO AVX)")

    @unittest.skipUnless("TACHO_FAKE_GPU_DRIVER" in os.environ, "CTest says where it is")
    def test_gpus_are_those_that_the_driver_tells(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.environ["TACHO_FAKE_GPU_DRIVER"], os.path.join(folder, "libnvidia-ml.so.1"))
            environment = dict(os.environ, LD_LIBRARY_PATH=folder)
            table = run("system", env=environment).stdout
            done = run("bench", "squeezenet1_1", "--engine", "null", "--image", "32", "--repeat", "1", "--no-db", "--format", "json",
                       env=environment)
        self.assertIn("Fast 1, driver 550.1, 16.0 GiB, 1980 MHz, at most 300 W, now 1410 MHz, now 87.5 W, 0000:65:00.0", table)
        fast, old = json.loads(done.stdout)[0]["system"]["gpus"]
        self.assertEqual(fast, dict(name="Fast 1", driver="550.1", memory_mib=16384, clock_mhz=1980, power_limit_watts=300,
                                    bus_id="0000:65:00.0", clock_now_mhz=1410, power_watts=87.5))
        self.assertNotIn("power_watts", old)

    def test_table_names_cpu_and_peak(self):
        done = run("system", "--format", "table")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("CPU", "usable cores", "caches", "engine reference", "FMA peak, 1 thread", "memory bandwidth"):
            self.assertIn(word, done.stdout)


class Bench(unittest.TestCase):
    def test_json_records_hold_every_field_that_applies(self):
        done = bench("resnet18", "--mode", "infer,train", "--repeat", "7", "--image", "64", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        infer, train = json.loads(done.stdout)
        for record in (infer, train):
            for name in ALWAYS + MEASURED:
                self.assertIn(name, record)
            self.assertEqual(len(record["samples_ms"]), 7)
            self.assertEqual(record["image"], "64x64")
            self.assertEqual(record["batch"], 16)
            self.assertLessEqual(record["median_low_ms"], record["median_ms"])
        for name in PHASES:
            self.assertIn(name, train)
            self.assertNotIn(name, infer)
        self.assertEqual((infer["mode"], train["mode"]), ("infer", "train"))
        self.assertNotEqual(infer["id"], train["id"])
        for name in ("name", "cpu", "cores", "memory_mib", "os", "compiler", "engines", "libraries", "build_type"):
            self.assertIn(name, infer["system"])

    def test_jsonl_has_one_record_a_line(self):
        done = bench("resnet18", "--batch", "1-4*2", "--image", "64", "--format", "jsonl")
        self.assertEqual([json.loads(line)["batch"] for line in done.stdout.splitlines()], [1, 2, 4])

    def test_csv_has_every_field_in_its_own_column(self):
        done = bench("resnet18", "--batch", "1,2", "--image", "64", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([row["batch"] for row in rows], ["1", "2"])
        self.assertEqual(len(json.loads(rows[0]["samples_ms"])), 20)
        self.assertEqual(json.loads(rows[0]["system"])["engines"]["null"], "1")
        self.assertNotIn(None, rows[0])
        self.assertTrue(set(ALWAYS + MEASURED + PHASES) <= set(rows[0]))

    def test_markdown_is_the_format_where_stdout_is_no_terminal(self):
        done = bench("resnet18", "squeezenet1_1", "--image", "64")
        self.assertEqual([row["model"] for row in rows_of(done.stdout)], ["resnet18", "squeezenet1_1"])

    def test_table_has_no_pipes(self):
        done = bench("resnet18", "--image", "64", "--format", "table")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("|", done.stdout)
        self.assertIn("resnet18", done.stdout)

    def test_the_harness_costs_less_than_20_microseconds_a_pass(self):
        done = bench("resnet18", "--format", "json", "--repeat", "100")
        (record,) = json.loads(done.stdout)
        self.assertLess(record["median_ms"], 0.020)

    def test_a_cell_that_cannot_fit_does_not_stop_the_sweep(self):
        done = bench("resnet18", "--batch", "16,4000000,8", "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        first, second, third = json.loads(done.stdout)
        self.assertEqual(second["verdict"], "out_of_memory")
        self.assertRegex(second["reason"], r"needs about .* (Ti|Gi)B, .* available")
        self.assertNotIn("samples_ms", second)
        for record in (first, third):
            self.assertIn(record["verdict"], ("valid", "noisy"))

    def test_volumes_take_three_extents(self):
        done = bench("unet3d_lite", "--image", "8x32x16", "--mode", "train", "--format", "json")
        (record,) = json.loads(done.stdout)
        self.assertEqual((record["image"], record["batch"]), ("8x32x16", 1))

    def test_more_threads_than_cores_are_oversubscribed(self):
        done = bench("resnet18", "--threads", "512", "--image", "64", "--format", "json")
        (record,) = json.loads(done.stdout)
        self.assertEqual((record["verdict"], record["threads"]), ("oversubscribed", 512))

    def test_the_file_gets_the_result_and_stdout_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            done = bench("resnet18", "--image", "64", "--format", "json", "-o", path)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            with open(path) as file:
                self.assertEqual(len(json.load(file)), 1)
            self.assertEqual(os.listdir(folder), ["result.json"])

    def test_stdout_holds_the_result_alone(self):
        done = bench("resnet18", "--image", "64", "--format", "json")
        json.loads(done.stdout)
        for line in done.stderr.splitlines():
            self.assertRegex(line, "^tacho: (warning|note): ")

    def test_ctrl_c_keeps_finished_cells(self):
        terminal, stderr = pty.openpty()
        process = subprocess.Popen(
            [TACHO, "bench", "squeezenet1_1", "--engine", "null,reference", "--image", "64", "--batch", "1",
             "--repeat", "100000", "--format", "json"], stdout=subprocess.PIPE, stderr=stderr, text=True)
        os.close(stderr)
        shown = ""
        while "[2/2]" not in shown:  # the progress line of the second, endless cell
            shown += os.read(terminal, 4096).decode()
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=600)
        os.close(terminal)
        self.assertEqual(process.returncode, 130)
        self.assertEqual([record["engine"] for record in json.loads(stdout)], ["null"])


    def test_jsonl_prints_each_cell_as_it_ends(self):
        process = subprocess.Popen(
            [TACHO, "bench", "squeezenet1_1", "--engine", "null,reference", "--image", "64", "--batch", "1",
             "--warmup", "0", "--repeat", "100000", "--format", "jsonl", "--no-db"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = json.loads(process.stdout.readline())  # while the second, endless cell runs
        self.assertEqual(first["engine"], "null")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=600)
        self.assertEqual((process.returncode, rest), (130, ""))

    def test_cells_are_kept_although_stdout_is_full(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
            store = os.path.join(folder, "results.db")
            done = subprocess.run(
                [TACHO, "bench", "squeezenet1_1", "--engine", "null", "--image", "64", "--batch", "1,2,4",
                 "--interleave", "--format", "jsonl", "--db", store], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("cannot write to stdout", done.stderr)
            self.assertEqual(len(json.loads(run("results", "export", "--db", store).stdout)), 3)

    def test_an_engine_says_which_precisions_it_has(self):
        done = bench("resnet18", "--image", "64", "--precision", "f32,bf16")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--precision 'bf16': engine null has f32", done.stderr)


class Profile(unittest.TestCase):
    """On the native engine, the only one that tells its steps: a network small enough to take no time."""

    SMALL = ["profile", "squeezenet1_1", "--image", "64", "--batch", "2", "--warmup", "2", "--repeat", "5"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def profile(self, *more):
        done = run(*self.SMALL, "--format", "json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_layers_make_up_the_pass(self):
        profile = self.profile()
        sum_ms = statistics.median(map(sum, zip(*(layer["samples_ms"] for layer in profile["layers"]))))
        self.assertAlmostEqual(profile["sum_ms"], sum_ms, places=6)
        for rows in (profile["layers"], profile["kernels"]):
            self.assertAlmostEqual(sum(row["percent_of_pass"] for row in rows), 100, places=6)
        self.assertAlmostEqual(profile["difference_percent"], 100 * (sum_ms / profile["pass_ms"] - 1), places=6)

    def test_json_holds_the_case_the_peak_and_every_layer(self):
        profile = self.profile()
        self.assertEqual((profile["case"]["model"], profile["case"]["batch"]), ("squeezenet1_1", 2))
        self.assertEqual(len(profile["case"]["samples_ms"]), 5)
        self.assertGreater(profile["peak"]["fma_gflops"], 0)
        convolutions = [layer for layer in profile["layers"] if layer["op"] == "convolution"]
        self.assertEqual(len(convolutions), 26)
        self.assertEqual(sum(layer["flop"] for layer in profile["layers"]), profile["case"]["flop_per_pass"])
        for layer in convolutions:
            for name in ("name", "kernel", "gflops", "percent_of_peak", "bytes", "gigabytes_per_s",
                         "percent_of_roofline", "percent_of_pass"):
                self.assertTrue(layer[name], name)
            self.assertEqual((layer["phase"], len(layer["samples_ms"])), ("forward", 5))

    def test_training_has_three_phases_and_ends_with_the_update(self):
        profile = self.profile("--mode", "train")
        phases = [layer["phase"] for layer in profile["layers"]]
        self.assertEqual(phases, sorted(phases, key=["forward", "backward", "update"].index))
        self.assertEqual(phases.count("update"), 1)

    def test_markdown_has_layers_kernels_and_the_sum(self):
        done = run(*self.SMALL, "--top", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = rows_of(done.stdout[done.stdout.index("| layer"):done.stdout.index("\n| op")])
        self.assertEqual(len(rows), 4)
        self.assertRegex(rows[-1]["layer"], r"^\d+ other layers$")
        self.assertRegex(done.stdout, r"sum of the layers [\d.]+ ms, whole pass [\d.]+ ms, difference [+-][\d.]+ %")

    def test_csv_has_a_line_a_layer(self):
        done = run(*self.SMALL, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(rows[0]["op"], "convolution")

    def test_trace_is_the_last_pass(self):
        path = os.path.join(self.folder, "trace.json")
        layers = self.profile("--trace", path)["layers"]
        with open(path) as file:
            events = json.load(file)["traceEvents"]
        self.assertIn("squeezenet1_1", next(e for e in events if e["name"] == "process_name")["args"]["name"])
        complete = [event for event in events if event["ph"] == "X"]
        self.assertEqual([event["name"] for event in complete], [layer["name"] for layer in layers])
        for before, after in zip(complete, complete[1:]):
            self.assertGreaterEqual(after["ts"], before["ts"] + before["dur"] - 1e-3)
        self.assertEqual(set(complete[0]["args"]), {"op", "kernel", "gflops", "bytes"})
        self.assertEqual(os.listdir(self.folder), ["trace.json"])

    def test_simulated_threads_show_how_steps_are_split(self):
        simulated = self.profile("--mode", "train", "--threads-simulated", "64")
        self.assertEqual((simulated["simulated"], simulated["threads_simulated"]), (True, 64))
        own = [step for step in simulated["steps"] if not step["onednn"]]
        self.assertEqual((len(own), simulated["own_steps"]), (simulated["own_steps"], len(own)))
        for step in simulated["steps"]:
            self.assertEqual("efficiency" in step, not step["onednn"], step)
        for step in own:
            self.assertGreater(step["loops"][0]["items"], 0)
            self.assertAlmostEqual(step["largest_share_percent"] * step["efficiency"], 100 / 64, places=6)
            self.assertLessEqual(step["efficiency"], 1.001, step)
        self.assertAlmostEqual(simulated["own_percent"] + simulated["onednn_percent"], 100, places=6)
        self.assertGreater(simulated["own_speedup_at_most"], 1)
        self.assertLessEqual(simulated["pass_speedup_at_most"], 64.01)

    def test_simulated_threads_in_a_table_and_csv(self):
        done = run(*self.SMALL, "--threads-simulated", "64", "--top", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"simulated for 64 threads, none of which ran")
        rows = rows_of(done.stdout[done.stdout.index("| layer"):done.stdout.index("\nour ")])
        self.assertEqual(len(rows), 4)
        self.assertRegex(rows[-1]["layer"], r"^\d+ other steps$")
        done = run(*self.SMALL, "--threads-simulated", "64", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertIn("largest_share_percent", rows[0])

    def test_ctrl_c_ends_it_without_a_profile(self):
        terminal, stderr = pty.openpty()
        process = subprocess.Popen([TACHO, *self.SMALL[:-1], "100000", "--format", "json"],
                                   stdout=subprocess.PIPE, stderr=stderr, text=True)
        os.close(stderr)
        shown = ""
        while "pass" not in shown:
            shown += os.read(terminal, 4096).decode()
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=600)
        os.close(terminal)
        self.assertEqual((process.returncode, stdout), (130, ""))


class NarrowTerminal(unittest.TestCase):
    CELLS = ["bench", "squeezenet1_1", "--engine", "null", "--image", "64", "--mode", "train", "--repeat", "3"]

    def shown(self, *arguments, width):
        """What is printed on a terminal of this width."""
        terminal, stdout = pty.openpty()
        fcntl.ioctl(stdout, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        process = subprocess.Popen([TACHO, *arguments], stdout=stdout, stderr=subprocess.DEVNULL)
        os.close(stdout)
        text = b""
        try:
            while part := os.read(terminal, 65536):
                text += part
        except OSError:
            pass  # the end of a terminal
        os.close(terminal)
        self.assertEqual(process.wait(), 0)
        return text.decode().replace("\r\n", "\n")

    def keeps_to(self, width, text):
        for line in text.splitlines():
            self.assertLessEqual(len(line), width, text)

    def test_several_results_leave_out_columns_and_name_them(self):
        text = self.shown(*self.CELLS, "--batch", "1,2", "--no-db", width=76)
        self.keeps_to(76, text)
        self.assertRegex(text, r"(?m)^model +mode +batch +median ± MAD ms .*images/s")
        self.assertRegex(text, r"left out for the width: [^;]*update ms[^;]*;\s--format\smd\sshows\sall")

    def test_one_result_is_lines_of_name_and_value(self):
        text = self.shown(*self.CELLS, "--no-db", width=60)
        self.keeps_to(60, text)
        self.assertRegex(text, r"(?m)^model +squeezenet1_1$")
        self.assertRegex(text, r"(?m)^update ms +[0-9.e-]+$")
        self.assertNotIn("left out", text)

    def test_a_wide_one_shows_all(self):
        text = self.shown(*self.CELLS, "--batch", "1,2", "--no-db", width=400)
        self.assertIn("update ms", text)
        self.assertNotIn("left out", text)

    def test_what_is_kept_and_compared_keeps_to_the_width(self):
        with tempfile.TemporaryDirectory() as folder:
            store = ["--db", os.path.join(folder, "results.db")]
            self.assertEqual(run(*self.CELLS, "--batch", "1,2", *store).returncode, 0)
            listed = self.shown("results", "list", *store, width=80)
            compared = self.shown("compare", "null/batch=1", "null/batch=1", *store, width=40)
        self.keeps_to(80, listed)
        self.assertRegex(listed, r"(?m)^id +system +model ")
        self.keeps_to(40, compared)
        self.assertRegex(compared, r"(?m)^answer +\w")


class WrongCalls(unittest.TestCase):
    def refuses(self, *arguments, saying=""):
        done = run(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atacho: [^\n]+\n\Z", arguments)
        self.assertIn(saying, done.stderr)

    def test_unknown_names(self):
        self.refuses("bench", "resnet81", saying="resnet18")
        self.refuses("models", "resnet81", saying="resnet18")
        self.refuses("bench", "resnet18", "--engine", "steam", saying="reference")
        self.refuses("bench", "resnet18", "--mode", "evaluate", saying="infer")
        self.refuses("bench", "resnet18", "--format", "xml", saying="jsonl")
        self.refuses("suite", "slow", saying="quick")
        self.refuses("bench", "resnet18", "--speed", "9")
        self.refuses("dance")
        self.refuses()
        self.refuses("bench")

    def test_axes(self):
        for batch in ("", "0", "64-16", "16,,32", "many", "1-8*1", "-4", "1.5", "99999999999999999999", "1-"):
            self.refuses("bench", "resnet18", f"--batch={batch}", saying="--batch")
        self.refuses("bench", "resnet18", "--devices", "0", saying="--devices")
        self.refuses("bench", "resnet18", "--mode", "train", "--parallel", "scatter", saying="allreduce")
        self.refuses("bench", "resnet18", "--threads", "0", saying="--threads")
        self.refuses("bench", "resnet18", "--repeat", "0", saying="--repeat")
        self.refuses("bench", "resnet18", "--warmup", "-1", saying="--warmup")
        self.refuses("bench", "resnet18", "--classes", "0", saying="--classes")
        self.refuses("bench", "resnet18", "--seed", "-1", saying="--seed")
        self.refuses("bench", "resnet18", "--batch", "1000000000", saying="batch 1000000000")

    def test_images(self):
        self.refuses("bench", "densenet121", "--image", "16", saying="densenet121")
        self.refuses("bench", "unet3d", "--image", "8x100x100", saying="27")
        self.refuses("bench", "resnet18", "--image", "8x64x64", saying="--image")
        self.refuses("bench", "resnet18", "--image", "224x", saying="--image")

    def test_files(self):
        self.refuses("bench", "resnet18", "--weights", "/no/such/file", saying="/no/such/file")
        self.refuses("bench", "resnet18", "-o", "/no/such/folder/result", saying="/no/such/folder")
        self.refuses("bench", "resnet18", "-o", "/", saying="directory")
        self.refuses("bench", "resnet18", "-o", "", saying="empty")
        self.refuses("bench", "resnet18", "-o", "x" * 300, saying="longer")

    def test_what_cannot_be_trained_is_refused_before_anything_runs(self):
        self.refuses("bench", "resnet18", "--mode", "infer,train", "--image", "32", "--batch", "1", saying="layer4")

    def test_one_command_a_call(self):
        self.refuses("models", "system")

    def test_a_full_disk_is_no_success(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TACHO, "models"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("stdout", done.stderr)


class OddNames(unittest.TestCase):
    def test_a_name_that_is_no_utf8_loses_nothing(self):
        done = subprocess.run([TACHO, "bench", "resnet18", "--engine", "null", "--image", "64", "--format", "json",
                               "--system", b"\xff"], capture_output=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)), 1)


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = os.path.join(self.folder, "deep", "results.db")

    def results(self, *arguments, store=None):
        return run("results", *arguments, "--db", store or self.store)

    def measure(self, *arguments):
        done = bench("resnet18", "--image", "64", "--format", "json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def kept(self, store=None):
        return json.loads(self.results("export", store=store).stdout)

    def test_every_cell_is_kept_as_it_was_printed(self):
        printed = self.measure("--batch", "1,2", "--db", self.store)
        self.assertEqual(self.kept(), printed)
        self.assertEqual(json.loads(self.results("show", printed[1]["id"][:10]).stdout), printed[1])
        rows = rows_of(self.results("list", "--format", "md").stdout)
        self.assertEqual([row["id"] for row in rows], [record["id"][:8] for record in printed])

    def test_no_db_keeps_nothing(self):
        self.measure("--no-db", "--db", self.store)
        self.assertFalse(os.path.exists(self.store))

    def test_default_store_is_in_the_data_home(self):
        self.measure()
        self.assertTrue(os.path.exists(os.path.join(os.environ["XDG_DATA_HOME"], "tacho", "results.db")))

    def test_import_merges_without_duplicates(self):
        self.measure("--batch", "1,2", "--db", self.store)
        export, other = os.path.join(self.folder, "all.json"), os.path.join(self.folder, "other.db")
        self.assertEqual(self.results("export", "-o", export).returncode, 0)
        for _ in range(2):
            self.assertEqual(self.results("import", export, store=other).returncode, 0)
        self.assertEqual(self.kept(other), self.kept())

    def test_delete_removes_one(self):
        first, second = self.measure("--batch", "1,2", "--db", self.store)
        self.assertEqual(self.results("delete", first["id"]).returncode, 0)
        self.assertEqual(self.kept(), [second])

    def test_bad_files_change_nothing(self):
        printed = self.measure("--db", self.store)
        edited = dict(printed[0], median_ms=1e9, id="other")
        good = dict(printed[0], id="good")
        for content in ("", "[", "{}", "[1]", json.dumps([edited, edited]), "\x00\xff", json.dumps([good])[:-9],
                        json.dumps([good], indent=2)[:-9]):
            path = os.path.join(self.folder, "bad.json")
            with open(path, "w") as file:
                file.write(content)
            done = self.results("import", path)
            self.assertEqual(done.returncode, 2, content)
            self.assertRegex(done.stderr, r"\Atacho: [^\n]+\n\Z")
            self.assertEqual(self.kept(), printed)

    def test_a_file_that_is_no_store_is_refused(self):
        path = os.path.join(self.folder, "notes.txt")
        with open(path, "w") as file:
            file.write("a shopping list that is longer than the header of a database, so that it is read\n" * 20)
        for arguments in (["results", "list"], ["bench", "resnet18", "--engine", "null", "--image", "64"]):
            done = run(*arguments, "--db", path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(path, done.stderr)


class PlanOfDevices(unittest.TestCase):
    def refusal(self, *arguments):
        done = run("plan", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atacho: [^\n]+\n\Z")
        return done.stderr

    def test_a_network_is_a_bandwidth_and_a_latency(self):
        for text in ("fast", "10Gbit", "10,25", "0Gbit,25us", "10Gbit,-1us", "25us,10Gbit", ""):
            self.assertIn("as in 10Gbit,25us", self.refusal("dgx1-v100", "--devices", "8", "--network", text))
        self.assertIn("--node-network 'x'", self.refusal("dgx1-v100", "--devices", "8", "--network", "10Gbit,25us",
                                                         "--per-node", "4", "--node-network", "x"))

    def test_results_without_phases_cannot_be_used(self):
        self.assertIn("training on one device", self.refusal("dgx1-v100", "--devices", "8", "--network", "10Gbit,25us"))

    def test_options_that_do_not_go_together_are_refused(self):
        devices, network = ("--devices", "1-8"), ("--network", "10Gbit,25us")
        self.assertIn("needs --network", self.refusal("dgx1-v100", *devices))
        self.assertIn("--devices is missing", self.refusal("dgx1-v100", *network))
        self.assertIn("exclude each other", self.refusal("dgx1-v100", *devices, *network, "--from", "1,8"))
        self.assertIn("go with --network", self.refusal("dgx1-v100", *devices, "--from", "1,8", "--keep"))
        self.assertIn("needs --per-node", self.refusal("dgx1-v100", *devices, *network, "--node-network", "1GB/s,0us"))
        self.assertIn("leave out the job", self.refusal("dgx1-v100", *devices, *network, "--images", "10"))
        self.assertIn("--devices 'x'", self.refusal("dgx1-v100", "--devices", "x", *network))

    def test_a_fit_needs_two_numbers_that_were_measured(self):
        self.assertIn("at least two", self.refusal("pytorch-throughput", "--devices", "16", "--from", "8"))
        self.assertIn("there are 1,2,4,8", self.refusal("pytorch-throughput", "--devices", "16", "--from", "1,7"))
        self.assertIn("several numbers", self.refusal("dgx1-v100", "--devices", "16", "--from", "1,8"))

    def test_published_throughput_of_many_devices_follows_from_that_of_few(self):
        done = run("plan", "reference:pytorch-throughput", "--devices", "16-128*2", "--from", "1,8", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual([row["published"] for row in rows], [608, 1120, 2209, 4231])
        for row in rows:
            self.assertLess(abs(row["error_percent"]), 5)
            self.assertEqual(row["verdict"], "simulated")


class Help(unittest.TestCase):
    def test_help_and_version_are_no_mistakes(self):
        for arguments in (["--help"], ["bench", "--help"], ["--version"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn("tacho" if "--version" in arguments else "--", done.stdout)


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    with tempfile.TemporaryDirectory() as data_home:
        os.environ["XDG_DATA_HOME"] = os.environ["XDG_CACHE_HOME"] = data_home  # the user's own stay out of this
        unittest.main()
