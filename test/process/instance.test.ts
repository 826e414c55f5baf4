import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { advertised, firstStarted, newInstance } from '../../src/ground/process/instance.ts'

test('the advertised address is the one where this process listens, or the configured one', () => {
  expect(advertised(undefined, 'http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080')
  expect(advertised(undefined, 'http://[fd00::7]:8080')).toBe('http://[fd00::7]:8080')
  expect(advertised('https://duelog-0.example.org', 'http://0.0.0.0:8080')).toBe('https://duelog-0.example.org')
})

test('an address for all interfaces is advertised as the host name', () => {
  expect(advertised(undefined, 'http://0.0.0.0:8080')).toBe(`http://${hostname()}:8080`)
  expect(advertised(undefined, 'http://[::]:8080')).toBe(`http://${hostname()}:8080`)
})

test('the address contains nothing else', () => {
  expect(readConfig({ DUELOG_ADVERTISED_URL: 'http://duelog-0:8080/' }).advertisedUrl).toBe('http://duelog-0:8080')
  for (const url of ['duelog-0:8080', 'http://duelog-0/path', 'ftp://duelog-0'])
    expect(() => readConfig({ DUELOG_ADVERTISED_URL: url })).toThrow('DUELOG_ADVERTISED_URL')
})

test('of several processes, the first started is known from their names', () => {
  const [now, later] = [newInstance('z'), 'a@host:1:zzzzzzzz-000000']
  expect(firstStarted([later, now])).toBe(now)
  expect(firstStarted([now, later])).toBe(now)
  expect(firstStarted([])).toBeUndefined()
})
