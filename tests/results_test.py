#!/usr/bin/env python3
"""Results over several calls of the program: results_test.py TACHO. Needs only the standard library.

Keeps, resumes, compares, plans and reports. Measures with the null engine, which does nothing.
"""

import json
import os
import pty
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TACHO = ""


class StoreTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.db = os.path.join(self.folder, "results.db")

    def run_tacho(self, *arguments, status=0):
        done = subprocess.run([TACHO, *arguments, "--db", self.db], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def json_of(self, *arguments):
        return json.loads(self.run_tacho(*arguments, "--format", "json").stdout)

    def bench(self, *arguments):
        return self.json_of("bench", *arguments, "--engine", "null", "--image", "64")

    def refusal(self, *arguments):
        done = self.run_tacho(*arguments, status=2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def add(self, **changes):
        """A copy of a real record with other figures and names."""
        if not hasattr(self, "template"):
            (self.template,) = self.bench("resnet18", "--repeat", "20", "--no-db")
        record = json.loads(json.dumps(self.template))
        scale = changes.pop("scale_ms")
        random.seed(str(changes))
        samples = sorted(scale * (1 + random.uniform(-0.01, 0.01)) for _ in range(20))
        record.update(samples_ms=samples, median_ms=(samples[9] + samples[10]) / 2, min_ms=samples[0], engine="native")
        for name in ("median_low_ms", "median_high_ms", "mad_ms", "mean_ms", "drift_percent", "p95_ms", "images_per_s"):
            record.pop(name, None)
        random.shuffle(record["samples_ms"])
        record["system"]["name"] = changes.pop("system", "somewhere")
        record["system"]["machine_id"] = record["system"]["name"]
        record["id"] = os.urandom(8).hex()
        record.update(changes)
        path = os.path.join(self.folder, "one.json")
        with open(path, "w") as file:
            json.dump([record], file)
        self.run_tacho("results", "import", path)


class Resume(StoreTest):
    COUNT = 150
    CELLS = ["squeezenet1_1", "--batch", f"1-{COUNT}"]

    def test_a_run_that_is_killed_twenty_times_loses_no_finished_cell(self):
        finished = []
        patience = 1  # grows until the machine, however loaded, finishes something before it is killed
        for kill in range(20):
            seen = self.killed_after(patience * random.Random(kill).uniform(0.1, 0.5), resume=bool(finished))
            records = self.json_of("results", "list")
            batches = [record["batch"] for record in records]
            self.assertEqual(batches[: len(finished)], finished)
            self.assertGreaterEqual(len(batches), len(finished) + seen)
            patience *= 1 if batches else 1.5
            finished = batches
        self.assertLess(len(finished), self.COUNT, "the last kill came too late to interrupt anything")
        self.assertGreater(len(finished), 0, "every kill came too early to interrupt anything")
        records = self.bench(*self.CELLS, *(["--continue"] if finished else []))
        self.assertEqual([record["batch"] for record in records], list(range(1, self.COUNT + 1)))
        self.assertEqual(len({record["run"] for record in records}), 1)
        self.assertEqual(len(self.json_of("results", "list")), self.COUNT)

    def killed_after(self, seconds, resume):
        """How many cells the program said it had finished before it was killed."""
        parent, child = pty.openpty()
        command = [TACHO, "bench", *self.CELLS, "--engine", "null", "--image", "64", "--db", self.db]
        process = subprocess.Popen(command + (["--continue"] if resume else []), stdout=subprocess.DEVNULL, stderr=child)
        os.close(child)
        time.sleep(seconds)
        process.kill()
        process.wait()
        text = b""
        try:
            while part := os.read(parent, 65536):
                text += part
        except OSError:
            pass  # the end of a terminal
        os.close(parent)
        cells = re.findall(rb"\[(\d+)/\d+\]", text)
        return int(cells[-1]) - 1 if cells else 0

    def test_continue_measures_only_what_is_missing(self):
        first = self.bench("squeezenet1_1", "--batch", "1,2")
        run = first[0]["run"][:8]
        both = self.bench("squeezenet1_1", "--batch", "1,2,3", "--continue", run)
        self.assertEqual([r["id"] for r in both[:2]], [r["id"] for r in first])
        self.assertEqual(len(self.json_of("results", "list")), 3)

    def test_continue_refuses_what_was_never_begun(self):
        self.assertIn("no earlier run", self.refusal("suite", "quick", "--continue"))
        self.bench("squeezenet1_1")
        self.assertIn("no run has this id", self.refusal("bench", "vgg16", "--continue", "zzzz"))
        self.assertIn("none of these cells", self.refusal("bench", "vgg16", "--engine", "null", "--continue"))

    def test_records_say_how_they_were_made(self):
        (record,) = self.bench("squeezenet1_1", "--batch", "2")
        self.assertTrue(record["command"].startswith("tacho bench squeezenet1_1 --batch 2"))
        self.assertEqual(len(record["system"]["machine_id"]), 16)
        self.assertIn("commit", record["system"])


class Versions(StoreTest):
    """Records and stores of newer programs, and damaged ones, among others."""

    INVENTED = {"zeal": {"b": 1, "a": [1.5, "x", None]}, "colour": "red", "nothing": None}

    def written(self, name, records):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            json.dump(records, file)
        return path

    def exported(self):
        return json.loads(self.run_tacho("results", "export").stdout)

    def change(self, sql):
        connection = sqlite3.connect(self.db)
        connection.execute(sql)
        connection.commit()
        connection.close()

    def records(self, *ids):
        """A real one with an epoch and a measured speed, under new ids."""
        (record,) = self.bench("resnet18", "--no-db")
        record["system"].pop("warnings", None)
        record["system"]["speeds"] = [{"threads": 2, "fma_gflops": 80.0, "bandwidth_gbs": 30.5}]
        record["epochs"] = [{"steps": 3, "seconds": 1.5}]
        for name in ("verdict", "reason", "system"):  # which stand behind the epochs
            if name in record:
                record[name] = record.pop(name)
        return [json.loads(json.dumps(dict(record, id=name))) for name in ids]

    def test_fields_without_a_name_here_go_through_import_store_and_export(self):
        (record,) = self.records("newer-fields")
        for part in (record, record["system"], record["system"]["speeds"][0], record["epochs"][0]):
            part.update(self.INVENTED)
        text = json.dumps([record])
        self.run_tacho("results", "import", self.written("in.json", [record]))
        self.assertEqual(json.dumps(self.exported()), json.dumps([record]))
        self.assertEqual(json.dumps(self.json_of("results", "list")), text)
        self.assertEqual(json.dumps(json.loads(self.run_tacho("results", "show", "newer-").stdout)), json.dumps(record))
        header, row = self.run_tacho("results", "list", "--format", "csv").stdout.splitlines()
        self.assertTrue(header.endswith(",zeal,colour,nothing"), header)
        self.assertTrue(row.endswith(",red,"), row)
        page = os.path.join(self.folder, "page.html")
        self.run_tacho("report", "-o", page)
        with open(page) as file:
            self.assertIn('"colour":"red"', file.read())
        self.db += ".other"
        self.run_tacho("results", "import", self.written("again.json", [record]))
        self.assertEqual(json.dumps(self.exported()), text)

    def test_a_record_of_a_newer_schema_is_kept_and_handed_on(self):
        known, newer, kind = self.records("known", "newer", "kind")
        newer.update(schema=99, median_ms={"of": "something else"}, batch="many")
        kind.update(kind="dream")
        done = self.run_tacho("results", "import", self.written("in.json", [newer, known, kind]))
        self.assertIn("cannot be read: record 1 has schema 99", done.stderr)
        self.assertIn("3 new results", done.stderr)
        listed = self.run_tacho("results", "list", "--format", "json")
        self.assertEqual([record["id"] for record in json.loads(listed.stdout)], ["known"])
        self.assertIn(f"tacho: note: 1 record of {self.db} cannot be read: newer has schema 99; this tacho reads up to 1; "
                      "it is kept\n", listed.stderr)
        self.assertEqual(json.loads(self.run_tacho("results", "show", "newer").stdout), newer)
        exported = self.exported()
        self.assertEqual(sorted(map(json.dumps, exported)), sorted(map(json.dumps, [known, newer, kind])))
        self.db += ".other"
        self.run_tacho("results", "import", self.written("again.json", exported))
        self.assertEqual(json.dumps(self.exported()), json.dumps(exported))

    def test_one_damaged_record_hides_no_other(self):
        self.run_tacho("results", "import", self.written("in.json", self.records("good", "bad")))
        self.change("UPDATE records SET record = '{' WHERE id = 'bad'")
        done = self.run_tacho("results", "list", "--format", "json")
        self.assertEqual([record["id"] for record in json.loads(done.stdout)], ["good"])
        self.assertRegex(done.stderr, r"\Atacho: note: 1 record of [^\n]+ cannot be read: bad is not JSON[^\n]*; it is kept\n\Z")
        self.assertNotIn("delete", done.stderr)
        self.assertEqual(self.run_tacho("results", "show", "bad").stdout, "{\n")
        self.run_tacho("results", "delete", "bad")
        self.assertEqual(self.run_tacho("results", "list").stderr, "")

    def test_import_takes_all_but_what_was_changed(self):
        good, edited, other = self.records("good", "edited", "other")
        edited["median_ms"] = 1e9
        published = dict(good, id="theirs", reference="dgx1-v100")
        done = self.run_tacho("results", "import", self.written("in.json", [good, edited, other, published]), status=1)
        self.assertRegex(done.stderr, r"tacho: note: record 2 of \S+ was not taken: it was changed")
        self.assertRegex(done.stderr, r"tacho: note: record theirs of \S+ was not taken: it is a published one")
        self.assertEqual([record["id"] for record in self.exported()], ["good", "other"])

    def test_a_store_of_a_newer_version_is_read_and_left_alone(self):
        (record,) = self.records("kept")
        self.run_tacho("results", "import", self.written("in.json", [record]))
        for change in ("PRAGMA user_version = 7", "ALTER TABLE records ADD COLUMN colour",
                       "ALTER TABLE records DROP COLUMN gflops"):
            self.change(change)
        self.assertEqual(self.json_of("results", "list"), [record])
        self.assertEqual(self.exported(), [record])
        self.assertIn("newer tacho (version 7", self.refusal("results", "delete", "kept"))
        self.assertIn("newer tacho (version 7", self.refusal("results", "import", os.path.join(self.folder, "in.json")))
        done = self.run_tacho("bench", "resnet18", "--engine", "null", "--image", "64", "--format", "json")
        self.assertEqual(len(json.loads(done.stdout)), 1)
        refusals = [line for line in done.stderr.splitlines() if "newer tacho" in line]
        self.assertEqual(len(refusals), 1, done.stderr)
        self.assertTrue(refusals[0].startswith("tacho: warning: results are not kept: "), refusals[0])
        self.assertEqual(self.exported(), [record])


class Compare(StoreTest):
    def test_answers_which_system_is_faster(self):
        self.add(system="quick", scale_ms=100)
        self.add(system="slow", scale_ms=200)
        (row,) = self.json_of("compare", "quick", "slow")
        self.assertEqual(row["answer"], "faster")
        self.assertAlmostEqual(row["ratio"], 2, delta=0.1)
        (row,) = self.json_of("compare", "slow", "quick")
        self.assertEqual(row["answer"], "slower")

    def test_compares_with_published_results(self):
        self.add(system="here", image="224x224", scale_ms=100)
        (row,) = self.json_of("compare", "here", "dgx1-v100")
        self.assertEqual(row["b"]["value"], 5.03)
        self.assertEqual(row["answer"], "slower")
        table = self.run_tacho("compare", "here", "dgx1-v100", "pytorch-gpu-benchmark/A100").stdout
        self.assertIn("batch 16 against 12", table)

    def test_takes_files_of_results(self):
        self.add(system="here", scale_ms=100)
        path = os.path.join(self.folder, "all.json")
        self.run_tacho("results", "export", "-o", path)
        (row,) = self.json_of("compare", "here", path)
        self.assertEqual(row["ratio"], 1)

    def test_cells_that_took_turns_are_compared_as_such(self):
        records = self.bench("squeezenet1_1", "--threads", "1,2", "--interleave")
        self.assertEqual(records[0]["interleaved"], records[1]["interleaved"])
        run = records[0]["run"]
        (row,) = self.json_of("compare", f"{run}/threads=1", f"{run}/threads=2")
        self.assertEqual((row["a"]["threads"], row["b"]["threads"]), (1, 2))
        self.assertNotIn("peak_memory_mib", records[0])

    def test_fails_where_the_first_is_slower_by_more_than_is_tolerated(self):
        self.add(system="before", scale_ms=100)
        self.add(system="now", scale_ms=110)
        table = self.run_tacho("compare", "now", "before").stdout
        for share in ("5", "5%", "0.5 %"):
            self.assertEqual(self.run_tacho("compare", "now", "before", "--fail-if-slower", share, status=1).stdout, table)
        self.run_tacho("compare", "now", "before", "--fail-if-slower", "20%")
        self.run_tacho("compare", "before", "now", "--fail-if-slower", "0")

    def test_a_slowdown_within_the_noise_does_not_fail(self):
        self.add(system="before", scale_ms=100)
        self.add(system="now", scale_ms=100.5)
        self.run_tacho("compare", "now", "before", "--fail-if-slower", "0")

    def test_refuses_what_is_no_percentage(self):
        self.add(system="before", scale_ms=100)
        for share in ("", "%", "-5%", "five", "5%%", "nan", "5x"):
            self.assertIn("--fail-if-slower", self.refusal("compare", "before", "before", f"--fail-if-slower={share}"))

    def test_refuses_names_that_mean_nothing(self):
        self.assertIn("dgx1-v100", self.refusal("compare", "nothing", "embl-gpu"))
        self.assertIn("nothing was measured on this machine", self.refusal("compare", "this", "dgx1-v100"))
        self.assertIn("no network and mode in common", self.refusal("compare", "dgx1-v100", "embl-gpu"))


class Plan(StoreTest):
    def test_the_embl_table_is_put_right(self):
        rows = {row["system"]: row for row in self.json_of("plan", "embl-summary") if row["devices"] == 1}
        hours = {name: round(row["8.1_tvox_h"], 1) for name, row in rows.items()}
        self.assertEqual(
            hours, {"Cluster:1080Ti": 255.7, "Cluster:P100": 261.6, "SMC:P100": 239.4, "SMC:V100": 177.2}
        )
        self.assertEqual(rows["SMC:V100"]["published_8.1_tvox_h"], 17.8)

    def test_time_and_cost_of_a_job_with_an_interval(self):
        self.add(system="here", mode="infer", scale_ms=160)
        (row,) = self.json_of("plan", "here", "--images", "1M", "--price", "36")
        self.assertAlmostEqual(row["seconds"], 10000, delta=150)
        self.assertAlmostEqual(row["cost"], 100, delta=1.5)
        self.assertLess(row["seconds_low"], row["seconds"])
        self.assertGreater(row["seconds_high"], row["seconds"])

    def test_wrong_sizes_are_refused(self):
        self.add(system="here", scale_ms=160)
        self.assertIn("--epochs needs --images", self.refusal("plan", "here", "--epochs", "3"))
        self.assertIn("must be a whole number", self.refusal("plan", "here", "--images", "many"))
        self.assertIn("training is needed", self.refusal("plan", "here", "--iterations", "100k"))


class PlanOfDevices(StoreTest):
    NETWORK = ("--network", "10Gbit,25us")

    def add_training(self):
        self.add(system="here", mode="train", scale_ms=100, forward_ms=30, backward_ms=60, update_ms=10,
                 buckets=[{"bytes": 12500000, "ready_ms": 60}])

    def test_a_step_on_many_devices_follows_from_one(self):
        self.add_training()
        one, two = self.json_of("plan", "here", "--devices", "1,2", *self.NETWORK)
        self.assertAlmostEqual(one["step_ms"], 100, delta=1)
        self.assertAlmostEqual(two["exposed_allreduce_ms"], 10.05, delta=1e-9)
        self.assertLess(two["lower_ms"], two["step_ms"])
        self.assertFalse(two["buckets_assumed"])

    def test_buckets_are_assumed_from_the_network_where_they_were_not_measured(self):
        self.add(system="here", mode="train", scale_ms=100, forward_ms=30, backward_ms=60, update_ms=10)
        (row,) = self.json_of("plan", "here", "--devices", "2", *self.NETWORK)
        self.assertTrue(row["buckets_assumed"])
        self.assertEqual(row["gradient_bytes"], 4 * 11689512)

    def test_results_that_cannot_be_used_are_left_out_with_a_note(self):
        self.add_training()
        self.add(system="here", mode="train", batch=7, scale_ms=100)
        done = self.run_tacho("plan", "here", "--devices", "2", *self.NETWORK, "--format", "json")
        self.assertEqual([row["batch"] for row in json.loads(done.stdout)], [16])
        self.assertIn("1 of 2 results of training", done.stderr)

    def test_kept_steps_are_simulated_and_never_pass_for_measured(self):
        self.add_training()
        printed = self.json_of("plan", "here", "--devices", "1-4*2", *self.NETWORK, "--keep")
        kept = [record for record in self.json_of("results", "list") if record["verdict"] == "simulated"]
        self.assertEqual([record["devices"] for record in kept], [2, 4])
        self.assertEqual(kept[0]["median_ms"], printed[1]["step_ms"])
        self.assertNotIn("samples_ms", kept[0])
        self.assertIn("10Gbit,25us", kept[0]["reason"])
        self.assertEqual(len({record["run"] for record in kept}), 1)
        (row,) = self.json_of("compare", "here", "here")
        self.assertEqual(row["a"]["devices"], 1)
        self.assertEqual(len(self.json_of("plan", "here", "--devices", "8", *self.NETWORK)), 1)


class References(StoreTest):
    def test_sets_are_listed_with_their_sources(self):
        table = self.run_tacho("results", "list", "--references").stdout
        for name in ("dgx1-v100", "keras-cifar10", "pytorch-throughput", "embl-summary", "embl-gpu"):
            self.assertIn(name, table)

    def test_each_figure_has_its_source_protocol_error_and_correction(self):
        records = self.json_of("results", "list", "--references")
        self.assertTrue(all(record["source"] and record["protocol"] for record in records))
        embl = [record for record in records if "output_mvox_per_s" in record]
        self.assertEqual(len(embl), 9)
        for record in embl:
            self.assertIn("64 %", record["known_error"])
            self.assertTrue(record["correction"])
        v100 = next(r for r in embl if r["reference"] == "embl-summary" and r["system"]["name"] == "SMC:V100")
        self.assertEqual(v100["extrapolated"]["8.1_tvox_h"], 17.8)
        self.assertEqual(v100["corrected"]["8.1_tvox_h"], 177.2)


class Report(StoreTest):
    def test_the_page_holds_results_and_published_ones(self):
        for name in ("squeezenet1_1", "resnet18"):
            self.add(system="here", model=name, scale_ms=100)
        page = os.path.join(self.folder, "report.html")
        self.run_tacho("report", "-o", page)
        with open(page) as file:
            text = file.read()
        self.assertIn("dgx1-v100", text)
        self.assertIn("resnet18", self.run_tacho("report", "--format", "md").stdout)

    def test_wrong_calls_are_refused(self):
        page = os.path.join(self.folder, "report.html")
        self.assertIn("nothing to report", self.refusal("report", "-o", page))
        self.assertFalse(os.path.exists(page))
        self.assertIn("-o is missing", self.refusal("report"))
        self.assertIn("unknown format", self.refusal("report", "--format", "pdf"))


if __name__ == "__main__":
    TACHO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
