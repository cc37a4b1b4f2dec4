/** Pictures in the body of a synchronous detection: what the detector gets, and what is refused. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImageResult } from '../../../src/api/schemas/image.js';
import { listen, type Listening } from '../../../src/http/server/listen.js';
import { compose, DRAWN, type Answer, type Harness } from '../../support/composed-app.js';
import { oneCar } from '../../support/scripted-detector.js';
import { until } from '../../support/eventually.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';

const LIMIT = 100_000;
const PICTURE = Buffer.alloc(LIMIT, 'pixels');
const ROUTE = '/v1/inference/detect';

let app: Harness;
let server: Listening;

async function open(...[config, overrides]: Parameters<typeof compose>) {
  app = compose({ maxFileBytes: LIMIT, ...config }, overrides);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}
beforeEach(() => open());
afterEach(() => server.close(500));

async function send(body: Body, query = '', headers: Record<string, string> = {}) {
  const init = { method: 'POST', body: body ?? null, headers, duplex: 'half' } as RequestInit;
  const response = await fetch(`${server.url}${ROUTE}${query}`, init);
  const { status } = response;
  return { status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}

const sendRaw = (body: Body, query = '', type = 'image/jpeg') =>
  send(body, query, { 'content-type': type });

type Body = RequestInit['body'];
type Part = [string, string | Blob, string?];
function form(...parts: Part[]): FormData {
  const data = new FormData();
  for (const [name, value, file] of parts) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, file);
  }
  return data;
}
const picture = (bytes: Uint8Array<ArrayBuffer> = PICTURE) => new Blob([bytes]);

/** A form as some clients write it: parts with headers of their own. */
function handForm(parts: string[], end = '\r\n--B--\r\n') {
  const body = parts.map((part) => `--B\r\n${part}`).join('\r\n') + end;
  return send(Buffer.from(body, 'latin1'), '', {
    'content-type': 'multipart/form-data; boundary=B',
  });
}

const lastRequest = () => app.detector.requests.at(-1)!;
const equal = (a: Buffer | undefined, b: Buffer) => a?.equals(b) === true;

