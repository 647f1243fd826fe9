#!/usr/bin/env python3
"""Trains with the whole program: train_test.py TACHO. Needs only the standard library."""

import json
import os
import random
import re
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from tensor_files import float_bytes, npy_bytes, read_safetensors

TACHO = ""
RECORDS = 40  # in each file of the made-up data set
RECORD_BYTES = 3073


def run(*arguments, **options):
    return subprocess.run([TACHO, *arguments], capture_output=True, text=True, timeout=900, **options)


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.data = cls.at("cifar10")
        subprocess.run([TACHO, "data", "make", "cifar10", cls.data, "--records", str(RECORDS)], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def at(cls, *names):
        return os.path.join(cls.folder, *names)

    def command(self, *more, model="squeezenet1_1", data=None):
        return ["train", model, "--data", data or f"cifar10:{self.data}", "--batch", "16", "--seed", "5", "--no-db", *more]

    def train(self, *more, **options):
        done = run(*self.command(*more, **options))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refuses(self, words, *more, **options):
        self.is_refused(words, run(*self.command(*more, **options)))

    def is_refused(self, words, done):
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def bytes_of(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()


class Training(Folder):
    def test_takes_a_momentum_for_sgd(self):
        (record,) = json.loads(self.train("--steps", "1", "--momentum", "0.8", "--format", "json").stdout)
        self.assertRegex(record["recipe"], r"\Asgd, lr .*, momentum 0.8, ")

    def test_gives_a_record_with_every_column_of_the_report(self):
        done = self.train("--epochs", "2", "--format", "json", "--log", self.at("log.jsonl"), model="resnet18")
        (record,) = json.loads(done.stdout)
        self.assertEqual(record["kind"], "train")
        for field in """seconds seconds_per_epoch images_per_s train_accuracy test_accuracy peak_memory_mib plan_memory_mib
                        evaluation_seconds wait_percent forward_ms backward_ms update_ms data recipe seed""".split():
            self.assertIn(field, record)
        self.assertRegex(record["recipe"], r"\Aadam, lr ")
        self.assertEqual(len(record["epochs"]), 2)
        self.assertEqual(set(record["phase_memory_mib"]), {"data", "train", "evaluate"})
        self.assertIn("epoch 2/2: loss", done.stderr)
        with open(self.at("log.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        events = [line["event"] for line in lines]
        self.assertEqual(events.count("step"), record["iterations"])
        self.assertEqual(events.count("epoch"), 2)
        for i, line in enumerate(line for line in lines if line["event"] == "epoch"):
            self.assertEqual(line, {"event": "epoch", "epoch": i + 1, **record["epochs"][i]})

    def test_an_epoch_says_all_that_is_known_of_it(self):
        (record,) = json.loads(self.train("--epochs", "1", "--format", "json").stdout)
        self.assertEqual(
            list(record["epochs"][0]),
            """steps seconds wait_seconds evaluation_seconds images_per_s loss learning_rate train_accuracy train_loss
               test_accuracy test_loss""".split(),
        )

    def test_learns_what_can_be_learnt(self):
        done = self.train("--epochs", "6", "--lr", "0.02", "--format", "json", model="resnet18")
        (record,) = json.loads(done.stdout)
        self.assertGreater(record["test_accuracy"], 0.3)
        self.assertLess(record["epochs"][-1]["loss"], record["epochs"][0]["loss"])

    def test_stops_at_the_target(self):
        done = self.train("--epochs", "5", "--target-accuracy", "0.01", "--format", "json")
        (record,) = json.loads(done.stdout)
        self.assertEqual(record["epoch_count"], 1)
        self.assertGreater(record["seconds_to_target"], 0)

    def test_keeps_the_record(self):
        store = self.at("results.db")
        arguments = [word for word in self.command("--steps", "2", "--db", store) if word != "--no-db"]
        self.assertEqual(run(*arguments).returncode, 0)
        (record,) = json.loads(run("results", "export", "--db", store).stdout)
        self.assertEqual(record["kind"], "train")
        self.assertEqual(run("report", "--db", store, "-o", self.at("page.html")).returncode, 0)
        # The page's own script knows the fields of every record, but not where this one's data lie.
        self.assertIn(f"cifar10:{self.data}", self.bytes_of("page.html").decode())

    def test_resizes_for_the_network(self):
        done = self.train("--steps", "1", "--image", "75", "--subset", "16", "--format", "json",
                          model="inception_v3")
        self.assertEqual(json.loads(done.stdout)[0]["image"], "75x75")

    def test_saves_weights_under_the_names_of_torchvision(self):
        self.train("--steps", "1", "--save-weights", self.at("names.safetensors"))
        self.assertIn("features.0.weight", read_safetensors(self.at("names.safetensors")))

    def test_diverging_is_a_failure_with_a_reason(self):
        done = run(*self.command("--steps", "8", "--lr", "1e30", "--schedule", "constant", model="resnet18"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the loss is not finite", done.stdout)


class Repeating(Folder):
    MORE = ["--epochs", "3", "--threads", "2"]

    def weights(self, name, *more):
        self.train(*self.MORE, "--save-weights", self.at(name), *more)
        return self.bytes_of(name)

    def test_gives_the_same_weights_bit_by_bit(self):
        self.assertEqual(self.weights("a.safetensors"), self.weights("b.safetensors", "--loader-threads", "3"))

    def last_step(self, log, begin):
        """The last one written behind `begin`; 0 where there is none yet."""
        if not os.path.exists(log):
            return 0
        with open(log) as file:
            file.seek(begin)
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return max((line["step"] for line in lines if line["event"] == "step"), default=0)

    def kill_at(self, step, arguments, log):
        begin = os.path.getsize(log) if os.path.exists(log) else 0
        process = subprocess.Popen([TACHO, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and self.last_step(log, begin) < step:
            time.sleep(0.005)
        process.kill()
        self.assertEqual(process.wait(), -signal.SIGKILL, f"it ended before step {step} was seen")

    def test_after_five_kills_too(self):
        whole = self.weights("whole.safetensors")
        log = self.at("killed.jsonl")
        arguments = self.command(*self.MORE, "--checkpoint", self.at("checkpoints"), "--checkpoint-every", "2", "--resume",
                                 "--save-weights", self.at("resumed.safetensors"), "--log", log)
        # From step 3 on there is a checkpoint, and up to 25 of the 38 it is killed in time.
        for step in sorted(random.Random(3).sample(range(3, 26), 5)):
            self.kill_at(step, arguments, log)
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        resumed = re.search(r"resumed at step (\d+) of (\d+)", done.stderr)
        self.assertIsNotNone(resumed, done.stderr)
        step, steps = map(int, resumed.groups())
        self.assertTrue(0 < step < steps, resumed[0])
        self.assertEqual(self.bytes_of("resumed.safetensors"), whole)
        self.assertLessEqual(len(os.listdir(self.at("checkpoints"))), 3)

    def test_an_interrupted_run_leaves_a_checkpoint(self):
        arguments = self.command("--epochs", "50", "--checkpoint", self.at("interrupted"), "--log", self.at("interrupted.jsonl"))
        process = subprocess.Popen([TACHO, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (os.path.exists(self.at("interrupted.jsonl")) and self.bytes_of("interrupted.jsonl")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=600), 130)
        self.assertTrue(os.listdir(self.at("interrupted")))


class BadData(Folder):
    def damaged(self, name, file, change):
        copy = self.at(name)
        shutil.copytree(self.data, copy)
        path = os.path.join(copy, file)
        with open(path, "rb") as source:
            content = bytearray(source.read())
        content = change(content)
        if content is None:
            os.remove(path)
        else:
            with open(path, "wb") as target:
                target.write(content)
        return f"cifar10:{copy}"

    def test_is_refused_in_one_line(self):
        def label(content):
            content[3 * RECORD_BYTES] = 10
            return content

        self.refuses(["data_batch_5.bin", "no such file"], data=self.damaged("missing", "data_batch_5.bin", lambda c: None))
        self.refuses(["data_batch_1.bin", "whole number"], data=self.damaged("cut", "data_batch_1.bin", lambda c: c[:-1]))
        self.refuses(["test_batch.bin", "bytes"], data=self.damaged("empty", "test_batch.bin", lambda c: b""))
        self.refuses(["39 records"], data=self.damaged("short", "data_batch_2.bin", lambda c: c[:-RECORD_BYTES]))
        self.refuses(["test_batch.bin", "record 3", "label 10"], data=self.damaged("label", "test_batch.bin", label))
        self.refuses(["no directory"], data=f"cifar10:{self.at('nowhere')}")

    def test_of_arrays_is_refused(self):
        def file(name, content):
            with open(self.at(name), "wb") as target:
                target.write(content)
            return self.at(name)

        images = file("x.npy", npy_bytes((2, 3, 32, 32), float_bytes([0.5] * 2 * 3 * 32 * 32)))
        grey = file("grey.npy", npy_bytes((2, 1, 32, 32), float_bytes([0.5] * 2 * 32 * 32)))
        labels = file("y.npy", npy_bytes((2,), (3).to_bytes(8, "little") + (11).to_bytes(8, "little"), "<i8"))
        self.refuses(["--classes 10", "labels up to 11"], "--classes", "10", data=f"npy:{images},{labels}")
        self.refuses(["1 channels", "takes 3"], data=f"npy:{grey},{labels}")
        self.refuses(["two files"], data=f"npy:{images}")
        self.refuses(["there are cifar10:DIR"], data="imagenet")

    def ordinary_user(self):
        """Options of run() for someone who may not read everything."""
        if os.geteuid() != 0:
            return {}
        try:
            run("--version", user="nobody").check_returncode()
        except (LookupError, OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"root reads everything, and nobody cannot execute {TACHO}: {error}")
        os.chmod(self.folder, 0o755)
        return {"user": "nobody", "cwd": "/"}

    def test_in_an_unreadable_directory_is_refused(self):
        user = self.ordinary_user()
        copy = self.at("unreadable")
        shutil.copytree(self.data, copy)
        os.chmod(copy, 0)
        self.addCleanup(os.chmod, copy, 0o700)
        self.is_refused([copy, "cannot be read"], run(*self.command(data=f"cifar10:{copy}"), **user))

    def test_that_does_not_fit_into_memory_is_refused(self):
        fit = ["--data synthetic", "1000000000", "are available", "--subset"]
        self.refuses(fit, "--subset", "1000000000", data="synthetic")
        self.is_refused(["--batch 1000000", "--image 299x299", "are available"],
                        run("data", "load", "synthetic", "--batch", "1000000", "--image", "299"))

    def test_that_is_there_already_is_not_overwritten(self):
        before = self.bytes_of("cifar10/test_batch.bin")
        arguments = ["data", "make", "cifar10", self.data, "--seed", "9"]
        self.is_refused([self.data, "holds data_batch_1.bin already", "empty directory"], run(*arguments))
        self.assertEqual(self.bytes_of("cifar10/test_batch.bin"), before)

    def test_is_loaded_at_one_flat_size(self):
        load = lambda image: run("data", "load", f"cifar10:{self.data}", "--images", "64", "--image", image)
        self.is_refused(["--image '32,64'", "one size"], load("32,64"))
        self.is_refused(["--image '8x32x32'", "S or HxW"], load("8x32x32"))
        self.assertIn(" at 48x40,", load("48x40").stdout)
        self.assertIn(" at 48x48,", load("48").stdout)

    def test_is_not_packed_from_damaged_labels(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "pack_cifar10.py")
        for labels in ["[1, 2,", "7", "[[]]"]:
            with open(self.at("train_lables.json"), "w") as file:
                file.write(labels)
            done = subprocess.run([sys.executable, script, self.folder, self.at("packed")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\Afetch-cifar10: train_lables.json .*\n\Z")

    def test_calls_that_cannot_be_meant_are_refused(self):
        self.refuses(["--optimizer"], "--optimizer", "rmsprop")
        self.refuses(["--optimizer"], "--optimizer", "")
        self.refuses(["--momentum", "adam has none"], "--optimizer", "adam", "--momentum", "0.9")
        self.refuses(["--schedule"], "--schedule", "linear")
        self.refuses(["--augment"], "--augment", "rotate")
        self.refuses(["--shuffle"], "--shuffle", "maybe")
        self.refuses(["--steps and --epochs"], "--steps", "1", "--epochs", "1")
        self.refuses(["--resume", "--checkpoint"], "--resume")
        self.refuses(["--subset", "200 training images"], "--subset", "201")
        self.refuses(["no dropout layer"], "--dropout", "0.1", model="resnet18")
        self.refuses(["unet3d", "cremi:F.h5"], model="unet3d")
        self.refuses(["--validate-every", "volumes"], "--validate-every", "2")
        self.refuses(["computes nothing"], "--engine", "null")
        self.refuses(["--devices"], "--devices", "0")
        self.refuses(["too small"], "--image", "8")
        self.refuses(["--batch 16", "only 8 training images"], "--subset", "8")


class Volumes(Folder):
    """Trains on a made-up volume of neurons."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.data = cls.at("v.h5")
        made = run("data", "make", "cremi", cls.data, "--shape", "20,64,64")
        if "HDF5" in made.stderr:
            raise unittest.SkipTest("this build has no HDF5")
        made.check_returncode()

    def command(self, *more, model="unet3d_lite", data=None):
        return ["train", model, "--data", data or f"cremi:{self.data}", "--seed", "5", "--no-db", *more]

    SMALL = ["--image", "8x32x32", "--threads", "2"]

    def test_learns_more_than_a_constant_answer(self):
        done = self.train(*self.SMALL, "--steps", "60", "--lr", "1e-3", "--targets", "boundaries", "--format", "json")
        (record,) = json.loads(done.stdout)
        self.assertLess(record["test_loss"], record["constant_loss"] - 0.1)
        self.assertEqual(record["targets"], "boundaries")
        self.assertEqual(len(record["epochs"]), 10)
        self.assertGreater(record["iterations_per_min"], 0)
        self.assertEqual(record["data"], f"cremi:{self.data} (slices 12-19 held out)")
        self.assertIn("slices 12-19 held out", done.stderr)

    def weights(self, name, *more):
        self.train(*self.SMALL, "--steps", "9", "--save-weights", self.at(name), *more)
        return self.bytes_of(name)

    def test_gives_the_same_weights_however_it_is_loaded_and_resumed(self):
        whole = self.weights("whole.safetensors")
        self.assertEqual(self.weights("threads.safetensors", "--loader-threads", "3", "--validate-every", "2"), whole)
        checkpoints = ["--checkpoint", self.at("run"), "--checkpoint-every", "1"]
        log = self.at("log.jsonl")
        process = subprocess.Popen([TACHO, *self.command(*self.SMALL, "--steps", "9", *checkpoints, "--log", log)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (os.path.exists(log) and self.bytes_of("log.jsonl").count(b"step") > 3):
            time.sleep(0.005)
        process.kill()
        process.wait()
        self.assertEqual(self.weights("resumed.safetensors", *checkpoints, "--resume"), whole)

    def test_starts_with_the_largest_window_there_is_room_for(self):
        (record,) = json.loads(self.train("--steps", "1", "--format", "json").stdout)
        self.assertEqual(record["image"], "8x64x64")

    def test_is_loaded_without_training(self):
        done = run("data", "load", f"cremi:{self.data}", "--images", "3", "--image", "8x32x32")
        self.assertIn(" windows/s at 8x32x32, batch 1, augmentation flip,rotate,elastic, 1 loader thread", done.stdout)

    def test_calls_that_cannot_be_meant_are_refused(self):
        self.refuses(["--steps N"])
        self.refuses(["--epochs", "images"], "--epochs", "2")
        self.refuses(["resnet18", "classifier"], "--steps", "1", model="resnet18")
        self.refuses(["--image 16x64x64", "room for windows of 8x64x64"], "--steps", "1", "--image", "16x64x64")
        self.refuses(["multiple of 8"], "--steps", "1", "--image", "8x30x32")
        self.refuses(["--targets 'labels'"], "--steps", "1", "--targets", "labels")
        self.refuses(["--augment 'crop'"], "--steps", "1", "--augment", "crop")
        self.refuses(["no such file"], "--steps", "1", data=f"cremi:{self.at('none.h5')}")
        self.refuses(["/volumes/nothing"], "--steps", "1", data=f"cremi:{self.data},/volumes/raw,/volumes/nothing")
        self.refuses(["write cremi:F.h5"], "--steps", "1", data=f"cremi:{self.data},/volumes/raw")
        self.refuses(["an image is uint8"], "--steps", "1",
                     data=f"cremi:{self.data},/volumes/labels/neuron_ids,/volumes/labels/neuron_ids")


class FullDisk(Folder):
    def setUp(self):
        self.disk = self.at("disk")
        os.makedirs(self.disk)
        # Room for two checkpoints of about 6 MB, not for three.
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=15m", "tmpfs", self.disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("mounting a small disk needs root")

    def tearDown(self):
        subprocess.run(["umount", self.disk], capture_output=True)

    def test_ends_the_run_in_one_line_and_keeps_the_last_checkpoint(self):
        checkpoints = ["--checkpoint", os.path.join(self.disk, "run"), "--epochs", "4"]
        done = run(*self.command(*checkpoints))
        self.assertEqual(done.returncode, 2, done.stderr)
        complaints = [line for line in done.stderr.splitlines() if re.match("tacho: (?!warning|note)", line)]
        self.assertEqual(len(complaints), 1, done.stderr)
        self.assertIn("No space left on device", complaints[0])
        files = os.listdir(os.path.join(self.disk, "run"))
        self.assertTrue(files and all(name.endswith(".safetensors") for name in files), files)
        for name in files:
            read_safetensors(os.path.join(self.disk, "run", name))
        subprocess.run(["mount", "-o", "remount,size=100m", self.disk], check=True)
        done = run(*self.command(*checkpoints, "--resume"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("resumed at step", done.stderr)


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
