// Real trainings: loss and what the network could do after each epoch.

const EPOCH_PANELS = [
  { title: 'Loss', axis: 'loss', fields: [['loss', 'training loss', []]] },
  { title: 'Accuracy', axis: 'accuracy, %', fields: [['train_accuracy', 'training accuracy', []], ['test_accuracy', 'test accuracy', [5, 4]]] },
];
// Of volumes, whose losses on both parts are of one kind, and are worth something where they beat a constant answer.
const VOLUME_PANELS = [
  { title: 'Loss', axis: 'Dice loss', fields: [['loss', 'training loss', []], ['test_loss', 'test loss', [5, 4]], ['constant_loss', "best constant answer's loss", [2, 3]]] },
  { title: 'Boundaries', axis: 'F1, %', fields: [['boundary_f1', 'F1 of boundaries', [5, 4]]] },
];
const isOfVolume = ({ record }) => record.epochs.some((epoch) => epoch.constant_loss !== undefined);
const isLoss = (field) => field.endsWith('loss');

// Accuracies are kept as shares; a record in per cent is left as it is.
function percentOf(value) {
  return value <= 1 ? 100 * value : value;
}

function epochPoints(entry, field, name) {
  return entry.record.epochs.map((epoch, i) => ({ x: i + 1, y: isLoss(field) ? epoch[field] : percentOf(epoch[field]), entry,
    figure: `epoch ${i + 1}: ${name} ${isLoss(field) ? number(epoch[field]) : `${number(percentOf(epoch[field]))} %`}` }))
    .filter((point) => Number.isFinite(point.y));
}

function epochPanel(entry, panel, title) {
  const datasets = panel.fields.map(([field, name, dash]) => {
    const points = epochPoints(entry, field, name);
    return { label: name, data: points, ...pointColours(points, entry.key), pointRadius: points.length > 20 ? 1.5 : 3, borderDash: dash, borderWidth: 1.75 };
  }).filter((dataset) => dataset.data.length);
  if (!datasets.length) return null;
  const y = axis(panel.axis, { beginAtZero: panel.axis === 'loss', ticks: { maxTicksLimit: 6 } });
  return h('div', { class: 'plot-pair' }, chartFigure({
    title: panel.title, entries: [entry], height: 230, commands: false,
    label: `${title}: ${panel.title.toLowerCase()} after each epoch`,
    draw: (canvas) => drawChart(canvas, { type: 'line', data: { datasets }, options: { scales: {
      x: axis('epoch', { type: 'linear', ticks: { precision: 0, maxTicksLimit: 12 } }), y } } }),
  }));
}

function trainingRun(entry) {
  const { record, system } = entry;
  const last = record.epochs[record.epochs.length - 1];
  const title = `${record.model} on ${system.label}`;
  const seconds = record.seconds || record.epochs.reduce((sum, epoch) => sum + (epoch.seconds || 0), 0);
  const accuracy = last.test_accuracy !== undefined ? `, test accuracy ${number(percentOf(last.test_accuracy))} %`
    : last.constant_loss !== undefined ? `, test loss ${number(last.test_loss)} where the best constant answer has ${number(last.constant_loss)}` : '';
  return h('div', { class: 'run' },
    h('h3', {}, swatch(entry.key), title),
    h('p', { class: 'muted' }, `${configuration(record)}. ${plural(record.epochs.length, 'epoch')}${seconds ? ` in ${number(seconds)} s` : ''}${accuracy}. `,
      record.verdict && record.verdict !== 'valid' ? [verdictMark(record), ` ${record.reason || ''}`] : ''),
    h('div', { class: 'pair' }, (isOfVolume(entry) ? VOLUME_PANELS : EPOCH_PANELS).map((panel) => epochPanel(entry, panel, title))), commandsOf([entry]));
}

function trainingSection() {
  const possible = latestEntries.filter((entry) => (entry.record.epochs || []).length);
  const runs = possible.filter(isShown);
  if (!runs.length) return null;
  const volumes = runs.some(isOfVolume);
  const curves = volumes || runs.some((entry) => entry.record.epochs.some((epoch) => epoch.train_accuracy !== undefined && epoch.test_accuracy !== undefined));
  return section('training', 'Training runs', [
    h('p', { class: 'intro' }, 'Networks trained for real: the loss, and the accuracies or how well boundaries were found, after each epoch.'),
    curves ? legend(runs, [['solid', 'training'], ['dashed', 'test'], ...(volumes ? [['dotted', 'the best constant answer']] : [])]) : null,
    runs.map(trainingRun), offers(possible),
  ]);
}
