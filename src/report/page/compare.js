// Ticked systems against one of them, cell by cell: what `tacho compare OTHER BASE` answers, drawn.

let baselineKey = null;
let compareFigure = 'ratio';
let compareWhole = false;
const CHART_ROWS = 40;
const TABLE_ROWS = 60;

const pairings = new Map(page.pairings.map(([a, b, pairs]) => [`${a}|${b}`, pairs]));
const areComparable = (system, base) => pairings.has(`${system.key}|${base.key}`);

function baselineSystem(systems) {
  return systems.find((system) => system.key === baselineKey) || systems.find((system) => system.own) || systems[0];
}

function makePair([at, baseAt, outcome, ...figures]) {
  const { unit, answer, refusals = [], marks = [] } = page.outcomes[outcome];
  const [ratio, low, high] = answer ? figures.splice(0, 3) : [];
  const [entry, own] = [allEntries[at], allEntries[baseAt]];
  const unitAt = page.units.indexOf(unit);
  const [value, baseValue] = figures.length ? figures : [entry.figures[unitAt], own.figures[unitAt]];
  return { at: baseAt, entry, own, unit, answer, refusals, marks, ratio, interval: typeof low === 'number' ? [low, high] : null, value, baseValue };
}

const pairsOf = (system, base) => (pairings.get(`${system.key}|${base.key}`) || []).map(makePair);

// One row a cell of the base and unit, with the pairs of each other system.
function compareRows(base, others) {
  const rows = new Map();
  for (const system of others) {
    for (const pair of pairsOf(system, base)) {
      const id = `${pair.at}|${pair.unit}`;
      if (!rows.has(id)) rows.set(id, { own: pair.own, unit: pair.unit, cells: new Map() });
      const { cells } = rows.get(id);
      cells.set(system.key, [...(cells.get(system.key) || []), pair]);
    }
  }
  return inOrder([...rows.values()]);
}

const allPairs = (row) => [...row.cells.values()].flat();
const networkOf = ({ own, unit }) => JSON.stringify([own.record.kind, own.network, own.record.mode, unit]);

// Training first, then the quicker networks, then the smaller batches.
function inOrder(rows) {
  const least = new Map([...groupBy(rows, networkOf)].map(([network, group]) => [network, Math.min(...group.map(({ own }) => own.time?.ms ?? Infinity))]));
  const order = (row) => [row.own.record.mode === 'train' ? 0 : 1, least.get(networkOf(row)), row.own.images || 0, row.own.record.devices || 0];
  return rows.map((row) => ({ row, key: order(row) })).sort((a, b) => firstDifference(a.key, b.key)).map(({ row }) => row);
}

// Of each network the row of most answers, preferably at the batch of the networks' chart.
function onePerNetwork(rows) {
  const batch = zooBatch ?? commonBatch(rows.map(({ own }) => own))[0];
  const weight = (row) => 2 * allPairs(row).filter(({ answer }) => answer).length + Number(row.own.record.batch === batch);
  return [...groupBy(rows, networkOf).values()].map((group) => group.reduce((best, row) => (weight(row) > weight(best) ? row : best)));
}

// Notes get letters in the order in which they turn up.
function footnotes() {
  const letters = new Map();
  const letterOf = (index) => (index >= 26 ? String.fromCharCode(96 + Math.floor(index / 26)) : '') + String.fromCharCode(97 + index % 26);
  return {
    mark(text) {
      if (!letters.has(text)) letters.set(text, letters.size);
      return letterOf(letters.get(text));
    },
    list: (base) => (letters.size ? [h('dl', { class: 'footnotes' }, [...letters.keys()].map((text, i) => h('div', {}, h('dt', {}, letterOf(i)), h('dd', {}, text)))),
      h('p', { class: 'muted small' }, `Where a note speaks of two, the first is the column's system, the second ${base.label}.`)] : null),
  };
}

const ratioText = ({ ratio }) => `${number(ratio)}\u00d7`;
const intervalText = ({ interval }) => (interval ? `${number(interval[0])} ${DASH} ${number(interval[1])}` : '');

function valueCell({ entry, value }, notes, texts, which) {
  const marks = texts.map((text) => notes.mark(text));
  const cell = h('td', { class: `num${entry.doubtful ? ' doubtful' : ''}`, tabindex: 0 }, number(value, 4), entry.doubtful ? h('sup', {}, '~') : '',
    marks.length ? h('sup', {}, marks.join(' ')) : '', which ? h('span', { class: 'which muted' }, which) : '');
  return explain(cell, entry);
}

function answeredCells(pair, which, notes) {
  return [valueCell(pair, notes, pair.marks, which), h('td', { class: 'num ratio' }, ratioText(pair)), h('td', { class: 'num interval' }, intervalText(pair)),
    h('td', { class: 'answer' }, pair.answer)];
}

