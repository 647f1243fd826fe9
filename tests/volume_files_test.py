#!/usr/bin/env python3
"""Exchanges volumes with zarr-python and h5py, and reads damaged ones: volume_files_test.py TACHO VOLUME_COPY

Skipped (status 77) where these are not installed, and for a build without HDF5.
"""

import json
import os
import resource
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
    import zarr
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
from zarr_arrays import create_array, edit_metadata, save_array

TACHO, VOLUME_COPY = "", ""
TYPES = ["uint8", "uint16", "uint32", "uint64", "int64", "float32"]
SHAPE, CHUNK = (9, 21, 34), (4, 10, 16)
COMPRESSIONS = ["none", "zlib", "gzip", "zstd", "blosc"]


def volume(dtype):
    values = np.random.default_rng(7).integers(0, 250, SHAPE) + np.arange(SHAPE[2])
    return (values / 7 if dtype == "float32" else values).astype(dtype)


def limit_file_size():
    """As if the disk were full after 64 KiB, but that the system calls it a file too large."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *words, **options):
        return subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=600, **options)

    def copy(self, *words):
        done = self.run_program(VOLUME_COPY, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def show(self, specification):
        return json.loads(self.copy("show", specification))

    def read(self, specification, begin=(0, 0, 0), end=None):
        info = self.show(specification)
        end = end or info["shape"]
        self.copy("dump", specification, "dump", ",".join(map(str, begin)), ",".join(map(str, end)))
        size = [b - a for a, b in zip(begin, end)]
        return np.fromfile(self.at("dump"), dtype=info["type"]).reshape(size)

    def is_refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"\Atacho: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, done.stderr)

    def refuses(self, specification, *words):
        end = ",".join(map(str, SHAPE))
        self.is_refused(self.run_program(VOLUME_COPY, "dump", specification, "dump", "0,0,0", end), *words)

    def write_h5(self, name="a.h5", path="volumes/raw", data=None, **options):
        with h5py.File(self.at(name), "w") as file:
            file.create_dataset(path, data=volume("uint8") if data is None else data, **options)

    def damage(self, name, position, content=b"\xff" * 16):
        with open(self.at(name), "r+b") as file:
            file.seek(position)
            file.write(content)


class Zarr(InTemporaryFolder):
    def write(self, name="a.zarr", data=None, chunks=CHUNK, **options):
        data = volume("uint8") if data is None else data
        save_array(self.at(name), data, chunks=chunks, **options)

    def test_every_type_and_compressor_of_zarr_python_is_read(self):
        compressors = [None, numcodecs.Zlib(6), numcodecs.GZip(5), numcodecs.Zstd(3)]
        compressors += [numcodecs.Blosc(name, shuffle=shuffle)
                        for name in ("lz4", "zstd", "zlib", "blosclz", "lz4hc") for shuffle in (0, 1, 2)]
        for dtype in TYPES:
            for number, compressor in enumerate(compressors):
                with self.subTest(dtype=dtype, compressor=str(compressor)):
                    name = f"{dtype}{number}.zarr"
                    self.write(name, volume(dtype), compressor=compressor)
                    np.testing.assert_array_equal(self.read(name), volume(dtype))

    def test_the_other_byte_order_and_nested_chunks_are_read(self):
        self.write("swapped.zarr", volume("uint16").astype(">u2"))
        np.testing.assert_array_equal(self.read("swapped.zarr"), volume("uint16"))
        self.write("nested.zarr", volume("float32"), dimension_separator="/")
        self.assertTrue(os.path.isdir(self.at("nested.zarr/1/0")))
        np.testing.assert_array_equal(self.read("nested.zarr", (3, 8, 15), (9, 21, 17)), volume("float32")[3:9, 8:21, 15:17])

    def test_an_array_in_a_group_and_one_channel_are_read(self):
        self.write("g.zarr", volume("uint8")[None], chunks=(1, *CHUNK), path="volumes/raw")
        np.testing.assert_array_equal(self.read("g.zarr:/volumes/raw"), volume("uint8"))
        self.refuses("g.zarr", "is a group", "/volumes/raw ([1,9,21,34]")

    def test_chunks_that_were_never_written_have_the_fill_value(self):
        array = create_array(self.at("a.zarr"), shape=SHAPE, chunks=CHUNK, dtype="<f4", fill_value=np.nan)
        array[:4] = 2
        read = self.read("a.zarr")
        self.assertTrue(np.all(read[:4] == 2) and np.all(np.isnan(read[4:])))

    def test_zarr_python_reads_what_tacho_writes(self):
        for dtype in TYPES:
            self.write_h5(data=volume(dtype))
            for compression in COMPRESSIONS:
                with self.subTest(dtype=dtype, compression=compression):
                    name = f"{dtype}.{compression}.zarr"
                    self.copy("copy", "a.h5", name, compression, "4,10,16")
                    group = zarr.open_group(self.at(name), mode="r")
                    array = group["0"]
                    self.assertEqual(array.chunks, (1, *CHUNK))
                    np.testing.assert_array_equal(array[:], volume(dtype)[None])
                    if compression == "none":
                        self.assertIsNone(array.compressor)
                    else:
                        self.assertEqual(array.compressor.codec_id, compression)
                    np.testing.assert_array_equal(self.read(name), volume(dtype))

    def test_the_group_is_ome_ngff(self):
        with h5py.File(self.at("a.h5"), "w") as file:
            file["volumes/raw"] = volume("uint8")
            file["volumes/raw"].attrs["resolution"] = (40.0, 4.0, 4.5)
        self.copy("copy", "a.h5", "o.zarr", "blosc", "4,10,16")
        (image,) = zarr.open_group(self.at("o.zarr"), mode="r").attrs["multiscales"]
        self.assertEqual(image["version"], "0.4")
        self.assertEqual([(axis["name"], axis["type"], axis.get("unit")) for axis in image["axes"]],
                         [("c", "channel", None)] + [(name, "space", "nanometer") for name in "zyx"])
        self.assertEqual(image["datasets"], [{"path": "0", "coordinateTransformations": [
            {"type": "scale", "scale": [1, 40, 4, 4.5]}]}])
        self.assertEqual(self.show("o.zarr")["voxel_size"], [40, 4, 4.5])
        self.assertEqual(self.show("o.zarr:/0")["unit"], "nanometer")

    def test_damaged_chunks_are_named(self):
        for compressor in (None, numcodecs.Zlib(1), numcodecs.GZip(1), numcodecs.Zstd(1), numcodecs.Blosc("lz4")):
            with self.subTest(compressor=str(compressor)):
                shutil.rmtree(self.at("a.zarr"), ignore_errors=True)
                self.write(compressor=compressor)
                os.truncate(self.at("a.zarr/1.0.1"), 50)
                self.refuses("a.zarr", "a.zarr/1.0.1: the chunk is damaged")

    def test_what_tacho_does_not_read_is_refused(self):
        self.write("float64.zarr", volume("float32").astype("float64"))
        self.refuses("float64.zarr", "'dtype' is \"<f8\"", "float32")
        self.write("flat.zarr", volume("uint8")[0], chunks=CHUNK[1:])
        self.refuses("flat.zarr", "[21,34]", "z,y,x")
        self.write("order.zarr")
        edit_metadata(self.at("order.zarr"), '"order": "C"', '"order": "F"')
        self.refuses("order.zarr", "'order' is \"F\"")
        self.write("filters.zarr", filters=[numcodecs.Delta("u1")])
        self.refuses("filters.zarr", "'filters'")
        self.write("lzma.zarr", compressor=numcodecs.LZMA())
        self.refuses("lzma.zarr", "'compressor' is \"lzma\"", "zstd or blosc")

    def test_an_output_is_written_whole_or_refused(self):
        self.write_h5(data=np.random.default_rng(1).integers(0, 255, (64, 64, 64)).astype("uint8"))
        done = self.run_program(VOLUME_COPY, "copy", "a.h5", "o.zarr", "none", "64,64,64", preexec_fn=limit_file_size)
        self.is_refused(done, "o.zarr/0/0/0/0/0", "File too large")
        self.assertEqual(os.listdir(self.at("o.zarr/0/0/0/0")), [])
        done = self.run_program(VOLUME_COPY, "copy", "a.h5", "o.zarr", "none", "64,64,64")
        self.is_refused(done, "o.zarr: is there already")
        self.is_refused(self.run_program(VOLUME_COPY, "copy", "a.h5", "p.zarr", "lzma", "64,64,64"), "lzma", "blosc")


class Hdf5(InTemporaryFolder):
    def test_every_type_and_layout_of_h5py_is_read(self):
        layouts = [{}, {"chunks": CHUNK}, {"chunks": CHUNK, "compression": "gzip"},
                   {"chunks": CHUNK, "compression": "gzip", "shuffle": True, "fletcher32": True}]
        for dtype in TYPES:
            for layout in layouts:
                with self.subTest(dtype=dtype, layout=layout):
                    self.write_h5(data=volume(dtype), **layout)
                    np.testing.assert_array_equal(self.read("a.h5"), volume(dtype))
        self.assertEqual(self.show("a.h5")["chunk"], list(CHUNK))

    def test_further_axes_in_front_have_extent_1(self):
        self.write_h5(data=volume("uint16")[None, None], chunks=(1, 1, *CHUNK))
        self.assertEqual(self.show("a.h5")["chunk"], list(CHUNK))
        np.testing.assert_array_equal(self.read("a.h5", (3, 8, 15), (9, 21, 17)), volume("uint16")[3:9, 8:21, 15:17])

    def test_a_dataset_is_named_by_its_path(self):
        self.write_h5(path="a/b", data=volume("uint16").astype(">u2"))
        np.testing.assert_array_equal(self.read("a.h5:/a/b", (3, 8, 15), (9, 21, 17)), volume("uint16")[3:9, 8:21, 15:17])
        self.assertEqual(self.show("a.h5:a/b")["name"], "a.h5:/a/b")

    def test_a_filter_that_is_missing_is_named(self):
        """As LZF is, which h5py alone has."""
        self.write_h5(chunks=CHUNK, compression="lzf")
        self.refuses("a.h5", "a.h5:/volumes/raw: cannot read the 9x21x34 voxels at 0,0,0", "required filter 'lzf' is not registered")

    def test_what_is_no_volume_is_refused(self):
        self.refuses("absent.h5", "absent.h5: there is no such file")
        self.refuses("absent.zarr:/raw", "absent.zarr: there is no such file")
        self.refuses("", "there is no such file")
        with open(self.at("text.h5"), "w") as file:
            file.write("text")
        self.refuses("text.h5", "text.h5: is no HDF5 file")
        self.write_h5(path="volumes/other")
        self.refuses("a.h5", "a.h5:/volumes/raw: there is no such dataset", "/volumes/other (9x21x34 uint8)")
        self.refuses("a.h5:/volumes", "is a group", "/volumes/other")
        self.write_h5(data=np.stack([volume("uint8")] * 2))
        self.refuses("a.h5", "has 4 axes (2x9x21x34 uint8)")
        self.write_h5(data=volume("float32").astype("float64"))
        self.refuses("a.h5", "is float64; tacho reads uint8")
        self.write_h5(data=np.zeros((3, 0, 3), "uint8"))
        self.refuses("a.h5", "is empty")

    def test_damaged_files_are_refused(self):
        self.write_h5(data=volume("uint8"), chunks=CHUNK, compression="gzip")
        with h5py.File(self.at("a.h5"), "r") as file:
            offset = file["volumes/raw"].id.get_chunk_info(0).byte_offset
        self.damage("a.h5", offset + 2)
        self.refuses("a.h5", "a.h5:/volumes/raw: cannot read the 9x21x34 voxels at 0,0,0: ")
        os.truncate(self.at("a.h5"), os.path.getsize(self.at("a.h5")) // 2)
        self.refuses("a.h5", "a.h5: cannot be opened: truncated file")


class MakeCremi(InTemporaryFolder):
    def make(self, name, *more, **options):
        return self.run_program(TACHO, "data", "make", "cremi", name, *more, **options)

    def test_h5py_reads_a_file_that_tacho_makes(self):
        done = self.make("a.h5", "--shape", "20,150,140")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with h5py.File(self.at("a.h5"), "r") as file:
            raw, labels = file["volumes/raw"], file["volumes/labels/neuron_ids"]
            self.assertEqual((raw.shape, raw.dtype, raw.compression), ((20, 150, 140), np.uint8, "gzip"))
            self.assertEqual((labels.shape, labels.dtype, labels.compression), ((20, 150, 140), np.uint64, "gzip"))
            self.assertEqual(list(raw.attrs["resolution"]), [40, 4, 4])
            image, neurons = raw[:], labels[:]
        self.assertEqual(os.listdir(self.folder), ["a.h5"])
        self.assertGreater(len(np.unique(neurons)), 8)
        self.assertGreater(image.std(), 20)
        np.testing.assert_array_equal(self.read("a.h5"), image)

        self.make("b.h5", "--shape", "20,150,140", "--seed", "0")
        self.make("c.h5", "--shape", "20,150,140", "--seed", "1")
        np.testing.assert_array_equal(self.read("b.h5"), image)
        self.assertFalse(np.array_equal(self.read("c.h5"), image))

    def pad(self, source, target, before, after, **attributes):
        """As CREMI's padded files: the image reaches further than its labels."""
        with h5py.File(self.at(source), "r") as own, h5py.File(self.at(target), "w") as file:
            file["volumes/raw"] = np.pad(own["volumes/raw"], list(zip(before, after)), constant_values=255)
            file["volumes/labels/neuron_ids"] = own["volumes/labels/neuron_ids"][:]
            for name, value in attributes.items():
                file["volumes/labels/neuron_ids"].attrs[name] = value

    def train(self, name):
        weights = self.at(f"{name}.safetensors")
        done = self.run_program(TACHO, "train", "unet3d_lite", "--data", f"cremi:{name}", "--image", "8x32x32", "--steps", "2", "--threads",
                                "1", "--seed", "5", "--no-db", "--save-weights", weights)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(weights, "rb") as file:
            return file.read()

    def test_labels_of_a_part_are_trained_with_that_part(self):
        self.assertEqual(self.make("own.h5", "--shape", "16,48,40").returncode, 0)
        before, resolution = (3, 5, 7), (40.0, 4.0, 4.0)
        offset = [count * size for count, size in zip(before, resolution)]
        self.pad("own.h5", "padded.h5", before, (2, 0, 1), offset=offset, resolution=resolution)
        self.assertEqual(self.train("padded.h5"), self.train("own.h5"))
        for attributes in ({}, {"offset": offset}, {"offset": [0, 400, 0], "resolution": resolution}):
            self.pad("own.h5", "bad.h5", before, (2, 0, 1), **attributes)
            done = self.run_program(TACHO, "train", "unet3d_lite", "--data", "cremi:bad.h5", "--steps", "1", "--no-db")
            self.is_refused(done, "neuron_ids: labels of 16x48x40 voxels", "raw has 21x53x48")

    def test_wrong_calls_are_refused(self):
        for shape in ("", "5,5", "5,5,0", "5,5,a", "5,-5,5", "1e3,5,5", "99999999,99999999,99999999"):
            self.is_refused(self.make("a.h5", "--shape", shape), "--shape", "z,y,x")
        self.write_h5()
        self.is_refused(self.make("a.h5", "--shape", "5,5,5"), "a.h5 is there already")
        self.is_refused(self.make("absent/a.h5", "--shape", "5,5,5"), "cannot write absent/a.h5: No such file or directory")
        self.assertEqual(os.listdir(self.folder), ["a.h5"])

    def test_a_full_disk_leaves_nothing(self):
        done = self.make("a.h5", "--shape", "64,128,128", preexec_fn=limit_file_size)
        self.is_refused(done, "cannot write a.h5: File too large")
        self.assertEqual(os.listdir(self.folder), [])

    def test_ctrl_c_leaves_nothing(self):
        program = subprocess.Popen([TACHO, "data", "make", "cremi", "a.h5", "--shape", "2000,2000,2000"], cwd=self.folder,
                                   stderr=subprocess.DEVNULL)
        while not os.listdir(self.folder):
            self.assertIsNone(program.poll())
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(600), 130)
        self.assertEqual(os.listdir(self.folder), [])


def has_hdf5():
    done = subprocess.run([VOLUME_COPY, "show", __file__], capture_output=True, text=True)
    return "this build has no HDF5" not in done.stderr


if __name__ == "__main__":
    TACHO, VOLUME_COPY = map(os.path.abspath, sys.argv[1:3])
    if not has_hdf5():
        print("skipped: this build has no HDF5")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
