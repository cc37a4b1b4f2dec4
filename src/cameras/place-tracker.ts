/**
 * Places in the stills of one camera: where vehicles stand, and since when. A fold over its pictures in order of time;
 * the state is plain data of bounded size, and a picture costs what its boxes cost, however long the camera runs.
 */
import { intersectionOverUnion, type Box } from '../boxes/overlap.js';
import {
  classGroup,
  commonShift,
  isOtherLight,
  matchPlaces,
  scaleBetween,
  type Framed,
  type Match,
  type MatchRules,
} from './matching.js';
import {
  beginStay,
  continueStay,
  descriptorDistance,
  disagreement,
  hasBecomeStatic,
  isOver,
  splitStay,
  type PlacedBox,
  type Stay,
} from './stays.js';

export interface PlaceRules extends MatchRules {
  /** The question's threshold: a place needs a box above this confidence. */
  confidence: number;
  /** A box above this may begin a stay, which counts once a box above `confidence` is seen in it. */
  faintConfidence: number;
  /** Pictures that show a vehicle other than the stay's own, but all the same one, before it is a new stay. */
  otherPictures: number;
  /** Least overlap with a stay that goes on of boxes that seemed to be another vehicle and count as this one. */
  sameOverlap: number;
  /**
   * Places of a camera. For a new one, that one goes in which no vehicle was ever static and none is now, else that
   * in which none is now; the one unseen for the longest time first. If all are taken, no new one is made.
   */
  mostPlaces: number;
  /** Ended stays of a place that are listed; older ones are counted and added up only. */
  mostStays: number;
  /** Seconds after which an empty place is forgotten. */
  forgetSeconds: number;
  /** Pictures in a row of another shape after which the camera has another view, with places of its own. */
  otherShapes: number;
}

export const PLACE_RULES: PlaceRules = {
  confidence: 0.5,
  faintConfidence: 0.25,
  staticSeconds: 300,
  staticPictures: 4,
  staticShare: 0.6,
  gapSeconds: 60,
  gapPictures: 3,
  mostGapSeconds: 6 * 3600,
  jitterShare: 0.015,
  jitterPixels: 0.7,
  mostDisagreement: 7,
  mostMeanDisagreement: 7,
  leastChange: 0.02,
  mostDescriptorDistance: 40,
  leastOverlap: 0.4,
  mostSizeRatio: 1.6,
  mostShift: 0.03,
  otherPictures: 3,
  sameOverlap: 0.6,
  mostPlaces: 200,
  mostStays: 20,
  forgetSeconds: 30 * 86_400,
  otherShapes: 10,
};

/** A picture with all boxes that its model found, those below the question's threshold too. */
export interface Picture {
  /** Names the picture within its camera; orders pictures of one time. */
  key: string;
  /** Seconds since 1970. */
  time: number;
  width: number;
  height: number;
  boxes: PictureBox[];
}

export interface PictureBox {
  class: string;
  confidence: number;
  box: Box;
  /** See `descriptorDistance`. */
  descriptor?: string;
}

export interface Place {
  /** Stable number within the camera. */
  id: number;
  group: string;
  firstSeen: number;
  lastSeen: number;
  /** Pictures with a box in it. */
  seen: number;
  /** Pictures since its first one. */
  pictures: number;
  /** The vehicle that stands there; null: none does. */
  stay: Stay | null;
  /** One that may have taken its place since. */
  other: Stay | null;
  /** The latest static stays that have ended, oldest first. */
  ended: Pick<Stay, 'id' | 'since' | 'lastSeen' | 'seen'>[];
  /** Static stays before those. */
  older: { stays: number; seconds: number };
  /** Running mean of the latest stay's box. */
  box: Box;
  /** It is of an earlier view. */
  isGone?: true;
}

export interface Places {
  /** Size of the first picture of the view; all boxes are scaled to it. Null before it. */
  size: { width: number; height: number } | null;
  /** Pictures in a row of another shape. */
  otherShapes: number;
  /** Time of the last picture. */
  time: number;
  /** Running share of pictures in which most vehicles look unlike in the one before. */
  unlike: number;
  /** By how much the last picture was shifted against the places, in pixels of the first. */
  shift: [x: number, y: number];
  /** The number of the next place or stay. */
  nextId: number;
  places: Place[];
}

