/**
 * Everything `/metrics` shows, in one registry. Each part of the service adds its own rows. Only this folder knows
 * prom-client.
 */
import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { figuresText, type Figure } from './figures.js';

/** A series of an API key, or of a watch, which belongs to one. */
const NAMES_AN_OWNER = /^\w+\{(?:.*,)?(?:key|watch)="/;

type Labels<L extends string> = Record<L, string>;

/** The values of labels are few, so that the number of series stays bounded. */
interface Row<L extends string> {
  name: string;
  help: string;
  labels: readonly L[];
}

export interface CounterRow<L extends string> extends Row<L> {
  /** Shown with 0 from the start: Prometheus sees no increase in the first value of a series, which alerts ask for. */
  fromStart?: readonly Labels<L>[];
}

export interface HistogramRow<L extends string> extends Row<L> {
  buckets: readonly number[];
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #figures: Figure[] = [];

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns the function that counts. */
  counter<L extends string>(row: CounterRow<L>): (labels: Labels<L>, by?: number) => void {
    const { name, help, labels: labelNames, fromStart = [] } = row;
    const counter = new Counter<L>({ name, help, labelNames, registers: [this.#registry] });
    const count = (labels: Labels<L>, by = 1) => {
      counter.inc(labels, by);
    };
    for (const labels of fromStart) count(labels, 0);
    return count;
  }

  /** Returns the function that takes a value. */
  histogram<L extends string>(row: HistogramRow<L>): (labels: Labels<L>, value: number) => void {
    const { name, help, labels: labelNames, buckets } = row;
    const registers = [this.#registry];
    const histogram = new Histogram<L>({
      ...{ name, help, labelNames, registers },
      buckets: [...buckets],
    });
    return (labels, value) => {
      histogram.observe(labels, value);
    };
  }

  figures(...figures: readonly Figure[]): void {
    this.#figures.push(...figures);
  }

  /** Memory, CPU time and garbage collection of the process. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** `all` false: the series that name a key or a watch are left out. */
  async render(all = true): Promise<string> {
    const text = (await this.#registry.metrics()) + (await figuresText(this.#figures));
    if (all) return text;
    return text
      .split('\n')
      .filter((line) => !NAMES_AN_OWNER.test(line))
      .join('\n');
  }

  close(): void {
    this.#registry.clear();
    this.#figures.length = 0;
  }
}
