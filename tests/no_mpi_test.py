#!/usr/bin/env python3
"""A tacho that was built without MPI: no_mpi_test.py TACHO. Needs only the standard library."""

import json
import os
import shutil
import subprocess
import sys
import unittest

TACHO = ""
CELL = ["bench", "squeezenet1_1", "--image", "64", "--batch", "1", "--warmup", "1", "--repeat", "3", "--no-db", "--format", "json"]


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})


class WithoutMpi(unittest.TestCase):
    def refuses(self, done):
        self.assertEqual(done.returncode, 2, done.stderr)
        own = [line for line in done.stderr.splitlines() if line.startswith("tacho: ")]
        self.assertEqual(len(own), 1, done.stderr)
        self.assertIn("this build has no MPI; install libopenmpi-dev and build again", own[0])
        self.assertEqual(done.stdout, "")

    def test_one_device_works(self):
        done = run(TACHO, *CELL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)[0]["devices"], 1)

    def test_several_devices_are_refused_with_what_is_missing(self):
        self.refuses(run(TACHO, *CELL, "--devices", "2"))

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_so_are_those_of_a_launcher_by_rank_0_alone(self):
        self.refuses(run("mpirun", "-n", "2", "--oversubscribe", TACHO, *CELL, OMPI_ALLOW_RUN_AS_ROOT="1",
                         OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
