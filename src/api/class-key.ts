/**
 * Equal for two spellings of one class: letter case and white space at the ends say nothing. No name stands for
 * another: `motorbike` is a class of its own, not `motorcycle`.
 */
export function classKey(name: string): string {
  return name.trim().toLowerCase();
}

/** Values of classes, such as thresholds, by `classKey`. */
export function byClassKey<V>(values: Readonly<Record<string, V>>): Map<string, V> {
  return new Map(Object.entries(values).map(([name, value]) => [classKey(name), value]));
}
