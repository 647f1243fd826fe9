#!/usr/bin/env python3
"""Runs `tacho suite volume` at its smallest scale: volume_suite_test.py TACHO. Needs only the standard library."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

TACHO = ""
SMALLEST = ("suite", "volume", "--scale", "0.00001", "--model", "unet3d_lite", "--iterations", "2")


class VolumeSuiteTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_tacho(self, *arguments):
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache"), "XDG_DATA_HOME": self.path("data"),
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run([TACHO, *arguments], capture_output=True, text=True, timeout=600, env=environment)

    def refuses(self, words, *arguments):
        done = self.run_tacho(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(words, done.stderr)

    def test_prints_the_published_tables_put_right_beside_its_own_figures(self):
        done = self.run_tacho(*SMALLEST, "--system", "own", "--folder", self.path("volumes"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for title in ("Training:", "Prediction:", "100,000 iterations of training:", "A volume of 8.1 Tvox:"):
            table = done.stdout[done.stdout.index(title):].split("\n\n")[1]
            self.assertIn("| own ", table)
            self.assertIn("| SMC:V100 ", table)
        self.assertIn("255.7", done.stdout)
        self.assertIn("shrunk: unet3d_lite instead of unet3d; 2 iterations instead of 1001", done.stdout.replace("\n", " "))
        self.assertEqual(sorted(name.split("-")[0] for name in os.listdir(self.path("volumes"))), ["cremi", "cremi"])

        exported = self.path("all.json")
        self.assertEqual(self.run_tacho("results", "export", "-o", exported).returncode, 0)
        with open(exported) as file:
            training, prediction = sorted(json.load(file), key=lambda record: record["kind"], reverse=True)
        self.assertEqual((training["suite"], training["iterations"]), ("volume", 2))
        self.assertEqual([len(base64.b64decode(s["pixels"])) for s in prediction["slices"]],
                         [s["width"] * s["height"] for s in prediction["slices"]])
        self.assertEqual([s["name"] for s in prediction["slices"]], ["input", "least output", "greatest output"])

        again = self.path("again.db")
        self.assertEqual(self.run_tacho("results", "import", exported, "--db", again).returncode, 0)
        page = self.path("page.html")
        self.assertEqual(self.run_tacho("report", "-o", page, "--db", again).returncode, 0)
        with open(page) as file:
            self.assertIn(prediction["slices"][0]["pixels"], file.read())

    def test_whichever_of_several_devices_has_the_middle_block_the_record_has_its_pictures(self):
        done = self.run_tacho(*SMALLEST, "--devices", "2", "--format", "json")
        if "no MPI" in done.stderr:
            self.skipTest("this build has no MPI")
        self.assertEqual(done.returncode, 0, done.stderr)
        training, prediction = json.loads(done.stdout)
        self.assertEqual((training["devices"], prediction["devices"]), (2, 2))
        self.assertEqual(len(prediction["slices"]), 3)

    def test_published_blocks_are_made_to_fit_another_network(self):
        done = self.run_tacho(*SMALLEST, "--halo", "published", "--db", self.path("records.db"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("blocks of 54x572x572 instead of 55x575x575", done.stdout.replace("\n", " "))
        exported = self.run_tacho("results", "export", "--db", self.path("records.db"))
        (prediction,) = (record for record in json.loads(exported.stdout) if record["kind"] == "predict")
        self.assertEqual((prediction["block"], prediction["halo"], prediction["memory"]), ("54x572x572", "5x50x50", "low"))
        self.assertIn("inexact", prediction["reason"])

    def test_refuses_what_makes_no_sense(self):
        self.refuses("predicts no volumes", "suite", "volume", "--model", "resnet18")
        self.refuses("exact or published", "suite", "volume", "--halo", "some")
        self.refuses("is for the suite volume", "suite", "quick", "--iterations", "3")
        self.refuses("the suite has 1, 2, 4", "suite", "volume", "--devices", "3")
        with open(self.path("file"), "w"):
            pass
        self.refuses("file", *SMALLEST, "--folder", self.path("file"))


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    unittest.main(argv=sys.argv)
