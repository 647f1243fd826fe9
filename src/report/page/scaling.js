// Throughput against the number of devices: what was measured, beside the ideal and beside what was simulated.

// What is shared out among devices when their number grows, and in trainings the learning rate, which grows with them.
const SHARED_OUT = ['devices', 'nodes', 'threads', 'batch', 'batch_total', 'learning_rate', 'recipe'];
// What only several devices have: one alone belongs to each of their groups.
const OF_SEVERAL = ['parallel', 'batch_norm', 'bucket_mib'];

// A scattered batch is a case of its own on one device too.
const isScattered = ({ record }) => record.parallel === 'scatter';
const devicesOf = (entries) => new Set(entries.map(({ record }) => record.devices)).size;

// Entries that differ only in what is shared out, where what `held` tells of them is the same; those of which it is null
// belong nowhere.
function groupsOverDevices(entries, held = () => '') {
  const usable = entries.filter((entry) => held(entry) !== null);
  const work = (entry) => [entry.key, held(entry), isScattered(entry), caseWithout(entry.record, ...SHARED_OUT, ...OF_SEVERAL)].join('|');
  const shared = ({ record }) => JSON.stringify(OF_SEVERAL.map((name) => record[name] ?? null));
  const isAlone = ({ record }) => record.devices === 1;
  const alone = groupBy(usable.filter(isAlone), work);
  const several = groupBy(usable.filter((entry) => !isAlone(entry)), (entry) => work(entry) + shared(entry));
  return [...several.values()].map((group) => [...(alone.get(work(group[0])) || []), ...group]);
}

const throughputs = [
  ['images/s', (entry) => entry.rate],
  ['Mvox/s', (entry) => entry.record.output_mvox_per_s],
  ['iterations/min', (entry) => entry.record.iterations_per_min],
  ['speed-up', (entry) => entry.record.speedup],
];

// A line over the devices keeps either the batch of a device or the batch of all devices,
const BATCHES = [
  { of: ({ record }) => record.batch, words: (batch) => `batch ${batch} per device` },
  { of: ({ images }) => images, words: (images) => `batch ${images} in total` },
];
// and either the threads of a device or those of the whole machine.
const SIZES = [
  { of: ({ record }) => record.threads, words: (threads) => `${plural(threads, 'thread')} per device` },
  { of: ({ record }) => (record.threads === Math.max(1, Math.floor(record.system.cores / record.devices)) ? record.system.cores : null),
    words: (cores) => `${plural(cores, 'core')} shared out` },
];

function latestByDevices(entries) {
  const byDevices = groupBy(entries, ({ record }) => record.devices);
  return [...byDevices.values()].map((group) => group.reduce((a, b) => ((a.record.time || '') > (b.record.time || '') ? a : b)))
    .sort((a, b) => a.record.devices - b.record.devices);
}

// What was measured, what was measured on devices that shared cores, and what was simulated never mix.
function makeLine(group, held) {
  const metric = throughputs.find(([, value]) => devicesOf(group.filter(value)) > 1);
  if (!metric) return null;
  const [unit, value] = metric;
  const entries = group.filter(value), last = group[group.length - 1];
  const measured = latestByDevices(entries.filter((entry) => !entry.simulated && !entry.oversubscribed));
  const oversubscribed = latestByDevices(entries.filter((entry) => entry.oversubscribed)), simulated = latestByDevices(entries.filter((entry) => entry.simulated));
  return { unit, value, held, measured, oversubscribed, simulated, entries: [...measured, ...oversubscribed, ...simulated], first: measured[0] || null,
    key: last.key, network: last.network, record: last.record };
}

const idealAt = ({ first, value }, devices) => value(first) / first.record.devices * devices;

const sameLine = ({ key, network, record }) => JSON.stringify([key, record.kind, network, record.mode, record.precision, isScattered({ record })]);

function scalingLines(entries) {
  const usable = singlePrecision(entries.filter((entry) => entry.record.devices));
  const lines = BATCHES.flatMap((batch) => SIZES.flatMap((size) => {
    const held = (entry) => (size.of(entry) === null ? null : `${batch.of(entry)}, ${size.of(entry)}`);
    return groupsOverDevices(usable, held).map((group) => makeLine(group,
      [batch, size].filter(({ of }) => of(group[0])).map(({ of, words }) => words(of(group[0]))).join(', ')));
  })).filter(Boolean);
  return [...groupBy(lines, sameLine).values()].map(bestLine);
}

