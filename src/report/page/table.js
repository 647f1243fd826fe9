// Every result, sortable by each column.

const PAGE_ROWS = 60;
let tableSort = { name: 'time', down: true };
let tableScope = 'shown';
let tableFilter = '';
let tableRows = PAGE_ROWS;

// Beside the verdict, or where a row is pointed at or opened.
const ELSEWHERE = new Set(['reason', 'known_error', 'correction', 'lost_ms', HIDDEN_TOO.field, ...PARTS.map(({ field }) => field)]);
const ON_PAPER = new Set(['threads', 'median_ms', 'mean_ms', 'images_per_s', 'gflops', 'peak_memory_mib', 'verdict']);

// Columns that say more than their field's value.
const DRAWN = {
  median_ms: { text: ({ record }) => withDeviation(record.median_ms, record.mad_ms) },
  mean_ms: { value: ({ record }) => (record.median_ms === undefined ? record.mean_ms : undefined), text: ({ record }) => (record.median_ms === undefined ? number(record.mean_ms, 4) : '') },
  verdict: { cell: verdictCell },
};

// `when`: 'always', or only where values are 'present' or 'differing'. Not all fit on paper.
function fieldColumn({ name, header, role, column, number: isNumber }) {
  return { name, title: header, number: isNumber, exact: role !== 'figure', when: column === 'never' ? 'differing' : column,
    paper: role === 'subject' || role === 'work' || ON_PAPER.has(name), value: (entry) => entry.record[name], ...DRAWN[name] };
}

const COLUMNS = [
  { name: 'system', title: 'system', value: (entry) => entry.system.label, when: 'always', paper: true },
  ...page.fields.filter(({ name, role, column }) => (role === 'subject' || column !== 'never') && role !== 'protocol' && !ELSEWHERE.has(name)).map(fieldColumn),
  { name: 'time', title: 'measured', value: (entry) => entry.record.time, text: (entry) => day(entry.record.time), when: 'always', paper: false },
];

function verdictCell({ record }) {
  return [verdictMark(record), record.reason ? h('span', { class: 'reason' }, record.reason) : null,
    record.known_error ? h('span', { class: 'reason warn' }, 'known error') : null];
}

function columnsFor(entries) {
  return COLUMNS.filter(({ when, value, paper }) => {
    if (printing && !paper) return false;
    if (when === 'always') return true;
    const values = new Set(entries.map(value));
    return when === 'present' ? [...values].some(isGiven) : values.size > 1;
  });
}

function matches(words) {
  return (entry) => {
    const { record } = entry;
    entry.words = entry.words || [entry.system.label, entry.set, ...CASE_FIELDS.filter(({ name }) => isGiven(record[name])).map(({ name, header }) => `${header} ${record[name]}`),
      record.verdict, record.reason, record.id, record.command, record.time].filter(Boolean).join(' ').toLowerCase();
    return words.every((word) => entry.words.includes(word));
  };
}

// Absent values come last whichever way the column is sorted.
function sorted(entries) {
  const { value } = COLUMNS.find(({ name }) => name === tableSort.name);
  const sign = tableSort.down ? -1 : 1;
  return [...entries].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return sign * (typeof left === 'number' ? left - right : String(left).localeCompare(String(right), 'en', { numeric: true }));
  });
}

function headerCell(column, changed) {
  const active = tableSort.name === column.name;
  const choose = () => {
    tableSort = { name: column.name, down: active ? !tableSort.down : !!column.number };
    changed(column.name);
  };
  return h('th', { scope: 'col', class: column.number ? 'num' : undefined, 'aria-sort': active ? (tableSort.down ? 'descending' : 'ascending') : 'none' },
    h('button', { type: 'button', 'data-sort': column.name, onclick: choose }, column.title));
}

function bodyCell(column, entry) {
  const attributes = { class: column.number ? 'num' : column.name };
  if (column.cell) return h('td', attributes, column.cell(entry));
  if (column.text) return h('td', attributes, column.text(entry));
  const value = column.value(entry);
  const text = typeof value === 'number' && !column.exact ? number(value) : String(value ?? '');
  return h('td', attributes, text, column.name === 'system' && entry.set ? h('span', { class: 'muted set-name' }, entry.set) : '');
}

// A row opens to the whole record.
function resultRow(entry, columns) {
  const open = h('button', { type: 'button', class: 'open', 'aria-expanded': 'false', 'aria-label': `Details of ${entry.record.model} ${entry.record.mode || ''}` });
  const row = h('tr', { class: entry.doubtful ? 'doubtful' : NO_FIGURE.has(entry.record.verdict) ? 'none' : undefined },
    h('td', { class: 'opener' }, open), columns.map((column) => bodyCell(column, entry)));
  open.addEventListener('click', () => {
    const opened = open.getAttribute('aria-expanded') === 'true';
    open.setAttribute('aria-expanded', String(!opened));
    if (opened) row.nextElementSibling.remove();
    else row.after(h('tr', { class: 'details' }, h('td', { colspan: columns.length + 1 }, resultDetails(entry))));
    hideTip();
  });
  return explain(row, entry);
}

