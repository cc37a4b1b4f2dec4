/** Charts as SVG text: bars beside or on top of each other, and lines. Legible on light and dark pages. */
export interface Chart {
  /** Part of the file's name. */
  name: string;
  title: string;
  /** Unit of the vertical axis. */
  unit: string;
  kind: 'bars' | 'stack' | 'lines';
  categories: string[];
  /** One value a category; null where there is none. */
  series: { name: string; values: (number | null)[] }[];
  /** Vertical axis by powers of ten, from figures of very different size. Not for stacks. */
  logarithmic?: boolean;
}

const WIDTH = 760;
const PLOT = { left: 70, right: 740, top: 84, bottom: 330 };
/** A smaller figure is drawn as none: doubles end here, and steps of its axis would be 0. */
const LEAST_TOP = 1e-300;
/** Angle of names that lean, in radians. */
const LEAN = Math.PI / 4;
const LEGEND_TOP = 50;
const LEGEND_ROW = 18;
/** Apart for colour-blind eyes and strong enough on white and on near-black. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#c65a9b', '#8a7500', '#4aa3df', '#7f7f7f'];
const STYLE = `
  .page { fill: #ffffff } text { fill: #1f2328; font: 12px sans-serif }
  .title { font-size: 15px; font-weight: bold } .grid { stroke: #d0d7de } .axis { stroke: #59636e }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } .axis { stroke: #9198a1 }
  }`;

interface Scale {
  ticks: number[];
  /** From a value to its height on the page. */
  y(value: number): number;
}

/** The chart; `footer` says what it was measured on. */
export function drawChart(chart: Chart, footer: string): string {
  const legend = legendRows(chart);
  const shift = Math.max(0, legend.rows - 1) * LEGEND_ROW;
  const scale = chart.logarithmic === true ? logScale(chart) : linearScale(chart);
  const height = PLOT.bottom + shift + nameHeight(chart) + 46;
  const marks = chart.kind === 'lines' ? lines(chart, scale) : bars(chart, scale);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escape(`${chart.title}, ${chart.unit}`)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="title" x="20" y="28">${escape(`${chart.title} (${chart.unit})`)}</text>`,
    ...legend.parts,
    `<g transform="translate(0 ${shift})">`,
    ...grid(scale),
    ...categoryNames(chart),
    ...marks,
    `<path class="axis" d="M${PLOT.left} ${PLOT.bottom}H${PLOT.right}"/>`,
    '</g>',
    `<text x="20" y="${height - 16}">${escape(footer)}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const colour = (index: number) => COLOURS[index % COLOURS.length]!;
const known = (values: readonly (number | null)[]) =>
  values.filter((value): value is number => value !== null);

function legendRows(chart: Chart): { parts: string[]; rows: number } {
  const parts: string[] = [];
  let x = 20;
  let row = 0;
  for (const [index, { name, values }] of chart.series.entries()) {
    const text = known(values).length > 0 ? name : `${name} (not reported)`;
    const width = 24 + text.length * 7 + 14;
    if (x > 20 && x + width > WIDTH - 20) {
      x = 20;
      row += 1;
    }
    const y = LEGEND_TOP + row * LEGEND_ROW;
    parts.push(
      `<rect x="${x}" y="${y - 10}" width="12" height="12" rx="2" fill="${colour(index)}"/>`,
      `<text x="${x + 18}" y="${y}">${escape(text)}</text>`,
    );
    x += width;
  }
  return { parts, rows: row + 1 };
}

function largest(chart: Chart): number {
  const tops =
    chart.kind === 'stack'
      ? chart.categories.map((_, at) =>
          chart.series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
        )
      : chart.series.flatMap(({ values }) => known(values));
  const top = Math.max(0, ...tops);
  return top < LEAST_TOP ? 1 : top;
}

const toY = (share: number) => PLOT.bottom - share * (PLOT.bottom - PLOT.top);

function linearScale(chart: Chart): Scale {
  const top = largest(chart);
  const power = 10 ** Math.floor(Math.log10(top / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each * 5 >= top)!;
  const count = Math.ceil(top / step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
    y: (value) => toY(value / (count * step)),
  };
}

function logScale(chart: Chart): Scale {
  const all = chart.series.flatMap(({ values }) => known(values)).filter((value) => value > 0);
  const least = Math.floor(Math.log10(Math.min(...all, largest(chart))) - 1e-9);
  const most = Math.max(least + 1, Math.ceil(Math.log10(largest(chart))));
  return {
    ticks: Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index)),
    y: (value) => toY(value > 0 ? Math.max(0, (Math.log10(value) - least) / (most - least)) : 0),
  };
}

