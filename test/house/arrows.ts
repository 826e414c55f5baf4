/**
 * Allowed imports between folders. The rules name folders only; docs/ARCHITECTURE.md shows the same picture.
 *
 *   schemas ─► streams ─► src:  foundation ─► doers, hands and starters ─► joiners ─► programs ─► cli
 *
 * A folder with an index.ts is a room, and the index.ts is its face: the only file of it that others import. Only the outer room
 * may import a room inside it. Rooms never import each other in a cycle.
 */
import { posix } from 'node:path'
import { codeOf, type HouseFile, importsOf, placesOf, withoutComments } from './tree.ts'

const foundation = [
  'errors',
  'metrics',
  'clock',
  'ports',
  'network',
  'concurrency',
  'process',
  'remote',
  'answers',
  'tracing',
  'logging',
]
/** They do the work. None imports another: they exchange data through the log. */
const doers = ['scheduler', 'executor', 'retrier', 'intake', 'history', 'api', 'client', 'operations', 'pauses', 'scaling']
/** They access the log, the disk, other processes and the environment. */
const hands = ['kafka', 'store', 'config', 'embedded']
/** They join doers and hands. */
const joiners = ['cluster', 'library', 'auditor', 'backup', 'system', 'testing']

/** What each room of src may import besides itself, `streams` and `schemas`. */
const mayImport: Record<string, readonly string[]> = {
  ...Object.fromEntries([...foundation, ...doers, ...hands].map((room) => [room, foundation])),
  cluster: [...foundation, 'kafka', 'config'],
  // The auditor judges the log from outside: as a program in one pass, and as a role continuously.
  auditor: [...foundation, 'kafka', 'store', 'cluster'],
  // Reads the logs of a system as the auditor does, and writes those of another.
  backup: [...foundation, 'kafka', 'store', 'cluster'],
  library: [...foundation, 'cluster', 'config', 'client', 'executor', 'pauses', 'testing'],
  // The doers over a simulated log, for users' tests. It uses neither the store nor a network.
  testing: [...foundation, 'scheduler', 'executor', 'retrier', 'client', 'kafka'],
  system: [...foundation, ...doers, ...hands, 'cluster', 'auditor'],
  // Programs over the public surface, which judge what they did by the log.
  demo: [...foundation, ...joiners, 'client', 'config', 'executor', 'kafka'],
  generate: [...foundation, ...joiners, 'client', 'kafka', 'demo'],
  cli: [...foundation, ...joiners, 'answers', 'config', 'demo', 'generate'],
  answers: [],
  // The HTTP client of a running Duelog, of the command line and of the library.
  remote: ['errors', 'network'],
  // Browser code: it knows only the answers of the API.
  dashboard: ['answers'],
}

/** Packages that one room alone may use, so that each can be replaced there. */
const soleImporters: Record<string, RegExp> = {
  kafkajs: /^src\/kafka\//,
  '@kafkajs/confluent-schema-registry': /^src\/kafka\//,
  avsc: /^src\/kafka\//,
  'rocksdb-native': /^src\/store\//,
  'node:sqlite': /^src\/history\//,
  pg: /^src\/history\//,
  croner: /^streams\/schedules\//,
  fastify: /^src\/api\//,
  ajv: /^src\/(api|config)\//,
  'prom-client': /^src\/metrics\//,
  '@opentelemetry/api': /^src\/tracing\//,
  commander: /^src\/cli\//,
  'cli-progress': /^src\/(demo|cli)\//,
  'cli-table3': /^src\/(demo|generate|auditor|cli)\//,
  yaml: /^src\/cli\//,
  preact: /^src\/dashboard\//,
  '@preact/signals': /^src\/dashboard\//,
  uplot: /^src\/dashboard\//,
}

/** Browser code may import these rooms: they need no Node module. */
const forBrowsers = ['streams/text']

