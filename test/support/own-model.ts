/** A model of the user's own: the test-pattern detector with class names of its own. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_MODELS } from './service-process.js';

/** Names of the pattern's car, motorcycle, bus and truck. */
export const OWN_CLASSES = ['car_ahead', 'stop_sign', 'Lorry', 'van'];
const NAMES = "{0: 'car', 1: 'motorcycle', 2: 'bus', 3: 'truck'}";

/** Writes `own.onnx`, the model `own.pt`, beside a copy of the default one. */
export function writeOwnModel(folder: string, classes = OWN_CLASSES): void {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(TEST_MODELS, 'yolov8n.onnx'), join(folder, 'yolov8n.onnx'));
  writeFileSync(join(folder, 'own.onnx'), ownModel(classes));
}

/** The bytes of a model with these classes; `of` is a file whose classes are car, motorcycle, bus and truck. */
export function ownModel(
  classes: readonly string[],
  of = join(TEST_MODELS, 'yolov8n.onnx'),
): Buffer {
  const model = readFileSync(of);
  const names = `{${classes.map((name, id) => `${id}:'${name}'`).join(',')}}`;
  // The names are text in the file, and spaces at its end mean nothing: the lengths before it stay right.
  const text = names.padEnd(NAMES.length);
  if (text.length > NAMES.length)
    throw new Error(`The names take over ${NAMES.length} characters.`);
  const at = model.indexOf(NAMES);
  if (at < 0) throw new Error('The test model has other names than this file says.');
  model.write(text, at, 'latin1');
  return model;
}
