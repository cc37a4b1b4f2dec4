/** One question in a process of its own: a GPU fault or a leak in one does not change the next. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Answer } from './answer.js';
import type { Plan } from './plan.js';

const QUESTIONS = fileURLToPath(new URL('questions/', import.meta.url));
const ANSWERER = fileURLToPath(new URL('answerer.ts', import.meta.url));
/** For a cancelled build of an engine to store its timings. */
const GRACE_MS = 8_000;
export const MARK = '=== answer ';

/** In the order of the report: what later figures are compared with comes first, the longest question last. */
const FIRST = ['shares', 'sync-pixels', 'sync-latency', 'throughput'];
const LAST = ['memory'];

export function allQuestions(): string[] {
  const names = readdirSync(QUESTIONS).map((file) => file.replace(/\.ts$/, ''));
  const place = (name: string) => {
    if (LAST.includes(name)) return FIRST.length + 1;
    return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
  };
  return names.sort((a, b) => place(a) - place(b) || a.localeCompare(b));
}

/** There was no time for the question, or for its answer. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

export async function answerHere(question: string, plan: Plan): Promise<Answer> {
  const file = new URL(`questions/${question}.ts`, import.meta.url).href;
  const loaded = (await import(file)) as { default: (plan: Plan) => Promise<Answer> };
  return loaded.default(plan);
}

/** Rejects with `OutOfTime` after `seconds` or when stopped, else when the process failed or gave no answer. */
export async function ask(
  question: string,
  planFile: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Answer> {
  const over = AbortSignal.timeout(Math.ceil(seconds * 1_000));
  const ended = AbortSignal.any([over, signal]);
  const child = spawn(process.execPath, ['--import', 'tsx', ANSWERER, question, planFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ended.addEventListener('abort', () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (signal.aborted) throw new OutOfTime('The run was stopped meanwhile.');
  if (over.aborted) throw new OutOfTime(`The budget was spent ${Math.round(seconds)} s into it.`);
  const line = output.split('\n').find((each) => each.startsWith(MARK));
  if (line === undefined || code !== 0) {
    throw new Error(`It gave no answer (exit code ${code ?? 'none'}).\n${output}`);
  }
  return JSON.parse(line.slice(MARK.length)) as Answer;
}
