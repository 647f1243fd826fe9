#!/usr/bin/env python3
"""The clusters that other tests run on are what they say, and tacho runs on them as docs/clusters.md says:
clusters_test.py TACHO. Needs root, Open MPI, iproute2 and Slurm."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

import namespaces
import slurm

SOURCES = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
TACHO = ""
BYTES = 1_000_000
SUM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static float values[250000];

int main(int argc, char** argv) {
  int rank, size;
  char host[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  printf("rank %d of %d on %s\\n", rank, size, host);
  for (int sums = argc > 1 ? atoi(argv[1]) : 1; sums > 0; --sums) {
    values[7] = rank + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, values, 250000, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %g in %.6f s\\n", values[7], MPI_Wtime() - begin);
  }
  MPI_Finalize();
}
"""
# Open MPI sends a large message in one piece by default: what would start the one of the other direction waits behind it.
BOTH_DIRECTIONS = {"OMPI_MCA_btl_tcp_flags": "send,inplace,need-ack,need-csum", "OMPI_MCA_btl_tcp_sndbuf": "131072"}
# Called like tacho, which then has little to do.
SMALL_TACHO = """#!/bin/sh
case $1 in
  bench) exec {tacho} "$@" --image 32 --batch 2 --kernel onednn --warmup 1 --repeat 2 ;;
  suite) exec {tacho} "$@" --scale 0.05 ;;
esac
exit 2
"""


def setUpModule():
    global FOLDER, PROGRAM
    FOLDER = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    PROGRAM = FOLDER / "sum"
    subprocess.run(["mpicc", "-O2", "-x", "c", "-", "-o", PROGRAM], input=SUM, text=True, check=True)


