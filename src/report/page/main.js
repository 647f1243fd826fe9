// The page: its sections in order, and what makes it draw again.

const SECTIONS = [zooSection, batchSection, scalingSection, partsSection, gridSection, rooflineSection, trainingSection, volumesSection, compareSection, tableSection];

function section(id, title, content) {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), content);
}

function drawContents(sections) {
  byId('contents').replaceChildren(h('ul', {}, sections.map((element) =>
    h('li', {}, h('a', { href: `#${element.id}` }, element.querySelector('h2').textContent)))));
}

// Keeps what the reader looks at where it is, although the sections are made anew.
function redraw() {
  const anchor = [...byId('sections').children].find((element) => element.getBoundingClientRect().bottom > 80);
  const before = anchor ? anchor.getBoundingClientRect().top : 0;
  const focused = focusPath();
  forgetCharts();
  hideTip();
  applyChartDefaults();
  const sections = SECTIONS.map((make) => make()).filter(Boolean);
  byId('sections').replaceChildren(summarySection(), ...sections);
  drawWaiting();
  drawContents(sections);
  const after = anchor && anchor.id ? byId(anchor.id) : null;
  if (after) scrollBy({ top: after.getBoundingClientRect().top - before, behavior: 'instant' });
  focused();
}

// A control that was pressed keeps the focus in the section that replaces its own.
function focusPath() {
  const element = document.activeElement;
  const home = element && element.closest('#sections > section');
  if (!home) return () => {};
  const controls = (root) => [...root.querySelectorAll('.controls button, .controls select, .controls input')];
  const at = controls(home).indexOf(element);
  return () => { if (at >= 0) controls(byId(home.id) || document.body)[at]?.focus({ preventScroll: true }); };
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch (refused) { /* Pages from files may have no storage; then the choice holds for this visit. */ }
}

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch (refused) {
    return null;
  }
}

function setTheme(name) {
  chosenTheme = THEMES.includes(name) ? name : 'auto';
  document.documentElement.dataset.theme = theme();
  byId('theme').textContent = { auto: 'Auto', light: 'Light', dark: 'Dark' }[chosenTheme];
  byId('theme').setAttribute('aria-label', `Colours: ${chosenTheme}; press to change`);
}

function print(on) {
  printing = on;
  document.documentElement.classList.toggle('printing', on);  // as wide as paper, so that charts are drawn in their size
  setTheme(chosenTheme);
  redraw();
}

function start() {
  document.title = `tacho report: ${unique(allEntries.filter((entry) => !entry.set).map((entry) => entry.record.system.name)).join(', ')}`;
  setTheme(remembered('tacho-theme'));
  byId('theme').addEventListener('click', () => {
    setTheme(THEMES[(THEMES.indexOf(chosenTheme) + 1) % THEMES.length]);
    remember('tacho-theme', chosenTheme);
    redraw();
  });
  systemDark.addEventListener('change', () => { setTheme(chosenTheme); redraw(); });
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  addEventListener('keydown', (event) => { if (event.key === 'Escape') hideTip(); });
  addEventListener('scroll', hideTip, { passive: true });
  if (innerWidth < 900) byId('picker').open = false;
  showAtFirst();
  fillPicker(redraw);
  byId('colophon').replaceChildren(h('p', {}, `tacho ${page.version}. This page holds all its data and asks for nothing else; it is made again by`), commandLine(page.command));
  redraw();
}

start();
