// Time of a pass for every number of devices and total batch, as a table whose shade is the time.

function gridGroups(entries) {
  const usable = entries.filter((entry) => isPass(entry) && entry.record.devices && entry.images && (entry.time || NO_FIGURE.has(entry.record.verdict)));
  return groupsOverDevices(usable).filter((group) => crossedTotals(group).length > 1);
}

// A batch measured on one number of devices only belongs to the batch curves.
function crossedTotals(group) {
  const byTotal = groupBy(group, (entry) => entry.images);
  return [...byTotal].filter(([, entries]) => devicesOf(entries) > 1).map(([total]) => total).sort((a, b) => a - b);
}

// 0 for the fastest cell, 1 for the slowest, even steps for even ratios.
function shadeOf(entries) {
  const times = entries.filter((entry) => entry.time).map((entry) => log2(entry.time.ms));
  const low = Math.min(...times), high = Math.max(...times);
  return (entry) => (high > low ? (log2(entry.time.ms) - low) / (high - low) : 0);
}

function heatCell(entry, shade) {
  if (!entry) return h('td', { class: 'empty' }, h('span', { class: 'visually-hidden' }, 'not measured'));
  if (!entry.time) return explain(h('td', { class: 'none', tabindex: 0 }, entry.record.verdict === 'out_of_memory' ? 'OOM' : 'failed'), entry);
  const depth = shade(entry);
  const cell = h('td', { tabindex: 0, class: `${depth > (theme() === 'dark' ? 0.65 : 0.72) ? 'deep' : 'pale'}${entry.doubtful ? ' doubtful' : ''}`,
    style: { '--depth': `${Math.round(6 + 82 * depth)}%` } }, number(entry.time.ms), entry.doubtful ? h('sup', {}, '~') : '');
  return explain(cell, entry);
}

function heatFigure(group) {
  const { record, system } = group[group.length - 1];
  const totals = crossedTotals(group);
  const devices = unique(group.map((entry) => entry.record.devices)).sort((a, b) => a - b);
  const shade = shadeOf(group);
  const at = (count, total) => group.filter((entry) => entry.record.devices === count && entry.images === total)
    .sort((a, b) => (b.record.time || '').localeCompare(a.record.time || ''))[0];
  const title = [record.model, modeName(record.mode).toLowerCase(), record.precision, isScattered({ record }) ? 'scattered batch' : ''].filter(Boolean).join(', ');
  const table = h('table', { class: 'heat' },
    h('caption', { class: 'visually-hidden' }, `${title} on ${system.label}: ms per pass by devices and total batch`),
    h('thead', {}, h('tr', {}, h('td', { class: 'corner' }), h('th', { class: 'over', scope: 'colgroup', colspan: totals.length }, 'total batch, images')),
      h('tr', {}, h('th', { scope: 'col' }, 'devices'), totals.map((total) => h('th', { scope: 'col' }, String(total))))),
    h('tbody', {}, devices.map((count) => h('tr', {}, h('th', { scope: 'row' }, String(count)),
      totals.map((total) => heatCell(at(count, total), shade))))));
  return h('figure', { class: 'chart' },
    h('figcaption', {}, h('h3', {}, title), h('p', { class: 'muted' }, swatch(group[0].key), [`${system.label}${system.set ? ` ${DOT} ${system.set}` : ''}`, variantOf(record), 'ms per pass'].filter(Boolean).join(', '))),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${title}, scrollable` }, table),
    group.some((entry) => entry.doubtful) ? h('p', { class: 'muted small' }, '~ noisy or oversubscribed') : null, commandsOf(group));
}

function gridSection() {
  const groups = gridGroups(shownEntries());
  if (!groups.length) return null;
  return section('grid', 'Grid of devices and batch', [
    h('p', { class: 'intro' }, 'Time of one pass for every number of devices and total batch. The stronger the shade, the slower; equal steps of shade are equal ratios.',
      groups.flat().some(hasDeviceTimes) ? ' Point at a cell to see where its time went.' : ''),
    h('div', { class: 'grids' }, groups.map(heatFigure)), offers(gridGroups(latestEntries).flat()),
  ]);
}
