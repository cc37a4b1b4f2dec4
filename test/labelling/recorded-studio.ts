/**
 * The routes of Label Studio that a push uses, with tasks in memory. The shapes of requests and answers, the 404 behind
 * the last page and the faults are those that its documentation and its users' reports have.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Clock } from '../../src/labelling/calls.js';

export const STUDIO_KEY = '0123456789abcdef0123456789abcdef01234567';

/** `late`: no answer comes, and the tasks are there at the second listing after it. `later`: an asynchronous import. */
export const FAULTS = [
  'stored, then 502',
  '502',
  '500',
  'stored, then hangs',
  'hangs',
  'late',
  'stored, then reset',
  'reset',
  '429',
  'later',
  '413',
  'refused connections',
] as const;
export type Fault = (typeof FAULTS)[number];

interface StudioTask {
  id: number;
  data: Record<string, unknown>;
  predictions: { model_version: string; score?: number; result: object[] }[];
}

const CONFIG = `<View><Image name="photo" value="$picture"/>
  <RectangleLabels name="box" toName="photo"><Label value="Car"/>
  <Label value="Lorry" predicted_values="truck"/></RectangleLabels></View>`;

export class RecordedStudio implements AsyncDisposable {
  tasks: StudioTask[] = [];
  config = CONFIG;
  /** Answers of imports, in their order; without one an import is taken. */
  faults: (Fault | undefined)[] = [];
  /** Authorizations that are accepted. */
  accepted = new Set([`Token ${STUDIO_KEY}`]);
  personalToken = '';
  /** Tasks of each import that arrived. */
  readonly imports: number[] = [];
  /** Milliseconds of each pause of the client. */
  readonly pauses: number[] = [];
  mostPage = 500;
  readonly #server: Server;
  #port = 0;
  #id = 1000;
  #now = 0;
  #closedFor = 0;
  #coming: { tasks: StudioTask[]; listings: number }[] = [];
  readonly #limits = new Set<AbortController>();

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  static async open(): Promise<RecordedStudio> {
    const studio = new RecordedStudio();
    await studio.#listen();
    return studio;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Waits take no time. A deadline passes when the answer hangs, and never else. */
  get clock(): Clock {
    return {
      now: () => this.#now,
      pause: async (ms, signal) => {
        signal?.throwIfAborted();
        this.pauses.push(ms);
        this.#now += ms;
        if (this.#closedFor > 0) {
          this.#closedFor -= 1;
          if (this.#closedFor === 0) await this.#listen();
        }
      },
      limit: () => {
        const limit = new AbortController();
        this.#limits.add(limit);
        return limit.signal;
      },
    };
  }

  /** Another user's tasks. */
  add(...datas: Record<string, unknown>[]): void {
    this.#store(datas.map((data) => ({ data, predictions: [] })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const body = request.method === 'POST' ? await json(request) : undefined;
    const reply = (status: number, answer: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(answer));
    };
    if (pathname === '/api/token/refresh') {
      const isKnown = (body as { refresh: string }).refresh === this.personalToken;
      const access = `access-${this.accepted.size}`;
      this.accepted.add(`Bearer ${access}`);
      reply(isKnown ? 200 : 401, isKnown ? { access } : { detail: 'Token is invalid' });
    } else if (!this.accepted.has(request.headers.authorization ?? '')) {
      reply(401, { detail: 'Invalid token.' });
    } else if (pathname === '/api/projects/3') {
      reply(200, { id: 3, title: 'Gate', label_config: this.config });
    } else if (pathname === '/api/tasks' && searchParams.get('project') === '3') {
      this.#list(searchParams, reply);
    } else if (pathname === '/api/projects/3/import') {
      this.#import(body as Omit<StudioTask, 'id'>[], response, reply);
    } else {
      reply(404, { detail: 'Not found.' });
    }
  }

  #list(query: URLSearchParams, reply: (status: number, answer: unknown) => void): void {
    for (const coming of this.#coming)
      if (coming.listings-- === 0) this.tasks.push(...coming.tasks);
    this.#coming = this.#coming.filter(({ listings }) => listings >= 0);
    const filter = JSON.parse(query.get('query') ?? '{}') as {
      filters?: { items: { value: number }[] };
    };
    const after = filter.filters?.items[0]?.value ?? 0;
    const all = this.tasks.filter(({ id }) => id > after);
    const size = Math.min(Number(query.get('page_size')), this.mostPage);
    const from = (Number(query.get('page')) - 1) * size;
    if (from > 0 && from >= all.length) {
      reply(404, { detail: 'Invalid page.' });
      return;
    }
    const tasks = all.slice(from, from + size).map(({ id, data }) => ({ id, data }));
    reply(200, { tasks, total: all.length });
  }

  #import(
    tasks: Omit<StudioTask, 'id'>[],
    response: ServerResponse,
    reply: (status: number, answer: unknown, headers?: Record<string, string>) => void,
  ): void {
    this.imports.push(tasks.length);
    const fault = this.faults.shift();
    const isStored = fault === undefined || fault.startsWith('stored');
    if (isStored) this.#store(tasks);
    if (fault === undefined) reply(201, { task_count: tasks.length, prediction_count: 1 });
    else if (fault.endsWith('502')) {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
    } else if (fault === '500') reply(500, { detail: 'deadlock detected' });
    else if (fault === '429') reply(429, { detail: 'throttled' }, { 'retry-after': '77' });
    else if (fault === '413' && tasks.length > 1) reply(413, { detail: 'too large' });
    else if (fault === '413') reply(400, { detail: 'Prediction validation failed' });
    else if (fault.endsWith('reset')) response.destroy();
    else if (fault === 'refused connections') {
      this.#closedFor = 3;
      void this.#close();
    } else {
      if (fault === 'late' || fault === 'later') {
        this.#coming.push({ tasks: this.#numbered(tasks), listings: 1 });
      }
      if (fault === 'later') reply(201, { import: 7 });
      else this.#passDeadlines();
    }
  }

  #passDeadlines(): void {
    for (const limit of this.#limits) limit.abort();
    this.#limits.clear();
  }

  #store(tasks: readonly Omit<StudioTask, 'id'>[]): void {
    this.tasks.push(...this.#numbered(tasks));
  }

  #numbered(tasks: readonly Omit<StudioTask, 'id'>[]): StudioTask[] {
    return tasks.map((task) => ({ id: (this.#id += 1), ...task }));
  }
}
