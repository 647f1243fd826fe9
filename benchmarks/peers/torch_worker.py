"""PyTorch's side of the comparison: one process that holds one network and runs passes when told to.

Started by peers.py, by any Python that has PyTorch: it needs nothing else but torchvision, for the classifiers. Reads one JSON
object a line from stdin, answers with one a line on stdout: first the case -> the version and, of a compiled network, how long
the first pass took, which compiles; then {"warmup": W, "passes": K} -> {"samples_ms": [...]} of K, or {"output": FILE} -> {} with
the raw float32 prediction in that file. A failure is {"error": "..."} and the end. It sleeps in between, so the peers have the
machine to themselves.
"""

import ctypes
import json
import math
import os
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))

import torch
from unet3d import UNet3d

VOLUMES = {"unet3d": UNet3d, "unet3d_lite": UNet3d.lite}


def build(name):
    if name in VOLUMES:
        return VOLUMES[name]()
    import torchvision
    extra = {"aux_logits": False, "init_weights": True} if name == "inception_v3" else {}
    return getattr(torchvision.models, name)(weights=None, **extra)


def values(file, count):
    """The next float32 of a file."""
    return torch.frombuffer(bytearray(file.read(4 * count)), dtype=torch.float32)


def read_npy(path, shape):
    """The values at the end of a file; the case knows the shape."""
    count = math.prod(shape)
    with open(path, "rb") as file:
        file.seek(-4 * count, os.SEEK_END)
        return values(file, count).reshape(shape)


def write(tensor, path):
    tensor = tensor.contiguous()
    with open(path, "wb") as file:
        file.write(ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel()))


def load(model, path):
    """Copies a safetensors file of float32 into the model, one tensor at a time to keep the peak of memory low."""
    tensors = model.state_dict()
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            file.seek(8 + length + begin)
            tensors.pop(name).copy_(values(file, (end - begin) // 4).reshape(entry["shape"]))
    left = [name for name in tensors if not name.endswith("num_batches_tracked")]
    if left:
        raise ValueError(f"{path} has no {left[0]}")


def dice_loss(prediction, target):
    axes = [0] + list(range(2, prediction.dim()))
    numerator = 2 * (prediction * target).sum(axes)
    denominator = ((prediction**2).sum(axes) + (target**2).sum(axes)).clamp(min=1e-6)
    return -(numerator / denominator).sum()


def memory_format_of(layout, volume):
    if layout == "contiguous":
        return torch.contiguous_format
    return torch.channels_last_3d if volume else torch.channels_last


def shared(model, case):
    """The model with gradients that are the mean over all devices. Like tacho it exchanges nothing else, and at its best
    the gradients lie where they are exchanged."""
    meeting = f"file://{case['folder']}/ranks-{case['devices']}"
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=case["rank"], world_size=case["devices"])
    return torch.nn.parallel.DistributedDataParallel(model, broadcast_buffers=False, gradient_as_bucket_view=True)


def compiled(model, mode):
    """By torch.compile. In inference the weights are constants to it, so that it folds and packs them, as tacho does."""
    if not hasattr(torch, "compile"):
        raise ValueError(f"not available: PyTorch {torch.__version__} has no torch.compile")
    from torch._inductor import config
    config.freezing = mode == "infer"
    return torch.compile(model)


class Network:
    """One network with its data in one memory layout; run() is one pass."""

    def __init__(self, case):
        torch.manual_seed(0)
        mode, batch, image = case["mode"], case["batch"], case["image"]
        volume = case["model"] in VOLUMES
        memory_format = memory_format_of(case["layout"], volume)
        self.model = build(case["model"])
        load(self.model, case["weights"])
        self.model.to(memory_format=memory_format)
        if case["devices"] > 1:
            self.model = shared(self.model, case)
        self.images = read_npy(case["input"], [batch, case["channels"]] + image).contiguous(memory_format=memory_format)
        self.run = self.infer if mode == "infer" else self.train
        self.model.train(mode == "train")
        if case["compiled"]:
            self.model = compiled(self.model, mode)
        if mode == "train" and volume:
            self.target = torch.randint(0, 2, [batch, 3] + image).float()
            self.loss = dice_loss
            self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4, weight_decay=5e-4)
        elif mode == "train":
            self.target = torch.randint(0, 1000, [batch])
            self.loss = torch.nn.functional.cross_entropy
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4)

    def infer(self):
        with torch.inference_mode():
            return self.model(self.images)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(self.images), self.target).backward()
        self.optimizer.step()

    def samples_ms(self, warmup, passes):
        """Times of `passes` passes behind `warmup` that are not counted."""
        for _ in range(warmup):
            self.run()
        samples = []
        for _ in range(passes):
            begin = time.perf_counter()
            self.run()
            samples.append((time.perf_counter() - begin) * 1e3)
        return samples


def serve(answer):
    case = json.loads(sys.stdin.readline())
    torch.set_num_threads(case["threads"])
    network = Network(case)
    compiling = {"compile_s": network.samples_ms(0, 1)[0] / 1e3} if case["compiled"] else {}
    answer(version=torch.__version__, **compiling)
    for line in sys.stdin:
        question = json.loads(line)
        if "output" in question:
            write(network.infer(), question["output"])
            answer()
        else:
            answer(samples_ms=network.samples_ms(question["warmup"], question["passes"]))


def reason(error):
    """In one line: the first of the error's, and the next where that only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return " ".join(lines[:2] if lines[0].endswith(":") else lines[:1])


def main():
    # What compilers print is no answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(**fields):
        print(json.dumps(fields), file=answers, flush=True)

    try:
        serve(answer)
    except Exception as error:
        answer(error=reason(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
