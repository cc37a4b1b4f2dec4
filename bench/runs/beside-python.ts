/** `lattice run` and loops in Python with the same 8-bit file and the same library, on the same photos in turn. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from '../../test/support/service-process.js';
import { PYTHON, type Shape } from '../peers/sides.js';
import { orderOf } from '../peers/turns.js';
import { PLAIN_TASK } from '../setting.js';
import { sumOfCounts } from './killed-run.js';
import { OURS, type CallFigures, type LoopRound } from './loop-figures.js';
import { doneLine, watchRun } from './watched-run.js';

const SCRIPT = join(PROJECT_ROOT, 'bench/runs/python-loop.py');
const CONFIDENCE = String(PLAIN_TASK.confidence);
const MODES = ['one-by-one', 'queue'] as const;
const SHAPES = ['square', 'rectangles'] as const satisfies readonly Shape[];

export interface Beside {
  /** Folder of the photos. */
  folder: string;
  files: number;
  modelsDir: string;
  /** Name of the model in its folder, without `.pt`. */
  model: string;
  /** The copy in 8 bits of that model. */
  eightBits: string;
  /** New folder for what a run leaves; it is removed after each. */
  out: string;
}

/** Calls of all sides; their order changes with each round. */
export async function besidePython(at: Beside, count: number): Promise<LoopRound[]> {
  const sides = sidesOf(at);
  const rounds: LoopRound[] = [];
  for (let round = 0; round < count; round += 1) {
    const figures = new Map<string, CallFigures>();
    for (const { name, call } of orderOf(sides, round)) figures.set(name, await call());
    rounds.push(new Map(sides.map(({ name }) => [name, figures.get(name)!])));
  }
  return rounds;
}

interface LoopSide {
  name: string;
  call: () => Promise<CallFigures>;
}

function sidesOf(at: Beside): LoopSide[] {
  const loops = SHAPES.flatMap((shape) =>
    MODES.map((mode) => ({
      name: `Python, ${mode.replaceAll('-', ' ')}, ${shape}`,
      call: () => pythonCall(at, mode, shape),
    })),
  );
  return [{ name: OURS, call: () => ourCall(at) }, ...loops];
}

async function ourCall({ folder, files, model, modelsDir, out }: Beside): Promise<CallFigures> {
  const options = ['--models-dir', modelsDir, '--model', `${model}.pt`, '--precision', 'int8'];
  const run = await watchRun([folder, ...options, '--confidence', CONFIDENCE, '--out', out], null);
  const done = doneLine(run.out);
  if (run.code !== 0 || done === null) throw new Error(`lattice run has failed:\n${run.err}`);
  const boxes = await sumOfCounts(out, 'detections');
  rmSync(out, { recursive: true });
  return { boxes, told: done.perSecond, whole: files / run.seconds };
}

async function pythonCall(
  { folder, files, eightBits }: Beside,
  mode: string,
  shape: Shape,
): Promise<CallFigures> {
  const options = ['--mode', mode, '--shape', shape, '--confidence', CONFIDENCE];
  const began = performance.now();
  const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, eightBits, folder, ...options]);
  const whole = (performance.now() - began) / 1_000;
  const told = JSON.parse(stdout) as { images: number; boxes: number; seconds: number };
  if (told.images !== files) throw new Error(`The loop has run ${told.images} of ${files} files.`);
  return { boxes: told.boxes, told: files / told.seconds, whole: files / whole };
}
