/** A small keep-alive client: its own cost is in every figure, so it does as little as possible. */
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  ms: number;
}

export class HttpClient {
  readonly #agent: Agent;
  readonly #url: URL;

  constructor(url: string, connections: number) {
    this.#url = new URL(url);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  send(method: string, path: string, body?: unknown): Promise<Reply> {
    const start = performance.now();
    const text = body === undefined ? '' : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          agent: this.#agent,
          host: this.#url.hostname,
          port: this.#url.port,
          path,
          method,
          headers:
            body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
        },
        (response) => {
          let answer = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (answer += chunk));
          response.on('end', () => {
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: answer,
              ms: performance.now() - start,
            });
          });
          response.on('error', reject);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  /** Milliseconds of one synchronous detection. Rejects on any answer but boxes. */
  async detect(imagePath: string | undefined, model?: string): Promise<number> {
    const body = { image_path: imagePath, model_name: model };
    const reply = await this.send('POST', '/v1/inference/detect', body);
    if (reply.status !== 200) throw new Error(reply.body);
    return reply.ms;
  }

  /** Images per second of one durable job, from its submission to its end. */
  async runJob(imagePaths: string[]): Promise<number> {
    const start = performance.now();
    const body = { job_type: 'detect_vehicles', image_paths: imagePaths };
    const reply = await this.send('POST', '/v1/jobs/submit', body);
    const { job_id: id } = JSON.parse(reply.body) as { job_id: string };
    for (;;) {
      const status = await this.send('GET', `/v1/jobs/${id}/status`);
      if (!/"status":"(pending|running)"/.test(status.body)) break;
      await sleep(20);
    }
    return (imagePaths.length * 1_000) / (performance.now() - start);
  }

  close(): void {
    this.#agent.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
