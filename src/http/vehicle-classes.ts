/** Which classes count as vehicles, and which of them a request selects. */
import { DEFAULT_VEHICLES } from '../models/class-filter.js';
import type { ModelCatalogue } from './models/model-catalogue.js';
import { validationFailed } from './validation.js';

/** The vehicle classes of COCO, in its order. */
export const VEHICLE_CLASSES = [
  'bicycle',
  'car',
  'motorcycle',
  'airplane',
  'bus',
  'train',
  'truck',
  'boat',
] as const;

const known = new Set<string>(VEHICLE_CLASSES);

/** For the OpenAPI document: the names in any letter case. */
export const VEHICLE_CLASS_PATTERN = `^(?:${VEHICLE_CLASSES.map(withoutCase).join('|')})$`;

function withoutCase(name: string): string {
  return name.replace(/./g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

export function isVehicleClass(name: string): boolean {
  return known.has(name.toLowerCase());
}

/**
 * The model's spelling of each requested type, each once; the default vehicles when none was requested.
 * Throws `validation_failed` for a type that the model lacks, or the model's own error.
 */
export async function resolveVehicleTypes(
  types: readonly string[] | null | undefined,
  modelName: string,
  catalogue: ModelCatalogue,
): Promise<readonly string[]> {
  if (types === null || types === undefined) return DEFAULT_VEHICLES;
  const offered = (await catalogue.classesOf(modelName)).filter(isVehicleClass);
  const resolved = types.map((type) => {
    const wanted = type.toLowerCase();
    return offered.find((name) => name.toLowerCase() === wanted);
  });
  const missing = types.flatMap((type, index) =>
    resolved[index] === undefined
      ? [
          {
            detail: `The model has no class '${type}'. Vehicle types of this model: ${offered.join(', ') || 'none'}.`,
            pointer: `#/vehicle_types/${index}`,
          },
        ]
      : [],
  );
  if (missing.length > 0) throw validationFailed(missing);
  return [...new Set(resolved.filter((name) => name !== undefined))];
}
