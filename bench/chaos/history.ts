/**
 * The calls and the answers of the clients of a chaos run, and the promises of the service that they show to be broken.
 */

export interface Operation {
  paths: string[];
  /** Name of the receiver of its webhook. */
  receiver: string | null;
  /** Null: it was never acknowledged. */
  jobId: string | null;
  cancelled: boolean;
}

export interface StreamEvent {
  event: string;
  job_id: string;
  seq: number;
}

export interface EndOfJob {
  status: string;
  /** For each image, its path with its boxes or the code of its error. */
  images: string[];
}

export interface History {
  operations: Operation[];
  /** As the subscriber saw them, over its reconnections. */
  followed: StreamEvent[];
  /** The whole stored stream, read after the last fault. */
  replayed: StreamEvent[];
  /** Jobs of which a receiver got the webhook. */
  webhooks: Set<string>;
  ends: Map<string, EndOfJob>;
  /** Images of an undisturbed run, by path. */
  reference: Map<string, string>;
  /** Found while the run went on: answers and exit codes that no fault explains. */
  unexpected: string[];
}

const TERMINAL = ['job_completed', 'job_failed'];

/** One line for each violation. */
export function violationsOf(history: History): string[] {
  return [
    ...history.unexpected,
    ...idsOf(history),
    ...eventsOf('followed', history.followed),
    ...eventsOf('stored', history.replayed),
    ...endsOf(history),
  ];
}

/** A submission without an answer is repeated under its Idempotency-Key: it makes one job at most. */
function idsOf({ operations, replayed, reference }: History): string[] {
  const jobs = replayed.filter(({ event }) => event === 'job_submitted').length;
  const most = operations.length + (reference.size > 0 ? 1 : 0);
  return jobs > most ? [`${operations.length} submissions made ${jobs} jobs`] : [];
}

function eventsOf(what: string, events: StreamEvent[]): string[] {
  const found: string[] = [];
  const ended = new Set<string>();
  let previous = 0;
  for (const { event, job_id, seq } of events) {
    if (seq !== previous + 1) found.push(`${what} events: ${seq} follows ${previous}`);
    previous = seq;
    if (ended.has(job_id)) found.push(`${what} events: ${event} of ${job_id} after its end`);
    if (TERMINAL.includes(event)) ended.add(job_id);
  }
  return found;
}

function endsOf({ operations, replayed, webhooks, ends, reference }: History): string[] {
  const terminal = new Set(
    replayed.filter(({ event }) => TERMINAL.includes(event)).map(({ job_id }) => job_id),
  );
  return operations.flatMap(({ jobId: id, paths, receiver, cancelled }) => {
    if (id === null) return [];
    const end = ends.get(id);
    if (end === undefined) return [`job ${id} is lost`];
    const found: string[] = [];
    if (!terminal.has(id)) found.push(`job ${id} has no terminal event`);
    if (receiver !== null && !webhooks.has(id))
      found.push(`job ${id} has no webhook at ${receiver}`);
    if (end.status !== 'completed' && !cancelled) found.push(`job ${id} is ${end.status}`);
    const wanted = paths.map((path) => reference.get(path));
    const wrong = wanted.findIndex((image, index) => image !== end.images[index]);
    if (end.status === 'completed' && wrong !== -1)
      found.push(`image ${wrong} of ${id} is ${end.images[wrong]} instead of ${wanted[wrong]}`);
    return found;
  });
}
