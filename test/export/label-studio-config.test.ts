import { expect, test } from 'vitest';
import { localFileOf, readLabelStudioConfig } from '../../src/export/label-studio-config.js';

const CONFIG = `<View>
  <!-- <RectangleLabels name="old" toName="img"><Label value="Old"/></RectangleLabels> -->
  <Header value="Vehicles &amp; more"/>
  <Image name="img" value="$photo" zoom="true"/>
  <RectangleLabels name="boxes" toName="img">
    <Label value="Car" background="green"/>
    <Label value='Heavy "goods"' predicted_values="truck, bus"></Label>
  </RectangleLabels>
</View>`;

test('names of tags, the field of the picture and the labels of classes', () => {
  const config = readLabelStudioConfig(CONFIG)!;
  expect(config).toMatchObject({ from: 'boxes', to: 'img', field: 'photo' });
  const labels = ['car', 'CAR', 'truck', 'bus', 'motorcycle', 'old'].map((name) =>
    config.labelOf({ class: name }),
  );
  expect(labels).toEqual(['Car', 'Car', 'Heavy "goods"', 'Heavy "goods"', undefined, undefined]);
});

test.each([
  '',
  'no xml',
  '<View><Image name="img" value="$photo"/></View>',
  '<View><RectangleLabels name="b" toName="img"><Label value="car"/></RectangleLabels></View>',
  '<View><Image name="other" value="$p"/><RectangleLabels name="b" toName="img"/></View>',
  '<View><Image name="img" value="fixed.jpg"/><RectangleLabels name="b" toName="img"/></View>',
])('%j has no boxes on a picture', (xml) => {
  expect(readLabelStudioConfig(xml)).toBeNull();
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
