/**
 * The options of a detection, apart from its image. A parameter is an option with a default of the service, which a
 * model may replace where its row says so: the row is all that TypeScript says of it. The fields of requests, worker
 * frames, job records and answers, the flags of the CLI, the page and the defaults are derived from the rows; the addon
 * reads the value by its name here. Plain data, so that the page can read it in a browser.
 */
import type { KindValues, ParameterKind } from './option-kinds.js';
import { rowsOf, type WireName } from './rows.js';

interface ParameterText {
  /** Name of the field over HTTP. Absent: the key of the row in snake_case. */
  wireName?: string;
  /** The effect of the option, for the OpenAPI document and the help of the CLI. */
  text: string;
  /** Text next to the value on the page. */
  label: string;
  /** The letter of the short flag of the CLI. */
  shortFlag?: string;
  /** A model may bring a default of its own. */
  ofModel?: true;
}

const PARAMETERS = {
  confidence: {
    wireName: 'confidence_threshold',
    kind: 'fraction',
    default: 0.5,
    ofModel: true,
    text: 'Keep boxes with a score above this. Default: that of the model, else 0.5',
    label: 'Confidence at least',
    shortFlag: 'c',
  },
  iou: {
    wireName: 'iou_threshold',
    kind: 'fraction',
    default: 0.7,
    text: 'Boxes of one class that overlap more than this are merged',
    label: 'Merge above IoU',
  },
  maxDetections: {
    kind: 'count',
    most: 300,
    default: 300,
    text: 'Most boxes of one image',
    label: 'Most boxes of an image',
  },
  mergeClasses: {
    kind: 'switch',
    default: null,
    text: 'Keep the best of boxes of different classes that overlap more than iou_threshold, with the other as its alternative. Default: true without classes and for car, motorcycle, bus and truck; false for batch_detect without classes, which takes all',
    label: 'One vehicle, one box',
  },
  classThresholds: {
    kind: 'fractions',
    default: {},
    text: 'Score by class in place of the confidence threshold',
    label: 'Confidence by class',
  },
  minSize: {
    kind: 'size',
    default: 0,
    text: 'Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer side of the image; 0: none',
    label: 'Boxes from',
  },
  maxSize: {
    kind: 'size',
    default: 0,
    text: 'Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer side of the image; 0: none',
    label: 'Boxes up to',
  },
  tiles: {
    kind: 'tiles',
    default: 'off',
    text: 'Look at overlapping tiles of the image too, which finds smaller things and takes as long as so many images: "auto" by the size of the image, {"columns": 3, "rows": 2}, or {"size": 640} in pixels, each with an "overlap" of 0 to 0.5 (0.2)',
    label: 'Tiles',
  },
  regions: {
    kind: 'regions',
    default: null,
    text: 'Polygons of the picture that are counted by themselves, and masks: what lies in a mask is left out. Excludes view',
    label: 'Regions',
  },
  view: {
    kind: 'view',
    default: null,
    text: 'Name of a stored view, whose regions are used. Default where regions are not given either: the view whose paths match the path of the image',
    label: 'View',
  },
} as const satisfies Record<string, ParameterText & ParameterKind>;

type Rows = typeof PARAMETERS;
type Name = keyof Rows;
export type DetectionParameters = { [Key in Name]: KindValues[Rows[Key]['kind']] };

/** Defaults that a model may have. */
export type ModelDefaults = Pick<
  DetectionParameters,
  { [Key in Name]: Rows[Key] extends { ofModel: true } ? Key : never }[Name]
>;

/** The parameters by their HTTP names. */
export type WireParameters = {
  [Key in Name as WireName<Rows[Key], Key>]: DetectionParameters[Key];
};

export interface DetectOptions extends DetectionParameters {
  /** `model_name` of the HTTP interface, for example `yolov8n.pt`. */
  modelName: string;
  /** Names of the classes to keep, compared by `classKey`; null keeps all. */
  classes: readonly string[] | null;
}

export type ParameterRow = ParameterText &
  ParameterKind & { name: Name; wireName: keyof WireParameters };

export const PARAMETER_ROWS = rowsOf(PARAMETERS) as readonly ParameterRow[];

function byName(value: (row: ParameterRow) => unknown): DetectionParameters {
  const values: Partial<Record<Name, unknown>> = {};
  for (const row of PARAMETER_ROWS) values[row.name] = value(row);
  return values as DetectionParameters;
}

/** The parameters of an object that has other fields too. */
export const parametersOf = (fields: DetectionParameters) => byName(({ name }) => fields[name]);

export const DEFAULT_PARAMETERS = byName((row) => row.default);

/** Reads the body of a request. Null and absent fields have the default of the model, or else of the service. */
export function readParameters(
  body: { [Key in keyof WireParameters]?: WireParameters[Key] | null | undefined },
  ofModel: ModelDefaults,
): DetectionParameters {
  const given = body as Record<string, unknown>;
  const own = ofModel as Partial<DetectionParameters>;
  return byName(({ name, wireName }) => given[wireName] ?? own[name] ?? DEFAULT_PARAMETERS[name]);
}

/** Fields of a request or an answer; other fields of `parameters` are left out. */
export function toWireParameters(parameters: DetectionParameters): WireParameters;
export function toWireParameters(parameters: Partial<DetectionParameters>): Partial<WireParameters>;
export function toWireParameters(
  parameters: Partial<DetectionParameters>,
): Partial<WireParameters> {
  return Object.fromEntries(PARAMETER_ROWS.map((row) => [row.wireName, parameters[row.name]]));
}

/** A request with this name among its classes asks for all classes of the model. */
export const ALL_CLASSES = '*';

/** The classes of a request that names none: what the interface calls vehicles. */
export const DEFAULT_VEHICLES: readonly string[] = ['car', 'motorcycle', 'bus', 'truck'];

/** Whether a request that keeps these classes has named none itself. */
export function isDefaultVehicles(names: readonly string[] | null): boolean {
  if (names === DEFAULT_VEHICLES) return true;
  return (
    names !== null &&
    names.length === DEFAULT_VEHICLES.length &&
    DEFAULT_VEHICLES.every((name) => names.includes(name))
  );
}

/** Priorities of jobs and of their images are 0 to this; higher runs first. */
export const TOP_PRIORITY = 10;
