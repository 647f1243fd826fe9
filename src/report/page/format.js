// Numbers and texts as the reader sees them.

const MODES = { train: 'Training', infer: 'Inference' };
const MINUS = '\u2212', THIN = '\u202f', DASH = '\u2013', DOT = '\u00b7';

const modeName = (mode) => MODES[mode] || mode || '';

// As the program prints it: where it lies just between two, the even last digit.
function fixed(value, decimals) {
  const rounded = value.toFixed(decimals), [whole, fraction] = value.toFixed(100).split('.');
  const isBetween = /^50*$/.test(fraction.slice(decimals)), isOdd = Number(rounded.slice(-1)) % 2 === 1;
  return isBetween && isOdd ? [whole, fraction.slice(0, decimals)].filter(Boolean).join('.') : rounded;
}

// `digits` significant digits, but never fewer than the whole part has; thousands are set apart. The same digits as in
// the program's tables.
function number(value, digits = 3) {
  if (value === undefined || value === null || !Number.isFinite(value)) return '';
  if (value === 0) return '0';
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(9, Math.max(0, digits - 1 - magnitude));
  const [whole, fraction] = fixed(Math.abs(value), decimals).split('.');
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return (value < 0 ? MINUS : '') + grouped + (fraction ? '.' + fraction : '');
}

// A time with its deviation, both to the same decimals.
function withDeviation(value, deviation) {
  if (value === undefined) return '';
  if (!deviation) return number(value, 4);
  const decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return `${number(value, 4)} ± ${deviation.toFixed(decimals)}`;
}

// A tick of an axis: no more digits than it needs.
function tick(value) {
  return Number.isInteger(value) ? number(value, 1) : String(Number(value.toPrecision(4)));
}

function memory(mib) {
  return mib >= 1024 ? `${number(mib / 1024, 3)} GiB` : `${number(mib, 3)} MiB`;
}

function day(time) {
  return (time || '').replace('T', ' ').replace(/:\d\d(\.\d+)?Z$/, ' UTC');
}

function plural(count, one, many = one + 's') {
  return `${count} ${count === 1 ? one : many}`;
}

// "a, b and c"
function listed(words) {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

// Values in increasing order: "16", "1-8" or "1, 2 and 16".
function span(values) {
  const sorted = unique(values.filter((v) => v !== undefined)).sort((a, b) => a - b);
  if (sorted.length > 3) return `${sorted[0]}${DASH}${sorted[sorted.length - 1]}`;
  return listed(sorted.map(String));
}

function unique(values) {
  return [...new Set(values)];
}

// Orders two lists of numbers by the first in which they differ.
function firstDifference(a, b) {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at] - b[at];
}
