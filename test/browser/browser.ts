/** The system's Chromium on the live page. Each page tells what it did against the policy, and what it threw. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { findBrowser, whyLeftOut } from '../../scripts/system-packages.mjs';
import { FEW_THREADS } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';
import { HANG_MS } from '../support/eventually.js';

/** A folder: the tests write the pictures of the documentation into it. */
const SHOTS = process.env.UI_SCREENSHOTS ?? '';
export const wantsScreenshots = SHOTS !== '';
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export const browserPath = findBrowser();
if (browserPath === null) console.warn(whyLeftOut('chromium'));

export function openBrowser(): Promise<Browser> {
  // The sandbox does not start for root.
  const flags = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: browserPath ?? '', args: flags });
}

export interface WatchedPage {
  page: Page;
  /** Violations of the policy and errors since the page was opened. */
  faults(): string[];
}

export async function openPage(browser: Browser): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const page = await context.newPage();
  // Shorter than the time limit of a test, so that the error names the step.
  page.setDefaultTimeout(HANG_MS);
  const faults: string[] = [];
  await page.exposeFunction('reportFault', (fault: string) => faults.push(fault));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      const report = (window as unknown as { reportFault: (fault: string) => void }).reportFault;
      report(`policy: ${violatedDirective} ${blockedURI}`);
    });
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  return { page, faults: () => faults };
}

export interface OpenedPage {
  service: ServiceProcess;
  page: Page;
  /** Starts the service that was killed again, at its address and on its data: it is opened anew. */
  restart: () => Promise<void>;
}

/**
 * Opens a page beside a service with the bundled models; fails a test after which the page has a fault. `seed` fills
 * the data and the image root before the service starts.
 */
export function withPage(
  env: Record<string, string>,
  onOpened: (opened: OpenedPage) => void,
  seed?: (dataDir: string, imageRoot: string) => Promise<void>,
): void {
  let folder: string;
  let service: ServiceProcess;
  let browser: Browser;
  let watched: WatchedPage;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lattice-browser-'));
    const [dataDir, imageRoot] = [join(folder, 'data'), join(folder, 'photos')];
    await seed?.(dataDir, imageRoot);
    const models = { ...FEW_THREADS, LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models') };
    const roots = seed && { LATTICE_IMAGE_ROOTS: imageRoot };
    const start = (flags: string[] = []) =>
      startService({ dataDir, env: { ...models, ...roots, ...env }, flags });
    const open = () => {
      onOpened({ service, page: watched.page, restart });
    };
    const restart = async () => {
      service = await start(['--port', new URL(service.url).port]);
      open();
    };
    [service, browser] = await Promise.all([start(), openBrowser()]);
    watched = await openPage(browser);
    open();
  });
  beforeEach(() => watched.page.setViewportSize({ width: 1280, height: 800 }));
  afterEach(() => {
    expect(watched.faults()).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await service.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Opens an address as a new visit: another fragment alone would not load the page again. */
export async function openAnew(page: Page, url: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(url);
}

/** The JSON that the service answers beside the page. */
export async function answerOf<T>({ url }: ServiceProcess, path: string): Promise<T> {
  return (await (await fetch(url + path)).json()) as T;
}

/** Rules of axe that the page breaks, with the elements. */
export async function axeViolations(page: Page): Promise<string[]> {
  const isLoaded = await page.evaluate(() => 'axe' in window);
  if (!isLoaded) await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(async () => {
    interface Axe {
      run(): Promise<{
        violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
      }>;
    }
    const { violations } = await (window as unknown as { axe: Axe }).axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    );
  });
}

/** Pixels by which the page is wider than the window. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/**
 * For the documentation; only where UI_SCREENSHOTS names a folder. UI_SCREENSHOT_PHOTOS: set of `render.py set`, for
 * jobs.
 */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!wantsScreenshots) return;
  const png = await page.screenshot();
  await sharp(png)
    .webp({ quality: 82, effort: 6 })
    .toFile(join(SHOTS, `${name}.webp`));
}
