#!/usr/bin/env python3
"""Several GPUs with the whole program, by an engine that pretends to have some: gpus_test.py TACHO_FAKE_GPUS. Needs mpirun."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TACHO = ""
SKIPPED = 77
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "self,vader"]
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TACHO_FAKE_GPUS": "2"}
CUDA = ["--engine", "torch", "--device", "cuda", "--threads", "1", "--no-db"]
BENCH = ["bench", "squeezenet1_1", "--image", "64", "--batch", "2", "--warmup", "1", "--repeat", "3", *CUDA]


def run(*arguments, launcher=(), **environment):
    return subprocess.run([*launcher, TACHO, *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          env=dict(os.environ, **environment))


def records(*arguments, **options):
    done = run(*arguments, "--format", "json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TooFew(unittest.TestCase):
    def refuses(self, *arguments, saying, **options):
        done = run(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        (own,) = [line for line in done.stderr.splitlines() if line.startswith("tacho: ") and "warning: " not in line]
        self.assertRegex(own, saying)

    def test_gpus_of_this_machine_are_refused_at_once(self):
        self.refuses(*BENCH, "--devices", "3", saying="--device cuda: device 2 of this machine would be cuda:2, and there are cpu, cuda:0, cuda:1$")

    def test_gpus_for_the_ranks_of_a_launcher_are_refused_by_rank_0(self):
        three = [*MPIRUN, "-n", "3"]
        for command in (BENCH, ["train", "squeezenet1_1", "--data", "synthetic", "--subset", "16", "--batch", "4", "--steps", "1", *CUDA]):
            with self.subTest(command=command[0]):
                self.refuses(*command, "--devices", "3", launcher=three,
                             saying=r"^tacho: rank 2 on host \S+: --device cuda: device 2 of this machine would be cuda:2")

    def test_ranks_that_have_no_part_need_none(self):
        (record,) = records(*BENCH, "--devices", "2", launcher=[*MPIRUN, "-n", "3"])
        self.assertEqual(record["devices"], 2)

    def test_a_machine_without_gpus_is_refused_by_rank_0(self):
        self.refuses(*BENCH, launcher=[*MPIRUN, "-n", "2"], saying="^tacho: --device 'cuda': engine torch finds cpu here$", TACHO_FAKE_GPUS="0")


class Exchange(unittest.TestCase):
    def test_is_named_and_moves_as_much_by_gpus_themselves_as_through_the_host(self):
        training = [*BENCH, "--mode", "train", "--devices", "2"]
        (host,) = records(*training)
        (direct,) = records(*training, TACHO_FAKE_EXCHANGE="1")
        (alone,) = records(*BENCH, "--mode", "train")
        self.assertEqual(host["exchange"], "ring through the host")
        self.assertEqual(direct["exchange"], "a mapped file")
        self.assertNotIn("exchange", alone)
        self.assertEqual(host["bytes_moved"], direct["bytes_moved"])
        self.assertEqual(direct["allreduce_ms"], 1)

    def test_gives_the_same_weights_either_way(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("host", "direct")]
            for path, environment in zip(files, ({}, {"TACHO_FAKE_EXCHANGE": "1"})):
                (record,) = records("train", "squeezenet1_1", "--data", "synthetic", "--subset", "16", "--batch", "4", "--steps", "2",
                                    *CUDA, "--devices", "2", "--save-weights", path, **environment)
                self.assertEqual(record["exchange"], "a mapped file" if environment else "ring through the host")
            self.assertEqual(files[0].read_bytes(), files[1].read_bytes())


class Peak(unittest.TestCase):
    def test_is_that_of_all_gpus_in_the_precision(self):
        for precision, of_one in (("f32", 1000), ("bf16", 4000)):
            (record,) = records(*BENCH, "--devices", "2", "--precision", precision)
            (speed,) = record["system"]["gpu_speeds"]
            self.assertEqual((speed["device"], speed["devices"], speed["precision"]), ("cuda", 2, precision))
            self.assertEqual(speed["product_gflops"], 2 * of_one)
            self.assertAlmostEqual(record["percent_of_peak"], 100 * record["gflops"] / (2 * of_one))
            self.assertNotIn("speeds", record["system"])

    def test_of_each_gpu_is_told_by_system(self):
        system = json.loads(run("system", "--format", "json").stdout)
        speeds = [(s["device"], s["precision"], s["product_gflops"]) for s in system["gpu_speeds"]]
        self.assertEqual(speeds, [("cuda:0", "f32", 1000), ("cuda:0", "bf16", 4000), ("cuda:1", "f32", 1000), ("cuda:1", "bf16", 4000)])
        self.assertRegex(run("system").stdout, r"bf16 products, cuda:1 +\| 4000 GFLOP/s")


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("mpirun"):
        print("mpirun is missing: scripts/install-dependencies build")
        sys.exit(SKIPPED)
    unittest.main()
