import { useComputed, useSignal } from '@preact/signals';
import {
  ago,
  bytes,
  duration,
  grouped,
  seconds,
  significant,
  type Amount,
} from '../text/format.js';
import { Chart, type ChartLine } from './chart.js';
import { HISTORY_S, readings } from './history.js';
import { seriesOf, type Series } from './series.js';

const perSecond = (value: number) => ({ text: significant(value), unit: '/s' });
const images = (value: number) => ({
  text: grouped(value),
  unit: value === 1 ? 'image' : 'images',
});

interface Line {
  label: string;
  of: Exclude<keyof Series, 'at'>;
  colour: string;
  show: (value: number) => Amount;
}

/** The charts; an axis ends no lower than at `least`. */
const CARDS: readonly { title: string; least: number; lines: readonly Line[] }[] = [
  {
    title: 'Images',
    least: 1,
    lines: [{ label: 'images', of: 'imagesPerSecond', colour: '--accent', show: perSecond }],
  },
  {
    title: 'Latency',
    least: 0.1,
    lines: [
      { label: 'p95', of: 'p95', colour: '--accent', show: seconds },
      { label: 'p50', of: 'p50', colour: '--good', show: seconds },
    ],
  },
  {
    title: 'Queue',
    least: 4,
    lines: [
      { label: 'waiting', of: 'waiting', colour: '--accent', show: images },
      { label: 'in hand', of: 'inHand', colour: '--good', show: images },
    ],
  },
  {
    title: 'Failures',
    least: 0.2,
    lines: [{ label: 'failures', of: 'failuresPerSecond', colour: '--bad', show: perSecond }],
  },
  {
    title: 'Memory',
    least: 2 ** 28,
    lines: [{ label: 'memory', of: 'memoryBytes', colour: '--accent', show: bytes }],
  },
];

/** The last 15 minutes, a chart per figure. */
export function StatCards() {
  const series = useComputed(() => seriesOf(readings.value)).value;
  const { at } = series;
  const since = at[0] === undefined ? 0 : Date.now() / 1000 - at[0];
  return (
    <section aria-label="The last 15 minutes">
      <div class="stats">
        {CARDS.map(({ lines, ...card }) => (
          <StatCard
            key={card.title}
            {...card}
            at={at}
            lines={lines.map((line) => ({ ...line, values: series[line.of] }))}
          />
        ))}
      </div>
      {since < HISTORY_S - 30 && (
        <p class="fine collecting">
          Collecting since this page was opened, {duration(since)} ago; it keeps 15 minutes. For
          longer there is <a href="/metrics">/metrics</a>.
        </p>
      )}
    </section>
  );
}

interface StatCardProps {
  title: string;
  /** The meanings of the lines, where there are several. */
  lines: readonly (ChartLine & { show: (value: number) => Amount })[];
  at: readonly number[];
  least: number;
}

const NOTHING: Amount = { text: '–', unit: '' };

/** A figure of the moment, and its last quarter of an hour; under the pointer that of then. */
function StatCard({ title, lines, at, least }: StatCardProps) {
  const pointed = useSignal<number | null>(null);
  const index = pointed.value ?? at.length - 1;
  const then = at[index];
  const when =
    pointed.value === null || then === undefined ? mostOf(lines) : ago(Date.now() / 1000 - then);
  const shown = lines.map((line) => ({ ...line, amount: amountAt(line, index) }));
  const spoken = shown
    .map(({ label, amount }) => `${label} ${amount.text} ${amount.unit}`)
    .join(', ');
  return (
    <section class="card stat" aria-label={title}>
      <h2>
        {title} <span class="fine">{when}</span>
      </h2>
      <div class="stat-values">
        {shown.map(({ label, colour, amount }) => (
          <p key={label} class="stat-value">
            <b>{amount.text}</b>
            <span class="unit">{amount.unit}</span>
            {lines.length > 1 && (
              <span class="stat-label">
                <span class="line-mark" style={{ background: `var(${colour})` }} />
                {label}
              </span>
            )}
          </p>
        ))}
      </div>
      <Chart
        at={at}
        lines={lines}
        least={least}
        pointed={pointed}
        label={`${title}, the last 15 minutes; now ${spoken}`}
      />
    </section>
  );
}

/** The scale of the chart, which has no axis. */
function mostOf([line]: StatCardProps['lines']): string {
  const values = (line?.values ?? []).filter((value) => value !== null);
  const most = Math.max(0, ...values);
  if (line === undefined || most === 0) return '';
  const { text, unit } = line.show(most);
  return `most ${text} ${unit}`;
}

function amountAt(line: StatCardProps['lines'][number], index: number): Amount {
  const value = line.values[index] ?? null;
  return value === null ? NOTHING : line.show(value);
}
