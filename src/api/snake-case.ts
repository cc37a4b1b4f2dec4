/** Shapes of this folder as HTTP has them: the same fields, named in snake_case. */
import type { z } from 'zod';

export type Snake<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Uppercase<First> ? `_${Lowercase<First>}` : First}${Snake<Rest>}`
  : Name;
type SnakeKeys<Fields> = { [Key in keyof Fields as Snake<Key>]: Fields[Key] };

export const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export interface SnakeCase<Shape extends z.ZodRawShape> {
  shape: SnakeKeys<Shape>;
  /** The fields of `shape` in its order, and no others. */
  toWire: (value: z.infer<z.ZodObject<Shape>>) => SnakeKeys<z.infer<z.ZodObject<Shape>>>;
}

export function snakeCase<Shape extends z.ZodRawShape>({
  shape,
}: {
  shape: Shape;
}): SnakeCase<Shape> {
  const names = Object.keys(shape).map((key) => [key, snake(key)] as const);
  type ToWire = SnakeCase<Shape>['toWire'];
  return {
    shape: Object.fromEntries(names.map(([key, name]) => [name, shape[key]])) as SnakeKeys<Shape>,
    toWire: (value) => {
      const wire: Record<string, unknown> = {};
      for (const [key, name] of names) wire[name] = (value as Record<string, unknown>)[key];
      return wire as ReturnType<ToWire>;
    },
  };
}
