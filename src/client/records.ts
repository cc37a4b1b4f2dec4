/** Shapes of requests and answers, from the schemas that make the OpenAPI document and named as there. */
import type { z } from '@hono/zod-openapi';
import type { folderQuerySchema } from '../http/routes/images.js';
import type { PictureKind } from '../api/job-values.js';
import type { WireQuestion } from '../api/question.js';
import type { changesQuerySchema } from '../http/routes/jobs/changes.js';
import type { countsQuerySchema as countedQuerySchema } from '../http/routes/counts.js';
import type { countsQuerySchema } from '../http/routes/jobs/counts.js';
import type { placesQuerySchema } from '../http/routes/places.js';
import type {
  coveredQuerySchema,
  cropsQuerySchema,
  drawnQuerySchema,
} from '../http/routes/jobs/pictures.js';
import type { exportQuerySchema } from '../http/routes/jobs/result.js';
import type { imagesQuerySchema } from '../http/routes/jobs/images.js';
import type { listQuerySchema } from '../http/routes/jobs/list-query.js';
import type { retryQuerySchema } from '../http/routes/jobs/submissions.js';
import type { EventMessage } from '../stream/stream-messages.js';

export type { ResultFormat } from '../export/formats.js';
export type { ErrorCode, ErrorItem, Problem } from '../api/errors.js';
export type { FolderPageBody as FolderPage } from '../http/routes/images.js';
export type { ImageFields } from '../answers/processed-image.js';
export type { ClusterStatusBody as ClusterStatus } from '../http/routes/cluster.js';
export type {
  DetectRequestBody as DetectRequest,
  DetectResponseBody as DetectResponse,
} from '../http/routes/detect.js';
export type {
  ImageEntryBody as ImageEntry,
  JobResultBody as JobResult,
  MultiResultBody as MultiImageResult,
  SingleResultBody as SingleImageResult,
} from '../answers/result-record.js';
export type {
  JobAcceptedBody as JobAccepted,
  JobRetriedBody as JobRetried,
} from '../http/routes/jobs/submissions.js';
export type {
  JobListBody as JobList,
  JobPatchBody as JobPatch,
  JobStatusBody as JobStatus,
} from '../http/routes/jobs/jobs.js';
export type { JobSubmitBody as JobSubmit } from '../http/routes/jobs/read-submission.js';
export type {
  JobImageBody as JobImage,
  JobImagesBody as JobImages,
  JobSummaryBody as JobSummary,
} from '../http/routes/jobs/images.js';
export type { GroupBody as JobCountGroup } from '../http/routes/jobs/count-groups.js';
export type { JobAgreementBody as JobAgreement } from '../http/routes/jobs/agreement.js';
export type { JobChangesBody as JobChanges } from '../http/routes/jobs/changes.js';
export type { JobCountsBody as JobCounts } from '../http/routes/jobs/counts.js';
export type { CountsBody as Counts } from '../http/routes/counts.js';
export type { PlacesBody as Places } from '../http/routes/places.js';
export type {
  DismissalBody as Dismissal,
  DismissalListBody as DismissalList,
  NewDismissalBody as NewDismissal,
} from '../http/routes/dismissals.js';
export type { WebhookListBody as WebhookList } from '../http/routes/jobs/webhooks.js';
export type { ModelBody as Model, ModelListBody as ModelList } from '../http/routes/models.js';
export type {
  AgreementBody as Agreement,
  AliasBody as Alias,
  AliasListBody as AliasList,
  AliasPutBody as AliasPut,
} from '../http/routes/aliases.js';
export type { UsageBody as Usage } from '../http/routes/usage.js';
export type { SettingListBody as SettingList } from '../http/routes/settings.js';
export type {
  ViewBody as View,
  ViewListBody as ViewList,
  ViewPutBody as ViewPut,
} from '../http/routes/views.js';
export type {
  NewUploadBody as NewUpload,
  UploadBody as Upload,
  UploadListBody as UploadList,
  UploadedFileBody as UploadedFile,
  UploadPlanBody as UploadPlan,
} from '../http/routes/uploads.js';
export type { CameraBody as Camera } from '../answers/camera-record.js';
export type {
  CameraFindingPatchBody as CameraFindingPatch,
  CameraListBody as CameraList,
} from '../http/routes/cameras.js';
export type {
  WatchBody as Watch,
  WatchCreateBody as WatchCreate,
  WatchListBody as WatchList,
  WatchPatchBody as WatchPatch,
} from '../http/routes/watches.js';
export type { SubscribeMessage } from '../stream/stream-messages.js';

/** `limit` is the number of jobs asked for at a time. */
export type JobFilter = Partial<Omit<z.output<typeof listQuerySchema>, 'cursor' | 'q'>> &
  Pick<z.input<typeof listQuerySchema>, 'q'>;

/** `cursor` is the `next_cursor` of the page before. */
export type PageCursor = Pick<z.input<typeof listQuerySchema>, 'cursor'>;
/** `image`, `event`, `folder`, `hour`, `day` or `folder_hour`. */
export type CountsBy = z.output<typeof countsQuerySchema>['by'];
/** The groups, and the rule of events. */
export type JobCountsQuery = Omit<z.input<typeof countsQuerySchema>, 'format'>;
/** The jobs of a watch, with a tag, or both; `from` and `to` bound the hours. */
export type CountsQuery = Omit<z.input<typeof countedQuerySchema>, 'format'>;
/** As `CountsQuery`; `camera` says which images are of one camera, the rest which places are asked for. */
export type PlacesQuery = Omit<z.input<typeof placesQuerySchema>, 'format' | 'occupied'> &
  Pick<z.output<typeof placesQuerySchema>, 'occupied'>;
export type JobChangesQuery = Partial<Omit<z.output<typeof changesQuerySchema>, 'with'>>;
/** A question of the boxes that a job keeps: options that are left out are as the job asked. */
export type JobQuestion = Partial<WireQuestion & { classes: readonly string[] }>;
/** Choices of a result beside the question. */
export type ResultQuery = Omit<z.input<typeof exportQuerySchema>, 'format'>;
/** Fields that are left out, or undefined, have their defaults. */
type Chosen<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };
/** The queries of archives of pictures, by what the pictures show. */
export interface PictureQueries extends Record<PictureKind, object> {
  drawn: Chosen<z.output<typeof drawnQuerySchema>>;
  covered: Chosen<z.output<typeof coveredQuerySchema>>;
  crops: Chosen<z.output<typeof cropsQuerySchema>>;
}
export type JobImagesQuery = Partial<Omit<z.output<typeof imagesQuerySchema>, 'class'>> & {
  class?: string | readonly string[] | undefined;
};
export type RetriedImages = z.output<typeof retryQuerySchema>['images'];
export type FolderQuery = Partial<z.output<typeof folderQuerySchema>>;

/** An event of a job, as docs/events.md describes it. */
export type JobEvent = Omit<EventMessage, 'id'>;

/** Events after `after_seq` are partly gone: what they told has to be asked for. */
export interface EventGap {
  event: 'gap';
  timestamp: number;
  after_seq: number;
}
