#!/usr/bin/env python3
"""Opens the report page in a browser: report_page_test.py TACHO [--screenshots DIR]

Needs only the standard library and Chromium; without that it is skipped (status 77).
"""

import argparse
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from devtools import Browser, find_chromium
from page_records import HOSTILE, HOSTILE_IMAGE, device_records, machine_records, one_shared_total, page_records, variants

SECTIONS = ["zoo", "batch", "scaling", "parts", "grid", "roofline", "training", "volumes", "compare", "all"]
WIDE, NARROW = (1400, 900), (390, 844)

# For each canvas its label, if all its pixels are the same.
EMPTY_CANVASES = """[...document.querySelectorAll('canvas')].filter(canvas => {
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return pixels.every(pixel => pixel === pixels[0]);
}).map(canvas => canvas.getAttribute('aria-label'))"""
PIXELS = "document.querySelector('#{} canvas').toDataURL()"
TICK = """[...document.querySelectorAll('#picker-list label[data-text]')].find(label => label.textContent === {}).querySelector('input').click()"""
COLUMN = """(() => {{
  const at = [...document.querySelectorAll('.results thead th')].findIndex(th => th.textContent.startsWith('{}'));
  return [...document.querySelectorAll('.results tbody tr')].map(row => row.children[at + 1].textContent);
}})()"""


def make_page(tacho, folder, records=None, references=False):
    """The page of a store into which the records were imported."""
    records = page_records() if records is None else records
    choice = [] if references else ["--no-references"]
    source, page = os.path.join(folder, "records.json"), os.path.join(folder, "report.html")
    with open(source, "w") as file:
        json.dump([record for record in records if "reference" not in record], file)
    path = os.path.join(folder, "results.db")
    store = ["--db", path]
    subprocess.run([tacho, "results", "import", source, *store], check=True, timeout=60)
    add_published(path, [record for record in records if "reference" in record])
    subprocess.run([tacho, "report", "-o", page, *choice, *store], check=True, timeout=60)
    return page


def add_published(path, records):
    """Straight into the store: the program itself takes published results only as part of it."""
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        for record in records:
            store.execute("INSERT OR IGNORE INTO records (id, record) VALUES (?, ?)", (record["id"], json.dumps(record)))


class BrowserTest(unittest.TestCase):
    """Opens one page, of `records()` and perhaps the published sets, anew for every test."""

    tacho = ""
    records = staticmethod(page_records)
    references = False

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.address = pathlib.Path(make_page(cls.tacho, cls.folder.name, cls.records(), cls.references)).as_uri()
        cls.browser = Browser(find_chromium(), os.path.join(cls.folder.name, "profile"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.problems.clear()
        self.browser.requests.clear()
        self.browser.prefer("light")
        self.browser.resize(*WIDE)
        self.browser.open(self.address)
        self.browser.settle()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])
        fetched = {request for request in self.browser.requests if not request.startswith("data:")}
        self.assertEqual(fetched, {self.address})

    def run_script(self, script):
        value = self.browser.run(script)
        self.browser.settle()
        return value

    def tick(self, name):
        self.run_script(TICK.format(json.dumps(name)))

    def sections(self):
        return self.run_script("[...document.querySelectorAll('#sections > section')].map(s => s.id)")


