// Which systems are shown, and in which colour: one colour and one point style a system, all over the page.

// After Okabe and Ito: distinguishable with every common kind of colour blindness.
const PALETTE = {
  light: ['#0067a5', '#d55e00', '#00875f', '#b0508c', '#b97f00', '#3d9fd6', '#5b5b5b', '#7a4b1e'],
  dark: ['#5aaee8', '#f28c4b', '#41c9a0', '#e29ac5', '#efb84a', '#a6d8f5', '#bdbdbd', '#c99a6b'],
};
const POINTS = ['circle', 'rect', 'triangle', 'rectRot', 'circle', 'rect', 'triangle', 'rectRot'];

const shown = new Map();  // key -> colour slot

function show(system) {
  if (shown.has(system.key)) return;
  const taken = new Set(shown.values());
  let slot = 0;
  while (taken.has(slot)) ++slot;
  shown.set(system.key, slot);
}

const isShown = (entry) => shown.has(entry.key);
const shownSystems = () => allSystems.filter((system) => shown.has(system.key));
const shownEntries = () => latestEntries.filter(isShown);

function slotOf(key) {
  return (shown.get(key) || 0) % PALETTE.light.length;
}
const colourOf = (key) => PALETTE[theme()][slotOf(key)];
const pointOf = (key) => POINTS[slotOf(key)];

function showAtFirst() {
  const measured = allSystems.filter((system) => !system.set);
  const first = measured.filter((system) => !QUIET_ENGINES.has(system.engine));
  (first.length ? first : measured).forEach(show);
  allSystems.filter((system) => system.beside).forEach(show);
}

function swatch(key) {
  return h('span', { class: `swatch ${pointOf(key)}`, style: { '--colour': colourOf(key) }, 'aria-hidden': 'true' });
}

// One legend for a section: its systems, and what solid, dashed and hollow mean in it.
function legend(entries, extras = []) {
  const keys = unique(entries.map((entry) => entry.key));
  const items = allSystems.filter((system) => keys.includes(system.key)).map((system) =>
    h('li', {}, swatch(system.key), system.label, system.set ? h('span', { class: 'muted' }, ` ${system.set}`) : ''));
  const doubts = unique(entries.filter((entry) => entry.doubtful).map(({ record }) => record.verdict)).sort();
  if (doubts.length) extras = [...extras, ['hollow', doubts.join(' or ')]];
  return h('ul', { class: 'legend' }, items,
    extras.map(([kind, text]) => h('li', {}, h('span', { class: `key ${kind}`, 'aria-hidden': 'true' }), text)));
}

// Checkboxes: the machines measured, then each published set with its systems.
function fillPicker(changed) {
  const groups = groupBy(allSystems, (system) => system.set);
  byId('picker-list').replaceChildren(...[...groups].map(([set, systems]) => pickerGroup(set, systems, changed)));
  byId('picker-filter').addEventListener('input', filterPicker);
  showPickedCount();
}

function pickerGroup(set, systems, changed) {
  const boxes = systems.map((system) => pickerBox(system, changed));
  if (!set) return h('fieldset', {}, h('legend', {}, 'Measured'), boxes);
  const all = h('input', { type: 'checkbox', 'aria-label': `All systems of ${set}` });
  all.addEventListener('change', () => {
    systems.forEach((system) => (all.checked ? show(system) : shown.delete(system.key)));
    syncPicker();
    changed();
  });
  return h('details', { class: 'set' }, h('summary', {}, h('span', {}, set), h('span', { class: 'muted' }, ` ${systems.length}`)),
    systems.length > 1 ? h('label', { class: 'all muted' }, all, h('span', {}, 'all of them')) : null, boxes);
}

function pickerBox(system, changed) {
  const box = h('input', { type: 'checkbox', value: system.key });
  box.checked = shown.has(system.key);
  box.addEventListener('change', () => {
    if (box.checked) show(system); else shown.delete(system.key);
    syncPicker();
    changed();
  });
  return h('label', { 'data-text': `${system.set} ${system.label}`.toLowerCase() }, box, h('span', {}, system.label));
}

function filterPicker() {
  const words = byId('picker-filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const label of byId('picker-list').querySelectorAll('label[data-text]')) {
    label.hidden = !words.every((word) => label.dataset.text.includes(word));
  }
  for (const group of byId('picker-list').children) {
    const any = !!group.querySelector('label[data-text]:not([hidden])');
    group.hidden = !any;
    if (group.tagName === 'DETAILS') group.open = any && words.length > 0;
  }
}

function syncPicker() {
  for (const box of byId('picker-list').querySelectorAll('input[value]')) box.checked = shown.has(box.value);
  for (const group of byId('picker-list').querySelectorAll('details')) {
    const boxes = [...group.querySelectorAll('label[data-text] input')];
    const all = group.querySelector('.all input');
    if (!all) continue;
    all.checked = boxes.every((box) => box.checked);
    all.indeterminate = !all.checked && boxes.some((box) => box.checked);
  }
  showPickedCount();
}

function showPickedCount() {
  byId('picked-count').textContent = `${shown.size} of ${allSystems.length} shown`;
}

// Published sets that could fill a section but are not ticked, as buttons that tick them.
function offers(entries) {
  const sets = groupBy(entries.filter((entry) => !isShown(entry)), (entry) => entry.set);
  const buttons = [...sets].filter(([set]) => set).map(([set, members]) =>
    h('button', { type: 'button', class: 'offer', onclick: () => {
      unique(members.map((entry) => entry.system)).forEach(show);
      syncPicker();
      redraw();
    } }, `Show ${set}`));
  return buttons.length ? h('p', { class: 'offers' }, h('span', { class: 'muted' }, 'Published sets with such figures: '), buttons) : null;
}
