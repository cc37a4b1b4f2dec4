/** Lists that are written as text. */

/** Parts without white space around them; empty ones are none. */
export function splitList(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** In JSON, a name may have any separator. Null where the text is no JSON array. */
export function jsonList(text: string): unknown[] | null {
  if (!text.startsWith('[')) return null;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
