// Throughput against the batch of one device.

function line(points, key, more = {}) {
  return { data: points, ...pointColours(points, key), borderWidth: 1.75, tension: 0, ...more };
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

// Of several lines through the same cells that of fewest devices to which nothing is handed out, then of most batches, then
// of most threads.
function plainest(lines) {
  const order = (group) => [group[0].record.devices || 1, group[0].record.parallel ? 1 : 0, -group.length, -(group[0].record.threads || 0)];
  return lines.sort((a, b) => firstDifference(order(a), order(b)))[0];
}

// One line is drawn for these.
const drawnOnce = ({ key, network, record }) => JSON.stringify([key, record.kind, network, record.mode, record.precision]);

function batchLines(entries) {
  const usable = singlePrecision(entries.filter((entry) => isPass(entry) && entry.rate && entry.record.batch));
  const lines = [...groupBy(usable, ({ key, record }) => key + caseWithout(record, 'batch')).values()].filter((group) => group.length > 1);
  return [...groupBy(lines, ([entry]) => drawnOnce(entry)).values()].map(plainest).map((group) => group.sort((a, b) => a.record.batch - b.record.batch));
}

function batchPanel(network, lines) {
  const entries = lines.flat();
  const datasets = lines.map((group) => line(group.map((entry) => ({ x: log2(entry.record.batch), y: entry.rate, entry })), group[0].key, { borderDash: group[0].record.mode === 'infer' ? [5, 4] : [] }));
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
