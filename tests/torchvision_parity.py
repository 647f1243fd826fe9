#!/usr/bin/python3
"""Compares `tacho infer` with PyTorch on the same weights and images, network by network.

    torchvision_parity.py TACHO [MODEL...]

Exit status: 0 all agree, 1 some do not, 77 skipped because PyTorch or torchvision is not there.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from tensor_files import write_safetensors

try:
    import numpy
    import torch
    import torchvision

    from unet3d import UNet3d
except ImportError as error:
    print(f"skipped: {error}; install python3-torch and python3-torchvision and use /usr/bin/python3")
    sys.exit(77)

TOLERANCE = 1e-4  # of the largest value
BATCH = 2
TYPES = {torch.float32: "F32", torch.int64: "I64"}

# engine -> image sizes; the reference engine is slow, so its images are small
CLASSIFIER_IMAGES = {"native": [(224, 224), (97, 131)], "reference": [(33, 47)]}
DEEPER_CLASSIFIER_IMAGES = CLASSIFIER_IMAGES | {"native": [(97, 131)]}
INCEPTION_IMAGES = {"native": [(299, 299), (107, 139)], "reference": [(75, 91)]}
UNET3D_IMAGES = {"native": [(4, 54, 54), (3, 27, 81)], "reference": [(2, 27, 27)]}
UNET3D_LITE_IMAGES = {"native": [(8, 32, 32), (4, 24, 40)], "reference": [(4, 16, 24)]}

CLASSIFIERS = "squeezenet1_0 squeezenet1_1 vgg16 resnet18 resnet50 densenet121 densenet161".split()
# Of the same layers, only more of them.
DEEPER_CLASSIFIERS = "vgg19 resnet34 resnet101 resnet152 densenet169 densenet201".split()

BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)


def classifier(name):
    return lambda: getattr(torchvision.models, name)(weights=None)


def inception():
    # With the auxiliary head, so that its entries stand in the weights file and must be ignored.
    return torchvision.models.inception_v3(weights=None, aux_logits=True, init_weights=True)


MODELS = {name: (classifier(name), 3, CLASSIFIER_IMAGES) for name in CLASSIFIERS}
MODELS |= {name: (classifier(name), 3, DEEPER_CLASSIFIER_IMAGES) for name in DEEPER_CLASSIFIERS}
MODELS["inception_v3"] = (inception, 3, INCEPTION_IMAGES)
MODELS["unet3d"] = (UNet3d, 1, UNET3D_IMAGES)
MODELS["unet3d_lite"] = (UNet3d.lite, 1, UNET3D_LITE_IMAGES)


def ends_of_residual_branches(model):
    for module in model.modules():
        if isinstance(module, torchvision.models.resnet.BasicBlock):
            yield module.bn2
        if isinstance(module, torchvision.models.resnet.Bottleneck):
            yield module.bn3


def randomize(model, images):
    """Gives every bias, affine parameter and running statistic a value of its own.

    The statistics start from those of real activations: with arbitrary ones, deep untrained networks explode. The
    branches of residual blocks are damped, as training does: at full strength resnet152 amplifies rounding so much
    that PyTorch's own float32 is 9e-5 away from its float64.
    """
    generator = torch.Generator().manual_seed(2)

    def uniform(like, low, high):
        return torch.empty_like(like).uniform_(low, high, generator=generator)

    def normal(like, deviation):
        return torch.empty_like(like).normal_(0, deviation, generator=generator)

    norms = [module for module in model.modules() if isinstance(module, BATCH_NORMS)]
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, BATCH_NORMS):
                module.weight.copy_(uniform(module.weight, 0.5, 1.5))
                module.momentum = 1.0
            if getattr(module, "bias", None) is not None:
                module.bias.copy_(normal(module.bias, 0.1))
        for branch_end in ends_of_residual_branches(model):
            branch_end.weight *= 0.3
        if norms:
            model.train()
            model(images)
        for module in norms:
            module.running_mean += normal(module.running_mean, 0.1) * module.running_var.sqrt()
            module.running_var *= uniform(module.running_var, 0.7, 1.4)
    return model.eval()


def export(model, path):
    tensors = {
        name: (TYPES[value.dtype], value.shape, memoryview(value.contiguous().numpy()).cast("B"))
        if value.dim() > 0
        else (TYPES[value.dtype], (), value.numpy().tobytes())
        for name, value in model.state_dict().items()
    }
    write_safetensors(path, tensors)


def run_tacho(tacho, name, engine, folder, images):
    paths = {key: os.path.join(folder, f"{key}.npy") for key in ("input", "output")}
    numpy.save(paths["input"], images.numpy())
    call = [tacho, "infer", name, "--engine", engine, "--weights", os.path.join(folder, "weights.safetensors")]
    call += ["--input", paths["input"], "--output", paths["output"]]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.strip()}")
    if name == "inception_v3" and "AuxLogits" not in done.stderr:
        raise RuntimeError("no note about the ignored AuxLogits entries")
    return numpy.load(paths["output"])


def compare(expected, actual):
    """Problem, or nothing, and the largest error as a share of the largest value."""
    largest = numpy.abs(expected).max()
    between_images = numpy.abs(expected[0] - expected[1]).max() / largest
    if not numpy.isfinite(largest) or between_images < 0.01:
        return "bad test: PyTorch's outputs are not finite or do not depend on the image", 0
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}", 0
    error = numpy.abs(actual - expected).max() / largest
    return (None if error <= TOLERANCE else f"more than {TOLERANCE:g}"), error


def images_of(channels, size):
    """Coarse blocks under fine noise: pure noise looks the same to a network whatever its seed."""
    generator = torch.Generator().manual_seed(3)
    blocks = torch.randn((BATCH, channels) + (4,) * len(size), generator=generator)
    noise = torch.randn((BATCH, channels) + size, generator=generator)
    return 1.5 * torch.nn.functional.interpolate(blocks, size=size) + 0.5 * noise


def check(tacho, name, model, folder, engine, size):
    images = images_of(MODELS[name][1], size)
    with torch.no_grad():
        expected = model(images).numpy()
    try:
        problem, error = compare(expected, run_tacho(tacho, name, engine, folder, images))
    except RuntimeError as failure:
        problem, error = str(failure), float("nan")
    shape = "x".join(map(str, size))
    largest = numpy.abs(expected).max()
    verdict = f"FAILED: {problem}" if problem else "ok"
    print(f"{name:14} {engine:10} {shape:>9}  error {error:8.2e} of {largest:8.3g}  {verdict}", flush=True)
    return problem is None


def check_model(tacho, name):
    build, channels, sizes = MODELS[name]
    torch.manual_seed(1)
    model = randomize(build(), images_of(channels, sizes["native"][0]))
    with tempfile.TemporaryDirectory(prefix="tacho-parity-") as folder:
        export(model, os.path.join(folder, "weights.safetensors"))
        results = [check(tacho, name, model, folder, engine, size) for engine in sizes for size in sizes[engine]]
    return all(results)


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    tacho, names = arguments[0], arguments[1:] or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        sys.exit(f"unknown model {unknown[0]}; there are: {' '.join(MODELS)}")
    results = [check_model(tacho, name) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
