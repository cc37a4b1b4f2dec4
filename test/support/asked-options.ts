/** The options of a detection in every form in which they are given, for the tests of every door. */
import type { DetectionParameters } from '../../src/api/options.js';
import type { Region } from '../../src/api/region-rules.js';

export interface Asked {
  /** As HTTP names them. */
  json: Record<string, unknown>;
  /** As the summary of a job repeats it; `json` when left out. */
  stored?: Record<string, unknown>;
  /** In a query or a form. */
  texts: [string, string][];
  flags: string[];
  /** It changes something only where the request names its classes. */
  namesClasses?: true;
  /** In jobs and by flags. */
  kept: Partial<DetectionParameters>;
  /** The parameters that the detector gets, where they differ from `kept`. */
  run?: Partial<DetectionParameters>;
}

export const REGIONS: Region[] = [
  {
    name: 'gate, "north"',
    polygon: [
      [0.1, 0.5],
      [0.6, 0.5],
      [0.6, 1],
    ],
    classes: ['CAR'],
    anchor: 0.25,
  },
  {
    name: 'sky',
    polygon: [
      [0, 0],
      [1, 0],
      [1, 0.5],
      [0, 0.5],
    ],
    ignore: true,
  },
];

/** Each option of a detection at least once. On two photos side by side each of them changes the boxes. */
export const OPTIONS: Asked[] = [
  {
    json: { confidence_threshold: 0.6 },
    texts: [['confidence_threshold', '.6']],
    flags: ['--confidence', '0.6'],
    kept: { confidence: 0.6 },
  },
  {
    json: { iou_threshold: 0.3 },
    texts: [['iou_threshold', '0.3']],
    flags: ['--iou', '.3'],
    kept: { iou: 0.3 },
  },
  {
    json: { max_detections: 3 },
    texts: [['max_detections', '3']],
    flags: ['--max-detections', '3'],
    kept: { maxDetections: 3 },
  },
  {
    json: { merge_classes: true },
    namesClasses: true,
    texts: [['merge_classes', 'true']],
    flags: ['--merge-classes'],
    kept: { mergeClasses: true },
  },
  {
    json: { merge_classes: false },
    texts: [['merge_classes', '0']],
    flags: ['--no-merge-classes'],
    kept: { mergeClasses: false },
  },
  {
    json: { class_thresholds: { truck: 0.6, CAR: 0.25 } },
    texts: [['class_thresholds', 'truck:0.6, CAR:.25']],
    flags: ['--class-thresholds', 'truck:0.6,CAR:0.25'],
    kept: { classThresholds: { truck: 0.6, CAR: 0.25 } },
  },
  {
    json: { min_size: 0.05, max_size: 400 },
    texts: [
      ['min_size', '0.05'],
      ['max_size', '400'],
    ],
    flags: ['--min-size', '0.05', '--max-size', '400'],
    kept: { minSize: 0.05, maxSize: 400 },
  },
  {
    json: { regions: REGIONS },
    texts: [['regions', JSON.stringify(REGIONS)]],
    flags: ['--regions', JSON.stringify(REGIONS)],
    kept: { regions: REGIONS },
  },
  {
    json: { view: 'north' },
    texts: [['view', 'north']],
    flags: ['--view', 'north'],
    kept: { view: 'north' },
    run: { view: null, regions: REGIONS },
  },
  {
    json: { tiles: 'auto' },
    texts: [['tiles', 'auto']],
    flags: ['--tiles', 'auto'],
    kept: { tiles: 'auto' },
  },
  {
    json: { tiles: { columns: 3, rows: 2 } },
    stored: { tiles: { columns: 3, rows: 2, overlap: 0.2 } },
    texts: [['tiles', '3x2']],
    flags: ['--tiles', '3x2'],
    kept: { tiles: { columns: 3, rows: 2, overlap: 0.2 } },
  },
  {
    json: { tiles: { size: 640, overlap: 0.3 } },
    texts: [['tiles', '640:0.3']],
    flags: ['--tiles', '640:.3'],
    kept: { tiles: { size: 640, overlap: 0.3 } },
  },
];
