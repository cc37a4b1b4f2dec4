/** A page of another origin in a browser, beside a service with default settings: it detects, and gets no picture. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, detect } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { browserPath, openBrowser } from './browser.js';

describe.skipIf(browserPath === null)('a page of another origin', () => {
  let service: ServiceProcess;
  let server: Server;
  let browser: Browser;
  let foreign: Page;
  let own: Page;
  let picture: string;

  beforeAll(async () => {
    service = await startService();
    const drawn = await detect(service.url, { annotate: true, confidence_threshold: 1 });
    picture = `${service.url}${drawn.body.annotated_url}`;
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Page</p>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await openBrowser();
    const context = await browser.newContext();
    [foreign, own] = await Promise.all([context.newPage(), context.newPage()]);
    await foreign.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await own.goto(`${service.url}/ui`);
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    await service[Symbol.asyncDispose]();
  });

  /** The status that a script of the page sees; null where the browser keeps the answer from it. */
  const statusFor = (page: Page, url: string, init: RequestInit = {}) =>
    page.evaluate(
      async ([address, options]) =>
        fetch(address, options as RequestInit).then(
          ({ status }) => status,
          () => null,
        ),
      [url, init] as const,
    );
  const isShownIn = (page: Page, url: string) =>
    page.evaluate(
      (address) =>
        new Promise<boolean>((resolve) => {
          const image = new Image();
          image.onload = () => {
            resolve(true);
          };
          image.onerror = () => {
            resolve(false);
          };
          image.src = address;
        }),
      url,
    );
  const json = (body: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  test('reads and detects', async () => {
    expect(await statusFor(foreign, `${service.url}/v1/models`)).toBe(200);
    const found = json({ image_path: 'shapes.png' });
    expect(await statusFor(foreign, `${service.url}/v1/inference/detect`, found)).toBe(200);
    const drawn = json({ image_path: 'shapes.png', annotate: true });
    expect(await statusFor(foreign, `${service.url}/v1/inference/detect`, drawn)).toBe(403);
  });

  test('neither reads nor shows a picture, which the page of the service does', async () => {
    for (const url of [picture, `${service.url}/v1/images/file?path=shapes.png`]) {
      expect(await statusFor(own, url)).toBe(200);
      expect(await statusFor(foreign, url)).toBeNull();
      // Neither after the page of the service, in the same browser, has it in its cache.
      expect(await statusFor(foreign, url, { cache: 'force-cache' })).toBeNull();
      expect(await statusFor(foreign, url, { mode: 'no-cors' })).toBeNull();
      expect(await isShownIn(foreign, url)).toBe(false);
    }
  });

  test('leaves nothing behind, by script or by form', async () => {
    const watch = { name: 'evil', paths: ['**'], job_type: 'detect_cars' };
    expect(await statusFor(foreign, `${service.url}/v1/watches`, json(watch))).toBeNull();
    expect(await statusFor(foreign, `${service.url}/v1/uploads`, { method: 'POST' })).toBeNull();
    const answered = foreign.waitForResponse(`${service.url}/v1/models/reload`);
    await foreign.evaluate((action) => {
      const form = document.createElement('form');
      form.method = 'post';
      form.enctype = 'text/plain';
      form.action = action;
      document.body.append(form);
      form.submit();
    }, `${service.url}/v1/models/reload`);
    expect((await answered).status()).toBe(403);
    const { text: watches } = await call(service.url, '/v1/watches');
    const { text: uploads } = await call(service.url, '/v1/uploads');
    expect([watches, uploads]).toEqual(['{"watches":[]}', '{"uploads":[],"next_cursor":null}']);
    expect(await statusFor(own, `${service.url}/v1/models/reload`, { method: 'POST' })).toBe(200);
  });
});
