/** IPv6 addresses as numbers. */

/** The eight groups of 16 bits of an IPv6 address without a zone. */
export function ipv6Groups(address: string): number[] {
  // A URL has IPv6 addresses without dots, and with at most one `::`.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const of = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  if (tail === undefined) return of(head)
  const [front, back] = [of(head), of(tail)]
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}
