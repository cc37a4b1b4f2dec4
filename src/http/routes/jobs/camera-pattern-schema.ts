/** The pattern by which the names of files tell their camera. */
import { z } from '@hono/zod-openapi';
import { MOST_CAMERA_PATTERN } from '../../../api/job-values.js';
import { cameraPatternFault } from '../../../cameras/camera-pattern.js';

export const cameraPatternSchema = z
  .string()
  .max(MOST_CAMERA_PATTERN)
  .superRefine((text, context) => {
    const message = cameraPatternFault(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .openapi({
    description:
      'With `camera=name`: a pattern of the name of a file, in which `{camera}` stands for the part that says the camera and ' +
      '`*` for any characters, each as few as fit, from left to right. The camera is the folder with that part, as `park/gate`; ' +
      'a file whose name does not fit is of the camera that is its folder',
    example: '{camera}_*.jpg',
  });