def calls():
    """Of every process."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_text().replace("\0", " ")


def recipes():
    """The indented blocks of the docs."""
    blocks = re.findall(r"(?:^    .*\n)+", (SOURCES / "docs/clusters.md").read_text(), re.MULTILINE)
    return [textwrap.dedent(block) for block in blocks]


class Test(unittest.TestCase):
    def hosts_in(self, done):
        """Of rank 0, 1, ..., which found the right sum."""
        self.assertEqual(done.returncode, 0, done.stderr)
        ranks = sorted(re.findall(r"rank (\d+) of (\d+) on (\w+)", done.stdout))
        self.assertEqual([(rank, size) for rank, size, _ in ranks], [(str(i), str(len(ranks))) for i in range(len(ranks))])
        self.assertIn(f"sum {sum(range(1, len(ranks) + 1))} in", done.stdout)
        return [host for _, _, host in ranks]


class Hosts(Test):
    def test_each_has_a_name_and_ranks_in_order(self):
        with namespaces.Cluster(hosts=3) as cluster:
            self.assertEqual(self.hosts_in(cluster.mpirun([PROGRAM])), ["node0", "node1", "node2"])
            self.assertEqual(self.hosts_in(cluster.mpirun([PROGRAM], ranks_per_host=2)),
                             ["node0", "node0", "node1", "node1", "node2", "node2"])

    def test_two_clusters_at_once_do_not_meet(self):
        with namespaces.Cluster() as one, namespaces.Cluster() as other:
            with concurrent.futures.ThreadPoolExecutor() as pool:
                for done in pool.map(lambda cluster: cluster.mpirun([PROGRAM]), (one, other)):
                    self.assertEqual(self.hosts_in(done), ["node0", "node1"])

    def test_variables_reach_every_rank(self):
        with namespaces.Cluster() as cluster:
            done = cluster.mpirun(["sh", "-c", 'echo "$(hostname): $WORDS"'], env={"WORDS": "two, words"})
            self.assertCountEqual(done.stdout.splitlines(), ["node0: two, words", "node1: two, words"], done.stderr)

    def test_a_sum_takes_as_long_as_the_link_says(self):
        shortest = {}
        with namespaces.Cluster(rate_mbit=40) as cluster:
            for mbit in (40, 20):
                cluster.limit_link("node1", mbit)
                before = cluster.bytes_sent("node1")
                done = cluster.mpirun([PROGRAM, "4"], env=BOTH_DIRECTIONS)
                self.assertGreater(cluster.bytes_sent("node1") - before, 4 * BYTES)
                shortest[mbit] = min(map(float, re.findall(r"in (\S+) s", done.stdout)))
                self.assertGreater(shortest[mbit], 0.98 * BYTES * 8e-6 / mbit)
        self.assertAlmostEqual(shortest[20] / shortest[40], 2, delta=0.2)

    def test_a_host_that_is_unplugged_answers_nobody(self):
        with namespaces.Cluster() as cluster:
            call = ["timeout", "2", "bash", "-c", "echo >/dev/tcp/node1/1"]
            self.assertIn("refused", cluster.run("node0", call).stderr)
            cluster.unplug("node1")
            self.assertNotIn("refused", cluster.run("node0", call).stderr)

    def test_a_host_takes_no_more_than_its_share_of_the_cpu(self):
        busy = "import time\nend = time.time() + 1\nwhile time.time() < end: pass\nprint(time.process_time())"
        with namespaces.Cluster() as cluster:
            try:
                cluster.limit_cpu("node1", 0.25)
            except namespaces.Unsupported as problem:
                self.skipTest(str(problem))
            seconds = float(cluster.run("node1", [sys.executable, "-c", busy]).stdout)
        self.assertLess(seconds, 0.35 * len(cluster.cores("node1")))

    def test_nothing_is_left_of_a_test_that_is_killed(self):
        script = """
            import namespaces, subprocess
            with namespaces.Cluster() as cluster:
                print(cluster.folder, cluster.groups.folder, flush=True)
                subprocess.run(cluster.mpirun_command(["sh", "-c", "echo runs; exec sleep 1000.125"]))
            """
        test = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], cwd=pathlib.Path(__file__).parent,
                                stdout=subprocess.PIPE, text=True)
        places, *ranks = [test.stdout.readline() for _ in range(3)]
        self.assertEqual(ranks, ["runs\n", "runs\n"])
        test.kill()
        test.communicate()
        while any(map(os.path.exists, places.split())):
            time.sleep(0.05)
        self.assertEqual([call for call in calls() if "1000.125" in call or places.split()[0] in call], [])


class InSlurm(Test):
    @classmethod
    def setUpClass(cls):
        if reason := slurm.why_unsupported():
            raise unittest.SkipTest(reason)
        cls.slurm = cls.enterClassContext(slurm.Slurm(hosts=2))

    def test_srun_starts_the_ranks(self):
        done = self.slurm.run(["srun", "-n", "2", "--mpi=pmix", PROGRAM])
        self.assertEqual(self.hosts_in(done), ["node0", "node1"])

    def test_mpirun_finds_the_allocation(self):
        done = self.slurm.run(["salloc", "-n", "2", "mpirun", PROGRAM])
        self.assertEqual(self.hosts_in(done), ["node0", "node1"])

    def test_recipes_of_the_docs_run_as_written(self):
        (FOLDER / "bin").mkdir()
        (FOLDER / "bin/tacho").write_text(SMALL_TACHO.format(tacho=TACHO))
        (FOLDER / "bin/tacho").chmod(0o755)
        variables = {"PATH": f"{FOLDER}/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{FOLDER}/cache"}
        with contextlib.chdir(FOLDER), unittest.mock.patch.dict(os.environ, variables):
            for name, begin in (("hosts", "node0 slots"), ("scaling.sh", "#!")):
                (FOLDER / name).write_text(next(recipe for recipe in recipes() if recipe.startswith(begin)))
            calls = [recipe for recipe in recipes() if re.match("mpirun|srun|salloc", recipe)] + ["sbatch --wait scaling.sh"]
            self.assertEqual(len(calls), 5)
            for number, call in enumerate(calls):
                with self.subTest(call), unittest.mock.patch.dict(os.environ, XDG_DATA_HOME=f"{FOLDER}/{number}"):
                    self.check_recipe(call, FOLDER / ("scaling.db" if "sbatch" in call else f"{number}/tacho/results.db"))

    def check_recipe(self, call, store):
        """That both hosts took part."""
        done = self.slurm.run(["sh", "-c", call])
        if "suite nodes" in call:
            self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: other work on this machine slowed a host
            self.assertRegex(done.stdout, "(?ms)^node0 .*^node1 ")
            return
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        kept = subprocess.run([TACHO, "results", "export", "--db", store], capture_output=True, text=True, check=True)
        one, two = json.loads(kept.stdout)
        self.assertEqual((one["devices"], two["devices"], two["nodes"]), (1, 2, 2))
        self.assertEqual([rank["host"] for rank in two["ranks"]], ["node0", "node1"])

    def test_ranks_that_tacho_starts_are_on_its_own_host(self):
        done = self.slurm.run(["salloc", "-n", "2", TACHO, "bench", "squeezenet1_1", "--image", "32", "--batch", "1", "--warmup",
                               "1", "--repeat", "2", "--devices", "2", "--threads", "1", "--no-db", "--format", "json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        (record,) = json.loads(done.stdout)
        self.assertEqual([rank["host"] for rank in record["ranks"]], ["node0", "node0"])

    def test_the_end_of_a_script_is_waited_for(self):
        script, output = FOLDER / "job", FOLDER / "output"
        script.write_text(f"#!/bin/sh\n#SBATCH -n 2 -o {output}\nsrun --mpi=pmix {PROGRAM}\nexit 3\n")
        done = self.slurm.run(["sbatch", "--wait", script])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(output.read_text(), "rank 1 of 2 on node1")


if __name__ == "__main__":
    reason = namespaces.why_unsupported() if shutil.which("mpicc") else "mpicc is missing"
    if reason:
        print(reason)
        sys.exit(SKIPPED)
    TACHO = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