export interface BoxInPlace {
  place: number | null;
  /** The stay that the box is of; what is decided about that later holds for the box. */
  stay: number | null;
  staySince: number | null;
  static: boolean | 'unknown';
}

/** An event that became certain with a picture. */
export interface PlaceChange {
  kind: 'occupied' | 'left';
  place: number;
  stay: number;
  group: string;
  box: Box;
  since: number;
  /** Time of the last box of the stay. */
  lastSeen: number;
}

export interface DecidedStay {
  stay: number;
  static: boolean;
  /** The static stay whose vehicle it was all along. */
  sameAs?: number;
}

export interface PlacedPicture {
  key: string;
  time: number;
  /** In the order of the picture's boxes. */
  boxes: BoxInPlace[];
  changes: PlaceChange[];
  /** Stays of which it became certain whether they are static: all their boxes were, or were not. */
  decided: DecidedStay[];
}

export const noPlaces = (): Places => ({
  size: null,
  otherShapes: 0,
  time: 0,
  unlike: 0,
  shift: [0, 0],
  nextId: 1,
  places: [],
});

const NOWHERE: BoxInPlace = { place: null, stay: null, staySince: null, static: 'unknown' };

/** The answer for a picture that cannot be folded any more. */
export const unplaced = ({ key, time, boxes }: Picture): PlacedPicture => ({
  key,
  time,
  boxes: boxes.map(() => NOWHERE),
  changes: [],
  decided: [],
});

/**
 * Folds the next picture into `state`, which it changes. A picture of another shape than the first shows another view:
 * it is left out, and its boxes are unknown, unless so many of them follow each other that the camera was changed.
 */
export function foldPicture(state: Places, picture: Picture, rules: PlaceRules): PlacedPicture {
  const { width, height } = picture;
  state.size ??= { width, height };
  const scale = scaleBetween(picture, state.size);
  state.otherShapes = scale === null ? state.otherShapes + 1 : 0;
  if (scale !== null) return new Fold(state, picture, rules, scale).result();
  if (state.otherShapes < rules.otherShapes) return unplaced(picture);
  state.size = { width, height };
  state.otherShapes = 0;
  const fold = new Fold(state, picture, rules, 1);
  fold.endPlaces();
  return fold.result();
}

/** Pictures of which `unlike` is the share, and the share from which on it is not the light. */
const LATEST_PICTURES = 10;
const MOST_UNLIKE = 0.15;

interface Found extends PlacedBox, Framed {
  at: number;
  mayBegin: boolean;
}

/** One picture's way into the state. */
class Fold {
  readonly #state: Places;
  readonly #rules: PlaceRules;
  readonly #found: Found[];
  readonly #answer: PlacedPicture;

