// Predictions of volumes: what went into a block, and what came out.

const SLICE_NOTES = {
  'least output': 'of affinities, dark is where cells end',
  'greatest output': 'of boundaries, light is where cells end',
};

function drawSlice(canvas, { width, height, pixels }) {
  const grays = atob(pixels);
  const picture = new ImageData(width, height);
  for (let i = 0; i < width * height; ++i) picture.data.set([grays.charCodeAt(i), grays.charCodeAt(i), grays.charCodeAt(i), 255], 4 * i);
  canvas.getContext('2d').putImageData(picture, 0, 0);
}

function sliceFigure(slice, title) {
  const { name, width, height } = slice;
  const canvas = h('canvas', { class: 'slice', width, height, role: 'img', 'aria-label': `${title}: ${name}` });
  drawSlice(canvas, slice);
  return h('figure', {}, canvas, h('figcaption', {}, name, SLICE_NOTES[name] ? h('span', { class: 'muted' }, ` (${SLICE_NOTES[name]})`) : null));
}

// What was measured, as [name, text] pairs.
function predictionFigures(record) {
  const figure = (name, value, unit) => (value === undefined ? [] : [[name, `${number(value)} ${unit}`]]);
  return [
    ...figure('time', record.seconds, 's'), ...figure('speed', record.output_mvox_per_s, 'Mvox/s'),
    ...figure('with halo', record.input_mvox_per_s, 'Mvox/s'), ...figure('network idle', record.device_idle_percent, '%'),
    ...figure('memory', record.peak_memory_mib, 'MiB'),
  ];
}

function predictionRun(entry) {
  const { record, system } = entry;
  const title = `${record.model} on ${system.label}`;
  return h('div', { class: 'run' },
    h('h3', {}, swatch(entry.key), title),
    h('p', { class: 'muted' }, `${configuration(record)}. `,
      record.verdict && record.verdict !== 'valid' ? [verdictMark(record), ' '] : '', record.reason || ''),
    h('div', { class: 'slices' }, record.slices.map((slice) => sliceFigure(slice, title)), facts(predictionFigures(record))),
    commandsOf([entry]));
}

function volumesSection() {
  const possible = latestEntries.filter((entry) => (entry.record.slices || []).length);
  const runs = possible.filter(isShown);
  if (!runs.length) return null;
  return section('volumes', 'Volumes', [
    h('p', { class: 'intro' }, 'Volumes predicted block by block: a part of one section in the middle, as the network saw it and what it made of it. The outputs are the least and the greatest over the network\'s channels.'),
    runs.map(predictionRun), offers(possible),
  ]);
}
