/** Requests that a web page of another origin may have sent: a browser on this machine reaches its loopback ports too. */
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopbackName } from './addresses.ts'

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
