/** The question of a job's page: from the address to the service, and what its controls do to the address. */
import { expect, test } from 'vitest';
import { queryOf } from '../../../src/client/api-calls.js';
import { readAddress } from '../../../src/ui/address/address.js';
import {
  classChoice,
  isOwnQuestion,
  OWN_QUESTION,
  questionOf,
  questionTexts,
  thresholdText,
} from '../../../src/ui/job/question.js';

const POLYGON = [
  [0, 0],
  [1, 0],
  [1, 1],
] as const;
const DRAWN = [{ name: 'gate', polygon: POLYGON }];
const queryIn = (hash: string) => readAddress(hash).query;

test('the address has the question as the service takes it: both are the same text', () => {
  const asked =
    'confidence_threshold=0.25&max_detections=20&class_thresholds=car%3A0.3&min_size=0.05&view=gate-2&classes=car%2Cbus';
  const question = questionOf(queryIn(`#/jobs/job_1?outcome=found&class=car&${asked}`), null);
  expect(question).toEqual({
    confidence_threshold: 0.25,
    class_thresholds: { car: 0.3 },
    min_size: 0.05,
    view: 'gate-2',
    max_detections: 20,
    classes: ['car', 'bus'],
  });
  const again = questionOf(queryIn(`#/jobs/job_1${queryOf(question)}`), null);
  expect(again).toEqual(question);
});

test('an address without a question asks what the job asked; filters are no question', () => {
  const query = { outcome: 'found', class: 'car', below: '40', show: 'boxes', with: 'job_2' };
  expect(isOwnQuestion(questionOf(query, null))).toBe(true);
  const other = { ...query, confidence_threshold: '0.4' };
  expect(isOwnQuestion(questionOf(other, null))).toBe(false);
  expect(isOwnQuestion(questionOf({ ...other, ...OWN_QUESTION }, null))).toBe(true);
  expect(Object.entries(questionTexts(other)).filter(([, text]) => text !== '')).toEqual([
    ['confidence_threshold', '0.4'],
  ]);
});

test('drawn regions take the place of the view that they were made from, also none', () => {
  const query = { view: 'yard', regions: JSON.stringify(DRAWN) };
  expect(questionOf(query, DRAWN)).toEqual({ regions: DRAWN });
  expect(questionOf(query, [])).toEqual({ regions: [] });
  // Those that cannot be sent yet are not asked for.
  expect(questionOf(query, null)).toEqual({ view: 'yard' });
});

test('a text that is no value is sent as it is, so that the service says what is wrong', () => {
  expect(questionOf({ confidence_threshold: 'much' }, null)).toEqual({
    confidence_threshold: 'much',
  });
});

const figures = (...names: string[]) =>
  names.map((name, at) => ({ class: name, boxes: 10 - at, confidence_histogram: [] }));
const MODEL = ['car', 'motorcycle', 'bus', 'truck'];

test('classes of the model that the job did not ask for can be added, and taken away again', () => {
  const own = { request: { classes: ['car'] }, classes: figures('car') };
  const choice = (asked: string[] | undefined, ...found: string[]) =>
    classChoice({ own, shown: { classes: figures(...found) }, asked, offered: MODEL });
  const first = choice(undefined, 'car');
  expect(first.listed).toEqual([{ name: 'car', boxes: 10, isAsked: true, isFixed: true }]);
  expect(first.others).toEqual(['motorcycle', 'bus', 'truck']);
  expect(first.toggled('bus')).toEqual({ classes: 'car,bus' });
  const second = choice(['car', 'bus'], 'bus', 'car');
  expect(second.listed).toEqual([
    { name: 'bus', boxes: 10, isAsked: true, isFixed: false },
    { name: 'car', boxes: 9, isAsked: true, isFixed: false },
  ]);
  expect(second.toggled('car')).toEqual({ classes: 'bus' });
  // The question of the job is no other one.
  expect(second.toggled('bus')).toEqual({ classes: '' });
  expect(choice(['car', 'bus', 'truck'], 'car').toggled('motorcycle')).toEqual({ classes: '*' });
  const all = choice(['*'], 'car', 'bus');
  expect(all.listed.map(({ isAsked }) => isAsked)).toEqual([true, true]);
  expect(all.others).toEqual([]);
  expect(all.toggled('truck')).toEqual({ classes: 'car,motorcycle,bus' });
});

test('a job of all classes lists those that were found; one that is switched off stays in the list', () => {
  const own = { request: {}, classes: figures('car', 'bus') };
  const asked = ['car', 'motorcycle', 'truck'];
  const { listed, others, toggled } = classChoice({
    own,
    shown: { classes: figures('car') },
    asked,
    offered: MODEL,
  });
  expect(listed).toEqual([
    { name: 'car', boxes: 10, isAsked: true, isFixed: false },
    { name: 'bus', boxes: 0, isAsked: false, isFixed: false },
  ]);
  expect(others).toEqual([]);
  expect(toggled('bus')).toEqual({ classes: '' });
});

test('only classes that the model has are asked for, in its spelling', () => {
  const own = { request: { classes: ['car', 'motorcycle', 'bus', 'truck'] }, classes: [] };
  const offered = ['Car', 'Bus', 'person'];
  const choice = classChoice({ own, shown: own, asked: undefined, offered });
  expect(choice.listed.map(({ name }) => name)).toEqual(['Car', 'Bus']);
  expect(choice.toggled('Bus')).toEqual({ classes: 'Car' });
  expect(choice.toggled('person')).toEqual({ classes: '*' });
});

test('a class of boxes that the model has no more is shown and cannot be switched', () => {
  const own = { request: {}, classes: figures('person', 'car') };
  const { listed } = classChoice({ own, shown: own, asked: undefined, offered: MODEL });
  expect(listed).toEqual([
    { name: 'person', boxes: 10, isAsked: true, isFixed: true },
    { name: 'car', boxes: 9, isAsked: true, isFixed: false },
  ]);
});

test('where the model is gone the classes are those of the boxes', () => {
  const own = { request: { classes: ['car', 'van'] }, classes: figures('car') };
  const choice = classChoice({ own, shown: own, asked: ['car'], offered: [] });
  expect(choice.listed.map(({ name, isAsked }) => [name, isAsked])).toEqual([
    ['car', true],
    ['van', false],
  ]);
  expect(choice.toggled('van')).toEqual({ classes: '' });
});

test.each([
  { value: 0.25, text: '0.25' },
  { value: 0.5, text: '' },
  { value: 0.01, text: '0.05' },
  { value: 0, text: '0.05' },
  { value: 1.2, text: '1' },
])('a threshold of $value is "$text" in the address', ({ value, text }) => {
  expect(thresholdText(value, { floor: 0.05, own: 0.5 })).toBe(text);
});

test('a floor between two percents is not gone below', () => {
  expect(thresholdText(0.1, { floor: 0.123, own: 0.5 })).toBe('0.13');
  expect(thresholdText(0.29, { floor: 0.29, own: 0.5 })).toBe('0.29');
});
