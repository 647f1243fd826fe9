// GFLOP/s against FLOP per byte, under the roof of the measured peak and bandwidth.

function roofEntries(entries) {
  const usable = entries.filter((entry) => entry.time && entry.record.gflops && entry.record.flop_per_pass && entry.record.bytes_per_pass);
  const batch = zooBatch !== null && usable.some((entry) => entry.record.batch === zooBatch) ? zooBatch : commonBatch(usable)[0];
  return wholeMachine(usable.filter((entry) => entry.record.batch === batch || !usable.some((other) =>
    other.key === entry.key && other.network === entry.network && other.record.batch === batch)));
}

const intensity = ({ record }) => record.flop_per_pass / record.bytes_per_pass;

function roofOf(entries) {
  for (const { record } of entries) {
    const speeds = record.system.speeds || [];
    const speed = speeds.find(({ threads }) => threads === record.threads) || speeds[speeds.length - 1];
    if (speed && speed.fma_gflops && speed.bandwidth_gbs) return speed;
  }
  return null;
}

function roofDataset(key, roof, low, high) {
  const ridge = roof.fma_gflops / roof.bandwidth_gbs;
  const at = (x) => ({ x: log2(x), y: log2(Math.min(roof.fma_gflops, x * roof.bandwidth_gbs)) });
  return { type: 'line', data: [low, Math.min(Math.max(ridge, low), high), high].map(at), borderColor: colourOf(key), borderWidth: 1.5, pointRadius: 0, pointHitRadius: 0 };
}

function roofDatasets(entries) {
  const low = 2 ** Math.floor(Math.min(...entries.map((entry) => log2(intensity(entry)))) - 1);
  const high = 2 ** Math.ceil(Math.max(...entries.map((entry) => log2(intensity(entry)))) + 1);
  const datasets = [];
  for (const [key, own] of groupBy(entries, (entry) => entry.key)) {
    for (const [mode, points] of groupBy(own, ({ record }) => record.mode)) {
      const data = points.map((entry) => ({ x: log2(intensity(entry)), y: log2(entry.record.gflops), entry, name: entry.network,
        figure: `${number(intensity(entry))} FLOP/byte` }));
      datasets.push({ type: 'scatter', data, ...pointColours(data, key), pointRadius: 4.5, pointStyle: mode === 'train' ? 'circle' : 'triangle' });
    }
    const roof = roofOf(own);
    if (roof) datasets.push(roofDataset(key, roof, low, high));
  }
  return datasets;
}

function roofNote(entries) {
  return [...groupBy(entries, (entry) => entry.key)].map(([, own]) => {
    const roof = roofOf(own);
    return roof ? `${own[0].system.label}: ${number(roof.fma_gflops)} GFLOP/s, ${number(roof.bandwidth_gbs)} GB/s on ${plural(roof.threads, 'thread')}` : '';
  }).filter(Boolean).join('; ');
}

function rooflineSection() {
  const entries = roofEntries(shownEntries());
  if (!entries.length) return null;
  return section('roofline', 'Roofline', [
    h('p', { class: 'intro' }, 'How near each network comes to what the machine can do. Below the slope memory is the limit, below the flat line arithmetic is. ',
      'FLOP and bytes are counted of the direct algorithm, so a cleverer one may come out above the roof.'),
    legend(entries, [['dot', 'training'], ['triangle', 'inference'], ['solid', 'measured roof']]),
    chartFigure({
      title: 'GFLOP/s against FLOP per byte', note: [roofNote(entries), conditions(entries)].filter(Boolean).join('; '), entries, height: 430,
      label: `Roofline of ${plural(new Set(entries.map((entry) => entry.record.model)).size, 'network')}`,
      draw: (canvas) => drawChart(canvas, { data: { datasets: roofDatasets(entries) }, plugins: [pointNames], options: { scales: {
        x: log2Axis('FLOP per byte'), y: log2Axis('GFLOP/s', { grace: '8%' }) } } }),
    }),
  ]);
}
