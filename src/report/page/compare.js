// Ticked systems against one of them: cell by cell, with a note wherever the cells are not quite the same.

let baselineKey = null;
let compareFigure = 'ratio';
const CHART_ROWS = 40;

function baselineSystem(systems) {
  return systems.find((system) => system.key === baselineKey) || systems.find((system) => system.own) || systems[0];
}

const comparable = (entry) => entry.time && entry.images && entry.record.model && entry.record.kind !== 'predict';

// The cells of the base that may be compared, by network and mode, the preferred one first.
function baseCells(system, entries) {
  const own = entries.filter((entry) => entry.key === system.key && comparable(entry));
  const batch = zooBatch !== null ? zooBatch : commonBatch(own)[0];
  const groups = groupBy(own, ({ record }) => `${record.kind}|${record.model}|${record.mode}`);
  return [...groups.values()].map((group) => {
    const first = wholeMachine(group.filter((entry) => entry.record.batch === batch))[0] || wholeMachine(group)[0];
    return [first, ...group.filter((entry) => entry !== first)];
  });
}

// The other system's cell that is most like the base's.
function closest(base, candidates) {
  const unlikeness = ({ record, images }) => {
    const own = base.record;
    return [record.image !== undefined && own.image !== undefined && record.image !== own.image, record.precision !== own.precision,
      (record.devices || 1) !== (own.devices || 1), Math.abs(log2(images / base.images))].map(Number);
  };
  return candidates.map((entry) => ({ entry, score: unlikeness(entry) })).sort((a, b) => {
    const at = a.score.findIndex((value, i) => value !== b.score[i]);
    return at < 0 ? (b.entry.record.time || '').localeCompare(a.entry.record.time || '') : a.score[at] - b.score[at];
  })[0]?.entry;
}

const included = (record) => listed([...(record.time_includes || [])].sort()) || 'nothing but the pass';

// How a cell differs from the base's by definition; `bars` are differences that forbid a ratio.
function differences(base, other) {
  const [own, record] = [base.record, other.record];
  const found = { notes: [], bars: [] };
  const differ = (field, to, text) => { if (own[field] !== undefined && record[field] !== undefined && own[field] !== record[field]) found[to].push(text); };
  differ('image', 'bars', `image ${record.image}, not ${own.image}: other work`);
  if (other.images !== base.images) found.bars.push(`batch ${other.images} in total, not ${base.images}: other work`);
  if ((record.devices || 1) !== (own.devices || 1)) found.bars.push(`${plural(record.devices, 'device')}, not ${own.devices || 1}`);
  differ('precision', 'bars', `precision ${record.precision}, not ${own.precision}`);
  const [mine, theirs] = [included(own), included(record)];
  if (mine !== theirs) found.notes.push(`the time includes ${theirs}; the base's ${mine}`);
  if (hasUpdate(own) !== hasUpdate(record)) {
    const evened = withoutUpdate(hasUpdate(own) ? base : other) !== null;
    found[evened ? 'notes' : 'bars'].push(evened ? 'the ratio is without the update' : 'only one of the times includes the update');
  }
  if (other.time.by !== 'median') found.notes.push(other.time.by === 'mean' ? 'mean, not median' : 'time computed from images/s');
  if (record.known_error) found.notes.push(`known error: ${record.known_error}`);
  return found;
}

const hasUpdate = (record) => record.mode === 'train' && (record.time_includes || []).includes('update');

// A training pass without its update, where the phases are known.
function withoutUpdate({ record, time }) {
  const phases = [record.forward_ms, record.backward_ms, record.update_ms];
  if (phases.some((ms) => ms === undefined)) return null;
  const [forward, backward, update] = phases;
  return time.ms * (forward + backward) / (forward + backward + update);
}

// How many times as fast the other is; without the update where only one of them has it.
function speedRatio(base, other) {
  const even = hasUpdate(base.record) !== hasUpdate(other.record);
  const time = (entry) => (even && hasUpdate(entry.record) ? withoutUpdate(entry) : entry.time.ms);
  return time(base) / time(other);
}

function cellsBeside(own, others, entries) {
  const cells = new Map();
  for (const system of others) {
    const candidates = entries.filter((entry) => entry.key === system.key && comparable(entry) && entry.record.kind === own.record.kind &&
      entry.record.model === own.record.model && entry.record.mode === own.record.mode);
    const entry = closest(own, candidates);
    if (!entry) continue;
    const found = differences(own, entry);
    cells.set(system.key, { entry, ...found, ratio: found.bars.length ? null : speedRatio(own, entry) });
  }
  return cells;
}

