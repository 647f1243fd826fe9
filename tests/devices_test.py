#!/usr/bin/env python3
"""Several devices over MPI, with the whole program: devices_test.py TACHO [--soak]. Needs python3-numpy and mpirun; tests
on several hosts need what tests/namespaces.py needs. With --soak ranks are lost at ten moments each."""

import concurrent.futures
import csv
import io
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy

sys.dont_write_bytecode = True
import namespaces
from started_ranks import ranks_of
from tensor_files import read_safetensors, write_safetensors

TACHO = ""
SOAK = False
SKIPPED = 77
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "self,vader"]
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*arguments, launcher=(), **options):
    return subprocess.run([*launcher, TACHO, *map(str, arguments)], capture_output=True, text=True, timeout=900, **options)


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def records(self, *arguments, **options):
        done = run(*arguments, "--format", "json", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refuses(self, *arguments, saying, **options):
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, 2, done.stderr)
        own = [line for line in done.stderr.splitlines() if line.startswith("tacho: ") and "warning: " not in line]
        self.assertEqual(len(own), 1, done.stderr)
        self.assertIn(saying, own[0])
        return done

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def only_rank_0_is_here(self):
        """What runs a command in the folder where it is called, but other ranks in another one; and that folder."""
        script = self.script("only-rank-0-is-here", f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] || cd {self.folder}\nexec "$@"')
        here = self.folder / "here"
        here.mkdir()
        return script, here


