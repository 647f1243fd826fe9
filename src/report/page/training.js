// Real trainings: loss and accuracies after each epoch.

const LINES = {
  loss: [['loss', 'loss', []]],
  accuracy: [['train_accuracy', 'training accuracy', []], ['test_accuracy', 'test accuracy', [5, 4]]],
};

// Accuracies are kept as shares; a record in per cent is left as it is.
function percentOf(value) {
  return value <= 1 ? 100 * value : value;
}

function epochPoints(entry, field) {
  return entry.record.epochs.map((epoch, i) => ({ x: i + 1, y: field === 'loss' ? epoch[field] : percentOf(epoch[field]), entry,
    figure: `epoch ${i + 1}: ${field.replace(/_/g, ' ')} ${field === 'loss' ? number(epoch[field]) : `${number(percentOf(epoch[field]))} %`}` }))
    .filter((point) => Number.isFinite(point.y));
}

function epochPanel(entry, kind, title) {
  const datasets = LINES[kind].map(([field, name, dash]) => {
    const points = epochPoints(entry, field);
    return { label: name, data: points, ...pointColours(points, entry.key), pointRadius: points.length > 20 ? 1.5 : 3, borderDash: dash, borderWidth: 1.75 };
  }).filter((dataset) => dataset.data.length);
  if (!datasets.length) return null;
  const y = kind === 'loss' ? axis('loss', { beginAtZero: true, ticks: { maxTicksLimit: 6 } }) : axis('accuracy, %', { ticks: { maxTicksLimit: 6 } });
  return h('div', { class: 'plot-pair' }, chartFigure({
    title: kind === 'loss' ? 'Loss' : 'Accuracy', entries: [entry], height: 230, commands: false,
    label: `${title}: ${kind} after each epoch`,
    draw: (canvas) => drawChart(canvas, { type: 'line', data: { datasets }, options: { scales: {
      x: axis('epoch', { type: 'linear', ticks: { precision: 0, maxTicksLimit: 12 } }), y } } }),
  }));
}

function trainingRun(entry) {
  const { record, system } = entry;
  const last = record.epochs[record.epochs.length - 1];
  const title = `${record.model} on ${system.label}`;
  const seconds = record.seconds || record.epochs.reduce((sum, epoch) => sum + (epoch.seconds || 0), 0);
  const accuracy = last.test_accuracy !== undefined ? `, test accuracy ${number(percentOf(last.test_accuracy))} %` : '';
  return h('div', { class: 'run' },
    h('h3', {}, swatch(entry.key), title),
    h('p', { class: 'muted' }, `${configuration(record)}. ${plural(record.epochs.length, 'epoch')}${seconds ? ` in ${number(seconds)} s` : ''}${accuracy}. `,
      record.verdict && record.verdict !== 'valid' ? [verdictMark(record), ` ${record.reason || ''}`] : ''),
    h('div', { class: 'pair' }, ['loss', 'accuracy'].map((kind) => epochPanel(entry, kind, title))), commandsOf([entry]));
}

function trainingSection() {
  const possible = latestEntries.filter((entry) => (entry.record.epochs || []).length);
  const runs = possible.filter(isShown);
  if (!runs.length) return null;
  const curves = runs.some((entry) => entry.record.epochs.some((epoch) => epoch.train_accuracy !== undefined && epoch.test_accuracy !== undefined));
  return section('training', 'Training runs', [
    h('p', { class: 'intro' }, 'Networks trained for real: the loss and the accuracies after each epoch.'),
    curves ? legend(runs, [['solid', 'training'], ['dashed', 'test']]) : null,
    runs.map(trainingRun), offers(possible),
  ]);
}