describe('a picture as the body', () => {
  it.each([
    ...['image/jpeg', 'image/jpg', 'image/png', 'image/webp', 'image/tiff', 'image/avif'],
    ...['image/pjpeg', 'image/x-png', 'image/x.ms-bmp', 'image/*', 'IMAGE/HEIC; q=1'],
    'application/octet-stream',
  ])('of type %s', async (type) => {
    const answer = await sendRaw(PICTURE, '', type);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'success', image_path: 'image', total_count: 1 });
    expect(answer.headers.get('server-timing')).toMatch(/^queue;dur=/);
    expect(lastRequest()).toMatchObject({ path: 'image', kind: 'sync' });
    expect(equal(lastRequest().image, PICTURE)).toBe(true);
  });

  it('has its options in the query', async () => {
    const query =
      '?model_name=yolov8n.pt&confidence_threshold=0.25&iou_threshold=.6&max_detections=7' +
      '&vehicle_types=car,%20bus&vehicle_types=TRUCK&annotate=false';
    expect((await sendRaw(PICTURE, query)).status).toBe(200);
    expect(lastRequest().options).toEqual({
      ...DEFAULT_PARAMETERS,
      modelName: 'yolov8n.pt',
      confidence: 0.25,
      iou: 0.6,
      maxDetections: 7,
      classes: ['Car', 'bus', 'truck'],
    });
  });

  it('names classes in JSON too, with their commas', async () => {
    const query = `?classes=${encodeURIComponent(' ["car","bus"]')}&classes=truck`;
    expect((await sendRaw(PICTURE, query)).status).toBe(200);
    expect(lastRequest().options.classes).toEqual(['Car', 'bus', 'truck']);
    for (const [classes, pointer] of [
      ['["car","bus, red"]', '#/classes/1'],
      ['["car",["bus"]]', '#/classes/1'],
      ['[]', '#/classes'],
      ['[car', '#/classes/0'],
    ] as const) {
      const refused = await send(form(['image', picture(), 'a'], ['classes', classes]));
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, pointer]);
    }
    const [{ detail }] = (await sendRaw(PICTURE, '?classes=["bus, red"]')).body.errors;
    expect(detail).toContain("'bus, red'");
  });

  it.each([
    ['street.jpg', "the text 'street.jpg' and no picture: with curl, -F 'image=@street.jpg'"],
    ['/srv/gate 1/a.TIF\n', "the text '/srv/gate 1/a.TIF' and no picture"],
    [`data:image/png;base64,${PICTURE.toString('base64', 0, 2_000)}`, 'a picture as base64 text'],
    ['/9j/4AAQSkZJRgABAQ\nEASABIAAD', 'a picture as base64 text'],
    [`iVBORw0KGgo${'A'.repeat(90_000)}`, 'a picture as base64 text'],
    ['{"image_path": "street.jpg"}', 'JSON: send it with Content-Type: application/json.'],
  ])('that is the text %.40s is told what is wrong with it', async (text, mistake) => {
    const raw = await sendRaw(text);
    expect([raw.status, raw.body.code]).toEqual([422, 'unsupported_image_format']);
    expect(raw.body.detail).toContain(`The body holds ${mistake}`);
    const inForm = await send(form(['image', text]));
    expect(inForm.body.detail).toContain(`The field 'image' holds ${mistake}`);
  });

  it.each(['hello', 'a.jpg\nb.jpg', 'GIF89a.jpg\u0000', 'x'.repeat(2_000) + '.jpg'])(
    'that is other text is left to the decoder: %.20s',
    async (text) => {
      expect((await sendRaw(text)).status).toBe(200);
    },
  );

  it('may be chunked, and empty', async () => {
    const chunks = [
      PICTURE.subarray(0, 10),
      PICTURE.subarray(10, 70_000),
      PICTURE.subarray(70_000),
    ];
    const chunked = await sendRaw(ReadableStream.from(chunks));
    expect(chunked.status).toBe(200);
    expect(equal(lastRequest().image, PICTURE)).toBe(true);
    expect((await sendRaw('')).status).toBe(200);
    expect(lastRequest().image).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['?confidence_threshold=high', '#/confidence_threshold'],
    ['?confidence_threshold=2', '#/confidence_threshold'],
    ['?confidence_threshold=0.1&confidence_threshold=0.2', '#/confidence_threshold'],
    ['?max_detections=1.5', '#/max_detections'],
    ['?annotate=perhaps', '#/annotate'],
    ['?vehicle_types=car,zebra', '#/vehicle_types/1'],
    ['?colour=red', '#/colour'],
    ['?image_path=street.jpg', '#/image_path'],
  ])('with the query %s is refused at its field', async (query, pointer) => {
    const { status, body } = await sendRaw(PICTURE, query);
    expect([status, body.code, body.errors[0].pointer]).toEqual([
      422,
      'validation_failed',
      pointer,
    ]);
    expect(app.detector.requests).toEqual([]);
  });

  it('longer than a file may be is refused, by its declared length and as it arrives', async () => {
    const long = Buffer.alloc(LIMIT + 1);
    for (const body of [long, ReadableStream.from([long]) as unknown as Body]) {
      const answer = await sendRaw(body);
      expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
    }
    expect(app.detector.requests).toEqual([]);
  });
});

