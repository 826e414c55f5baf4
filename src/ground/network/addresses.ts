/** Questions about IP addresses, host names and URLs, and about who may have sent a request. */
import type { IncomingHttpHeaders } from 'node:http'

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

/**
 * What shows that another page sent a request to a loopback port. `host`: a name that only points to this machine, as with DNS rebinding.
 * `origin`: another page. Undefined: nothing does.
 */
export function foreignBy(headers: IncomingHttpHeaders, method: string | undefined): 'host' | 'origin' | undefined {
  const { host: ours = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers
  const host = URL.parse(`http://${ours}`)?.hostname
  if (host === undefined || !isLoopbackName(host)) return 'host'
  // Any program on this machine may serve pages on its own port; only pages of this server are ours.
  const page = origin === undefined ? undefined : hostOf(origin)
  const isForeign = origin !== undefined && (page === undefined || page !== hostOf(`${origin.split(':', 1)[0]}://${ours}`))
  // Browsers that send the origin of a request also send it where Origin is absent. A link may lead here.
  const isFollowed = mode === 'navigate' && (method === 'GET' || method === 'HEAD')
  return isForeign || ((site === 'cross-site' || site === 'same-site') && !isFollowed) ? 'origin' : undefined
}

/** With the port unless it is the default of the scheme; undefined for text that is no http URL, such as null. */
function hostOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.host : undefined
}
