#!/usr/bin/env python3
"""Predictions of volumes with the whole program: predict_test.py TACHO [--soak]

Compares them with PyTorch, reads them with zarr-python, and interrupts them in every way: with --soak at 20 moments.
Skipped (status 77) where these are not installed, and for a build without HDF5.
"""

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

sys.dont_write_bytecode = True
try:
    import h5py
    import numcodecs
    import numpy as np
    import torch
    import zarr
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from started_ranks import ranks_of
from tensor_files import read_safetensors
from unet3d import UNet3d
from zarr_arrays import save_array

TACHO = ""
SOAK = False
KILLS = 4
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

STRIDES = (4, 8, 8)  # of unet3d_lite
STRIDES_OF_UNET3D = (1, 27, 27)
FIELD = (32, 64, 64)  # at least as far as it looks, in multiples of its strides
# A halo that is too small makes blocks that take no time, which suits whatever does not look at their values.
QUICK = ["--block", "4,20,28", "--halo", "2,6,6"]
QUICK_SHAPE, QUICK_BLOCKS = (13, 117, 160), 4 * 6 * 6
# Blocks that are large enough for threads to compute tiles of their own.
WIDE = ["--block", "20,84,86", "--halo", "2,6,5"]
WIDE_SHAPE, WIDE_BLOCKS = (20, 84, 600), 7


def noise(shape, seed=0):
    """Numbers from 0 to 1 whose neighbours resemble each other."""
    values = np.random.default_rng(seed).random(shape)
    for axis in range(3):
        values = values + np.roll(values, 1, axis)
    return ((values - values.min()) / (values.max() - values.min())).astype("float32")


def mirrored(volume, before, after):
    """The volume with its mirror image around it, without end."""
    for axis, extent in enumerate(volume.shape):
        positions = np.arange(-before[axis], extent + after[axis]) % max(1, 2 * (extent - 1))
        volume = np.take(volume, np.where(positions < extent, positions, 2 * (extent - 1) - positions), axis)
    return volume


def of_pytorch(weights, volume, model=None):
    model = (model or UNet3d.lite()).eval()
    tensors = {name: torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
               for name, (_, shape, data) in read_safetensors(weights).items()}
    model.load_state_dict(tensors)
    with torch.inference_mode():
        return model(torch.from_numpy(np.ascontiguousarray(volume))[None, None])[0].numpy()


def rest(extent, stride):
    return -extent % stride


class Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.weights = cls.shared / "weights.safetensors"
        subprocess.run([TACHO, "weights", "init", "unet3d_lite", "-o", cls.weights, "--seed", "1"], check=True)
        cls.quick = cls.shared / "quick.h5"
        cls.write_h5(cls.quick, (noise(QUICK_SHAPE) * 255).astype("uint8"))

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "out.zarr"
        self.threads = 1

    @staticmethod
    def write_h5(path, data, name="volumes/raw", resolution=None):
        with h5py.File(path, "w") as file:
            file[name] = data
            if resolution:
                file[name].attrs["resolution"] = resolution

    def command(self, *more, input=None, output=None, weights=None, model="unet3d_lite", kernel="onednn"):
        return [TACHO, "predict", model, "--weights", weights or self.weights, "--input", input or self.quick, "--output",
                output or self.output, "--kernel", kernel, "--threads", str(self.threads), "--no-db", *more]

    def call(self, *more, **options):
        return subprocess.run([*map(str, self.command(*more, **options))], cwd=self.folder, capture_output=True, text=True, timeout=600)

    def predict(self, *more, **options):
        """The record of a prediction that ends well."""
        done = self.call(*more, "--format", "json", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        (record,) = json.loads(done.stdout)
        return record

    def start(self, *more, **options):
        return subprocess.Popen([*map(str, self.command(*more, **options))], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def refuses(self, *more, saying, **options):
        done = self.call(*more, **options)
        said = [line for line in done.stderr.splitlines() if not line.startswith(("tacho: warning: ", "tacho: note: ", "block "))]
        self.assertEqual((done.returncode, len(said)), (2, 1), done.stderr)
        self.assertTrue(said[0].startswith("tacho: "), said)
        for words in [saying] if isinstance(saying, str) else saying:
            self.assertIn(words, said[0])

    def read(self, output=None):
        return zarr.open_group(str(output or self.output), mode="r")["0"][:]

    @staticmethod
    def files(output):
        """What readers see of an output, and what it says of itself."""
        own = [path for path in output.glob(".tacho/*") if path.name != "prediction.json"]
        paths = [path for path in output.rglob("*") if path.is_file() and path not in own]
        return {str(path.relative_to(output)): path.read_bytes() for path in paths}

    def notes(self):
        return sum(path.read_bytes().count(b".\n") for path in self.output.glob(".tacho/done-*[0-9]"))

    def wait_for_notes(self, process, count):
        while self.notes() < count and process.poll() is None:
            time.sleep(0.002)

    def uninterrupted(self, *more):
        """The files of the quick prediction."""
        output = self.folder / "whole.zarr"
        self.assertEqual(self.predict(*QUICK, *more, output=output)["blocks"], QUICK_BLOCKS)
        return self.files(output)


class Values(Test):
    SHAPE = (11, 43, 37)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = (noise(cls.SHAPE, 3) * 255).astype("uint8")
        cls.input = cls.shared / "volume.h5"
        cls.write_h5(cls.input, cls.volume)

    def result(self, *more, dtype="float32", **options):
        output = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "out.zarr"
        self.predict(*more, "--dtype", dtype, output=output, **{"input": self.input, **options})
        return self.read(output)

    def assert_near(self, a, b, tolerance):
        self.assertEqual(a.shape, b.shape)
        self.assertLess(np.abs(a - b).max(), tolerance)

    def test_blocks_give_what_the_whole_volume_gives(self):
        for border in ("reflect", "network"):
            whole = self.result("--block", "64,64,64", "--border", border)
            self.assertGreater(whole.std(), 0.005)
            for block in ("11,24,40", "7,43,19"):
                with self.subTest(border=border, block=block):
                    self.assert_near(self.result("--block", block, "--border", border), whole, 1e-5)

    def test_bytes_of_blocks_are_those_of_the_whole_volume(self):
        whole = self.result("--block", "64,64,64", dtype="uint8")
        scaled = 255 * self.result("--block", "64,64,64")
        is_tie = np.abs(scaled - np.floor(scaled) - 0.5) < 255 * 1e-5
        self.assertLess(is_tie.mean(), 0.02)
        for block in ("11,24,40", "7,43,19"):
            with self.subTest(block=block):
                np.testing.assert_array_equal(self.result("--block", block, dtype="uint8")[~is_tie], whole[~is_tie])

    def test_blocks_of_unet3d_give_what_pytorch_gives(self):
        weights, small, shape = self.folder / "w.safetensors", self.folder / "in.h5", (3, 31, 29)
        subprocess.run([TACHO, "weights", "init", "unet3d", "-o", weights, "--seed", "1"], check=True)
        volume = noise(shape, 4)
        self.write_h5(small, volume)
        extended = np.pad(volume, [(0, rest(*pair)) for pair in zip(shape, STRIDES_OF_UNET3D)])
        z, y, x = shape
        expected = of_pytorch(weights, extended, UNet3d())[:, :z, :y, :x]
        self.assertGreater(expected.std(), 0.005)
        for block in ("3,54,54", "2,20,29", "3,31,16"):
            with self.subTest(block=block):
                found = self.result("--block", block, "--border", "network", "--memory", "low", model="unet3d", weights=weights, input=small)
                self.assert_near(found, expected, 1e-4)

    def test_a_block_far_larger_than_the_volume_takes_no_more_than_that(self):
        large = self.result("--block", "2000,2004,2004", "--halo", "2,6,6", "--chunk", "20,12,12")
        self.assert_near(large, self.result("--block", "200,204,204", "--halo", "2,6,6"), 1e-5)

    def test_a_volume_smaller_than_what_the_network_looks_at(self):
        small = self.shared / "small.h5"
        for shape in ((1, 5, 3), (6, 9, 1)):
            volume = noise(shape, 5)
            self.write_h5(small, volume)
            with self.subTest(shape=shape):
                whole = self.result("--block", "8,16,16", input=small)
                self.assert_near(self.result("--block", "5,4,2", input=small), whole, 1e-5)
                self.assert_near(whole, self.mirrored_by_pytorch(volume), 1e-4)

    def mirrored_by_pytorch(self, volume):
        after = [field + rest(extent, stride) for field, extent, stride in zip(FIELD, volume.shape, STRIDES)]
        inside = tuple(slice(field, field + extent) for field, extent in zip(FIELD, volume.shape))
        return of_pytorch(self.weights, mirrored(volume, FIELD, after))[(slice(None), *inside)]

    def test_mirrored_borders_give_what_pytorch_gives(self):
        values = self.volume.astype("float32") / 255
        self.assert_near(self.result("--block", "11,48,24"), self.mirrored_by_pytorch(values), 1e-4)

    def test_the_networks_own_borders_give_what_pytorch_gives(self):
        values = self.volume.astype("float32") / 255
        extended = np.pad(values, [(0, rest(*pair)) for pair in zip(self.SHAPE, STRIDES)])
        z, y, x = self.SHAPE
        expected = of_pytorch(self.weights, extended)[:, :z, :y, :x]
        self.assert_near(self.result("--block", "8,24,40", "--border", "network"), expected, 1e-4)

    def test_the_fastest_kernels_and_a_chosen_block_give_the_same(self):
        expected = self.result("--block", "64,64,64", "--border", "network")

        def kernels_of(output):
            """Those that an output keeps, with whatever kernels are fastest."""
            call = [TACHO, "predict", "unet3d_lite", "--weights", self.weights, "--input", self.input, "--output", output,
                    "--border", "network", "--dtype", "float32", "--no-db"]
            done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("tacho: note: block ", done.stderr)
            self.assert_near(self.read(output), expected, 1e-4)
            return (output / ".tacho/kernels.tsv").read_text()

        first = kernels_of(self.folder / "first.zarr")
        cache = self.folder / "tacho/kernels.tsv"
        self.assertLessEqual(set(first.splitlines()), set(cache.read_text().splitlines()))
        cache.write_text(cache.read_text() + first.splitlines()[0].replace("convolution ", "convolution of others "))
        self.assertEqual(kernels_of(self.folder / "second.zarr"), first)

    def test_bytes_are_the_rounded_result(self):
        scaled = 255 * self.result(*QUICK)
        stored = self.result(*QUICK, dtype="uint8")
        self.assertEqual(stored.dtype, np.uint8)
        is_tie = np.abs(scaled - np.floor(scaled) - 0.5) < 1e-3
        np.testing.assert_array_equal(stored[~is_tie], np.rint(scaled[~is_tie]))
        self.assertLessEqual(np.abs(stored - scaled).max(), 0.502)

    def test_every_kind_of_input(self):
        expected = self.result(*QUICK)
        as_float = self.volume.astype("float32") / 255
        inputs = {"uint8": self.volume, "uint16": self.volume.astype("uint16") * 257, "float32": as_float}
        for dtype, volume in inputs.items():
            with self.subTest(dtype=dtype):
                self.write_h5(self.folder / "in.h5", volume, name="a/b")
                self.assert_near(self.result(*QUICK, input=f"{self.folder}/in.h5:/a/b"), expected, 1e-5)
                save_array(self.folder / "in.zarr", volume, "raw", chunks=(5, 16, 20), compressor=numcodecs.Blosc("zstd"))
                self.assert_near(self.result(*QUICK, input=f"{self.folder}/in.zarr:/raw"), expected, 1e-5)

    def test_voxels_are_normalized_as_asked(self):
        self.write_h5(self.folder / "in.h5", (self.volume.astype("float32") - 128) / 33.5)
        self.assert_near(self.result(*QUICK, "--normalize", "128,33.5"), self.result(*QUICK, input=self.folder / "in.h5"), 1e-5)
        self.assertGreater(np.abs(self.result(*QUICK, "--normalize", "100,33.5") - self.result(*QUICK)).max(), 1e-3)


class Output(Test):
    @staticmethod
    def chunks(output):
        return [path for path in (output / "0").rglob("*") if path.is_file() and path.name != ".zarray"]

    def test_it_is_an_ome_ngff_image(self):
        self.write_h5(self.folder / "in.h5", (noise((8, 30, 30)) * 255).astype("uint8"), resolution=(40.0, 4.0, 4.5))
        self.predict(*QUICK, input=self.folder / "in.h5")
        group = zarr.open_group(str(self.output), mode="r")
        (image,) = group.attrs["multiscales"]
        self.assertEqual((image["version"], image["name"]), ("0.4", "unet3d_lite"))
        self.assertEqual([(axis["name"], axis["type"]) for axis in image["axes"]],
                         [("c", "channel"), ("z", "space"), ("y", "space"), ("x", "space")])
        self.assertEqual(image["datasets"], [{"path": "0", "coordinateTransformations": [
            {"type": "scale", "scale": [1, 40, 4, 4.5]}]}])
        array = group["0"]
        self.assertEqual((array.shape, array.chunks, array.dtype), ((3, 8, 30, 30), (3, 4, 20, 28), np.uint8))
        self.assertEqual(len(self.chunks(self.output)), array.nchunks)

    def test_every_compression_and_chunk_holds_the_same(self):
        expected = None
        small = self.folder / "in.h5"
        self.write_h5(small, (noise((7, 30, 30)) * 255).astype("uint8"))
        for compression in ("none", "zlib", "zstd", "blosc"):
            for dtype, chunk in (("float32", (4, 20, 28)), ("uint8", (2, 10, 7))):
                with self.subTest(compression=compression, dtype=dtype):
                    output = self.folder / f"{compression}.{dtype}.zarr"
                    self.predict(*QUICK, "--compression", compression, "--dtype", dtype, "--chunk", ",".join(map(str, chunk)),
                                 output=output, input=small)
                    array = zarr.open_group(str(output), mode="r")["0"]
                    self.assertEqual((array.chunks, array.dtype), ((3, *chunk), np.dtype(dtype)))
                    self.assertEqual(array.compressor.codec_id if array.compressor else "none", compression)
                    self.assertEqual(len(self.chunks(output)), array.nchunks)
                    expected = array[:] if expected is None else expected
                    stored = expected if dtype == "float32" else np.rint(255 * expected)
                    np.testing.assert_allclose(array[:], stored, atol=0 if dtype == "float32" else 1)

    def test_the_record_says_what_was_done(self):
        record = self.predict(*QUICK)
        voxels = np.prod(QUICK_SHAPE)
        self.assertEqual((record["kind"], record["model"], record["image"]), ("predict", "unet3d_lite", "13x117x160"))
        self.assertEqual((record["block"], record["halo"], record["border"], record["dtype"]), ("4x20x28", "2x6x6", "reflect", "uint8"))
        self.assertEqual((record["blocks"], record["compression"]), (QUICK_BLOCKS, "blosc"))
        self.assertAlmostEqual(record["output_mvox_per_s"] * record["seconds"] * 1e6, voxels, delta=1e-6 * voxels)
        seen = QUICK_BLOCKS * 8 * 32 * 40
        self.assertAlmostEqual(record["input_mvox_per_s"] * record["seconds"] * 1e6, seen, delta=1e-6 * seen)
        self.assertEqual(record["bytes_written"], sum(path.stat().st_size for path in self.chunks(self.output)))
        self.assertGreater(record["bytes_read"], voxels)
        self.assertLess(record["bytes_read"], seen)
        for wait in ("input_wait_ms", "output_wait_ms", "reader_wait_ms", "writer_wait_ms"):
            self.assertTrue(0 <= record[wait] <= 1e3 * record["seconds"], wait)
        self.assertTrue(0 <= record["device_idle_percent"] <= 100)
        self.assertIn("inexact", record["reason"])
        exact = self.predict("--block", "4,16,8", output=self.folder / "exact.zarr", input=self.small())
        self.assertEqual((exact["halo"], exact["blocks"]), ("exact", 1))
        self.assertTrue(10 < exact["halo_saved_percent"] < 100)
        self.assertNotIn("inexact", exact.get("reason", ""))

    def small(self):
        self.write_h5(self.folder / "small.h5", noise((3, 9, 8)))
        return self.folder / "small.h5"


class Resuming(Test):
    def kill(self, process, blocks):
        """After some time where `blocks` is below 1, else as soon as there are so many."""
        if blocks < 1:
            time.sleep(blocks)
        else:
            self.wait_for_notes(process, blocks)
        process.kill()
        process.communicate()

    def test_a_prediction_that_is_killed_again_and_again_ends_in_the_same_bytes(self):
        expected = self.uninterrupted()
        draw = random.Random(os.getpid())
        for turn in range(5 if SOAK else 1):
            for path in self.folder.glob("out.zarr*"):
                shutil.rmtree(path)
            # Before and around the first block, then in the middle of the others.
            moments = [draw.uniform(0, 0.4)] + sorted(draw.sample(range(1, QUICK_BLOCKS - 5), KILLS - 1))
            with self.subTest(moments=moments):
                for blocks in moments:
                    self.kill(self.start(*QUICK, "--resume"), blocks)
                done = self.notes()
                record = self.predict(*QUICK, "--resume")
                self.assertEqual(record["blocks"], QUICK_BLOCKS - done)
                self.assertLess(record["blocks"], QUICK_BLOCKS)
                self.assertEqual(self.files(self.output), expected)

    def wide(self):
        path = self.folder / "wide.h5"
        self.write_h5(path, (noise(WIDE_SHAPE) * 255).astype("uint8"))
        return path

    def test_threads_with_tiles_of_their_own_end_in_the_same_bytes_after_a_kill(self):
        self.threads, whole, input = 2, self.folder / "whole.zarr", self.wide()
        for kernel in ("onednn", "winograd"):
            with self.subTest(kernel=kernel):
                self.predict(*WIDE, input=input, output=whole, kernel=kernel)
                self.kill(self.start(*WIDE, input=input, kernel=kernel), 2)
                self.assertTrue(0 < self.predict(*WIDE, "--resume", input=input, kernel=kernel)["blocks"] < WIDE_BLOCKS)
                self.assertEqual(self.files(self.output), self.files(whole))
                shutil.rmtree(self.output)
                shutil.rmtree(whole)

    def test_other_threads_go_on_and_a_note_says_that_they_may_round_otherwise(self):
        input = self.wide()
        self.kill(self.start(*WIDE, "--dtype", "float32", input=input), 2)
        self.threads = 2
        done = self.call(*WIDE, "--dtype", "float32", "--resume", input=input)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("out.zarr was begun with threads 1, not 2: what is computed now may be rounded otherwise", done.stderr)
        self.threads = 1
        self.predict(*WIDE, "--dtype", "float32", input=input, output=self.folder / "one.zarr")
        self.assertLess(np.abs(self.read() - self.read(self.folder / "one.zarr")).max(), 1e-5)

    def test_a_damaged_input_ends_it_and_a_repaired_one_lets_it_go_on(self):
        volume = (noise(QUICK_SHAPE) * 255).astype("uint8")
        damaged = self.folder / "in.h5"
        with h5py.File(damaged, "w") as file:
            raw = file.create_dataset("volumes/raw", data=volume, chunks=(13, 16, 16), compression="gzip")
            chunk = raw.id.get_chunk_info_by_coord((0, 96, 0))  # none of those that tell the input
        sound = damaged.read_bytes()
        self.predict(*QUICK, input=damaged, output=self.folder / "whole.zarr")
        corrupt = bytearray(sound)
        corrupt[chunk.byte_offset:chunk.byte_offset + chunk.size] = bytes(chunk.size)
        damaged.write_bytes(corrupt)
        self.refuses(*QUICK, input=damaged, saying=["in.h5:/volumes/raw", "cannot read the "])
        done = self.notes()
        self.assertTrue(0 < done < QUICK_BLOCKS, done)
        damaged.write_bytes(sound[:len(sound) // 2])
        self.refuses(*QUICK, "--resume", input=damaged, saying=["in.h5", "truncated file"])
        self.assertEqual(self.notes(), done)
        damaged.write_bytes(sound)
        self.assertEqual(self.predict(*QUICK, "--resume", input=damaged)["blocks"], QUICK_BLOCKS - done)
        self.assertEqual(self.files(self.output), self.files(self.folder / "whole.zarr"))

    def test_a_prediction_that_was_killed_as_it_began_can_begin_again(self):
        expected = self.uninterrupted()
        (self.output / ".tacho").mkdir(parents=True)
        (self.output / ".tacho/prediction.json.17.tmp").write_text("{")
        self.predict(*QUICK)
        self.assertEqual(list(self.output.rglob("*.tmp")), [])
        for metadata in (".zgroup", ".zattrs", "0/.zarray"):
            (self.output / metadata).unlink()
        (self.output / "0/0/0/0/0.17.tmp").write_text("a part")
        self.predict(*QUICK, "--resume")
        self.assertEqual(self.files(self.output), expected)

    def test_damaged_chunks_are_computed_again(self):
        expected = self.uninterrupted()
        self.predict(*QUICK)
        truncated, changed, lost = (self.output / "0/0" / name for name in ("0/0/0", "1/2/3", "3/5/5"))
        os.truncate(truncated, truncated.stat().st_size - 1)
        content = bytearray(changed.read_bytes())
        content[-1] ^= 1
        changed.write_bytes(content)
        lost.unlink()
        record = self.predict(*QUICK, "--resume")
        self.assertEqual(record["blocks"], 3)
        self.assertIn(f"{QUICK_BLOCKS - 3} of {QUICK_BLOCKS} blocks were there already", record["reason"])
        self.assertEqual(self.files(self.output), expected)

    def test_what_is_finished_stays_as_it_is(self):
        self.predict(*QUICK)
        times = {path: path.stat().st_mtime_ns for path in self.output.rglob("*")}
        done = self.call(*QUICK, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"out.zarr: all {QUICK_BLOCKS} blocks are there", done.stderr)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.output.rglob("*")}, times)

    def test_ctrl_c_finishes_the_blocks_under_way(self):
        expected = self.uninterrupted()
        process = self.start(*QUICK)
        self.wait_for_notes(process, 5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn(f"out.zarr: {self.notes()} of {QUICK_BLOCKS} blocks are done; the same call with --resume goes on", said)
        self.assertEqual(list(self.output.rglob("*.tmp")), [])
        self.predict(*QUICK, "--resume")
        self.assertEqual(self.files(self.output), expected)

    def hold_check(self, *more):
        """A call that goes on with a finished output, and the end of a pipe that makes it wait at a chunk of that."""
        chunk = self.output / "0/0/1/2/3"
        chunk.unlink()
        os.mkfifo(chunk)
        process = self.start(*QUICK, "--resume", *more)
        pipe = open(chunk, "wb")  # returns when it reads
        chunk.unlink()
        return process, pipe

    def test_ctrl_c_ends_the_check_of_what_is_done(self):
        self.predict(*QUICK)
        expected = self.files(self.output)
        process, pipe = self.hold_check()
        process.send_signal(signal.SIGINT)
        pipe.close()
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("out.zarr: stopped while it checked what is done; the same call with --resume goes on", said)
        self.assertEqual(self.predict(*QUICK, "--resume")["blocks"], 1)
        self.assertEqual(self.files(self.output), expected)

    def test_the_check_does_not_count_as_compiling(self):
        held_s = 1 + 5e-3 * self.predict(*QUICK)["compile_ms"]
        process, pipe = self.hold_check("-o", "record.json", "--format", "json")
        time.sleep(held_s)
        pipe.close()
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, said)
        (record,) = json.loads((self.folder / "record.json").read_text())
        self.assertLess(record["compile_ms"], 1e3 * held_s)

    def test_two_calls_do_not_write_one_output(self):
        self.predict(*QUICK)
        expected = self.files(self.output)
        process, pipe = self.hold_check()
        self.refuses(*QUICK, "--resume", saying=f"--output {self.output}: another tacho writes it now")
        process.kill()
        process.communicate()
        pipe.close()
        self.assertEqual(self.predict(*QUICK, "--resume")["blocks"], 1)
        self.assertEqual(self.files(self.output), expected)

    def test_another_prediction_does_not_go_on(self):
        self.predict(*QUICK)
        before = self.files(self.output)
        other_weights, other_input = self.folder / "w.safetensors", self.folder / "in.h5"
        subprocess.run([TACHO, "weights", "init", "unet3d_lite", "-o", other_weights, "--seed", "2"], check=True)
        self.write_h5(other_input, (noise(QUICK_SHAPE, 9) * 255).astype("uint8"))
        begun = "out.zarr was begun with "
        self.refuses(*QUICK, "--resume", weights=other_weights, saying=begun + "weights ")
        self.refuses(*QUICK, "--resume", input=other_input, saying=begun + "input ")
        self.refuses("--block", "4,20,20", "--halo", "2,6,6", "--resume", saying=begun + "block [4,20,28], not [4,20,20]")
        self.refuses("--block", "4,20,28", "--resume", saying=begun + 'halo [2,6,6], not "exact"')
        self.refuses(*QUICK, "--resume", "--dtype", "float32", saying=begun + 'dtype "uint8", not "float32"')
        self.refuses(*QUICK, "--resume", "--border", "network", saying=begun + 'border "reflect"')
        self.refuses(*QUICK, "--resume", "--compression", "zstd", saying=begun + 'compression "blosc"')
        self.refuses(*QUICK, "--resume", "--chunk", "4,20,14", saying=begun + "chunk [4,20,28]")
        self.refuses(*QUICK, "--resume", "--normalize", "3,4", saying=begun + "normalization [0.0,255.0]")
        self.refuses(*QUICK, "--resume", kernel="direct", saying=begun + 'kernel "onednn", not "direct"')
        self.refuses(*QUICK, "--resume", "--memory", "low", saying=begun + 'memory "normal", not "low"')
        self.refuses(*QUICK, saying="out.zarr: is there already; --resume")
        self.assertEqual(self.files(self.output), before)
        identity = self.output / ".tacho/prediction.json"
        identity.write_text("".join(line for line in identity.read_text().splitlines(True) if '"tiling"' not in line))
        self.refuses(*QUICK, "--resume", saying="out.zarr was begun by an older tacho, which does not tell its tiling")
        identity.write_text(identity.read_text().replace("unet3d_lite", "unet3d"))
        self.refuses(*QUICK, "--resume", saying=begun + 'model "unet3d", not "unet3d_lite"')
        identity.write_text("{")
        self.refuses(*QUICK, "--resume", saying="prediction.json: damaged")
        identity.unlink()
        self.refuses(*QUICK, "--resume", saying="out.zarr is no prediction that was begun")


class Disks(Test):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()

    def mount(self, options):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.disk], capture_output=True)
        if done.returncode != 0:
            self.skipTest("mounting a small disk needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], capture_output=True)

    def test_a_full_disk_is_said_and_room_lets_it_go_on(self):
        large = [*QUICK, "--dtype", "float32", "--compression", "none"]
        expected = self.uninterrupted("--dtype", "float32", "--compression", "none")
        self.mount("size=1m")
        self.output = self.disk / "out.zarr"
        self.refuses(*large, saying=["out.zarr", "No space left on device"])
        self.assertTrue(5 < self.notes() < QUICK_BLOCKS, self.notes())
        self.refuses(*large, "--resume", saying="No space left on device")
        subprocess.run(["mount", "-o", "remount,size=64m", self.disk], check=True)
        self.assertLess(self.predict(*large, "--resume")["blocks"], QUICK_BLOCKS - 5)
        self.assertEqual(self.files(self.output), expected)

    def test_a_disk_that_may_not_be_written_is_said(self):
        self.mount("ro")
        self.refuses(*QUICK, output=self.disk / "out.zarr", saying=["out.zarr", "Read-only file system"])


class BadCalls(Test):
    def refuses(self, *more, saying, **options):
        super().refuses(*more, saying=saying, **options)
        self.assertFalse(self.output.exists())

    def test_inputs_that_are_none(self):
        self.refuses(*QUICK, input=self.folder / "absent.h5", saying="absent.h5: there is no such file")
        (self.folder / "text.h5").write_text("text")
        self.refuses(*QUICK, input=self.folder / "text.h5", saying="text.h5: is no HDF5 file")
        self.write_h5(self.folder / "a.h5", np.ones((5, 6, 7), "uint64"), name="volumes/labels")
        self.refuses(*QUICK, input=self.folder / "a.h5", saying=["/volumes/raw: there is no such dataset", "/volumes/labels (5x6x7 uint64)"])
        self.refuses(*QUICK, input=f"{self.folder}/a.h5:/volumes/labels", saying=["a.h5:/volumes/labels holds uint64", "uint8, uint16 or float32"])
        self.write_h5(self.folder / "flat.h5", np.ones((6, 7), "uint8"))
        self.refuses(*QUICK, input=self.folder / "flat.h5", saying="6x7")

    def test_networks_that_predict_no_volumes(self):
        self.refuses(*QUICK, model="resnet18", saying="resnet18 predicts no volumes: take unet3d")
        self.refuses(*QUICK, model="unet4d", saying="unet4d")
        self.refuses(*QUICK, weights=self.folder / "absent.safetensors", saying="absent.safetensors")
        self.refuses("--block", "4,27,27", model="unet3d", saying="weights.safetensors")

    def test_options_that_make_no_sense(self):
        for size in ("5,5", "8,8,a", "8,-8,8", "8,8,1e30"):
            self.refuses("--block", size, saying="--block ")
            self.refuses("--halo", size, "--block", "4,20,28", saying="--halo ")
            self.refuses("--chunk", size, *QUICK, saying="--chunk ")
        self.refuses("--block", "0,8,8", saying="--block 0x8x8")
        self.refuses("--block", "4,21,28", "--halo", "2,6,6", saying=["block 21", "20 and 28"])
        self.refuses("--block", "900000,900000,900000", saying="900000")
        self.refuses(*QUICK, "--chunk", "4,20,27", saying=["--chunk 4x20x27", "4x20x28"])
        self.refuses(*QUICK, "--chunk", "0,20,28", saying="--chunk ")
        self.refuses(*QUICK, "--border", "zero", saying=["--border 'zero'", "reflect or network"])
        self.refuses(*QUICK, "--dtype", "uint16", saying=["--dtype 'uint16'", "uint8 or float32"])
        self.refuses(*QUICK, "--compression", "lzma", saying=["lzma", "blosc"])
        for normalization in ("1", "1,0", "a,b", "1,2,3", "1,-1", "nan,1"):
            self.refuses(*QUICK, "--normalize", normalization, saying="--normalize ")
        self.refuses(*QUICK, "--devices", "0", saying="--devices '0'")
        self.refuses(*QUICK, "--engine", "null", saying="null")

    def test_blocks_that_do_not_fit_into_memory(self):
        with h5py.File(self.folder / "large.h5", "w") as file:
            file.create_dataset("volumes/raw", (4000, 4008, 4008), "uint8", chunks=(8, 64, 64))  # of which nothing is stored
        self.refuses("--block", "2000,2004,2004", "--halo", "2,6,6", "--chunk", "20,12,12", input=self.folder / "large.h5",
                     saying=["--block 2000x2004x2004: takes ", "take a smaller one"])

    def test_outputs_that_are_none(self):
        (self.folder / "file").write_text("text")
        self.refuses(*QUICK, output=self.folder / "file", saying="is a file")
        self.refuses(*QUICK, output=self.folder / "file/out.zarr", saying="cannot make the directory")
        (self.folder / "mine").mkdir()
        (self.folder / "mine/thesis.tex").write_text("text")
        self.refuses(*QUICK, output=self.folder / "mine", saying="is there already")
        self.refuses(*QUICK, "--resume", output=self.folder / "mine", saying="is no prediction that was begun")
        self.assertEqual(os.listdir(self.folder / "mine"), ["thesis.tex"])


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class Ranks(Test):
    TWO = ["--devices", "2"]

    def test_two_write_what_one_writes(self):
        record = self.predict(*QUICK, *self.TWO)
        self.assertEqual((record["devices"], record["blocks"]), (2, QUICK_BLOCKS))
        self.assertEqual(len(list(self.output.glob(".tacho/done-*[0-9]"))), 2)
        self.assertEqual(self.files(self.output), self.uninterrupted())

    def test_a_rank_that_is_lost_ends_the_call_and_it_can_go_on(self):
        expected = self.uninterrupted()
        process = self.start(*QUICK, *self.TWO)
        self.wait_for_notes(process, 5)
        os.kill(ranks_of(process)[1], signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, said)
        self.assertRegex(said, r"tacho: rank 1 on host \S+ .*; the same call with --resume goes on")
        self.assertLess(self.notes(), QUICK_BLOCKS)
        self.predict(*QUICK, *self.TWO, "--resume")
        self.assertEqual(self.files(self.output), expected)

    def test_ctrl_c_reaches_both(self):
        expected = self.uninterrupted()
        process = self.start(*QUICK, *self.TWO)
        self.wait_for_notes(process, 5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn(f"{self.notes()} of {QUICK_BLOCKS} blocks are done", said)
        self.predict(*QUICK, "--resume")
        self.assertEqual(self.files(self.output), expected)

    def test_mistakes_are_said_once(self):
        self.refuses(*QUICK, *self.TWO, "--chunk", "4,20,27", saying="--chunk 4x20x27")
        self.assertFalse(self.output.exists())


def has_hdf5():
    done = subprocess.run([TACHO, "predict", "unet3d_lite", "--weights", "w", "--input", __file__, "--output", "/nowhere"],
                          capture_output=True, text=True)
    return "this build has no HDF5" not in done.stderr


if __name__ == "__main__":
    SOAK = "--soak" in sys.argv
    words = [word for word in sys.argv if word != "--soak"]
    TACHO = os.path.abspath(words[1])
    if not has_hdf5():
        print("skipped: this build has no HDF5")
        sys.exit(77)
    unittest.main(argv=words[:1] + words[2:])
