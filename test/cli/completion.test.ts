/** The scripts of `lattice completion`, sourced by the shells that this machine has. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from './run.js';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-completion-'));
  mkdirSync(join(folder, 'photos of may'));
  writeFileSync(join(folder, 'photo.jpg'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(folder, `lattice.${shell}`), (await run('completion', shell)).out);
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const has = (shell: string) => spawnSync(shell, ['--version']).error === undefined;

type Complete = (...words: string[]) => string[];

const SHELLS: Record<string, Complete> = {
  bash: (...words) => {
    const line = ['lattice', ...words].map((word) => `'${word}'`).join(' ');
    const script = `source ./lattice.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length}
      _lattice; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return linesOf('bash', ['--noprofile', '--norc', '-c', script]);
  },
  // Outside its line editor zsh completes nothing: what the script would add is printed.
  zsh: (...words) => {
    const line = ['lattice', ...words].map((word) => `'${word}'`).join(' ');
    const script = `compdef() { }
      compadd() { shift; for each in "$@"; do [[ $each == "$PREFIX"* ]] && print -r -- "$each"; done; true }
      _files() { [[ $1 == -/ ]] && print -l -- *(/) || print -l -- * }
      source ./lattice.zsh; words=(${line}); CURRENT=\${#words}; PREFIX=\${words[-1]}; _lattice`;
    return linesOf('zsh', ['-f', '-c', script]);
  },
  fish: (...words) =>
    linesOf('fish', [
      '--no-config',
      '-c',
      `source ./lattice.fish; complete -C '${['lattice', ...words].join(' ')}'`,
    ]).map((line) => line.split('\t')[0]!.replaceAll('\\', '').replace(/\/$/, '')),
};

function linesOf(program: string, args: string[]): string[] {
  const text = execFileSync(program, args, { cwd: folder, encoding: 'utf8' });
  return text.split('\n').filter((line) => line !== '');
}

describe.each(Object.entries(SHELLS))('%s', (shell, complete) => {
  test.runIf(has(shell)).each([
    ['commands', ['mod'], ['model']],
    ['commands beneath a command', ['model', 'alias', 'ro'], ['rollback']],
    ['options of a command', ['run', '--max-f'], ['--max-failure-share', '--max-file-bytes']],
    ['choices', ['run', 'photos', '--format', 'coco'], ['coco', 'coco-results']],
    ['choices of a short option', ['job', 'submit', '-t', 'detect_c'], ['detect_cars']],
    ['settings with choices', ['serve', '--device', 'c'], ['cpu', 'cuda']],
    ['the choices of an argument', ['completion', 'z'], ['zsh']],
    ['no commands as arguments of another one', ['job', 'status', 'job', 'sub'], []],
    ['nothing for a text', ['job', 'submit', '--name', ''], []],
  ])('%s', (_what, words, expected) => {
    expect(complete(...words).toSorted()).toEqual(expected);
  });

  test.runIf(has(shell))('files, and folders alone where a folder is needed', () => {
    expect(complete('run', '')).toEqual(expect.arrayContaining(['photo.jpg', 'photos of may']));
    expect(complete('run', '--out', '')).toEqual(['photos of may']);
    expect(complete('--verbose', 'serve', '--models-dir', '')).toEqual(['photos of may']);
  });
});

test('bash: an option and its value with an equals sign', () => {
  expect(SHELLS.bash!('run', '--format', '=', 'coco-')).toEqual(['coco-results']);
  expect(SHELLS.bash!('run', '--device', '=')).toEqual(expect.arrayContaining(['cuda']));
});

test('another shell is refused', async () => {
  expect(await run('completion', 'tcsh')).toMatchObject({ code: 2 });
});
