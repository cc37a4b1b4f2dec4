/** Lists that are written as text. */

/** Parts without white space around them; empty ones are none. */
export function splitList(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Reads a JSON array, in which a name may contain any separator. Null where the text is no JSON array. */
export function jsonList(text: string): unknown[] | null {
  if (!text.startsWith('[')) return null;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}

/**
 * Numbers by name: `car:0.4,truck:0.6`, or a JSON object for names with any character. Null where the text is neither;
 * what stands for a number and is none becomes NaN.
 */
export function namedNumbers(text: string): Record<string, unknown> | null {
  if (text.trim().startsWith('{')) return jsonObject(text);
  const parts = splitList(text, ',').map((part) => /^(.*[^\s:])\s*:\s*(\S+)$/.exec(part));
  if (parts.length === 0 || parts.includes(null)) return null;
  return Object.fromEntries(parts.map((part) => [part?.[1] ?? '', Number(part?.[2])]));
}

/** Null where the text is no JSON. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
