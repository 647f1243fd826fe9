// Lines over one axis of the sweep: throughput against the batch, and against the number of devices.

const throughputs = [
  ['images/s', (entry) => entry.rate],
  ['Mvox/s', (entry) => entry.record.output_mvox_per_s],
  ['iterations/min', (entry) => entry.record.iterations_per_min],
  ['speed-up', (entry) => entry.record.speedup],
];

function line(points, key, mode, more = {}) {
  return { data: points, ...pointColours(points, key), borderWidth: 1.75, borderDash: mode === 'infer' ? [5, 4] : [], tension: 0, ...more };
}

const PANELS = 6;
const unfolded = new Set();

// The first panels of a section; a button shows the others.
function panels(id, groups, build) {
  const open = unfolded.has(id) || groups.length <= PANELS + 1;
  const rest = groups.length - PANELS;
  return [h('div', { class: 'panels' }, (open ? groups : groups.slice(0, PANELS)).map(build)),
    open ? null : h('button', { type: 'button', class: 'more', onclick: () => { unfolded.add(id); redraw(); } }, `Show ${rest} more networks and modes`)];
}

// Where a system has a choice of precisions, lines are drawn in single precision; the table has them all.
function singlePrecision(entries) {
  const cell = ({ key, network, record }) => JSON.stringify([key, network, record.mode]);
  const single = new Set(entries.filter(({ record }) => record.precision === 'f32').map(cell));
  return entries.filter((entry) => entry.record.precision === 'f32' || !single.has(cell(entry)));
}

// The longest of several lines through the same cells: most different values of `field`, then most threads.
function longest(lines, field) {
  const length = (entries) => new Set(entries.map(({ record }) => record[field])).size;
  const threads = (entries) => Math.max(...entries.map(({ record }) => record.threads || 0));
  return lines.sort((a, b) => length(b) - length(a) || threads(b) - threads(a))[0];
}

// Entries whose `field` varies while what `fixedOf` tells of them does not.
function linesOver(entries, field, fixedOf) {
  return [...groupBy(entries, fixedOf).values()].filter((group) => new Set(group.map(({ record }) => record[field])).size > 1);
}

// One line is drawn for these, the longest.
const drawnOnce = ({ key, network, record }) => JSON.stringify([key, record.kind, network, record.mode, record.precision]);

function batchLines(entries) {
  const usable = singlePrecision(entries.filter((entry) => isPass(entry) && entry.rate && entry.record.batch));
  return [...groupBy(usable, drawnOnce).values()].map((group) => longest(linesOver(group, 'batch', ({ record }) => caseWithout(record, 'batch')), 'batch'))
    .filter(Boolean).map((group) => group.sort((a, b) => a.record.batch - b.record.batch));
}

function batchPanel(network, lines) {
  const entries = lines.flat();
  const datasets = lines.map((group) => line(group.map((entry) => ({ x: log2(entry.record.batch), y: entry.rate, entry })), group[0].key, group[0].record.mode));
  return chartFigure({
    title: network, note: conditions(entries, 'batch'), entries, height: 230,
    label: `${network}: images/s against batch size`,
    draw: (canvas) => drawChart(canvas, { type: 'line', data: { datasets }, options: { scales: {
      x: log2Axis('batch per device'), y: axis('images/s', { beginAtZero: true, ticks: { maxTicksLimit: 6 } }) } } }),
  });
}

function batchSection() {
  const lines = batchLines(shownEntries());
  if (!lines.length) return null;
  const groups = [...groupBy(lines, (group) => group[0].network)];
  return section('batch', 'Batch size', [
    h('p', { class: 'intro' }, 'Throughput against the batch size of one device.'),
    legend(lines.flat(), modeKeys(lines.flat())),
    panels('batch', groups, ([network, own]) => batchPanel(network, own)), offers(batchLines(latestEntries).flat()),
  ]);
}

function modeKeys(entries) {
  const modes = new Set(entries.map(({ record }) => record.mode));
  return modes.size > 1 ? [['solid', 'training'], ['dashed', 'inference']] : [];
}

// What is shared out among devices when their number grows.
const SHARED_OUT = ['devices', 'nodes', 'threads', 'batch', 'batch_total'];

// A line over the devices keeps either the batch of a device or the batch of all devices.
function scalingLines(entries) {
  const groups = groupBy(singlePrecision(entries.filter((entry) => entry.record.devices)), drawnOnce);
  return [...groups.values()].map(scalingLine).filter(Boolean);
}