class Measuring(Test):
    SMALL = ["squeezenet1_1", "--image", "64", "--threads", "1", "--warmup", "1", "--repeat", "4", "--no-db"]

    def test_parts_add_up_to_the_pass_and_losses_to_its_difference(self):
        one, two = self.records("bench", *self.SMALL, "--mode", "train", "--batch", "4", "--devices", "1,2")
        self.assertEqual((two["devices"], two["nodes"], two["parallel"]), (2, 1, "allreduce"))
        self.assertEqual(len(two["ranks"]), 2)
        parts = ("forward_ms", "backward_ms", "exposed_allreduce_ms", "wait_ms", "update_ms")
        for part in parts:
            self.assertIn(part, two)
        self.assertAlmostEqual(sum(two[part] for part in parts), two["median_ms"], delta=0.05 * two["median_ms"])
        # Each of the two sends all gradients once.
        self.assertAlmostEqual(two["bytes_moved"], 2 * 4 * 1_235_496, delta=0.01 * two["bytes_moved"])
        if two["verdict"] != "oversubscribed":
            self.assertAlmostEqual(sum(two["lost_ms"].values()), two["median_ms"] - one["median_ms"],
                                   delta=0.05 * two["median_ms"])
            self.assertAlmostEqual(two["speedup"], two["images_per_s"] / one["images_per_s"])
        self.assertAlmostEqual(sum(bucket["bytes"] for bucket in one["buckets"]), 4 * 1_235_496, delta=1e5)

    def test_gradients_are_exchanged_in_pieces_of_the_size_asked_for(self):
        small, large = self.records("bench", *self.SMALL, "--mode", "train", "--batch", "4", "--devices", "2", "--bucket-mib", "1,25")
        self.assertEqual((small["bucket_mib"], large["bucket_mib"]), (1, 25))
        pieces, fewer = ([bucket["bytes"] for bucket in record["buckets"]] for record in (small, large))
        self.assertLessEqual(max(pieces), 1 << 20)
        self.assertGreater(len(pieces), len(fewer))
        self.assertEqual(sum(pieces), sum(fewer))

    def test_a_batch_is_scattered_and_gathered(self):
        for devices, record in zip((1, 2), self.records("bench", *self.SMALL, "--batch", "3", "--parallel", "scatter",
                                                        "--devices", "1,2")):
            self.assertEqual(record["time_includes"], ["transfer"])
            images = 3 * (devices - 1)  # that go to another device
            self.assertEqual(record["bytes_moved"], images * 4 * (3 * 64 * 64 + 1000))
            parts = [record[part] for part in ("scatter_ms", "forward_ms", "gather_ms", "wait_ms")]
            self.assertAlmostEqual(sum(parts), record["median_ms"], delta=0.05 * record["median_ms"])

    def test_the_grid_of_devices_and_batches_says_where_each_time_went(self):
        store = self.folder / "grid.db"
        done = run("suite", "grid", "--scale", "0.001", "--devices", "1,2", "--format", "md", "--db", store)
        self.assertEqual(done.returncode, 0, done.stderr)
        times, parts = ([[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| ")]
                        for table in done.stdout.split("Where the time went"))
        here = [row for row in times[1:] if row[2] == "native"]
        self.assertEqual(([row[3] for row in here], times[0][4:6]), (["1", "2"], ["16", "32"]))
        self.assertIn("DGX Station V100", [row[1] for row in times])
        columns = [parts[0].index(name) for name in ("Scatter ms", "Forward ms", "Wait ms", "Gather ms")]
        cells = {(int(row[0]), int(row[1])): row for row in parts[1:]}
        self.assertEqual(sorted(cells), [(1, 16), (1, 32), (2, 16), (2, 32)])
        kept = json.loads(run("results", "export", "--db", store).stdout)
        self.assertEqual(sorted((record["devices"], record["devices"] * record["batch"]) for record in kept), sorted(cells))
        for record in kept:
            row = cells[record["devices"], record["devices"] * record["batch"]]
            self.assertAlmostEqual(sum(float(row[column]) for column in columns), record["median_ms"], delta=0.05 * record["median_ms"])
        page = store.with_suffix(".report.html").read_text()
        self.assertEqual([], [record["id"] for record in kept if record["id"] not in page])

    def test_devices_without_cores_are_oversubscribed_and_have_no_speedup(self):
        cores = len(os.sched_getaffinity(0))
        *_, most = self.records("bench", *self.SMALL, "--batch", "1", "--devices", f"1,{2 * cores}")
        self.assertEqual(most["verdict"], "oversubscribed")
        self.assertNotIn("percent_of_peak", most)
        self.assertNotIn("speedup", most)

    def test_a_launchers_ranks_are_the_devices(self):
        (record,) = self.records("bench", *self.SMALL, "--batch", "1", launcher=[*MPIRUN, "-n", "3"])
        self.assertEqual(record["devices"], 3)
        self.assertEqual([rank["rank"] for rank in record["ranks"]], [0, 1, 2])

    def test_cells_of_other_devices_can_take_turns(self):
        records = self.records("bench", *self.SMALL, "--batch", "1", "--devices", "1,2", "--interleave")
        self.assertEqual([len(record["samples_ms"]) for record in records], [4, 4])

    def test_bad_calls_are_refused_once(self):
        self.refuses("bench", "resnet18", "--devices", "0", saying="--devices '0'")
        self.refuses("bench", "resnet18", "--devices", str(16 * os.cpu_count() + 1), saying="at most on the")
        self.refuses("bench", "resnet18", "--devices", "2", "--mode", "train", "--parallel", "scatter", saying="allreduce")
        two = [*MPIRUN, "-n", "2"]
        self.refuses("bench", "resnet18", "--devices", "3", launcher=two, saying="the launcher gave 2 ranks; ask it for 3")
        self.refuses("bench", "resnet81", launcher=two, saying="resnet81")
        self.refuses("suite", "nodes", launcher=two, saying="several")
        for option in ("--db", "--continue", "--devices", "--data"):
            self.refuses("suite", "nodes", option, "1", saying=f"{option}: ")
        self.refuses("resnet18", launcher=two, saying="unknown command")
        self.refuses("system", "--format", "csv", launcher=two, saying="prints table, md or json")
        unlike = self.script("unlike", 'exec "$@" --batch $((OMPI_COMM_WORLD_RANK + 1))')
        self.refuses("bench", *self.SMALL, launcher=[*two, unlike], saying="ranks disagree")
        # A data set that one rank alone lacks.
        script, here = self.only_rank_0_is_here()
        subprocess.run([TACHO, "data", "make", "cifar10", here / "data", "--records", "40"], check=True)
        self.refuses("train", "squeezenet1_1", "--data", "cifar10:data", "--no-db", launcher=[*two, script], cwd=here,
                     saying="rank 1 on host")

    def test_without_a_launcher_it_says_what_to_install(self):
        done = self.refuses("bench", *self.SMALL, "--devices", "2", env={**os.environ, "PATH": "/nowhere"},
                            saying="openmpi-bin")
        self.assertEqual(done.stdout, "")

    def test_commands_that_measure_nothing_are_rank_0s_alone(self):
        done = run("models", "--format", "json", launcher=[*MPIRUN, "-n", "3"])
        self.assertEqual(len(json.loads(done.stdout)), 16)


class Learning(Test):
    IMAGES = 24
    seed = 4

    def first_weights(self, network):
        """Such that no value before a ReLU lies next to zero, where rounding alone would decide."""
        path = self.folder / f"{network}.first"
        if path.exists():
            return path
        subprocess.run([TACHO, "weights", "init", network, "--seed", "1", "--classes", "5", "-o", path], check=True)
        tensors = {}
        for name, (kind, shape, data) in read_safetensors(path).items():
            values = numpy.frombuffer(data, numpy.float32).copy() if kind == "F32" else data
            layer, _, what = name.rpartition(".")
            is_norm = f"{layer}.running_mean" in read_safetensors(path)
            if what == "weight":
                values = numpy.full_like(values, 0.2) if is_norm else values * (1 if "fc" in name or is_norm else 0.15)
            if what == "bias" and "fc" not in name:
                values[:] = 1
                if not layer.endswith(("bn2", "downsample.1")):  # sums of branches are above 0
                    values[::4] = -1
            tensors[name] = (kind, shape, bytes(values))
        write_safetensors(path, tensors)
        return path

    def train(self, name, devices, batch, *more, network="squeezenet1_1", steps=5):
        images, labels = self.folder / "x.npy", self.folder / "y.npy"
        if not images.exists():
            draw = numpy.random.default_rng(self.seed)
            numpy.save(images, draw.normal(size=(self.IMAGES, 3, 64, 64)).astype(numpy.float32))
            numpy.save(labels, draw.integers(0, 5, self.IMAGES))
        weights = self.folder / f"{name}.safetensors"
        done = run("train", network, "--data", f"npy:{images},{labels}", "--shuffle", "off", "--augment", "none",
                   "--devices", devices, "--threads", "1", "--batch", batch, "--steps", steps, "--classes", "5", "--optimizer", "sgd",
                   "--lr", "0.01", "--schedule", "constant", "--kernel", "direct", "--no-db", "--weights", self.first_weights(network),
                   "--save-weights", weights, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return weights.read_bytes(), done

    def difference(self, name, other):
        """Of the worst tensor from what it should be, in its norm."""
        ours, theirs = ({key: numpy.frombuffer(data, numpy.float32) for key, (_, _, data) in
                         read_safetensors(self.folder / f"{which}.safetensors").items() if "num_batches" not in key}
                        for which in (name, other))
        worst = 0
        for key in theirs:
            if "running" in key:
                continue
            worst = max(worst, numpy.linalg.norm(ours[key] - theirs[key]) / numpy.linalg.norm(theirs[key]))
        return worst

    def test_devices_learn_what_one_learns_from_all_images(self):
        self.train("one", 1, 12, "--dropout", "0")
        for devices in (2, 3, 4):
            self.train("many", devices, 12 // devices, "--dropout", "0")
            self.assertLess(self.difference("many", "one"), 1e-5, devices)
        self.train("one", 1, 9, "--dropout", "0")
        self.train("many", 3, 3, "--dropout", "0")
        self.assertLess(self.difference("many", "one"), 1e-5)

    def worst_in_step(self, seed):
        self.seed = seed
        (self.folder / "x.npy").unlink(missing_ok=True)
        self.train("one", 1, 6, network="resnet18")
        worst = 0
        for devices in (2, 3):
            self.train("many", devices, 6 // devices, "--batch-norm", "sync", network="resnet18")
            worst = max(worst, self.difference("many", "one"))
        return worst

    def test_so_they_do_with_batch_norms_in_step(self):
        self.addCleanup((self.folder / "x.npy").unlink, missing_ok=True)
        # Of some draws one maximum of a pooling lies so near the next that a CPU's rounding turns it: not of all.
        self.assertTrue(any(self.worst_in_step(seed) < 1e-5 for seed in (4, 1, 2)))
        self.train("many", 2, 3, network="resnet18")  # out of step they do not
        self.assertGreater(self.difference("many", "one"), 1e-4)

    def test_the_same_run_ends_in_the_same_bits(self):
        first, _ = self.train("first", 2, 3, network="resnet18")
        again, _ = self.train("again", 2, 3, network="resnet18")
        self.assertEqual(first, again)

    def test_goes_on_from_a_checkpoint_with_the_same_and_with_other_devices(self):
        whole, _ = self.train("whole", 2, 3, "--dropout", "0", steps=6)
        for resumed in (2, 1):
            checkpoints = ["--checkpoint", self.folder / f"checkpoints{resumed}", "--checkpoint-every", "1", "--dropout", "0"]
            self.train("part", 2, 3, *checkpoints, steps=6)
            # As if the run had been killed after its fourth step.
            for path in (self.folder / f"checkpoints{resumed}").glob("*"):
                if int("".join(filter(str.isdigit, path.stem))) > 4:
                    path.unlink()
            weights, done = self.train("resumed", resumed, 6 // resumed, *checkpoints, "--resume", steps=6)
            self.assertIn("resumed at step 4 of 6", done.stderr)
            if resumed == 2:
                self.assertEqual(weights, whole)
            else:
                self.assertIn("it ran on 2 devices before, now on 1: it will not end in the same bits", done.stderr)
                self.assertLess(self.difference("resumed", "whole"), 1e-5)

    def test_another_batch_over_all_devices_is_another_run(self):
        checkpoints = ["--checkpoint", self.folder / "checkpoints"]
        self.train("part", 2, 3, *checkpoints, steps=1)
        self.refuses("train", "squeezenet1_1", "--data", f"npy:{self.folder}/x.npy,{self.folder}/y.npy", "--batch", "3",
                     "--steps", "1", "--classes", "5", "--no-db", *checkpoints, "--resume", saying="batch 6 over all 2 devices, here 3 over 1")


class Mistakes(Test):
    """That one rank alone makes while others wait for it."""

    TRAINING = ["train", "squeezenet1_1", "--data", "synthetic", "--subset", "16", "--batch", "4", "--steps", "2", "--threads", "1",
                "--no-db"]
    ON_TWO = [*TRAINING, "--devices", "2"]

    def test_a_folder_for_checkpoints_that_cannot_be_made_is_refused(self):
        self.refuses(*self.ON_TWO, "--checkpoint", "/dev/null/checkpoints", saying="--checkpoint /dev/null/checkpoints")

    def test_a_checkpoint_that_does_not_fit_is_refused(self):
        checkpoints = ["--checkpoint", self.folder]
        self.assertEqual(run(*self.ON_TWO, *checkpoints).returncode, 0)
        (path,) = self.folder.glob("*.safetensors")
        tensors = read_safetensors(path)
        del tensors["features.0.weight"]
        write_safetensors(path, tensors)
        self.refuses(*self.ON_TWO, *checkpoints, "--resume", saying="it has no 'features.0.weight'")

    def test_a_log_that_cannot_be_written_ends_all_ranks(self):
        done = run(*self.ON_TWO, "--log", "/dev/full")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"tacho: rank 0 on host \S+: --log /dev/full: cannot be written")

    def test_files_that_rank_0_alone_reads_and_writes_need_not_be_elsewhere(self):
        script, here = self.only_rank_0_is_here()
        (here / "results").mkdir()
        weights = here / "first.safetensors"
        subprocess.run([TACHO, "weights", "init", "squeezenet1_1", "--classes", "10", "-o", weights], check=True)
        done = run(*self.TRAINING, "--weights", weights.name, "--log", "results/log", "--save-weights", "results/weights",
                   launcher=[*MPIRUN, "-n", "2", script], cwd=here)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_ranks_of_another_version_of_the_program_are_refused(self):
        version = json.loads(run("system", "--format", "json").stdout)["version"].encode()
        other, newer = self.folder / "tacho", version[:-1] + b"x"
        other.write_bytes(pathlib.Path(TACHO).read_bytes().replace(version + b"\0", newer + b"\0"))
        other.chmod(0o755)
        script = self.script("unlike", f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec "$@"\nshift\nexec {other} "$@"')
        done = self.refuses(*self.TRAINING, launcher=[*MPIRUN, "-n", "2", script], saying="ranks disagree")
        self.assertIn(f"({newer.decode()}, commit", done.stderr)

    def test_what_fails_in_one_process_alone_is_no_matter_of_mpi(self):
        done = run("weights", "init", "vgg16", "--classes", 10_000_000, "-o", self.folder / "weights")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"\Atacho: [^\n]*\n\Z")


class Losses(Test):
    """Ranks that are killed or stopped at some moment."""

    @staticmethod
    def runs(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
        except OSError:
            return False

    def lose(self, sign, rank, call, moment):
        """What is said of a rank of two that is lost when moment() is over; nothing where the call was done before."""
        process = subprocess.Popen([TACHO, *map(str, call), "--devices", "2", "--threads", "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while len(ranks := ranks_of(process)) < 2:
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        moment()
        begin = time.monotonic()
        if process.poll() is None:
            os.kill(ranks[rank], sign)
        _, said = process.communicate(timeout=60)
        if process.returncode == 0:
            return ""
        self.assertEqual(process.returncode, 1, said)
        self.assertLess(time.monotonic() - begin, 30)
        (line,) = (line for line in said.splitlines() if "on host" in line)
        self.assertRegex(line, rf"tacho: rank {rank} on host \S+ ")
        self.assertEqual([], [pid for pid in ranks if self.runs(pid)])
        return line

    def lose_while_measuring(self, sign, rank, after_s):
        store = self.folder / "results.db"
        store.unlink(missing_ok=True)
        cells = ["bench", "squeezenet1_1", "--image", "64", "--batch", "1,2,3", "--mode", "train", "--repeat", "300",
                 "--db", store]
        line = self.lose(sign, rank, cells, lambda: time.sleep(after_s))
        kept = json.loads(run("results", "export", "--db", store).stdout or "[]") if store.exists() else []
        if "--continue" in line:
            done = run(*cells, "--devices", "2", "--threads", "1", "--continue")
            self.assertEqual(done.returncode, 0, done.stderr)
            after = json.loads(run("results", "export", "--db", store).stdout)
            self.assertEqual(len(after), 3, [(record["batch"], record.get("reason")) for record in after])
            self.assertLessEqual({record["id"] for record in kept}, {record["id"] for record in after})

    def test_a_rank_that_is_lost_ends_all_and_is_named(self):
        draw = random.Random(11)
        signs = (signal.SIGKILL, signal.SIGSTOP)
        for turn in range(20 if SOAK else 2):
            sign, rank = signs[turn % 2], (turn + turn // 2 + 1) % 2
            with self.subTest(sign=sign, rank=rank, turn=turn):
                self.lose_while_measuring(sign, rank, draw.uniform(0.3, 8))

    def test_a_training_that_lost_a_rank_can_be_resumed(self):
        checkpoints = self.folder / "checkpoints"
        training = ["train", "squeezenet1_1", "--data", "synthetic", "--subset", "64", "--image", "64", "--batch", "4",
                    "--no-db"]
        call = [*training, "--steps", "100", "--checkpoint", checkpoints, "--checkpoint-every", "4"]

        def learn_a_little():
            while not list(checkpoints.glob("*.safetensors")):
                time.sleep(0.05)

        for rank, more in ((1, []), (0, ["--resume"])):
            line = self.lose(signal.SIGKILL, rank, [*call, *more], learn_a_little)
            self.assertIn("the same call with --resume goes on", line)
        done = run(*call, "--devices", "2", "--threads", "1", "--resume", "--format", "json")
        self.assertRegex(done.stderr, r"resumed at step [1-9]\d* of 100")
        self.assertEqual(json.loads(done.stdout)[0]["iterations"], 100)
        endless = [*training, "--steps", "1000000"]
        self.assertIn("--checkpoint DIR", self.lose(signal.SIGKILL, 1, endless, lambda: time.sleep(1.5)))

    def test_ctrl_c_keeps_what_is_finished(self):
        store = self.folder / "results.db"
        cells = ["bench", "squeezenet1_1", "--image", "64", "--batch", "1-50", "--repeat", "20", "--devices", "2", "--threads",
                 "1", "--db", str(store)]
        process = subprocess.Popen([TACHO, *cells, "--format", "jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("--continue", said)
        self.assertEqual(first["batch"], 1)

    def test_ctrl_c_before_the_ranks_are_ready_ends_them(self):
        process = subprocess.Popen([TACHO, "bench", "squeezenet1_1", "--devices", "2", "--repeat", "100000", "--no-db"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while len(ranks_of(process)) < 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted before", said)

    def test_a_run_that_outlives_its_terminal_goes_on(self):
        cell = ["bench", "squeezenet1_1", "--image", "64", "--batch", "1", "--repeat", "200", "--devices", "2", "--threads", "1",
                "--no-db", "--format", "json"]
        process = subprocess.Popen(["nohup", TACHO, *cell], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while len(ranks_of(process)) < 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        shown, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(len(json.loads(shown)), 1)


@unittest.skipIf(namespaces.why_unsupported(), namespaces.why_unsupported())
class Hosts(Test):
    """Ranks on hosts with links of their own."""

    def records_on(self, cluster, *arguments, **options):
        done = cluster.mpirun([TACHO, *map(str, arguments), "--format", "json", "--no-db"], **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_an_exchange_takes_what_the_link_says(self):
        cell = ["bench", "squeezenet1_1", "--image", "64", "--batch", "2", "--mode", "train", "--threads", "1", "--warmup", "1",
                "--repeat", "7"]
        with namespaces.Cluster(hosts=2, rate_mbit=200) as cluster:
            shown = {}
            for mbit in (200, 100):
                for host in cluster.hosts:
                    cluster.limit_link(host, mbit)
                (record,) = self.records_on(cluster, *cell)
                self.assertEqual([rank["host"] for rank in record["ranks"]], ["node0", "node1"])
                self.assertEqual(record["nodes"], 2)
                shown[mbit] = record["allreduce_ms"]
                bits = record["bytes_moved"] / 2 * 8
                self.assertGreater(shown[mbit], 0.95 * bits / mbit / 1e3)
                self.assertLess(shown[mbit], 1.5 * bits / mbit / 1e3)
            self.assertAlmostEqual(shown[100] / shown[200], 2, delta=0.4)

    def test_a_step_over_a_link_takes_what_the_plan_says(self):
        cell = ["bench", "squeezenet1_1", "--image", "64", "--batch", "8", "--mode", "train", "--threads", "1", "--warmup", "2",
                "--repeat", "7"]

        def miss(turn):
            """The share by which the plan misses what is measured."""
            # On both at once: hosts of one machine share its memory, which the plan knows nothing of.
            with concurrent.futures.ThreadPoolExecutor() as pool:
                alone = [pool.submit(cluster.run, host, [TACHO, *cell, "--db", self.folder / f"{turn}.{host}.db"], timeout=300)
                         for host in cluster.hosts]
            for done in (one.result() for one in alone):
                self.assertEqual(done.returncode, 0, done.stderr)
            (measured,) = self.records_on(cluster, *cell)
            shown = cluster.mpirun([TACHO, "system", "--network", "--format", "csv"])
            (link,) = csv.DictReader(io.StringIO(shown.stdout))
            done = run("plan", "--db", self.folder / f"{turn}.node0.db", "--devices", "2", "--network", link["--network"], "--format", "csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            (predicted,) = csv.DictReader(io.StringIO(done.stdout))
            return abs(float(predicted["step_ms"]) / measured["median_ms"] - 1)

        with namespaces.Cluster(hosts=2, rate_mbit=100) as cluster:
            # Whoever shares the machine may slow one of the measurements.
            misses = []
            while len(misses) < 3 and (SOAK or min(misses, default=1) > 0.15):
                misses.append(miss(len(misses)))
        self.assertLess(max(misses) if SOAK else min(misses), 0.15, misses)

    def test_a_network_learns_on_several_hosts(self):
        with namespaces.Cluster(hosts=2) as cluster:
            (record,) = self.records_on(cluster, "train", "squeezenet1_1", "--data", "synthetic", "--subset", "32", "--batch",
                                        "4", "--steps", "4", "--threads", "1")
            self.assertEqual((record["devices"], record["nodes"]), (2, 2))

    def test_a_host_that_vanishes_is_named(self):
        with namespaces.Cluster(hosts=2) as cluster:
            command = cluster.mpirun_command([TACHO, "bench", "squeezenet1_1", "--image", "64", "--batch", "1", "--mode", "train",
                                              "--threads", "1", "--repeat", "100000", "--no-db"])
            # A pipe would stay open as long as the shell to the other host.
            with open(self.folder / "said", "w") as said:
                process = subprocess.Popen(command, stdout=said, stderr=said)
            time.sleep(6)
            begin = time.monotonic()
            cluster.unplug("node1")
            process.wait(timeout=90)
            self.assertLess(time.monotonic() - begin, 30)
            self.assertRegex((self.folder / "said").read_text(), r"tacho: rank 1 on host node1 has not answered")

    def test_suite_nodes_names_the_slow_host_and_no_other(self):
        with namespaces.Cluster(hosts=4, rate_mbit=2000) as cluster:
            call = [TACHO, "suite", "nodes", "--format", "json", *([] if SOAK else ["--scale", "0.4"])]

            def outliers():
                done = cluster.mpirun(call)
                hosts = json.loads(done.stdout)
                slow = {host["host"]: [figure["what"] for figure in host["figures"] if figure["outlier"]] for host in hosts}
                slow = {host: figures for host, figures in slow.items() if figures}
                self.assertEqual(done.returncode, 1 if slow else 0, done.stderr)
                return slow

            def names(expected, runs):
                """In a soak every time; otherwise once of three, as whoever shares the machine may slow a host in truth."""
                for _ in range(runs):
                    self.assertIn(expected, [sorted(outliers())] if SOAK else (sorted(outliers()) for _ in range(3)))

            names([], 20 if SOAK else 1)
            cluster.limit_link("node2", 200)
            names(["node2"], 10 if SOAK else 1)
            cluster.limit_link("node2", 2000)
            try:
                cluster.limit_cpu("node1", 0.5)
            except namespaces.Unsupported:
                return
            names(["node1"], 10 if SOAK else 1)


if __name__ == "__main__":
    SOAK = "--soak" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--soak"]
    TACHO = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("mpirun"):
        print("mpirun is missing: scripts/install-dependencies build")
        sys.exit(SKIPPED)
    unittest.main()
