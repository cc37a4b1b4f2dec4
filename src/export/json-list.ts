/** A JSON array that is written page by page. */
export class JsonList {
  #empty = true;

  /** The items as text, with the comma that separates them from those before. */
  add(items: readonly unknown[]): string {
    if (items.length === 0) return '';
    const text = items.map((item) => JSON.stringify(item)).join(',\n');
    const separator = this.#empty ? '' : ',\n';
    this.#empty = false;
    return separator + text;
  }
}
