/**
 * Finds out of the pictures of one camera, in order of time, when it no longer shows what it should: covered, blurred,
 * moved, frozen, late, or with boxes that are unusual. Every threshold follows the camera's own past. A dark night is
 * no fault: darkness counts in hours that are light as a rule.
 */
import type { PictureLook } from '../api/schemas/image.js';
import {
  countsOf,
  emptyCounts,
  emptyPast,
  emptyScene,
  hourOf,
  hourRow,
  measure,
  rangeOf,
  toText,
  usualGaps,
  withGap,
  withHour,
  withLook,
  withoutValue,
  type CameraPast,
  type HourOfBoxes,
  type Measure,
  type Measures,
  type Usual,
} from './camera-past.js';
import { LEAST_SPREAD } from './picture-look.js';

/** Kinds that a picture shows, in this order: a picture that shows one is not judged for those behind it. */
const LOOK_KINDS = ['covered', 'frozen', 'moved', 'blurred'] as const;
export const FINDING_KINDS = [
  ...LOOK_KINDS,
  'late',
  'unusual_counts',
  'unusual_confidence',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

export interface CameraPicture {
  /** The name or key that a finding gives the picture. */
  picture: string;
  /** Seconds since 1970. */
  time: number;
  look: PictureLook;
  boxes: number;
  /** Mean of the boxes; null without a box. */
  confidence: number | null;
  /** The digest of the file's bytes. */
  contentDigest?: string | undefined;
}

const HEALTH_OPTIONS = {
  /** Pictures in a row that open a finding, and that close it. */
  inRow: 4,
  /** Pictures that must be known of an hour of the day before it is judged, and in all before one is late. */
  leastPast: 6,
  /** How far from the usual value a picture must be, in mean deviations of the camera's own past. */
  deviations: 5,
  /** Share of the usual spread of levels, below which a picture is of one colour. */
  coveredSpread: 0.25,
  /** Level, 0 to 255, below which a picture is dark. That counts in hours that are light as a rule. */
  dark: 25,
  /** Level from which an hour is light. */
  light: 40,
  /** Share of the usual sharpness. */
  blurredSharpness: 0.5,
  /** Share of the usual likeness to the camera's own median picture. */
  movedLikeness: 0.5,
  /** Seconds after which a moved view is the new normal. */
  settled: 2 * 86_400,
  /** Share of the usual change from picture to picture. */
  frozenChange: 0.2,
  /** Levels of a cell; where pictures usually change less, an unchanged one is not judged. */
  frozenLeast: 0.4,
  /** Times the usual interval without a picture. */
  lateIntervals: 6,
  /** Times the longest gap that is usual in a day. */
  lateRests: 1.5,
  /** Seconds of pictures that must be known before a camera is late. */
  lateAfter: 2 * 86_400,
  /** Hours in a row with unusual boxes that open a finding, and usual ones that close it. */
  unusualHours: 3,
  /** Weeks that must be known of an hour of the week. */
  unusualWeeks: 2,
  /** How many times more or fewer boxes than usual. */
  unusualTimes: 2.5,
  /** Boxes of a picture more or fewer than usual, at least. */
  unusualBoxes: 1,
  /** How far a mean confidence must be from the usual one. */
  unusualConfidence: 0.1,
};
export type HealthOptions = typeof HEALTH_OPTIONS;

export interface Finding {
  kind: FindingKind;
  /** Time and name of the picture that began it; of a late camera the last one. */
  began: number;
  picture: string;
  /** No message is sent before this time; null: not silenced. */
  silencedUntil: number | null;
}

export const isSilenced = ({ silencedUntil }: Finding, now: number): boolean =>
  silencedUntil !== null && silencedUntil > now;

export interface HealthChange {
  change: 'opened' | 'closed';
  finding: Finding;
}

/** Pictures, or hours, in a row that show a finding; once it is open, that do not. */
interface Row {
  length: number;
  began: number;
  picture: string;
}

interface LastPicture {
  time: number;
  picture: string;
  /** The grey of its look; base64. */
  grey: string;
  contentDigest: string | null;
}

/** The hour that its pictures still fill, with its first one. */
interface OpenHour extends HourOfBoxes {
  time: number;
  picture: string;
}

/** Plain data: as JSON and back it is the same. */
export interface CameraHealth {
  past: CameraPast;
  firstTime: number | null;
  last: LastPicture | null;
  hour: OpenHour | null;
  rows: Partial<Record<FindingKind, Row | undefined>>;
  open: Partial<Record<FindingKind, Finding | undefined>>;
}

export interface HealthStep {
  health: CameraHealth;
  changes: HealthChange[];
}

export const newHealth = (): CameraHealth => ({
  past: emptyPast(),
  firstTime: null,
  last: null,
  hour: null,
  rows: {},
  open: {},
});

/** True: shows the finding; false: does not; undefined: cannot be judged. */
type Verdict = boolean | undefined;
type Verdicts = Partial<Record<FindingKind, Verdict>>;

/** Takes in a picture. One that is no later than the last one changes nothing. */
export function withPicture(
  health: CameraHealth,
  picture: CameraPicture,
  options = HEALTH_OPTIONS,
): HealthStep {
  const { last } = health;
  if (last !== null && picture.time <= last.time) return { health, changes: [] };
  const draft = new Draft(health);
  const measures = measure(health.past, picture.look, last?.grey ?? null);
  const verdicts = judgeLook(health, picture, measures, options);
  if (last !== null) draft.past = withGap(draft.past, picture.time, picture.time - last.time);
  draft.firstTime ??= picture.time;
  draft.close('late');
  for (const kind of LOOK_KINDS) draft.count(kind, verdicts[kind], picture, options.inRow);
  const { moved } = draft.open;
  if (moved !== undefined && picture.time - moved.began >= options.settled) {
    draft.dismiss('moved');
  }
  if (!LOOK_KINDS.some((kind) => draft.open[kind] !== undefined)) {
    // A picture that shows a finding is learnt until one is open: a fault that recurs every day becomes usual.
    draft.past = withLook(draft.past, picture.time, picture.look, measures);
    if (!LOOK_KINDS.some((kind) => verdicts[kind] === true)) draft.addBoxes(picture, options);
  }
  draft.last = {
    time: picture.time,
    picture: picture.picture,
    grey: toText(picture.look.grey),
    contentDigest: picture.contentDigest ?? null,
  };
  return draft.step();
}

/** Opens a finding when no picture has come for too long; to be asked from time to time. */
export function atTime(health: CameraHealth, now: number, options = HEALTH_OPTIONS): HealthStep {
  const { last, firstTime, past } = health;
  const draft = new Draft(health);
  if (
    last !== null &&
    firstTime !== null &&
    past.gaps.length >= options.leastPast &&
    last.time - firstTime >= options.lateAfter &&
    now - last.time > lateAfter(past, options)
  ) {
    draft.count('late', true, last, 1);
  }
  return draft.step();
}

/** Seconds without a picture after which the camera is late. */
export function lateAfter(past: CameraPast, options = HEALTH_OPTIONS): number {
  const { median, rest } = usualGaps(past);
  return Math.max(options.lateIntervals * median, options.lateRests * rest);
}

/** No message of the open finding is sent before this time. */
export function silence(health: CameraHealth, kind: FindingKind, until: number): CameraHealth {
  const finding = health.open[kind];
  if (finding === undefined) return health;
  return { ...health, open: { ...health.open, [kind]: { ...finding, silencedUntil: until } } };
}

/** Closes a finding for good: it is how the camera is, and the past learns anew what is usual. */
export function dismiss(health: CameraHealth, kind: FindingKind): HealthStep {
  const draft = new Draft(health);
  if (health.open[kind] !== undefined) draft.dismiss(kind);
  return draft.step();
}

/** The past without what a finding of this kind is measured by. */
const WITHOUT: Record<FindingKind, (past: CameraPast) => CameraPast> = {
  covered: (past) => withoutValue(past, 'spread'),
  frozen: (past) => withoutValue(past, 'change'),
  moved: (past) => ({ ...past, ...emptyScene() }),
  blurred: (past) => withoutValue(past, 'sharpness'),
  late: (past) => ({ ...past, gaps: [], longest: [] }),
  unusual_counts: (past) => ({ ...past, ...emptyCounts() }),
  unusual_confidence: (past) => withoutValue(past, 'confidence'),
};

/** The state that follows, while it is made. */
class Draft implements CameraHealth {
  past: CameraPast;
  firstTime: number | null;
  last: LastPicture | null;
  hour: OpenHour | null;
  readonly rows: CameraHealth['rows'];
  readonly open: CameraHealth['open'];
  readonly #changes: HealthChange[] = [];

  constructor(health: CameraHealth) {
    this.past = health.past;
    this.firstTime = health.firstTime;
    this.last = health.last;
    this.hour = health.hour;
    this.rows = { ...health.rows };
    this.open = { ...health.open };
  }

  step(): HealthStep {
    const { past, firstTime, last, hour, rows, open } = this;
    return { health: { past, firstTime, last, hour, rows, open }, changes: this.#changes };
  }

  /** Counts verdicts in a row for a finding or, once it is open, against it. */
  count(
    kind: FindingKind,
    verdict: Verdict,
    { time, picture }: { time: number; picture: string },
    inRow: number,
  ): void {
    if (verdict === undefined) return;
    const isOpen = this.open[kind] !== undefined;
    if (verdict === isOpen) {
      this.rows[kind] = undefined;
      return;
    }
    const { length, ...first } = this.rows[kind] ?? { length: 0, began: time, picture };
    this.rows[kind] = { length: length + 1, ...first };
    if (length + 1 < inRow) return;
    if (isOpen) this.close(kind);
    else this.#open({ kind, ...first, silencedUntil: null });
  }

  #open(finding: Finding): void {
    this.rows[finding.kind] = undefined;
    this.open[finding.kind] = finding;
    this.#changes.push({ change: 'opened', finding });
  }

  close(kind: FindingKind): void {
    const finding = this.open[kind];
    if (finding === undefined) return;
    this.rows[kind] = undefined;
    this.open[kind] = undefined;
    this.#changes.push({ change: 'closed', finding });
  }

  dismiss(kind: FindingKind): void {
    this.close(kind);
    this.past = WITHOUT[kind](this.past);
  }

  /** Adds a picture to its hour; the hour before is judged once a later one begins. */
  addBoxes({ time, picture, boxes, confidence }: CameraPicture, options: HealthOptions): void {
    const hour = hourOf(time);
    if (this.hour !== null && this.hour.hour !== hour) this.#endHour(this.hour, options);
    const before =
      this.hour?.hour === hour
        ? this.hour
        : { hour, time, picture, pictures: 0, boxes: 0, confidence: 0, confident: 0 };
    this.hour = {
      ...before,
      pictures: before.pictures + 1,
      boxes: before.boxes + boxes,
      confidence: before.confidence + (confidence ?? 0),
      confident: before.confident + (confidence === null ? 0 : 1),
    };
  }

  #endHour(hour: OpenHour, options: HealthOptions): void {
    const { unusualHours } = options;
    this.count('unusual_counts', hasUnusualCount(this.past, hour, options), hour, unusualHours);
    const isOther = hasUnusualConfidence(this.past, hour, options);
    this.count('unusual_confidence', isOther, hour, unusualHours);
    this.past = withHour(this.past, hour);
  }
}