const fitting = ({ cells }) => [...cells.values()].filter((cell) => cell.ratio !== null).length;

function compareRows(base, systems, entries) {
  const others = systems.filter((system) => system !== base);
  const rows = baseCells(base, entries).map((group) => group.map((own) => ({ own, cells: cellsBeside(own, others, entries) }))
    .reduce((best, row) => (fitting(row) > fitting(best) ? row : best)));
  const order = (row) => [row.own.record.mode === 'train' ? 0 : 1, row.own.time.ms];
  return rows.filter((row) => row.cells.size).sort((a, b) => order(a)[0] - order(b)[0] || order(a)[1] - order(b)[1]);
}

// Notes get letters in the order in which they turn up.
function footnotes() {
  const letters = new Map();
  return {
    mark(text) {
      if (!letters.has(text)) letters.set(text, letters.size);
      const index = letters.get(text);
      return (index >= 26 ? String.fromCharCode(96 + Math.floor(index / 26)) : '') + String.fromCharCode(97 + index % 26);
    },
    list: () => (letters.size ? h('dl', { class: 'footnotes' }, [...letters.keys()].map((text, i) =>
      h('div', {}, h('dt', {}, (i >= 26 ? String.fromCharCode(96 + Math.floor(i / 26)) : '') + String.fromCharCode(97 + i % 26)), h('dd', {}, text)))) : null),
  };
}

function compareTable(base, systems, rows, notes) {
  const others = systems.filter((system) => rows.some((row) => row.cells.has(system.key)));
  const cellsOf = ({ own, cells }, system) => {
    const cell = cells.get(system.key);
    if (!cell) return [h('td', { class: 'num absent' }, DASH), h('td', { class: 'num absent' }, DASH)];
    const marks = [...cell.bars, ...cell.notes].map((text) => notes.mark(text));
    const time = h('td', { class: `num${cell.entry.doubtful ? ' doubtful' : ''}`, tabindex: 0 }, number(cell.entry.time.ms, 4),
      cell.entry.doubtful ? h('sup', {}, '~') : '', marks.length ? h('sup', {}, marks.join(' ')) : '');
    return [explain(time, cell.entry), h('td', { class: 'num ratio' }, cell.ratio === null ? 'not comparable' : `${number(cell.ratio)}\u00d7`)];
  };
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison, scrollable' }, h('table', { class: 'data compare' },
    h('caption', {}, `Time per pass in ms, and how many times as fast as ${base.label}`),
    h('thead', {},
      h('tr', {}, h('td', { colspan: 3 }), h('th', { scope: 'col', class: 'num' }, swatch(base.key), base.label),
        others.map((system) => h('th', { scope: 'colgroup', colspan: 2, class: 'num name' }, swatch(system.key), system.label))),
      h('tr', {}, ['network', 'mode'].map((name) => h('th', { scope: 'col' }, name)), h('th', { scope: 'col', class: 'num' }, 'batch'),
        h('th', { scope: 'col', class: 'num' }, 'ms'), others.map(() => [h('th', { scope: 'col', class: 'num' }, 'ms'), h('th', { scope: 'col', class: 'num' }, 'ratio')]))),
    h('tbody', {}, rows.map((row) => h('tr', {}, h('th', { scope: 'row' }, row.own.record.model), h('td', {}, row.own.record.mode || ''),
      h('td', { class: 'num' }, String(row.own.images)),
      explain(h('td', { class: `num${row.own.doubtful ? ' doubtful' : ''}`, tabindex: 0 }, number(row.own.time.ms, 4), row.own.doubtful ? h('sup', {}, '~') : ''), row.own),
      others.map((system) => cellsOf(row, system)))))));
}

function comparePoints(system, base, rows, value) {
  return rows.map((row, i) => {
    const cell = row.cells.get(system.key);
    if (system === base) return compareFigure === 'ratio' ? null : { x: log2(value(row.own, 1)), y: i, entry: row.own };
    if (!cell || (compareFigure === 'ratio' && cell.ratio === null)) return null;
    const marked = cell.notes.length ? `differs: ${cell.notes.join('; ')}` : undefined;
    return { x: log2(value(cell.entry, cell.ratio)), y: i, entry: cell.entry, figure: [cell.ratio && `${number(cell.ratio)} times as fast as ${base.label}`, marked].filter(Boolean).join('. ') };
  }).filter(Boolean);
}

