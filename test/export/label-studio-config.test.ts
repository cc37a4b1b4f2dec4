import { expect, test } from 'vitest';
import {
  localFileOf,
  readLabelStudioConfig,
  type LabelStudioConfig,
} from '../../src/export/label-studio-config.js';

const CONFIG = `<View>
  <!-- <RectangleLabels name="old" toName="img"><Label value="Old"/></RectangleLabels> -->
  <Header value="Vehicles &amp; more"/>
  <Image name="img" value="$photo" zoom="true"/>
  <RectangleLabels name="boxes" toName="img">
    <Label value="Car" background="green"/>
    <Label value='Heavy "goods"' predicted_values="truck, bus"></Label>
  </RectangleLabels>
</View>`;

const labelsOf = (config: LabelStudioConfig, classes: string[]) =>
  classes.map((name) => config.labelOf({ class: name })?.label);

test('names of tags, the field of the picture and the labels of classes', () => {
  const [config, ...more] = readLabelStudioConfig(CONFIG);
  expect(more).toEqual([]);
  expect(config).toMatchObject({ to: 'img', field: 'photo' });
  expect(config!.labelOf({ class: 'bus' })).toEqual({ from: 'boxes', label: 'Heavy "goods"' });
  const classes = ['car', 'CAR', 'truck', 'bus', 'motorcycle', 'old'];
  expect(labelsOf(config!, classes)).toEqual([
    'Car',
    'Car',
    'Heavy "goods"',
    'Heavy "goods"',
    undefined,
    undefined,
  ]);
});

test('attributes are read as XML has them', () => {
  const [config] = readLabelStudioConfig(`<?xml version="1.0" encoding="UTF-8"?>
    <View>
      <Style><![CDATA[ .a > .b { content: "<RectangleLabels name='c' toName='img'>" } ]]></Style>
      <Image zoom="a > b" name="img" value="$photo"/>
      <RectangleLabels visibleWhen="x > 1" name="boxes" toName="img">
        <View><Label hint="a > b" value="none"/></View>
      </RectangleLabels>
    </View>`);
  expect(config).toMatchObject({ to: 'img', field: 'photo' });
  const [numeric] = readLabelStudioConfig(
    `<View><Image name="i" value="&#36;p"/><RectangleLabels name="b" toName="i">
     <Label value="LKW &#62; 3,5&#160;t &#x1F69A;" predicted_values="&quot;truck&quot;,b&#117;s"/>
     </RectangleLabels></View>`,
  );
  expect(numeric!.field).toBe('p');
  expect(labelsOf(numeric!, ['bus', '"truck"'])).toEqual(
    Array(2).fill('LKW > 3,5\u00a0t \u{1F69A}'),
  );
});

test('boxes go to the control that has a label for their class, whichever comes first', () => {
  const [config, ...more] = readLabelStudioConfig(`<View><Image name="i" value="$p"/>
    <RectangleLabels name="plates" toName="i"><Label value="Plate"/></RectangleLabels>
    <RectangleLabels name="small" toName="i"><Label value="Car"/></RectangleLabels>
    <RectangleLabels name="large" toName="i"><Label value="Bus"/><Label value="Car"/></RectangleLabels>
  </View>`);
  expect(more).toEqual([]);
  expect(['car', 'bus', 'truck'].map((name) => config!.labelOf({ class: name })?.from)).toEqual([
    'small',
    'large',
    undefined,
  ]);
});

test('a configuration of two pictures has an entry for each', () => {
  const read =
    readLabelStudioConfig(`<View><Image name="a" value="$one"/><Image name="b" value="$two"/>
    <RectangleLabels name="plates" toName="b"><Label value="Plate"/></RectangleLabels>
    <RectangleLabels name="cars" toName="a"><Label value="Car"/></RectangleLabels></View>`);
  expect(read.map(({ to, field }) => [to, field])).toEqual([
    ['b', 'two'],
    ['a', 'one'],
  ]);
});

