// A network namespace that has only `lo`, for programs that would listen on every address of the machine.
import { spawnSync } from 'node:child_process';

// Without root a user namespace gives the right to make a network namespace.
const asRoot = process.getuid?.() === 0;
const network = asRoot ? ['-n'] : ['-r', '-n'];
// If permitted, also a namespace for processes: then no process outlives the command.
const processes = ['-p', '-f', '--mount-proc', '--kill-child'];

/** Options of unshare that work on this machine; throws with the reason when none do. */
function namespace() {
  let reason = '';
  for (const options of [[...network, ...processes], network]) {
    const probe = spawnSync('unshare', [...options, 'ip', 'link', 'set', 'lo', 'up'], {
      encoding: 'utf8',
    });
    if (probe.error) {
      throw new Error(
        `unshare cannot be run (${probe.error.message}): this needs Linux with util-linux and iproute2`,
      );
    }
    if (probe.status === 0) return options;
    reason = probe.stderr.trim();
  }
  throw new Error(`no network namespace can be made here: ${reason}`);
}

/**
 * The command line that runs `command` in such a namespace. In it NAMESPACE_ENTER holds the words that,
 * in front of a command in another terminal, run that command there too. Throws with the reason if there is none.
 */
export function isolated(command) {
  const user = asRoot ? '' : '--user --preserve-credentials ';
  // unshare keeps the process id that the shell had, and stays in the namespace.
  const enter = `NAMESPACE_ENTER="nsenter --target $$ ${user}--net" exec unshare "$@"`;
  // With a trap the shell waits for a command that cleans up after Ctrl-C; the command does not inherit the trap.
  const inside = ['sh', '-c', 'trap : INT TERM; ip link set lo up && "$@"', 'sh', ...command];
  return ['sh', '-c', enter, 'sh', ...namespace(), ...inside];
}