class PageTest(BrowserTest):
    def test_every_section_is_there_in_order(self):
        self.assertEqual(self.sections(), SECTIONS)

    def test_its_scripts_read_only_fields_that_records_have(self):
        read = self.run_script("[...new Set([...document.scripts].at(-1).textContent.match(/(?<=\\brecord\\.)\\w+/g))]")
        self.assertGreater(len(read), 20)
        self.assertEqual(set(read) - set(self.run_script("page.fields.map(field => field.name)")), set())

    def test_every_canvas_is_drawn_in_both_colour_schemes(self):
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.assertGreater(self.run_script("document.querySelectorAll('canvas').length"), 10)
            self.assertEqual(self.run_script(EMPTY_CANVASES), [])

    def test_canvases_and_tables_have_names(self):
        self.assertEqual(self.run_script("document.querySelectorAll('canvas:not([aria-label]), table:not(:has(caption))').length"), 0)

    def test_headings_never_skip_a_level(self):
        levels = self.run_script("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(b <= a + 1 for a, b in zip(levels, levels[1:])), levels)

    def test_references_are_drawn_only_once_ticked(self):
        self.assertNotIn("GPU model A", self.run_script("document.querySelector('#compare').innerText"))
        before = self.run_script(PIXELS.format("compare"))
        self.tick("GPU model A")
        self.assertNotEqual(self.run_script(PIXELS.format("compare")), before)
        self.tick("GPU model B")
        text = self.run_script("document.querySelector('#compare').innerText")
        self.assertIn("GPU model B", text)
        self.assertIn("batch 12 against 16", text)
        self.assertIn("not compared", text)
        self.assertIn("a median against a mean", text)
        self.assertIn("transfer counted in the first only", text)
        self.assertIn("Mean of 20 passes after 5, without an update.", text)

    def test_known_errors_are_shown_with_their_correction(self):
        self.tick("K80 nodes")
        text = self.run_script("document.querySelector('.sources').innerText")
        self.assertIn("The halo was counted as output.", text)
        self.assertIn("Use the overall rate alone.", text)

    def test_a_header_sorts_the_table_both_ways(self):
        rates = []
        for _ in range(2):
            self.run_script("document.querySelector('[data-sort=images_per_s]').click()")
            rates.append([float(text.replace("\u202f", "")) for text in self.run_script(COLUMN.format("images/s"))])
        self.assertGreater(len(rates[0]), 20)
        self.assertEqual(rates[0], sorted(rates[0], reverse=True))
        self.assertEqual(rates[1], sorted(rates[1]))
        self.assertNotEqual(rates[0], rates[1])

    def test_the_filter_keeps_the_rows_with_its_words(self):
        self.run_script("""(() => { const filter = document.querySelector('#results-filter');
            filter.value = 'vgg19 noisy'; filter.dispatchEvent(new Event('input')); })()""")
        self.assertEqual(self.run_script(COLUMN.format("model")), ["vgg19"])
        self.assertIn("MAD is 6.1 % of the median", self.run_script("document.querySelector('.results tbody').innerText"))

    def test_a_row_shows_its_samples(self):
        box = self.run_script("""(() => { const row = document.querySelector('.results tbody tr:nth-child(5)');
            row.scrollIntoView({ block: 'center', behavior: 'instant' }); const { left, top } = row.getBoundingClientRect(); return [left, top]; })()""")
        self.browser.move_to(box[0] + 60, box[1] + 8)
        self.assertFalse(self.run_script("document.querySelector('#tip').hidden"))
        self.assertEqual(self.run_script("document.querySelectorAll('#tip .strip circle').length"), 20)
        text = self.run_script("document.querySelector('#tip').innerText")
        self.assertIn("95 % interval", text)
        self.assertNotIn("null", text)

    def test_an_opened_row_says_that_its_case_was_measured_again(self):
        self.run_script("""(() => { const filter = document.querySelector('#results-filter');
            filter.value = 'bench-01 resnet18 train'; filter.dispatchEvent(new Event('input')); })()""")
        self.run_script("[...document.querySelectorAll('.results .open')].forEach(button => button.click())")
        text = self.run_script("document.querySelector('.results').innerText")
        self.assertIn("this is the latest", text)
        self.assertIn("this is not the latest", text)

    def test_a_bar_shows_its_samples(self):
        self.run_script("document.querySelector('#zoo canvas').scrollIntoView({ block: 'start', behavior: 'instant' })")
        x, y = self.run_script("""(() => { const bar = charts[0].getDatasetMeta(0).data[3], box = charts[0].canvas.getBoundingClientRect();
            return [box.left + (bar.base + bar.x) / 2, box.top + bar.y]; })()""")
        self.browser.move_to(x, y)
        self.assertEqual(self.run_script("document.querySelectorAll('#tip .strip circle').length"), 20)

    def test_figures_show_the_command_that_makes_them(self):
        self.assertIn("tacho suite grid", self.run_script("document.querySelector('#grid').innerText"))
        self.assertIn("tacho report -o", self.run_script("document.querySelector('#colophon').innerText"))

    def test_nothing_is_wider_than_a_phone(self):
        self.tick("GPU model B")
        self.browser.resize(*NARROW)
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), NARROW[0])
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])

    def test_hostile_texts_are_texts(self):
        self.tick("K80 nodes")
        self.run_script("[...document.querySelectorAll('.segmented button')].find(b => b.textContent.startsWith('Everything')).click()")
        self.assertEqual(self.run_script("document.querySelectorAll('main img, main script').length"), 0)
        text = self.run_script("document.body.textContent")
        self.assertIn(HOSTILE, text)
        self.assertIn(HOSTILE_IMAGE, text)

    def test_paper_has_light_colours_and_no_controls(self):
        self.browser.prefer("dark")
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.run_script("document.documentElement.dataset.theme"), "light")
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])
        self.run_script("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.run_script("document.documentElement.dataset.theme"), "dark")


class VolumesTest(BrowserTest):
    def text(self, section):
        return self.run_script(f"document.querySelector('#{section}').innerText")

    def test_a_prediction_shows_its_slices_as_they_are(self):
        first = "document.querySelector('#volumes canvas')"
        self.assertEqual(self.run_script("document.querySelectorAll('#volumes canvas').length"), 3)
        self.assertEqual(self.run_script(f"[{first}.width, {first}.height]"), [32, 16])
        pixel = self.run_script(f"[...{first}.getContext('2d').getImageData(10, 4, 1, 1).data]")
        self.assertEqual(pixel, [34, 34, 34, 255])

    def test_its_figures_stand_beside_them(self):
        self.assertIn("0.500 Mvox/s", self.text("volumes"))
        self.assertIn("33.5 s", self.text("volumes"))

    def test_a_training_on_a_volume_is_judged_by_a_constant_answer(self):
        self.assertIn("where the best constant answer has -1.4", self.text("training").replace("\u2212", "-"))
        drawn = self.run_script("charts.flatMap(chart => chart.data.datasets).map(set => set.label)")
        for label in ("test loss", "best constant answer's loss", "F1 of boundaries"):
            self.assertIn(label, drawn)


class SmallPageTest(BrowserTest):
    """One result alone: what it cannot fill is left out."""

    records = staticmethod(lambda: page_records()[:1])

    def test_sections_without_data_are_left_out(self):
        self.assertEqual(self.sections(), ["zoo", "roofline", "all"])
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])


