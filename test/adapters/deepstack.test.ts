/**
 * The routes of DeepStack as the programs of cameras call them: Frigate's detector, the library of Home Assistant and
 * SynoAI, each written anew from what it sends and reads.
 */
import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LatticeError } from '../../src/api/errors.js';
import { ApiKeys } from '../../src/http/access/api-keys.js';
import { listen, type Listening } from '../../src/http/server/listen.js';
import { compose, type Harness } from '../support/composed-app.js';
import { CLASSES, oneCar } from '../support/scripted-detector.js';

const KEY = 'lat_camera_0123456789abcdef';
const DETECTION = '/v1/vision/detection';
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xd9]);

interface Prediction {
  label: string;
  confidence: number;
  x_min: number;
  y_min: number;
  x_max: number;
  y_max: number;
}
interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: {
    success: boolean;
    error: string | null;
    code: number;
    predictions: Prediction[];
  } & Record<string, unknown>;
}

let app: Harness;
let server: Listening;

async function open(...[config, overrides]: Parameters<typeof compose>) {
  app = compose({ compat: 'deepstack', maxFileBytes: 100_000, ...config }, overrides);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}
beforeEach(() => open());
afterEach(() => server.close(500));

type Part = [head: string, value: Buffer | string];
const field = (name: string, value: string): Part => [`name="${name}"`, value];
/** Python's `requests` names a file without a name after its field and gives the part no type. */
const image = (bytes = JPEG): Part => ['name="image"; filename="image"', bytes];

