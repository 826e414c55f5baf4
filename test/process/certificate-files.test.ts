/** Files of certificates that are replaced, one after the other, while a process runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { certificatesFrom } from '../../src/ground/process/secret-files.ts'
import { newAuthority } from '../tools/certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-certificate-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

const [ours, others] = [newAuthority(folder, 'ours'), newAuthority(folder, 'others')]
const [first, second] = [ours.sign('first'), ours.sign('second')]
const place = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('new files are used as soon as certificate and key belong together', () => {
  const files = { caFile: ours.caFile, certFile: place('cert', first.cert), keyFile: place('key', first.key) }
  const now = certificatesFrom(files)
  const before = now()
  expect(before).toEqual({ ca: ours.ca, cert: first.cert, key: first.key })
  expect(now()).toBe(before)
  place('key', second.key)
  expect(now()).toBe(before)
  place('cert', second.cert)
  expect(now()).toEqual({ ca: ours.ca, cert: second.cert, key: second.key })
})

test('files that are absent, or not written to their end, leave those before', () => {
  const now = certificatesFrom({
    caFile: place('ca', ours.ca),
    certFile: place('cert', first.cert),
    keyFile: place('key', first.key),
  })
  const before = now()
  rmSync(join(folder, 'key'))
  expect(now()).toBe(before)
  place('key', first.key)
  for (const [name, whole] of [
    ['ca', others.ca],
    ['cert', second.cert],
    ['key', second.key],
  ] as const) {
    place(name, whole.slice(0, whole.length / 2))
    expect(now(), name).toBe(before)
    place(name, '')
    expect(now(), name).toBe(before)
    place(name, { ca: ours.ca, cert: first.cert, key: first.key }[name])
  }
  place('ca', others.ca)
  expect(now()).toEqual({ ca: others.ca, cert: first.cert, key: first.key })
})

test('the first use says which file is absent, and texts stay as they are', () => {
  expect(certificatesFrom({ caFile: join(folder, 'nothing') })).toThrow(/ENOENT.*nothing/)
  const texts = { ca: 'PEM' }
  expect(certificatesFrom(texts)()).toBe(texts)
  expect(certificatesFrom(undefined)()).toBeUndefined()
})
