// Where the time of a pass went on its devices: the parts of the record, and of each rank.

// They add up to the pass. The last is the place of their colour in the palette.
const PARTS = [
  { name: 'scatter', field: 'scatter_ms', colour: 2 },
  { name: 'forward', field: 'forward_ms', colour: 0 },
  { name: 'backward', field: 'backward_ms', colour: 5 },
  { name: 'exposed all-reduce', field: 'exposed_allreduce_ms', colour: 1 },
  { name: 'wait', field: 'wait_ms', colour: 4 },
  { name: 'update', field: 'update_ms', colour: 6 },
  { name: 'gather', field: 'gather_ms', colour: 3 },
];
const HIDDEN_TOO = { name: 'all-reduce, hidden included', field: 'allreduce_ms' };
const COLOUR_OF_OTHER_PARTS = 7;

// What only passes on several devices have.
const ONLY_OF_SEVERAL = PARTS.filter(({ name }) => !['forward', 'backward', 'update'].includes(name));

const hasDeviceTimes = ({ record }) => record.devices > 1 && ONLY_OF_SEVERAL.some(({ field }) => record[field] !== undefined);

const partsIn = (times, parts = PARTS) => parts.filter(({ field }) => times[field] !== undefined);

function partTimes(record) {
  return facts([...partsIn(record, [...PARTS, HIDDEN_TOO]).map(({ name, field }) => [name, `${number(record[field])} ms`]),
    ['moved between devices', record.bytes_moved === undefined ? undefined : memory(record.bytes_moved / 2 ** 20)],
    ['slowest device', slowestRank(record)]]);
}

const computing = (times) => (times.forward_ms || 0) + (times.backward_ms || 0);

function slowestRank(record) {
  const ranks = (record.ranks || []).filter(computing);
  if (ranks.length < 2) return undefined;
  const mean = ranks.reduce((sum, times) => sum + computing(times), 0) / ranks.length;
  const slowest = ranks.reduce((a, b) => (computing(b) > computing(a) ? b : a));
  return `rank ${slowest.rank}${slowest.host ? ` on ${slowest.host}` : ''}, computes ${number(computing(slowest))} ms, all ${number(mean)} on average`;
}

function lostTime(record) {
  const parts = Object.entries(record.lost_ms || {}).sort((a, b) => b[1] - a[1]);
  return parts.length ? h('p', { class: 'remark' }, `Longer than on one device by ${parts.map(([name, ms]) => `${name} ${number(ms, 3)}`).join(', ')} ms`) : null;
}

function ranksTable(record) {
  const { ranks = [] } = record;
  if (ranks.length < 2) return null;
  const parts = [...PARTS, HIDDEN_TOO].filter((part) => ranks.some((times) => partsIn(times, [part]).length));
  const hosts = ranks.some(({ host }) => host);
  const head = (text, isNumber) => h('th', { scope: 'col', class: isNumber ? 'num' : undefined }, text);
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Rank by rank, scrollable' }, h('table', { class: 'data ranks' },
    h('caption', {}, `${plural(ranks.length, 'device')}, means over the middle passes, ms`),
    h('thead', {}, h('tr', {}, head('rank', true), hosts ? head('host') : null, parts.map(({ name }) => head(name, true)))),
    h('tbody', {}, ranks.map((times) => h('tr', {}, h('td', { class: 'num' }, String(times.rank ?? 0)), hosts ? h('td', {}, times.host || '') : null,
      parts.map(({ field }) => h('td', { class: 'num' }, number(times[field]))))))));
}

function bucketList(record) {
  const { buckets = [] } = record;
  if (!buckets.length) return null;
  return h('p', { class: 'remark' }, `${plural(buckets.length, 'bucket')} of gradients: `,
    buckets.map(({ bytes, ready_ms: ready }) => `${memory(bytes / 2 ** 20)} ready after ${number(ready)} ms`).join(', '));
}
