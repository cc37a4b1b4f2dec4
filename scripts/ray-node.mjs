// One Ray node on this machine: starts and ends its processes.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export const HOST = '127.0.0.1';

/** Every port is given: Ray's random choice can be a port in use. */
const PORTS = [
  'node-manager-port',
  'object-manager-port',
  'runtime-env-agent-port',
  'dashboard-agent-grpc-port',
  'dashboard-agent-listen-port',
  'metrics-export-port',
];

/** Starts `ray start --block`. Returns the node's session, its last output and whether it has ended. */
export function startNode({ python, env, firstPort, flags }) {
  const ports = PORTS.map((port, index) => `--${port}=${firstPort + index}`);
  const fixed = ['--min-worker-port=0', '--max-worker-port=0', '--object-store-memory=100000000'];
  const start = ['-m', 'ray.scripts.scripts', 'start', '--block', '--disable-usage-stats'];
  const child = spawn(
    python,
    [...start, `--node-ip-address=${HOST}`, ...flags, ...ports, ...fixed],
    // Detached: it leads a separate session, which all processes of the node share.
    { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  let output = '';
  let failed = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output = (output + chunk).slice(-8_000)));
  }
  child.once('error', (error) => {
    failed = true;
    output = `${python} cannot be run: ${error.message}`;
  });
  return {
    session: child.pid ?? -1,
    nodeId: '',
    output: () => output,
    ended: () => failed || child.exitCode !== null || child.signalCode !== null,
  };
}

/** Processes of a session, without zombies. */
export function members(session) {
  return readdirSync('/proc')
    .filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      const fields = read(`/proc/${name}/stat`).split(') ').at(-1).split(' '); // after the name
      return fields[0] !== 'Z' && Number(fields[3]) === session;
    })
    .map(Number);
}

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // the process has ended
  }
}

/** Name of a process, at most 15 characters; empty when it has ended. */
export function commandOf(pid) {
  return read(`/proc/${pid}/comm`).trim();
}

export function end(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
