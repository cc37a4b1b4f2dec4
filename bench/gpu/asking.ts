/** Asks all questions of a run one by one and shows each answer. */
import { textTable } from '../tables.js';
import { judged, type JudgedAnswer } from './answer.js';
import type { AnswerStore } from './answer-store.js';
import { ask, OutOfTime } from './ask.js';
import { tableRow } from './results-page.js';
import type { RunRecord } from './run-record.js';

export interface Outcome {
  answers: JudgedAnswer[];
  leftOut: RunRecord['leftOut'];
  failed: boolean;
}

export interface Asking {
  questions: readonly string[];
  planFile: string;
  store: AnswerStore;
  onGpu: boolean;
  /** Seconds left; no question is begun with few. */
  left(): number;
  signal: AbortSignal;
}

const LEAST_SECONDS = 10;

export async function askAll(asking: Asking): Promise<Outcome> {
  const outcome: Outcome = { answers: [], leftOut: [], failed: false };
  for (const question of asking.questions) {
    console.log(`== ${question}`);
    try {
      const answer = await answerOf(question, asking);
      show(answer);
      outcome.answers.push(answer);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      outcome.failed ||= !(error instanceof OutOfTime);
      outcome.leftOut.push({ question, why });
      console.log(`${question}: left out. ${why}`);
    }
  }
  return outcome;
}

async function answerOf(question: string, asking: Asking): Promise<JudgedAnswer> {
  const before = asking.store.read(question);
  if (before !== null) {
    console.log('Answered before.');
    return before;
  }
  if (asking.signal.aborted) throw new OutOfTime('The run was stopped before it.');
  const left = asking.left();
  if (left < LEAST_SECONDS) throw new OutOfTime('The budget was spent before it.');
  const start = performance.now();
  const { figures, ...rest } = await ask(question, asking.planFile, left, asking.signal);
  const answer: JudgedAnswer = {
    question,
    seconds: (performance.now() - start) / 1_000,
    ...rest,
    figures: figures.map((figure) => judged(figure, asking.onGpu)),
  };
  asking.store.write(answer);
  return answer;
}

function show({ figures, notes, seconds }: JudgedAnswer): void {
  console.log(textTable(figures.map(tableRow)));
  for (const note of notes) console.log(note);
  console.log(`(${seconds.toFixed(1)} s)`);
}
