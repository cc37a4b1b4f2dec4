/** The system's Chromium on the page of a real service. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { expect } from 'vitest';

const CHROMIUM = [
  process.env['LATTICE_CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== '' && existsSync(path));

export const hasBrowser = CHROMIUM !== undefined;
if (!hasBrowser) {
  console.warn(
    'No Chromium (apt-get install chromium): tests of the page in a browser are left out.',
  );
}

/** Screenshots go here; none are made without it. */
const SCREENSHOTS = process.env['LATTICE_SCREENSHOTS'];

export type Look = 'light' | 'dark' | 'phone';

export interface TestPage extends AsyncDisposable {
  page: Page;
  /** Fails for anything that axe finds, and for a page that is wider than its window. */
  checkAccess(what: string): Promise<void>;
  /** Fails for errors in the console and for violations of the page's policy since the opening. */
  checkQuiet(): Promise<void>;
  screenshot(name: string): Promise<void>;
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
}

export async function openPage(
  browser: Browser,
  address: string,
  look: Look = 'light',
): Promise<TestPage> {
  const context = await browser.newContext({
    viewport: look === 'phone' ? { width: 390, height: 844 } : { width: 1280, height: 860 },
    colorScheme: look === 'dark' ? 'dark' : 'light',
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error.stack)));
  page.on('console', (message) => {
    // A service that is away is told by the page itself.
    const isExpected = /ERR_CONNECTION|WebSocket|net::|Failed to load resource/.test(
      message.text(),
    );
    if (message.type() === 'error' && !isExpected) faults.push(message.text());
  });
  await page.addInitScript(() => {
    const found: string[] = [];
    Reflect.set(window, 'policyViolations', found);
    document.addEventListener('securitypolicyviolation', (event) => {
      found.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  await page.goto(address);
  return {
    page,
    checkAccess: async (what) => {
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        const { violations: found } = await (Reflect.get(window, 'axe') as typeof axe).run();
        return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
      });
      expect(violations, what).toEqual([]);
      const [used, width] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        window.innerWidth,
      ]);
      expect(used, `${what}: width`).toBeLessThanOrEqual(width ?? 0);
    },
    checkQuiet: async () => {
      const violations = await page.evaluate(
        () => Reflect.get(window, 'policyViolations') as string[],
      );
      expect([...faults, ...violations]).toEqual([]);
    },
    screenshot: async (name) => {
      if (SCREENSHOTS === undefined) return;
      mkdirSync(SCREENSHOTS, { recursive: true });
      const path = join(SCREENSHOTS, `${name}-${look}.jpg`);
      await page.screenshot({ path, type: 'jpeg', quality: 78 });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