function scalingLine(group) {
  const metric = throughputs.find(([, value]) => linesOver(group.filter(value), 'devices', ({ key }) => key).length);
  if (!metric) return null;
  const [unit, value] = metric;
  const usable = group.filter(value);
  const batches = [[({ record }) => record.batch, 'per device'], [({ images }) => images, 'in total']];
  const fixed = batches.map(([batchOf, words]) => {
    const found = longest(linesOver(usable, 'devices', (entry) => batchOf(entry) + caseWithout(entry.record, ...SHARED_OUT)), 'devices');
    return found && { entries: found, held: batchOf(found[0]) ? `batch ${batchOf(found[0])} ${words}` : '' };
  }).filter(Boolean).sort((a, b) => b.entries.length - a.entries.length)[0];
  if (!fixed) return null;
  const entries = latestByDevices(fixed.entries);
  const first = entries[0];
  return { entries, unit, value, held: fixed.held, key: first.key, network: first.network, record: first.record,
    ideal: (devices) => value(first) / first.record.devices * devices };
}

function latestByDevices(entries) {
  const byDevices = groupBy(entries, ({ record }) => record.devices);
  return [...byDevices.values()].map((group) => group.reduce((a, b) => ((a.record.time || '') > (b.record.time || '') ? a : b)))
    .sort((a, b) => a.record.devices - b.record.devices);
}

function scalingDatasets(own) {
  return own.flatMap((scaling) => {
    const points = scaling.entries.map((entry) => ({ x: entry.record.devices, y: scaling.value(entry), entry,
      figure: `${number(100 * scaling.value(entry) / scaling.ideal(entry.record.devices), 3)} % of the ideal` }));
    const from = scaling.entries[0].record.devices, to = scaling.entries[scaling.entries.length - 1].record.devices;
    const ideal = { data: [from, to].map((devices) => ({ x: devices, y: scaling.ideal(devices) })), borderColor: colourOf(scaling.key) + '99',
      borderWidth: 1, borderDash: [2, 3], pointRadius: 0, pointHitRadius: 0 };
    return [line(points, scaling.key, 'train'), ideal];
  });
}

// Ticks where there are points, as far as they keep clear of each other.
function devicesAxis(entries) {
  const counts = unique(entries.map(({ record }) => record.devices)).sort((a, b) => a - b);
  const most = counts[counts.length - 1];
  const apart = counts.reverse().reduce((kept, count) => (!kept.length || kept[kept.length - 1] - count >= most / 14 ? [...kept, count] : kept), []);
  return axis('devices', { type: 'linear', min: 0, max: most, afterBuildTicks: (scale) => { scale.ticks = [...apart].reverse().map((value) => ({ value })); },
    ticks: { autoSkip: false, maxRotation: 0 } });
}

function scalingPanel(own) {
  const entries = own.flatMap((scaling) => scaling.entries);
  const { record } = own[0];
  const title = [record.model, record.kind === 'train' ? 'training run' : modeName(record.mode).toLowerCase()].filter(Boolean).join(', ');
  const note = unique(own.map((scaling) => [scaling.held, scaling.record.precision, scaling.record.image, variantOf(scaling.record)].filter(Boolean).join(', '))).join('; ');
  return chartFigure({
    title, note, entries, height: 230, label: `${title}: ${own[0].unit} against the number of devices, with the ideal line`,
    draw: (canvas) => drawChart(canvas, { type: 'line', data: { datasets: scalingDatasets(own) }, options: { scales: {
      x: devicesAxis(entries), y: axis(own[0].unit, { beginAtZero: true, ticks: { maxTicksLimit: 6 } }) } } }),
  });
}

function scalingSection() {
  const lines = scalingLines(shownEntries());
  if (!lines.length) return null;
  const groups = [...groupBy(lines, ({ network, record, unit }) => JSON.stringify([record.kind, network, record.mode, unit])).values()];
  return section('scaling', 'Device scaling', [
    h('p', { class: 'intro' }, 'Throughput against the number of devices. The dotted line is the ideal: the first point times the devices.'),
    legend(lines.flatMap((scaling) => scaling.entries), [['dotted', 'ideal']]),
    panels('scaling', groups, scalingPanel), offers(scalingLines(latestEntries).flatMap((scaling) => scaling.entries)),
  ]);
}
