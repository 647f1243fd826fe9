#!/usr/bin/python3
"""Compares `tacho train` with PyTorch: the same weights, arrays and settings, step by step.

    train_parity.py TACHO [--clear-of-zero] [NETWORK...]

Trains the small networks for three steps on random labels, or those that are named (squeezenet1_1, resnet18, resnet50,
densenet121, inception_v3, vgg16) for one and for ten on a single class, in PyTorch at double precision, in PyTorch at
single precision and in tacho, and prints how far the change of the worst tensor, running statistics included, is from
that at double precision. With --clear-of-zero the first weights are such that no value before a ReLU lies next to zero,
where rounding alone would decide: then the change must be that of PyTorch within 1e-3 after one step, 1e-2 after ten.

Exit status: 0 they agree, 1 they do not, 77 skipped because PyTorch or torchvision is not there.
"""

import dataclasses
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tensor_files import read_safetensors, write_safetensors

try:
    import numpy
    import torch
    import torchvision
except ImportError as error:
    print(f"skipped: {error}; install python3-torch and python3-torchvision and use /usr/bin/python3")
    sys.exit(77)

BATCH, CLASSES = 16, 10
STEPS, STEPS_WHEN_ASKED = (3,), (1, 10)
TYPES = {torch.float32: "F32", torch.int64: "I64"}

# Whoever rounds otherwise finds another side of zero for a few values before a ReLU. Each of them changes a gradient
# of n such values by 1 / sqrt(n), whatever the precision: 1e-2 in the smallest layers here. A wrong step changes it
# by far more, and what does not depend on it, such as PyTorch's own distance, is taken into account.
TOLERANCE, TIMES_OF_PYTORCH = 5e-2, 3
TOLERANCE_CLEAR_OF_ZERO = {1: 1e-3, 10: 1e-2}
# Of one step of SGD any rate shows the gradients; a large one shows them above the rounding of the weights themselves.
RATE_OF_ONE_STEP = 100


@dataclasses.dataclass
class Case:
    network: str
    side: int
    rate: float
    adam: bool = False
    smoothing: float = 0.0

    def __str__(self):
        method = "adam" if self.adam else "sgd"
        return f"{self.network} at {self.side}, {method}" + (", label smoothing" if self.smoothing else "")

    def optimizer(self, parameters):
        if self.adam:
            return torch.optim.Adam(parameters, lr=self.rate, weight_decay=1e-4)
        return torch.optim.SGD(parameters, lr=self.rate, momentum=0.9, weight_decay=1e-4)

    def options(self, model):
        method = ["--optimizer", "adam"] if self.adam else ["--optimizer", "sgd", "--momentum", "0.9"]
        if any(isinstance(layer, torch.nn.Dropout) for layer in model.modules()):
            method += ["--dropout", "0"]
        return [*method, "--lr", str(self.rate), "--weight-decay", "1e-4", "--schedule", "constant",
                "--label-smoothing", str(self.smoothing)]


# On random labels, with rates at which PyTorch's own rounding does not grow.
# At 32 pixels the last layers of resnet18 see one cell, and most taps of their kernels nothing but padding.
CASES = [Case("squeezenet1_1", 64, 0.01), Case("squeezenet1_1", 64, 0.0005, adam=True), Case("resnet18", 64, 0.0003),
         Case("resnet18", 32, 0.0003), Case("resnet18", 32, 0.0003, smoothing=0.1)]
# On one class, where training settles. On random labels it wanders, and ten steps make 10 % of the rounding of one.
CASES_WHEN_ASKED = [Case("squeezenet1_1", 64, 0.01), Case("squeezenet1_1", 64, 0.0005, adam=True),
                    Case("resnet18", 64, 0.03), Case("resnet18", 64, 0.03, smoothing=0.1),
                    Case("densenet121", 64, 0.03), Case("inception_v3", 75, 0.03), Case("resnet50", 64, 0.03),
                    Case("vgg16", 32, 0.01)]


def network(name):
    torch.manual_seed(1)
    options = {"aux_logits": False, "init_weights": True} if name == "inception_v3" else {}
    model = getattr(torchvision.models, name)(weights=None, num_classes=CLASSES, **options)
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0
    return model


