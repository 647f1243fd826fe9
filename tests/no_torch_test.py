#!/usr/bin/env python3
"""What a build without libtorch is made of and says, where libtorch is installed: no_torch_test.py TACHO_WITHOUT_TORCH SOURCE.
Needs only the standard library."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TACHO = SOURCE = ""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


class Program(unittest.TestCase):
    def test_asking_for_torch_says_how_to_get_it(self):
        done = run(TACHO, "bench", "squeezenet1_1", "--engine", "torch", "--no-db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("engine torch: this tacho has no libtorch; scripts/install-dependencies torch, then build it", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_the_other_engines_compute(self):
        done = run(TACHO, "bench", "squeezenet1_1", "--engine", "native,reference", "--batch", "1", "--image", "32x32", "--warmup", "0",
                   "--repeat", "1", "--no-db", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        for cell in json.loads(done.stdout):
            self.assertIn("samples_ms", cell)
            self.assertNotIn("torch", cell["system"]["engines"])


class Configuration(unittest.TestCase):
    def configure(self, folder, *options):
        return run("cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", *options)

    def test_switched_off_nothing_of_libtorch_is_compiled(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.configure(folder, "-DTACHO_TORCH=OFF")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(folder, "compile_commands.json")) as file:
                commands = json.load(file)
        torch = {os.path.basename(each["file"]) for each in commands if "/engine/torch/" in each["file"]}
        self.assertIn("no_torch.cpp", torch)
        self.assertFalse({"load_torch.cpp", "torch_plan.cpp", "torch_module.cpp"} & torch, torch)
        self.assertFalse([each["file"] for each in commands if "torch/csrc" in each["command"]])

    def test_a_folder_that_has_no_libtorch_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.configure(folder, f"-DTACHO_TORCH_DIR={SOURCE}/docs")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("TACHO_TORCH_DIR:", done.stderr)


if __name__ == "__main__":
    TACHO, SOURCE = (os.path.abspath(argument) for argument in (sys.argv.pop(1), sys.argv.pop(1)))
    unittest.main()
