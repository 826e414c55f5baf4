import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import pkg from '../../package.json' with { type: 'json' }
import { settingByName } from '../../src/ground/config/settings.ts'
import { programOf } from '../../src/program/cli/program.ts'
import { definitionFromJson } from '../../streams/definitions/definition-json.ts'
import { adrProblems, blocksOf, brokenLinks, brokenPaths, settingsIn, typedIn } from './documents.ts'
import { filesIn, readHouseFile } from './tree.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const exists = (path: string): boolean => existsSync(join(root, path))
const readme = readHouseFile('README.md')
const top = ['README.md', 'CHANGELOG.md', 'AGENTS.md', 'CONTRIBUTING.md', 'SECURITY.md'].map(readHouseFile)
const documents = [...top, ...filesIn(['docs'], '.md')]
const adrs = documents.filter(({ path }) => /^docs\/adr\/\d/.test(path))
const index = readHouseFile('docs/adr/README.md').text

test('every command that a document names exists', () => {
  const silent = { write: () => true }
  const commands = programOf({ stdout: silent, stderr: silent, env: {} }, () => {}).commands.map((command) => command.name())
  for (const { path, text } of documents) {
    const typed = typedIn(text)
    expect(Object.keys(pkg.scripts), path).toEqual(expect.arrayContaining(typed.scripts))
    expect(commands, path).toEqual(expect.arrayContaining(typed.commands))
  }
  expect(typedIn(readme.text).scripts).toEqual(expect.arrayContaining(['start', 'demo', 'test', 'bench', 'generate']))
})

test('every link and every named path exists', () => {
  expect(brokenLinks([...documents, ...filesIn(['examples'], '.md')], exists)).toEqual([])
  expect(brokenPaths(documents, exists)).toEqual([])
})

test('each page that is read in order names the next one', () => {
  const inOrder = /^docs\/(how-to\/(?!README)|(TUTORIAL|CONCEPTS|TESTING|TROUBLESHOOTING|DEPLOYMENT)\.md)/
  const pages = documents.filter(({ path }) => inOrder.test(path))
  expect(pages.length).toBeGreaterThanOrEqual(19)
  expect(pages.filter(({ text }) => !/^Next: \[[^\]]+\]\(\S+\.md\)/m.test(text)).map(({ path }) => path)).toEqual([])
})

test('decisions have unique numbers, four parts, and a line in the index', () => {
  expect(adrs.length).toBeGreaterThanOrEqual(15)
  expect(adrProblems(adrs, index)).toEqual([])
})

test('no entry of the changelog is there twice', () => {
  const entries = readHouseFile('CHANGELOG.md')
    .text.split('\n')
    .filter((line) => line.startsWith('- '))
  const begins = entries.map((entry) => entry.slice(0, 80))
  expect(begins.filter((begin, at) => begins.indexOf(begin) !== at)).toEqual([])
})

/** The names that are part of the contract with users. */
const promised = [
  ...['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
  ...['KAFKA_SSL_ENABLED', 'KAFKA_SSL_CA_FILE', 'KAFKA_SSL_CERT_FILE', 'KAFKA_SSL_KEY_FILE'],
  ...['DUELOG_ROLES', 'DUELOG_HTTP_HOST', 'DUELOG_HTTP_PORT', 'DUELOG_DATA_DIR', 'DUELOG_EMBEDDED_KAFKA_PORT'],
  ...['DUELOG_EMBEDDED_REGISTRY_PORT', 'DUELOG_TOPIC_PREFIX', 'DUELOG_PARTITIONS', 'DUELOG_HANDLERS', 'DUELOG_POOLS'],
  ...['DUELOG_CONCURRENCY', 'DUELOG_API_TOKENS'],
]

test('every promised setting exists, and so does every setting that a document names', () => {
  const known = [...settingByName.keys()]
  expect(known).toEqual(expect.arrayContaining(promised))
  const named = [...documents, ...filesIn(['src', 'streams', 'schemas'])].flatMap(({ path, text }) =>
    settingsIn(text).map((name) => ({ path, name })),
  )
  const container = filesIn(['docker'], '').flatMap(({ path, text }) => settingsIn(text).map((name) => ({ path, name })))
  const ours = container.filter(({ name }) => name.startsWith('DUELOG_'))
  expect([...named, ...ours].filter(({ name }) => !settingByName.has(name))).toEqual([])
})

test('every job in a document is valid', () => {
  const jobs = documents.flatMap(({ path, text }) =>
    blocksOf(text, 'json').map((block) => ({ path, json: JSON.parse(block) as Record<string, unknown> })),
  )
  expect(jobs.length).toBeGreaterThanOrEqual(4)
  for (const { path, json } of jobs) expect(definitionFromJson(json, { idRequired: true }), path).toMatchObject({ ok: true })
  const sent = /-d '\s*(\{.*?\})'/s.exec(readme.text)?.[1] ?? ''
  expect(definitionFromJson(JSON.parse(sent))).toMatchObject({ ok: true })
})

test('the TypeScript of the README compiles in a user project', async () => {
  const blocks = blocksOf(readme.text, 'ts')
  expect(blocks).toHaveLength(2)
  // The folder is inside the project, so that the package can import itself by its own name.
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'readme-'))
  try {
    await Promise.all(blocks.map((block, at) => writeFile(join(folder, `block-${at}.ts`), block)))
    const config = { extends: '../../../tsconfig.json', compilerOptions: { typeRoots: ['../../@types'] }, include: ['*.ts'] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('red: a command, a link, a path and a setting that do not exist', () => {
  const text = 'Run `npm run dmeo` and `duelog fly`, see [x](docs/NO.md), `scheduler/no.ts` and DUELOG_PORTS; `npm start`.'
  expect(typedIn(text)).toEqual({ scripts: ['dmeo', 'start'], commands: ['fly'] })
  expect(brokenLinks([{ path: 'docs/A.md', text: '[x](NO.md) [y](../README.md#top) [z](https://a.b)' }], exists)).toEqual([
    'docs/A.md → NO.md',
  ])
  expect(brokenPaths([{ path: 'README.md', text }], exists)).toEqual(['README.md → scheduler/no.ts'])
  expect(settingsIn(text).filter((name) => !settingByName.has(name))).toEqual(['DUELOG_PORTS'])
})

test('red: decisions with a duplicate number, a missing part, a wrong title, and a wrong place in the index', () => {
  const whole = (number: string): string => `# ${number} A\n\n## Context\n\n## Decision\n\n## Alternatives\n\n## Consequences\n`
  const list = '## X\n\n- [0003 C](0003-c.md)\n- [0001 A](0001-a.md)\n\n## Y\n\n- [0001 A](0001-a.md)\n'
  const files = [
    { path: 'docs/adr/0001-a.md', text: whole('0001') },
    { path: 'docs/adr/0001-b.md', text: whole('0002').replace('## Alternatives\n\n', '') },
    { path: 'docs/adr/2-B.md', text: whole('0002') },
  ]
  expect(adrProblems(files, list)).toEqual([
    '0001-b.md: 0001-a.md has the same number',
    '0001-b.md: the title does not begin with 0001',
    '0001-b.md: the parts are Context, Decision, Consequences, not Context, Decision, Alternatives, Consequences',
    '0001-b.md: the index does not list it with its title',
    '2-B.md: the name is not NNNN-kebab-case.md',
    '0003-c.md: listed, but not there',
    '0001-a.md: listed twice, or behind a later one of its subject',
    '0001-a.md: listed twice, or behind a later one of its subject',
  ])
})