/** At most one kind is true; those behind it are not judged. */
function judgeLook(
  { past, last }: CameraHealth,
  { time, contentDigest }: CameraPicture,
  measures: Measures,
  options: HealthOptions,
): Verdicts {
  const row = hourRow(past, hourOf(time));
  const isLess = (name: Measure, share: number) =>
    isFarBelow(row[name], measures[name], -Math.log(share), options);
  const isScene = measures.spread >= Math.log(LEAST_SPREAD);
  const before = last?.contentDigest ?? undefined;
  const isSame =
    before === undefined || contentDigest === undefined ? undefined : before === contentDigest;
  if (isSame === true && isScene) return { covered: false, frozen: true };

  const isJudged = measures.brightness >= Math.log(options.dark) || isLight(past, time, options);
  const usuallyScene = row.spread[1] >= Math.log(LEAST_SPREAD);
  const covered = isJudged && usuallyScene ? isLess('spread', options.coveredSpread) : undefined;
  if (covered === true) return { covered };
  const isChangeJudged = isScene && row.change[1] >= Math.log(options.frozenLeast);
  const hasStopped = isChangeJudged ? isLess('change', options.frozenChange) : undefined;
  const frozen = hasStopped ?? (isSame === false ? false : undefined);
  if (frozen === true) return { covered, frozen };
  const [, likeness] = row.likeness;
  const least = likeness * (1 - options.movedLikeness);
  const most = likeness * OTHER_SCENE;
  const moved = isFarBelow(row.likeness, measures.likeness, least, options, most);
  if (moved === true) return { covered, frozen, moved };
  return { covered, frozen, moved, blurred: isLess('sharpness', options.blurredSharpness) };
}

