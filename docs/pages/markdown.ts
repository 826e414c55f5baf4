/** Parts that every generated page uses. */

/** A table. Bars and line breaks inside a cell are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cellOf).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

const cellOf = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim()

export const code = (text: string): string => `\`${text}\``

/** First lines of a page. `source`: the files that the page is made from. */
export function heading(title: string, source: string, lead: string): string {
  return `# ${title}\n\n<!-- Made by docs/generate.ts from ${source}: change that, then run \`npm run generate\`. -->\n\n${lead}`
}

export function page(...parts: string[]): string {
  return `${parts.join('\n\n')}\n`
}

/** 524288 → `524,288`; text stays as it is. */
export function numberText(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(value)
}
