/** The Java machine's class archive is used once it is whole, and made by the machine that has none. */
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { classArchiveArguments } from '../../src/program/embedded/java.ts'
import { temporaryFolder } from './harness.ts'

test('an archive is made if there is none, and used when it is complete, only by the same Java version', async () => {
  const folder = await temporaryFolder()
  const [make = ''] = await classArchiveArguments(folder, 'openjdk 17')
  const file = make.replace('-XX:ArchiveClassesAtExit=', '')
  expect(file.startsWith(join(folder, 'classes-'))).toBe(true)
  await writeFile(file, '')
  // Cut off before its header was written.
  await truncate(file, 1_000)
  expect((await classArchiveArguments(folder, 'openjdk 17'))[0]).toBe(make)
  await writeFile(file, Buffer.from([0xa8, 0xba, 0x0b, 0xf0, 1]))
  expect((await classArchiveArguments(folder, 'openjdk 17'))[0]).toBe(`-XX:SharedArchiveFile=${file}`)
  expect((await classArchiveArguments(folder, 'openjdk 21'))[0]).toMatch(/^-XX:ArchiveClassesAtExit=/)
})
