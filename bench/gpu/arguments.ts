/** The flags of `npm run bench:gpu`. */
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MODEL_SIZES, type ModelSize } from './plan.js';

export interface Arguments {
  /** On the CPU engine, with few repetitions. */
  dry: boolean;
  quick: boolean;
  /** Answers that an earlier run left in the same folder are not asked again. */
  resume: boolean;
  models: string | null;
  /** Only these, and those of them that have no export in the published layout, even where it is quick. */
  sizes: ModelSize[] | null;
  out: string | null;
  /** Images of the memory question. */
  long: number | null;
  /** Seconds, after which no question is begun and the one at work is ended. */
  budget: number | null;
  /** Puts an earlier run's folder into the page and the results, measures nothing. */
  publish: string | null;
  questions: string[];
  /** As it was typed, folders by their last name only. */
  command: string;
}

export function readArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      dry: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      models: { type: 'string' },
      sizes: { type: 'string' },
      out: { type: 'string' },
      long: { type: 'string' },
      budget: { type: 'string' },
      publish: { type: 'string' },
    },
  });
  const folder = (value: string | undefined) => (value === undefined ? null : resolve(value));
  return {
    dry: values.dry,
    quick: values.quick,
    resume: values.resume,
    models: folder(values.models),
    sizes: sizesOf(values.sizes),
    out: folder(values.out),
    long: positive('--long', values.long),
    budget: positive('--budget', values.budget),
    publish: folder(values.publish),
    questions: positionals,
    command: ['npm run bench:gpu', ...(argv.length > 0 ? ['--'] : []), ...argv.map(shown)].join(
      ' ',
    ),
  };
}

function sizesOf(text: string | undefined): ModelSize[] | null {
  if (text === undefined) return null;
  const named = text.split(',');
  const sizes = MODEL_SIZES.filter((size) => named.includes(size));
  if (sizes.length < named.length) {
    throw new Error(`--sizes is "${text}"; give some of ${MODEL_SIZES.join(',')}, each once.`);
  }
  return sizes;
}

function positive(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`${flag} is "${text}"; give a whole number from 1 on.`);
  }
  return value;
}

const shown = (word: string) =>
  word.includes('/') ? word.replace(/[^=]*\//, '') || basename(word) : word;

/** Whether the error is that of an unknown flag, or of a flag that lacks its value. */
export function isWrongFlag(error: unknown): error is Error {
  const code = error instanceof TypeError && 'code' in error ? error.code : null;
  return typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS');
}
