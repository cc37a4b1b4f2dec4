/**
 * A project of Label Studio, to which tasks are added so that each is there once. The project itself says which tasks
 * it has: after a request that broke off, and after an answer that does not say what became of it, its tasks are
 * listed, and only those that are missing are sent again.
 */
import { z } from 'zod';
import { BackOff } from '../base/back-off.js';
import { readLabelStudioConfig, type LabelStudioConfig } from '../export/label-studio-config.js';
import { TASK_KEY, type taskOf } from '../export/labelstudio.js';
import {
  Caller,
  isPassing,
  Patience,
  reasonOf,
  SYSTEM_CLOCK,
  ToolError,
  type Answer,
  type Call,
  type CallLimits,
  type Clock,
  type Outcome,
} from './calls.js';

export type Task = ReturnType<typeof taskOf>;

export interface StudioAccess {
  /** Address of Label Studio, without `/api`. */
  url: string;
  key: string;
  /** Number of the project. */
  project: number;
}

export interface StudioLimits extends CallLimits {
  /** How long a request without an answer may still add its tasks. */
  settleMs: number;
}

/** Tasks of a page of a project. */
export interface StoredTask {
  id: number;
  /** Undefined for tasks that others added. */
  key: string | undefined;
}

/** Tasks that the project does not take, and why. */
export interface RefusedTasks {
  count: number;
  reason: string;
}

const PAGE = 500;
const FIRST_LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 10_000;
/** Listings that begin anew because tasks were deleted meanwhile. */
const MOST_LISTINGS = 5;

const projectSchema = z.object({ label_config: z.string() });
const taskSchema = z.object({ id: z.int(), data: z.record(z.string(), z.unknown()) });
const pageSchema = z.object({ tasks: z.array(taskSchema), total: z.int().optional() });
const importedSchema = z.object({ task_count: z.int() });
const accessSchema = z.object({ access: z.string() });

export class LabelStudio {
  readonly #access: StudioAccess;
  readonly #limits: StudioLimits;
  readonly #clock: Clock;
  readonly #calls: Caller;
  readonly #adding: Patience;
  /** The short-lived token that a personal access token gives. */
  #bearer: string | null = null;

  /** Throws `TypeError` when the address is none. */
  constructor(access: StudioAccess, limits: StudioLimits, clock: Clock = SYSTEM_CLOCK) {
    this.#access = access;
    this.#limits = limits;
    this.#clock = clock;
    this.#calls = new Caller(readAddress(access.url), limits, clock);
    this.#adding = new Patience(limits.tries, clock);
  }

  /** The first picture with boxes of the project's configuration. */
  async config(signal?: AbortSignal): Promise<LabelStudioConfig> {
    const answer = await this.#read(`/api/projects/${this.#access.project}`, signal);
    const { label_config: xml } = shaped(projectSchema, answer);
    const [config] = readLabelStudioConfig(xml);
    if (config === undefined) {
      throw new ToolError('The labelling configuration of the project has no RectangleLabels.');
    }
    return config;
  }

  /** The tasks with ids above `after`, in pages. Some come twice where tasks are deleted meanwhile. */
  async *tasks(after = 0, signal?: AbortSignal): AsyncGenerator<StoredTask[], void> {
    let listings = 1;
    let seen = 0;
    let most = 0;
    for (let page = 1; ; page += 1) {
      const { tasks, total } = await this.#page(page, after, signal);
      yield tasks;
      seen += tasks.length;
      if (total !== null && total < most && listings < MOST_LISTINGS) {
        // Each task after a deleted one has moved forward, perhaps to a page that is read already.
        [listings, seen, most, page] = [listings + 1, 0, 0, 0];
        continue;
      }
      most = Math.max(most, total ?? 0);
      if (tasks.length === 0 || seen >= (total ?? Infinity)) return;
    }
  }

