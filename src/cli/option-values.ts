/** What several commands read from the text of an option. */
import { InvalidArgumentError } from 'commander';

export function fraction(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1)) {
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  }
  return value;
}

export function nameList(text: string): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.includes('')) throw new InvalidArgumentError('It takes names separated by commas.');
  return list;
}

/** A whole number of a range. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) {
      return value;
    }
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
