// Records into entries (a record with what the page derives from it) and systems (who they belong to). Which records
// are of one case, which of them is the latest and how two compare was decided where the page was made.

const page = JSON.parse(byId('data').textContent);
for (const record of page.records) Object.assign(record, { system: page.hosts[record.system] || {} }, page.sets[record.reference]);

// Failed, or a verdict that only a newer program knows.
const NO_FIGURE = { has: (verdict) => Boolean(verdict) && verdict !== 'valid' && verdict !== SIMULATED && !DOUBTFUL.has(verdict) };
const OVERSUBSCRIBED = 'oversubscribed', SIMULATED = 'simulated';
const DOUBTFUL = new Set(['noisy', OVERSUBSCRIBED]);
const QUIET_ENGINES = new Set(['null', 'reference']);  // they measure the harness, not the machine

const fieldsOf = (...roles) => page.fields.filter(({ role }) => roles.includes(role));
const CASE_FIELDS = fieldsOf('subject', 'work', 'means');
const CONFIGURATION = fieldsOf('work', 'means').sort((a, b) => Number(b.number) - Number(a.number));  // as people say it: sizes first
// How it was computed, where that was asked for in words: `--kernel winograd`. The engine is part of the system.
const VARIANT = fieldsOf('means').filter(({ name, column, number: isNumber }) => column !== 'never' && !isNumber && name !== 'engine');

const isGiven = (value) => value !== undefined && value !== '';

// Equal for records that differ in nothing that makes a case, but for these fields.
function caseWithout(record, ...names) {
  return JSON.stringify(CASE_FIELDS.filter(({ name }) => !names.includes(name)).map(({ name }) => record[name] ?? null));
}

// A field's value, or several of it, in words.
const SPOKEN = {
  batch: (text) => `batch ${text} per device`,
  devices: (text) => `${text} ${text === '1' ? 'device' : 'devices'}`,
  threads: (text) => `${text} ${text === '1' ? 'thread' : 'threads'}`,
  nodes: (text) => `${text} ${text === '1' ? 'node' : 'nodes'}`,
  bucket_mib: (text) => `buckets of ${text} MiB`,
  image: (text) => text, precision: (text) => text, engine: (text) => text, parallel: (text) => text,
};
const spoken = ({ name, header }, text) => (SPOKEN[name] ? SPOKEN[name](text) : `${header} ${text}`);

function phrases(record, fields) {
  return fields.filter(({ name }) => isGiven(record[name])).map((field) => spoken(field, String(record[field.name])));
}

const variantOf = (record) => phrases(record, VARIANT).join(', ');

// What a figure's entries have in common beside their network, as a phrase: "batch 16 per device, 1 device, f32".
function conditions(entries, ...without) {
  const asked = CONFIGURATION.filter((field) => field.column !== 'never' && field.name !== 'engine' && !VARIANT.includes(field) && !without.includes(field.name));
  return asked.map((field) => {
    const values = unique(entries.map(({ record }) => record[field.name]).filter(isGiven));
    if (!values.length || values.length > 6) return '';
    return spoken(field, typeof values[0] === 'number' ? span(values) : listed(values.map(String)));
  }).filter(Boolean).join(', ');
}

// In which of the things that make a case these entries differ from each other, for each in words.
function distinctions(entries) {
  const differing = CONFIGURATION.filter(({ name }) => new Set(entries.map(({ record }) => record[name])).size > 1);
  return entries.map(({ record }) => phrases(record, differing).join(', '));
}

// Images of one pass over all devices.
function imagesPerPass(record) {
  return record.batch_total || (record.batch || 0) * (record.devices || 1) || undefined;
}

// Time per pass, and how it came about: published sets often have a mean or a rate only.
function timeOf(record) {
  if (record.median_ms !== undefined) return { ms: record.median_ms, by: 'median' };
  if (record.mean_ms !== undefined) return { ms: record.mean_ms, by: 'mean' };
  const images = imagesPerPass(record);
  if (record.images_per_s && images && record.kind !== 'predict') {
    return { ms: 1000 * images / record.images_per_s, by: 'from images/s' };
  }
  return null;
}

function rateOf(record, time) {
  if (record.images_per_s !== undefined) return record.images_per_s;
  const images = imagesPerPass(record);
  return time && images ? 1000 * images / time.ms : undefined;
}

function makeSystems() {
  const systems = page.systems.map((system, i) => ({ ...system, key: String(i), name: system.name || 'unnamed',
    own: !system.set && system.machine === page.machine }));
  for (const system of systems) {
    const twins = systems.filter((other) => other.name === system.name && other.set === system.set);
    system.label = twins.length > 1 && system.engine ? `${system.name} ${DOT} ${system.engine}` : system.name;
  }
  return systems;
}

function makeEntries(systems) {
  return page.records.map((record, i) => {
    const [at, cell, latest, figures] = page.places[i];
    const system = systems[at];
    const time = NO_FIGURE.has(record.verdict) ? null : timeOf(record);
    return {
      record, system, key: system.key, machine: system.machine, set: system.set, cell, latest: latest === 1, figures,
      network: [record.model, variantOf(record)].filter(Boolean).join(', '),
      time, rate: time ? rateOf(record, time) : record.images_per_s, images: imagesPerPass(record),
      doubtful: DOUBTFUL.has(record.verdict), oversubscribed: record.verdict === OVERSUBSCRIBED, simulated: record.verdict === SIMULATED,
    };
  });
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

const systemsByPlace = makeSystems();
const allEntries = makeEntries(systemsByPlace);
// What was only computed is drawn where it is said to be, and never among what was measured.
const latestEntries = allEntries.filter((entry) => entry.latest && !entry.simulated);
const simulatedEntries = allEntries.filter((entry) => entry.latest && entry.simulated);
const allSystems = [...systemsByPlace].sort((a, b) => Number(!!a.set) - Number(!!b.set) || Number(b.own) - Number(a.own) ||
  a.set.localeCompare(b.set) || a.label.localeCompare(b.label));

const isPass = ({ record }) => record.kind === 'bench' || record.kind === undefined;
