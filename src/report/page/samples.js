// What lies behind a figure: its samples as a strip, their summary, and what was measured.

const STRIP = { width: 280, height: 52, pad: 8 };
const SHOWN_SAMPLES = 40;

function svg(tag, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Each pass a dot, its time across and its turn downwards, so that drift shows; the band is the 95 % interval.
function samplesStrip(record, colour) {
  const samples = record.samples_ms;
  const low = Math.min(...samples), high = Math.max(...samples);
  const { width, height, pad } = STRIP;
  const x = (ms) => (high > low ? pad + (ms - low) / (high - low) * (width - 2 * pad) : width / 2);
  const y = (turn) => (samples.length > 1 ? pad + turn / (samples.length - 1) * (height - 2 * pad) : height / 2);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'strip', role: 'img',
    'aria-label': `${samples.length} samples from ${number(low, 4)} to ${number(high, 4)} ms` });
  if (record.median_low_ms !== undefined) {
    const left = x(record.median_low_ms);
    picture.append(svg('rect', { x: left, y: 0, height, width: Math.max(1, x(record.median_high_ms) - left), class: 'band' }));
  }
  picture.append(svg('line', { x1: x(record.median_ms), x2: x(record.median_ms), y1: 0, y2: height, class: 'median' }));
  samples.forEach((ms, turn) => picture.append(svg('circle', { cx: x(ms), cy: y(turn), r: 2.2, fill: colour })));
  return picture;
}

function facts(rows) {
  return h('dl', { class: 'facts' }, rows.filter(([, value]) => value !== undefined && value !== '').map(([name, value]) =>
    [h('dt', {}, name), h('dd', {}, value)]));
}

function samplesSummary(record) {
  const samples = record.samples_ms || [];
  const interval = record.median_low_ms === undefined ? undefined
    : `${number(record.median_low_ms, 4)} ${DASH} ${number(record.median_high_ms, 4)} ms`;
  return facts([
    ['samples', samples.length || 'none kept'],
    ['median', record.median_ms === undefined ? undefined : `${number(record.median_ms, 4)} ms`],
    ['mean', record.median_ms === undefined && record.mean_ms !== undefined ? `${number(record.mean_ms, 4)} ms` : undefined],
    ['95 % interval', interval],
    ['min, max', samples.length ? `${number(Math.min(...samples), 4)}, ${number(Math.max(...samples), 4)} ms` : undefined],
    ['drift', record.drift_percent === undefined ? undefined : `${number(record.drift_percent, 2)} %`],
    ['outliers', record.outliers],
  ]);
}

function sampleValues(record, limit) {
  const samples = record.samples_ms || [];
  if (!samples.length) return null;
  const more = samples.length > limit ? ` \u2026 and ${samples.length - limit} more` : '';
  return h('p', { class: 'values' }, samples.slice(0, limit).map((ms) => number(ms, 4)).join('  ') + more, h('span', { class: 'muted' }, ' ms'));
}

function numbersOf(title, figures) {
  if (!figures || !Object.keys(figures).length) return null;
  return h('p', { class: 'remark' }, `${title}: `, Object.entries(figures).map(([name, value]) => `${name} ${number(value, 4)}`).join(', '));
}

function remarks(record) {
  return [
    record.verdict && record.verdict !== 'valid' ? h('p', { class: 'remark' }, verdictMark(record), record.reason ? ` ${record.reason}` : '') : null,
    record.known_error ? h('p', { class: 'remark warn' }, `Known error: ${record.known_error}`) : null,
    record.correction ? h('p', { class: 'remark' }, `Correction: ${record.correction}`) : null,
    numbersOf('Corrected', record.corrected), numbersOf('Extrapolated', record.extrapolated),
  ];
}

function verdictMark(record) {
  const verdict = record.verdict || '';
  return h('span', { class: `verdict ${verdict}` }, verdict.replace(/_/g, ' '));
}

// Of two trainings that differ in the seed alone, say, that must be seen; passes are told by what tables show.
function configuration(record) {
  return phrases(record, CONFIGURATION.filter(({ column }) => column !== 'never' || record.kind === 'train')).join(', ');
}

function tipContent(entry, figure) {
  const { record, time, rate } = entry;
  const samples = record.samples_ms || [];
  return [
    h('p', { class: 'tip-title' }, h('b', {}, [record.model, modeName(record.mode).toLowerCase()].filter(Boolean).join(' ')), ` ${DOT} ${entry.system.label}`),
    h('p', { class: 'muted' }, configuration(record), entry.set ? ` ${DOT} published in ${entry.set}` : ''),
    figure ? h('p', { class: 'tip-figure' }, figure) : null,
    facts([['time per pass', time && record.kind !== 'train' ? `${number(time.ms, 4)} ms (${time.by})` : undefined],
      ['images/s', rate === undefined ? undefined : number(rate)],
      ['GFLOP/s', record.gflops === undefined ? undefined : number(record.gflops) + (record.percent_of_peak ? ` (${number(record.percent_of_peak, 3)} % of peak)` : '')]]),
    samples.length > 1 ? samplesStrip(record, colourOf(entry.key)) : null,
    samplesSummary(record), partTimes(record), lostTime(record), sampleValues(record, SHOWN_SAMPLES), remarks(record),
  ];
}

let tipEntry = null, tipFigure = null;

// Beside the pointer, or where there is no room, on its other side.
function showTip(entry, x, y, figure) {
  const tip = byId('tip');
  if (tipEntry !== entry || tipFigure !== figure || tip.hidden) {
    tip.replaceChildren(...tipContent(entry, figure).flat().filter(Boolean));
    tip.hidden = false;
    [tipEntry, tipFigure] = [entry, figure];
  }
  const gap = 14, { offsetWidth: width, offsetHeight: height } = tip;
  const left = x + gap + width < innerWidth ? x + gap : Math.max(8, x - gap - width);
  const top = Math.max(8, Math.min(y + gap, innerHeight - height - 8));
  tip.style.left = `${Math.min(left, Math.max(8, innerWidth - width - 8))}px`;
  tip.style.top = `${top}px`;
}

function hideTip() {
  byId('tip').hidden = true;
  tipEntry = null;
}

// Shows the samples while the pointer or the focus is on an element.
function explain(element, entry, figure) {
  element.addEventListener('mousemove', (event) => showTip(entry, event.clientX, event.clientY, figure));
  element.addEventListener('mouseleave', hideTip);
  element.addEventListener('focus', () => {
    const box = element.getBoundingClientRect();
    if (element.matches(':focus-visible')) showTip(entry, Math.min(box.right, innerWidth / 2), box.bottom, figure);
  });
  element.addEventListener('blur', hideTip);
  return element;
}
