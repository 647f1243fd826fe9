"""Records that fill every section of the report page: made up, but consistent in themselves."""

import base64
import math
import random
import statistics

HOSTILE = "</script><script>alert(1)</script>"
HOSTILE_IMAGE = "<img src=x onerror=alert(2)>"

# Network: GFLOP and MiB moved per image, forward.
NETWORKS = {
    "squeezenet1_1": (0.70, 45), "resnet18": (3.63, 60), "squeezenet1_0": (1.63, 90), "resnet34": (7.33, 85), "resnet50": (8.18, 190),
    "densenet121": (5.67, 260), "vgg16": (30.95, 210), "densenet169": (6.72, 310), "vgg19": (39.26, 230), "resnet101": (15.6, 290),
    "densenet201": (8.58, 400), "inception_v3": (11.4, 170), "resnet152": (23.0, 410), "densenet161": (15.5, 480),
}

THIS_MACHINE = {
    "name": "bench-01", "machine_id": "a1b2c3", "cpu": "AMD EPYC 7543 32-Core Processor", "cores": 16, "memory_mib": 64213,
    "os": "Debian GNU/Linux 12 (bookworm), kernel 6.1.0-18-amd64", "compiler": "g++ 12.2.0",
    "engines": {"native": "0.1.0, oneDNN 2.6.3", "null": "", "reference": "0.1.0"},
    "libraries": {"OpenMP": "201511", "fmt": "9.1.0", "glibc": "2.36"}, "version": "0.1.0", "commit": "9fae1d7", "build_type": "Release",
    "instruction_set": "AVX2", "governor": "powersave", "warnings": ["the frequency governor is powersave: clocks may vary"],
    "speeds": [{"threads": 1, "fma_gflops": 108.4, "bandwidth_gbs": 21.3}, {"threads": 16, "fma_gflops": 1480.0, "bandwidth_gbs": 118.0}],
}
OTHER_MACHINE = {
    **THIS_MACHINE, "name": "node-7 " + HOSTILE_IMAGE, "machine_id": "d4e5f6", "cpu": "Intel Xeon Gold 6248 " + HOSTILE, "cores": 20, "warnings": [],
    "instruction_set": "AVX-512", "governor": "performance",
    "speeds": [{"threads": 1, "fma_gflops": 131.0, "bandwidth_gbs": 14.2}, {"threads": 20, "fma_gflops": 1910.0, "bandwidth_gbs": 104.0}],
}


class Maker:
    """Numbers the records and draws their samples from one seeded source."""

    def __init__(self):
        self.random = random.Random(1)
        self.records = []

    def add(self, **fields):
        number = len(self.records)
        record = {"schema": 1, "id": f"{number:08x}", "time": f"2026-11-{1 + number // 1440:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00Z",
                  "kind": "bench", "verdict": "valid", **fields}
        self.records.append(record)
        return record

    def samples(self, ms, spread, count=20):
        return [ms * max(0.5, 1 + self.random.gauss(0, spread)) for _ in range(count)]

    def measured(self, ms, spread=0.01, **fields):
        samples = self.samples(ms, spread)
        median = statistics.median(samples)
        ordered = sorted(samples)
        images = fields.get("batch_total") or fields["batch"] * fields.get("devices", 1)
        return self.add(samples_ms=samples, median_ms=median, mad_ms=statistics.median(abs(s - median) for s in samples), min_ms=ordered[0],
                        mean_ms=statistics.fmean(samples), median_low_ms=ordered[5], median_high_ms=ordered[14],
                        images_per_s=1000 * images * len(samples) / sum(samples), **fields)


def plain(model, mode, batch, **fields):
    return {"model": model, "mode": mode, "engine": "native", "precision": "f32", "batch": batch, "devices": 1, "threads": 16, "image": "224x224",
            "warmup": 5, "repeat": 20, **fields}


def pass_ms(model, mode, batch, gflops, factor=1.0):
    gflop = NETWORKS[model][0] * batch * (3 if mode == "train" else 1)
    return factor * 1000 * gflop / (gflops * (0.35 + 0.3 * batch / (batch + 8))) + 4


