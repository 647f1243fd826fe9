#!/usr/bin/env python3
"""The torch engine with the whole program: torch_test.py TACHO. Needs only the standard library; skipped where the build has
no libtorch."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TACHO = ""
SMALL = ["--batch", "2", "--image", "64x64", "--warmup", "1", "--repeat", "3", "--no-db"]


def tacho(*arguments, **environment):
    return subprocess.run([TACHO, *arguments], capture_output=True, text=True, timeout=600,
                          env=dict(os.environ, **environment))


def records(*arguments):
    done = tacho(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class SideBySide(unittest.TestCase):
    def test_engines_take_turns_and_agree(self):
        cells = records("bench", "resnet18", "squeezenet1_1", "--engine", "native,torch", "--mode", "infer,train", *SMALL)
        self.assertEqual(len(cells), 8)
        self.assertEqual({cell["engine"] for cell in cells}, {"native", "torch"})
        self.assertTrue(all("samples_ms" in cell for cell in cells), [cell.get("reason") for cell in cells])
        self.assertEqual(len({cell["interleaved"] for cell in cells}), 4)
        for native, torch in zip(cells[::2], cells[1::2]):
            self.assertEqual((native["engine"], torch["engine"]), ("native", "torch"))
            for field in ("interleaved", "model", "mode"):
                self.assertEqual(native[field], torch[field])

    def test_a_second_table_says_which_is_faster(self):
        done = tacho("bench", "squeezenet1_1", "--engine", "native,torch", *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"native ms \| torch ms \| ratio")

    def test_layouts_are_kernels(self):
        cells = records("bench", "squeezenet1_1", "--engine", "torch", "--kernel", "contiguous,channels_last", "--interleave", *SMALL)
        self.assertEqual([cell["kernel"] for cell in cells], ["contiguous", "channels_last"])

    def test_devices_share_a_training(self):
        (cell,) = records("bench", "squeezenet1_1", "--engine", "torch", "--mode", "train", "--devices", "2", "--threads", "1", *SMALL)
        self.assertEqual((cell["devices"], cell["engine"]), (2, "torch"))
        self.assertIn("samples_ms", cell)

    def test_turns_are_not_gone_on_with(self):
        done = tacho("bench", "squeezenet1_1", "--engine", "native,torch", "--continue")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--continue: cells that take turns", done.stderr)


class Precision(unittest.TestCase):
    def test_reduced_precision_is_held_against_single(self):
        cells = records("bench", "resnet18", "--engine", "torch", "--precision", "f32,bf16", "--mode", "infer,train", *SMALL)
        self.assertEqual([cell["precision"] for cell in cells], ["f32", "bf16"] * 2)
        self.assertTrue(all("samples_ms" in cell for cell in cells), [cell.get("reason") for cell in cells])

    def test_what_a_device_has_not_got_is_refused_by_name(self):
        for precision in ("f16", "tf32", "f8"):
            done = tacho("bench", "resnet18", "--engine", "torch", "--precision", precision)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--precision '{precision}': engine torch has f32, bf16", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_gpu_that_is_not_there_is_refused_with_what_was_found(self):
        done = tacho("bench", "resnet18", "--engine", "torch", "--device", "cuda:9")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"--device 'cuda:9': engine torch finds cpu[^\n]* here\n$")
        done = tacho("bench", "resnet18", "--device", "cuda")
        self.assertIn("--device 'cuda': engine native finds cpu here", done.stderr)


class Training(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def train(self, *arguments):
        return tacho("train", "squeezenet1_1", "--data", "synthetic", "--subset", "64", "--batch", "16", "--image", "32", "--no-db",
                     "--format", "json", *arguments)

    def test_both_engines_learn_the_same(self):
        losses = []
        for engine in ("native", "torch"):
            done = self.train("--epochs", "2", "--engine", engine)
            self.assertEqual(done.returncode, 0, done.stderr)
            losses.append([epoch["loss"] for epoch in json.loads(done.stdout)[0]["epochs"]])
        for native, torch in zip(*losses):
            self.assertAlmostEqual(native, torch, delta=1e-3 * abs(native))

    def test_a_network_learns_in_reduced_precision(self):
        losses = {}
        for precision in ("f32", "bf16"):
            done = self.train("--epochs", "2", "--engine", "torch", "--precision", precision)
            self.assertEqual(done.returncode, 0, done.stderr)
            (record,) = json.loads(done.stdout)
            self.assertEqual(record["precision"], precision)
            losses[precision] = [epoch["loss"] for epoch in record["epochs"]]
        self.assertNotEqual(losses["f32"], losses["bf16"])
        for exact, reduced in zip(*losses.values()):
            self.assertAlmostEqual(exact, reduced, delta=0.05 * abs(exact))

    def test_one_engine_goes_on_where_another_stopped(self):
        checkpoints = os.path.join(self.folder, "run")
        common = ["--epochs", "2", "--checkpoint", checkpoints]
        stopped = self.train(*common, "--engine", "torch", "--target-accuracy", "0")
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        done = self.train(*common, "--engine", "native", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("engine torch computed it before, now native", done.stderr)


class Loading(unittest.TestCase):
    def test_libtorch_is_loaded_by_whoever_asks_for_it(self):
        loaded = lambda *arguments: "libtorch" in tacho(*arguments, LD_DEBUG="files").stderr
        self.assertFalse(loaded("bench", "squeezenet1_1", "--engine", "native", *SMALL))
        self.assertTrue(loaded("bench", "squeezenet1_1", "--engine", "torch", *SMALL))


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    if "engine torch" not in tacho("system").stdout:
        print("skipped: this build has no libtorch")
        sys.exit(77)
    unittest.main()