test.each([
  '',
  '<View><Image name="img" value="$photo"/></View>',
  '<View><RectangleLabels name="b" toName="img"><Label value="car"/></RectangleLabels></View>',
  '<View><Image name="other" value="$p"/><RectangleLabels name="b" toName="img"/></View>',
  '<View><Image name="img" value="fixed.jpg"/><RectangleLabels name="b" toName="img"/></View>',
  '<View><Image name="constructor" value="$p"/><RectangleLabels name="b" toName="__proto__"/></View>',
])('%j has no boxes on a picture', (xml) => {
  expect(readLabelStudioConfig(xml)).toEqual([]);
});

test.each([
  ['no xml', 1],
  ['<View>\n<Image name="img" value="$photo">\n</View>', 3],
  ['<View>\n<Label value="&nbsp;"/></View>', 2],
  ['<!DOCTYPE a [<!ENTITY b "c">]>\n<View a="&b;"/>', 2],
])('%j is no XML', (xml, line) => {
  expect(() => readLabelStudioConfig(xml)).toThrow(SyntaxError);
  expect(() => readLabelStudioConfig(xml)).toThrow(`(line ${line})`);
});

/** Each is a text of about so many characters. */
const HOSTILE: [string, (size: number) => string][] = [
  ['open images', (size) => '<Image>'.repeat(size / 7)],
  ['open controls', (size) => '<RectangleLabels>'.repeat(size / 17)],
  ['deep views', (size) => '<View>'.repeat(size / 13) + '</View>'.repeat(size / 13)],
  ['comments', (size) => '<!--'.repeat(size / 4)],
  ['one long attribute', (size) => `<a b="${'<'.repeat(size)}`],
  [
    'attributes',
    (size) => `<a ${Array.from({ length: size / 10 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
  ],
  ['entities', (size) => `<a b="${'&amp;'.repeat(size / 5)}"/>`],
  ['declarations', (size) => `<!DOCTYPE a [${'<!ENTITY a "&a;">'.repeat(size / 17)}]><a/>`],
  [
    'labels',
    (size) => `<RectangleLabels>${'<Label value="a"/>'.repeat(size / 18)}</RectangleLabels>`,
  ],
  [
    'controls and pictures',
    (size) =>
      `<a>${Array.from({ length: size / 75 }, (_, i) => `<Image name="${i}" value="$a"/><RectangleLabels name="${i}" toName="${i}"/>`).join('')}</a>`,
  ],
  [
    'commas',
    (size) =>
      `<a><Image name="i" value="$p"/><RectangleLabels name="b" toName="i"><Label value="a" predicted_values="${','.repeat(size)}"/></RectangleLabels></a>`,
  ],
];

test.each(HOSTILE)('the cost of %s grows with the length of the text', (_, textOf) => {
  const cost = (text: string) => {
    const before = process.cpuUsage();
    try {
      readLabelStudioConfig(text);
    } catch {
      // Most are no XML, which is found at their end.
    }
    return process.cpuUsage(before).user;
  };
  const least = (size: number) => Math.min(...[1, 2].map(() => cost(textOf(size))));
  const small = least(25_000);
  // Eight times the text would be 64 times the cost of a square.
  expect(least(200_000)).toBeLessThan(24 * Math.max(small, 5_000));
});

test.each([
  ['/data/local-files/?d=cameras/north/a%20b.jpg', 'cameras/north/a b.jpg'],
  ['http://studio:8080/data/local-files/?d=a.jpg', 'a.jpg'],
  ['https://studio/labels/data/local-files?d=a.jpg', 'a.jpg'],
  ['cameras/a.jpg', 'cameras/a.jpg'],
  ['/data/upload/1/a.jpg', null],
  ['s3://bucket/a.jpg', null],
  ['https://elsewhere/a.jpg', null],
])('%s is the file %s', (address, path) => {
  expect(localFileOf(address)).toBe(path);
});