describe('a picture in a form', () => {
  it('with options before and after it', async () => {
    const answer = await send(
      form(
        ['confidence_threshold', '0.3'],
        ['image', picture(), 'gate.jpg'],
        ['vehicle_types', 'car'],
        ['iou_threshold', ''],
      ),
      '?max_detections=9&confidence_threshold=0.9',
    );
    expect(answer.body).toMatchObject({ status: 'success', image_path: 'gate.jpg' });
    expect(equal(lastRequest().image, PICTURE)).toBe(true);
    expect(lastRequest().options).toMatchObject({
      confidence: 0.3,
      iou: 0.7,
      maxDetections: 9,
      classes: ['Car'],
    });
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\photos\\gate.jpg', 'gate.jpg'],
    [`${'x'.repeat(300)}.jpg`, 'image'],
    ['größe.jpg', 'größe.jpg'],
    ['blob', 'blob'],
  ])('named %s is answered as %s', async (name, shown) => {
    expect((await send(form(['image', picture(), name]))).body.image_path).toBe(shown);
  });

  it('whose part has neither a file name nor a type', async () => {
    const answer = await handForm(['Content-Disposition: form-data; name="image"\r\n\r\nbytes']);
    expect(answer.body).toMatchObject({ status: 'success', image_path: 'image' });
    expect(lastRequest().image).toEqual(Buffer.from('bytes'));
  });

  const field = (name: string, value = '1'): Part => [name, value];
  it.each<[string, Part[], string]>([
    ['no picture', [field('confidence_threshold')], '#/image'],
    [
      'two pictures',
      [
        ['image', picture(), 'a'],
        ['image', picture(), 'b'],
      ],
      '#/image',
    ],
    [
      'another file',
      [
        ['image', picture(), 'a'],
        ['mask', picture(), 'b'],
      ],
      '#/mask',
    ],
    ['an unknown field', [['image', picture(), 'a'], field('colour')], '#/colour'],
    [
      'a wrong option',
      [['image', picture(), 'a'], field('max_detections', 'x')],
      '#/max_detections',
    ],
    ['a path too', [['image', picture(), 'a'], field('image_path', 'b.jpg')], '#/image_path'],
    [
      'a long field',
      [field('model_name', 'x'.repeat(5_000)), ['image', picture(), 'a']],
      '#/model_name',
    ],
  ])('with %s is refused', async (_what, parts, pointer) => {
    const { status, body } = await send(form(...parts));
    expect([status, body.code, body.errors[0].pointer]).toEqual([
      422,
      'validation_failed',
      pointer,
    ]);
  });

  it('with too many fields is refused', async () => {
    const parts = Array.from({ length: 30 }, (_, i) => field(`field${i}`));
    const { status, body } = await send(form(...parts));
    expect([status, body.code]).toEqual([422, 'validation_failed']);
  });

  it.each([
    [
      'cut in the picture',
      ['Content-Disposition: form-data; name="image"; filename="a"\r\n\r\nhalf'],
      '',
    ],
    ['cut in a field', ['Content-Disposition: form-data; name="model_name"\r\n\r\nyolo'], ''],
    ['empty', [], ''],
    ['of no parts', [], '--B--\r\n'],
  ])('that is %s is refused', async (_what, parts, end) => {
    const { status, body } = await handForm(parts, end);
    expect([400, 422]).toContain(status);
    expect(['bad_request', 'validation_failed']).toContain(body.code);
    expect(app.detector.requests).toEqual([]);
  });

  it('without a boundary is refused', async () => {
    const answer = await send('x', '', { 'content-type': 'multipart/form-data' });
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  });

  it('longer than a file may be is refused, also chunked, and the connection ends in order', async () => {
    for (const bytes of [LIMIT + 1, 10 * LIMIT]) {
      const long = new Blob([new Uint8Array(bytes)]);
      const answer = await send(form(['image', long, 'a']));
      expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
      const body = new Response(form(['image', long, 'a']));
      const type = body.headers.get('content-type')!;
      const chunked = await send(body.body, '', { 'content-type': type });
      expect([chunked.status, chunked.body.code]).toEqual([413, 'body_too_large']);
    }
  });
});

describe('who may send pictures', () => {
  it('nobody where they are switched off; JSON goes on', async () => {
    await server.close(500);
    await open({ acceptImages: false });
    for (const answer of [await sendRaw(PICTURE), await send(form(['image', picture(), 'a']))]) {
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
      expect(answer.body.detail).toContain('LATTICE_ACCEPT_IMAGES=false');
    }
    const json = await send('{"image_path":"a.jpg"}', '', { 'content-type': 'application/json' });
    expect(json.status).toBe(200);
    expect(lastRequest().image).toBeUndefined();
  });

  it('other types get a sentence that names those there are', async () => {
    for (const type of ['image/', 'application/pdf', 'text/plain']) {
      const { status, body } = await sendRaw(PICTURE, '', type);
      expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
      expect(body.detail).toContain('image/jpeg');
      expect(body.detail).toContain('multipart/form-data');
    }
    const coded = await send(PICTURE, '', {
      'content-type': 'image/png',
      'content-encoding': 'gzip',
    });
    expect([coded.status, coded.body.detail]).toEqual([
      415,
      'Send the body without Content-Encoding.',
    ]);
  });

  it('in production no page of a foreign origin, which a browser lets send a form unasked', async () => {
    const own = { origin: server.url };
    expect(
      (await send(form(['image', picture(), 'a']), '', { origin: 'https://evil.example' })).status,
    ).toBe(200);
    await server.close(500);
    await open({ env: 'production', corsOrigins: ['https://app.example'] });
    const from = (origin: string) => send(form(['image', picture(), 'a']), '', { origin });
    const foreign = await from('https://evil.example');
    expect([foreign.status, foreign.body.code]).toEqual([403, 'forbidden']);
    expect(app.detector.requests).toEqual([]);
    expect((await from('https://app.example')).status).toBe(200);
    expect((await from(own.origin.replace(/:\d+$/, `:${server.port}`))).status).toBe(200);
    expect((await send(form(['image', picture(), 'a']))).status).toBe(200);
  });
});

