/** Prometheus' text format, as far as `/metrics` uses it. */

export interface Metric {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

export function readMetrics(text: string): Metric[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    return [{ name, labels: readLabels(labels), value: readNumber(value) }];
  });
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
    name,
    value.replace(/\\[n"\\]/g, (escape) => ESCAPES[escape] ?? escape),
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** `+Inf` is no number of JavaScript. */
function readNumber(text: string): number {
  return text.endsWith('Inf') ? Number(text.replace('Inf', 'Infinity')) : Number(text);
}
