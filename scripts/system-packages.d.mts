/** Types of system-packages.mjs, which says what each does. */
export const PACKAGES: readonly {
  name: string;
  of: 'set-up' | 'tests';
  brings: string;
  without?: string;
}[];
export function findBrowser(): string | null;
export function whyLeftOut(name: string): string | null;
export function packageTable(): string;
