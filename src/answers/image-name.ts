/** An image as others name it: by its place in its job. */
import { z } from '@hono/zod-openapi';
import type { PictureName } from '../store/cameras/camera-pictures.js';
import { jobIdSchema } from './job-fields.js';
import type { HideFolders } from './shown-problem.js';

export const imageNameSchema = z
  .object({
    job_id: jobIdSchema,
    index: z.int().openapi({ description: 'Its place in the job, from 0' }),
    image_path: z.string(),
  })
  .openapi('ImageOfJob');

/** Null: its job was removed. */
export const toWireName = (image: PictureName | null, hide: HideFolders) =>
  image && { job_id: image.jobId, index: image.index, image_path: hide(image.path) };
