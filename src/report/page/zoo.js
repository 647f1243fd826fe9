// Training and inference of every network at one batch, sorted by training time.

let zooBatch = null;
let zooMetric = 'ms';

function commonBatch(entries) {
  const counts = new Map();
  for (const [batch, members] of groupBy(entries, ({ record }) => record.batch)) {
    counts.set(batch, new Set(members.map((entry) => `${entry.key}|${entry.record.model}|${entry.record.mode}`)).size);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([batch]) => batch);
}

// One entry a system, network and mode: the whole machine as one device, in single precision where there is a choice.
function wholeMachine(entries) {
  const preference = ({ record }) => [record.precision === 'f32' ? 0 : 1, record.devices || 1, -(record.threads || 0)];
  const order = (a, b) => {
    const [left, right] = [preference(a), preference(b)];
    const at = left.findIndex((value, i) => value !== right[i]);
    return at < 0 ? (b.record.time || '').localeCompare(a.record.time || '') : left[at] - right[at];
  };
  return [...groupBy(entries, ({ key, record }) => `${key}|${record.model}|${record.mode}`).values()].map((group) => group.sort(order)[0]);
}

// Of a network that was run at several image sizes the one that most systems have: bars side by side are the same work.
function atOneImage(entries) {
  return [...groupBy(entries, ({ record }) => record.model).values()].flatMap((group) => {
    const sizes = [...groupBy(group, ({ record }) => record.image).values()];
    const systems = (members) => new Set(members.map(({ key }) => key)).size;
    return sizes.reduce((best, members) => (systems(members) > systems(best) ? members : best));
  });
}

function zooEntries(entries) {
  return atOneImage(entries.filter((entry) => isPass(entry) && entry.record.batch && MODES[entry.record.mode] && (entry.time || NO_FIGURE.has(entry.record.verdict))));
}

// By the first system shown that has trained the network; networks that were only run come last.
function byTrainingTime(entries) {
  const systems = shownSystems();
  const time = (model, mode) => systems.map(({ key }) => entries.find((e) => e.key === key && e.record.model === model && e.record.mode === mode && e.time))
    .find(Boolean)?.time.ms;
  const key = (model) => time(model, 'train') ?? 1e9 + (time(model, 'infer') ?? 1e9);
  return unique(entries.map((entry) => entry.record.model)).sort((a, b) => key(a) - key(b));
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

function zooPanel(mode, models, entries) {
  const own = entries.filter((entry) => entry.record.mode === mode);
  if (!own.length) return null;
  const names = models.filter((model) => own.some((entry) => entry.record.model === model));
  const systems = shownSystems().filter((system) => own.some((entry) => entry.key === system.key));
  const datasets = systems.map((system) => {
    const points = names.map((model) => zooPoint(own.find((e) => e.key === system.key && e.record.model === model), model));
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

function zooSection() {
  const candidates = zooEntries(shownEntries());
  const batches = commonBatch(candidates.filter((entry) => entry.time));
  if (!batches.length) return null;
  const batch = batches.includes(zooBatch) ? zooBatch : batches[0];
  const entries = wholeMachine(candidates.filter((entry) => entry.record.batch === batch));
  const models = byTrainingTime(entries);
  const absent = unique(candidates.map((entry) => entry.record.model)).filter((model) => !models.includes(model));
  const choices = [...batches].sort((a, b) => a - b).map((value) => [value, String(value)]);
  return section('zoo', 'Networks', [
    h('p', { class: 'intro' }, `Every network at ${conditions(entries)}, sorted by training time. Whiskers: 95\u00a0% interval of the median.`,
      absent.length ? ` Not measured at this batch: ${listed(absent)}.` : ''),
    h('div', { class: 'controls' },
      segmented('Figure', [['ms', 'Time per pass'], ['rate', 'Images/s']], zooMetric, (value) => { zooMetric = value; redraw(); }),
      batches.length > 1 ? selector('Batch', choices, batch, (value) => { zooBatch = Number(value); redraw(); }) : null),
    legend(entries),
    h('div', { class: 'pair' }, ['train', 'infer'].map((mode) => zooPanel(mode, models, entries))),
  ]);
}