def add_pass(maker, system, model, mode, batch, spread=0.01, **fields):
    roof = system["speeds"][-1]
    ms = pass_ms(model, mode, batch, roof["fma_gflops"], 0.9 + 0.3 * maker.random.random())
    flop = round(NETWORKS[model][0] * 1e9 * batch * (3 if mode == "train" else 1))
    values = plain(model, mode, batch, threads=system["cores"], system=system, run="r1", suite="zoo", flop_per_pass=flop,
                   bytes_per_pass=NETWORKS[model][1] * 2**20 * batch * (3 if mode == "train" else 1), time_includes=["update"] if mode == "train" else [],
                   gflops=flop / ms / 1e6, percent_of_peak=100 * flop / ms / 1e6 / roof["fma_gflops"], peak_memory_mib=200 + 20.0 * batch,
                   drift_percent=0.4, outliers=1)
    if mode == "train":
        values.update(forward_ms=ms * 0.31, backward_ms=ms * 0.66, update_ms=ms * 0.03)
    if spread > 0.05:
        values.update(verdict="noisy", reason="MAD is 6.1 % of the median")
    return maker.measured(ms, spread, **{**values, **fields})


def add_zoo(maker):
    command = "tacho bench all --mode train,infer --batch 16"
    for system in (THIS_MACHINE, OTHER_MACHINE):
        for i, model in enumerate(NETWORKS):
            for mode in ("train", "infer"):
                noisy = system is THIS_MACHINE and i in (3, 8) and mode == "infer"
                add_pass(maker, system, model, mode, 16, 0.09 if noisy else 0.012, command=command)
    maker.add(**plain("unet3d", "train", 16, image="40x216x216"), system=THIS_MACHINE, command="tacho bench unet3d --batch 16",
              verdict="out_of_memory", reason="needs about 312 GiB, 62.7 GiB are available")
    add_pass(maker, THIS_MACHINE, "resnet18", "train", 16, command=command)  # measured again


def add_batches(maker):
    for system in (THIS_MACHINE, OTHER_MACHINE):
        for model in ("resnet18", "resnet50", "densenet121"):
            for mode in ("train", "infer"):
                for power in range(0, 9):
                    add_pass(maker, system, model, mode, 2**power, command=f"tacho bench {model} --mode train,infer --batch 1-256*2")


PARTS = ("scatter", "forward", "backward", "exposed_allreduce", "wait", "update", "gather")


def on_devices(devices, ms, **shares):
    """The parts of a pass by their shares of it, and what the devices themselves say: the last of them is the slowest."""
    parts = {f"{part}_ms": ms * shares[part] for part in PARTS if part in shares}
    ranks = []
    for rank in range(devices):
        late = 0.8 if rank == devices - 1 else -0.8 / max(1, devices - 1)  # of the mean wait, spent on the forward pass
        wait = parts.get("wait_ms", 0)
        ranks.append({"rank": rank, "host": f"node-{rank // 4}", **parts, "forward_ms": parts["forward_ms"] + late * wait, "wait_ms": wait - late * wait})
    return {**parts, **({"ranks": ranks} if devices > 1 else {})}