const SUMMARISED = new Set(['samples_ms', 'epochs', 'ranks', 'buckets', 'lost_ms', 'phase_memory_mib', 'slices', 'system', 'command', 'verdict', 'reason', 'known_error', 'correction', 'corrected', 'extrapolated', 'source', 'protocol']);

function repetitions(entry) {
  const times = allEntries.filter(({ cell }) => cell === entry.cell).length;
  return times > 1 ? `${times} times; this is ${entry.latest ? '' : 'not '}the latest` : undefined;
}

function resultDetails(entry) {
  const { record } = entry;
  const plain = Object.entries(record).filter(([name, value]) => !SUMMARISED.has(name) && value !== '')
    .map(([name, value]) => [name, typeof value === 'number' && !Number.isInteger(value) ? number(value, 5) : Array.isArray(value) ? value.join(', ') : String(value)]);
  const hasSamples = (record.samples_ms || []).length > 1;
  return h('div', { class: 'detail' },
    hasSamples ? h('div', {}, samplesStrip(record, colourOf(entry.key)), samplesSummary(record)) : null,
    h('div', { class: hasSamples ? 'fields' : 'fields wide' }, facts([['measured', repetitions(entry)], ...plain])),
    h('div', { class: 'wide' }, sampleValues(record, Infinity), lostTime(record), bucketList(record), ranksTable(record),
      numbersOf('Memory by phase, MiB', record.phase_memory_mib), remarks(record),
      record.source ? h('p', { class: 'remark' }, 'Source: ', linked(record.source)) : null,
      record.protocol ? h('p', { class: 'remark' }, `Protocol: ${record.protocol}`) : null,
      record.command ? commandLine(record.command) : null));
}

function fillTable(holder) {
  const words = tableFilter.toLowerCase().split(/\s+/).filter(Boolean);
  const scope = tableScope === 'all' ? allEntries : allEntries.filter(isShown);
  const columns = columnsFor(scope);
  const entries = sorted(scope.filter(matches(words)));
  const visible = entries.slice(0, tableRows);
  const again = (sortedBy) => {
    fillTable(holder);
    if (sortedBy) holder.querySelector(`[data-sort="${sortedBy}"]`)?.focus();
  };
  const left = entries.length - visible.length;
  const rows = h('tbody', {}, visible.map((entry) => resultRow(entry, columns)));
  holder.replaceChildren(
    h('div', { class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'All results, scrollable' }, h('table', { class: 'data results' },
      h('caption', {}, `${entries.length === scope.length ? plural(scope.length, 'result') : `${entries.length} of ${plural(scope.length, 'result')}`}; a header sorts, a row opens`),
      h('thead', {}, h('tr', {}, h('td', { class: 'opener' }), columns.map((column) => headerCell(column, again)))), rows)),
    left > 0 ? h('button', { type: 'button', class: 'more', onclick: () => { tableRows += 10 * PAGE_ROWS; again(); } }, `Show ${Math.min(left, 10 * PAGE_ROWS)} more of ${left}`) : '',
    left > 0 ? h('p', { class: 'on-paper muted' }, `The page itself holds ${plural(left, 'more result')}.`) : '');
}

function tableSection() {
  if (!allEntries.length) return null;
  const holder = h('div', { id: 'results' });
  const count = allEntries.filter(isShown).length;
  const filter = h('input', { type: 'search', id: 'results-filter', placeholder: 'Filter: resnet train noisy', value: tableFilter, autocomplete: 'off',
    oninput: (event) => { tableFilter = event.target.value; tableRows = PAGE_ROWS; fillTable(holder); } });
  fillTable(holder);
  return section('all', 'All results', [
    h('p', { class: 'intro' }, 'Every result that was kept, also where a cell was measured again.'),
    h('div', { class: 'controls' },
      allEntries.length > count ? segmented('Scope', [['shown', `Shown systems, ${count}`], ['all', `Everything, ${allEntries.length}`]], tableScope,
        (value) => { tableScope = value; tableRows = PAGE_ROWS; redraw(); }) : null,
      h('label', { class: 'filter' }, h('span', { class: 'visually-hidden' }, 'Filter the results'), filter)),
    holder,
    h('div', { class: 'commands' }, commandLine('tacho results list')),
  ]);
}