class FirstPageTest(BrowserTest):
    """One result and the published sets: the first page that anybody sees."""

    records = staticmethod(lambda: page_records()[:1])
    references = True

    def test_published_sets_alone_make_no_section(self):
        self.assertEqual(self.sections(), ["zoo", "roofline", "compare", "all"])
        self.assertEqual(self.run_script(EMPTY_CANVASES), [])

    def test_the_dgx_1_stands_beside_this_machine(self):
        for section in ("zoo", "compare"):
            self.assertIn("DGX-1 V100", self.run_script(f"document.querySelector('#{section}').innerText"))
        self.assertEqual(self.run_script("charts[0].data.datasets.map(set => set.label)"), ["bench-01", "DGX-1 V100"])
        self.assertEqual(self.run_script("charts[0].data.labels"), ["squeezenet1_1"])

    def test_it_can_be_unticked(self):
        self.tick("DGX-1 V100")
        self.assertNotIn("DGX-1 V100", self.run_script("document.querySelector('#zoo').innerText"))
        self.assertIn("Show dgx1-v100", self.run_script("document.querySelector('#compare').innerText"))


class NothingInCommonTest(BrowserTest):
    """A network of which nothing is published."""

    records = staticmethod(lambda: [{**page_records()[0], "model": "nowhere_else"}])
    references = True

    def test_there_is_no_comparison(self):
        self.assertEqual(self.sections(), ["zoo", "roofline", "all"])
        self.assertNotIn("DGX-1 V100", self.run_script("document.querySelector('#sections').innerText"))


