/** Prepared statements of one connection, by their text. */
import type { Database } from './schema.js';

type Statement = ReturnType<Database['prepare']>;
type Parameter = string | number | Uint8Array | null;

export class Statements {
  readonly #prepared = new Map<string, Statement>();
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Rows changed. */
  run(sql: string, ...parameters: Parameter[]): number {
    return this.#statement(sql).run(...parameters).changes;
  }

  /** Runs and gives the number of the row that was inserted. */
  insert(sql: string, ...parameters: Parameter[]): number {
    return Number(this.#statement(sql).run(...parameters).lastInsertRowid);
  }

  get(sql: string, ...parameters: Parameter[]): unknown {
    return this.#statement(sql).get(...parameters);
  }

  all(sql: string, ...parameters: Parameter[]): unknown[] {
    return this.#statement(sql).all(...parameters);
  }

  /** Row by row; leaving the loop early ends the statement. */
  each(sql: string, ...parameters: Parameter[]): Iterable<unknown> {
    return this.#statement(sql).iterate(...parameters);
  }

  #statement(sql: string): Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
