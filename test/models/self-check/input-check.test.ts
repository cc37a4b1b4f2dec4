import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/base/package.js';
import { readKnownPicture, type KnownPicture } from '../../../src/models/self-check/model-check.js';
import type { Detection } from '../../../src/api/schemas/image.js';
import { faultOfInputs } from '../../../src/models/self-check/input-check.js';
import { detectionsFrom } from '../../../src/boxes/raw-detections.js';
import { partOfShape } from '../../../src/models/self-check/input-check.js';
import type { NativeModel } from '../../../src/native/contract.js';
import type { Core } from '../../../src/native/core.js';
import { openTestCore } from '../../native-addon/open-test-core.js';
import { nativeModel } from '../../support/native-model.js';

const RECTANGLES = [
  { width: 320, height: 640 },
  { width: 640, height: 384 },
];
const native = nativeModel({ rectangles: RECTANGLES });
const known: KnownPicture = {
  picture: { data: new Uint8Array(3 * 96 * 72), width: 96, height: 72 },
  boxes: [{ class: 'car', box: [20, 20, 40, 40] }],
};

const PARTS = [{ width: 640, height: 640 }, ...RECTANGLES].map((size) => partOfShape(known, size));

/** Finds the vehicle, but for what `change` makes of it on the part of this width. */
function lookBut(width: number, change: (found: Detection) => Detection[]) {
  return (picture: KnownPicture['picture']): Promise<Detection[]> => {
    const part = PARTS.find((each) => each.picture.width === picture.width)!;
    const found = { class: 'car', confidence: 0.3, box: part.boxes[0]!.box };
    return Promise.resolve(picture.width === width ? change(found) : [found]);
  };
}

describe('inputs of a model', () => {
  it('pass where each finds its vehicles, however sure of it', async () => {
    expect(
      await faultOfInputs(
        native,
        known,
        lookBut(0, () => []),
      ),
    ).toBeNull();
  });

  it.each([
    ['640 x 640', 72],
    ['640 x 384', 96],
  ])('are looked through, of the rectangles the largest: %s', async (size, width) => {
    const fault = await faultOfInputs(
      native,
      known,
      lookBut(width, () => []),
    );
    expect(fault).toBe(`at ${size} it sees nothing: every score on the self-check picture is 0`);
  });

  it.each([
    ['a moved box', (found: Detection) => [{ ...found, box: [0, 0, 9, 9] as Detection['box'] }]],
    ['another class', (found: Detection) => [{ ...found, class: 'bus' }]],
    ['a doubt', (found: Detection) => [{ ...found, confidence: 0.2 }]],
  ])('fail on %s', async (_what, change) => {
    expect(await faultOfInputs(native, known, lookBut(96, change))).toBe(
      'at 640 x 384 it misses 1 of the 1 vehicles on a part of the self-check picture',
    );
  });

  it.each([
    ['a wide picture', [96, 60], [60, 60], [96, 57]],
    ['a tall picture', [48, 96], [48, 48]],
    ['a picture that a rectangle takes whole', [80, 48], [48, 48]],
    ['a picture that the square takes whole', [80, 80], [80, 48]],
  ])('are looked through once: %s', async (_which, [width = 0, height = 0], ...parts) => {
    const picture = { data: new Uint8Array(3 * width * height), width, height };
    const looks: number[][] = [];
    const look = (part: KnownPicture['picture']): Promise<Detection[]> => {
      looks.push([part.width, part.height]);
      return Promise.resolve([{ class: 'car', confidence: 0.3, box: [0, 0, 9, 9] }]);
    };
    expect(await faultOfInputs(native, { picture, boxes: [] }, look)).toBeNull();
    expect(looks).toEqual(parts);
  });

  it('are not looked through where there is one', async () => {
    const look = () => Promise.reject(new Error('looked'));
    expect(await faultOfInputs(nativeModel(), known, look)).toBeNull();
  });
});

describe('inputs of the bundled model', () => {
  const MODEL = join(PACKAGE_ROOT, 'models', 'vehicles-v8n.onnx');
  const SIZES = [
    [640, 384],
    [640, 448],
    [640, 480],
    [384, 640],
    [448, 640],
    [480, 640],
  ].map(([width, height]) => ({ width: width!, height: height! }));
  let street: KnownPicture;
  let square: Opened;
  let rectangular: Opened;
  interface Opened {
    core: Core;
    model: NativeModel;
  }

  const open = async (rectangles?: typeof SIZES): Promise<Opened> => {
    const given = rectangles === undefined ? {} : { rectangles };
    const { core, model } = await openTestCore({ device: 'cpu', ...given }, MODEL);
    return { core, model };
  };
  const look = async ({ core, model }: Opened, pixels: KnownPicture['picture']) => {
    const { boxes } = await core.run({
      modelId: model.modelId,
      path: null,
      pixels,
      kind: 'sync',
      priority: 0,
      deadlineMs: 60_000,
      confidence: 0,
      iou: 0.7,
      maxDetections: 300,
      classIds: null,
    });
    return detectionsFrom(boxes, model.names);
  };

  beforeAll(async () => {
    street = await readKnownPicture(join(PACKAGE_ROOT, 'models', 'demo', 'street.json'));
    square = await open([]);
    rectangular = await open();
  });
  afterAll(async () => {
    await square.core.close();
    await rectangular.core.close();
  });

  // The look at the whole picture is that at 640 x 480.
  it.each(SIZES.filter(({ height }) => height !== 480))(
    'pass at $width x $height',
    async (size) => {
      const looked = (picture: KnownPicture['picture']) => look(rectangular, picture);
      expect(rectangular.model.rectangles).toContainEqual(size);
      const listed = { ...rectangular.model, rectangles: [size] };
      expect(await faultOfInputs(listed, street, looked)).toBeNull();
    },
  );

  it('each take the part of their shape', async () => {
    const isSquares = async (shape: { width: number; height: number }) => {
      const { picture } = partOfShape(street, shape);
      const [found, expected] = [await look(rectangular, picture), await look(square, picture)];
      return JSON.stringify(found) === JSON.stringify(expected);
    };
    expect(await isSquares({ width: 640, height: 640 })).toBe(true);
    for (const size of SIZES) expect(await isSquares(size), JSON.stringify(size)).toBe(false);
  });
});
