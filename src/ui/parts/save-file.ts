/** Gives the person a file of the page's own making. */
const KEPT_MS = 60_000;

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser may read it only after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