  constructor(state: Places, picture: Picture, rules: PlaceRules, scale: number) {
    this.#state = state;
    this.#rules = rules;
    this.#answer = unplaced(picture);
    state.time = picture.time;
    for (const place of state.places) {
      if (place.isGone) continue;
      place.pictures += 1;
      this.#endUnseen(place);
    }
    this.#found = picture.boxes.map(({ box, class: name, confidence, descriptor }, at) => ({
      at,
      group: classGroup(name),
      isStrong: confidence > rules.confidence,
      mayBegin:
        confidence > Math.min(rules.faintConfidence, rules.confidence) &&
        box[2] > box[0] &&
        box[3] > box[1],
      box: [box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale],
      ...(descriptor !== undefined && { descriptor }),
    }));
  }

  /** No vehicle is seen again in a place of the view before. */
  endPlaces(): void {
    for (const place of this.#state.places) {
      this.#dropOther(place);
      this.#endStay(place);
      place.isGone = true;
    }
  }

  result(): PlacedPicture {
    const places = this.#state.places.filter(({ isGone }) => isGone !== true);
    this.#straighten();
    const pairs = matchPlaces(places, this.#found, this.#rules);
    const comparesDescriptors = this.#comparesDescriptors(pairs);
    const taken = new Map(pairs.map(({ place, found }) => [place, found]));
    const placed = new Set(taken.values());
    for (const place of places) {
      const found = taken.get(place);
      if (found === undefined) this.#miss(place);
      else this.#see(place, found, comparesDescriptors);
      if (place.stay !== null) place.box = place.stay.box;
    }
    this.#state.places = this.#state.places.filter((place) => this.#isKept(place));
    for (const found of this.#found) {
      if (placed.has(found)) continue;
      if (found.mayBegin) this.#beginPlace(found);
      else this.#answer.boxes[found.at] = { ...NOWHERE, static: false };
    }
    return this.#answer;
  }

  /** Light changes now and then; where it seems to in many pictures, vehicles come and go. */
  #comparesDescriptors(pairs: readonly Match<Place, Found>[]): boolean {
    const isUnlike = isOtherLight(pairs, this.#rules);
    const { unlike } = this.#state;
    this.#state.unlike = unlike + ((isUnlike ? 1 : 0) - unlike) / LATEST_PICTURES;
    return !isUnlike || unlike > MOST_UNLIKE;
  }

  /** Takes the shift of the whole picture out of its boxes. */
  #straighten(): void {
    const { places, size } = this.#state;
    const taken = places.filter(({ stay }) => stay !== null);
    // Those that are sure to stand, as far as there are any.
    const known = [
      places.filter(({ stay }) => stay?.isStatic === true),
      places.filter(({ stay }) => stay !== null && stay.seen > 1),
    ].find(({ length }) => length > 1);
    const most = this.#rules.mostShift * (size?.width ?? 0);
    const shift = commonShift(known ?? taken, this.#found, most);
    this.#state.shift = shift;
    for (const found of this.#found) {
      const [left, top, right, bottom] = found.box;
      found.box = [left - shift[0], top - shift[1], right - shift[0], bottom - shift[1]];
    }
  }

  #see(place: Place, found: Found, comparesDescriptors: boolean): void {
    const { time, nextId } = this.#state;
    place.seen += 1;
    place.lastSeen = time;
    const fits = (stay: Stay): boolean => {
      const distance = descriptorDistance(stay.descriptor, found.descriptor);
      if (comparesDescriptors && (distance ?? 0) > this.#rules.mostDescriptorDistance) return false;
      return disagreement(stay, found.box, this.#rules) <= this.#rules.mostDisagreement;
    };
    if (place.stay !== null && fits(place.stay)) {
      continueStay(place.stay, time, found, this.#rules);
      this.#dropOther(place);
      place.other = splitStay(place.stay, nextId, this.#rules);
      if (place.other !== null) {
        this.#state.nextId += 1;
        this.#endStay(place);
      }
      this.#answerWith(place, place.stay, found);
      return;
    }
    if (place.stay !== null) {
      place.stay.unseen += 1;
      // Another vehicle in its place says more than none.
      place.stay.missed += 1;
    }
    if (place.other !== null && fits(place.other)) {
      continueStay(place.other, time, found, this.#rules);
      this.#answerWith(place, place.other, found);
    } else {
      this.#dropOther(place);
      if (!found.mayBegin) {
        this.#answerWith(place, place.stay, found);
        return;
      }
      this.#state.nextId += 1;
      place.other = beginStay(nextId, time, found, this.#rules);
      this.#answerWith(place, place.other, found);
    }
    const isOther = place.other.isStrong && place.other.seen >= this.#rules.otherPictures;
    if (place.stay === null || isOther || isOver(place.stay, time, this.#rules)) {
      this.#endStay(place);
    }
  }

  #miss(place: Place): void {
    if (place.stay !== null) place.stay.unseen += 1;
    if (place.other !== null) place.other.unseen += 1;
    this.#endUnseen(place);
  }

  #endUnseen(place: Place): void {
    const { time } = this.#state;
    if (place.other !== null && isOver(place.other, time, this.#rules)) this.#dropOther(place);
    if (place.stay !== null && isOver(place.stay, time, this.#rules)) this.#endStay(place);
  }

  /** Ends the stay, if there is one; the other vehicle, if there is one, has the place then. */
  #endStay(place: Place): void {
    const { stay } = place;
    if (stay?.isStatic === true) {
      const { id, since, lastSeen, seen } = stay;
      this.#change('left', place, stay);
      place.ended.push({ id, since, lastSeen, seen });
      for (const old of place.ended.splice(0, place.ended.length - this.#rules.mostStays)) {
        place.older.stays += 1;
        place.older.seconds += old.lastSeen - old.since;
      }
    } else if (stay !== null) this.#answer.decided.push({ stay: stay.id, static: false });
    place.stay = place.other;
    place.other = null;
    if (place.stay === null) return;
    place.box = place.stay.box;
    this.#decide(place, place.stay);
  }

  /** Boxes that nearly lie on those of a stay that goes on were the same vehicle, half hidden or badly framed. */
  #dropOther(place: Place): void {
    const { stay, other } = place;
    if (other === null) return;
    const isSame =
      stay?.isStatic === true &&
      intersectionOverUnion(stay.box, other.box) >= this.#rules.sameOverlap;
    this.#answer.decided.push({
      stay: other.id,
      static: isSame,
      ...(isSame && { sameAs: stay.id }),
    });
    place.other = null;
  }

  #decide(place: Place, stay: Stay): void {
    if (!hasBecomeStatic(stay, this.#rules)) return;
    stay.isStatic = true;
    this.#answer.decided.push({ stay: stay.id, static: true });
    this.#change('occupied', place, stay);
  }

  #answerWith(place: Place, stay: Stay | null, { at }: Found): void {
    if (stay !== null && stay === place.stay) this.#decide(place, stay);
    this.#answer.boxes[at] = {
      place: place.id,
      stay: stay?.id ?? null,
      staySince: stay?.since ?? null,
      // A weak box in an empty place is no vehicle that stands there.
      static: stay?.isStatic === true || (stay !== null && 'unknown'),
    };
  }

  #change(kind: PlaceChange['kind'], { id: place, group }: Place, stay: Stay): void {
    const { id, box, since, lastSeen } = stay;
    this.#answer.changes.push({ kind, place, group, stay: id, box, since, lastSeen });
  }

  #isKept(place: Place): boolean {
    if (place.stay !== null || place.other !== null) return true;
    const hasStood = place.ended.length > 0;
    return hasStood && this.#state.time - place.lastSeen <= this.#rules.forgetSeconds;
  }

  /** Forgets a place without a vehicle that stands: see `mostPlaces`. False if there is none. */
  #giveUpPlace(): boolean {
    const { places, time } = this.#state;
    const idle = places.filter(({ stay, lastSeen }) => stay?.isStatic !== true && lastSeen < time);
    const neverTaken = idle.filter(({ ended }) => ended.length === 0);
    const [first, ...others] = neverTaken.length > 0 ? neverTaken : idle;
    if (first === undefined) return false;
    const oldest = others.reduce((one, next) => (next.lastSeen < one.lastSeen ? next : one), first);
    this.#dropOther(oldest);
    this.#endStay(oldest);
    places.splice(places.indexOf(oldest), 1);
    return true;
  }

  #beginPlace(found: Found): void {
    const { places, time, nextId } = this.#state;
    if (places.length >= this.#rules.mostPlaces && !this.#giveUpPlace()) return;
    const stay = beginStay(nextId + 1, time, found, this.#rules);
    const place: Place = {
      id: nextId,
      group: found.group,
      firstSeen: time,
      lastSeen: time,
      seen: 1,
      pictures: 1,
      stay,
      other: null,
      ended: [],
      older: { stays: 0, seconds: 0 },
      box: stay.box,
    };
    this.#state.nextId += 2;
    places.push(place);
    this.#answerWith(place, stay, found);
  }
}