def add_grid(maker):
    for devices in range(1, 9):
        for power in range(4, 12):
            total = 2**power
            share = {"batch_total": total} if total % devices else {"batch": total // devices}
            ms = 2.3 * total / devices * (1 + 0.06 * devices) + 1.2 * devices
            fields = {**plain("resnet18", "infer", None, devices=devices, threads=2, system=THIS_MACHINE, parallel="scatter",
                              command="tacho suite grid", suite="grid"), **share}
            fields = {name: value for name, value in fields.items() if value is not None}
            if devices == 8 and total == 2048:
                maker.add(**fields, verdict="out_of_memory", reason="needs about 70 GiB")
                continue
            if devices > 6:
                fields.update(verdict="oversubscribed", reason=f"{devices} devices of 2 threads on 12 cores")
            maker.measured(ms, 0.02, **fields, **on_devices(devices, ms, scatter=0.04 * devices, forward=0.94 - 0.06 * devices, wait=0.06, gather=0.02 * devices),
                           bytes_moved=total * 4 * 3 * 224 * 224 * (devices - 1) // devices)


def add_devices(maker, devices, one_ms, lost_ms, **fields):
    """A pass of training on several devices, with what it loses against one."""
    ms = one_ms + sum(lost_ms.values())
    times = {"forward": (0.31 * one_ms + lost_ms.get("slower forward", 0)) / ms, "backward": 0.65 * one_ms / ms, "update": 0.04 * one_ms / ms}
    values = plain("resnet50", "train", 32, devices=devices, threads=2, system=THIS_MACHINE, command="tacho suite scaling", suite="scaling", time_includes=["update"])
    if devices > 1:
        times.update(exposed_allreduce=lost_ms["exposed all-reduce"] / ms, wait=lost_ms["wait for the slowest"] / ms)
        values.update(parallel="allreduce", bucket_mib=25, lost_ms=lost_ms, allreduce_ms=4.0 * lost_ms["exposed all-reduce"], bytes_moved=204456256 * (devices - 1),
                      buckets=[{"bytes": 1 << 20, "ready_ms": 12.5}, {"bytes": 25 << 20, "ready_ms": 140.0}])
    values.update(on_devices(devices, ms, **times))
    if fields.get("verdict") != "simulated":
        return maker.measured(ms, 0.015, **{**values, **fields})
    values.pop("ranks", None)
    return maker.add(**{**values, **fields, "median_ms": ms, "images_per_s": 32e3 * devices / ms})


def lost(devices, factor=1.0):
    steps = math.log2(devices)
    return {"wait for the slowest": 9 * factor * steps, "exposed all-reduce": 6 * factor * steps, "slower forward": 4 * factor * steps}


def add_scaling(maker):
    add_devices(maker, 1, 410, {})
    for devices in (2, 4, 8):
        add_devices(maker, devices, 410, lost(devices), speedup=devices * 410 / (410 + sum(lost(devices).values())))
        add_devices(maker, devices, 410, lost(devices, 2.5), batch_norm="sync")
    add_devices(maker, 16, 820, lost(16), verdict="oversubscribed", reason="32 threads share 16 usable cores")
    for devices in (2, 8, 16, 32):
        add_devices(maker, devices, 410, lost(devices, 0.9), verdict="simulated", reason="from one device and a link of 10 GB/s", nodes=max(1, devices // 8))
    for devices in (1, 2, 4):  # each with a batch of its own
        sharing = {"parallel": "replicas"} if devices > 1 else {}
        maker.measured(226 + 6 * devices, 0.01, **plain("resnet50", "infer", 24, devices=devices, threads=16 // devices, system=THIS_MACHINE, **sharing,
                                                       command="tacho bench resnet50 --devices 1,2,4 --batch 24"))


def add_training(maker):
    for devices, offset in ((1, 0.0), (4, 0.02)):
        epochs = [{"seconds": 41.0 / devices, "images_per_s": 1220.0 * devices, "loss": 0.25 + 1.9 * math.exp(-e / 3.2) + offset,
                   "train_accuracy": 0.97 - 0.62 * math.exp(-e / 3.0) - offset, "test_accuracy": 0.89 - 0.50 * math.exp(-e / 2.6) - offset} for e in range(12)]
        maker.add(**{**plain("resnet50", "train", 32, devices=devices, image="32x32"), "kind": "train"}, system=THIS_MACHINE, epochs=epochs, images_per_s=1220.0 * devices,
                  seconds=492.0 / devices, seconds_per_epoch=41.0 / devices, train_accuracy=0.95, test_accuracy=0.88, command=f"tacho train resnet50 --data cifar10:data --epochs 12 --devices {devices}")


def add_volumes(maker):
    """A training on a volume, and a prediction with pictures."""
    epochs = [{"steps": 30, "seconds": 20.0, "loss": -1.1 - 0.3 * e, "test_loss": -1.0 - 0.3 * e, "constant_loss": -1.4, "boundary_f1": 0.2 + 0.1 * e} for e in range(5)]
    maker.add(**{**plain("unet3d_lite", "train", 1, image="16x96x96"), "kind": "train"}, system=THIS_MACHINE, epochs=epochs, seconds=110.0, iterations=150,
              iterations_per_min=90.0, test_loss=-2.2, constant_loss=-1.4, boundary_f1=0.6, command="tacho train unet3d_lite --data cremi:F.h5 --steps 150")
    slices = [{"name": name, "width": 32, "height": 16, "pixels": base64.b64encode(bytes((x * step + y) % 256 for y in range(16) for x in range(32))).decode()}
              for name, step in (("input", 3), ("least output", 5), ("greatest output", 7))]
    maker.add(**{**plain("unet3d_lite", "infer", 1, image="64x512x512"), "kind": "predict"}, system=THIS_MACHINE, seconds=33.5, output_mvox_per_s=0.5,
              slices=slices, command="tacho predict unet3d_lite --weights F --input F.h5 --output DIR.zarr")


def add_references(maker):
    source = {"reference": "made-up-set", "source": "A made-up report, https://example.org/report", "protocol": "Mean of 20 passes after 5, without an update."}
    for name, speed in (("GPU model A", 9000.0), ("GPU model B", 15000.0)):
        for model in NETWORKS:
            for mode in ("train", "infer"):
                maker.add(model=model, mode=mode, engine="pytorch", precision="f32", batch=12 if name.endswith("B") else 16, devices=1, image="224x224",
                          mean_ms=pass_ms(model, mode, 16, speed), time_includes=["transfer"], system={"name": name}, **source)
    wrong = {"reference": HOSTILE, "source": HOSTILE_IMAGE, "protocol": "Overall rate of 500 steps.", "known_error": "The halo was counted as output.",
             "correction": "Use the overall rate alone.", "corrected": {"images_per_s": 40.0}, "extrapolated": {"days_to_100k": 2.1}}
    for devices, rate in ((1, 41.5), (2, 77.6), (4, 154.2), (8, 303.5), (16, 571.0)):
        maker.add(model="resnet50", mode="train", engine="pytorch", precision="f32", batch=32, devices=devices, image="224x224", images_per_s=rate,
                  speedup=rate / 41.5, forward_images_per_s=4 * rate, backward_images_per_s=1.4 * rate, system={"name": "K80 nodes"}, **wrong)
    for devices in (1, 2, 3, 4):
        for total in (16, 32, 64, 128):
            share = {"batch_total": total} if total % devices else {"batch": total // devices}
            maker.add(model="resnet50", mode="infer", engine="pytorch", precision="f16", devices=devices, image="224x224",
                      mean_ms=8 * devices + total / devices, system={"name": "Station"}, reference="made-up-grid", source="A made-up grid", **share)
    maker.add(model="unet3d", mode="train", kind="train", engine="pytorch", devices=2, batch=1, image="40x432x432", seconds=1800.0, iterations_per_min=33.0,
              system={"name": "GPU model A"}, reference="made-up-volume", source="A made-up volume")
    maker.add(model="unet3d", mode="infer", kind="predict", engine="pytorch", devices=1, output_mvox_per_s=8.8, system={"name": "GPU model A"}, reference="made-up-volume",
              source="A made-up volume")


def page_records():
    maker = Maker()
    add_zoo(maker)
    add_batches(maker)
    add_grid(maker)
    add_scaling(maker)
    add_training(maker)
    add_volumes(maker)
    add_references(maker)
    return maker.records


def machine_records():
    """The networks on two machines with plain names that differ by very little, much and by the batch."""
    maker = Maker()
    for name, factor in (("alpha", 1.0), ("beta", 1.01)):
        system = {**THIS_MACHINE, "name": name, "machine_id": name}
        for i, (model, (gflop, _)) in enumerate(NETWORKS.items()):
            for mode in ("train", "infer"):
                batch = 12 if i % 5 == 4 else 16 if i % 5 != 3 or name == "alpha" else 8
                ms = 10 * gflop * (factor if i % 3 else 1 / factor**30) * (3 if mode == "train" else 1)
                phases = {"forward_ms": ms * 0.3, "backward_ms": ms * 0.6, "update_ms": ms * 0.1, "time_includes": ["update"]} if mode == "train" else {}
                maker.measured(ms, (0.001, 0.02, 0.004)[i % 3], **plain(model, mode, batch), **phases, system=system)
    # A tie between two last digits: exactly 1.125 times as fast.
    for name, ms in (("alpha", 8.0), ("beta", 9.0)):
        maker.measured(ms, 0, **plain("tied", "infer", 16), system={**THIS_MACHINE, "name": name, "machine_id": name})
    return maker.records


def variants():
    """One network by several means: kernels at two batches, memories, and trainings of other recipe, seed and data."""
    maker = Maker()
    for kernel in ({}, {"kernel": "onednn"}, {"kernel": "winograd"}):
        for batch in (8, 16) if kernel else (16,):
            add_pass(maker, THIS_MACHINE, "resnet18", "infer", batch, **kernel)
    for memory in ({}, {"memory": "low"}):
        add_pass(maker, THIS_MACHINE, "resnet18", "train", 16, **memory)
    run = {"recipe": "sgd", "seed": 1, "data": "noise"}
    for change in ({}, {"recipe": "adam"}, {"seed": 2}, {"data": "stripes"}, {"data": "stripes"}):
        epochs = [{"seconds": 10.0, "loss": 2.0 - 0.3 * epoch, "test_accuracy": 0.2 * epoch} for epoch in range(4)]
        maker.add(**{**plain("resnet18", "train", 32, image="32x32"), "kind": "train", **run, **change}, system=THIS_MACHINE, epochs=epochs, seconds=40.0)
    return maker.records


def device_records():
    """One network on 1 to 16 devices in every way in which they can share it, with twins that belong to no line."""
    maker = Maker()
    add_devices(maker, 1, 410, {})
    for devices in (2, 4):
        add_devices(maker, devices, 410, lost(devices))
        add_devices(maker, devices, 410, lost(devices), batch_norm="sync")
    add_devices(maker, 2, 410, lost(2), bucket_mib=1)
    add_devices(maker, 8, 820, lost(8), verdict="oversubscribed", reason="16 threads share 8 cores")
    for network, all_devices in (("1Gbit", (2, 16)), ("10Gbit", (2, 8, 16))):
        for devices in all_devices:
            simulated = add_devices(maker, devices, 400, lost(devices), verdict="simulated", reason=f"from one device over {network}")
            del simulated["bucket_mib"]  # one device has none
    add_devices(maker, 1, 300, {}, threads=4)
    for parallel in ("replicas", "scatter"):
        for devices in (1, 2):
            sharing = {} if parallel == "replicas" and devices == 1 else {"parallel": parallel}
            for total in (24, 48, 96) if sharing == {"parallel": "scatter"} and devices == 1 else (24, 48):
                ms = 6.0 * total / devices + (20 if parallel == "scatter" else 0)
                shares = {"scatter": 0.1, "forward": 0.7, "wait": 0.1, "gather": 0.1} if parallel == "scatter" else {"forward": 0.9, "wait": 0.1}
                times = on_devices(devices, ms, **shares) if sharing else {}
                maker.measured(ms, 0.01, **plain("resnet50", "infer", total // devices, devices=devices, threads=2, system=THIS_MACHINE, **sharing), **times,
                               **({"bytes_moved": 7 << 20} if times else {}))
    return maker.records


def one_shared_total():
    """Each number of devices had two batches, but only one total batch ran on both."""
    maker = Maker()
    for devices in (1, 2):
        for batch in (4, 8):
            maker.measured(6.0 * batch, 0.01, **plain("resnet50", "infer", batch, devices=devices, threads=2, system=THIS_MACHINE))
    return maker.records
