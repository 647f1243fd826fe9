#!/usr/bin/python3
"""Compares `tacho train` with PyTorch: the same weights, arrays and settings give the same weights after a few steps.

    train_parity.py TACHO

Exit status: 0 they agree, 1 they do not, 77 skipped because PyTorch or torchvision is not there.
"""

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

STEPS, BATCH, CLASSES = 3, 8, 10
# Of how far the weights moved, in the norm over all of them. Where batch norm divides by the deviation of 8 values,
# rounding flips a ReLU or two within three steps, also between PyTorch's own float32 and float64.
TOLERANCE, TOLERANCE_WITH_BATCH_NORM = 1e-3, 5e-2
TYPES = {torch.float32: "F32", torch.int64: "I64"}

SGD = ["--optimizer", "sgd", "--lr", "0.005", "--momentum", "0.9", "--weight-decay", "0.0005", "--schedule", "constant"]
ADAM = ["--optimizer", "adam", "--lr", "0.0005", "--weight-decay", "0.0001", "--schedule", "constant"]
CASES = {
    "resnet18, sgd": ("resnet18", 32, SGD, 0.0),
    "resnet18, sgd, label smoothing": ("resnet18", 32, SGD + ["--label-smoothing", "0.1"], 0.1),
    "squeezenet1_1, sgd": ("squeezenet1_1", 64, SGD + ["--dropout", "0"], 0.0),
    "squeezenet1_1, adam": ("squeezenet1_1", 64, ADAM + ["--dropout", "0"], 0.0),
}


def optimizer_of(options, parameters):
    if "adam" in options:
        return torch.optim.Adam(parameters, lr=0.0005, weight_decay=0.0001)
    return torch.optim.SGD(parameters, lr=0.005, momentum=0.9, weight_decay=0.0005)


def train_with_torch(model, images, labels, options, smoothing):
    model.train()
    optimizer = optimizer_of(options, model.parameters())
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[part]), labels[part], label_smoothing=smoothing)
        loss.backward()
        optimizer.step()
    return model.state_dict()


def save(path, state):
    write_safetensors(path, {name: (TYPES[tensor.dtype], list(tensor.shape), tensor.numpy().tobytes())
                             for name, tensor in state.items()})


def load(path):
    return {name: numpy.frombuffer(data, dtype=numpy.float32).reshape(shape)
            for name, (dtype, shape, data) in read_safetensors(path).items() if dtype == "F32"}


def compare(before, expected, found):
    error = moved = 0
    for name, tensor in expected.items():
        if name.endswith("num_batches_tracked"):
            continue
        moved += numpy.square(tensor.numpy() - before[name].numpy()).sum()
        error += numpy.square(tensor.numpy() - found[name]).sum()
    return (error / moved) ** 0.5


def run_case(tacho, name, model_name, side, options, smoothing):
    torch.manual_seed(1)
    model = getattr(torchvision.models, model_name)(weights=None, num_classes=CLASSES)
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = 0
    images = torch.randn(STEPS * BATCH, 3, side, side)
    labels = torch.randint(0, CLASSES, (STEPS * BATCH,))
    with tempfile.TemporaryDirectory() as folder:
        at = lambda file: os.path.join(folder, file)
        numpy.save(at("x.npy"), images.numpy())
        numpy.save(at("y.npy"), labels.numpy())
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        save(at("before.safetensors"), before)
        subprocess.run([tacho, "train", model_name, "--data", f"npy:{at('x.npy')},{at('y.npy')}", "--classes", str(CLASSES),
                        "--weights", at("before.safetensors"), "--steps", str(STEPS), "--batch", str(BATCH),
                        "--shuffle", "off", "--augment", "none", "--save-weights", at("after.safetensors"), "--no-db",
                        *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = load(at("after.safetensors"))
        model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in found.items()}, strict=False)
        model.load_state_dict(before)
        error = compare(before, train_with_torch(model, images, labels, options, smoothing), found)
    agrees = error < (TOLERANCE_WITH_BATCH_NORM if "bn1.weight" in before else TOLERANCE)
    print(f"{'ok' if agrees else 'FAILED'}: {name}: weights differ by {error:.1e} of how far they moved")
    return agrees


def main():
    torch.set_num_threads(2)
    results = [run_case(os.path.abspath(sys.argv[1]), name, *case) for name, case in CASES.items()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
