/** Classification of addresses in all notations, and which may be reached. */
import { BlockList } from 'node:net'
import type { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/ground/config/config.ts'
import { addressGuard, meaningsOf, ownAddresses } from '../../../src/worker/executor/handlers/address-guard.ts'

describe('an address has inside', () => {
  it.each([
    ['8.8.8.8', []],
    ['2606:4700::1111', []],
    ['::1', []],
    ['::', []],
    ['::ffff:10.0.0.1', ['10.0.0.1']],
    ['::ffff:a00:1', ['10.0.0.1']],
    ['::10.0.0.1', ['10.0.0.1']],
    ['::ffff:0:10.0.0.1', ['10.0.0.1']],
    ['64:ff9b::10.0.0.1', ['10.0.0.1']],
    ['64:ff9b:1::a00:1', ['10.0.0.1', '0.0.0.0']],
    ['64:ff9b:1:a00:0:100::', ['0.0.0.0', '10.0.0.1']],
    ['2002:a00:1::7', ['10.0.0.1']],
    ['2001:0:a00:1::f5ff:fffe', ['10.0.0.1', '10.0.0.1']],
    ['2a00:1::5efe:a00:1', ['10.0.0.1']],
    ['2a00:1::200:5efe:10.0.0.1', ['10.0.0.1']],
  ])('%s: %j', (address, inside) => {
    expect(meaningsOf(address)).toEqual([address, ...inside])
  })

  it('no zone, which is not part of it, and nothing where it is none', () => {
    expect(meaningsOf('fe80::1%eth0')).toEqual(['fe80::1'])
    for (const text of ['', 'localhost', '127.1', '::g', '1.2.3.4.5']) expect(meaningsOf(text)).toEqual([])
  })
})

describe('what is denied', () => {
  it('is denied inside another address too, however short the list', () => {
    const { refusalOf } = addressGuard({ deny: ['10.0.0.0/8'] })
    for (const host of ['10.1.2.3', '[::ffff:10.1.2.3]', '[::10.1.2.3]', '[64:ff9b::10.1.2.3]', '[2002:a01:203::1]'])
      expect(refusalOf(host), host).toMatch('DUELOG_HTTP_DENY')
    for (const host of ['11.1.2.3', '[::ffff:11.1.2.3]', '[64:ff9b::11.1.2.3]', 'a.example.org'])
      expect(refusalOf(host), host).toBeUndefined()
  })

  it('is, where loopback is, each address of this machine', () => {
    const own = new BlockList()
    own.addAddress('203.0.114.7')
    own.addAddress('2a00:1::7', 'ipv6')
    const deny = ['127.0.0.0/8']
    const { refusalOf } = addressGuard({ deny, own: () => own })
    for (const host of ['203.0.114.7', '[::ffff:203.0.114.7]', '[2a00:1::7]', '[2a00:1:0:0::7]'])
      expect(refusalOf(host)).toMatch('DUELOG_HTTP_ALLOW')
    expect(refusalOf('203.0.114.8')).toBeUndefined()
    expect(addressGuard({ deny, allow: ['203.0.114.7'], own: () => own }).refusalOf('203.0.114.7')).toBeUndefined()
    expect(addressGuard({ deny: ['10.0.0.0/8'], own: () => own }).refusalOf('203.0.114.7')).toBeUndefined()
  })

  it('is, by default, nothing that is public', () => {
    const { httpDeny: deny } = readConfig({})
    const { refusalOf } = addressGuard({ deny })
    for (const host of ['1.1.1.1', '[2606:4700:4700::1111]', '[2a00:1450:4001:80b::200e]', '[::ffff:1.1.1.1]', '172.32.0.1'])
      expect(refusalOf(host), host).toBeUndefined()
  })

  it('is judged by what a name resolves to, also where that is no address', async () => {
    const { lookup } = addressGuard({ deny: ['127.0.0.0/8', '::1'] })
    const refused = await new Promise((resolve) => lookup('localhost', { all: true }, (error) => resolve(error)))
    expect(refused).toMatchObject({ name: 'NonRetryableError', message: /localhost/ })
  })
})

describe('the addresses of this machine', () => {
  it('are read again after a second, without their zones', () => {
    let reads = 0
    let steadyMs = 5
    const interfaces = { eth0: [{ address: `10.0.0.${reads}`, family: 'IPv4' }] }
    const read = () => {
      reads++
      return { ...interfaces, tun0: [{ address: `fe80::${reads}%tun0`, family: 'IPv6' }] } as unknown as ReturnType<
        typeof networkInterfaces
      >
    }
    const own = ownAddresses({ steadyMs: () => steadyMs }, read)
    expect(own().check('fe80::1', 'ipv6')).toBe(true)
    steadyMs += 999
    expect(own().check('fe80::2', 'ipv6')).toBe(false)
    steadyMs += 1
    expect(own().check('fe80::2', 'ipv6')).toBe(true)
    expect(own().check('10.0.0.0')).toBe(true)
    expect(reads).toBe(2)
  })
})
