/**
 * Who may know whom. An arrow that is not listed here is broken; docs/ARCHITECTURE.md draws the same picture.
 *
 *   schemas ─► streams ─► src:  shared ─► doers (scheduler executor retrier intake api client) ─► joiners ─► demo generate audit ─► cli
 *                                    └─► hands (kafka store) and starters (config embedded) ─┘
 */
import { codeOf, type HouseFile, importsOf, placesOf } from './tree.ts'

/** Rooms of src by folder; files directly in src are shared or joiners. */
const shared = [
  'ports',
  'answer-text',
  'owner-views',
  'executions',
  'proof-port',
  'log-admin-port',
  'standby-port',
  'target-topics-port',
  'topic-partition',
  'errors',
  'actors',
  'ip-groups',
  'private-folder',
  'clock',
  'clock-trust',
  'clock-absence',
  'guarded-clock',
  'metrics',
  'exposition',
  'instance',
  'look-places',
  'spare-time',
  'module-path',
  'view-size',
].map((name) => `src/${name}.ts`)
const processes = ['executor-processes', 'kept-process', 'child-metrics']
const joiners = [
  'main',
  'serve',
  'process-clock',
  'parts',
  'health',
  'connect',
  'known-options',
  'known-schemas',
  'former-process',
  'record-lines',
  'worker',
  ...processes,
  'targets',
  'auditing',
  'ending',
  'executing',
  'embedding',
  'index',
  'client-entry',
  'worker-entry',
].map((name) => `src/${name}.ts`)

/** What each room may import besides itself, `streams` and `schemas`. */
const mayImport: Record<string, readonly string[]> = {
  shared: [],
  scheduler: ['shared'],
  executor: ['shared'],
  retrier: ['shared'],
  intake: ['shared'],
  api: ['shared'],
  client: ['shared'],
  kafka: ['shared'],
  // Browser code: it knows what the API answers, and nothing of how.
  dashboard: [],
  // The store implements the port that its user declares.
  store: ['shared', 'src/scheduler/ports.ts'],
  config: ['shared'],
  embedded: ['shared'],
  joiners: [
    'shared',
    'scheduler',
    'executor',
    'retrier',
    'intake',
    'api',
    'client',
    'kafka',
    'store',
    'config',
    'embedded',
    'audit',
  ],
  // The demo is a program of its own over the public surface; it reads the log to check it.
  demo: ['shared', 'joiners', 'client', 'config', 'executor', 'kafka'],
  // A load is put on any Duelog from outside, and judged by the log as the demo's is.
  generate: ['shared', 'joiners', 'client', 'kafka', 'demo'],
  // The auditor judges the log from outside: in one go as a program, and all the time as a role.
  audit: ['shared', 'kafka', 'store', 'src/connect.ts'],
  cli: ['shared', 'joiners', 'config', 'demo', 'generate', 'audit'],
}

/** Packages that one room alone may use, so that each can be replaced there. */
const soleImporters: Record<string, RegExp> = {
  kafkajs: /^src\/kafka\//,
  '@kafkajs/confluent-schema-registry': /^src\/kafka\//,
  avsc: /^src\/kafka\//,
  'rocksdb-native': /^src\/store\//,
  croner: /^streams\/schedules\//,
  fastify: /^src\/api\//,
  ajv: /^src\/(api|config)\//,
  'prom-client': /^src\/(metrics|exposition)\.ts$/,
  commander: /^src\/cli\//,
  'cli-progress': /^src\/(demo|cli)\//,
  'cli-table3': /^src\/(demo|generate|audit|cli)\//,
  yaml: /^src\/cli\//,
  preact: /^src\/dashboard\//,
  '@preact/signals': /^src\/dashboard\//,
  uplot: /^src\/dashboard\//,
}

/** Reads and writes JSON without loss, in the page as in the server; it needs nothing of Node. */
const forBrowsers = ['streams/jobs/json-text.ts']

