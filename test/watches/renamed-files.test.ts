import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathsToLookAt, renamedFiles, type NamedFile } from '../../src/watches/renamed-files.js';

const file = (path: string, ...names: string[]): NamedFile => ({ path, version: 'v', names });
const decided = (files: NamedFile[], there: Record<string, string | null>) => {
  const { moves, standings } = renamedFiles(files, new Map(Object.entries(there)));
  return {
    moves: moves.map(({ from, to }) => `${from} > ${to}`),
    ...Object.fromEntries(standings),
  };
};

test.each([
  ['was renamed', [file('b', 'a')], { a: null, b: 'v' }, { moves: ['a > b'], b: 'handled' }],
  ['was renamed, and its name taken', [file('b', 'a')], { a: 'w', b: 'v' }, { moves: ['a > b'], b: 'handled' }],
  ['was copied', [file('b', 'a')], { a: 'v', b: 'v' }, { moves: [], b: 'copy' }],
  ['took one of two names', [file('c', 'a', 'b')], { a: 'v', b: null, c: 'v' }, { moves: ['b > c'], c: 'handled' }],
  ['has changed meanwhile', [file('b', 'a')], { a: null, b: 'w' }, { moves: [] }],
  ['is gone meanwhile', [file('b', 'a')], { a: null, b: null }, { moves: [] }],
  ['has an earlier name that cannot be looked at', [file('b', 'a')], { b: 'v' }, { moves: [] }],
  ['is one of two of one name', [file('b', 'a'), file('c', 'a')], { a: null, b: 'v', c: 'v' }, { moves: ['a > b'], b: 'handled' }],
] as const)('a file that %s', (_what, files, there, expected) => {
  expect(decided([...files], there)).toEqual(expected);
}); // prettier-ignore

test('no name is taken twice, and only a name without the version, for a file with it', () => {
  const path = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const version = fc.constantFrom('v', 'w');
  const files = fc.uniqueArray(
    fc.record({ path, version, names: fc.uniqueArray(path, { minLength: 1 }) }),
    { selector: (each) => each.path },
  );
  const there = fc.dictionary(path, fc.option(version));
  fc.assert(
    fc.property(files, there, (named, content) => {
      const current = new Map(Object.entries(content));
      const { moves, standings } = renamedFiles(named, current);
      const taken = moves.map(({ from, version: of }) => `${of} ${from}`);
      expect(new Set(taken).size).toBe(taken.length);
      for (const move of moves) {
        expect(current.get(move.to)).toBe(move.version);
        expect(current.get(move.from)).not.toBe(move.version);
        expect(current.has(move.from)).toBe(true);
        expect(standings.get(move.to)).toBe('handled');
      }
      for (const each of named) {
        if (standings.get(each.path) !== 'copy') continue;
        for (const name of each.names) expect(current.get(name)).toBe(each.version);
      }
      const paths = pathsToLookAt(named);
      expect(new Set(paths).size).toBe(paths.length);
      for (const { path: own, names } of named)
        expect(paths).toEqual(expect.arrayContaining([own, ...names]));
    }),
  );
});
