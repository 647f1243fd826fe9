#!/usr/bin/env python3
"""Published results are shipped digit for digit: references_test.py ROOT. Needs only the standard library.

tests/published/ holds the tables as they were published, references/ what tacho ships. Numbers are compared as text.
"""

import collections
import csv
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path()

NAMES = ["dgx-station-grid", "dgx1-v100", "embl-gpu", "embl-summary", "keras-cifar10", "pytorch-gpu-benchmark",
         "pytorch-throughput"]
WHAT = set("""system kind model mode engine precision batch batch_total devices nodes image warmup repeat seed cuda
              iterations epoch_count time_includes""".split())
FIGURES = set("""median_ms mean_ms images_per_s forward_images_per_s backward_images_per_s speedup seconds
                 seconds_per_epoch train_accuracy test_accuracy peak_memory_mib iterations_per_min output_mvox_per_s
                 extrapolated.100k_iterations_d extrapolated.8.1_tvox_h""".split())
CORRECTED = {"corrected." + name for name in FIGURES} | {"corrected.8.1_tvox_h"}
NOTES = {"known_error", "correction"}
TEXT = {"system", "kind", "model", "mode", "engine", "precision", "image", "cuda"} | NOTES
INCLUDES = {"update", "transfer", "halo", "validation"}

VOLUME = 200 * 3072 * 3072
WRITTEN = 170 * 2672 * 2672


class Number(str):
    """A number of a JSON file, as it is written there."""


def load(name):
    text = (ROOT / "references" / f"{name}.json").read_text()
    return json.loads(text, parse_int=Number, parse_float=Number)


def rows_of(table):
    """Every row with what its table shares; a null is as good as an absent column."""
    shared = {name: table[name] for name in NOTES if name in table} | table["shared"]
    for row in table["rows"]:
        yield shared | {name: value for name, value in zip(table["columns"], row) if value is not None}


def every_row():
    for name in NAMES:
        for table in load(name)["tables"]:
            for row in rows_of(table):
                yield name, table["title"], row


def published(name):
    """The tables of a Markdown file: heading and rows of cells, the header first."""
    tables = []
    for line in (ROOT / "tests/published" / f"{name}.md").read_text().splitlines():
        if line.startswith("# "):
            tables.append((line[2:], []))
        elif line.startswith("|"):
            tables[-1][1].append([cell.strip() for cell in line.strip("|").split("|")])
    return [(heading, [cells[0]] + cells[2:]) for heading, cells in tables]


