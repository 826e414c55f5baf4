/** A text without the characters that end it. An expression that looks for them begins anew at each, which takes quadratic time. */

export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
