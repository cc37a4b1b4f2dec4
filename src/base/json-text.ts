/**
 * The JSON of the object, which has a member, with one more whose value is JSON text: parsed, its numbers would lose
 * digits.
 */
export function withMember(object: object, name: string, json: string): string {
  return `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(name)}:${json}}`;
}
