/** The classes that a request names -> those that the detector keeps. */
import type { LatticeError } from '../../api/errors.js';
import { DEFAULT_VEHICLES, isDefaultVehicles, type DetectOptions } from '../../api/options.js';
import type { Region } from '../../api/region-rules.js';
import { matchClasses, noSuchClass } from '../../models/class-filter.js';
import type { ModelCatalogue } from '../model-catalogue.js';
import { shorten, validationFailed } from './validation.js';
import { classKey } from '../../api/class-key.js';

interface ClassFields {
  classes?: readonly string[] | null | undefined;
  vehicle_types?: readonly string[] | null | undefined;
}

/**
 * The classes in the model's spelling, or null for all; the default vehicles for a request that names none, which the
 * worker reduces to those of the model. Throws `validation_failed` for both fields at once and for a class that the
 * model lacks, or the model's own error.
 */
export async function requestedClasses(
  fields: ClassFields,
  modelName: string,
  catalogue: Pick<ModelCatalogue, 'classesOf'>,
): Promise<readonly string[] | null> {
  refuseBothFields(fields);
  const field = fields.classes ? 'classes' : 'vehicle_types';
  const requested = fields[field];
  if (!requested) return DEFAULT_VEHICLES;
  const known = await catalogue.classesOf(modelName);
  const { classes, unknown } = matchClasses(requested, known);
  // If the classes of the model are unknown, its worker decides.
  if (known.length === 0) return classes === null ? null : requested;
  if (unknown.length === 0) return classes;
  const missing = unknown.map((index) => [requested[index] ?? '', `${field}/${index}`] as const);
  throw missingClasses(missing, modelName, known);
}

/** Refuses a model for settings of another one that name classes which it lacks, or rejects with the model's error. */
export async function refuseOtherModel(
  { classes, classThresholds, regions }: DetectOptions,
  modelName: string,
  catalogue: Pick<ModelCatalogue, 'classesOf'>,
): Promise<void> {
  const named = isDefaultVehicles(classes) ? null : classes;
  await requestedClasses({ classes: named }, modelName, catalogue);
  await refuseUnknownClasses({ class_thresholds: classThresholds, regions }, modelName, catalogue);
}

interface FieldsWithClasses {
  class_thresholds?: Readonly<Record<string, number>> | null | undefined;
  regions?: readonly Region[] | null | undefined;
}

/**
 * Refuses thresholds and regions for classes that the model lacks, with `validation_failed`, or rejects with the
 * model's error.
 */
export async function refuseUnknownClasses(
  { class_thresholds, regions }: FieldsWithClasses,
  modelName: string,
  catalogue: Pick<ModelCatalogue, 'classesOf'>,
): Promise<void> {
  const named = [
    ...Object.keys(class_thresholds ?? {}).map((name) => [
      name,
      `class_thresholds/${shorten(name)}`,
    ]),
    ...(regions ?? []).flatMap(({ classes }, region) =>
      (classes ?? []).map((name, at) => [name, `regions/${region}/classes/${at}`]),
    ),
  ] as [name: string, place: string][];
  if (named.length === 0) return;
  const known = await catalogue.classesOf(modelName);
  const spellings = new Set(known.map(classKey));
  // If the classes of the model are unknown, its worker decides.
  const missing = named.filter(([name]) => known.length > 0 && !spellings.has(classKey(name)));
  if (missing.length > 0) throw missingClasses(missing, modelName, known);
}

/** `missing`: each name with its place in the body. */
function missingClasses(
  missing: readonly (readonly [name: string, place: string])[],
  modelName: string,
  known: readonly string[],
): LatticeError {
  return validationFailed(
    missing.map(([name, place]) => ({
      detail: noSuchClass(modelName, shorten(name), known),
      pointer: `#/${place}`,
    })),
  );
}

function refuseBothFields({ classes, vehicle_types }: ClassFields): void {
  if (!classes || !vehicle_types) return;
  const detail = 'classes and vehicle_types exclude each other: send one of them.';
  throw validationFailed([{ detail, pointer: '#/classes' }]);
}