def with_simulated():
    measured = page_records()[0]
    figures = {name: measured[name] for name in ("schema", "time", "kind", "model", "mode", "engine", "precision", "batch", "threads", "image", "system")}
    return [measured] + [{**figures, "id": f"simulated{devices}", "devices": devices, "median_ms": 1.0, "images_per_s": 1e6,
                          "verdict": "simulated", "reason": "from nowhere"} for devices in (1, 2, 4)]


class SimulatedTest(BrowserTest):
    """One result, and others that were only simulated from it."""

    records = staticmethod(with_simulated)

    def test_only_the_scaling_draws_more_than_was_measured(self):
        self.assertEqual(self.sections(), ["zoo", "scaling", "roofline", "all"])
        drawn = self.run_script("charts.filter(chart => chart.canvas.closest('section').id !== 'scaling').flatMap(chart => chart.data.datasets).flatMap(set => set.data).filter(point => point.entry).map(point => point.entry.record.verdict)")
        self.assertEqual(set(drawn), {"valid"})

    def test_the_table_says_what_is_simulated(self):
        verdicts = self.run_script(COLUMN.format("verdict"))
        self.assertEqual(sum(text.startswith("simulated") for text in verdicts), 3)


class VariantsTest(BrowserTest):
    """What was computed by other means is another result, not the same one again."""

    records = staticmethod(variants)

    def test_trainings_that_differ_in_recipe_seed_or_data_are_all_drawn(self):
        self.assertEqual(self.run_script("document.querySelectorAll('#training .run').length"), 4)
        text = self.run_script("document.querySelector('#training').innerText")
        for words in ("recipe adam", "recipe sgd", "seed 2", "data noise", "data stripes"):
            self.assertIn(words, text)

    def test_kernels_and_memories_have_bars_of_their_own(self):
        networks = self.run_script("Object.fromEntries(charts.slice(0, 2).map(chart => [chart.canvas.getAttribute('aria-label').split(':')[0], chart.data.labels]))")
        self.assertCountEqual(networks["Inference"], ["resnet18", "resnet18, kernel onednn", "resnet18, kernel winograd"])
        self.assertCountEqual(networks["Training"], ["resnet18", "resnet18, memory low"])

    def test_kernels_have_lines_of_their_own(self):
        titles = self.run_script("[...document.querySelectorAll('#batch h3')].map(title => title.textContent)")
        self.assertCountEqual(titles, ["resnet18, kernel onednn", "resnet18, kernel winograd"])

    def test_the_table_tells_them_apart(self):
        self.assertEqual(set(self.run_script(COLUMN.format("kernel"))), {"", "onednn", "winograd"})
        self.assertEqual(set(self.run_script(COLUMN.format("memory"))), {"", "low"})


# Of every line over the devices what it is and where it was measured.
LINES = """shownLines().map(line => [[titleOf(line), variantOf(line.record)].filter(Boolean).join(', '),
  line.measured.map(({ record }) => record.devices)])"""
# The chart whose name begins so, and its datasets by their labels.
CHART = "charts.find(chart => chart.canvas.getAttribute('aria-label').startsWith('{}'))"
DATASET = CHART + ".data.datasets.find(set => set.label === '{}')"
TRAINING, PARTS = "resnet50, training: images/s", "resnet50, training on bench-01: parts"


