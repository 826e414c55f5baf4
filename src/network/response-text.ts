/** The body of a response as text, with a limit, so that a large one does not fill the memory. */

export class AnswerTooLong extends Error {}

/** Throws AnswerTooLong beyond `bytesMax`, and the errors of reading the body. */
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