  /**
   * Resolves once each of the tasks is in the project, or is refused. `since`: an id below those of all tasks that this
   * process has sent. Rejects with `ToolError` when the tool is gone.
   */
  async add(
    tasks: readonly Task[],
    since: number,
    signal?: AbortSignal,
  ): Promise<RefusedTasks | null> {
    let left = tasks;
    for (;;) {
      const path = `/api/projects/${this.#access.project}/import`;
      const outcome = await this.#authorised({ method: 'POST', path, body: left }, signal);
      const verdict = verdictOf(outcome, left.length);
      if (verdict === 'refused') return { count: left.length, reason: reasonOf(outcome) };
      if (verdict === 'too long') return this.#addHalves(left, since, signal);
      const absent = verdict === 'unknown' ? await this.#absent(left, since, signal) : left;
      if (verdict === 'stored' || absent.length < left.length) this.#adding.reset();
      if (verdict === 'stored' || absent.length === 0) return null;
      left = absent;
      await this.#adding.wait(outcome, signal);
    }
  }

  async #addHalves(
    tasks: readonly Task[],
    since: number,
    signal: AbortSignal | undefined,
  ): Promise<RefusedTasks | null> {
    const middle = Math.ceil(tasks.length / 2);
    const first = await this.add(tasks.slice(0, middle), since, signal);
    const second = await this.add(tasks.slice(middle), since, signal);
    if (first === null || second === null) return first ?? second;
    return { count: first.count + second.count, reason: first.reason };
  }

  /** Looks for the tasks until all are there, or none can come any more; returns those that are not. */
  async #absent(
    tasks: readonly Task[],
    since: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly Task[]> {
    const end = this.#clock.now() + this.#limits.settleMs;
    const looks = new BackOff(FIRST_LOOK_MS, LONGEST_LOOK_MS);
    const absent = new Map<string | undefined, Task>(
      tasks.map((task) => [task.data[TASK_KEY], task]),
    );
    for (;;) {
      const isLast = this.#clock.now() >= end;
      for await (const page of this.tasks(since, signal)) {
        for (const { key } of page) absent.delete(key);
      }
      if (absent.size === 0 || isLast) return [...absent.values()];
      const leftMs = Math.max(0, end - this.#clock.now());
      await this.#clock.pause(Math.min(leftMs, looks.next()), signal);
    }
  }

  async #page(
    page: number,
    after: number,
    signal: AbortSignal | undefined,
  ): Promise<{ tasks: StoredTask[]; total: number | null }> {
    const query = new URLSearchParams({
      project: String(this.#access.project),
      page: String(page),
      page_size: String(PAGE),
      fields: 'task_only',
      resolve_uri: 'false',
      ...(after === 0 ? {} : { query: JSON.stringify(tasksAfter(after)) }),
    });
    // A page behind the last one is answered 404.
    const answer = await this.#read(`/api/tasks?${query.toString()}`, signal, page > 1);
    if (answer.status === 404) return { tasks: [], total: null };
    const isList = Array.isArray(answer.json);
    const { tasks, total } = isList
      ? { tasks: shaped(z.array(taskSchema), answer), total: undefined }
      : shaped(pageSchema, answer);
    const stored = tasks.map(({ id, data }) => ({ id, key: textOf(data[TASK_KEY]) }));
    return { tasks: stored, total: total ?? null };
  }

  /** The answer to a GET that is repeated until there is one. */
  async #read(
    path: string,
    signal: AbortSignal | undefined,
    mayBeMissing = false,
  ): Promise<Answer> {
    const patience = new Patience(this.#limits.tries, this.#clock);
    for (;;) {
      const outcome = await this.#authorised({ method: 'GET', path }, signal);
      if (outcome.kind === 'answered' && !isPassing(outcome.status)) {
        if (outcome.status === 200 || (outcome.status === 404 && mayBeMissing)) return outcome;
        throw refusal(outcome);
      }
      await patience.wait(outcome, signal);
    }
  }

  async #authorised(call: Call, signal: AbortSignal | undefined): Promise<Outcome> {
    const { key } = this.#access;
    if (!isPersonalToken(key)) {
      return this.#calls.send({ ...call, authorization: `Token ${key}` }, signal);
    }
    const hadOne = this.#bearer !== null;
    this.#bearer ??= await this.#refreshed(key, signal);
    const outcome = await this.#send(call, this.#bearer, signal);
    if (!hadOne || outcome.kind !== 'answered' || outcome.status !== 401) return outcome;
    // It is valid for minutes only.
    this.#bearer = await this.#refreshed(key, signal);
    return this.#send(call, this.#bearer, signal);
  }

  #send(call: Call, bearer: string, signal: AbortSignal | undefined): Promise<Outcome> {
    return this.#calls.send({ ...call, authorization: `Bearer ${bearer}` }, signal);
  }

  async #refreshed(key: string, signal: AbortSignal | undefined): Promise<string> {
    const patience = new Patience(this.#limits.tries, this.#clock);
    const call = { method: 'POST', path: '/api/token/refresh', body: { refresh: key } } as const;
    for (;;) {
      const outcome = await this.#calls.send(call, signal);
      if (outcome.kind === 'answered' && !isPassing(outcome.status)) {
        if (outcome.status === 200) return shaped(accessSchema, outcome).access;
        throw refusal(outcome);
      }
      await patience.wait(outcome, signal);
    }
  }
}

