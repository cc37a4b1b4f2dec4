import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { regionsSchema } from '../../../src/api/schemas/option-schemas.js';
import { asCli, asCurl, asNode, asPython } from '../../../src/ui/detect/code-samples.js';

const ORIGIN = 'http://127.0.0.1:8000';
const choice = { origin: ORIGIN, needsKey: false, model: '', classes: [], threshold: 0.4 };
const PATH = { kind: 'path', path: "2026/it's $HOME.jpg" } as const;
const FILE = { kind: 'file', file: new File([], 'a "b"\\c.jpg') } as const;

/** The words after the command, as a shell reads them. */
const words = (command: string): string[] => {
  const shell = spawnSync('sh', ['-c', command.replace(/^curl/, `printf '%s\\n'`)], { encoding: 'utf8' }); // prettier-ignore
  expect(shell.status, shell.stderr).toBe(0);
  return shell.stdout.trimEnd().split('\n');
};

test('curl gets the path as it is, whatever its characters', () => {
  const all = words(
    asCurl({ ...choice, source: PATH, model: 'depot.pt', classes: ['car', 'bus'] }),
  );
  expect(all.slice(0, 2)).toEqual(['-s', `${ORIGIN}/v1/inference/detect`]);
  expect(JSON.parse(all.at(-1)!)).toEqual({
    image_path: PATH.path,
    model_name: 'depot.pt',
    classes: ['car', 'bus'],
    confidence_threshold: 0.4,
  });
});

test('curl sends a picture as a form', () => {
  expect(words(asCurl({ ...choice, source: FILE, classes: ['car', 'bus'] })).slice(2)).toEqual([
    '-F',
    'image=@"a \\"b\\"\\\\c.jpg"',
    '-F',
    'classes=car,bus',
    '-F',
    'confidence_threshold=0.4',
  ]);
});

test('truth is written as each language has it', () => {
  const merging = { ...choice, source: PATH, classes: ['car'], mergeClasses: true };
  expect(asPython(merging)).toContain('merge_classes=True)');
  expect(JSON.parse(words(asCurl(merging)).at(-1)!)).toMatchObject({ merge_classes: true });
  expect(words(asCurl({ ...merging, source: FILE })).at(-1)).toBe('merge_classes=true');
});

test('the key is named, not shown', () => {
  const sample = { ...choice, needsKey: true, source: PATH };
  expect(asCurl(sample)).toContain('-H "authorization: Bearer $LATTICE_API_KEY"');
  expect(asPython(sample)).toContain('LATTICE_API_KEY');
});

test('Python that names a path, and one that sends a picture', () => {
  expect(asPython({ ...choice, source: PATH, classes: ['car'] })).toContain(
    `lattice.detect("2026/it's $HOME.jpg", classes=["car"], confidence_threshold=0.4)`,
  );
  const sends = asPython({ ...choice, source: FILE });
  expect(sends).toContain('from pathlib import Path');
  expect(sends).toContain('Path("a \\"b\\"\\\\c.jpg")');
  const python = spawnSync('python3', ['-c', `import ast, sys; ast.parse(sys.stdin.read())`], { input: sends, encoding: 'utf8' }); // prettier-ignore
  expect(python.stderr).toBe('');
});

const REGIONS = [
  { name: "it's; @north", polygon: [[0.1, 0.5], [0.6, 0.5], [0.6, 1]], classes: ['car', 'bus'], anchor: 0.3 }, // prettier-ignore
  { name: 'trees', polygon: [[0, 0], [1, 0], [1, 0.3]], ignore: true }, // prettier-ignore
] as const;

test('a list of regions is JSON in a form, and curl reads no character of it', () => {
  const all = words(asCurl({ ...choice, source: FILE, regions: REGIONS }));
  expect(all.at(-2)).toBe('--form-string');
  const [, text = ''] = /^regions=(.*)$/.exec(all.at(-1)!) ?? [];
  expect(regionsSchema.parse(JSON.parse(text))).toEqual(REGIONS);
  const names = words(asCurl({ ...choice, source: FILE, classes: ['a,b', 'bus'] }));
  expect(names).toContain('classes=["a,b","bus"]');
});

test('regions in Python, Node and on the command line', () => {
  const sample = { ...choice, source: PATH, regions: REGIONS };
  const code = `import ast, json, sys
call = next(node for node in ast.walk(ast.parse(sys.stdin.read())) if isinstance(node, ast.Call) and getattr(node.func, 'attr', '') == 'detect')
print(json.dumps({each.arg: ast.literal_eval(each.value) for each in call.keywords}))`;
  const python = spawnSync('python3', ['-c', code], { input: asPython(sample), encoding: 'utf8' });
  expect(python.stderr).toBe('');
  expect(JSON.parse(python.stdout)).toEqual({ confidence_threshold: 0.4, regions: REGIONS });
  expect(asNode(sample)).toContain(`"regions":${JSON.stringify(REGIONS)}`);
  expect(asNode({ ...sample, source: FILE })).toContain('detectPicture(await readFile("a ');
  const cli = words(asCli({ ...sample, source: FILE }).replace(/^#.*\n/, '').replace('npx', 'curl')); // prettier-ignore
  expect(cli.slice(0, 3)).toEqual(['lattice', 'detect', 'a "b"\\c.jpg']);
  expect(JSON.parse(cli.at(-1)!)).toEqual(REGIONS);
});

test('a view is named, and where there is no service its regions are', () => {
  const sample = { ...choice, view: 'north', viewRegions: REGIONS, mergeClasses: false };
  expect(JSON.parse(words(asCurl({ ...sample, source: PATH })).at(-1)!)).toMatchObject({ view: 'north' }); // prettier-ignore
  expect(asPython({ ...sample, source: PATH })).toContain('view="north"');
  const job = asCli({ ...sample, source: PATH });
  expect(job).toContain("--view 'north'");
  expect(job).toContain('--no-merge-classes');
  const local = asCli({ ...sample, source: FILE });
  expect(local).toContain('--regions');
  expect(local).not.toContain('--view');
});
