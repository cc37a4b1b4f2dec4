/** The part of a Ray dashboard that takes packages and jobs: its rules are those of Ray 2.60. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface SubmittedJob {
  submission_id: string;
  entrypoint: string;
  runtime_env: { py_modules: string[] };
}

interface Refusal {
  status: number;
  text: string;
}

export class FakeRayDashboard {
  token: string | null = null;
  /** Final states of the jobs, first come first; `SUCCEEDED` when empty, never while it says `RUNNING`. */
  readonly ends: string[] = [];
  logs = 'line 1\nline 2\n';
  /** The answer to a submission, in place of the usual one. */
  refusal: Refusal | null = null;
  /** Paths that get no answer. */
  silent: RegExp | null = null;
  readonly packages = new Map<string, Buffer>();
  readonly jobs: SubmittedJob[] = [];
  readonly stopped: string[] = [];
  readonly calls: string[] = [];
  /** Jobs that have not been seen to end. */
  running = 0;
  mostRunning = 0;
  readonly #status = new Map<string, string>();
  readonly #server: Server;

  static async start(): Promise<FakeRayDashboard> {
    const dashboard = new FakeRayDashboard();
    dashboard.#server.listen(0, '127.0.0.1');
    await once(dashboard.#server, 'listening');
    return dashboard;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#receive(request, response);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    this.calls.push(`${method} ${url}`);
    if (this.silent?.test(url) === true) return;
    const browser = Object.keys(headers).some((name) =>
      /^(sec-fetch-.*|origin|referer)$/.test(name),
    );
    const { status, text } =
      browser && method !== 'GET'
        ? { status: 405, text: `'${method}' method not allowed for browser traffic.` }
        : this.token !== null && headers.authorization !== `Bearer ${this.token}`
          ? { status: 401, text: 'Unauthorized: Missing authentication token' }
          : this.#answer(method, url, Buffer.concat(chunks));
    response.writeHead(status).end(text);
  }

  #answer(method: string, url: string, body: Buffer): Refusal {
    const ok = (value: unknown): Refusal => ({ status: 200, text: JSON.stringify(value) });
    const packageName = /^\/api\/packages\/gcs\/(.+)$/.exec(url)?.[1];
    if (packageName !== undefined) {
      if (method === 'PUT') this.packages.set(packageName, body);
      return this.packages.has(packageName)
        ? { status: 200, text: '' }
        : { status: 404, text: `Package gcs://${packageName} does not exist` };
    }
    if (method === 'POST' && url === '/api/jobs/') {
      return this.refusal ?? ok(this.#submit(JSON.parse(body.toString()) as SubmittedJob));
    }
    const [, id = '', action] = /^\/api\/jobs\/([^/]+)(?:\/(\w+))?$/.exec(url) ?? [];
    const status = this.#status.get(id);
    if (status === undefined) return { status: 404, text: `Job ${id} does not exist` };
    if (action === 'logs') return ok({ logs: this.logs });
    if (action === 'stop') {
      this.stopped.push(id);
      this.#end(id, 'STOPPED');
      return ok({ stopped: true });
    }
    const seen = status;
    if (status === 'PENDING') this.#status.set(id, 'RUNNING');
    else if (status === 'RUNNING') {
      const end = this.ends[0] === 'RUNNING' ? 'RUNNING' : (this.ends.shift() ?? 'SUCCEEDED');
      if (end !== 'RUNNING') this.#end(id, end);
    }
    return ok({ status: seen, message: `It is ${seen}.` });
  }

  #submit(job: SubmittedJob): object {
    this.jobs.push(job);
    this.#status.set(job.submission_id, 'PENDING');
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    return { job_id: job.submission_id, submission_id: job.submission_id };
  }

  #end(id: string, status: string): void {
    this.#status.set(id, status);
    this.running -= 1;
  }
}
