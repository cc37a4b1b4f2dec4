/** `/v1/watches/{name}/cameras`: the cameras of a watch that has `camera_health`, and what is wrong with them. */
import { z } from '@hono/zod-openapi';
import { cameraSchema, findingKindSchema, toWireCamera } from '../../answers/camera-record.js';
import { timestampSchema } from '../../answers/job-fields.js';
import { LatticeError } from '../../api/errors.js';
import { replyJson } from '../answer/reply.js';
import { readJson } from '../request/json-body.js';
import { validate } from '../request/validation.js';
import { json, type AddRoute, type RouteSpec } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { knownName, watchNameSchema } from './watches.js';

const cameraListSchema = z.object({ cameras: z.array(cameraSchema) }).openapi('CameraList');
export type CameraListBody = z.infer<typeof cameraListSchema>;

const findingPatchSchema = z
  .strictObject({
    camera: z.string(),
    kind: findingKindSchema,
    silenced_until: timestampSchema.optional(),
    dismissed: z
      .boolean()
      .optional()
      .openapi({ description: 'It is how the camera is: the finding ends' }),
  })
  .openapi('CameraFindingPatch', {
    description: 'One of `silenced_until` and `dismissed`',
    example: { camera: 'cameras/north', kind: 'moved', dismissed: true },
  });
export type CameraFindingPatchBody = z.infer<typeof findingPatchSchema>;

const request = { params: z.object({ name: watchNameSchema }) };

const LIST: RouteSpec = {
  method: 'get',
  path: '/v1/watches/{name}/cameras',
  operationId: 'listCameras',
  summary: 'Cameras of a watch',
  description:
    'By name, with their last pictures and what is wrong with them. A watch without `camera_health` takes in no more ' +
    'pictures.',
  tags: ['Watches'],
  request,
  answers: { 200: json('The cameras', cameraListSchema) },
  errors: ['watch_not_found', 'storage_unavailable'],
};

const CHANGE: RouteSpec = {
  method: 'patch',
  path: '/v1/watches/{name}/cameras',
  operationId: 'changeCameraFinding',
  summary: 'Silence or dismiss a finding',
  description:
    'A finding that is silenced stays open and is told of no more until then. One that is dismissed ends, and what is ' +
    'usual for the camera is learnt anew.',
  tags: ['Watches'],
  request: {
    ...request,
    body: { required: true, content: { 'application/json': { schema: findingPatchSchema } } },
  },
  answers: { 200: json('The cameras', cameraListSchema) },
  errors: ['watch_not_found', 'storage_unavailable'],
};

export function cameraRoutes(route: AddRoute, { watches, config, hide }: RouteParts): void {
  route(LIST, async (c) => {
    const cameras = await watches.cameras(knownName(c), c.get('keyId'));
    return replyJson(c, 200, { cameras: cameras.map((each) => toWireCamera(each, hide)) });
  });
  route(CHANGE, async (c) => {
    const name = knownName(c);
    const keyId = c.get('keyId');
    const body = validate(findingPatchSchema, await readJson(c, config.maxBodyBytes));
    const { camera, kind, silenced_until: silencedUntil, dismissed } = body;
    if ((silencedUntil === undefined) !== (dismissed === true)) {
      throw refused('Give one of silenced_until and dismissed.', '#');
    }
    const action = silencedUntil === undefined ? 'dismiss' : { silencedUntil };
    if (!(await watches.changeFinding(name, keyId, camera, kind, action))) {
      throw refused('The camera has no open finding of this kind.', '#/camera');
    }
    const cameras = await watches.cameras(name, keyId);
    return replyJson(c, 200, { cameras: cameras.map((each) => toWireCamera(each, hide)) });
  });
}

function refused(detail: string, pointer: string): LatticeError {
  return new LatticeError('validation_failed', detail, { errors: [{ detail, pointer }] });
}
