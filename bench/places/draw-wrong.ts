/** The stills with the most wrong boxes of a sequence as pictures, for a person to look at. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Detection } from '../../src/api/schemas/image.js';
import { boxesSvg } from '../../src/annotate/boxes-svg.js';
import { detectionsOf, SIZE } from '../../test/support/camera-stills.js';
import { isWrong, type JudgedStill, type Verdict } from './wrong-boxes.js';

/** Pictures of a sequence. */
const MOST = 6;
const GROUND = { r: 205, g: 205, b: 200 };

/** Writes the pictures into the folder, which it makes. Returns their names. */
export async function drawWrong(
  folder: string,
  name: string,
  judged: readonly JudgedStill[],
): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const wrong = (still: JudgedStill) =>
    still.verdicts.filter((verdict) => verdict !== null && isWrong(verdict)).length;
  const worst = judged
    .filter((still) => wrong(still) > 0)
    .sort((one, other) => wrong(other) - wrong(one))
    .slice(0, MOST);
  const names: string[] = [];
  for (const still of worst) {
    const file = `${name}-${still.still.time}-${wrong(still)}-wrong.png`;
    await sharp({ create: { ...SIZE, channels: 3, background: GROUND } })
      .composite([{ input: Buffer.from(boxesSvg(SIZE, labelled(still))) }])
      .png()
      .toFile(join(folder, file));
    names.push(file);
  }
  return names;
}

/**
 * The verdict in place of the class: it chooses the colour, and the label says it. Wrong ones come first, where their
 * vehicles usually stand last.
 */
function labelled({ still, verdicts, usual }: JudgedStill): Detection[] {
  const drawn = detectionsOf(still).flatMap((detection, at) => {
    const verdict = verdicts[at];
    return verdict ? [{ ...detection, class: verdict }] : [];
  });
  const rank = (box: { class: string }) => (isWrong(box.class as Verdict) ? 0 : 1);
  drawn.sort((one, other) => rank(one) - rank(other));
  return [
    ...drawn,
    ...usual.map(([left, top, right, bottom]): Detection => ({
      class: 'usually',
      confidence: 1,
      box: [left, top, right, bottom],
    })),
  ];
}
