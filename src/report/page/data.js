// Records into entries (a record with what the page derives from it) and systems (who they belong to).

const page = JSON.parse(byId('data').textContent);
for (const record of page.records) Object.assign(record, page.sets[record.reference]);

// Failed, or a verdict that only a newer program knows.
const NO_FIGURE = { has: (verdict) => Boolean(verdict) && verdict !== 'valid' && !DOUBTFUL.has(verdict) };
const DOUBTFUL = new Set(['noisy', 'oversubscribed']);
const QUIET_ENGINES = new Set(['null', 'reference']);  // they measure the harness, not the machine

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

// Where an older record has no machine_id, its machine's name must do.
function machineKeys(records) {
  const byName = new Map();
  for (const { system, reference } of records) {
    if (!reference && system.machine_id) byName.set(system.name, system.machine_id);
  }
  return (record) => record.system.machine_id || byName.get(record.system.name) || record.system.name || '';
}

function systemKey(record, machineOf) {
  const owner = record.reference ? `set:${record.reference}:${record.system.name || ''}` : `machine:${machineOf(record)}:${record.system.name || ''}`;
  return `${owner}:${record.engine || ''}`;
}

function makeEntries(records) {
  const machineOf = machineKeys(records);
  return records.map((record) => {
    record.system = record.system || {};
    const time = NO_FIGURE.has(record.verdict) ? null : timeOf(record);
    return {
      record, time, rate: time ? rateOf(record, time) : record.images_per_s, key: systemKey(record, machineOf),
      machine: record.reference ? '' : machineOf(record), set: record.reference || '',
      doubtful: DOUBTFUL.has(record.verdict), images: imagesPerPass(record),
    };
  });
}

function makeSystems(entries) {
  const systems = new Map();
  for (const entry of entries) {
    const { record } = entry;
    if (!systems.has(entry.key)) {
      systems.set(entry.key, { key: entry.key, name: record.system.name || 'unnamed', engine: record.engine || '',
        set: entry.set, machine: entry.machine, entries: [] });
    }
    entry.system = systems.get(entry.key);
    entry.system.entries.push(entry);
  }
  const all = [...systems.values()];
  for (const system of all) {
    const twins = all.filter((other) => other.name === system.name && other.set === system.set);
    system.label = twins.length > 1 && system.engine ? `${system.name} ${DOT} ${system.engine}` : system.name;
    system.own = !system.set && system.machine === page.machine;
  }
  return all.sort((a, b) => Number(!!a.set) - Number(!!b.set) || Number(b.own) - Number(a.own) ||
    a.set.localeCompare(b.set) || a.label.localeCompare(b.label));
}

const CELL = ['kind', 'model', 'mode', 'precision', 'image', 'batch', 'batch_total', 'devices', 'threads', 'classes'];

// Of a cell measured several times the latest counts.
function latest(entries) {
  const cells = new Map();
  for (const entry of entries) {
    const cell = JSON.stringify([entry.key, ...CELL.map((field) => entry.record[field])]);
    const other = cells.get(cell);
    if (!other || (entry.record.time || '') >= (other.record.time || '')) cells.set(cell, entry);
  }
  return [...cells.values()];
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

const allEntries = makeEntries(page.records);
const allSystems = makeSystems(allEntries);
const latestEntries = latest(allEntries);

const isPass = ({ record }) => record.kind === 'bench' || record.kind === undefined;

// What a figure's entries have in common, as a phrase: "batch 16 per device, 1 device, 2 threads, f32".
function conditions(entries, fields = ['batch', 'image', 'devices', 'threads', 'precision']) {
  const phrases = [];
  for (const field of fields) {
    const values = unique(entries.map(({ record }) => record[field]).filter((value) => value !== undefined && value !== ''));
    if (!values.length || values.length > 6) continue;
    const text = typeof values[0] === 'number' ? span(values) : listed(values.map(String));
    if (field === 'batch') phrases.push(`batch ${text} per device`);
    else if (field === 'devices' || field === 'threads') phrases.push(`${text} ${text === '1' ? field.slice(0, -1) : field}`);
    else phrases.push(text);
  }
  return phrases.join(', ');
}
