/**
 * Patterns of paths: `*` and `?` within a component, `**` for any number of components. Other characters are
 * themselves.
 */

export type PathPattern = (path: string) => boolean;

/** Matching takes at most the product of both lengths. */
export function pathPattern(text: string): PathPattern {
  const parts = text.split('/').map((part) => (part === '**' ? null : Array.from(part, character)));
  const components = parts.map((part) => part && ((name: string) => fits(part, Array.from(name))));
  const beginning = text.slice(0, text.search(/[*?]|$/));
  return (path) => path.startsWith(beginning) && fits(components, path.split('/'));
}

type Test<T> = (item: T) => boolean;

function character(each: string): Test<string> | null {
  if (each === '*') return null;
  return each === '?' ? () => true : (found) => found === each;
}

/** Null in the pattern stands for any number of items. */
function fits<T>(pattern: readonly (Test<T> | null)[], items: readonly T[]): boolean {
  let at = 0;
  let item = 0;
  /** The position to continue from when the items after the last null do not fit: the null then takes one more item. */
  let retry: { at: number; item: number } | null = null;
  while (item < items.length) {
    const test = pattern[at];
    if (test === null) retry = { at: (at += 1), item };
    else if (test?.(items[item] as T) === true) {
      at += 1;
      item += 1;
    } else if (retry === null) return false;
    else {
      retry.item += 1;
      ({ at, item } = retry);
    }
  }
  return pattern.slice(at).every((rest) => rest === null);
}
