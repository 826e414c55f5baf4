/** Cuts text to a number of UTF-16 code units without half of a character, which UTF-8 cannot encode. */

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** At most `charsMax` code units. A character of two that would be cut in half is left out; lone halves of others are replaced. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text.toWellFormed()
  const end = charsMax > 0 && isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax
  return text.slice(0, end).toWellFormed()
}
