"""PyTorch's side of the comparison: one process that holds one network and runs passes when told to.

Started by peers.py. Reads one JSON object a line from stdin, answers with one a line on stdout:
first the case -> the layout chosen and the versions; then {"passes": K} -> {"samples_ms": [...]}.
It sleeps in between, so the peer has the machine to itself.
"""

import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))

import torch
import torchvision
from unet3d import UNet3d

TRIAL_PASSES = 2  # timed, of each layout, to choose between them
VOLUMES = {"unet3d": UNet3d, "unet3d_lite": UNet3d.lite}
LAYOUTS = ("contiguous", "channels_last")


def build(name):
    if name in VOLUMES:
        return VOLUMES[name]()
    extra = {"aux_logits": False, "init_weights": True} if name == "inception_v3" else {}
    return getattr(torchvision.models, name)(weights=None, **extra)


def dice_loss(prediction, target):
    axes = [0] + list(range(2, prediction.dim()))
    numerator = 2 * (prediction * target).sum(axes)
    denominator = ((prediction**2).sum(axes) + (target**2).sum(axes)).clamp(min=1e-6)
    return -(numerator / denominator).sum()


def memory_format_of(layout, volume):
    if layout == "contiguous":
        return torch.contiguous_format
    return torch.channels_last_3d if volume else torch.channels_last


class Network:
    """One network with its data in one memory layout; run() is one pass."""

    def __init__(self, name, mode, batch, image, layout):
        torch.manual_seed(0)
        volume = name in VOLUMES
        memory_format = memory_format_of(layout, volume)
        self.model = build(name).to(memory_format=memory_format)
        self.images = torch.randn([batch, 1 if volume else 3] + image).contiguous(memory_format=memory_format)
        self.run = self.infer if mode == "infer" else self.train
        self.model.train(mode == "train")
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
            self.model(self.images)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(self.images), self.target).backward()
        self.optimizer.step()

    def samples_ms(self, passes):
        """Times of `passes` passes behind one that is not counted."""
        self.run()
        samples = []
        for _ in range(passes):
            begin = time.perf_counter()
            self.run()
            samples.append((time.perf_counter() - begin) * 1e3)
        return samples


def fastest(case):
    """The network in the layout that a short trial finds fastest, and that layout."""
    trials = {}
    for layout in LAYOUTS:
        network = Network(case["model"], case["mode"], case["batch"], case["image"], layout)
        trials[layout] = min(network.samples_ms(TRIAL_PASSES))
        del network
    layout = min(trials, key=trials.get)
    return layout, Network(case["model"], case["mode"], case["batch"], case["image"], layout)


def answer(**fields):
    print(json.dumps(fields), flush=True)


def main():
    case = json.loads(sys.stdin.readline())
    torch.set_num_threads(case["threads"])
    layout, network = fastest(case)
    answer(layout=layout, torch=torch.__version__, torchvision=torchvision.__version__)
    for line in sys.stdin:
        answer(samples_ms=network.samples_ms(json.loads(line)["passes"]))


if __name__ == "__main__":
    main()
