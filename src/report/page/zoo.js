// Training and inference of every network at one batch, sorted by training time.

let zooBatch = null;
let zooMetric = 'ms';

// Every batch, the one of most bars first; what was measured says more than what was published.
function commonBatch(entries) {
  const bars = (members) => new Set(members.map(barOf)).size;
  const counts = [...groupBy(entries, ({ record }) => record.batch)].map(([batch, members]) =>
    ({ batch, measured: bars(members.filter(({ set }) => !set)), all: bars(members) }));
  return counts.sort((a, b) => b.measured - a.measured || b.all - a.all || a.batch - b.batch).map(({ batch }) => batch);
}

const barOf = ({ key, network, record }) => JSON.stringify([key, network, record.mode]);

// One entry a system, network and mode: the whole machine as one device, in single precision where there is a choice.
function wholeMachine(entries) {
  const preference = ({ record }) => [record.precision === 'f32' ? 0 : 1, record.devices || 1, record.parallel ? 1 : 0, -(record.threads || 0)];
  const order = (a, b) => firstDifference(preference(a), preference(b)) || (b.record.time || '').localeCompare(a.record.time || '');
  return [...groupBy(entries, barOf).values()].map((group) => group.sort(order)[0]);
}

// Of a network that was run at several image sizes the one that most systems have: bars side by side are the same work.
function atOneImage(entries) {
  return [...groupBy(entries, ({ network }) => network).values()].flatMap((group) => {
    const sizes = [...groupBy(group, ({ record }) => record.image).values()];
    const systems = (members) => new Set(members.map(({ key }) => key)).size;
    return sizes.reduce((best, members) => (systems(members) > systems(best) ? members : best));
  });
}

// A pass on several devices is more work: it only stands for a network that was never run on one.
function onOneDevice(entries) {
  const isAlone = ({ record }) => (record.devices || 1) === 1, cell = ({ key, record }) => JSON.stringify([key, record.model, record.mode]);
  const alone = new Set(entries.filter(isAlone).map(cell));
  return entries.filter((entry) => isAlone(entry) || !alone.has(cell(entry)));
}

function zooEntries(entries) {
  return atOneImage(onOneDevice(entries).filter((entry) => isPass(entry) && entry.record.batch && MODES[entry.record.mode] && (entry.time || NO_FIGURE.has(entry.record.verdict))));
}

// By the first system shown that has trained the network; networks that were only run come last.
function byTrainingTime(entries) {
  const systems = shownSystems();
  const time = (network, mode) => systems.map(({ key }) => entries.find((e) => e.key === key && e.network === network && e.record.mode === mode && e.time))
    .find(Boolean)?.time.ms;
  const key = (network) => time(network, 'train') ?? 1e9 + (time(network, 'infer') ?? 1e9);
  return unique(entries.map((entry) => entry.network)).sort((a, b) => key(a) - key(b));
}

function zooPoint(entry, y) {
  if (!entry) return { x: null, y };
  const { record, time, rate } = entry;
  if (!time) return { x: 0, y, entry, label: (record.verdict || '').replace(/_/g, ' ') };
  const mark = entry.doubtful ? ` ${record.verdict}` : '';
  if (zooMetric === 'rate') return { x: rate, y, entry, label: number(rate) + mark };
  const interval = record.median_low_ms === undefined ? null : [record.median_low_ms, record.median_high_ms];
  return { x: time.ms, y, entry, interval, label: number(time.ms) + mark };
}

function zooPanel(mode, networks, entries) {
  const own = entries.filter((entry) => entry.record.mode === mode);
  if (!own.length) return null;
  const names = networks.filter((network) => own.some((entry) => entry.network === network));
  const systems = shownSystems().filter((system) => own.some((entry) => entry.key === system.key));
  const datasets = systems.map((system) => {
    const points = names.map((network) => zooPoint(own.find((e) => e.key === system.key && e.network === network), network));
    return { label: system.label, data: points, ...barColours(points, system.key), barPercentage: 0.86, categoryPercentage: 0.78, maxBarThickness: 16, skipNull: true };
  });
  const unit = zooMetric === 'rate' ? 'images/s' : 'ms per pass';
  return chartFigure({
    title: modeName(mode), entries: own, height: 62 + names.length * (12 + 15 * systems.length),
    label: `${modeName(mode)}: ${unit} of ${plural(names.length, 'network')} on ${listed(systems.map((s) => s.label))}`,
    draw: (canvas) => drawChart(canvas, {
      type: 'bar', data: { labels: names, datasets }, plugins: [barEnds],
      options: { indexAxis: 'y', layout: { padding: { right: 58 } }, scales: {
        x: axis(unit, { beginAtZero: true, ticks: { maxTicksLimit: 6, maxRotation: 0 } }),
        y: axis('', { title: { display: false }, grid: { display: false }, ticks: { color: token('--ink'), autoSkip: false, callback: (i) => names[i] } }) } },
    }),
  });
}

// Bars are drawn of what was measured, with published ones beside them; published networks alone where nothing else is.
function apartFromPublished(entries) {
  const measured = new Set(entries.filter(({ set }) => !set).map(({ network }) => network));
  const entriesDrawn = measured.size ? entries.filter(({ network }) => measured.has(network)) : entries;
  return { entries: entriesDrawn, alone: unique(entries.filter((entry) => !entriesDrawn.includes(entry)).map(({ network }) => network)) };
}

function zooSection() {
  const candidates = zooEntries(shownEntries());
  const batches = commonBatch(candidates.filter((entry) => entry.time));
  if (!batches.length) return null;
  const batch = batches.includes(zooBatch) ? zooBatch : batches[0];
  const { entries, alone } = apartFromPublished(wholeMachine(candidates.filter((entry) => entry.record.batch === batch)));
  const networks = byTrainingTime(entries);
  const absent = unique(candidates.filter(({ set }) => !set).map(({ network }) => network)).filter((network) => !networks.includes(network));
  const choices = [...batches].sort((a, b) => a - b).map((value) => [value, String(value)]);
  return section('zoo', 'Networks', [
    h('p', { class: 'intro' }, `Every network at ${conditions(entries)}, sorted by training time. Whiskers: 95\u00a0% interval of the median.`,
      absent.length ? ` Not measured at this batch: ${listed(absent)}.` : '', alone.length ? ` Only published, and in the table below: ${listed(alone)}.` : ''),
    h('div', { class: 'controls' },
      segmented('Figure', [['ms', 'Time per pass'], ['rate', 'Images/s']], zooMetric, (value) => { zooMetric = value; redraw(); }),
      batches.length > 1 ? selector('Batch', choices, batch, (value) => { zooBatch = Number(value); redraw(); }) : null),
    legend(entries),
    h('div', { class: 'pair' }, ['train', 'infer'].map((mode) => zooPanel(mode, networks, entries))),
  ]);
}
