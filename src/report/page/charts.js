// What all charts share: theme, axes, marks. A point of a dataset is {x, y, entry, label}.

const THEMES = ['auto', 'light', 'dark'];
let chosenTheme = 'auto';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
let printing = false;

function theme() {
  if (printing) return 'light';
  if (chosenTheme !== 'auto') return chosenTheme;
  return systemDark.matches ? 'dark' : 'light';
}

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const charts = [];

function forgetCharts() {
  charts.splice(0).forEach((chart) => chart.destroy());
}

function applyChartDefaults() {
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.font.family = token('--sans');
  Chart.defaults.font.size = 12;
  Chart.defaults.color = token('--muted');
  Chart.defaults.borderColor = token('--grid');
  Chart.defaults.plugins.legend.display = false;
}

function tooltipToTip({ chart, tooltip }) {
  const raw = tooltip.opacity && tooltip.dataPoints && tooltip.dataPoints.length ? tooltip.dataPoints[0].raw : null;
  if (!raw || !raw.entry) return hideTip();
  const box = chart.canvas.getBoundingClientRect();
  showTip(raw.entry, box.left + tooltip.caretX, box.top + tooltip.caretY, raw.figure);
}

function drawChart(canvas, config) {
  config.options = config.options || {};
  config.options.plugins = { ...config.options.plugins, tooltip: { enabled: false, external: tooltipToTip } };
  config.options.interaction = config.options.interaction || { mode: 'nearest', intersect: true };
  const chart = new Chart(canvas, config);
  charts.push(chart);
  return chart;
}

// A figure with a canvas; `draw(canvas)` is called once the figure is in the page.
function chartFigure({ title, note, label, height, entries, draw, commands = true }) {
  const canvas = h('canvas', { role: 'img', 'aria-label': label || title });
  waiting.push(() => draw(canvas));
  return h('figure', { class: 'chart' },
    h('figcaption', {}, h('h3', {}, title), note ? h('p', { class: 'muted' }, note) : null),
    h('div', { class: 'plot', style: { height: `${height}px` } }, canvas),
    commands ? commandsOf(entries) : null);
}

const waiting = [];

function drawWaiting() {
  waiting.splice(0).forEach((draw) => draw());
}

function axis(title, more = {}) {
  return { title: { display: true, text: title, color: token('--muted') }, grid: { color: token('--grid'), borderColor: token('--rule'), tickLength: 4 }, ...more,
    ticks: { color: token('--muted'), callback: tick, ...more.ticks } };
}

// Chart.js has no axis to base 2: the points carry the logarithm, the ticks the number.
const log2 = Math.log2;

function powerOfTwo(value) {
  return value < 0 ? `1/${2 ** -value}` : tick(2 ** value);
}

function log2Axis(title, more = {}) {
  return axis(title, { type: 'linear', ...more,
    ticks: { stepSize: 1, callback: (value) => (Number.isInteger(value) ? powerOfTwo(value) : ''), maxRotation: 0, autoSkip: true, ...more.ticks } });
}

// The same for values that are no powers of two: ticks at 1, 2 and 5, or closer where the axis is short.
const LADDERS = [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]];

function ladderTicks(low, high, wanted) {
  const values = (ladder) => [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) => ladder.map((step) => step * 10 ** power))
    .filter((value) => value >= low * 0.999 && value <= high * 1.001);
  return LADDERS.map(values).filter((found) => found.length <= wanted).pop() || values(LADDERS[0]);
}

function logAxis(title, more = {}) {
  return axis(title, { type: 'linear', ...more,
    afterBuildTicks: (scale) => {
      const room = scale.isHorizontal() ? (scale.width || 600) / 70 : (scale.height || 200) / 20;
      const wanted = Math.max(4, Math.floor(room));
      scale.ticks = ladderTicks(2 ** scale.min, 2 ** scale.max, wanted).map((value) => ({ value: log2(value) }));
    },
    ticks: { callback: (value) => tick(2 ** value), maxRotation: 0, autoSkip: false } });
}

