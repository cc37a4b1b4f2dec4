/** Reads the controls for boxes on pictures from a labelling configuration of Label Studio. */
import sax from 'sax';
import { classKey } from '../api/class-key.js';
import type { LabelNames } from './labelstudio.js';

/** Boxes on one picture of a task. */
export interface LabelStudioConfig extends LabelNames {
  /** The field of a task's data that has the picture. */
  field: string;
}

/** Attributes of one tag; what lies under a name that is missing is undefined. */
type Attributes = Partial<Record<string, string>>;

interface Control {
  attributes: Attributes;
  labels: Attributes[];
}

/** Names of a control's tag and of one of its labels, by the key of a class. */
type Places = Map<string, { from: string; label: string }>;

/**
 * One entry for each `Image` that has `RectangleLabels`, in the order of these; none: the configuration has no boxes. A
 * label stands for the class of its name, and for those of its `predicted_values`, which are separated by commas. Of
 * several controls on a picture the first that has a label for a class gets its boxes. Throws a SyntaxError where the
 * text is no well-formed XML. The cost grows with the length of the text and with nothing else.
 */
export function readLabelStudioConfig(xml: string): LabelStudioConfig[] {
  const { controls, images } = tagsOf(xml);
  const fieldOf = (picture: string) => /^\$(.*)$/s.exec(images.get(picture)?.value ?? '')?.[1];
  const byPicture = new Map<string, Places>();
  for (const { attributes, labels } of controls) {
    const { name: from, toName: to } = attributes;
    if (from === undefined || to === undefined || fieldOf(to) === undefined) continue;
    const places = byPicture.get(to) ?? (new Map() as Places);
    byPicture.set(to, places);
    addPlaces(places, from, labels);
  }
  return [...byPicture].map(([to, places]) => ({
    to,
    field: fieldOf(to) ?? '',
    labelOf: (box) => places.get(classKey(box.class)),
  }));
}

/** If several labels of one control name a class, the last one counts. */
function addPlaces(places: Places, from: string, labels: readonly Attributes[]): void {
  const own: Places = new Map();
  for (const { value, predicted_values: predicted = '' } of labels) {
    if (value === undefined) continue;
    for (const name of [...predicted.split(','), value]) {
      if (name.trim() !== '') own.set(classKey(name), { from, label: value });
    }
  }
  for (const [key, place] of own) if (!places.has(key)) places.set(key, place);
}

/** The controls, each with the labels in it, and the first `Image` of each name. */
function tagsOf(xml: string): { controls: Control[]; images: Map<string, Attributes> } {
  const controls: Control[] = [];
  const images = new Map<string, Attributes>();
  let open: Control | null = null;
  // Strict: only the five entities of XML and numeric ones are read. What a document type declares is not.
  const parser = sax.parser(true, { strictEntities: true } as sax.SAXOptions);
  parser.onopentag = ({ name, attributes: found }) => {
    const attributes = found as Attributes;
    if (name === 'RectangleLabels') controls.push((open = { attributes, labels: [] }));
    if (name === 'Label') open?.labels.push(attributes);
    const { name: ownName } = attributes;
    if (name !== 'Image' || ownName === undefined || images.has(ownName)) return;
    images.set(ownName, attributes);
  };
  parser.onclosetag = (name) => {
    if (name === 'RectangleLabels') open = null;
  };
  parser.onerror = ({ message }) => {
    const [what = ''] = message.split('\n');
    throw new SyntaxError(`${what} (line ${parser.line + 1})`);
  };
  parser.write(xml).close();
  return { controls, images };
}

const LOCAL_FILE = /^(?:https?:\/\/[^/]+)?(?:\/[^?]*)?\/data\/local-files\/?\?(.*)$/;

/** The path beneath Label Studio's document root; null: the picture is kept by Label Studio, or is elsewhere. */
export function localFileOf(address: string): string | null {
  const [, query] = LOCAL_FILE.exec(address) ?? [];
  if (query !== undefined) return new URLSearchParams(query).get('d');
  return /^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(address) ? null : address;
}