def published_csv(name):
    with open(ROOT / "tests/published" / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def embl_systems(rows):
    """'P100 (x2)' are two devices of the system above it."""
    system = None
    for cells in rows:
        several = re.fullmatch(r"(\w+) \(x(\d)\)", cells[0])
        if several is None:
            system = cells[0].replace(": ", ":")
        elif not system.endswith(":" + several.group(1)):
            raise ValueError(f"{cells[0]} does not belong to {system}")
        yield {"system": system, "devices": several.group(2) if several else "1"}, cells


class ReferencesTest(unittest.TestCase):
    def expect(self, table, expected):
        """The table's rows are the expected ones in their order, and hold no other published figure."""
        rows = list(rows_of(table))
        self.assertEqual(len(rows), len(expected), table["title"])
        for row, want in zip(rows, expected):
            found = {name: row.get(name) for name in want} | {name: row[name] for name in FIGURES & row.keys()}
            self.assertEqual(found, want, table["title"])


class Format(ReferencesTest):
    def test_every_file_is_a_set_and_names_are_unique(self):
        self.assertEqual(sorted(path.stem for path in (ROOT / "references").glob("*.json")), NAMES)
        for name in NAMES:
            self.assertEqual(load(name)["name"], name)
            self.assertRegex(name, r"^[a-z0-9-]+$")

    def test_every_set_says_where_it_comes_from_and_how_it_was_measured(self):
        for name in NAMES:
            document = load(name)
            self.assertEqual(set(document), {"schema", "name", "title", "source", "protocol", "tables"})
            self.assertEqual(document["schema"], "1")
            for field in ("title", "source", "protocol"):
                self.assertRegex(document[field], r"^\S.*\S$", f"{name}: {field}")

    def test_columns_are_known_and_have_the_right_types(self):
        for name in NAMES:
            for table in load(name)["tables"]:
                for row in table["rows"]:
                    self.assertEqual(len(row), len(table["columns"]), table["title"])
                self.assertEqual(len(set(table["columns"])), len(table["columns"]), table["title"])
                self.assertFalse(set(table["columns"]) & set(table["shared"]), table["title"])
                self.assertLessEqual(set(table["columns"]), WHAT | FIGURES | CORRECTED | NOTES, table["title"])
                self.assertLessEqual(set(table["shared"]), WHAT, table["title"])
        for name, title, row in every_row():
            self.assertLessEqual(set(row["time_includes"]), INCLUDES)
            for field, value in row.items():
                if field != "time_includes":
                    self.assertIs(type(value), str if field in TEXT else Number, f"{name}: {title}: {field}")

    def test_every_row_says_what_ran_and_holds_a_figure(self):
        for name, title, row in every_row():
            for field in ("system", "kind", "model", "mode", "engine", "precision", "devices", "image"):
                self.assertIn(field, row, f"{name}: {title}")
            self.assertTrue(FIGURES & row.keys(), f"{name}: {title}")
            self.assertIn(row["kind"], ("bench", "train", "predict"))
            self.assertIn(row["mode"], ("infer", "train"))
            self.assertIn(row["precision"], ("f16", "f32", "f64"))
            self.assertTrue({"batch", "batch_total"} & row.keys(), f"{name}: {title}")

    def test_no_table_holds_a_measurement_twice(self):
        seen = collections.Counter((name, title, json.dumps({field: row[field] for field in sorted(WHAT & row.keys())}))
                                   for name, title, row in every_row())
        self.assertEqual([key for key, count in seen.items() if count > 1], [])

    def test_an_error_comes_with_its_correction(self):
        for name in NAMES:
            for table in load(name)["tables"]:
                self.assertEqual("known_error" in table, "correction" in table, f"{name}: {table['title']}")
        for name, title, row in every_row():
            self.assertEqual("known_error" in row, "correction" in row, f"{name}: {title}")
            if CORRECTED & row.keys():
                self.assertIn("known_error", row, f"{name}: {title}")

    def test_faulty_figures_are_marked_and_others_are_not(self):
        def faulty(name, title, row):
            return (name in ("keras-cifar10", "pytorch-throughput") or row["kind"] == "predict"
                    or row.get("iterations_per_min") == "29.4"
                    or (name == "dgx-station-grid" and row["precision"] != "f32")
                    or title == "NVIDIA TITAN Xp, float on 4 GPUs")

        for name, title, row in every_row():
            self.assertEqual("known_error" in row, faulty(name, title, row), f"{name}: {title}: {row}")

    def test_an_error_of_a_row_repeats_that_of_its_table(self):
        for name in NAMES:
            for table in load(name)["tables"]:
                for row in rows_of(table):
                    for note in NOTES & table.keys():
                        self.assertTrue(row[note].startswith(table[note]), f"{name}: {table['title']}")


class Digits(ReferencesTest):
    def test_dgx1_v100(self):
        tables = load("dgx1-v100")["tables"]
        ((heading, (header, training, inference)),) = published("dgx1-v100")
        self.assertEqual((tables[0]["title"], training[0], inference[0]), (heading, "Training", "Inference"))
        expected = [{"model": model.replace("seqeezenet", "squeezenet"), "mode": mode, "mean_ms": cell.removesuffix("ms"),
                     "batch": "16", "devices": "1", "image": "224x224", "warmup": "5", "repeat": "20", "time_includes": []}
                    for mode, cells in (("train", training), ("infer", inference))
                    for model, cell in zip(header[1:], cells[1:])]
        self.assertEqual(len(expected), 26)
        self.expect(tables[0], expected)
        self.assertEqual((tables[1]["rows"], len(tables)), ([], 2))
        self.assertIn("known_error", tables[1])

    def test_keras_cifar10(self):
        fields = {"Training time (secs)": "seconds", "Average time per epoch (secs)": "seconds_per_epoch",
                  "Images processed per sec": "images_per_s", "Training accuracy": "train_accuracy",
                  "Test accuracy": "test_accuracy", "Maximum Memory Consumption": "peak_memory_mib"}
        epochs = ["10", "100", "100", "5", "25", "25"]
        tables = load("keras-cifar10")["tables"]
        self.assertEqual(len(tables), 6)
        for table, count, (heading, (header, *lines)) in zip(tables, epochs, published("keras-cifar10"), strict=True):
            resnet = heading.startswith("Resnet50")
            expected = []
            for column, gpus in enumerate(header[1:], 1):
                row = {fields[cells[0]]: cells[column] for cells in lines}
                row |= {"devices": re.fullmatch(r"GPU ?\((\d+)\)", gpus).group(1), "epoch_count": count, "batch": "32"}
                row |= {"model": "resnet50", "image": "32x32"} if resnet else {"model": "inception_v3", "image": "299x299"}
                row |= {"engine": "keras + tensorflow" if "Tensorflow" in heading else "keras 1.2.2 + mxnet"}
                row |= {"time_includes": ["update", "transfer", "validation"]}
                expected.append(row)
            self.assertEqual(table["title"], heading)
            self.expect(table, expected)

    def test_pytorch_throughput(self):
        figures = ["forward_images_per_s", "backward_images_per_s", "images_per_s", "speedup"]
        names = ["fwd_throughput", "bwd_throughput", "overall throughput", "speedup"]
        tables = load("pytorch-throughput")["tables"]
        self.assertEqual(len(tables), 2)
        for table, (heading, (header, *lines)) in zip(tables, published("pytorch-throughput"), strict=True):
            self.assertEqual((table["title"], header[1:]), (heading, names))
            expected = []
            for cells in lines:
                nodes, gpus = re.fullmatch(r"(\d+) \((\d+) GPUs\)", cells[0]).groups() if "GPUs" in cells[0] else ("1", cells[0])
                expected.append({"nodes": nodes, "devices": gpus, "batch": "32", "model": "resnet50", "repeat": "500"}
                                | dict(zip(figures, cells[1:], strict=True)))
            self.expect(table, expected)

    def expect_embl(self, table, lines, kind, columns):
        """Rows of the published lines that have a figure for this kind; columns maps fields to cells."""
        shape = {"train": {"image": "40x432x432", "iterations": "1001"}, "predict": {"image": "200x3072x3072"}}[kind]
        first = next(iter(columns.values()))
        self.expect(table, [where | shape | {"kind": kind, "model": "unet3d", "batch": "1"}
                            | {field: cells[column] for field, column in columns.items()}
                            for where, cells in embl_systems(lines) if cells[first] != "-"])

    def expect_embl_times(self, training, prediction, heading, lines):
        self.assertTrue(training["title"].startswith(heading) and prediction["title"].startswith(heading))
        for cells in lines:
            self.assertEqual(cells[1:3], ["9.1", "0.4.0"])
        for table, kind, column in ((training, "train", 3), (prediction, "predict", 4)):
            self.assertEqual((table["shared"]["cuda"], table["shared"]["engine"]), ("9.1", "pytorch 0.4.0"))
            self.expect_embl(table, lines, kind, {"seconds": column})

    def test_embl_summary(self):
        tables = load("embl-summary")["tables"]
        (heading, (_, *times)), (training, (_, *iterations)), (prediction, (_, *rates)) = published("embl-summary")
        self.expect_embl_times(tables[0], tables[1], heading, times)
        self.assertEqual([table["title"] for table in tables[2:]], [training, prediction])
        self.expect_embl(tables[2], iterations, "train", {"iterations_per_min": 1, "extrapolated.100k_iterations_d": 2})
        self.expect_embl(tables[3], rates, "predict", {"output_mvox_per_s": 1, "extrapolated.8.1_tvox_h": 2})
        self.assertEqual([len(table["rows"]) for table in tables], [8, 4, 8, 4])

    def test_embl_gpu(self):
        tables = load("embl-gpu")["tables"]
        (heading, (_, *times)), (translated, (_, *rates)) = published("embl-gpu")
        self.expect_embl_times(tables[0], tables[1], heading, times)
        self.assertTrue(all(table["title"].startswith(translated) for table in tables[2:]))
        self.expect_embl(tables[2], rates, "train", {"iterations_per_min": 1})
        self.expect_embl(tables[3], rates, "predict", {"output_mvox_per_s": 2})
        self.assertEqual([len(table["rows"]) for table in tables], [12, 5, 12, 5])

    def test_pytorch_gpu_benchmark(self):
        precisions = {"float": "f32", "half": "f16"}
        lines = collections.defaultdict(list)
        for line in published_csv("pytorch-gpu-benchmark"):
            disturbed = (line["device"], line["devices"], line["precision"]) == ("NVIDIA TITAN Xp", "4", "float")
            lines[line["device"] + (", float on 4 GPUs" if disturbed else "")].append(line)
        tables = load("pytorch-gpu-benchmark")["tables"]
        self.assertEqual([table["title"] for table in tables], list(lines))
        self.assertEqual(sum(len(table["rows"]) for table in tables), 1040)
        for table in tables:
            self.expect(table, [{"system": line["device"], "devices": line["devices"],
                                 "precision": precisions[line["precision"]], "mode": line["mode"], "model": line["model"],
                                 "batch": line["batch_per_device"], "repeat": line["samples"],
                                 "median_ms": line["median_ms"], "time_includes": ["transfer"]}
                                for line in lines[table["title"]]])

    def test_dgx_station_grid(self):
        tables = load("dgx-station-grid")["tables"]
        precisions = {"half": "f16", "single": "f32", "double": "f64"}
        self.assertEqual([table["title"] for table in tables], [f"DGX Station, {name}" for name in precisions])
        for table, (published_name, precision) in zip(tables, precisions.items()):
            expected = []
            for line in published_csv("dgx-station-grid"):
                if line["precision"] == published_name:
                    each, rest = divmod(int(line["batch_total"]), int(line["devices"]))
                    expected.append({"precision": precision, "batch_total": line["batch_total"], "devices": line["devices"],
                                     "batch": None if rest else str(each), "mean_ms": line["ms"]})
            self.assertEqual(len(expected), 16)
            self.expect(table, expected)


class Corrections(ReferencesTest):
    def close(self, text, value):
        """The text is the value, rounded to the digits it has."""
        self.assertEqual(text, f"{value:.{len(text.partition('.')[2])}f}")

    def follows(self, text, value):
        """The text is the value to its last digit, rounded or cut off."""
        self.assertLess(abs(float(text) - value), 1.01 * 10 ** -len(text.partition(".")[2]))

    def test_keras_rates_count_training_images_alone(self):
        for table in load("keras-cifar10")["tables"]:
            for row in rows_of(table):
                epoch = float(row["seconds"]) / int(row["epoch_count"])
                self.assertEqual("corrected.images_per_s" in row, "images_per_s" in row)
                if "images_per_s" in row:
                    self.assertAlmostEqual(float(row["images_per_s"]) * epoch / 60000, 1, places=4)
                    self.close(row["corrected.images_per_s"], 50000 / epoch)
                if "corrected.seconds_per_epoch" in row:
                    self.assertEqual(row["seconds_per_epoch"], "304.02")
                    self.close(row["corrected.seconds_per_epoch"], epoch)
                else:
                    self.follows(row["seconds_per_epoch"], epoch)

    def test_tensorflow_memory_is_the_same_for_both_networks(self):
        memory = collections.defaultdict(list)
        for table in load("keras-cifar10")["tables"]:
            if table["shared"]["engine"] == "keras + tensorflow":
                memory[table["shared"]["model"]] = [row["peak_memory_mib"] for row in rows_of(table)]
        self.assertEqual(memory["resnet50"], memory["inception_v3"])

    def test_sixteen_devices_of_an_eight_device_machine_are_marked(self):
        for name, _, row in every_row():
            if name == "keras-cifar10" and "p2.8xlarge" in row["system"]:
                self.assertEqual("which has 8 GPUs" in row["known_error"], int(row["devices"]) > 8)

    def test_throughputs_give_the_published_speedups(self):
        rows = [row for name, _, row in every_row() if name == "pytorch-throughput"]
        for row in rows:
            self.close(row["speedup"], float(row["images_per_s"]) / float(rows[0]["images_per_s"]))

    def test_embl_rates_follow_from_the_times(self):
        for name in ("embl-summary", "embl-gpu"):
            seconds = {(row["kind"], row["system"], row["devices"]): float(row["seconds"])
                       for table in load(name)["tables"] for row in rows_of(table) if "seconds" in row}
            for table in load(name)["tables"]:
                for row in rows_of(table):
                    time = seconds[row["kind"], row["system"], row["devices"]]
                    if "iterations_per_min" in row:
                        right = row.get("corrected.iterations_per_min", row["iterations_per_min"])
                        self.close(right, 1001 / time * 60)
                    if "extrapolated.100k_iterations_d" in row:
                        self.close(row["extrapolated.100k_iterations_d"], 100000 * time / 1001 / 86400)
                    if "output_mvox_per_s" in row:
                        self.close(row["output_mvox_per_s"], VOLUME / time / 1e6)
                        self.close(row["corrected.output_mvox_per_s"], WRITTEN / time / 1e6)

    def test_embl_blocks_write_64_percent_of_the_volume(self):
        written = 1
        for size, step, block in zip((200, 3072, 3072), (65, 675, 675), (55, 575, 575)):
            written *= sum(min(block, size - origin) for origin in range(0, size, step))
        self.assertEqual(written, WRITTEN)
        self.assertEqual(round(100 * WRITTEN / VOLUME, 1), 64.3)

    def test_hours_for_8_1_tvox_are_ten_times_the_published_ones(self):
        rows = [row for _, _, row in every_row() if "extrapolated.8.1_tvox_h" in row]
        self.assertEqual([row["corrected.8.1_tvox_h"] for row in rows], ["255.7", "261.6", "239.4", "177.2"])
        for row in rows:
            self.close(row["corrected.8.1_tvox_h"], 8.1e12 / (float(row["output_mvox_per_s"]) * 1e6) / 3600)
            self.assertAlmostEqual(float(row["corrected.8.1_tvox_h"]) / float(row["extrapolated.8.1_tvox_h"]), 10, delta=0.1)

    def test_dgx_station_figures_are_those_of_resnet50_in_float_whatever_the_precision(self):
        times = {(row["precision"], row["batch_total"], row["devices"]): float(row["mean_ms"])
                 for name, _, row in every_row() if name == "dgx-station-grid"}
        for (_, batch, devices), time in times.items():
            self.assertAlmostEqual(time / times["f32", batch, devices], 1, delta=0.04)
        dgx1 = {row["model"]: float(row["mean_ms"]) for name, _, row in every_row()
                if name == "dgx1-v100" and row["mode"] == "infer"}
        self.assertAlmostEqual(times["f32", "16", "1"] / dgx1["resnet50"], 1, delta=0.01)
        self.assertGreater(times["f32", "16", "1"] / dgx1["resnet18"], 3)

    def test_disturbed_cells_are_those_of_the_system_where_inference_outlasts_training(self):
        times = {(title, row["devices"], row["precision"], row["mode"], row["model"]): float(row["median_ms"])
                 for name, title, row in every_row() if name == "pytorch-gpu-benchmark"}
        slower = {(key[0], key[4]) for key, time in times.items()
                  if key[3] == "infer" and time > times[key[:3] + ("train", key[4])]}
        self.assertEqual(slower, {("NVIDIA TITAN Xp, float on 4 GPUs", model) for model in ("resnet18", "resnet34")})


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: references_test.py ROOT")
    ROOT = pathlib.Path(sys.argv.pop(1))
    unittest.main()
