/** The questions of `npm run bench` can be asked: what they take from the tests works without the tests' runner. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/python-environment.js';
import { PROJECT_ROOT } from '../support/service-process.js';

const FOLDER = join(PROJECT_ROOT, 'bench');
const questions = readdirSync(FOLDER).filter((file) => file.endsWith('.bench.ts'));

test('each question is a module whose default is asked', async () => {
  const preload = pathToFileURL(join(PROJECT_ROOT, 'test/support/compiled-threads.mjs')).href;
  const urls = questions.map((file) => pathToFileURL(join(FOLDER, file)).href);
  const script = `for (const url of ${JSON.stringify(urls)}) console.log(typeof (await import(url)).default);
    process.exit();`;
  const output = await runProgram(process.execPath, [
    ...['--import', preload, '--import', 'tsx'],
    ...['--input-type=module', '--eval', script],
  ]);
  expect(output).toBe('function\n'.repeat(questions.length));
});
