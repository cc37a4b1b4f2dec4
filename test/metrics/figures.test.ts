import { expect, test } from 'vitest';
import { figuresText, type Figure } from '../../src/metrics/figures.js';

const figure = (name: string, read: Figure['read'], rest: Partial<Figure> = {}): Figure => ({
  ...{ name, help: `Of ${name}.`, read },
  ...rest,
});

const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 20, value));

test('a figure is a number, a truth, a number by label, or samples', async () => {
  const text = await figuresText([
    figure('jobs', () => ({ pending: 3, running: 0 }), { label: 'status' }),
    figure('ready', () => true),
    figure('waiting', () => later(5)),
    figure('shares', () => [{ labels: { alias: 'production.pt' }, value: 0.25 }]),
    figure('events_total', () => ({ lost: 2 }), { label: 'event', kind: 'counter' }),
    figure('unknown', () => []),
  ]);
  expect(text).toContain('jobs{status="pending"} 3\njobs{status="running"} 0\n');
  expect(text).toContain('# TYPE ready gauge\nready 1\n');
  expect(text).toContain('waiting 5\n');
  expect(text).toContain('shares{alias="production.pt"} 0.25\n');
  expect(text).toContain('# TYPE events_total counter\nevents_total{event="lost"} 2\n');
  expect(text).not.toContain('unknown');
});

test('two who ask at a time get the same count', async () => {
  const figures = [
    figure('jobs', () => later({ pending: 3 }), { label: 'status' }),
    figure('events_total', () => ({ lost: 2 }), { label: 'event', kind: 'counter' }),
  ];
  for (const text of await Promise.all([figuresText(figures), figuresText(figures)])) {
    expect(text).toContain('jobs{status="pending"} 3\n');
    expect(text).toContain('events_total{event="lost"} 2\n');
  }
});

test('a figure that fails or is never read is left out and hides nothing else', async () => {
  const text = await figuresText([
    figure('rejects', () => Promise.reject(new Error('store closed'))),
    figure('throws', () => {
      throw new Error('closed');
    }),
    figure('hangs', () => new Promise<number>(() => undefined)),
    figure('ready', () => true),
  ]);
  expect(text.match(/^\w+/gm)).toEqual(['ready']);
});
