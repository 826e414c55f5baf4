/**
 * `npm test`: types, lint, the cost of the client, then every test. The last line is `N passed, N failed`. The exit code is 0 only
 * if nothing failed and at least one test ran. A type error, a lint error or a client that costs more counts as one failure each.
 * Arguments go to vitest (`npm test -- test/store`); then the cost is not measured, as in the long run (`npm run test:long`).
 *
 * The tests start some 1,000 Node processes. They share one cache of compiled code, which halves the processor time of each start.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Counts, countsOf, lineOf, storiesOf, type VitestReport } from './setup/counts.ts'
import { isLong } from './setup/long.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const programs = join(root, 'node_modules')

/** Runs a script with this Node, its output on ours. Resolves with whether it succeeded. */
function succeeds(script: string, args: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0))
  })
}

async function testCounts(args: string[]): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-report-'))
  const file = join(folder, 'report.json')
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled')
  try {
    const passed = await succeeds(join(programs, 'vitest/vitest.mjs'), [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      ...args,
    ])
    const report = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as VitestReport,
      () => undefined,
    )
    for (const line of storiesOf(report)) console.log(line)
    return countsOf(report, passed)
  } finally {
    // A process that a test killed may still write to the cache. What is left lies in the system's temporary folder.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }).catch(() => undefined)
  }
}

interface Gate {
  name: string
  script: string
  args: string[]
}

const gates: Gate[] = [
  { name: 'types', script: join(programs, 'typescript/bin/tsc'), args: [] },
  { name: 'types of the dashboard', script: join(programs, 'typescript/bin/tsc'), args: ['-p', 'src/clients/dashboard'] },
  { name: 'lint', script: join(programs, '@biomejs/biome/bin/biome'), args: ['check', '.'] },
]
let gatesFailed = 0
const passGate = async ({ name, script, args }: Gate): Promise<void> => {
  if (await succeeds(script, args)) console.log(`${name}: clean`)
  else {
    console.error(`${name}: failed`)
    gatesFailed++
  }
}
await Promise.all(gates.map(passGate))
// It compares processor times, which are those of a quiet machine only when it runs alone.
if (process.argv.length === 2 && !isLong)
  await passGate({ name: 'cost of the client', script: join(root, 'bench/check.ts'), args: [] })
const counts = await testCounts(process.argv.slice(2))
counts.failed += gatesFailed
process.exitCode = counts.failed > 0 ? 1 : 0
console.log(lineOf(counts))
