/** The tests on the page TESTING are real ones: they compile and pass as they stand there. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { blocksOf } from '../house/documents.ts'
import { readHouseFile } from '../house/tree.ts'
import { duelogEnvironment } from '../setup/environment.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

it('has tests that compile and pass', async () => {
  const blocks = blocksOf(readHouseFile('docs/TESTING.md').text, 'ts')
  expect(blocks.length).toBeGreaterThanOrEqual(5)
  const folder = await mkdtemp(join(tmpdir(), 'testing-page-'))
  try {
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules', 'duelog'))
    const files = blocks.map((_, at) => join(folder, `block-${at}.test.ts`))
    await Promise.all(blocks.map((block, at) => writeFile(files[at] as string, block)))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    const typeRoots = [join(root, 'node_modules/@types')]
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions: { typeRoots }, include: ['*.ts'] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const told = (error: { stdout?: string }): { stdout: string } => ({ stdout: error.stdout ?? String(error) })
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    expect((await run(process.execPath, [compiler, '-p', folder]).catch(told)).stdout).toBe('')
    // The runner marks its children by NODE_TEST_CONTEXT, which would change what they print.
    const { NODE_TEST_CONTEXT: _, ...env } = duelogEnvironment()
    const { stdout } = await run(process.execPath, ['--test', '--test-isolation=none', '--test-reporter=tap', ...files], {
      env,
    }).catch(told)
    expect(stdout).toContain('\n# fail 0\n')
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(6)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
