/** The tests of the Python code beneath `models/`, with the library they are written for. */
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { quantizePython } from '../../src/cli/model/quantizing.js';
import { runProgram } from '../../src/cli/python-environment.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';

const CODE = ['train', 'quantize'].map((part) => join(PACKAGE_ROOT, 'models', part));

test.each(['train', 'quantize'])('models/%s', async (part) => {
  const python =
    process.env.LATTICE_TRAIN_PYTHON ??
    (await quantizePython((line) => {
      console.log(line);
    }));
  const tests = ['-m', 'unittest', 'discover', '-v', '-s', join(PACKAGE_ROOT, 'test/models', part)];
  const output = await runProgram(python, ['-B', ...tests], {
    ...process.env,
    PYTHONPATH: CODE.join(delimiter),
  });
  const skipped = output.split('\n').filter((line) => line.includes(' skipped '));
  const reasons = new Set(skipped.map((line) => /skipped '(.*)'/.exec(line)?.[1] ?? line));
  for (const reason of reasons)
    console.log(`${skipped.length} of models/${part} skipped: ${reason}`);
  expect(output).toMatch(/Ran [1-9]\d* tests? in/);
});
