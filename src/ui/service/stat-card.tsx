import { useSignal } from '@preact/signals';
import { ago, type Amount } from '../text/format.js';
import { Chart, type ChartLine } from './chart.js';

interface StatCardProps {
  title: string;
  /** What the lines mean, where there are several. */
  lines: readonly (ChartLine & { show: (value: number) => Amount })[];
  at: readonly number[];
  least: number;
}

const NOTHING: Amount = { text: '–', unit: '' };

/** A figure of the moment, and its last quarter of an hour; under the pointer that of then. */
export function StatCard({ title, lines, at, least }: StatCardProps) {
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
