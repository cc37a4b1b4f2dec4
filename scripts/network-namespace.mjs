// A network namespace that has only `lo`, for programs that would listen on every address of the machine.
import { spawnSync } from 'node:child_process';

// Without root a user namespace gives the right to make a network namespace.
const asRoot = process.getuid?.() === 0;
const network = asRoot ? ['-n'] : ['-r', '-n'];
// Where permitted, one for processes as well: then nothing outlives the command, however it ends.
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
 * The command line that runs `command` in such a namespace. Beneath it NAMESPACE_ENTER holds the words that, put
 * before another command in another terminal, run that one there too. Throws, with the reason, where it cannot be had.
 */
export function isolated(command) {
  const user = asRoot ? '' : '--user --preserve-credentials ';
  // unshare keeps the process id that the shell had, and stays in the namespace.
  const enter = `NAMESPACE_ENTER="nsenter --target $$ ${user}--net" exec unshare "$@"`;
  // A trap, so that the shell waits for a command that cleans up after Ctrl-C; the command itself does not inherit it.
  const inside = ['sh', '-c', 'trap : INT TERM; ip link set lo up && "$@"', 'sh', ...command];
  return ['sh', '-c', enter, 'sh', ...namespace(), ...inside];
}
