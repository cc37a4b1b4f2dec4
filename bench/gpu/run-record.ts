/** A whole run as it is kept: JSON and charts in one folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeBuildInfo } from '../../src/native/contract.js';
import type { JudgedAnswer } from './answer.js';
import { drawChart } from './chart.js';
import type { GpuFacts } from './gpu-facts.js';
import type { Effort } from './plan.js';
import type { PhotoSize } from './photos.js';

export interface RunRecord {
  date: string;
  /** Nothing in it is a GPU figure. */
  dry: boolean;
  /** The device that every figure was measured on, in words. */
  measuredOn: string;
  command: string;
  /** Commit of this checkout, with "+" where files differ from it; null where it is unknown. */
  commit: string | null;
  machine: string;
  gpu: GpuFacts;
  /** The same facts when the last question had been answered: clocks may have moved. */
  gpuAtEnd: GpuFacts;
  addon: NativeBuildInfo;
  models: { name: string; size: string }[];
  photos: PhotoSize[];
  effort: Effort;
  notes: string[];
  answers: JudgedAnswer[];
  leftOut: { question: string; why: string }[];
}

/** The device that is measured in a GPU's place, in words; null for a GPU. */
export function standIn(facts: Pick<GpuFacts, 'simulated'>, dry: boolean): string | null {
  if (dry) return 'the CPU engine in dry mode: nothing here is a GPU figure';
  return facts.simulated ? 'a simulated GPU: nothing here is a GPU figure' : null;
}

export function measuredOn(facts: GpuFacts, dry: boolean): string {
  const words = standIn(facts, dry);
  if (words !== null) return words;
  const kinds = [...new Set(facts.names)].map((name) => {
    const count = facts.names.filter((each) => each === name).length;
    return count > 1 ? `${count} x ${name}` : name;
  });
  return kinds.join(', ');
}

/** "nvidia-h200-2027-01-31": part of file names. */
export function slug(record: RunRecord): string {
  const device = record.dry ? 'dry' : record.measuredOn;
  const name = device.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return `${name}-${record.date}`;
}

export interface ChartFile {
  file: string;
  title: string;
  question: string;
}

/** Writes SLUG.json and a chart a file; returns the charts. */
export function writeRecord(record: RunRecord, folder: string): ChartFile[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${slug(record)}.json`), `${JSON.stringify(record, null, 2)}\n`);
  return record.answers.flatMap(({ question, charts }) =>
    charts.map((chart) => {
      const file = `${slug(record)}-${chart.name}.svg`;
      const footer = `${record.measuredOn}, ${record.date}`;
      writeFileSync(join(folder, file), drawChart(chart, footer));
      return { file, title: `${chart.title}, ${record.measuredOn}`, question };
    }),
  );
}
