import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWords } from '../../../src/clusters/ray/ray-workers.js';

test('a shell gets exactly these words', () => {
  const special = fc.string({
    unit: fc.constantFrom('a', ' ', "'", '"', '$', '`', '\\', '\n', '*', ';', '~'),
  });
  const word = fc.oneof(
    special,
    fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const line = `printf '%s\\0' ${shellWords(words)}`;
      const { stdout } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
      expect(stdout.split('\0').slice(0, -1)).toEqual(words);
    }),
  );
});
