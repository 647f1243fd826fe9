// The machines, as a data sheet.

function best(entries, value) {
  const usable = entries.filter((entry) => value(entry) !== undefined && value(entry) !== null && !entry.doubtful && !entry.simulated);
  return usable.reduce((top, entry) => (!top || value(entry) > value(top) ? entry : top), null);
}

function readout(title, value, unit, note) {
  return value ? h('div', { class: 'readout' }, h('dt', {}, title), h('dd', {}, h('b', {}, value), h('span', { class: 'unit' }, unit),
    note ? h('span', { class: 'muted note' }, note) : null)) : null;
}

function bestReadouts(entries) {
  const passes = entries.filter((entry) => isPass(entry) && entry.time && !QUIET_ENGINES.has(entry.record.engine));
  const of = (mode) => passes.filter(({ record }) => record.mode === mode);
  const what = ({ network, record }) => `${network}, batch ${record.batch}`;
  const training = best(of('train'), (entry) => entry.rate);
  const inference = best(of('infer'), (entry) => entry.rate);
  const share = best(passes, (entry) => entry.record.percent_of_peak);
  return [
    training && readout('Best training', number(training.rate), 'images/s', what(training)),
    inference && readout('Best inference', number(inference.rate), 'images/s', what(inference)),
    share && readout('Best share of peak', number(share.record.percent_of_peak), '%', `${what(share)}, ${modeName(share.record.mode).toLowerCase()}`),
  ];
}

function speedReadouts(system) {
  const speeds = [...(system.speeds || [])].sort((a, b) => b.threads - a.threads);
  if (!speeds.length) return [];
  const [all, ...rest] = speeds;
  const one = rest.length ? rest[rest.length - 1] : null;
  const note = (field) => (one ? `${plural(all.threads, 'thread')}; ${number(one[field])} on ${one.threads}` : plural(all.threads, 'thread'));
  return [readout('Multiply-add peak', number(all.fma_gflops), 'GFLOP/s', note('fma_gflops')),
    readout('Memory bandwidth', number(all.bandwidth_gbs), 'GB/s', note('bandwidth_gbs'))];
}

function versions(entries) {
  return entries ? Object.entries(entries).map(([name, version]) => (version ? `${name} ${version}` : name)).join(', ') : '';
}

function machineSheet(machine, entries) {
  const newest = entries.reduce((a, b) => ((a.record.time || '') > (b.record.time || '') ? a : b)).record.system;
  const system = entries.reduce((merged, { record }) => ({ ...record.system, ...merged }), { ...newest });
  const build = [system.version, system.commit && `commit ${system.commit}`, system.build_type].filter(Boolean).join(', ');
  const rows = [['CPU', system.cpu], ['Usable cores', system.cores || ''], ['Memory', system.memory_mib ? memory(system.memory_mib) : ''],
    ['Operating system', system.os], ['Instruction set', system.instruction_set], ['Governor', system.governor],
    ['tacho', build], ['Compiler', system.compiler], ['Engines', versions(system.engines)], ['Libraries', versions(system.libraries)]];
  const times = entries.map(({ record }) => record.time).filter(Boolean).sort();
  const days = unique([times[0], times[times.length - 1]].filter(Boolean).map((time) => time.slice(0, 10)));
  return h('article', { class: 'machine' },
    h('h2', {}, system.name || 'unnamed machine', machine === page.machine ? h('span', { class: 'tag' }, 'this machine') : null),
    h('p', { class: 'muted' }, `${plural(entries.length, 'result')} of ${days.join(' to ')}`),
    h('dl', { class: 'readouts' }, speedReadouts(system), bestReadouts(entries.filter((entry) => entry.latest))),
    h('dl', { class: 'sheet' }, rows.filter(([, value]) => value).map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value))))),
    (system.warnings || []).length ? h('ul', { class: 'warnings', 'aria-label': 'Warnings' }, system.warnings.map((text) => h('li', {}, text))) : null);
}

function summarySection() {
  const machines = groupBy(allEntries.filter((entry) => !entry.set), (entry) => entry.machine);
  const order = [...machines.keys()].sort((a, b) => Number(b === page.machine) - Number(a === page.machine));
  const references = new Set(allEntries.filter((entry) => entry.set).map((entry) => entry.set)).size;
  const counts = [plural(machines.size, 'machine'), plural(allEntries.filter((entry) => !entry.set).length, 'result'),
    references ? plural(references, 'published set') : ''].filter(Boolean);
  return h('header', { class: 'masthead' },
    h('h1', {}, 'Deep learning on ', listed(order.length && order.length < 4 ? order.map((key) => machines.get(key)[0].record.system.name || 'unnamed') : [plural(order.length, 'machine')])),
    h('p', { class: 'lead muted' }, `${listed(counts)}. Made ${day(page.generated)} by tacho ${page.version}. Point at any figure to see its samples.`),
    order.map((key) => machineSheet(key, machines.get(key))));
}
