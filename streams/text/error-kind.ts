/** The kind of an error: the same text for errors that differ only in numbers and ids. */

/** Longest kind, in characters. Type and message are read up to four times as far. */
export const errorKindChars = 120
const readChars = 4 * errorKindChars

/** Base64 has `+` and `/` within, so it would be several words. Paths look alike, but rarely change between upper case, lower case and digits. */
const longWord = /[A-Za-z0-9+/_-]{16,}={0,2}/g
const word = /[\p{L}\p{N}_-]+/gu
const statusCode = /^[1-5]\d\d$/
/** What stands before a status code of HTTP, such as `HTTP/1.1 `, `status code: ` or `answered `. */
const beforeStatusCode = /(?:http[\w./]{0,12}|status|code|answered)[ :=(]{1,3}$/i

/** Words with a digit become `#`, but status codes of HTTP stay: 429 and 503 are different errors. */
export function errorKindOf({ type, message }: { type: string; message: string }): string {
  const whole = `${type.slice(0, readChars)}: ${message.slice(0, readChars)}`
  const withoutIds = whole.replace(longWord, (found) => (isMixed(found) ? '#' : found))
  const masked = withoutIds.replace(word, (found, at: number) => {
    if (!/\d/.test(found)) return found
    if (/^http[_-]?[1-5]\d\d$/i.test(found)) return found
    return statusCode.test(found) && beforeStatusCode.test(withoutIds.slice(Math.max(0, at - 20), at)) ? found : '#'
  })
  // It is cut afterwards, so that ids of different lengths leave the same words.
  return masked.slice(0, errorKindChars)
}

function isMixed(text: string): boolean {
  const classes = [...text]
    .map((char) => (/[a-z]/.test(char) ? 'a' : /[A-Z]/.test(char) ? 'A' : /\d/.test(char) ? '0' : ''))
    .filter((each) => each !== '')
  return classes.filter((each, at) => at > 0 && each !== classes[at - 1]).length > text.length / 3
}
