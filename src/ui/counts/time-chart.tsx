/** Boxes over the hours or days of a range, as bars of a colour per class; of two ranges beside each other. */
import { useSignal, useSignalEffect, type Signal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { classColour } from '../../overlay/class-colour.js';
import { grouped, plural } from '../text/format.js';
import { timeTicks } from './chart-axes.js';
import { gapsOf, rowBoxes, type CountRow, type CountRows } from './count-rows.js';
import { boxes } from './count-words.js';
import { DAY_H } from './wall-hours.js';

const HEIGHT = 100;
/** Bars of a narrow window do not get narrower: the chart is wider then, and scrolled. */
const LEAST_BAR_PX = 1.5;

interface TimeChartsProps {
  rows: CountRows;
  others: CountRows | null;
  titles: readonly (string | null)[];
  /** The axis of boxes, which both charts have. */
  ticks: readonly number[];
  hidden: ReadonlySet<string>;
}

export function TimeCharts({ rows, others, titles, ticks, hidden }: TimeChartsProps) {
  /** Place of the bar that is read, the same one in both charts. */
  const pointed = useSignal<number | null>(null);
  const charts = [rows, others].flatMap((each) => each ?? []);
  return (
    <div class="card">
      <div class="counts-charts">
        {charts.map(({ by, rows: own }, at) => (
          <TimeChart
            key={at}
            title={titles[at] ?? ''}
            by={by}
            rows={own}
            ticks={ticks}
            hidden={hidden}
            pointed={pointed}
          />
        ))}
      </div>
      <p class="fine counts-key">
        <span class="key-gap" aria-hidden="true" /> no images
        <span class="key-none" aria-hidden="true" /> images without boxes
        {charts.some(({ untimed }) => untimed !== null) && (
          <span>Images without a time are in the table only.</span>
        )}
      </p>
    </div>
  );
}

interface TimeChartProps {
  title: string;
  by: CountRows['by'];
  rows: readonly CountRow[];
  ticks: readonly number[];
  hidden: ReadonlySet<string>;
  pointed: Signal<number | null>;
}

function TimeChart({ title, by, rows, ticks, hidden, pointed }: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const most = ticks.at(-1) ?? 1;
  // Both charts are scrolled to the bar that is read.
  useSignalEffect(() => {
    const box = place.current;
    if (pointed.value === null || box === null) return;
    const x = ((pointed.value + 0.5) / rows.length) * box.scrollWidth;
    if (x < box.scrollLeft || x > box.scrollLeft + box.clientWidth) {
      box.scrollLeft = x - box.clientWidth / 2;
    }
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = pointed.peek();
    const to = keyTarget(event.key, at, rows.length);
    if (to === null) return;
    event.preventDefault();
    pointed.value = Math.max(0, Math.min(rows.length - 1, to));
  };
  const onPointerMove = (event: TargetedEvent<HTMLDivElement, PointerEvent>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    pointed.value = Math.floor(((event.clientX - left) / width) * rows.length);
  };
  return (
    <figure class="counts-chart">
      <figcaption>
        {title} <span class="fine">boxes per {by}</span>
      </figcaption>
      <div class="plot-frame">
        <BoxAxis ticks={ticks} />
        <div
          ref={place}
          class="plot-scroll"
          tabIndex={0}
          role="group"
          aria-label={`Boxes per ${by}, ${title}. The arrow keys read the bars.`}
          onKeyDown={onKeyDown}
        >
          <div
            class="plot"
            style={{ minWidth: `${rows.length * LEAST_BAR_PX}px` }}
            onPointerMove={onPointerMove}
            onPointerLeave={() => (pointed.value = null)}
          >
            <Bars rows={rows} most={most} ticks={ticks} hidden={hidden} pointed={pointed} />
            <TimeAxis rows={rows} by={by} />
          </div>
        </div>
      </div>
      <Reading rows={rows} hidden={hidden} pointed={pointed} />
    </figure>
  );
}

/** The bar that a key leads to; null for keys that lead to none. */
function keyTarget(key: string, at: number | null, count: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return at === null ? 0 : at + 1;
    case 'ArrowLeft':
      return at === null ? count - 1 : at - 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

function readOf(row: CountRow | undefined, hidden: ReadonlySet<string>): string {
  if (row === undefined) return 'After the end of this range';
  const count = rowBoxes(row, hidden);
  if (row.images === null || row.classes === null || count === null)
    return `${row.name}: no images`;
  const classes = Object.entries(row.classes)
    .filter(([name]) => !hidden.has(name))
    .map(([name, each]) => `${grouped(each)} ${name}`);
  const which = classes.length > 1 ? ` (${classes.join(', ')})` : '';
  return `${row.name}: ${boxes(count)}${which} in ${plural(row.images.images, 'image')}`;
}

type ReadingProps = Pick<TimeChartProps, 'rows' | 'hidden' | 'pointed'>;

/** A component of its own: the bars, which may be thousands, are not drawn again with each move of the pointer. */
const Reading = ({ rows, hidden, pointed }: ReadingProps) => (
  <p class="fine plot-read" role="status">
    {pointed.value === null ? '' : readOf(rows[pointed.value], hidden)}
  </p>
);

const PointedBar = ({ rows, pointed }: Omit<ReadingProps, 'hidden'>) =>
  pointed.value !== null && pointed.value < rows.length ? (
    <rect class="pointed" x={pointed.value} y={0} width={1} height={HEIGHT} />
  ) : null;

const BoxAxis = ({ ticks }: { ticks: readonly number[] }) => (
  <div class="plot-y" aria-hidden="true">
    {ticks.map((tick) => (
      <span key={tick} style={{ bottom: `${(100 * tick) / (ticks.at(-1) ?? 1)}%` }}>
        {grouped(tick)}
      </span>
    ))}
  </div>
);

function TimeAxis({ rows, by }: { rows: readonly CountRow[]; by: CountRows['by'] }) {
  const from = rows[0]?.start ?? 0;
  const step = by === 'hour' ? 1 : DAY_H;
  const to = from + rows.length * step;
  return (
    <div class="plot-x" aria-hidden="true">
      {timeTicks(from, to).map(({ hour, text }) => (
        <span key={hour} style={{ left: `${(100 * (hour - from)) / (to - from)}%` }}>
          {text}
        </span>
      ))}
    </div>
  );
}

interface BarsProps {
  rows: readonly CountRow[];
  most: number;
  ticks: readonly number[];
  hidden: ReadonlySet<string>;
  pointed: Signal<number | null>;
}

function Bars({ rows, most, ticks, hidden, pointed }: BarsProps) {
  const count = Math.max(1, rows.length);
  return (
    <svg viewBox={`0 0 ${count} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {gapsOf(rows).map(({ from, to }) => (
        <rect key={from} class="gap" x={from} y={0} width={to - from} height={HEIGHT} />
      ))}
      {ticks.map((tick) => {
        const y = HEIGHT - (HEIGHT * tick) / most;
        return <line key={tick} class="grid" x1={0} x2={count} y1={y} y2={y} />;
      })}
      {rows.map((row, at) => (
        <Bar key={row.name} row={row} at={at} most={most} hidden={hidden} />
      ))}
      <PointedBar rows={rows} pointed={pointed} />
    </svg>
  );
}

function Bar({
  row,
  at,
  most,
  hidden,
}: Pick<BarsProps, 'most' | 'hidden'> & { row: CountRow; at: number }) {
  if (row.classes === null) return null;
  const parts = Object.entries(row.classes).filter(
    ([name, count]) => !hidden.has(name) && count > 0,
  );
  if (parts.length === 0) {
    return <rect class="none" x={at + 0.08} y={HEIGHT - 2} width={0.84} height={2} />;
  }
  let below = 0;
  return (
    <>
      {parts.map(([name, count]) => {
        below += count;
        const y = HEIGHT - (HEIGHT * below) / most;
        const height = (HEIGHT * count) / most;
        const { colour } = classColour(name);
        return (
          <rect
            key={name}
            x={at + 0.08}
            y={y}
            width={0.84}
            height={height}
            style={{ fill: colour }}
          />
        );
      })}
    </>
  );
}
