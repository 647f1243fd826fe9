#!/usr/bin/env python3
"""How benchmarks/peers compares sides and several devices: peers_test.py SOURCES. No network runs: the workers are made up."""

import argparse
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


class TorchEngineTest(unittest.TestCase):
    """tacho's torch engine beside PyTorch."""

    def measure(self, engine):
        """What tacho and PyTorch were told."""
        with tempfile.TemporaryDirectory() as folder:
            tacho = os.path.join(folder, "tacho")
            with open(tacho, "w") as file:
                file.write(TACHO)
            os.chmod(tacho, 0o755)
            arguments = argparse.Namespace(tacho=tacho, engine=engine, peers=["torch"], check=False, rounds=1, warmup=4, passes=2)
            case = dict(model="resnet18", mode="train", batch=8, devices=1, threads=1, image=[32, 32], channels=3,
                        cores=sorted(os.sched_getaffinity(0))[:1])
            with mock.patch.object(sides.Torch, "command", [sys.executable, "-c", LAYOUT_WORKER]):
                (found,) = peers.measure(arguments, [case], folder)
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
