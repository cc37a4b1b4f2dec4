/** A chart of a few lines over the last quarter of an hour, drawn by uPlot. */
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { HISTORY_S } from './history.js';

export interface ChartLine {
  label: string;
  values: readonly (number | null)[];
  /** A colour of the style sheet: `--accent`. */
  colour: string;
}

interface ChartProps {
  at: readonly number[];
  lines: readonly ChartLine[];
  /** Description of the chart, for those who do not see it. */
  label: string;
  /** The axis ends no lower. */
  least: number;
  /** Index of the reading under the pointer. */
  pointed: Signal<number | null>;
}

const HEIGHT = 72;
const LEAST_WINDOW_S = 60;
const dark = window.matchMedia('(prefers-color-scheme: dark)');

export function Chart({ at, lines, label, least, pointed }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const data = useRef<uPlot.AlignedData>([[]]);
  data.current = [[...at], ...lines.map(({ values }) => [...values])];
  const colours = lines.map(({ colour }) => colour).join();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const draw = (): void => {
      chart.current?.destroy();
      chart.current = new uPlot(
        optionsOf(element, colours.split(','), least, pointed),
        data.current,
        element,
      );
    };
    draw();
    const watch = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    watch.observe(element);
    dark.addEventListener('change', draw);
    return () => {
      dark.removeEventListener('change', draw);
      watch.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [colours, least, pointed]);
  useEffect(() => chart.current?.setData(data.current), [at, lines]);
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}

/** The shown time: from the first reading, if there is one; at most the whole history. */
function windowFrom(first: number | null): [number, number] {
  const now = Date.now() / 1000;
  return [Math.max(now - HISTORY_S, Math.min(first ?? now, now - LEAST_WINDOW_S)), now];
}

function optionsOf(
  element: HTMLElement,
  colours: readonly string[],
  least: number,
  pointed: Signal<number | null>,
): uPlot.Options {
  const style = getComputedStyle(element);
  const colourOf = (name: string) => style.getPropertyValue(name).trim();
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [4, 0, 2, 0],
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { size: 6 } },
    scales: {
      x: { range: (_chart, first) => windowFrom(first) },
      y: { range: (_chart, _min, max) => [0, Math.max(least, max) * 1.08] },
    },
    axes: [{ show: false }, { show: false }],
    series: [
      {},
      ...colours.map((colour, index) => ({
        stroke: colourOf(colour),
        width: 1.75,
        points: { show: false },
        spanGaps: false,
        ...(index === 0 ? { fill: `${colourOf(colour)}1f` } : {}),
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          pointed.value = cursor.idx ?? null;
        },
      ],
    },
  };
}