class DevicesTest(BrowserTest):
    """Several devices: what belongs to one line, and what never does."""

    records = staticmethod(device_records)

    def devices_of(self, chart, label):
        return self.run_script(DATASET.format(chart, label) + ".data.filter(point => point.entry).map(point => point.entry.record.devices)")

    def test_one_device_begins_the_line_of_each_way_to_share_but_the_scattered_batch(self):
        lines = dict(self.run_script(LINES))
        self.assertEqual(lines, {"resnet50, training": [1, 2, 4], "resnet50, training, batch norm sync": [1, 2, 4], "resnet50, inference": [1, 2],
                                 "resnet50, inference, scattered batch": [1, 2]})
        sharing = self.run_script("shownLines().filter(line => line.record.mode === 'infer').map(line => line.measured.map(({ record }) => record.parallel ?? ''))")
        self.assertCountEqual(sharing, [["", "replicas"], ["scatter", "scatter"]])

    def test_a_line_keeps_the_threads_of_a_device_and_the_buckets(self):
        measured = self.run_script("shownLines()[0].measured.map(({ record }) => [record.threads, record.bucket_mib ?? 0])")
        self.assertEqual(measured, [[2, 0], [2, 25], [2, 25]])

    def test_oversubscribed_points_are_hollow_and_outside_the_line(self):
        self.assertEqual(self.devices_of(TRAINING, "measured"), [1, 2, 4])
        self.assertEqual(self.devices_of(TRAINING, "oversubscribed"), [8])
        drawn = self.run_script("(set => [set.showLine, set.pointBackgroundColor, set.data[0].figure])(" + DATASET.format(TRAINING, "oversubscribed") + ")")
        self.assertEqual(drawn, [False, ["#ffffff"], "no speed-up: oversubscribed"])

    def test_simulated_points_are_hollow_on_a_dashed_line_of_their_own(self):
        self.assertEqual(self.devices_of(TRAINING, "simulated"), [2, 8, 16])
        bases = self.run_script(CHART.format(TRAINING) + ".data.datasets.filter(set => set.label === 'simulated').map(set => [...new Set(set.data.map(point => point.entry.record.reason))])")
        self.assertEqual(bases, [["from one device over 10Gbit"], ["from one device over 1Gbit"]])
        dash, fill = self.run_script("(set => [set.borderDash, set.pointBackgroundColor])(" + DATASET.format(TRAINING, "simulated") + ")")
        self.assertEqual(len(dash), 2)
        self.assertEqual(set(fill), {"#ffffff"})
        self.assertIn("simulated", self.run_script("document.querySelector('#scaling .legend').innerText"))

    def test_what_was_simulated_stands_in_no_other_chart(self):
        drawn = self.run_script("""['zoo', 'batch', 'grid', 'roofline'].flatMap(id => charts.filter(chart => chart.canvas.closest('section').id === id))
            .flatMap(chart => chart.data.datasets).flatMap(set => set.data).filter(point => point.entry?.simulated).length""")
        self.assertEqual(drawn, 0)
        best = self.run_script("[...document.querySelectorAll('.readout')].find(item => item.textContent.includes('Best training')).textContent")
        fastest = max(record["images_per_s"] for record in device_records() if record["mode"] == "train" and record["verdict"] == "valid")
        self.assertIn(f"{fastest:.0f}", best)

    def test_the_parts_of_a_pass_stand_on_top_of_each_other(self):
        labels = self.run_script(CHART.format(PARTS) + ".data.datasets.map(set => set.label)")
        self.assertEqual(labels, ["forward", "backward", "exposed all-reduce", "wait", "update"])
        self.assertEqual(self.devices_of(PARTS, "forward"), [1, 2, 4, 8])
        self.assertEqual(self.devices_of(PARTS, "wait"), [2, 4, 8])
        self.assertEqual(self.run_script("(({ x, y }) => [x.stacked, y.stacked])(" + CHART.format(PARTS) + ".options.scales)"), [True, True])
        self.assertEqual(self.devices_of("resnet50, training, simulated on", "forward"), [2, 8, 16])

    def test_inference_on_one_device_is_its_forward_pass(self):
        self.assertEqual(self.devices_of("resnet50, inference on bench-01: parts", "forward"), [1, 2])

    def test_the_legend_names_a_part_once_though_it_is_lost_too(self):
        names = self.run_script("[...document.querySelectorAll('#parts .legend li')].map(item => item.textContent)")
        self.assertEqual(names, ["scatter", "forward", "backward", "exposed all-reduce", "wait", "update", "gather", "linear", "oversubscribed or simulated"])

    def test_lost_time_stands_by_its_parts_without_what_is_oversubscribed(self):
        chart = "resnet50, training: lost"
        self.assertEqual(self.run_script(CHART.format(chart) + ".data.datasets.map(set => set.label)"), ["slower forward", "exposed all-reduce", "wait for the slowest"])
        self.assertEqual(self.devices_of(chart, "wait for the slowest"), [2, 4])

    def test_each_segment_of_a_bar_says_its_part(self):
        seen = []
        for part in ("forward", "backward"):
            x, y = self.run_script("""(chart => { chart.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
                const box = chart.canvas.getBoundingClientRect(), at = chart.data.datasets.findIndex(set => set.label === '%s');
                const bar = chart.getDatasetMeta(at).data[1]; return [box.left + bar.x, box.top + (bar.y + bar.base) / 2]; })(%s)""" % (part, CHART.format(PARTS)))
            self.browser.move_to(x, y)
            seen.append(self.run_script("document.querySelector('#tip .tip-figure').textContent").split()[0])
        self.assertEqual(seen, ["forward", "backward"])
        self.assertIn("rank 1 on node-0", self.run_script("document.querySelector('#tip').innerText"))

    def test_ranks_are_listed_with_their_hosts(self):
        table = self.run_script("""(table => [table.querySelectorAll('tbody tr').length, table.textContent])(
            [...document.querySelectorAll('#parts .ranks')].find(table => table.caption.textContent.startsWith('8 devices')))""")
        self.assertEqual(table[0], 8)
        self.assertIn("node-1", table[1])

    def test_an_opened_row_shows_ranks_buckets_and_what_was_lost(self):
        self.run_script("[...document.querySelectorAll('.results .open')].forEach(button => button.click())")
        text = self.run_script("document.querySelector('.results').innerText")
        for words in ("4 devices, means over the middle passes", "2 buckets of gradients: 1.00 MiB ready after 12.5 ms", "Longer than on one device by wait for the slowest 18.0"):
            self.assertIn(words, text)
        self.assertNotIn("[object", text)

    def test_the_grid_has_a_row_for_one_device_in_each_way_to_share(self):
        rows = self.run_script("""[...document.querySelectorAll('#grid figure')].map(figure => [figure.querySelector('h3').textContent.includes('scattered'),
            [...figure.querySelectorAll('tbody th')].map(head => head.textContent)])""")
        self.assertCountEqual(rows, [[False, ["1", "2"]], [True, ["1", "2"]]])

    def test_a_cell_of_the_grid_says_where_its_time_went(self):
        x, y = self.run_script("""(figure => { const cell = figure.querySelectorAll('tbody tr')[1].children[1];
            cell.scrollIntoView({ block: 'center', behavior: 'instant' }); const box = cell.getBoundingClientRect(); return [box.left + 9, box.top + 9]; })(
            [...document.querySelectorAll('#grid figure')].find(figure => figure.textContent.includes('scattered')))""")
        self.browser.move_to(x, y)
        text = self.run_script("document.querySelector('#tip').innerText")
        for words in ("scatter\n", "gather\n", "wait\n", "moved between devices\n7.00 MiB"):
            self.assertIn(words, text)

    def test_the_networks_and_batches_are_those_of_one_device_that_is_handed_nothing(self):
        shared = self.run_script("""['zoo', 'batch'].flatMap(id => charts.filter(chart => chart.canvas.closest('section').id === id))
            .flatMap(chart => chart.data.datasets).flatMap(set => set.data).filter(point => point.entry && (point.entry.record.parallel || point.entry.record.devices > 1)).length""")
        self.assertEqual(shared, 0)


