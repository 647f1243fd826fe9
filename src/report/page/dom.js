// Making elements. Texts of records reach the page as text nodes only, never as markup.

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== ''));
  return element;
}

const byId = (id) => document.getElementById(id);

// Only web addresses become links.
function linked(text) {
  return text.split(/((?:https?:\/\/|github\.com\/)[^\s,;)]+)/).map((part, i) =>
    i % 2 === 1 ? h('a', { href: part.startsWith('http') ? part : `https://${part}`, rel: 'noreferrer' }, part) : part);
}

// The clipboard's own interface is not offered everywhere to a page from a file; selecting and copying is.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (refused) {
    const area = h('textarea', { class: 'visually-hidden' });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

function commandLine(command) {
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy the command ${command}` }, 'Copy');
  button.addEventListener('click', async () => {
    button.textContent = (await copyText(command)) ? 'Copied' : 'Select it';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  return h('div', { class: 'command' }, h('code', {}, command), button);
}

// How the figures of these entries are made again: the commands, most frequent first.
function commandsOf(entries) {
  const counts = new Map();
  for (const { record } of entries) {
    if (record.command) counts.set(record.command, (counts.get(record.command) || 0) + 1);
  }
  const commands = [...counts].sort((a, b) => b[1] - a[1]).map(([command]) => command);
  if (!commands.length) return null;
  const rest = commands.slice(1);
  return h('div', { class: 'commands' }, commandLine(commands[0]),
    rest.length ? h('details', {}, h('summary', {}, `and ${plural(rest.length, 'more command')}`), rest.map(commandLine)) : null);
}

function segmented(label, choices, chosen, choose) {
  return h('div', { class: 'segmented', role: 'group', 'aria-label': label }, choices.map(([value, text]) =>
    h('button', { type: 'button', 'aria-pressed': String(value === chosen), onclick: () => choose(value) }, text)));
}

function selector(label, choices, chosen, choose) {
  const select = h('select', { onchange: (event) => choose(event.target.value) },
    choices.map(([value, text]) => h('option', { value, selected: String(value) === String(chosen) }, text)));
  return h('label', { class: 'selector' }, h('span', {}, label), select);
}
