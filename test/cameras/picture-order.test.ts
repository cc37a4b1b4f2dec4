import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPicture, newCamera, withPending } from '../../src/cameras/picture-order.js';
import { PLACE_RULES, type Picture } from '../../src/cameras/place-tracker.js';
import { SCENES, sequenceOf, START } from '../support/camera-stills.js';

const [, , stopLine] = SCENES;
const pictures: Picture[] = sequenceOf({ ...stopLine!, hours: 2.5, interval: 40 }).stills.map(
  ({ key, time, width, height, boxes }) => ({ key, time, width, height, boxes }),
);

/** All that a camera says of pictures that come in this order. */
function placesOf(ordered: readonly Picture[], mostDelay?: number) {
  const camera = newCamera();
  const folded = ordered.flatMap((picture) => addPicture(camera, picture, PLACE_RULES, mostDelay));
  const { places, pictures: pending } = withPending(camera, PLACE_RULES);
  return { places, answers: [...folded, ...pending], late: camera.late };
}

const inOrder = placesOf(pictures);

/** Each picture comes up to `seconds` late. */
function delayed(seconds: number) {
  return fc
    .array(fc.double({ min: 0, max: seconds, noNaN: true }), {
      minLength: pictures.length,
      maxLength: pictures.length,
    })
    .map((delays) =>
      pictures
        .map((picture, at) => ({ picture, arrival: picture.time + delays[at]! }))
        .sort((one, other) => one.arrival - other.arrival)
        .map(({ picture }) => picture),
    );
}

describe('pictures that come out of order', () => {
  test('within the hour give the same places, answers and changes', () => {
    fc.assert(
      fc.property(delayed(3600), (ordered) => {
        expect(placesOf(ordered)).toEqual(inOrder);
      }),
      { numRuns: 30 },
    );
  });

  test('of one time are ordered by their keys', () => {
    const same = pictures.slice(0, 60).map((picture, at) => ({
      ...picture,
      time: picture.time - (at % 3) * 40,
      key: `${at}`,
    }));
    expect(placesOf([...same].reverse())).toEqual(placesOf(same));
  });

  test('beyond the delay are late: counted, unknown, and without effect', () => {
    const camera = newCamera();
    for (const picture of pictures) addPicture(camera, picture, PLACE_RULES);
    const before = structuredClone(camera);
    const late = { ...pictures[0]!, key: 'late.jpg' };
    const [answer] = addPicture(camera, late, PLACE_RULES);
    expect(answer).toMatchObject({ key: 'late.jpg', changes: [], decided: [] });
    expect(answer?.boxes).toHaveLength(late.boxes.length);
    for (const box of answer!.boxes) {
      expect(box).toEqual({ place: null, stay: null, staySince: null, static: 'unknown' });
    }
    expect(camera).toEqual({ ...before, late: 1 });
  });

  test('exactly at the delay are in time', () => {
    const camera = newCamera();
    const [first, second] = pictures;
    addPicture(camera, { ...first!, time: START + 3600 }, PLACE_RULES);
    expect(addPicture(camera, { ...second!, time: START }, PLACE_RULES)).toEqual([]);
    expect(camera).toMatchObject({ late: 0, pending: [{ time: START }, { time: START + 3600 }] });
  });
});

test('a picture that waits already is replaced', () => {
  const camera = newCamera();
  const [first, second] = pictures;
  for (const picture of [first!, second!, first!]) addPicture(camera, picture, PLACE_RULES);
  expect(camera.pending).toEqual([first, second]);
});

test('the state may be stored after every picture, those that wait too', () => {
  let camera = newCamera();
  const answers = pictures.flatMap((picture) => {
    camera = JSON.parse(JSON.stringify(camera)) as typeof camera;
    return addPicture(camera, picture, PLACE_RULES);
  });
  const { places, pictures: pending } = withPending(
    JSON.parse(JSON.stringify(camera)) as typeof camera,
    PLACE_RULES,
  );
  expect({ places, answers: [...answers, ...pending], late: camera.late }).toEqual(inOrder);
});

test('reading the pictures that wait changes nothing', () => {
  const camera = newCamera();
  for (const picture of pictures.slice(0, 50)) addPicture(camera, picture, PLACE_RULES);
  const before = structuredClone(camera);
  expect(withPending(camera, PLACE_RULES).pictures.length).toBeGreaterThan(0);
  expect(camera).toEqual(before);
});

test('with no delay each picture is folded when the next one comes', () => {
  const camera = newCamera();
  const folded = pictures
    .slice(0, 4)
    .map((picture) => addPicture(camera, picture, PLACE_RULES, 0).map(({ key }) => key));
  const [first, second, third] = pictures.map(({ key }) => key);
  expect(folded).toEqual([[], [first], [second], [third]]);
});
