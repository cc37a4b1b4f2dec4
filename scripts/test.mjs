// The whole test run: static checks, native unit tests, then the TypeScript suite through the real addon.
// What a machine cannot run is named with the reason.
import { spawnSync } from 'node:child_process';
import { ROOT } from './setup.mjs';

const steps = [
  ['format', 'npm', ['run', '--silent', 'format:check']],
  ['lint', 'npm', ['run', '--silent', 'lint']],
  ['layers', 'npm', ['run', '--silent', 'layers']],
  ['types', 'npm', ['run', '--silent', 'typecheck']],
  ['native unit tests', 'npm', ['run', '--silent', 'test:native']],
  ['TypeScript tests', 'npx', ['vitest', 'run']],
  ['Ray cluster tests', 'node', ['scripts/test-ray.mjs']],
];
const failed = [];
for (const [name, command, args] of steps) {
  const start = Date.now();
  console.log(`\n== ${name}`);
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  console.log(
    `== ${name}: ${status === 0 ? 'ok' : 'FAILED'} (${((Date.now() - start) / 1000).toFixed(1)} s)`,
  );
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(', ')}`);
  process.exit(1);
}
