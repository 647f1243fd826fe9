// Where the time of several devices goes: the parts of a pass on top of each other, for every number of devices.

function partColour(name) {
  const known = PARTS.find((part) => part.name === name);
  return PALETTE[theme()][known ? known.colour : COLOUR_OF_OTHER_PARTS];
}

// A dataset a part, over the bars of the entries; `of(record)` gives [part, ms] pairs.
function partDatasets(entries, of) {
  const names = unique([...PARTS.map(({ name }) => name), ...entries.flatMap(({ record }) => of(record).map(([name]) => name))]);
  return names.map((name) => {
    const colour = partColour(name);
    const data = entries.map((entry, at) => {
      const [, ms] = of(entry.record).find(([part]) => part === name) || [];
      return ms === undefined ? { x: at, y: null } : { x: at, y: ms, entry, figure: `${name} ${number(ms)} ms` };
    });
    const isHatched = ({ entry }) => entry && (entry.doubtful || entry.simulated);
    return { label: name, data, backgroundColor: data.map((point) => (isHatched(point) ? hatch(colour) : colour)),
      borderColor: data.map((point) => (isHatched(point) ? colour : token('--paper'))), borderWidth: { top: 1 }, maxBarThickness: 46 };
  }).filter(({ data }) => data.some(({ y }) => y !== null && y !== 0));
}

// A pass that scales linearly takes this long; devices that share cores do not scale.
function linearMs(line, { images, record, oversubscribed }) {
  const { first } = line;
  return first && first.time && !oversubscribed ? first.time.ms * images / first.images * first.record.devices / record.devices : null;
}

// A line across each bar where linear scaling would end it, set apart from the parts it lies on.
function linearMarks(line, entries) {
  return {
    id: 'linearMarks',
    afterDatasetsDraw(chart) {
      const { ctx, scales: { x, y } } = chart;
      const half = Math.min(34, 0.46 * x.width / entries.length);
      ctx.save();
      for (const [colour, width] of [['--paper', 4.5], ['--ink', 1.75]]) {
        ctx.strokeStyle = token(colour);
        ctx.lineWidth = width;
        entries.forEach((entry, at) => {
          const ms = linearMs(line, entry);
          if (!ms) return;
          ctx.beginPath();
          ctx.moveTo(x.getPixelForValue(at) - half, y.getPixelForValue(ms));
          ctx.lineTo(x.getPixelForValue(at) + half, y.getPixelForValue(ms));
          ctx.stroke();
        });
      }
      ctx.restore();
    },
  };
}

function stackedFigure({ title, note, label, entries, datasets, plugins = [], commands, unit = 'ms per pass' }) {
  return chartFigure({
    title, note, entries, commands, height: 280, label,
    draw: (canvas) => drawChart(canvas, { type: 'bar', data: { labels: entries.map(({ record }) => String(record.devices)), datasets }, plugins, options: { scales: {
      x: axis('devices', { stacked: true, grid: { display: false }, ticks: { callback: (at) => String(entries[at].record.devices), maxRotation: 0 } }),
      y: axis(unit, { stacked: true, beginAtZero: true, ticks: { maxTicksLimit: 6 } }) } } }),
  });
}

function partLegend(names, extras) {
  return h('ul', { class: 'legend' }, names.map((name) =>
    h('li', {}, h('span', { class: 'swatch', style: { '--colour': partColour(name) }, 'aria-hidden': 'true' }), name)),
  extras.map(([kind, text]) => h('li', {}, h('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text)));
}

function lostFigure(entries, title) {
  const own = entries.filter(({ record, oversubscribed }) => !oversubscribed && Object.keys(record.lost_ms || {}).length);
  if (!own.length) return null;
  return stackedFigure({ title: ['Lost against linear scaling', own[0].simulated ? SIMULATED : ''].filter(Boolean).join(', '), note: 'by which parts a pass takes longer than on one device', label: `${title}: lost time by devices and part`,
    entries: own, datasets: partDatasets(own, lostParts), commands: false, unit: 'ms lost per pass' });
}

function rankDetails(entries) {
  const own = entries.filter(({ record }) => (record.ranks || []).length > 1);
  return own.length ? h('details', { class: 'rank-by-rank' }, h('summary', {}, 'Rank by rank'), own.map(({ record }) => ranksTable(record))) : null;
}

const measuredParts = (record) => partsIn(record).map(({ name, field }) => [name, record[field]]);
const lostParts = (record) => Object.entries(record.lost_ms || {});

// What was measured and what was simulated stand apart.
function partsFigures(line) {
  const kinds = [[...line.measured, ...line.oversubscribed], line.simulated].map((own) => own.filter(({ record }) => partsIn(record).length));
  const { label } = line.entries[0].system;
  return kinds.filter((entries) => entries.some(hasDeviceTimes)).map((entries) => {
    const title = [titleOf(line), entries[0].simulated ? SIMULATED : ''].filter(Boolean).join(', ');
    return h('div', { class: 'device-parts' }, h('div', { class: 'pair' },
      stackedFigure({ title, note: [swatch(line.key), `${label}, ${lineNote(line)}`], label: `${title} on ${label}: parts of a pass by devices`, entries,
        datasets: partDatasets(entries, measuredParts), plugins: [linearMarks(line, entries)] }),
      lostFigure(entries, title)), rankDetails(entries));
  });
}

function partsSection() {
  const lines = shownLines().filter((line) => line.entries.some(hasDeviceTimes));
  if (!lines.length) return null;
  const entries = lines.flatMap((line) => line.entries);
  const names = unique([...partDatasets(entries, measuredParts), ...partDatasets(entries, lostParts)].map(({ label }) => label));
  const hatched = unique(entries.filter(({ simulated, doubtful }) => simulated || doubtful).map(({ record }) => record.verdict));
  return section('parts', 'Where the time of several devices goes', [
    h('p', { class: 'intro' }, 'The parts of a pass, as means over the devices. The line across a bar is where linear scaling would end it.'),
    partLegend(names, [['solid', 'linear'], ...(hatched.length ? [['hatched', hatched.join(' or ')]] : [])]), lines.map(partsFigures),
  ]);
}
