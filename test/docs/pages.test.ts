/**
 * Every block of the pages that readers try runs as they would run it: the package is installed from its tarball, commands run in the
 * order of the page against a Duelog of its own, TypeScript compiles in a strict project, jobs are planned. Blocks that cannot run say
 * why, and are counted.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { filesIn, readHouseFile } from '../house/tree.ts'
import { modules, packInto, unpackInto } from '../setup/packed.ts'
import { differenceOf, fileNameOf, languages, placeOf, type Snippet, snippetsOf, uncheckedIn } from './snippets.ts'
import { Terminal } from './terminal.ts'

/** Pages without commands to try, and who holds their blocks to the truth. */
const elsewhere: Record<string, string> = {
  'docs/API.md': 'made from the routes',
  'docs/CLI.md': 'made from the commands',
  'docs/JOBS.md': 'its jobs are checked by test/house/documents.test.ts',
  'docs/LIBRARY.md': 'made from the source of the library',
  'docs/LOGS.md': 'made from the events',
  'docs/METRICS.md': 'made from the metrics',
  'docs/PROTOCOL.md': 'tested by the workers of test/examples',
  'docs/BENCHMARKS.md': 'the benchmarks take minutes',
  'docs/OPERATIONS.md': 'needs KEDA and ksqlDB',
  'docs/RELIABILITY.md': 'the faults take minutes',
  'docs/SIZING.md': 'the benchmarks take minutes',
  'docs/TESTING.md': 'tested by test/testing/page.test.ts',
}

const everyPage = [readHouseFile('README.md'), ...filesIn(['docs'], '.md')].filter(({ path }) => !path.startsWith('docs/adr/'))
const pages = everyPage
  .filter(({ path }) => !Object.hasOwn(elsewhere, path))
  .map(({ path, text }) => ({ path, snippets: snippetsOf(path, text) }))
const all = pages.flatMap(({ snippets }) => snippets)
const notRun = all.filter(({ rule }) => rule.kind === 'not-run')

let folder = ''
let tarball = ''
const terminals: Terminal[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-pages-'))
  tarball = await packInto(folder)
  await unpackInto(folder, tarball)
})
afterAll(async () => {
  await Promise.all(terminals.map((terminal) => terminal.close()))
  await rm(folder, { recursive: true, force: true })
})

/** A reader who has the clone in `duelog` and a project beside it, in `my-app`. */
async function readerOf(path: string, beside?: Terminal): Promise<Terminal> {
  const place = join(folder, path.replaceAll('/', '-'))
  const project = join(place, 'my-app')
  await mkdir(join(place, 'duelog'), { recursive: true })
  await symlink(tarball, join(place, 'duelog', basename(tarball)))
  const isTutorial = path === 'docs/TUTORIAL.md'
  if (!isTutorial) {
    await mkdir(project)
    await writeFile(join(project, 'package.json'), '{ "type": "module" }')
    await symlink(join(folder, 'node_modules'), join(project, 'node_modules'))
  }
  const cwd = isTutorial ? join(place, 'duelog') : project
  const terminal = await Terminal.open({
    folder: place,
    cwd,
    ...(beside && { beside }),
    realNpm: isTutorial,
    compiled: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
  })
  terminals.push(terminal)
  return terminal
}

/** For the slowest page, the tutorial, which installs the package from the registry. */
const pageMsMax = 300_000

/** What the page shows of a command, which the next block says; undefined if it shows nothing. */
const shownAfter = (snippets: readonly Snippet[], at: number): Snippet | undefined =>
  snippets[at + 1]?.language === 'text' ? snippets[at + 1] : undefined

async function runCommand(terminal: Terminal, snippet: Snippet, shown: Snippet | undefined): Promise<void> {
  const { rule, code } = snippet
  if (rule.kind === 'system') await terminal.startSystem(code)
  if (rule.kind === 'stays') terminal.stay(code)
  if (rule.kind === 'system' || rule.kind === 'stays') {
    if (shown !== undefined) await terminal.lastWrote((output) => differenceOf(output, shown.code) === undefined)
    return
  }
  const ended = await terminal.run(code)
  const expected = rule.kind === 'exit' ? rule.code : 0
  expect(ended.code, `${placeOf(snippet)} ends with ${ended.code}:\n${ended.stdout}${ended.stderr}`).toBe(expected)
  if (shown === undefined) return
  const output = rule.kind === 'exit' ? ended.stdout + ended.stderr : ended.stdout
  expect(differenceOf(output, shown.code), placeOf(shown)).toBeUndefined()
}

