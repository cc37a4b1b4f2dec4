/** SQL that takes back what the newest entries of the schema add, so that a test has a file of an earlier release. */
const COLUMNS = {
  jobs: [
    // The first is made of the others.
    ...['stays', 'awaited', 'bytes'],
    ...['name', 'tags', 'notes', 'keep_days', 'kept_at', 'kept_until_s', 'typed_paths'],
    ...['typed_count', 'upload', 'reused', 'watch'],
  ],
  swept_jobs: ['owner', 'watch', 'tags', 'kept'],
  outbox: ['reused', 'counts', 'watch', 'news'],
  webhook_deliveries: ['news'],
  image_facts: [
    ...['reuse_key', 'content_key', 'class_counts', 'region_counts', 'taken', 'taken_from'],
    'weakest_by_class',
  ],
};
const INDEXES = [
  ...['removable_jobs', 'kept_jobs', 'jobs_by_upload', 'jobs_by_watch', 'jobs_by_retry'],
  ...['images_by_reuse_key', 'images_by_content_key', 'failed_images'],
];
const TABLES = [
  ...['job_listings', 'drawn_copies', 'uploads', 'watches', 'watched_files', 'dropped_watches'],
  ...['views', 'job_regions', 'clock_marks', 'job_models', 'model_aliases', 'image_boxes'],
  ...['key_use', 'job_counts', 'scope_counts', 'dismissed_places'],
  ...['camera_pictures', 'camera_health', 'camera_places', 'camera_events'],
];
/** Those of dropped tables go with them. */
const TRIGGERS = [
  ...['use_of_new_job', 'use_of_job', 'use_of_removed_job'],
  ...['new_webhook_is_awaited', 'webhook_is_awaited'],
];

/** From the newest schema to number 7. */
export const BACK_TO_SCHEMA_7 = [
  ...TRIGGERS.map((name) => `DROP TRIGGER ${name};`),
  ...INDEXES.map((name) => `DROP INDEX ${name};`),
  ...TABLES.map((name) => `DROP TABLE ${name};`),
  ...Object.entries(COLUMNS).flatMap(([table, names]) =>
    names.map((name) => `ALTER TABLE ${table} DROP COLUMN ${name};`),
  ),
  'CREATE INDEX jobs_by_end ON jobs (completed_at) WHERE completed_at IS NOT NULL;',
  'PRAGMA user_version = 7;',
].join('\n');
