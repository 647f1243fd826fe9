#!/usr/bin/python3
"""The machine's own Python as the second PyTorch of benchmarks/peers, with the whole program: torch_python_test.py TACHO. Skipped
where PyTorch or torchvision is not there."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benchmarks", "peers", "peers.py")
PYTHON = "/usr/bin/python3"
TACHO = ""


def compare(*arguments):
    return subprocess.run([PYTHON, PEERS, "squeezenet1_1", "--image", "64x64", "--batch", "2", "--rounds", "1", "--passes", "1",
                           "--tacho", TACHO, *arguments], capture_output=True, text=True)


class TorchPython(unittest.TestCase):
    def test_it_is_one_more_peer_on_the_same_work(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples.json")
            done = compare("--peers", "torch", "--torch-python", PYTHON, "--json", path)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(path) as file:
                results = json.load(file)["results"]
        self.assertEqual([result["mode"] for result in results], ["infer", "train"])
        for result in results:
            self.assertEqual(sorted(result["median_ms"]), ["tacho", "torch", "torch2"])
            trials = {trial["variant"]: trial for trial in result["about"]["torch2"]["trials"]}
            self.assertEqual(len(trials), 4)
            self.assertIn("ms", trials["eager contiguous"])
        self.assertLess(results[0]["differences"]["torch2"], 1e-4)
        title = re.search(r"PyTorch \d+\.\d+ ms", done.stdout)
        self.assertTrue(title, done.stdout)

    def test_a_variant_that_cannot_be_compiled_is_named(self):
        import torch
        if hasattr(torch, "compile"):
            self.skipTest("this PyTorch can")
        done = compare("--peers", "torch2", "--torch-python", PYTHON, "--mode", "infer")
        self.assertEqual(done.returncode, 0, done.stderr)
        for layout in ("contiguous", "channels_last"):
            self.assertRegex(done.stdout, rf"compiled {layout} failed: not available: PyTorch \S+ has no torch.compile")

    def test_what_is_no_python_with_pytorch_is_refused(self):
        for path in ("/bin/true", "/no/such/python"):
            done = compare("--torch-python", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, rf"\Apeers: --torch-python: {path} [^\n]*\n\Z")


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    try:
        import torch
        import torchvision
    except ImportError as error:
        print(f"skipped: {error}; install python3-torch and python3-torchvision")
        sys.exit(77)
    unittest.main()