/** `unknown`: the tasks may be in the project. `again`: they are not, and may be later. */
type Verdict = 'stored' | 'refused' | 'too long' | 'unknown' | 'again';

function verdictOf(outcome: Outcome, tasks: number): Verdict {
  if (outcome.kind !== 'answered') return outcome.kind === 'unsent' ? 'again' : 'unknown';
  const { status, json } = outcome;
  if (status >= 200 && status < 300) {
    // An edition that imports later answers with the number of the import only.
    const imported = importedSchema.safeParse(json);
    return imported.success && imported.data.task_count === tasks ? 'stored' : 'unknown';
  }
  if (status === 425 || status === 429) return 'again';
  if (isPassing(status)) return 'unknown';
  if (status === 413) return tasks > 1 ? 'too long' : 'refused';
  if (status === 400 || status === 422) return 'refused';
  throw refusal(outcome);
}

/** Statuses with a remedy. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: 'LABEL_STUDIO_API_KEY is no valid access token there.',
  403: 'The access token may not change this project.',
  404: 'The project does not exist there, or the address is not that of Label Studio.',
};

function refusal(answer: Answer): ToolError {
  const { status } = answer;
  const redirected = status >= 300 && status < 400;
  const remedy = redirected ? 'Name the address that it sends to.' : (REMEDIES[status] ?? '');
  return new ToolError(`Label Studio refuses: ${reasonOf(answer)}. ${remedy}`.trimEnd());
}

function shaped<T>(schema: z.ZodType<T>, answer: Answer): T {
  const parsed = schema.safeParse(answer.json);
  if (parsed.success) return parsed.data;
  throw new ToolError('The answer is not one of Label Studio. Check the address.');
}

/** A filter of Label Studio's data manager. A version that does not know it lists all tasks, which is right too. */
const tasksAfter = (id: number) => ({
  filters: {
    conjunction: 'and',
    items: [{ filter: 'filter:tasks:id', operator: 'greater', type: 'Number', value: id }],
  },
});

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** A personal access token is a JSON web token, a legacy one is hexadecimal. */
function isPersonalToken(key: string): boolean {
  return key.split('.').length === 3;
}

function readAddress(text: string): string {
  const wrong = 'The address of Label Studio must';
  if (!URL.canParse(text)) throw new TypeError(`${wrong} have the shape http://HOST:8080.`);
  const { protocol, username, password, origin, pathname, search } = new URL(text);
  if (!/^https?:$/.test(protocol)) throw new TypeError(`${wrong} start with http:// or https://.`);
  if (username !== '' || password !== '') throw new TypeError(`${wrong} name no user.`);
  if (search !== '') throw new TypeError(`${wrong} have no query.`);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}
