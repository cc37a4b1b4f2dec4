/** Sentences on the images that an answer over jobs leaves out. */

interface Figures {
  pending_images: number;
  removed_images?: number;
  unanswered_images?: number;
}

/** `ofRemoved`: how images count whose results are removed. */
export function leftOutLines(
  {
    pending_images: pending,
    removed_images: removed = 0,
    unanswered_images: unanswered = 0,
  }: Figures,
  ofRemoved: string,
): string[] {
  const sentences: [images: number, sentence: string][] = [
    [pending, `${pending} image(s) have not ended and are not counted yet.`],
    [removed, `The results of ${removed} image(s) are removed: ${ofRemoved}.`],
    [
      unanswered,
      `${unanswered} image(s) are not counted: their boxes cannot answer this question.`,
    ],
  ];
  return sentences.filter(([images]) => images > 0).map(([, sentence]) => sentence);
}