// One line is drawn: of most devices that were measured, then of most devices, then the first.
function bestLine(lines) {
  const longer = (a, b) => a.measured.length - b.measured.length || devicesOf(a.entries) - devicesOf(b.entries);
  return lines.reduce((best, line) => (longer(line, best) > 0 ? line : best));
}

function scalingPoints(own, entries, scale) {
  return entries.map((entry) => {
    const { devices } = entry.record, value = own.value(entry);
    const share = own.first ? `${number(100 * value / idealAt(own, devices), 3)} % of the ideal` : '';
    return { x: scale(devices), y: scale(value), entry, figure: entry.oversubscribed ? 'no speed-up: oversubscribed' : share };
  });
}

function scalingDatasets(lines, scale) {
  return lines.flatMap((own) => {
    const points = (entries, more) => line(scalingPoints(own, entries, scale), own.key, more);
    const counts = own.entries.map(({ record }) => record.devices);
    const ideal = own.first && { data: [Math.min(...counts), Math.max(...counts)].map((devices) => ({ x: scale(devices), y: scale(idealAt(own, devices)) })),
      borderColor: colourOf(own.key) + '99', borderWidth: 1, borderDash: [2, 3], pointRadius: 0, pointHitRadius: 0 };
    return [points(own.measured, { label: 'measured' }), points(own.oversubscribed, { label: OVERSUBSCRIBED, showLine: false }),
      points(own.simulated, { label: SIMULATED, borderDash: [7, 5] }), ideal].filter((dataset) => dataset && dataset.data.length);
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

function titleOf({ record }) {
  return [record.model, record.kind === 'train' ? 'training run' : modeName(record.mode).toLowerCase(), isScattered({ record }) ? 'scattered batch' : ''].filter(Boolean).join(', ');
}

const lineNote = ({ held, record }) => [variantOf(record), held, record.precision, record.image].filter(Boolean).join(', ');

// A few devices beside very many, or a slow system beside a fast one, would lie in a corner: then both axes are logarithmic.
const WIDE_SPAN = 20;

function scalingPanel(own) {
  const entries = own.flatMap((line) => line.entries), title = titleOf(own[0]), [{ unit }] = own;
  const isWide = (values) => Math.max(...values) > WIDE_SPAN * Math.min(...values);
  const isLog = isWide(entries.map(({ record }) => record.devices)) || isWide(own.flatMap((line) => line.measured.map(line.value)));
  const scales = isLog ? { x: log2Axis('devices'), y: logAxis(unit) } : { x: devicesAxis(entries), y: axis(unit, { beginAtZero: true, ticks: { maxTicksLimit: 6 } }) };
  return chartFigure({
    title, note: [...unique(own.map(lineNote)), isLog ? 'logarithmic' : ''].filter(Boolean).join('; '), entries, height: 230,
    label: `${title}: ${unit} against the number of devices, with the ideal line`,
    draw: (canvas) => drawChart(canvas, { type: 'line', data: { datasets: scalingDatasets(own, isLog ? log2 : (value) => value) }, options: { scales } }),
  });
}

const shownLines = () => scalingLines([...shownEntries(), ...simulatedEntries.filter(isShown)]);

function scalingSection() {
  const lines = shownLines();
  if (!lines.length) return null;
  const entries = lines.flatMap((line) => line.entries);
  const groups = [...groupBy(lines, (line) => JSON.stringify([titleOf(line), line.network, line.unit])).values()];
  const extras = [['dotted', 'ideal'], ...(entries.some(({ simulated }) => simulated) ? [['simulated', 'simulated']] : [])];
  return section('scaling', 'Device scaling', [
    h('p', { class: 'intro' }, 'Throughput against the number of devices. The dotted line is the ideal: the first point times the devices.',
      entries.some(({ oversubscribed }) => oversubscribed) ? ' Devices that share cores are oversubscribed: their points lie outside the line, since they say nothing about a speed-up.' : ''),
    legend(entries, extras), panels('scaling', groups, scalingPanel), offers(scalingLines(latestEntries).flatMap((line) => line.entries)),
  ]);
}
