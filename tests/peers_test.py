#!/usr/bin/env python3
"""How benchmarks/peers compares sides and several devices: peers_test.py SOURCES. No network runs: the workers are made up."""

import argparse
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
SOURCES = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, str(SOURCES / "benchmarks" / "peers"))
import peers
import sides
import table

# Says its rank as the time of every pass; its rank 3 fails, and then the others would wait for ever.
WORKER = """import json, sys, time
case = json.loads(sys.stdin.readline())
if case["rank"] == 3:
    print(json.dumps({"error": "no such weights"}), flush=True)
    sys.exit(1)
if case["devices"] > 3:
    time.sleep(600)
print(json.dumps({"version": "1"}), flush=True)
for line in sys.stdin:
    print(json.dumps({"samples_ms": [10.0 + case["rank"]] * json.loads(line)["passes"]}), flush=True)
"""

# Is as fast as its layout's name is long.
LAYOUT_WORKER = """import json, sys
case = json.loads(sys.stdin.readline())
print(json.dumps({"version": "1"}), flush=True)
for line in sys.stdin:
    print(json.dumps({"samples_ms": [100 - len(case["layout"])] * json.loads(line)["passes"]}), flush=True)
"""

# A Python with a PyTorch that is twice as fast where it compiles, which it cannot in one of its layouts.
NEW_PYTHON = """#!{python}
import json, sys
if sys.argv[1] == "-c":
    print("9.8.7")
    sys.exit()
case = json.loads(sys.stdin.readline())
if case["compiled"] and case["layout"] == "contiguous":
    print(json.dumps({{"error": "no compiler"}}), flush=True)
    sys.exit(1)
print(json.dumps({{"version": "9.8.7", **({{"compile_s": 61.0}} if case["compiled"] else {{}})}}), flush=True)
for line in sys.stdin:
    print(json.dumps({{"samples_ms": [10.0 if case["compiled"] else 20.0] * json.loads(line)["passes"]}}), flush=True)
"""

# A tacho that writes down what it was asked.
TACHO = """#!/bin/sh
echo "$@" >>"$0.log"
echo '[{"samples_ms": [1.0], "peak_memory_mib": 1}]'
"""


def workers(devices):
    case = dict(devices=devices, threads=1, cores=sorted(os.sched_getaffinity(0))[:1] * devices, folder="")
    return sides.Workers([sys.executable, "-c", WORKER], [dict(case, **place) for place in sides.places(case)])


def result(devices, **rounds_ms):
    found = dict(model="resnet18", mode="train", batch=8, devices=devices, failed={}, about={}, memory_mib={}, differences={}, rounds_ms=rounds_ms)
    peers.summarize(found)
    return found


class WorkersTest(unittest.TestCase):
    def test_a_turn_is_the_mean_over_the_devices(self):
        with workers(2) as side:
            self.assertEqual(side.turn(1, 3), [10.5, 10.5, 10.5])

    def test_a_device_that_fails_ends_the_others(self):
        sides.CLOSING_SECONDS = 0.1
        with self.assertRaisesRegex(sides.Failure, "no such weights"):
            workers(4)

    def test_devices_have_cores_of_their_own(self):
        case = dict(devices=2, threads=2, cores=[4, 5, 6, 7])
        self.assertEqual([place["cores"] for place in sides.places(case)], [[4, 5], [6, 7]])


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def measured(folder, tacho, names, engine="native"):
    arguments = argparse.Namespace(tacho=tacho, engine=engine, peers=names, check=False, rounds=1, warmup=4, passes=2)
    case = dict(model="resnet18", mode="train", batch=8, devices=1, threads=1, image=[32, 32], channels=3,
                cores=sorted(os.sched_getaffinity(0))[:1])
    with mock.patch.object(sides.Torch, "command", [sys.executable, "-c", LAYOUT_WORKER]):
        (found,) = peers.measure(arguments, [case], folder)
    return found


class TorchEngineTest(unittest.TestCase):
    """tacho's torch engine beside PyTorch."""

    def measure(self, engine):
        """What tacho and PyTorch were told."""
        with tempfile.TemporaryDirectory() as folder:
            tacho = program(folder, "tacho", TACHO)
            found = measured(folder, tacho, ["torch"], engine)
            with open(tacho + ".log") as file:
                return found, file.read().splitlines()[-1].split()

    def test_both_have_the_faster_layout_of_pytorch_and_the_same_warm_up(self):
        found, asked = self.measure("torch")
        self.assertEqual(found["failed"], {})
        self.assertEqual(found["about"]["torch"]["layout"], "channels_last")
        self.assertEqual(asked[asked.index("--kernel") + 1], "channels_last")
        self.assertEqual(asked[asked.index("--warmup") + 1], "4")

    def test_another_engine_chooses_its_own_kernels(self):
        self.assertNotIn("--kernel", self.measure("native")[1])


