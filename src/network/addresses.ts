/** Questions about IP addresses, host names and URLs. */

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

/** `name`: the host of a URL, with or without the brackets of an IPv6 address. */
export function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
  )
}

/** Whether a URL has a user or a password before its host. False for text that is no URL. */
export function hasUser(url = ''): boolean {
  if (!URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}