function compareChart(base, systems, allRows) {
  const rows = allRows.slice(0, CHART_ROWS);
  const figures = { ratio: [`times as fast as ${base.label}`, (entry, ratio) => ratio], ms: ['ms per pass', (entry) => entry.time.ms], rate: ['images/s', (entry) => entry.rate] };
  const [title, value] = figures[compareFigure];
  const datasets = systems.map((system) => {
    const data = comparePoints(system, base, rows, value);
    return { data, ...pointColours(data, system.key), pointRadius: 5 };
  });
  const names = rows.map(({ own }) => `${own.record.model}, ${own.record.mode}`);
  const drawn = rows.flatMap((row) => [row.own, ...[...row.cells.values()].map((cell) => cell.entry)]);
  return chartFigure({
    title: title[0].toUpperCase() + title.slice(1), note: allRows.length > rows.length ? `The first ${rows.length} of ${allRows.length}; all are in the table.` : undefined,
    entries: drawn, height: 70 + 24 * rows.length, label: `${title} for ${plural(rows.length, 'cell')}: ${listed(systems.map((system) => system.label))}`,
    draw: (canvas) => drawChart(canvas, { type: 'scatter', data: { datasets }, plugins: compareFigure === 'ratio' ? [markedLine(0)] : [],
      options: { layout: { padding: { right: 12 } }, scales: {
        x: logAxis(`${title} (logarithmic)`, { grace: '6%' }),
        y: axis('', { title: { display: false }, type: 'linear', reverse: true, min: -0.6, max: rows.length - 0.4, afterBuildTicks: (scale) => { scale.ticks = names.map((_, i) => ({ value: i })); },
          ticks: { color: token('--ink'), autoSkip: false, callback: (i) => names[i] } }) } } }),
  });
}

// Where the ticked published figures come from.
function sourceCards() {
  const sets = groupBy(allEntries.filter((entry) => entry.set && isShown(entry)), (entry) => entry.set);
  const cards = [...sets].map(([set, entries]) => {
    const texts = (field) => unique(entries.map(({ record }) => record[field]).filter(Boolean));
    const rows = [['Source', 'source'], ['Protocol', 'protocol'], ['Known error', 'known_error'], ['Correction', 'correction']]
      .map(([title, field]) => [title, texts(field), field]).filter(([, found]) => found.length);
    return h('article', { class: 'source' }, h('h4', {}, set), h('p', { class: 'muted' }, plural(entries.length, 'published figure')),
      h('dl', { class: 'sheet' }, rows.map(([title, found, field]) => h('div', { class: field === 'known_error' ? 'warn' : undefined }, h('dt', {}, title),
        found.map((text) => h('dd', {}, linked(text)))))));
  });
  return cards.length ? [h('h3', {}, 'Where the published figures come from'), h('div', { class: 'sources' }, cards)] : null;
}

function compareSection() {
  if (allSystems.length < 2) return null;
  const systems = shownSystems();
  const hint = 'Tick machines and published sets under "Systems" to set them side by side.';
  if (systems.length < 2) return section('compare', 'Comparison', [h('p', { class: 'intro' }, hint), offers(latestEntries)]);
  const base = baselineSystem(systems);
  const rows = compareRows(base, systems, shownEntries());
  const notes = footnotes();
  const compared = systems.filter((system) => system === base || rows.some((row) => row.cells.has(system.key)));
  const apart = systems.filter((system) => !compared.includes(system));
  const drawn = rows.flatMap((row) => [row.own, ...[...row.cells.values()].map((cell) => cell.entry)]);
  return section('compare', 'Comparison', [
    h('p', { class: 'intro' }, `${hint} Each network is compared with the cell that is most like it; where the two are not defined alike, a letter says how.`),
    h('div', { class: 'controls' },
      segmented('Figure', [['ratio', 'Ratio'], ['ms', 'Time per pass'], ['rate', 'Images/s']], compareFigure, (value) => { compareFigure = value; redraw(); }),
      selector('Relative to', systems.map((system) => [system.key, system.label]), base.key, (value) => { baselineKey = value; redraw(); })),
    rows.length ? [legend(drawn), compareChart(base, compared, rows), compareTable(base, compared, rows, notes), notes.list()]
      : h('p', { class: 'notice' }, `None of these has a network and mode in common with ${base.label}.`),
    rows.length && apart.length ? h('p', { class: 'muted small' }, `Nothing in common with ${base.label}: ${listed(apart.map((system) => system.label))}.`) : null,
    sourceCards(),
  ]);
}
