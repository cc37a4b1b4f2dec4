import { expect, test } from 'vitest';
import type { ModelDescription } from '../../src/api/schemas/model.js';
import { ModelCatalogue } from '../../src/http/model-catalogue.js';
import { ScriptedDetector } from '../support/scripted-detector.js';

test('the classes of a loaded model are told without waiting for a new list', async () => {
  let now = 0;
  let lists = 0;
  const detector = new ScriptedDetector();
  const [loaded] = await detector.models();
  let answer: (models: ModelDescription[]) => void = () => undefined;
  const catalogue = new ModelCatalogue(
    {
      prepare: (name) => detector.prepare(name),
      models: () => {
        lists += 1;
        return new Promise((resolve) => (answer = resolve));
      },
    },
    () => now,
  );
  const first = catalogue.classesOf('yolov8n.pt');
  answer([loaded!]);
  expect(await first).toEqual(loaded!.classes);
  expect(await catalogue.classesOf('yolov8n.pt')).toEqual(loaded!.classes);
  expect(lists).toBe(1);
  now = 6_000;
  expect(await catalogue.classesOf('yolov8n.pt')).toEqual(loaded!.classes);
  expect(lists).toBe(2);
  answer([{ ...loaded!, classes: ['car_ahead'] }]);
  await new Promise(setImmediate);
  expect(await catalogue.classesOf('yolov8n.pt')).toEqual(['car_ahead']);
});