class OneColumnTest(BrowserTest):
    records = staticmethod(one_shared_total)

    def test_one_total_batch_is_no_grid(self):
        self.assertIn("scaling", self.sections())
        self.assertNotIn("grid", self.sections())


class PartlessTest(BrowserTest):
    """Several devices of which nothing but the whole time is known."""

    records = staticmethod(lambda: [{name: value for name, value in record.items() if name not in ("ranks", "lost_ms") and not (
        name.endswith("_ms") and name.split("_")[0] in ("scatter", "gather", "wait", "exposed"))} for record in device_records()])

    def test_there_is_no_chart_of_parts(self):
        self.assertIn("scaling", self.sections())
        self.assertNotIn("parts", self.sections())


# What the page says of two systems, by their labels: each pair with its figures, and the rows of the table.
PAIRS = """(() => {{
  const [a, b] = {}.map(label => allSystems.find(system => system.label === label));
  return pairsOf(a, b).map(pair => ({{ a: pair.entry.record.id, b: pair.own.record.id, unit: pair.unit, values: [pair.value, pair.baseValue],
    ratio: pair.ratio ?? null, interval: pair.interval, answer: pair.answer ?? null, refused: pair.refusals, notes: pair.marks }}));
}})()"""
SHOW_TWO = """(() => {{
  const [a, b] = {}.map(label => allSystems.find(system => system.label === label));
  shown.clear(); [a, b].forEach(show); baselineKey = b.key; compareWhole = true; redraw();
}})()"""
ANSWERS = """[...document.querySelectorAll('.compare tbody tr')].map(row => [...row.querySelectorAll('.ratio, .interval, .answer')].map(cell => cell.textContent))"""


