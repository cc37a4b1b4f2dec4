/**
 * `npm run bench:gpu`: what a GPU does, each question of bench/gpu/questions in a process of its own, both sides of
 * every ratio alternately. Writes a JSON file and charts into bench/results/ and the section of bench/README.md, or
 * with `--out FOLDER` into that folder only. `--dry` runs all of it on the CPU engine in under a minute, so that the
 * script is tested without a GPU.
 *
 * More: `--models FOLDER` (else LATTICE_MODELS_DIR), `--sizes n,x`, `--quick`, `--long IMAGES`, `--budget SECONDS`,
 * `--resume` (with `--out`), `--publish FOLDER` (an earlier `--out`), names of questions. Ends with 0 when every
 * question was answered, 1 when one failed, 2 when it could not begin, 3 when the budget left some out.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildInfo } from '../src/native/core.js';
import { machine } from './figures-page.js';
import { answersKey, AnswerStore } from './gpu/answer-store.js';
import { isWrongFlag, readArguments, type Arguments } from './gpu/arguments.js';
import { allQuestions } from './gpu/ask.js';
import { askAll } from './gpu/asking.js';
import { commit, gpuFacts, type GpuFacts } from './gpu/gpu-facts.js';
import { makePlan } from './gpu/make-plan.js';
import { isAmongResults, publish, readRecord } from './gpu/publication.js';
import { measuredOn, standIn, writeRecord, type RunRecord } from './gpu/run-record.js';

async function main(argv: readonly string[]): Promise<number> {
  const args = readArguments(argv);
  if (args.publish !== null) {
    await publish(readRecord(args.publish));
    return 0;
  }
  takeOneGpu();
  const facts = gpuFacts();
  const refusal = whyNot(args, facts);
  if (refusal !== null) {
    console.error(refusal);
    return 2;
  }
  const instead = standIn(facts, args.dry);
  if (instead !== null) console.log(`This is ${instead}.`);
  const temporary = mkdtempSync(join(tmpdir(), 'lattice-bench-'));
  try {
    return await measure(args, facts, temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** A process uses one GPU: the first that CUDA shows to this one, and to the processes of the questions. */
function takeOneGpu(): void {
  const shown = process.env.CUDA_VISIBLE_DEVICES ?? '0';
  process.env.CUDA_VISIBLE_DEVICES = shown.split(',')[0] ?? '';
}

/** Why there is nothing to begin, in one sentence. */
function whyNot(args: Arguments, facts: GpuFacts): string | null {
  const unknown = args.questions.filter((each) => !allQuestions().includes(each));
  if (unknown.length > 0) {
    return `There is no question ${unknown.join(', ')}; there are ${allQuestions().join(', ')}.`;
  }
  if (args.resume && args.out === null) return '--resume needs the folder of the run: --out.';
  if (standIn(facts, args.dry) !== null && args.out !== null && isAmongResults(args.out)) {
    return 'This run gives no GPU figures, so name a folder outside bench/results with --out.';
  }
  if (args.dry || facts.missing === null) return null;
  const reason = facts.missing.split(/\.(?:\s|$)/)[0] ?? '';
  return `No GPU can be used here, so nothing was measured (${reason}); \`npm run bench:gpu -- --dry\` runs the script on the CPU.`;
}

async function measure(args: Arguments, facts: GpuFacts, temporary: string): Promise<number> {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stopped.abort();
    });
  }
  const { plan, notes } = await makePlan(args, facts, temporary);
  for (const note of notes) console.log(note);
  if (plan.models.length === 0) {
    console.error('There is no model: name a folder of exports *n.onnx to *x.onnx with --models.');
    return 2;
  }
  const planFile = join(temporary, 'plan.json');
  writeFileSync(planFile, JSON.stringify(plan));
  const { models, effort } = plan;
  const revision = commit();
  const key = answersKey(revision, facts, buildInfo(), plan);
  const dry = standIn(facts, args.dry) !== null;
  const out = args.out ?? (dry ? mkdtempSync(join(tmpdir(), 'lattice-bench-dry-')) : null);
  const { answers, leftOut, failed } = await askAll({
    questions: args.questions.length > 0 ? args.questions : allQuestions(),
    planFile,
    store: new AnswerStore(out ?? temporary, key, args.resume),
    onGpu: !dry,
    left: () => (args.budget ?? 86_400) - process.uptime(),
    signal: stopped.signal,
  });
  const record: RunRecord = {
    date: new Date().toISOString().slice(0, 10),
    dry,
    measuredOn: measuredOn(facts, args.dry),
    command: args.command,
    commit: revision,
    machine: machine(),
    gpu: facts,
    gpuAtEnd: gpuFacts(),
    addon: buildInfo(),
    models: models.map(({ name, size }) => ({ name, size })),
    photos: plan.photos,
    effort,
    notes,
    answers,
    leftOut,
  };
  await keep(record, out, args.questions.length > 0);
  if (failed) return 1;
  return leftOut.length > 0 ? 3 : 0;
}

/** Into `out`; without one into the results and the page, unless only some questions were `chosen`. */
async function keep(record: RunRecord, out: string | null, chosen: boolean): Promise<void> {
  for (const { figures } of record.answers) {
    for (const { what, met } of figures) if (met === false) console.log(`Goal missed: ${what}.`);
  }
  if (out !== null) {
    writeRecord(record, out);
    console.log(`Figures and charts: ${out}`);
  } else if (chosen) {
    console.log('Only some questions were asked, so nothing is recorded; --out FOLDER keeps them.');
  } else {
    await publish(record);
  }
  if (record.dry) console.log(`This was ${record.measuredOn}.`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!isWrongFlag(error)) throw error;
  console.error(`${error.message}\nThe flags stand at the beginning of bench/gpu.ts.`);
  process.exitCode = 2;
}
