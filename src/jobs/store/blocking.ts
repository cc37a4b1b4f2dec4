/** The same methods as on the main thread, without the promise: what runs beside the database. */
export type Blocking<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
};
