/** Gives the person a file that the page has made or fetched. */
const KEPT_MS = 60_000;

export async function saveChunks(
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
  name: string,
): Promise<void> {
  const all: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks) all.push(chunk);
  saveFile(new Blob(all), name);
}

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser may read it only after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
