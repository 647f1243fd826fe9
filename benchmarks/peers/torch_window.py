"""A volume predicted in PyTorch, block by block, as one writes it by hand: reads by h5py, writes by zarr.

Started by predict.py with a case as JSON on stdin; answers with its time, or, of a trial, with the speed of one block.
"""

import itertools
import json
import sys
import time

sys.dont_write_bytecode = True

import h5py
import numpy
import torch
import zarr
from numcodecs import Blosc

from torch_worker import build, load, memory_format_of

# How far a network looks around a block that begins and ends at multiples of its strides, in multiples of them.
STRIDES = {"unet3d_lite": (4, 8, 8), "unet3d": (1, 27, 27)}
HALOS = {"unet3d_lite": (32, 64, 64), "unet3d": (15, 189, 189)}


class Window:
    def __init__(self, case):
        torch.set_num_threads(case["threads"])
        self.block = case["block"]
        self.halo, self.strides = HALOS[case["model"]], STRIDES[case["model"]]
        if any(extent % stride for extent, stride in zip(self.block, self.strides)):
            raise ValueError(f"a block of {self.block} is no multiple of {self.strides}")
        self.format = memory_format_of(case["layout"], True)
        self.model = build(case["model"])
        load(self.model, case["weights"])
        self.model.to(memory_format=self.format).eval()
        self.raw = h5py.File(case["input"], "r")["volumes/raw"]
        self.dtype = case["dtype"]

    def corners(self):
        return itertools.product(*(range(0, extent, block) for extent, block in zip(self.raw.shape, self.block)))

    def size_at(self, corner):
        """Of the block, but no larger than the volume asks for."""
        return [min(block, extent - begin) for begin, block, extent in zip(corner, self.block, self.raw.shape)]

    def read(self, corner):
        """The block with its halo, mirrored where that is outside of the volume."""
        positions = []
        for axis, (begin, size) in enumerate(zip(corner, self.size_at(corner))):
            extent, stride, halo = self.raw.shape[axis], self.strides[axis], self.halo[axis]
            wanted = numpy.arange(begin - halo, begin + -(-size // stride) * stride + halo) % max(1, 2 * (extent - 1))
            positions.append(numpy.where(wanted < extent, wanted, 2 * (extent - 1) - wanted))
        first = [along.min() for along in positions]
        stored = self.raw[tuple(slice(begin, along.max() + 1) for begin, along in zip(first, positions))]
        seen = stored[numpy.ix_(*(along - begin for begin, along in zip(first, positions)))]
        return seen.astype("float32") / 255

    def compute(self, corner):
        with torch.inference_mode():
            image = torch.from_numpy(self.read(corner))[None, None].contiguous(memory_format=self.format)
            inside = tuple(slice(halo, halo + size) for halo, size in zip(self.halo, self.size_at(corner)))
            result = self.model(image)[0][(slice(None), *inside)]
            if self.dtype == "uint8":
                result = torch.round(result * 255).to(torch.uint8)
            return result.contiguous().numpy()

    def predict(self, output):
        """Seconds, behind one block that is not counted."""
        self.compute((0, 0, 0))
        begin = time.perf_counter()
        group = zarr.open_group(output, mode="w")
        array = group.create_dataset("0", shape=(3, *self.raw.shape), chunks=(3, *self.block), dtype=self.dtype,
                                     compressor=Blosc("lz4", clevel=5, shuffle=Blosc.SHUFFLE))
        for corner in self.corners():
            inside = tuple(slice(begin, begin + size) for begin, size in zip(corner, self.size_at(corner)))
            array[(slice(None), *inside)] = self.compute(corner)
        return time.perf_counter() - begin

    def trial(self):
        """Voxels that a block in the middle gives in a second."""
        corners = list(self.corners())
        middle = corners[len(corners) // 2]
        self.compute(middle)
        begin = time.perf_counter()
        self.compute(middle)
        return float(numpy.prod(self.size_at(middle))) / (time.perf_counter() - begin)


def main():
    case = json.load(sys.stdin)
    window = Window(case)
    if case.get("trial"):
        print(json.dumps(dict(voxels_per_s=window.trial())))
    else:
        print(json.dumps(dict(seconds=window.predict(case["output"]), version=torch.__version__)))


if __name__ == "__main__":
    main()