def set_clear_of_zero(model):
    """Values before a ReLU are 1 or -1 and a little more or less; sums of branches are above 0."""
    ends_of_branches = set()
    for name, block in model.named_modules():
        if isinstance(block, torchvision.models.resnet.BasicBlock):
            ends_of_branches |= {f"{name}.bn2", f"{name}.downsample.1"}
        if isinstance(block, torchvision.models.resnet.Bottleneck):
            ends_of_branches |= {f"{name}.bn3", f"{name}.downsample.1"}
    for name, layer in model.named_modules():
        is_norm = isinstance(layer, torch.nn.BatchNorm2d)
        if not is_norm and not (isinstance(layer, torch.nn.Conv2d) and layer.bias is not None):
            continue
        if is_norm:
            torch.nn.init.constant_(layer.weight, 0.2)
        else:
            layer.weight.data *= 0.15
        torch.nn.init.constant_(layer.bias, 1)
        if name not in ends_of_branches:
            layer.bias.data[::4] = -1


def state(model):
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def train_with_torch(case, model, images, labels, steps):
    model.train()
    optimizer = case.optimizer(model.parameters())
    for step in range(steps):
        part = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[part]), labels[part], label_smoothing=case.smoothing).backward()
        optimizer.step()
    return {name: tensor.double().numpy() for name, tensor in state(model).items()}


def save(path, tensors):
    write_safetensors(path, {name: (TYPES[tensor.dtype], list(tensor.shape), tensor.numpy().tobytes())
                             for name, tensor in tensors.items()})


def load(path):
    return {name: numpy.frombuffer(data, dtype=numpy.float32).reshape(shape)
            for name, (dtype, shape, data) in read_safetensors(path).items() if dtype == "F32"}


def worst_tensor(before, expected, found):
    """How far it is off, in parts of how far it moved, and its name."""
    worst = (0.0, "none")
    for name, tensor in expected.items():
        if name.endswith("num_batches_tracked"):
            continue
        moved = numpy.linalg.norm(tensor - before[name].double().numpy())
        worst = max(worst, (numpy.linalg.norm(tensor - found[name]) / moved, name))
    return worst


def train_with_tacho(tacho, case, model, folder, steps):
    at = lambda file: os.path.join(folder, file)
    subprocess.run([tacho, "train", case.network, "--data", f"npy:{at('x.npy')},{at('y.npy')}", "--classes", str(CLASSES),
                    "--weights", at("before.safetensors"), "--steps", str(steps), "--batch", str(BATCH),
                    "--shuffle", "off", "--augment", "none", "--save-weights", at("after.safetensors"), "--no-db",
                    *case.options(model)], check=True, stdout=subprocess.DEVNULL)
    return load(at("after.safetensors"))


def case_of_steps(case, steps, clear_of_zero):
    takes_large_rate = clear_of_zero and steps == 1 and not case.adam
    return dataclasses.replace(case, rate=RATE_OF_ONE_STEP) if takes_large_rate else case


def run_case(tacho, case, step_counts, label_count, clear_of_zero):
    model = network(case.network)
    if clear_of_zero:
        set_clear_of_zero(model)
    before = state(model)
    images = torch.randn(max(step_counts) * BATCH, 3, case.side, case.side)
    labels = torch.randint(label_count, (max(step_counts) * BATCH,))
    agrees = True
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(os.path.join(folder, "x.npy"), images.numpy())
        numpy.save(os.path.join(folder, "y.npy"), labels.numpy())
        save(os.path.join(folder, "before.safetensors"), before)
        for steps in step_counts:
            tried = case_of_steps(case, steps, clear_of_zero)
            model.float().load_state_dict(before)
            single = train_with_torch(tried, model, images, labels, steps)
            model.load_state_dict(before)
            double = train_with_torch(tried, model.double(), images.double(), labels, steps)
            own = train_with_tacho(tacho, tried, model, folder, steps)
            pytorch_error, _ = worst_tensor(before, double, single)
            error, name = worst_tensor(before, double, own)
            difference, _ = worst_tensor(before, single, own)
            if clear_of_zero:
                agrees_here = difference < TOLERANCE_CLEAR_OF_ZERO[steps]
            else:
                agrees_here = error < max(TOLERANCE, TIMES_OF_PYTORCH * pytorch_error)
            agrees = agrees and agrees_here
            print(f"{'ok' if agrees_here else 'FAILED'}: {case}, {steps} steps: off by {error:.1e} ({name}), "
                  f"PyTorch by {pytorch_error:.1e}, from each other by {difference:.1e}", flush=True)
    return agrees


def main():
    torch.set_num_threads(2)
    clear_of_zero = "--clear-of-zero" in sys.argv
    asked = [argument for argument in sys.argv[2:] if argument != "--clear-of-zero"]
    cases = [case for case in CASES_WHEN_ASKED if case.network in asked] if asked else CASES
    steps, label_count = (STEPS_WHEN_ASKED, 1) if asked else (STEPS, CLASSES)
    results = [run_case(os.path.abspath(sys.argv[1]), case, steps, label_count, clear_of_zero)
               for case in cases]
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
