/** When each error comes and what a caller can do, for docs/errors.md. Plain sentences, one row for each code. */
import type { ErrorCode } from './errors.js';

interface Advice {
  when: string;
  remedy: string;
  /** The same call may succeed later although its status is neither 429 nor 503. */
  mayPass?: true;
}

export const ERROR_ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  bad_json: {
    when: 'The body is no JSON, or it ended early.',
    remedy: 'Send one JSON document in UTF-8. `detail` says where reading stopped.',
  },
  bad_request: {
    when: 'A part of the request cannot be read: its head, a form, a range, or the start of a WebSocket.',
    remedy:
      'Correct the part that `detail` names. Behind a proxy, let it pass on the head unchanged.',
  },
  unauthorized: {
    when: 'The service has API keys, and the request has none or an unknown one.',
    remedy: 'Send `Authorization: Bearer KEY` or `X-API-Key: KEY`.',
  },
  forbidden: {
    when: 'The key, the host name or the web page that asks may not do this.',
    remedy:
      'Use a key with the right, the name of the service, or add the page to `LATTICE_CORS_ORIGINS`.',
  },
  not_found: {
    when: 'There is no such route, file or picture.',
    remedy: 'Compare the path with docs/api.md. Some routes can be switched off in the settings.',
  },
  method_not_allowed: {
    when: 'The route exists and has not this method.',
    remedy: 'Use a method of the header `Allow`.',
  },
  body_too_large: {
    when: 'The body is larger than `LATTICE_MAX_BODY_BYTES`, or a picture than `LATTICE_MAX_FILE_BYTES`.',
    remedy: 'Name folders or globs in place of many paths, or send a smaller picture.',
  },
  unsupported_media_type: {
    when: 'The `Content-Type` is none that the route reads.',
    remedy:
      'Send `application/json`, or a picture as `image/*` or `multipart/form-data` where the route takes one.',
  },
  validation_failed: {
    when: 'A field is missing, unknown, of another type or out of its range.',
    remedy: 'Each entry of `errors` names a field by a JSON Pointer and says the rule.',
  },
  idempotency_key_reused: {
    when: 'The `Idempotency-Key` was used within 24 h with another body.',
    remedy: 'Make a new key for each new job; keep the key for repeats of one job alone.',
  },
  job_not_found: {
    when: 'No job has this id: it was never there, was removed, or belongs to another key.',
    remedy:
      'Look at `GET /v1/jobs`. Set `keep` for jobs that are needed for longer than the retention time.',
  },
  job_not_finished: {
    when: 'The job is pending or running, and the route is for jobs that have ended.',
    remedy: 'Wait for the end: events, a webhook, or `GET /v1/jobs/{job_id}/status`.',
    mayPass: true,
  },
  job_already_finished: {
    when: 'The job had ended before it was cancelled.',
    remedy: 'Nothing: its result can be read.',
  },
  nothing_to_retry: {
    when: 'A retry was asked of a job in which no image failed.',
    remedy: 'Nothing, or a retry with `images=all` to run all again.',
  },
  needs_new_run: {
    when: 'The question needs boxes that the job has not stored: a lower threshold, another model, tiles.',
    remedy: 'Submit the images again with these options, or use `POST /v1/jobs/{job_id}/retry`.',
  },
  no_webhook: {
    when: 'The job was submitted without `callback_url`.',
    remedy: 'Read the result, or submit with `callback_url`.',
  },
  cancelled: {
    when: 'The job was cancelled; the error of the job and of its images that did not run.',
    remedy: 'Retry the job to run the images that are left.',
  },
  all_images_failed: {
    when: 'Each image of the job failed.',
    remedy: 'The `error` of each image has its own code: look at the first ones.',
  },
  poison_input: {
    when: 'The service died twice with this image in work. It is not run again.',
    remedy: 'Leave the image out, and report it: see SECURITY.md.',
  },
  queue_full: {
    when: '`LATTICE_MAX_QUEUED_JOBS` jobs have not ended.',
    remedy: 'Wait, or submit more images per job.',
  },
  rate_limited: {
    when: 'Too many requests with unknown keys, or too many at once.',
    remedy: 'Correct the key, or send fewer at a time.',
  },
  quota_exceeded: {
    when: 'The API key has its share of store, uploads, queue, watches or requests.',
    remedy:
      '`GET /v1/usage` says which. Remove what is no longer needed, or ask for a larger share.',
  },
  view_not_found: { when: 'No view has this name.', remedy: 'Look at `GET /v1/views`.' },
  view_changed: {
    when: 'Somebody changed the view after it was read.',
    remedy: 'Read it again and decide anew.',
  },
  unknown_view: {
    when: 'A detection or a job names a view that does not exist.',
    remedy: 'Store the view first, or leave the field out.',
  },
  dismissal_not_found: {
    when: 'No dismissed place has this id.',
    remedy: 'Look at `GET /v1/places/dismissals`.',
  },
  upload_not_found: {
    when: 'No upload has this id: it was removed, with its job or an hour after its last use, or belongs to another key.',
    remedy: 'Make a new upload and send the photos again.',
  },
  upload_in_use: {
    when: 'A job has the upload already: its photos cannot be changed.',
    remedy: 'Make a new upload for other photos.',
  },
  uploads_full: {
    when: 'The room of `LATTICE_UPLOADS_MAX_MB` is taken, or the disk is full.',
    remedy: 'Remove jobs or uploads with their photos, then send again.',
    mayPass: true,
  },
  watch_not_found: { when: 'No watch has this name.', remedy: 'Look at `GET /v1/watches`.' },
  watch_exists: {
    when: 'A watch of this name is there.',
    remedy: 'Take another name, change the watch with `PATCH`, or delete it.',
  },
  alias_not_found: { when: 'No alias has this name.', remedy: 'Look at `GET /v1/models/aliases`.' },
  alias_changed: {
    when: 'The alias was changed while this change loaded its models.',
    remedy: 'Read it again and decide anew.',
  },
  no_other_model: {
    when: 'The alias has no canary or shadow to promote, or no earlier version to go back to.',
    remedy: 'Put the alias with a `canary` or `shadow`.',
  },
  image_not_found: {
    when: 'No file has this path beneath the image folders.',
    remedy: 'Paths are those that the service sees. `GET /v1/images` lists them.',
  },
  path_not_allowed: {
    when: 'The path leads out of the image folders, by `..`, from the root, or through a link.',
    remedy: 'Use a path beneath a folder of `LATTICE_IMAGE_ROOTS`, or add the folder there.',
  },
  not_a_regular_file: {
    when: 'The path is a folder, a device or a pipe.',
    remedy: 'Name a file; a job takes a folder by its path or by a glob.',
  },
  image_unreadable: {
    when: 'The service has no permission to read the file, or reading failed.',
    remedy: 'Give the account of the service the right to read, or look at the disk.',
  },
  image_too_large: {
    when: 'The file or picture exceeds `LATTICE_MAX_FILE_BYTES`, `LATTICE_MAX_PIXELS` or `LATTICE_MAX_SIDE`.',
    remedy: 'Make the picture smaller, or raise the setting.',
  },
  unsupported_image_format: {
    when: 'The bytes are none of the formats of docs/decoding.md.',
    remedy: 'Convert it, for example to JPEG. The name of the file does not matter, its bytes do.',
  },
  invalid_image: {
    when: 'The file is damaged or cut off.',
    remedy: 'Copy it again from its source. A browser may show the part that is whole.',
  },
  input_changed: {
    when: 'The file changed while it was read.',
    remedy:
      'Write files under another name and rename them when they are complete; then run it again.',
    mayPass: true,
  },
  volume_unavailable: {
    when: 'The disk or network folder does not answer.',
    remedy: 'Look at the mount. Images of jobs wait for it by themselves.',
  },
  unknown_model: {
    when: 'No file and no alias has this name.',
    remedy: '`GET /v1/models` lists the names; `lattice model add` adds one.',
  },
  invalid_model: {
    when: 'The file is no detector that the service can run, or it finds nothing in the self-check.',
    remedy: '`lattice model check FILE` says what is wrong: see docs/models.md.',
  },
  model_changed: {
    when: 'The worker has another file of the model than the one that the job began with.',
    remedy:
      'Nothing: the service runs the image again. On a cluster, give all nodes the same files.',
  },
  model_not_ready: {
    when: 'The model is loading, its engine is being built, or its self-check has not passed.',
    remedy: 'Wait; `GET /v1/models` says how far it is and why it waits.',
  },
  detection_failed: {
    when: 'The detection could not be handed to a worker.',
    remedy: 'Look at the log of the service for the `request_id`.',
    mayPass: true,
  },
  internal_error: {
    when: 'A defect of the service.',
    remedy: 'Report it with the lines of the log that have the `request_id`.',
    mayPass: true,
  },
  gpu_unavailable: {
    when: 'The settings ask for a GPU, and none can be used.',
    remedy: '`lattice doctor` says why; see docs/gpu.md.',
  },
  gpu_lost: {
    when: 'The GPU failed; its process begins anew.',
    remedy: 'Wait. If it comes again, look at the log of the driver.',
  },
  worker_lost: {
    when: 'The process that had the image ended before it answered.',
    remedy: 'Images of jobs run again by themselves; repeat a synchronous call.',
    mayPass: true,
  },
  cluster_unavailable: {
    when: 'The Ray cluster cannot be reached or has no worker.',
    remedy: '`GET /v1/cluster/status` says what is missing; see docs/cluster.md.',
  },
  overloaded: {
    when: 'The answer could not come in time, because too much waits.',
    remedy: 'Send fewer at a time, give `deadline_ms` more time, or submit a job.',
  },
  machine_overloaded: {
    when: 'No process could be started in time to list a folder.',
    remedy: 'Give the machine less other work.',
  },
  shutting_down: {
    when: 'The service stops. Jobs that it has accepted go on at its next start.',
    remedy: 'Send it to another instance, or again after the restart.',
  },
  storage_unavailable: {
    when: 'The job store cannot be written: the disk is full or broken, or `LATTICE_STORE_MAX_MB` is reached.',
    remedy: 'Free some space or remove jobs; see docs/operate.md.',
  },
  deadline_exceeded: {
    when: 'The detection did not end within its `deadline_ms`.',
    remedy: 'Repeat it with more time, or submit a job, which has no deadline.',
    mayPass: true,
  },
};
