/** Types of ray.mjs, which says what each does. */

export interface NodeSize {
  name?: string;
  cpus?: number;
  gpus?: number;
}

export interface CliResult {
  /** Exit code, or the name of the signal that ended it. */
  code: number | string;
  stdout: string;
  stderr: string;
}

/** One worker, as `lattice_ray status --json` shows it. */
export interface WorkerView {
  worker: string;
  state:
    | 'pending'
    | 'starting'
    | 'running'
    | 'backoff'
    | 'crashloop'
    | 'draining'
    | 'stopped'
    | 'gpu_lost'
    | 'failed';
  pid: number | null;
  restarts: number | null;
  last_exit?: number | null;
  life_s?: number | null;
  stderr: string[];
  /** Absent while the worker is pending, as are the fields below. */
  node?: string;
  actor_pid?: number;
  gpus?: (number | string)[];
  digest?: string;
}

export interface Ray {
  /** `ray://...`, what LATTICE_RAY_ADDRESS takes. */
  readonly address: string;
  readonly dashboard: string;
  nodeId(name: string): string | undefined;
  addNode(node: NodeSize & { name: string }): Promise<void>;
  aliveNodes(): Promise<Set<string>>;
  waitForNodes(count: number, timeoutMs?: number): Promise<number>;
  processes(name: string, command?: string): number[];
  killRaylet(name: string): void;
  kill(name: string): Promise<void>;
  cli(args: string[], options?: { timeoutMs?: number }): Promise<CliResult>;
  up(args: string[]): Promise<string>;
  down(args?: string[]): Promise<string>;
  workers(namespace?: string): Promise<WorkerView[]>;
  stop(): Promise<void>;
}

export interface RayOptions {
  /** A Python that has Ray. */
  python: string;
  /** The first is the head; default: one node. */
  nodes?: NodeSize[];
  /** For every process of every node, the workers' children included. */
  env?: Record<string, string>;
}

export function startRay(options: RayOptions): Promise<Ray>;

export const GCS_PORT: number;
export const CLIENT_PORT: number;
export const DASHBOARD_PORT: number;
