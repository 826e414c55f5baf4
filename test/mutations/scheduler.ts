/**
 * Mutations of the scheduler and its rules, one by one, each judged by the tests that need no broker: by hand or nightly, not in CI.
 *
 *   node test/mutations/scheduler.ts                 all, each against test/streams, test/scheduler and test/model
 *   node test/mutations/scheduler.ts leases-deaf     those whose names are given
 *
 * DUELOG_MODEL_HISTORIES and DUELOG_MODEL_FIRST_SEED bound the seeds. It works in a copy of the project beside the temporary files, and
 * ends with code 1 when one survives. A text that no longer stands in its file is reported, so that the list does not rot.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutations } from './scheduler-list.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wanted = process.argv.slice(2)
const copy = mkdtempSync(join(tmpdir(), 'duelog-mutations-'))
for (const room of ['schemas', 'streams', 'src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
  cpSync(join(root, room), join(copy, room), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
const outcomes: string[] = []
try {
  for (const { name, file, find, replace, why } of mutations) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    if (text.split(find).length !== 2) outcomes.push(`lost      ${name}: its text does not stand once in ${file}`)
    else {
      writeFileSync(
        path,
        text.replace(find, () => replace),
      )
      outcomes.push(`${judged()} ${name}: ${why}`)
      writeFileSync(path, text)
    }
    console.log(outcomes.at(-1))
  }
} finally {
  rmSync(copy, { recursive: true })
}
const count = (what: string): number => outcomes.filter((outcome) => outcome.startsWith(what)).length
console.log(`${count('killed')} killed, ${count('survived')} survived, ${count('lost')} lost`)
process.exitCode = count('survived') + count('lost') > 0 ? 1 : 0

/** Which test fails first, and with which seed. The directed tests cost little, so they come before the seeds. */
function judged(): string {
  return ['test/streams', 'test/scheduler', 'test/model'].reduce(
    (said, room) => (said.startsWith('survived') ? judgedBy(room) : said),
    'survived ',
  )
}

function judgedBy(room: string): string {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    NO_COLOR: '1',
    DUELOG_TEST_BROKERS: '127.0.0.1:1',
    DUELOG_TEST_REGISTRY: 'http://127.0.0.1:1',
  }
  const options = { cwd: copy, env, encoding: 'utf8' as const, maxBuffer: 64 * 1024 * 1024, timeout: 600_000 }
  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--bail=1', '--reporter=dot', room],
    options,
  )
  if (status === 0) return 'survived '
  const said = stdout + stderr
  const [, seed] = /seed (\d+):/.exec(said) ?? []
  const [, test] = /FAIL\s+(.*)/.exec(said) ?? []
  return `killed    (${seed === undefined ? (test ?? 'it hangs') : `seed ${seed}`})`
}
