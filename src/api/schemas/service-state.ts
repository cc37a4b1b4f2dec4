/** Whether the service can keep up, and what it has too little of: one sentence for people, one word for programs. */
import { z } from 'zod';
import { snakeCase } from '../snake-case.js';

/**
 * State of the service by reason. `load`: the machine gives it too little CPU time. `volume`: an image folder does not
 * answer. `waiting`: images wait for a worker.
 */
const REASONS = { load: 'overloaded', volume: 'busy', waiting: 'busy' } as const;
type Reason = keyof typeof REASONS;

/** The service wants a CPU and waits for it for longer than it runs, and not only for a moment. */
const MOST_WAIT_SHARE = 0.5;

const serviceStateSchema = z.object({
  state: z.enum(['free', 'busy', 'overloaded']).meta({
    description:
      'overloaded: answers are late, because the machine does too much. busy: work waits. Neither is a fault: `/readyz` answers 200',
  }),
  reasons: z.array(
    z.object({
      reason: z.enum(Object.keys(REASONS) as [Reason, ...Reason[]]).meta({
        description:
          'load: the machine gives the service too little CPU time. volume: an image folder does not answer. waiting: images wait for a worker',
      }),
      detail: z.string().meta({ description: 'A sentence for people' }),
    }),
  ),
  cpuWaitRatio: z.number().meta({
    description:
      'Of the time of the last 10 s in which the event loop of the service wanted a CPU, the share in which it had none; 0 where the system does not tell',
  }),
});
export type ServiceState = z.infer<typeof serviceStateSchema>;

/** The state as answers write it, with names in snake_case. */
export const serviceStateWire = snakeCase(serviceStateSchema);

export interface StateFacts {
  cpuWaitRatio: number;
  /** Load average of the last minute, and the CPUs that share it. */
  load: number;
  cpus: number;
  hangingFolders: number;
  waiting: number;
}

export function serviceState(facts: StateFacts): ServiceState {
  const { cpuWaitRatio, load, cpus, hangingFolders, waiting } = facts;
  const share = Math.round(cpuWaitRatio * 100);
  const found: [Reason, boolean, string][] = [
    [
      'load',
      cpuWaitRatio > MOST_WAIT_SHARE,
      `The machine is overloaded: the service waits for a CPU in ${share} % of the time in which it wants one (load ${load.toFixed(1)} on ${cpus} CPUs).`,
    ],
    [
      'volume',
      hangingFolders > 0,
      `${counted(hangingFolders, 'image folder does', 'image folders do')} not answer.`,
    ],
    ['waiting', waiting > 0, `${counted(waiting, 'image waits', 'images wait')} for a worker.`],
  ];
  const reasons = found
    .filter(([, isSo]) => isSo)
    .map(([reason, , detail]) => ({ reason, detail }));
  const states = reasons.map(({ reason }) => REASONS[reason]);
  const state = states.includes('overloaded') ? 'overloaded' : (states[0] ?? 'free');
  return { state, reasons, cpuWaitRatio };
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