/** The only Node modules without side effects. Buffer is also available without an import. */
const pureNodeModules = ['node:buffer']
/** Clock, randomness, environment, sockets and timers. Streams get them as arguments only. */
const impure =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\brandomUUID\b|\bprocess\.\w+|\bperformance\.\w+|\bset(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bfetch\(|\bconsole\.\w+|\bimport\.meta\b|\bglobalThis\b/
/** Doers read time from their Clock only, so that tests can control it. */
const clockBound = /^src\/(scheduler|executor|retrier|intake|history|api|client|operations|pauses)\//
const wallClock = /\bDate\.now\b|\bnew Date\(\s*\)/

/** One statement of a face. */
const reExport = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+'[^']+'(?:\s+with\s+\{[^}]*\})?;?$/gm

/** Every broken arrow between project files, one sentence each. */
export function brokenArrows(files: readonly HouseFile[]): string[] {
  const rooms = roomsOf(files)
  const arrows = files.flatMap((file) => importsOf(file).map((target) => ({ path: file.path, target })))
  return [...arrows.flatMap(({ path, target }) => broken(path, target, rooms) ?? []), ...roomCycles(files)]
}

/** Folders with a face. */
export function roomsOf(files: readonly HouseFile[]): Set<string> {
  return new Set(files.filter(({ path }) => isProgram(path) && /\/index\.ts$/.test(path)).map(({ path }) => posix.dirname(path)))
}

function broken(path: string, target: string, rooms: ReadonlySet<string>): string | undefined {
  const arrow = `${path} imports ${target}`
  if (path.startsWith('bench/') && target.startsWith('test/')) return `${arrow}: the package has benchmarks, but no tests`
  if (!isProgram(path)) return undefined
  const sole = soleImporters[packageOf(target)]
  if (sole !== undefined && !sole.test(path)) return `${arrow}: only ${sole.source} may`
  if (path.startsWith('streams/') && target.startsWith('node:') && !pureNodeModules.includes(target))
    return `${arrow}: streams touch nothing outside`
  if (path.startsWith('src/dashboard/') && target.startsWith('node:')) return `${arrow}: the dashboard runs in a browser`
  if (!isProjectFile(target)) return undefined
  return brokenBetween(path, target, arrow) ?? (/\.tsx?$/.test(target) ? behindFace(path, target, arrow, rooms) : undefined)
}

function brokenBetween(path: string, target: string, arrow: string): string | undefined {
  const [from = '', to = ''] = [wingOf(path), wingOf(target)]
  if (!isProgram(target)) return `${arrow}: the program does not know its ${to}`
  if (from === 'schemas') return to === 'schemas' ? undefined : `${arrow}: schemas know nobody`
  if (from === 'streams') return to !== 'src' ? undefined : `${arrow}: streams know schemas only`
  const [room, other] = [folderOf(path), folderOf(target)]
  const allowed = mayImport[room]
  if (allowed === undefined) return `${path} is in no room that test/house/arrows.ts knows`
  if (room === 'dashboard' && to !== 'src')
    return forBrowsers.includes(posix.dirname(target)) ? undefined : `${arrow}: the dashboard knows the HTTP API alone`
  return to !== 'src' || room === other || allowed.includes(other) ? undefined : `${arrow}: ${room} may not know ${other}`
}

/** Code outside a room imports only its face, and never a room inside it. */
function behindFace(path: string, target: string, arrow: string, rooms: ReadonlySet<string>): string | undefined {
  for (let folder = posix.dirname(target); folder !== '.'; folder = posix.dirname(folder)) {
    if (path.startsWith(`${folder}/`)) break
    const face = `${folder}/index.ts`
    const outer = [...rooms].some((room) => folder.startsWith(`${room}/`) && !path.startsWith(`${room}/`))
    if (outer) continue
    if (target === face) return undefined
    if (rooms.has(folder) || posix.dirname(target) === folder) return `${arrow}: others import ${face}`
  }
  return undefined
}

/** Faces that hold more than a header and re-exports: code in an index.ts would be a second job of the room. */
export function facesWithCode(files: readonly HouseFile[]): string[] {
  return files
    .filter(({ path }) => isProgram(path) && posix.basename(path) === 'index.ts')
    .filter(({ text }) => !text.startsWith('/**') || withoutComments(text).replace(reExport, '').trim() !== '')
    .map(({ path }) => path)
}

/** Rooms that import each other in a cycle, each cycle once. */
export function roomCycles(files: readonly HouseFile[]): string[] {
  const arrows = new Map<string, Set<string>>()
  for (const file of files.filter(({ path }) => isProgram(path))) {
    const from = posix.dirname(file.path)
    const to = importsOf(file)
      .filter(isProgram)
      .map((target) => posix.dirname(target))
    arrows.set(from, new Set([...(arrows.get(from) ?? []), ...to.filter((room) => room !== from)]))
  }
  return cyclesOf(arrows)
}

const isProgram = (path: string): boolean => /^(src|streams|schemas)\//.test(path)
const isProjectFile = (target: string): boolean => /^(schemas|streams|src|test|bench|docs)\//.test(target)
const wingOf = (path: string): string | undefined => path.split('/')[0]
const folderOf = (path: string): string => (path.split('/').length > 2 ? (path.split('/')[1] ?? '') : '')
const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

/** Places where streams would have side effects, and where a doer reads the wall clock itself. */
export function impurePlaces(files: readonly HouseFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    if (path.startsWith('streams/')) return placesOf(path, codeOf(text), impure)
    return clockBound.test(path) ? placesOf(path, codeOf(text), wallClock) : []
  })
}

/** Cycles of imports between files, types included, each once, as `a → b → a`. */
export function importCycles(files: readonly HouseFile[]): string[] {
  return cyclesOf(new Map(files.map((file) => [file.path, new Set(importsOf(file))])))
}

function cyclesOf(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const cycles = new Map<string, string>()
  const ended = new Set<string>()
  const visit = (place: string, trail: string[]): void => {
    const at = trail.indexOf(place)
    if (at >= 0) {
      const ring = trail.slice(at)
      cycles.set([...ring].sort().join(), [...ring, place].join(' → '))
      return
    }
    if (ended.has(place)) return
    for (const target of arrows.get(place) ?? []) if (arrows.has(target)) visit(target, [...trail, place])
    ended.add(place)
  }
  for (const place of arrows.keys()) visit(place, [])
  return [...cycles.values()]
}