function refusedCells(pairs, notes) {
  const texts = unique(pairs.flatMap(({ refusals, marks }) => [...refusals, ...marks]));
  return [valueCell(pairs[0], notes, texts, pairs.length > 1 ? `and ${pairs.length - 1} more` : ''), h('td', { class: 'answer', colspan: 3 }, 'not compared')];
}

// What a row shows of one system: a line for each pair that was compared, one for all that were not.
function linesOf(pairs, notes) {
  const answered = pairs.filter(({ answer }) => answer), refused = pairs.filter(({ answer }) => !answer);
  const which = answered.length > 1 ? distinctions(answered.map(({ entry }) => entry)) : [];
  return [...answered.map((pair, i) => answeredCells(pair, which[i], notes)), ...(refused.length ? [refusedCells(refused, notes)] : [])];
}

// What tells the cells of the base apart, beside their network.
function tellingFields(rows) {
  return CONFIGURATION.filter((field) => field.column === 'always' ||
    (field.column !== 'never' && !VARIANT.includes(field) && new Set(rows.map(({ own }) => own.record[field.name])).size > 1));
}

const nothing = () => [h('td', { class: 'num absent' }, DASH), h('td', { colspan: 3 })];

function compareRow(row, others, { telling, units }, notes) {
  const lines = others.map((system) => linesOf(row.cells.get(system.key) || [], notes));
  const height = Math.max(...lines.map((own) => own.length));
  const { own, unit } = row;
  const { record } = own;
  const values = unique(allPairs(row).map(({ baseValue }) => number(baseValue, 4)));
  const rowspan = height > 1 ? height : undefined;
  const first = [h('th', { scope: 'row', rowspan }, own.network), h('td', { rowspan }, record.mode || ''),
    telling.map(({ name, number: isNumber }) => h('td', { class: isNumber ? 'num' : undefined, rowspan }, String(record[name] ?? ''))),
    explain(h('td', { class: `num${own.doubtful ? ' doubtful' : ''}`, tabindex: 0, rowspan }, values.join(' / '), own.doubtful ? h('sup', {}, '~') : ''), own),
    units.length > 1 ? h('td', { rowspan }, unit) : null];
  return Array.from({ length: height }, (_, i) => h('tr', {}, i ? null : first, lines.map((cells) => cells[i] || (i ? [h('td', { colspan: 4 })] : nothing()))));
}

function compareTable(base, others, rows, notes) {
  const units = unique(rows.map(({ unit }) => unit));
  const unit = units.length > 1 ? 'value' : units[0], telling = tellingFields(rows);
  const shownRows = compareWhole || printing ? rows : rows.slice(0, TABLE_ROWS);
  const heading = (name, number) => h('th', { scope: 'col', class: number ? 'num' : undefined }, name);
  const table = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison, scrollable' }, h('table', { class: 'data compare' },
    h('caption', {}, `How many times as fast as ${base.label}, with the 95 % interval; the answers are those of tacho compare`),
    h('thead', {},
      h('tr', {}, h('td', { colspan: 2 + telling.length }), h('th', { scope: 'col', class: 'num', colspan: units.length > 1 ? 2 : 1 }, swatch(base.key), base.label),
        others.map((system) => h('th', { scope: 'colgroup', colspan: 4, class: 'name' }, swatch(system.key), system.label))),
      h('tr', {}, heading('network'), heading('mode'), telling.map((field) => heading(field.header, field.number)), heading(unit, true),
        units.length > 1 ? heading('unit') : null,
        others.map(() => [heading(unit, true), heading('ratio', true), heading('interval', true), heading('answer')]))),
    h('tbody', {}, shownRows.map((row) => compareRow(row, others, { telling, units }, notes)))));
  const left = rows.length - shownRows.length;
  return [table, left > 0 ? h('button', { type: 'button', class: 'more', onclick: () => { compareWhole = true; redraw(); } }, `Show ${left} more`) : null];
}

function pairFigure(pair, base) {
  const differs = pair.marks.length ? `differs: ${pair.marks.join('; ')}` : '';
  const answer = pair.answer ? `${[ratioText(pair), intervalText(pair) && `(${intervalText(pair)})`].filter(Boolean).join(' ')} as fast as ${base.label}: ${pair.answer}` : `not compared: ${pair.refusals.join('; ')}`;
  return [answer, differs].filter(Boolean).join('. ');
}

// What the chart may show of a pair, and of the base's own cell in it; nothing where that does not apply.
const COMPARE_FIGURES = {
  ratio: { title: (base) => `times as fast as ${base.label}`, of: (pair) => pair.ratio, ofBase: () => undefined },
  ms: { title: () => 'ms per pass', of: ({ unit, value }) => (unit === 'ms' ? value : undefined), ofBase: ({ unit, baseValue }) => (unit === 'ms' ? baseValue : undefined) },
  rate: { title: () => 'images/s', of: ({ entry }) => entry.rate, ofBase: ({ own }) => own.rate },
};

