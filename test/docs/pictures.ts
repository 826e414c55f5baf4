/** What is wrong with the pictures of the documents: links that lead nowhere, missing descriptions, SVG that is not well-formed or unsafe. */

export interface Picture {
  page: string
  alt: string
  target: string
}

/** Pictures of a page, without those of other sites. */
export function picturesOf(page: string, text: string): Picture[] {
  const found = text.matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)
  return Array.from(found, ([, alt = '', target = '']) => ({ page, alt, target })).filter(
    ({ target }) => !/^https?:/.test(target),
  )
}

/** Why the text is no well-formed, self-contained picture; empty if it is. */
export function svgProblems(text: string): string[] {
  const problems = wellFormedProblem(text)
  if (!/^<svg [^>]*viewBox="0 0 \d+ \d+"[^>]*>/.test(text)) problems.push('begins with no svg that has a viewBox')
  if (!/^<svg [^>]*role="img"[^>]*aria-label="[^"]{20,}"/.test(text)) problems.push('has no role img with a label of a sentence')
  if (/<script|<foreignObject|\son\w+=|\bhref=|url\((?!#)|@import/i.test(text))
    problems.push('refers to something outside, or runs code')
  if (text.includes('<rect') && !text.includes('prefers-color-scheme:dark')) problems.push('has no colors for dark pages')
  return problems
}

function wellFormedProblem(text: string): string[] {
  const open: string[] = []
  const tag = /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/y
  let at = 0
  while (at < text.length) {
    const next = text.indexOf('<', at)
    const between = text.slice(at, next < 0 ? undefined : next)
    if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i.test(between)) return [`has a bare & after ${at}`]
    if (open.length === 0 && between.trim() !== '') return [`has text outside of its root at ${at}`]
    if (next < 0) break
    tag.lastIndex = next
    const [whole, end, name = '', attributes = '', empty] = tag.exec(text) ?? []
    if (whole === undefined) return [`has no well-formed tag at ${next}`]
    const names = Array.from(attributes.matchAll(/([\w:-]+)=/g), ([, attribute]) => attribute)
    if (new Set(names).size < names.length) return [`has an attribute twice at ${next}`]
    if (end === '/' && open.pop() !== name) return [`closes ${name} at ${next}, which is not the last open one`]
    if (end === '' && empty === '') open.push(name)
    at = next + whole.length
  }
  return open.length === 0 ? [] : [`leaves ${open.join(', ')} open`]
}
