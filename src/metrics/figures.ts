/** Figures that the parts of the service keep, read at each request of `/metrics`. */
import { Counter, Gauge, Registry } from 'prom-client';
import { inTime } from '../base/in-time.js';

/** Less than Prometheus waits for the whole answer. */
const PATIENCE_MS = 2_000;

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

type Values = number | boolean | Record<string, number> | readonly Sample[];

export interface Figure {
  name: string;
  help: string;
  /** A counter's part knows the value as it stands. */
  kind?: 'counter';
  /** The label whose values `read` gives numbers for. Absent: `read` gives one number. */
  label?: string;
  /** A figure that fails, or says nothing for two seconds, is left out of that answer. */
  read: () => Values | Promise<Values>;
}

/** The figures as they stand, as text. One without a value, for example of GPUs where there are none, is left out. */
export async function figuresText(figures: readonly Figure[]): Promise<string> {
  const read = figures.map(async (figure) => ({ ...figure, samples: await samplesOf(figure) }));
  const registry = new Registry();
  for (const { name, help, kind, samples } of await Promise.all(read)) {
    const [first] = samples;
    if (first === undefined) continue;
    const Metric: typeof Gauge | typeof Counter = kind === 'counter' ? Counter : Gauge;
    const labelNames = Object.keys(first.labels);
    const metric = new Metric({ name, help, labelNames, registers: [registry] });
    for (const { labels, value } of samples) metric.inc(labels, value);
  }
  return registry.metrics();
}

/** Returns no samples if reading fails: a store that cannot be read must not hide all the other figures. */
async function samplesOf({ label = '', read }: Figure): Promise<readonly Sample[]> {
  const answer = Promise.resolve().then(read);
  const values = await inTime(answer, PATIENCE_MS, []).catch((): Sample[] => []);
  if (typeof values !== 'object') return [{ labels: {}, value: Number(values) }];
  if (isList(values)) return values;
  return Object.entries(values).map(([each, value]) => ({ labels: { [label]: each }, value }));
}

/** `Array.isArray` does not tell a readonly list from an object. */
const isList = (values: object): values is readonly Sample[] => Array.isArray(values);