// Points of a doubtful verdict are hollow, and those that were simulated.
function pointColours(points, key) {
  const colour = colourOf(key);
  return {
    clip: false, borderColor: colour, pointBorderColor: colour, pointStyle: pointOf(key), pointRadius: 4, pointHoverRadius: 6, pointBorderWidth: 1.75,
    pointBackgroundColor: points.map(({ entry }) => (entry && (entry.doubtful || entry.simulated) ? token('--paper') : colour)),
  };
}

function hatch(colour) {
  const tile = h('canvas', { width: 6, height: 6 });
  const context = tile.getContext('2d');
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  for (const at of [-3, 0, 3]) {
    context.moveTo(at, 6 + 0);
    context.lineTo(at + 6, 0);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat');
}

function barColours(points, key) {
  const colour = colourOf(key);
  return { borderColor: colour, borderWidth: points.map((point) => (point.entry && point.entry.doubtful ? 1.25 : 0)),
    backgroundColor: points.map((point) => (point.entry && point.entry.doubtful ? hatch(colour) : colour)) };
}

// Behind the marks of horizontal bars: the 95 % interval as a whisker, and the value in words at the bar's end.
const barEnds = {
  id: 'barEnds',
  afterDatasetsDraw(chart) {
    const { ctx, scales: { x } } = chart;
    ctx.save();
    ctx.font = `11px ${token('--sans')}`;
    ctx.textBaseline = 'middle';
    chart.data.datasets.forEach((dataset, index) => chart.getDatasetMeta(index).data.forEach((bar, i) => {
      const point = dataset.data[i];
      if (!point || !point.label) return;
      let end = bar.x;
      if (point.interval) {
        const [low, high] = point.interval.map((value) => x.getPixelForValue(value));
        end = Math.max(end, high);
        ctx.strokeStyle = token('--ink');
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(low, bar.y);
        ctx.lineTo(high, bar.y);
        for (const at of [low, high]) {
          ctx.moveTo(at, bar.y - 3);
          ctx.lineTo(at, bar.y + 3);
        }
        ctx.stroke();
      }
      ctx.fillStyle = point.entry && point.entry.time ? token('--ink') : token('--warn');
      ctx.fillText(point.label, end + 6, bar.y + 0.5);
    }));
    ctx.restore();
  },
};

// Names beside points, left out where they would lie on another.
const pointNames = {
  id: 'pointNames',
  afterDatasetsDraw(chart) {
    const { ctx, chartArea } = chart;
    const taken = [];
    ctx.save();
    ctx.font = `11px ${token('--sans')}`;
    ctx.textBaseline = 'middle';
    ctx.fillStyle = token('--ink');
    const dots = chart.data.datasets.flatMap((dataset, index) => (dataset.data.some((point) => point.name)
      ? chart.getDatasetMeta(index).data.map((element, i) => ({ element, point: dataset.data[i] })) : []));
    for (const { element } of dots) taken.push([element.x - 5, element.y - 5, element.x + 5, element.y + 5]);
    for (const { element, point } of dots) {
      const width = ctx.measureText(point.name).width;
      const places = [[8, 0], [-8 - width, 0], [8, -11], [8, 11], [-8 - width, -11], [-8 - width, 11]];
      for (const [dx, dy] of places) {
        const box = [element.x + dx, element.y + dy - 6, element.x + dx + width, element.y + dy + 6];
        const free = box[0] > chartArea.left && box[2] < chartArea.right && box[1] > chartArea.top && box[3] < chartArea.bottom &&
          !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
        if (!free) continue;
        ctx.fillText(point.name, box[0], element.y + dy);
        taken.push(box);
        break;
      }
    }
    ctx.restore();
  },
};

// A dark line at one place of the x axis.
function markedLine(value) {
  return {
    id: 'markedLine',
    beforeDatasetsDraw({ ctx, chartArea, scales: { x } }) {
      ctx.save();
      ctx.strokeStyle = token('--ink');
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(x.getPixelForValue(value), chartArea.top);
      ctx.lineTo(x.getPixelForValue(value), chartArea.bottom);
      ctx.stroke();
      ctx.restore();
    },
  };
}
