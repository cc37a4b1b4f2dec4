/**
 * Words for people at a command line, in place of those that the rows have for programs: a row speaks of fields and
 * JSON. A flag whose name is not here has the text of its row.
 */
import type { DetectionParameters } from '../api/options.js';
import type { SubmissionFields } from '../api/submission-fields.js';

const TEXTS: Partial<Record<keyof DetectionParameters | keyof SubmissionFields, string>> = {
  confidence:
    'how sure the model has to be of a box, from 0 to 1: a lower number finds more, and more of it is wrong (default: that of the model, else 0.5)',
  iou: 'how far two boxes of one class may overlap before only the better one stays, from 0 to 1: the area that they share as a part of the area that they cover together (IoU)',
  maxDetections: 'most boxes of one picture, the surest ones',
  mergeClasses:
    'count a vehicle once that is found as two classes, such as car and truck: the surer one stays (default: where the classes are car, motorcycle, bus and truck, as they are where none is named)',
  classThresholds: 'another confidence for some classes, such as truck:0.6,car:0.25',
  minSize:
    'leave out boxes whose longer side is below so many pixels, or, up to 1, below this part of the longer side of the picture; 0: none',
  maxSize: 'the same for boxes above so many pixels, or above this part; 0: none',
  tiles:
    'look at parts of the picture too, to find small things, which takes as long as so many pictures: 3x2 for three columns and two rows, 640 for parts of so many pixels a side, 3x2:0.3 for an overlap of 30 %, auto for what the size of the picture asks for',
  regions:
    'parts of the picture that are counted by themselves, and masks, in which nothing counts: a file, or JSON; not together with --view',
  view: 'name of regions that the service has stored (default: those that are stored for the path of the picture)',
  priority: 'which job goes first, 0 to 10; 10 is the most urgent',
  callbackUrl: 'address to which the result is sent when the job has ended',
  reuse:
    'which results of earlier jobs are taken over instead of running a picture again: off, none; unchanged, where the file, the model and the options are the same; content, also where the same file lies in another place',
  places:
    'find vehicles that stand in one place over several pictures; each folder is a camera, and its pictures are in the order of their times',
};

/** The text of a row within a line of help. */
export const sentencePart = (text: string): string =>
  `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

/** The text of the flag of a row. */
export function flagText({ name, text }: { name: string; text: string }): string {
  return (TEXTS as Record<string, string>)[name] ?? sentencePart(text);
}
