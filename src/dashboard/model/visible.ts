/** Text of others made safe to read: control and direction characters are shown, as they could hide or reorder what stands beside them. */

/** Controls, soft hyphen, zero-width space, line separators, and all that change the direction of text. Joiners stay, because scripts and emoji need them. */
const unseen =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const lineBreaks = /[\n\t]/

/** `U+202E` becomes `⟨202E⟩`. With `lines`, line breaks and tabs stay. */
export const visible = (text: string, lines = false): string =>
  text.replace(unseen, (character) => {
    if (lines && lineBreaks.test(character)) return character
    return `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
