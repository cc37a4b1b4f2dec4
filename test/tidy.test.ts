/**
 * Rules of this code that neither compiler, linter nor formatter knows. Each is shown with a good and a bad example.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from './support/service-process.js';

interface Source {
  path: string;
  text: string;
}

/** A finding: `path:line`, and what is wrong there. */
type Rule = (sources: readonly Source[]) => string[];

const MOST_COLUMNS = 120;

/** Without git, which the machine may lack: the folders that hold sources, and not what was installed or built. */
const sourcePaths = globSync(
  ['*', '{.ci,bench,clients,cluster,deploy,docs,edge,models,native,scripts,src,test}/**'],
  {
    cwd: PROJECT_ROOT,
    dot: true,
    ignore: ['**/node_modules/**', '**/{build,dist,__pycache__,.*_cache}/**'],
  },
);

function sourcesOf(pattern: RegExp): Source[] {
  return sourcePaths
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(join(PROJECT_ROOT, path), 'utf8') }));
}

/** A rule about single lines. */
function eachLine(fault: (line: string) => string | null): Rule {
  return (sources) =>
    sources.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => {
        const found = fault(line);
        return found === null ? [] : [`${path}:${at + 1}: ${found}`];
      }),
    );
}

const COMMENT = /^\s*(?:\/\*\*?|\/\/+|\*|#) ?(?<words>.*?)(?:\*\/)?\s*$/;

const commentWidth = eachLine((line) =>
  COMMENT.test(line) && line.length > MOST_COLUMNS ? `a comment of ${line.length} columns` : null,
);

/** Words that say a mood or a picture where the field has a word. */
const MOODS = /\b(?:insists?|insisted|hurry|hurries|hurried|sulks?|gladly|forgives?|lanes?)\b/i;

const moodWords = eachLine((line) => {
  const found = MOODS.exec(COMMENT.exec(line)?.groups?.words ?? '');
  return found === null ? null : `'${found[0]}' in a comment: say what happens`;
});

/** Words after which a comment has no subject ("Of the newest event"), or is a question ("What keys may take"). */
const NO_SUBJECT = /^(?:Of|What)\b/;

/** The first words of a comment that follows no other comment line. */
const commentSubject: Rule = (sources) =>
  sources.flatMap(({ path, text }) => {
    const lines = text.split('\n');
    const wordsAt = (at: number) => COMMENT.exec(lines[at] ?? '')?.groups?.words;
    return lines.flatMap((line, at) => {
      const isFirst = /^\s*\/\*/.test(line) || wordsAt(at - 1) === undefined;
      const isOpening = /^\s*\/\*\*?\s*$/.test(line);
      const words = isFirst ? wordsAt(isOpening ? at + 1 : at) : undefined;
      const found = NO_SUBJECT.exec(words ?? '');
      return found === null
        ? []
        : [`${path}:${at + 1}: begins with '${found[0]}': name the subject`];
    });
  });

/** Types may be named in the signature of an export, and need no other use. */
const DECLARED = /^export (?:abstract )?(?:async )?(?:const|function\*?|class|let) (\w+)/gm;

/** `uses`: every source in which an export may be used, that of its own file included. */
const deadExports =
  (uses: readonly Source[]): Rule =>
  (sources) => {
    const files = new Map<string, number>();
    for (const { text } of uses) {
      for (const word of new Set(text.match(/\w+/g))) files.set(word, (files.get(word) ?? 0) + 1);
    }
    return sources.flatMap(({ path, text }) =>
      [...text.matchAll(DECLARED)].flatMap(([, name = '']) =>
        (files.get(name) ?? 0) > 1 ? [] : [`${path}: nobody imports '${name}'`],
      ),
    );
  };

const VAGUE_NAME = /(?:^|\/)(?:utils?|helpers?|misc|common)(?:\.|\/)/;

const vagueNames: Rule = (sources) =>
  sources.flatMap(({ path }) => (VAGUE_NAME.test(path) ? [`${path}: named by no subject`] : []));

/** The findings of a rule in one made-up file. */
const on = (rule: Rule, text: string, path = 'src/a.ts') => rule([{ path, text }]);

const CODE =
  /^(?:src|native|bench|clients|scripts|cluster|edge|test|models)\/.*\.(?:tsx?|mjs|cc|h|cu|py)$/;
const code = sourcesOf(CODE);
const src = code.filter(({ path }) => path.startsWith('src/'));

describe('a comment fits the page', () => {
  test('good and bad', () => {
    expect(on(commentWidth, `/** ${'a'.repeat(100)} */`)).toEqual([]);
    expect(on(commentWidth, `const text = '${'a'.repeat(130)}';`)).toEqual([]);
    expect(on(commentWidth, `// ${'a'.repeat(130)}`)).toHaveLength(1);
  });
  test('here', () => {
    expect(commentWidth(code)).toEqual([]);
  });
});

describe('a comment says what happens', () => {
  test('good and bad', () => {
    expect(on(moodWords, '// Ends the pause at once.')).toEqual([]);
    expect(on(moodWords, 'const hurry = 1;')).toEqual([]);
    expect(on(moodWords, ' * The service insists on it.')).toHaveLength(1);
  });
  test('here', () => {
    expect(moodWords(code.filter(({ path }) => path !== 'test/tidy.test.ts'))).toEqual([]);
  });
});

describe('a comment names its subject', () => {
  test('good and bad', () => {
    expect(on(commentSubject, '/** Id of the newest event. */')).toEqual([]);
    expect(on(commentSubject, '// A job has events\n// Of which it names the newest.')).toEqual([]);
    expect(
      on(commentSubject, '/**\n * A job has events.\n * What follows names one.\n */'),
    ).toEqual([]);
    expect(on(commentSubject, '/** Of the newest event. */')).toHaveLength(1);
    expect(on(commentSubject, '/**\n * What API keys may take.\n */')).toHaveLength(1);
    expect(on(commentSubject, '# Of the newest event.')).toHaveLength(1);
    expect(on(commentSubject, 'a();\n  // What it had.\n  // It goes on.')).toHaveLength(1);
    expect(on(commentSubject, '/** One. */\n/** Of two. */')).toHaveLength(1);
  });
  test('here', () => {
    expect(commentSubject(code)).toEqual([]);
  });
});

describe('an export is imported somewhere', () => {
  test('good and bad', () => {
    const source = {
      path: 'src/a.ts',
      text: 'export const used = 1;\nexport const Dead = 1;\nexport type Shape = 1;',
    };
    const uses = [source, { path: 'src/b.ts', text: "import { used } from './a.js';" }];
    expect(deadExports(uses)([source])).toEqual(["src/a.ts: nobody imports 'Dead'"]);
  });
  test('here', () => {
    expect(deadExports(code)(src)).toEqual([]);
  });
});

describe('a file is named by its subject', () => {
  test('good and bad', () => {
    expect(on(vagueNames, '', 'src/boxes/pairing.ts')).toEqual([]);
    expect(on(vagueNames, '', 'src/boxes/utils.ts')).toHaveLength(1);
    expect(on(vagueNames, '', 'src/helpers/boxes.ts')).toHaveLength(1);
  });
  test('here', () => {
    expect(vagueNames(code)).toEqual([]);
  });
});