async function planJobs(terminal: Terminal, snippet: Snippet): Promise<void> {
  const values = parseAllDocuments(snippet.code).flatMap((document) => document.toJS() as unknown)
  const answer = await fetch(`${terminal.url}/v1/jobs/plan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jobs: values }),
  })
  const plan = (await answer.json()) as { jobs?: { action: string; problems?: unknown; reason?: string }[] }
  expect(plan.jobs?.length ?? plan, placeOf(snippet)).toBe(values.length)
  for (const job of plan.jobs ?? [])
    expect(job, placeOf(snippet)).toMatchObject({ action: expect.stringMatching(/^(CREATE|UPDATE|UNCHANGED)$/) })
}

const running = pages.filter(({ snippets }) =>
  snippets.some(({ language, rule }) => ['sh', 'json', 'yaml'].includes(language) && rule.kind !== 'not-run'),
)

/** It starts a Duelog in the usual way, and so those after it use the same. */
const firstPage = 'docs/how-to/README.md'
const startsOne = ({ path, snippets }: (typeof running)[number]): boolean =>
  path !== firstPage && snippets.some(({ rule }) => rule.kind === 'system')

async function runPage(terminal: Terminal, snippets: readonly Snippet[]): Promise<void> {
  const project = join(terminal.folder, 'my-app')
  for (const [at, snippet] of snippets.entries()) {
    if (snippet.rule.kind === 'not-run') continue
    const name = fileNameOf(snippet)
    if (name !== undefined) {
      await mkdir(dirname(join(project, name)), { recursive: true })
      await writeFile(join(project, name), terminal.toOurs(snippet.code))
    }
    if (snippet.language === 'sh') await runCommand(terminal, snippet, shownAfter(snippets, at))
    else if (snippet.language === 'json' || snippet.language === 'yaml') await planJobs(terminal, snippet)
  }
  expect(terminal.endedByThemselves()).toEqual([])
}

test.concurrent.for(running.filter(startsOne))(
  '$path',
  { timeout: pageMsMax },
  async ({ path, snippets }, { onTestFinished }) => {
    const terminal = await readerOf(path)
    onTestFinished(() => terminal.close())
    await runPage(terminal, snippets)
  },
)

// One page after the other, as a reader has them.
describe('on one system', () => {
  let system: Terminal
  beforeAll(async () => {
    system = await readerOf(firstPage)
    await runPage(system, running.find(({ path }) => path === firstPage)?.snippets ?? [])
  }, pageMsMax)

  test.for(running.filter((page) => page.path !== firstPage && !startsOne(page)))(
    '$path',
    async ({ path, snippets }, { onTestFinished }) => {
      const terminal = await readerOf(path, system)
      onTestFinished(() => terminal.close())
      await runPage(terminal, snippets)
    },
  )
})

test('all TypeScript of the pages compiles in a strict project of a user', async () => {
  const typed = all.filter(({ language, rule }) => language === 'ts' && rule.kind !== 'not-run')
  expect(typed.length).toBeGreaterThan(3)
  const place = join(folder, 'typed')
  await mkdir(place)
  await writeFile(join(place, 'package.json'), '{ "type": "module" }')
  for (const snippet of typed) {
    const file = join(place, snippet.page.replace(/\W/g, '-'), fileNameOf(snippet) ?? `line-${snippet.line}.ts`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, snippet.code)
  }
  const options = { module: 'nodenext', target: 'es2024', lib: ['es2024'], strict: true, noEmit: true, moduleDetection: 'force' }
  // As `tsc --init` writes them, with the flags that docs/how-to/workers.md gives.
  const init = {
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
  }
  const more = { ...init, allowImportingTsExtensions: true, erasableSyntaxOnly: true, skipLibCheck: true, types: ['node'] }
  const typeRoots = [join(modules, '@types')]
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...more, typeRoots } }))
  const { status, stdout } = spawnSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', place], { encoding: 'utf8' })
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

test('no block is left out silently', () => {
  for (const snippet of all) {
    const { language, rule } = snippet
    if (rule.kind === 'not-run' || language === '') continue
    expect(languages, placeOf(snippet)).toContain(language)
  }
  for (const { snippets } of pages) expect(uncheckedIn(snippets)).toEqual([])
  for (const page of Object.keys(elsewhere)) expect(everyPage.map(({ path }) => path)).toContain(page)
  const pictures = all.filter(({ language }) => language === '')
  const reasons = notRun.map((snippet) => `  ${placeOf(snippet)} ${snippet.rule.kind === 'not-run' ? snippet.rule.reason : ''}`)
  console.log(
    `${all.length - notRun.length - pictures.length} blocks run, ${pictures.length} are pictures, ${notRun.length} do not run:\n${reasons.join('\n')}`,
  )
})