function comparePoints(system, base, rows, figure) {
  const point = (value, y, more) => (value > 0 ? [{ x: log2(value), y, ...more }] : []);
  if (system === base) return rows.flatMap((row, y) => point(figure.ofBase(allPairs(row)[0]), y, { entry: row.own }));
  return rows.flatMap((row, y) => (row.cells.get(system.key) || []).flatMap((pair) =>
    point(figure.of(pair), y, { entry: pair.entry, figure: pairFigure(pair, base), interval: compareFigure === 'ratio' && pair.interval ? pair.interval.map(log2) : null })));
}

// The 95 % interval of a point as a line through it.
const pointIntervals = {
  id: 'pointIntervals',
  beforeDatasetsDraw(chart) {
    const { ctx, scales: { x, y } } = chart;
    ctx.save();
    ctx.lineWidth = 1.25;
    for (const { data, borderColor } of chart.data.datasets) {
      ctx.strokeStyle = borderColor;
      for (const point of data.filter(({ interval }) => interval)) {
        ctx.beginPath();
        ctx.moveTo(x.getPixelForValue(point.interval[0]), y.getPixelForValue(point.y));
        ctx.lineTo(x.getPixelForValue(point.interval[1]), y.getPixelForValue(point.y));
        ctx.stroke();
      }
    }
    ctx.restore();
  },
};

function compareChart(base, systems, allRows) {
  const figure = COMPARE_FIGURES[compareFigure];
  const drawable = inOrder(onePerNetwork(allRows)).filter((row) => allPairs(row).some((pair) => figure.of(pair) > 0));
  if (!drawable.length) return null;
  const rows = drawable.slice(0, CHART_ROWS);
  const title = figure.title(base);
  const datasets = systems.map((system) => {
    const data = comparePoints(system, base, rows, figure);
    return { data, ...pointColours(data, system.key), pointRadius: 5 };
  });
  const ends = datasets.flatMap(({ data }) => data.flatMap(({ x, interval }) => interval || [x]));
  const names = rows.map(({ own }) => `${own.network}, ${own.record.kind === 'train' ? 'training run' : own.record.mode}`);
  const drawn = rows.flatMap((row) => [row.own, ...allPairs(row).map(({ entry }) => entry)]);
  return chartFigure({
    title: title[0].toUpperCase() + title.slice(1), note: allRows.length > rows.length ? `One line a network and mode; the table has ${plural(allRows.length, 'cell')}.` : undefined,
    entries: drawn, height: 70 + 24 * rows.length, label: `${title} for ${plural(rows.length, 'cell')}: ${listed(systems.map((system) => system.label))}`,
    draw: (canvas) => drawChart(canvas, { type: 'scatter', data: { datasets }, plugins: compareFigure === 'ratio' ? [markedLine(0), pointIntervals] : [],
      options: { layout: { padding: { right: 12 } }, scales: {
        x: logAxis(`${title} (logarithmic)`, { suggestedMin: Math.min(...ends), suggestedMax: Math.max(...ends), grace: '6%' }),
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

// Published sets that have something in common with what is shown.
function compareOffers(systems) {
  const fitting = new Set(allSystems.filter((system) => systems.some((other) => areComparable(system, other))).map(({ key }) => key));
  return offers(latestEntries.filter((entry) => fitting.has(entry.key)));
}

function compareSection() {
  const systems = shownSystems();
  const more = compareOffers(systems), sources = sourceCards();
  const hint = 'Tick machines and published sets under "Systems" to set them side by side.';
  if (!systems.some((system) => systems.some((other) => areComparable(system, other)))) {
    return more || sources ? section('compare', 'Comparison', [h('p', { class: 'intro' }, hint), more, sources]) : null;
  }
  const base = baselineSystem(systems);
  const others = systems.filter((system) => areComparable(system, base));
  const apart = systems.filter((system) => system !== base && !others.includes(system));
  const rows = compareRows(base, others);
  const notes = footnotes();
  const drawn = rows.flatMap((row) => [row.own, ...allPairs(row).map(({ entry }) => entry)]);
  return section('compare', 'Comparison', [
    h('p', { class: 'intro' }, `${hint} Each cell is compared with the cell of ${base.label} that did the same work by the most similar means. A letter says where two are not defined alike, and why some are not compared.`),
    h('div', { class: 'controls' },
      segmented('Figure', [['ratio', 'Ratio'], ['ms', 'Time per pass'], ['rate', 'Images/s']], compareFigure, (value) => { compareFigure = value; redraw(); }),
      selector('Relative to', systems.map((system) => [system.key, system.label]), base.key, (value) => { baselineKey = value; compareWhole = false; redraw(); })),
    rows.length ? [legend(drawn), compareChart(base, [base, ...others], rows), compareTable(base, others, rows, notes), notes.list(base)]
      : h('p', { class: 'notice' }, `None of these has a network and mode in common with ${base.label}.`),
    rows.length && apart.length ? h('p', { class: 'muted small' }, `Nothing in common with ${base.label}: ${listed(apart.map((system) => system.label))}.`) : null,
    more, sources,
  ]);
}