const shortNumber = (value: number) =>
  value >= 10_000
    ? `${Number((value / 1_000).toPrecision(3))}k`
    : `${Number(value.toPrecision(3))}`;

function grid(scale: Scale): string[] {
  return scale.ticks.flatMap((tick) => {
    const y = scale.y(tick).toFixed(1);
    return [
      `<path class="grid" d="M${PLOT.left} ${y}H${PLOT.right}"/>`,
      `<text x="${PLOT.left - 8}" y="${(Number(y) + 4).toFixed(1)}" text-anchor="end">${shortNumber(tick)}</text>`,
    ];
  });
}

function slot(chart: Chart, at: number): { left: number; width: number } {
  const width = (PLOT.right - PLOT.left) / chart.categories.length;
  return { left: PLOT.left + at * width, width };
}

/** The names do not fit side by side: bars slant them, lines leave some out. */
function namesLean(chart: Chart): boolean {
  return chart.kind !== 'lines' && slot(chart, 0).width < longestName(chart) * 7 + 10;
}

const longestName = (chart: Chart) => Math.max(1, ...chart.categories.map((name) => name.length));

/** Height beneath the axis. */
function nameHeight(chart: Chart): number {
  return namesLean(chart) ? 24 + Math.ceil(longestName(chart) * 7 * Math.sin(LEAN)) : 24;
}

function categoryNames(chart: Chart): string[] {
  const lean = namesLean(chart);
  const fitting = Math.max(1, Math.floor((PLOT.right - PLOT.left) / (longestName(chart) * 7 + 10)));
  const every = lean ? 1 : Math.ceil(chart.categories.length / fitting);
  return chart.categories.flatMap((name, at) => {
    if (at % every !== 0) return [];
    const { left, width } = slot(chart, at);
    const x = (left + width / 2).toFixed(1);
    const y = PLOT.bottom + 18;
    const how = lean
      ? `text-anchor="end" transform="rotate(-${((LEAN * 180) / Math.PI).toFixed(0)} ${x} ${y})"`
      : 'text-anchor="middle"';
    return [`<text x="${x}" y="${y}" ${how}>${escape(name)}</text>`];
  });
}

function bars(chart: Chart, scale: Scale): string[] {
  const stacked = chart.kind === 'stack';
  const beside = stacked ? 1 : chart.series.length;
  return chart.categories.flatMap((category, at) => {
    const { left, width } = slot(chart, at);
    const bar = Math.min(56, (width * 0.76) / beside);
    const start = left + (width - bar * beside) / 2;
    let below = 0;
    return chart.series.flatMap(({ name, values }, index) => {
      const value = values[at] ?? null;
      if (value === null) return [];
      const top = scale.y(below + value);
      const bottom = stacked ? scale.y(below) : PLOT.bottom;
      if (stacked) below += value;
      const x = start + (stacked ? 0 : index * bar);
      const label =
        !stacked && bar >= 26
          ? `<text x="${(x + bar / 2).toFixed(1)}" y="${(top - 5).toFixed(1)}" text-anchor="middle">${shortNumber(value)}</text>`
          : '';
      return [
        `<rect x="${(x + 1).toFixed(1)}" y="${top.toFixed(1)}" width="${(bar - 2).toFixed(1)}" ` +
          `height="${Math.max(0, bottom - top).toFixed(1)}" fill="${colour(index)}">` +
          `<title>${escape(`${name}, ${category}: ${shortNumber(value)} ${chart.unit}`)}</title></rect>${label}`,
      ];
    });
  });
}

function lines(chart: Chart, scale: Scale): string[] {
  return chart.series.flatMap(({ name, values }, index) => {
    const points = values.flatMap((value, at) => {
      if (value === null) return [];
      const { left, width } = slot(chart, at);
      const x = (left + width / 2).toFixed(1);
      return [{ x, y: scale.y(value).toFixed(1), value, category: chart.categories[at] ?? '' }];
    });
    const path = points.map(({ x, y }) => `${x} ${y}`).join('L');
    return [
      points.length > 1
        ? `<path d="M${path}" fill="none" stroke="${colour(index)}" stroke-width="2"/>`
        : '',
      ...points.map(
        ({ x, y, value, category }) =>
          `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour(index)}">` +
          `<title>${escape(`${name}, ${category}: ${shortNumber(value)} ${chart.unit}`)}</title></circle>`,
      ),
    ];
  });
}