/** Only these of Node's modules compute and touch nothing; Buffer is there without an import as well. */
const pureNodeModules = ['node:buffer']
/** Clock, chance, environment, sockets and timers, which come into streams as arguments or not at all. */
const impure =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\brandomUUID\b|\bprocess\.\w+|\bperformance\.\w+|\bset(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bfetch\(|\bconsole\.\w+|\bimport\.meta\b|\bglobalThis\b/
/** Doers know time by their Clock alone, so that tests can move it. */
const clockBound = /^src\/(scheduler|executor|retrier|intake|api|client)\//
const wallClock = /\bDate\.now\b|\bnew Date\(\s*\)/

/** The room of a file in src. Undefined: it has no place in the picture. */
export function roomOf(path: string): string | undefined {
  if (shared.includes(path)) return 'shared'
  if (joiners.includes(path)) return 'joiners'
  const folder = /^src\/([^/]+)\//.exec(path)?.[1]
  return folder !== undefined && folder in mayImport ? folder : undefined
}

/** Every broken arrow between project files, one sentence each. */
export function brokenArrows(files: readonly HouseFile[]): string[] {
  return files.flatMap((file) => importsOf(file).flatMap((target) => broken(file.path, target) ?? []))
}

function broken(path: string, target: string): string | undefined {
  const arrow = `${path} imports ${target}`
  const sole = soleImporters[packageOf(target)]
  if (sole !== undefined && /^(src|streams|schemas)\//.test(path) && !sole.test(path)) return `${arrow}: only ${sole.source} may`
  if (path.startsWith('schemas/'))
    return isProjectFile(target) && !target.startsWith('schemas/') ? `${arrow}: schemas know nobody` : undefined
  if (path.startsWith('streams/')) {
    if (target.startsWith('node:') && !pureNodeModules.includes(target)) return `${arrow}: streams touch nothing outside`
    return isProjectFile(target) && !/^(streams|schemas)\//.test(target) ? `${arrow}: streams know schemas only` : undefined
  }
  return path.startsWith('src/') ? brokenInSrc(path, target, arrow) : undefined
}

function brokenInSrc(path: string, target: string, arrow: string): string | undefined {
  const from = roomOf(path)
  if (from === undefined) return `${path} is in no room that test/house/arrows.ts knows`
  if (/^(test|bench|docs)\//.test(target)) return `${arrow}: the program does not know its ${target.split('/')[0]}`
  if (from === 'dashboard' && forBrowsers.includes(target)) return undefined
  if (from === 'dashboard' && (isProjectFile(target) ? !target.startsWith('src/dashboard/') : target.startsWith('node:')))
    return `${arrow}: the dashboard runs in a browser and knows the HTTP API alone`
  if (!target.startsWith('src/')) return undefined
  const to = roomOf(target)
  if (to === from || to === undefined) return undefined
  const allowed = mayImport[from] ?? []
  return allowed.includes(to) || allowed.includes(target) ? undefined : `${arrow}: ${from} may not know ${to}`
}

const isProjectFile = (target: string): boolean => /^(schemas|streams|src|test|bench|docs)\//.test(target)
const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

/** Places where streams would touch the world, and where a doer asks the wall clock itself. */
export function impurePlaces(files: readonly HouseFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    if (path.startsWith('streams/')) return placesOf(path, codeOf(text), impure)
    return clockBound.test(path) ? placesOf(path, codeOf(text), wallClock) : []
  })
}

/** Cycles of imports, each once, as `a → b → a`. */
export function importCycles(files: readonly HouseFile[]): string[] {
  const targets = new Map(files.map((file) => [file.path, importsOf(file)]))
  const cycles = new Map<string, string>()
  const ended = new Set<string>()
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) {
      const ring = trail.slice(at)
      cycles.set([...ring].sort().join(), [...ring, path].join(' → '))
      return
    }
    if (ended.has(path)) return
    for (const target of targets.get(path) ?? []) if (targets.has(target)) visit(target, [...trail, path])
    ended.add(path)
  }
  for (const path of targets.keys()) visit(path, [])
  return [...cycles.values()]
}
