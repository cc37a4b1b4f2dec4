/** The generated sections of the README files, and the machine that they name. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

export function machine(): string {
  return `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`;
}

/** Puts Markdown between the markers `<!-- NAME -->` and `<!-- end of NAME -->` of a page. */
export async function replaceSection(page: string, name: string, text: string): Promise<void> {
  const before = readFileSync(page, 'utf8');
  const section = new RegExp(`<!-- ${name} -->[\\s\\S]*<!-- end of ${name} -->`);
  if (!section.test(before)) throw new Error(`${page} has no section "${name}".`);
  const marked = `<!-- ${name} -->\n\n${text}\n\n<!-- end of ${name} -->`;
  const filled = before.replace(section, () => marked);
  // Only who publishes needs it: a machine that measures may have the service's packages alone.
  const { format, resolveConfig } = await import('prettier');
  const style = await resolveConfig(page);
  writeFileSync(page, await format(filled, { parser: 'markdown', ...style }));
}
