// Shows the service on a real Ray of two nodes: Ray places its workers, it answers requests, and no image of a job
// is lost when a whole node is killed. Exits 0 if all of it worked. With --keep everything runs until Ctrl-C.
//
//   node scripts/cluster-demo.mjs [--keep]
//
// Ray listens on every address of a machine, so all of this runs in a network namespace that has only `lo`.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runClusterStory } from './cluster-story.mjs';
import { isolated } from './network-namespace.mjs';
import { rayPython } from './python-environment.mjs';
import { ROOT } from './setup.mjs';

const keep = process.argv.includes('--keep');

if (process.env.NAMESPACE_ENTER === undefined) {
  try {
    process.exitCode = await runInside();
  } catch (error) {
    console.error(`The cluster demo cannot run here: ${error.message}`);
    process.exitCode = 1;
  }
} else {
  process.exit(await runClusterStory({ keep, enter: process.env.NAMESPACE_ENTER, stop: asked() }));
}

/** Runs this file once more in a namespace; resolves with its exit code. */
async function runInside() {
  const [program, ...args] = isolated([
    process.execPath,
    fileURLToPath(import.meta.url),
    ...process.argv.slice(2),
  ]);
  const child = spawn(program, args, {
    cwd: ROOT,
    // The inner process stops when its standard input closes, also when this process is killed.
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, LATTICE_RAY_PYTHON: await rayPython() },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.stdin.end());
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Resolves at the first request to stop the demonstration. */
function asked() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
    process.stdin.on('end', resolve);
    process.stdin.on('error', resolve);
    process.stdin.resume();
  });
}
