/** How a view looks: wide and narrow, light and dark. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeViolations, screenshot, sidewaysScroll } from './browser.js';

/** The widest one has the elements and colours of the others: axe looks at those. */
const LOOKS = [
  { width: 1280, height: 800, colorScheme: 'light', shot: 'light', axe: true },
  { width: 1280, height: 800, colorScheme: 'dark', shot: 'dark', axe: true },
  { width: 390, height: 844, colorScheme: 'light', shot: 'phone', axe: true },
  { width: 390, height: 844, colorScheme: 'dark', shot: null, axe: false },
  { width: 1920, height: 1080, colorScheme: 'dark', shot: null, axe: false },
] as const;

/** No fault of axe and no sideways scroll in any look; the screenshots of the documentation. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  for (const { width, height, colorScheme, shot, axe } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    const where = `${name} ${width} ${colorScheme}`;
    expect(await sidewaysScroll(page), where).toBeLessThanOrEqual(0);
    if (axe) expect(await axeViolations(page), where).toEqual([]);
    if (shot !== null) await screenshot(page, `${name}-${shot}`);
  }
}
