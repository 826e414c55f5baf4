/** What another server answers, as text. Nobody is believed to have so much to say that it fills the memory. */

export class AnswerTooLong extends Error {}

/** Throws AnswerTooLong beyond `bytesMax`, and as reading the answer does. */
export async function answerText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new AnswerTooLong(`its answer has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