class OtherTorchTest(unittest.TestCase):
    """A second PyTorch, of another Python."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tacho = program(self.folder, "tacho", TACHO)

    def measure(self, text, names):
        other = sides.other_torch(program(self.folder, "python", text))
        self.enterContext(mock.patch.dict(sides.SIDES, torch2=other))
        return measured(self.folder, self.tacho, names)

    def test_the_best_of_its_variants_is_counted_and_the_others_are_said(self):
        found = self.measure(NEW_PYTHON.format(python=sys.executable), ["torch", "torch2"])
        self.assertEqual(found["failed"], {})
        self.assertEqual(found["median_ms"]["torch2"], 10)
        said = table.table([found], ["torch", "torch2"])
        header, _, cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()[:3]]
        row = dict(zip(header, cells))
        self.assertEqual(row["PyTorch 9.8 variant"], "compiled channels_last")
        self.assertEqual(row["PyTorch variant"], "eager channels_last")
        self.assertIn("- PyTorch 9.8, resnet18 train batch 8: eager contiguous 20.0 ms; eager channels_last 20.0 ms; compiled contiguous "
                      "failed: no compiler; compiled channels_last 10.0 ms, compiled in 61 s", said)

    def test_where_no_variant_runs_all_reasons_are_given(self):
        broken = NEW_PYTHON.format(python=sys.executable).replace('if case["compiled"] and', "if True or")
        found = self.measure(broken, ["torch2", "torch"])
        self.assertEqual(found["failed"]["torch2"].count("no compiler"), 4)
        self.assertIn("torch", found["median_ms"])

    def test_it_is_asked_which_version_it_has(self):
        for text, reason in (("#!/bin/sh\necho hello", "hello"), ("#!/bin/sh\necho Error: no torch >&2; exit 1", "no torch")):
            with self.assertRaisesRegex(sides.Failure, f"no Python with PyTorch: .*{reason}"):
                sides.other_torch(program(self.folder, "python", text))
        with self.assertRaisesRegex(sides.Failure, "cannot be run: No such file"):
            sides.other_torch(os.path.join(self.folder, "none"))


class InterruptedTest(unittest.TestCase):
    def test_networks_that_ended_are_printed_and_kept(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        kept = os.path.join(folder, "results.json")
        ended = result(1, tacho=[[100, 100]], torch=[[200, 200]])
        program(folder, "tacho", TACHO)
        call = ["peers.py", "resnet18", "resnet50", "--mode", "train", "--peers", "torch", "--json", kept,
                "--tacho", os.path.join(folder, "tacho")]
        printed = io.StringIO()
        with mock.patch.object(sys, "argv", call), mock.patch.object(peers, "measure", side_effect=[[ended], KeyboardInterrupt]), \
                contextlib.redirect_stdout(printed):
            self.assertEqual(peers.main(), peers.INTERRUPTED)
        self.assertIn("2.00 (2.00 - 2.00)", printed.getvalue())
        self.assertIn("Interrupted: networks that were not finished are missing", printed.getvalue())
        with open(kept) as file:
            self.assertEqual([of["ratio"] for of in json.load(file)["results"]], [{"torch": 2.0}])
        self.assertEqual(os.listdir(folder), [name for name in os.listdir(folder) if not name.endswith(".part")])


class SpeedupTest(unittest.TestCase):
    def setUp(self):
        self.results = [result(1, tacho=[[100, 100], [110, 110]], torch=[[200, 200], [200, 200]]),
                        result(2, tacho=[[125, 125], [110, 110]], torch=[[400, 400], [250, 250]])]
        peers.add_speedups(self.results)

    def test_it_is_the_ratio_of_throughputs_over_all_and_round_by_round(self):
        two = self.results[1]
        self.assertAlmostEqual(two["speedup"]["tacho"], 2 * 105 / 117.5)
        self.assertEqual(two["round_speedups"]["tacho"], [1.6, 2.0])
        self.assertEqual(two["round_speedups"]["torch"], [1.0, 1.6])

    def test_the_table_shows_throughput_ratio_and_both_speedups(self):
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.table(self.results, ["torch"]).splitlines()]
        two = dict(zip(lines[0], lines[3]))
        self.assertEqual(two["devices"], "2")
        self.assertEqual(two["tacho images/s"], "136.17")
        self.assertEqual(two["tacho / PyTorch (rounds)"], "2.77 (2.27 - 3.20)")
        self.assertEqual(two["tacho speed-up (rounds)"], "1.79 (1.60 - 2.00)")
        self.assertEqual(two["PyTorch speed-up (rounds)"], "1.23 (1.00 - 1.60)")

    def test_without_one_device_there_is_none(self):
        two = result(2, tacho=[[125]])
        peers.add_speedups([two])
        self.assertNotIn("speedup", two)


if __name__ == "__main__":
    unittest.main()
