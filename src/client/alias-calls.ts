/** Calls of aliases: names that stand for models. A name may be written without `.pt`. */
import type { ApiCall, CallOptions, HttpCaller } from './http-call.js';
import type { Agreement, Alias, AliasList, AliasPut } from './records.js';

const PATH = '/v1/models/aliases';

export class AliasCalls {
  readonly #http: HttpCaller;
  readonly #deadlineMs: number;

  constructor(http: HttpCaller, deadlineMs: number) {
    this.#http = http;
    this.#deadlineMs = deadlineMs;
  }

  /** All, by name. */
  async list(options?: CallOptions): Promise<Alias[]> {
    return ((await this.#call('GET', '', options)) as AliasList).aliases;
  }

  /** The newest version, or an earlier one, also of an alias that was deleted. */
  get(name: string, version?: number, options?: CallOptions): Promise<Alias> {
    const query = version === undefined ? '' : `?version=${version}`;
    return this.#call('GET', pathOf(name) + query, options) as Promise<Alias>;
  }

  /** Lets the name stand for the model, and returns once requests use it. */
  put(name: string, alias: AliasPut, options?: CallOptions): Promise<Alias> {
    return this.#call('PUT', pathOf(name), options, alias) as Promise<Alias>;
  }

  /** The canary, without one the shadow, answers from then on. */
  promote(name: string, options?: CallOptions): Promise<Alias> {
    return this.#call('POST', `${pathOf(name)}/promote`, options) as Promise<Alias>;
  }

  /** Takes the last change back. */
  rollBack(name: string, options?: CallOptions): Promise<Alias> {
    return this.#call('POST', `${pathOf(name)}/rollback`, options) as Promise<Alias>;
  }

  async remove(name: string, options: CallOptions = {}): Promise<void> {
    const call = { method: 'DELETE', path: PATH + pathOf(name), repeatable: false } as const;
    await this.#http.blob(call, options.deadlineMs ?? this.#deadlineMs, options.signal);
  }

  /** The boxes of the model and of its shadow; `no_other_model` where the alias has none. */
  agreement(name: string, options?: CallOptions): Promise<Agreement> {
    return this.#call('GET', `${pathOf(name)}/agreement`, options) as Promise<Agreement>;
  }

  /** A second promotion or rollback would be another change: only the others are tried again. */
  #call(
    method: ApiCall['method'],
    path: string,
    { deadlineMs, signal }: CallOptions = {},
    body?: AliasPut,
  ): Promise<unknown> {
    const call = {
      method,
      path: PATH + path,
      repeatable: method !== 'POST',
      ...(body && { body }),
    };
    return this.#http.json(call, deadlineMs ?? this.#deadlineMs, signal);
  }
}

const pathOf = (name: string): string => `/${encodeURIComponent(name)}`;