describe('drawing', () => {
  it('is done from the bytes', async () => {
    await server.close(500);
    const drawn: (string | Buffer)[] = [];
    await open(
      {},
      {
        annotator: {
          ...DRAWN,
          annotate: (image) => {
            drawn.push(image);
            return Promise.resolve('drawn.jpg');
          },
        },
      },
    );
    const { body } = await sendRaw(PICTURE, '?annotate=true');
    expect(body.annotated_url).toBe('/v1/annotated/drawn.jpg');
    expect(drawn).toHaveLength(1);
    expect(equal(drawn[0] as Buffer, PICTURE)).toBe(true);
  });
});

describe('bytes in hand', () => {
  const MEBIBYTE = 2 ** 20;
  let finish: (() => void)[];
  beforeEach(async () => {
    await server.close(500);
    // 4 x 16 MiB.
    await open({ maxFileBytes: 16 * MEBIBYTE });
    finish = [];
    app.detector.answer = () =>
      new Promise<ImageResult>((resolve) => {
        finish.push(() => {
          resolve(oneCar);
        });
      });
  });

  const large = Buffer.alloc(16 * MEBIBYTE);
  const answers = () => app.detector.requests.length;
  const head = (length: number) =>
    `POST ${ROUTE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: ${length}\r\n\r\n`;

  it('are bounded: one more is refused with Retry-After, small requests go on, and all is given back', async () => {
    const running = Array.from({ length: 4 }, () => sendRaw(large));
    await until(() => answers() === 4, 'four in hand');
    for (const body of [Buffer.alloc(1), ReadableStream.from([large]) as unknown as Body]) {
      const refused = await sendRaw(body);
      expect([refused.status, refused.body.code]).toEqual([503, 'overloaded']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    const health = await fetch(`${server.url}/livez`);
    expect(health.status).toBe(200);
    for (const end of finish.splice(0)) end();
    for (const { status } of await Promise.all(running)) expect(status).toBe(200);
    const again = Array.from({ length: 4 }, () => sendRaw(large));
    await until(() => answers() === 8, 'four again');
    for (const end of finish.splice(0)) end();
    for (const { status } of await Promise.all(again)) expect(status).toBe(200);
  });

  it('of a client that goes away in the middle are given back', async () => {
    for (let round = 0; round < 8; round += 1) {
      const socket = connect(server.port, '127.0.0.1');
      await new Promise((resolve) => socket.write(head(large.length) + 'half', resolve));
      socket.destroy();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    await until(() => app.observed.length === 8, 'eight ends');
    expect(new Set(app.observed.map(({ status }) => status))).toEqual(new Set([400]));
    const running = Array.from({ length: 4 }, () => sendRaw(large));
    await until(() => answers() === 4, 'four in hand');
    for (const end of finish.splice(0)) end();
    for (const { status } of await Promise.all(running)) expect(status).toBe(200);
  });

  it('of a client that sends too slowly are given back at the deadline of the request', async () => {
    await server.close(500);
    const times = { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 50 };
    server = await listen(app, { host: '127.0.0.1', port: 0 }, times);
    const slow = Array.from({ length: 4 }, () => connect(server.port, '127.0.0.1'));
    const ended = slow.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of slow) {
      socket.on('error', () => undefined).resume();
      socket.write(head(large.length));
    }
    await Promise.all(ended);
    await until(() => app.observed.length === 4, 'four ends');
    const running = sendRaw(Buffer.alloc(100));
    await until(() => answers() === 1, 'one in hand');
    finish[0]?.();
    expect((await running).status).toBe(200);
  });

  it('a client that waits for 100 Continue is told before it sends', async () => {
    const told = (length: number) =>
      new Promise<number | string>((resolve, reject) => {
        const sent = request(`${server.url}${ROUTE}`, {
          method: 'POST',
          headers: {
            'content-type': 'image/png',
            'content-length': length,
            expect: '100-continue',
          },
        });
        sent.on('continue', () => {
          resolve('continue');
          sent.destroy();
        });
        sent.on('response', ({ statusCode = 0 }) => {
          resolve(statusCode);
          sent.destroy();
        });
        sent.on('error', reject);
        sent.flushHeaders();
      });
    // Beyond the limit of JSON, within that of pictures.
    expect(await told(10 * MEBIBYTE)).toBe('continue');
    expect(await told(17 * MEBIBYTE)).toBe(413);
  });
});
