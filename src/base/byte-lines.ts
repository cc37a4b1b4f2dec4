/** The lines of a UTF-8 text that comes in chunks, without their ends; an empty last line is none. */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const chunk of chunks) {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    yield* lines;
  }
  begun += decoder.decode();
  if (begun !== '') yield begun;
}
