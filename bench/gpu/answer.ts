/** The answer to a question of the GPU benchmark: figures, charts, and what is missing. */
import type { Chart } from './chart.js';

export type Goal = { atLeast: number } | { atMost: number };

export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** The other side of the ratio, measured alternately in the same process. */
  baseline?: { what: string; value: number };
  /** The goal applies to it. */
  ratio?: number;
  goal?: Goal;
}

export interface Answer {
  title: string;
  figures: Figure[];
  /** Figures that are missing, and why, one sentence each. */
  notes: string[];
  charts: Chart[];
}

/** A figure as it is stored: `met` is null where the goal was not judged, or there is none. */
export interface JudgedFigure extends Omit<Figure, 'goal'> {
  goal: string | null;
  met: boolean | null;
}

export interface JudgedAnswer extends Omit<Answer, 'figures'> {
  question: string;
  seconds: number;
  figures: JudgedFigure[];
}

/** 0.9 -> "0.90", 0.995 stays. */
const bound = (value: number) =>
  Math.round(value * 1_000) % 10 === 0 ? value.toFixed(2) : value.toFixed(3);

export function goalText(goal: Goal): string {
  return 'atLeast' in goal ? `>= ${bound(goal.atLeast)}` : `<= ${bound(goal.atMost)}`;
}

/** Goals are for GPUs: on anything else they are shown and not judged. */
export function judged(figure: Figure, onGpu: boolean): JudgedFigure {
  const { goal, ...rest } = figure;
  if (goal === undefined) return { ...rest, goal: null, met: null };
  const text = goalText(goal);
  if (!onGpu || rest.ratio === undefined) return { ...rest, goal: text, met: null };
  const met = 'atLeast' in goal ? rest.ratio >= goal.atLeast : rest.ratio <= goal.atMost;
  return { ...rest, goal: text, met };
}

/** Value, its other side and their ratio. */
export function against(
  figure: Pick<Figure, 'what' | 'value' | 'unit'>,
  baseline: { what: string; value: number },
  goal?: Goal,
): Figure {
  const ratio = figure.value / baseline.value;
  return { ...figure, baseline, ratio, ...(goal === undefined ? {} : { goal }) };
}
