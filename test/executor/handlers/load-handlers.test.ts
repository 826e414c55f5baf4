import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadHandlers } from '../../../src/worker/executor/handlers/load-handlers.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-handlers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function moduleOf(name: string, source: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, source)
  return path
}

it('takes named exports and those of a default object, by absolute or relative path', async () => {
  const path = await moduleOf('both.mjs', `export const greet = () => 'hello'; export default { 'send-report': async () => 1 }`)
  expect(Object.keys(await loadHandlers(path)).sort()).toEqual(['greet', 'send-report'])
  expect(Object.keys(await loadHandlers(relative(process.cwd(), path))).sort()).toEqual(['greet', 'send-report'])
})

it('takes a CommonJS module', async () => {
  const path = await moduleOf('common.cjs', `module.exports = { greet: () => 'hello', 'send-report': () => 1 }`)
  expect(Object.keys(await loadHandlers(path)).sort()).toEqual(['greet', 'send-report'])
})

it.each([
  ['missing.mjs', undefined, /there is no module at .*missing\.mjs/],
  ['broken.mjs', 'export const =', /could not be loaded/],
  ['throws.mjs', `throw new Error('no database')`, /could not be loaded: no database/],
  ['imports.mjs', `import 'no-such-package-here'`, /could not be loaded: .*no-such-package-here/],
  ['reserved.mjs', 'export const log = () => 1', /handler "log" has the name of a built-in one/],
  ['value.mjs', 'export const greet = 42', /export "greet" of .* is a number, not a function/],
  ['default.mjs', 'export default 42', /the default export of .* is a number; make it an object/],
  ['empty.mjs', '', /exports no handler/],
])('refuses %s with a sentence', async (name, source, message) => {
  const path = source === undefined ? join(folder, name) : await moduleOf(name, source)
  await expect(loadHandlers(path)).rejects.toMatchObject({ code: 'bad-config', message: expect.stringMatching(message) })
})

it.each([
  ['line.mjs', 'export const a = () => 1\nexport const b = (\n  => 2\n', 3],
  ['type.ts', 'export const a = () => 1\nexport const b: = 5\n', 2],
  ['throws-late.mjs', `\n\nthrow new Error('no database')`, 3],
])('names the line of the error in %s', async (name, source, line) => {
  const path = await moduleOf(name, source)
  // In Node itself, because the tests' own loader has other errors.
  const program = `import { loadHandlers } from './src/worker/executor/handlers/load-handlers.ts'; await loadHandlers(process.argv[1]).catch((error) => console.log(error.message))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, path])
  expect(stdout).toMatch(new RegExp(`could not be loaded: .* \\(${path}:${line}(:\\d+)?\\)\n$`))
})
