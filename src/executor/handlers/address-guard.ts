/**
 * Keeps http targets away from internal addresses: metadata services, link-local networks. A resolved name is checked where the
 * connection is opened, so a name that changes its address in between gains nothing.
 */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { meaningsOf } from './embedded-addresses.ts'
import { NonRetryableError } from './handler-errors.ts'

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
