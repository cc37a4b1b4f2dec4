/** The text of a part of a JSON document as it was sent: a parsed number keeps 53 bits of it. */

/**
 * The text of the member at `path` of the object that `json` is, without white space between its tokens; undefined
 * where there is none. Of members with the same name the last counts, there and within, as for `JSON.parse`. `json` is
 * valid and of bounded depth.
 */
export function memberText(json: string, path: readonly string[]): string | undefined {
  let text: string | undefined = json;
  for (const name of path) {
    let found: string | undefined;
    const scanner: Scanner = new Scanner(text);
    for (const key of scanner.members()) {
      const value = scanner.value();
      if (key === name) found = value;
    }
    if (found === undefined) return undefined;
    text = found;
  }
  return new Scanner(text).compact();
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * The keys of the object that begins here; before the next one, the caller takes the value. Nothing for another
   * value.
   */
  *members(): Generator<string, void> {
    if (this.#next() !== '{') return;
    this.#at += 1;
    while (this.#next() === '"') {
      const key = JSON.parse(this.value()) as string;
      this.#next();
      this.#at += 1; // the colon
      yield key;
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
  }

  /** The value that begins here, as it is written. */
  value(): string {
    this.#next();
    const start = this.#at;
    let depth = 0;
    do {
      const token = this.#next();
      if (token === '{' || token === '[') depth += 1;
      if (token === '}' || token === ']') depth -= 1;
      this.#skipToken();
    } while (depth > 0);
    return this.#text.slice(start, this.#at);
  }

  /** The value that begins here, without white space and without members that a later one of the same name replaces. */
  compact(): string {
    const first = this.#next();
    if (first === '{') {
      const members = new Map<string, string>();
      for (const key of this.members()) members.set(key, this.compact());
      const texts = [...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`);
      return `{${texts.join(',')}}`;
    }
    if (first !== '[') return this.value();
    const items: string[] = [];
    this.#at += 1;
    while (this.#next() !== ']') {
      items.push(this.compact());
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
    return `[${items.join(',')}]`;
  }

  /** The first character of the next token, at which the scanner then stands. */
  #next(): string {
    while (' \t\n\r'.includes(this.#text.charAt(this.#at)) && this.#at < this.#text.length) {
      this.#at += 1;
    }
    return this.#text.charAt(this.#at);
  }

  #skipToken(): void {
    const first = this.#text.charAt(this.#at);
    this.#at += 1;
    if (first === '"') this.#at = this.#endOfString();
    else if (!'{}[]:,'.includes(first)) this.#at = this.#endOfWord();
  }

  /** Returns the position after the closing quote: the first quote that an even number of backslashes precedes. */
  #endOfString(): number {
    let quote = this.#at - 1;
    let backslashes: number;
    do {
      quote = this.#text.indexOf('"', quote + 1);
      backslashes = 0;
      while (this.#text[quote - 1 - backslashes] === '\\') backslashes += 1;
    } while (backslashes % 2 === 1);
    return quote + 1;
  }

  /** Returns the position after a number, `true`, `false` or `null`. */
  #endOfWord(): number {
    let end = this.#at;
    while (end < this.#text.length && !' \t\n\r,]}'.includes(this.#text.charAt(end))) end += 1;
    return end;
  }
}