function send(
  path: string,
  parts: Part[],
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Answer> {
  const body = Buffer.concat([
    ...parts.flatMap(([head, value]) => [
      Buffer.from(`--b0undary\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--b0undary--\r\n'),
  ]);
  const type = { 'content-type': 'multipart/form-data; boundary=b0undary' };
  const about = parts.length === 0 ? {} : { ...type, 'content-length': String(body.length) };
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, { method, headers: { ...about, ...headers } });
    sent.on('error', reject).on('response', (response) => {
      const read = async (): Promise<Answer> => {
        const answer = await text(response);
        const { statusCode: status = 0, headers: answered } = response;
        // Blue Iris reads no chunked answer.
        expect(answered['transfer-encoding']).toBeUndefined();
        expect(Number(answered['content-length'])).toBe(Buffer.byteLength(answer));
        expect(answered['content-type']).toBe('application/json');
        return { status, headers: answered, body: JSON.parse(answer) as Answer['body'] };
      };
      read().then(resolve, reject);
    });
    if (parts.length > 0) sent.write(body);
    sent.end();
  });
}

/**
 * Frigate: its rows of (class, score, y_min, x_min, y_max, x_max) as shares of the picture; at most 20, with no check.
 */
async function frigate(labels: readonly string[], side: number): Promise<number[][]> {
  const { body } = await send(DETECTION, [field('api_key', ''), image()]);
  const rows = Array.from({ length: 20 }, () => [0, 0, 0, 0, 0, 0]);
  for (const [index, each] of body.predictions.entries()) {
    let label = each.label.toLowerCase();
    if (label === 'truck') label = 'car';
    if (each.confidence < 0.4 || !labels.includes(label)) break;
    const row = rows[index];
    if (row === undefined) throw new RangeError('IndexError: a 21st row');
    row.splice(
      0,
      6,
      labels.indexOf(label),
      each.confidence,
      each.y_min / side,
      each.x_min / side,
      each.y_max / side,
      each.x_max / side,
    );
  }
  return rows.filter(([, score = 0]) => score > 0);
}

/** Home Assistant's library: anything but 200 is an exception. */
async function homeAssistant(model: string | null, key = ''): Promise<Prediction[]> {
  const path = model === null ? DETECTION : `/v1/vision/custom/${model}`;
  const parts = [field('min_confidence', '0.1'), field('api_key', key), image()];
  const { status, body } = await send(path, parts);
  if (status !== 200) throw new Error(`DeepstackException ${status}`);
  return body.predictions;
}

/** SynoAI: the picture first, numbers as the machine's language has them, integers only. */
async function synoAi(threshold: string): Promise<Prediction[]> {
  const parts: Part[] = [
    ['name="image"; filename="image"\r\nContent-Type: image/jpeg', JPEG],
    field('min_confidence', threshold),
  ];
  const { status, body } = await send(DETECTION, parts);
  if (status < 200 || status > 299 || !body.success) throw new Error(body.error ?? 'failed');
  for (const each of body.predictions) {
    const sides = [each.x_min, each.y_min, each.x_max, each.y_max];
    if (!sides.every(Number.isInteger)) throw new TypeError('not an Int32');
  }
  return body.predictions;
}

const options = () => app.detector.requests.at(-1)!.options;

describe('clients', () => {
  it("Frigate's detector gets its rows", async () => {
    app.detector.answer = () =>
      Promise.resolve({
        ...oneCar,
        image: { width: 320, height: 320 },
        detections: Array.from({ length: 25 }, (_, i) => ({
          box: [-3.4, 10.6, 160.4, 333.3] as [number, number, number, number],
          confidence: 0.95 - i / 100,
          class: i % 2 === 0 ? 'Truck' : 'car',
        })),
      });
    const rows = await frigate(['person', 'car'], 320);
    expect(rows).toHaveLength(20);
    expect(rows[0]).toEqual([1, 0.95, 11 / 320, 0, 1, 160 / 320]);
    expect(options()).toMatchObject({
      confidence: 0.4,
      maxDetections: 20,
      modelName: 'yolov8n.pt',
    });
  });

  it("Home Assistant's library, by the default model and by one of its own", async () => {
    const car = { label: 'car', confidence: 0.91, x_min: 11, y_min: 20, x_max: 110, y_max: 90 };
    expect(await homeAssistant(null)).toEqual([car]);
    expect(options()).toMatchObject({ confidence: 0.1, modelName: 'yolov8n.pt' });
    expect(options().classes).not.toBeNull();
    expect(await homeAssistant('yolov8n')).toEqual([car]);
    expect(options()).toMatchObject({ modelName: 'yolov8n.pt', classes: null });
  });

  it.each(['0,45', '0.45'])('SynoAI with the threshold %s', async (threshold) => {
    expect(await synoAi(threshold)).toHaveLength(1);
    expect(options().confidence).toBe(0.45);
    expect(app.detector.requests.at(-1)!.image).toEqual(JPEG);
  });

  it('an answer has integers and an empty error, for those that read types strictly', async () => {
    const { status, body } = await send(DETECTION, [field('colour', 'red'), image()]);
    expect(status).toBe(200);
    const { inferenceMs, processMs, analysisRoundTripMs, count } = body;
    for (const each of [inferenceMs, processMs, analysisRoundTripMs, count]) {
      expect(Number.isInteger(each)).toBe(true);
    }
    expect(body).toMatchObject({
      success: true,
      error: null,
      code: 200,
      duration: 0,
      command: 'detect',
    });
  });
});

describe('failures are JSON with a real status', () => {
  const fails = async (answer: Promise<Answer>, status: number, error: string): Promise<Answer> => {
    const given = await answer;
    expect({ status: given.status, ...given.body }).toEqual({
      status,
      success: false,
      error,
      code: status,
      predictions: [],
      duration: 0,
    });
    return given;
  };

  it('of the request', async () => {
    await fails(
      send(DETECTION, [field('min_confidence', '0.5')]),
      400,
      'No valid image file found',
    );
    await fails(send(DETECTION, []), 400, 'No valid image file found');
    for (const wrong of ['high', '-1', '0,4,5']) {
      const parts = [image(), field('min_confidence', wrong)];
      await fails(send(DETECTION, parts), 400, 'Invalid value for min_confidence');
    }
    const parts = [image(), field('min_confidence', '1.01')];
    await fails(send(DETECTION, parts), 400, 'min_confidence cannot be greater than 1');
    const long = send(DETECTION, [image(Buffer.alloc(100_001))]);
    await fails(long, 413, 'The picture exceeds 100000 bytes.');
  });

  it('of the image, of a busy service and of a defect', async () => {
    const failing = (error: Error) => {
      app.detector.answer = () => Promise.reject(error);
      return send(DETECTION, [image()]);
    };
    await fails(failing(new LatticeError('invalid_image', 'Cut.')), 400, 'invalid image file');
    const unknown = new LatticeError('unknown_model', 'No model x.pt.');
    await fails(failing(unknown), 404, 'No model x.pt.');
    const busy = new LatticeError('overloaded', 'Too much.', { retryAfterS: 3 });
    expect((await fails(failing(busy), 503, 'Too much.')).headers['retry-after']).toBe('3');
    await fails(failing(new Error('secret')), 500, 'The detection could not be dispatched.');
    expect(app.logged).toHaveLength(1);
    await fails(send('/v1/vision/custom/a%2Fb', [image()]), 404, 'There is no model of this name.');
    app.state.draining = true;
    await fails(send(DETECTION, [image()]), 503, 'The service is stopping.');
  });

  it('of a key: in a field, wherever it is, or in a header', async () => {
    await server.close(500);
    await open({}, { apiKeys: ApiKeys.parse(KEY) });
    expect(await homeAssistant(null, KEY)).toHaveLength(1);
    for (const parts of [
      [image(), field('api_key', KEY)],
      [field('api_key', KEY), image()],
    ]) {
      expect((await send(DETECTION, parts)).status).toBe(200);
    }
    const bearer = { authorization: `Bearer ${KEY}` };
    expect((await send(DETECTION, [image(), field('api_key', '')], bearer)).status).toBe(200);
    expect((await send('/v1/vision/custom/list', [], bearer)).status).toBe(200);
    const before = app.detector.requests.length;
    await fails(send(DETECTION, [image()]), 401, 'Incorrect api key');
    await fails(send(DETECTION, [image(), field('api_key', `${KEY}x`)]), 401, 'Incorrect api key');
    await fails(send(DETECTION, [image()], { 'x-api-key': 'wrong' }), 401, 'Incorrect api key');
    await fails(send('/v1/vision/custom/list', []), 401, 'Incorrect api key');
    expect(app.detector.requests).toHaveLength(before);
    expect((await send('/v1/status/ping', [], {}, 'GET')).status).toBe(200);
  });

  it('where pictures are switched off', async () => {
    await server.close(500);
    await open({ acceptImages: false });
    const { status, body } = await send(DETECTION, [image()]);
    expect([status, body.success]).toEqual([415, false]);
  });
});

describe('what else they ask for', () => {
  it('names of models, by both methods', async () => {
    for (const method of ['POST', 'GET']) {
      const { body } = await send('/v1/vision/custom/list', [], {}, method);
      expect(body).toEqual({ success: true, models: ['yolov8n'], code: 200 });
    }
    expect(CLASSES).toContain('Car');
  });

  it.each(['/v1/status', '/v1/server/status'])('%s', async (prefix) => {
    const version = { major: 1, minor: 2, patch: 3, preRelease: '' };
    for (const name of ['ping', 'version']) {
      const { body } = await send(`${prefix}/${name}`, [], {}, 'GET');
      expect(body).toEqual({ success: true, message: '1.2.3', version, code: 200 });
    }
    const { body } = await send(`${prefix}/updateavailable`, [], {}, 'GET');
    expect(body).toMatchObject({ updateAvailable: false, current: version, latest: version });
  });

  it('none of it exists by default', async () => {
    const off = compose();
    for (const path of [DETECTION, '/v1/vision/custom/list', '/v1/status/ping']) {
      expect((await off.app.request(path, { method: 'POST' })).status).toBe(404);
    }
    expect(JSON.stringify(off.openApi())).not.toContain('DeepStack');
    expect(JSON.stringify(app.openApi())).toContain('DeepStackAnswer');
  });
});
