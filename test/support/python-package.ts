/** `clients/python` as a user installs it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../src/cli/python-environment.js';
import { edgePython } from '../../scripts/python-environment.mjs';
import { PROJECT_ROOT } from './service-process.js';

const PURELIB = ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'];

export interface InstalledPackage {
  python: string;
  [Symbol.dispose](): void;
}

/** In an environment of its own, which sees the packages of the notebooks: nothing is downloaded. */
export async function installPythonPackage(): Promise<InstalledPackage> {
  const packages = await edgePython();
  const folder = mkdtempSync(join(tmpdir(), 'lattice-python-'));
  const python = join(folder, 'bin/python');
  await runProgram(packages, ['-m', 'venv', '--without-pip', folder]);
  const [from, to] = await Promise.all([packages, python].map((each) => runProgram(each, PURELIB)));
  writeFileSync(join(to!.trim(), 'packages.pth'), from!);
  const offline = [
    '--no-deps',
    '--no-index',
    '--no-build-isolation',
    '--disable-pip-version-check',
  ];
  const pip = ['-m', 'pip', '--python', python, 'install', '--quiet', ...offline];
  await runProgram(packages, [...pip, join(PROJECT_ROOT, 'clients/python')]);
  return {
    python,
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
