/** The classes whose boxes are to be covered in pictures: a name that covers nothing is refused. */
import { classKey } from '../../api/class-key.js';
import type { DetectOptions } from '../../api/options.js';
import type { Detection } from '../../api/schemas/image.js';
import { ClassFilter, matchClasses, noSuchClass } from '../../models/class-filter.js';
import type { ModelCatalogue } from '../model-catalogue.js';
import { shorten, validationFailed } from './validation.js';

/**
 * Undefined for all. Rejects with `validation_failed` for a class that the model lacks, and for
 * one whose boxes `options` leave out: what was not looked for would be shown.
 */
export async function coveredClasses(
  named: readonly string[] | undefined,
  { modelName, classes: kept }: Pick<DetectOptions, 'modelName' | 'classes'>,
  catalogue: Pick<ModelCatalogue, 'classesOf'>,
): Promise<readonly string[] | undefined> {
  if (named === undefined) return undefined;
  // The model may be gone by now. Then its classes are those of the boxes.
  const known = await catalogue.classesOf(modelName).catch((): readonly string[] => []);
  const { classes, unknown } = matchClasses(named, known);
  if (known.length === 0) return classes === null ? undefined : named;
  const refused = unknown.map((at) => noSuchClass(modelName, shorten(named[at] ?? ''), known));
  const ids = new ClassFilter(known).ids(kept);
  const left = (classes ?? []).filter((name) => {
    const isKept = (id: number) => classKey(known[id] ?? '') === classKey(name);
    return ids !== null && !ids.some(isKept);
  });
  refused.push(...left.map(notLookedFor));
  if (refused.length > 0) throw validationFailed(refused.map((detail) => ({ detail })));
  return classes ?? undefined;
}

const notLookedFor = (name: string): string =>
  `Boxes of class '${name}' were not asked for, so none can be covered: ask for the class with \`classes\`.`;

/** A box counts by the class that was merged into it, too. */
export function isCovered(
  { class: name, alternative }: Detection,
  classes: readonly string[] | undefined,
): boolean {
  if (classes === undefined) return true;
  const keys = classes.map(classKey);
  return (
    keys.includes(classKey(name)) ||
    (alternative && keys.includes(classKey(alternative.class))) === true
  );
}