/** Another scene has a likeness near 0, however much that of the own one varies. */
const OTHER_SCENE = 0.55;

/** Whether a value lies below the usual one by `least` and by the deviations, or by `most`. */
function isFarBelow(
  usual: Usual,
  value: number | null,
  least: number,
  { deviations, leastPast }: HealthOptions,
  most = Infinity,
): Verdict {
  const [count, level] = usual;
  if (value === null || count < leastPast) return undefined;
  return value < level - Math.min(most, Math.max(least, rangeOf(usual, deviations)));
}

/** Whether this hour and its neighbours are light as a rule: the time of dusk differs by an hour over the weeks. */
function isLight(past: CameraPast, time: number, { light, leastPast }: HealthOptions): boolean {
  return [23, 24, 25].every((hours) => {
    const [count, level, deviation] = hourRow(past, hourOf(time) + hours).brightness;
    return count >= leastPast && level - 2 * deviation >= Math.log(light);
  });
}

/** A day of hours must be known before one is judged. */
const LEAST_HOURS = 24;

function hasUnusualCount(past: CameraPast, hour: OpenHour, options: HealthOptions): Verdict {
  const [weeks, usualRoot] = countsOf(past, hour.hour);
  const [hours, scatter] = past.scatter;
  if (weeks < options.unusualWeeks || hours < LEAST_HOURS) return undefined;
  const boxes = hour.boxes / hour.pictures;
  const usual = usualRoot * usualRoot;
  return (
    Math.abs(Math.sqrt(boxes) - usualRoot) > options.deviations * scatter &&
    Math.abs(boxes - usual) >= options.unusualBoxes &&
    (boxes > options.unusualTimes * usual || boxes * options.unusualTimes < usual)
  );
}

function hasUnusualConfidence(past: CameraPast, hour: OpenHour, options: HealthOptions): Verdict {
  const usual = hourRow(past, hour.hour).confidence;
  if (hour.confident === 0 || usual[0] < options.leastPast) return undefined;
  const far = Math.abs(hour.confidence / hour.confident - usual[1]);
  return far > Math.max(options.unusualConfidence, rangeOf(usual, options.deviations));
}