class SameAnswersTest(BrowserTest):
    """The page answers as `tacho compare` does, digit for digit."""

    records = staticmethod(machine_records)
    references = True
    # The page's system, and what the program calls it.
    systems = {"alpha": "system:alpha", "beta": "system:beta", "DGX-1 V100": "reference:dgx1-v100", "NVIDIA A100-SXM4-40GB": "reference:pytorch-gpu-benchmark/A100",
               "NVIDIA TITAN Xp": "reference:pytorch-gpu-benchmark/TITAN Xp"}

    def compare(self, a, b, form):
        names = [self.systems[a], self.systems[b]]
        done = subprocess.run([self.tacho, "compare", *names, "--format", form, "--db", os.path.join(self.folder.name, "results.db")],
                              check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    def pairs(self):
        return [(a, b) for a in self.systems for b in self.systems if a != b]

    def test_pairs_figures_answers_and_refusals_are_equal(self):
        answers, refusals = set(), 0
        for a, b in self.pairs():
            expected = [{"a": row["a"]["id"], "b": row["b"]["id"], "unit": row["unit"], "values": [row["a"]["value"], row["b"]["value"]], "ratio": row.get("ratio"),
                         "interval": row.get("interval"), "answer": row.get("answer"), "refused": row.get("refused", []), "notes": row["notes"]}
                        for row in json.loads(self.compare(a, b, "json"))]
            self.assertEqual(self.run_script(PAIRS.format(json.dumps([a, b]))), expected, (a, b))
            answers |= {row["answer"] for row in expected}
            refusals += sum(bool(row["refused"]) for row in expected)
        self.assertLessEqual({"faster", "slower", "same", "can't tell", None}, answers)
        self.assertGreater(refusals, 0)

    def test_the_table_shows_the_same_digits(self):
        for a, b in self.pairs():
            rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in self.compare(a, b, "md").splitlines() if line.startswith("|")]
            at = [rows[0].index(name) for name in ("ratio", "interval", "answer")]
            expected = sorted([row[i] for i in at] for row in rows[2:] if row[at[2]] != "not compared")
            self.run_script(SHOW_TWO.format(json.dumps([a, b])))
            shown = [[text.replace("\u202f", "").replace("\u2013", "-").replace("\u00d7", "") for text in row] for row in self.run_script(ANSWERS) if len(row) == 3]
            self.assertEqual(sorted(shown), expected, (a, b))


def take_screenshots(tacho, folder):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        browser = Browser(find_chromium(), os.path.join(scratch, "profile"))
        try:
            for name, size, scheme in (("wide", WIDE, "light"), ("dark", WIDE, "dark"), ("narrow", NARROW, "light")):
                browser.prefer(scheme)
                browser.resize(*size)
                browser.open(pathlib.Path(make_page(tacho, scratch)).as_uri())
                browser.run(TICK.format('"GPU model A"') + "; scrollTo(0, 0)")
                browser.settle()
                browser.screenshot(os.path.join(folder, f"{name}.png"))
            browser.resize(*WIDE)
            browser.print_pdf(os.path.join(folder, "print.pdf"))
        finally:
            browser.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tacho", type=os.path.abspath)
    parser.add_argument("--screenshots", metavar="DIR", help="also write PNG files of the page into this folder")
    arguments, rest = parser.parse_known_args()
    if not find_chromium():
        print("skipped: chromium is not installed")
        return 77
    BrowserTest.tacho = arguments.tacho
    if arguments.screenshots:
        take_screenshots(arguments.tacho, arguments.screenshots)
    program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
