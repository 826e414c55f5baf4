/**
 * Keeps http targets away from internal addresses: metadata services, link-local networks. A resolved name is checked where the
 * connection is opened, so a name that changes its address in between gains nothing.
 */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../../../ground/clock/index.ts'
import { ipv6Groups } from '../../../ground/network/index.ts'
import { NonRetryableError } from './handler.ts'

export interface AddressGuard {
  /** Why a host that is an address must not be reached. Undefined for allowed ones, and for names, which `lookup` checks. */
  refusalOf(host: string): string | undefined
  /** Resolves a name like the system does. Fails if one of its addresses must not be reached. */
  lookup: LookupFunction
}

export interface AddressGuardOptions {
  /** Addresses, or CIDR such as 10.0.0.0/8. */
  deny: readonly string[]
  /** Exceptions from `deny`. Default: none. */
  allow?: readonly string[]
  /** Addresses of this machine, which are denied if its loopback addresses are. Default: none. */
  own?: () => BlockList
}

/** Throws RangeError for text that is neither an address nor a network. */
export function addressGuard({ deny, allow = [], own = () => nobody }: AddressGuardOptions): AddressGuard {
  const [denied, allowed] = [listOf(deny), listOf(allow)]
  // A rule that denies loopback addresses means this machine, which has other addresses too.
  const deniesOwn = denied.check('127.0.0.1') || denied.check('::1', 'ipv6')
  const isRefused = (address: string): boolean => {
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (allowed.check(address, type)) return false
    return denied.check(address, type) || (deniesOwn && own().check(address, type))
  }
  /** Every address that a gateway or the operating system may derive from this one must be allowed. */
  const refuses = (address: string): boolean => {
    const meanings = meaningsOf(address)
    return meanings.length === 0 || meanings.some(isRefused)
  }
  const refusal = (address: string): string =>
    `http targets must not reach ${address}; DUELOG_HTTP_DENY says so, and DUELOG_HTTP_ALLOW can make an exception`
  return {
    refusalOf(host) {
      const address = host.replace(/^\[|\]$/g, '')
      return isIP(address) !== 0 && refuses(address) ? refusal(address) : undefined
    },
    lookup: (hostname, options, callback) =>
      systemLookup(hostname, options, (error, found, family) => {
        const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address)
        const refused = error ? undefined : addresses.find(refuses)
        if (refused !== undefined) callback(new NonRetryableError(`${refusal(refused)} (${hostname})`), found, family)
        else callback(error, found, family)
      }),
  }
}

const nobody = new BlockList()

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix, ...rest] = network.trim().split('/')
    const family = isIP(address)
    if (family === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix)))
      throw new RangeError(`${network} is neither an address nor a network such as 10.0.0.0/8`)
    const type = family === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, type)
    else list.addSubnet(address, Number(prefix), type)
  }
  return list
}

/** Maximum age of the list of own addresses, ms: with many interfaces, reading them takes milliseconds. */
const ownAgeMsMax = 1_000

/** The addresses of this machine, on all its interfaces. Public ones also lead to services that listen here. */
export function ownAddresses(clock: Pick<Clock, 'steadyMs'>, read = networkInterfaces): () => BlockList {
  let known = new BlockList()
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.steadyMs() - readAt < ownAgeMsMax) return known
    known = new BlockList()
    for (const { address, family } of Object.values(read()).flatMap((addresses) => addresses ?? []))
      known.addAddress(address.split('%', 1)[0] ?? '', family === 'IPv6' ? 'ipv6' : 'ipv4')
    readAt = clock.steadyMs()
    return known
  }
}

/**
 * The address without its zone, and each IPv4 address embedded in it; empty for text that is no address. IPv6 has several ways to
 * embed an IPv4 address, and gateways, tunnels and the operating system follow them. A rule that denies an IPv4 address has to
 * deny all of these.
 */
export function meaningsOf(address: string): string[] {
  const [bare = ''] = address.split('%', 1)
  const family = isIP(bare)
  if (family !== 6) return family === 4 ? [bare] : []
  return [bare, ...embeddedIn(ipv6Groups(bare))]
}

function embeddedIn(groups: readonly number[]): string[] {
  const at = (index: number): number => groups[index] ?? 0
  const starts = (...wanted: number[]): boolean => wanted.every((group, index) => at(index) === group)
  const ipv4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const last = ipv4(at(6), at(7))
  const found: string[] = []
  // IPv4-mapped, -compatible and -translated: ::ffff:a.b.c.d, ::a.b.c.d, ::ffff:0:a.b.c.d.
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0)) found.push(last)
  if (starts(0, 0, 0, 0, 0, 0) && at(6) !== 0) found.push(last)
  // NAT64: the well-known prefix, and that of a site, where the address follows 96 bits, or 48 bits and is split around eight
  // zero bits.
  if (starts(0x64, 0xff9b, 0, 0, 0, 0)) found.push(last)
  if (starts(0x64, 0xff9b, 1)) found.push(last, ipv4(at(3), ((at(4) & 255) << 8) | (at(5) >> 8)))
  // 6to4.
  if (starts(0x2002)) found.push(ipv4(at(1), at(2)))
  // Teredo: its server, and the client with all bits inverted.
  if (starts(0x2001, 0)) found.push(ipv4(at(2), at(3)), ipv4(at(6) ^ 0xffff, at(7) ^ 0xffff))
  // ISATAP, in any network.
  if ((at(4) & 0xfdff) === 0 && at(5) === 0x5efe) found.push(last)
  return found
}
