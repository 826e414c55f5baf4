/**
 * Allowed imports between folders. The rules name folders only; docs/ARCHITECTURE.md shows the same picture.
 *
 * `src` has nine parts, and `schemas` and `streams` are the tenth, which all know. A part holds rooms, or is one. A folder with an
 * index.ts is a room, and the index.ts is its face: the only file of it that others import. Only the outer room may import a room
 * inside it. Rooms never import each other in a cycle.
 */
import { posix } from 'node:path'
import { codeOf, type HouseFile, importsOf, placesOf, withoutComments } from './tree.ts'

/** The parts of src, from the ground up, and the parts that each may import besides itself, `streams` and `schemas`. */
export const parts: Record<string, readonly string[]> = {
  ground: [],
  // The log of a system, and the disk. The only code that knows kafkajs, the registry's client and RocksDB.
  log: ['ground'],
  // They do the work, and know each other only through the log, behind the interfaces of ground/ports.
  scheduler: ['ground'],
  worker: ['ground'],
  server: ['ground'],
  clients: ['worker', 'log', 'ground'],
  tools: ['log', 'ground'],
  // A system in virtual time, for users' tests.
  testing: ['clients', 'server', 'scheduler', 'worker', 'log', 'ground'],
  program: ['clients', 'tools', 'server', 'scheduler', 'worker', 'log', 'ground'],
}

/** What each room may import of its own part, where that is anything. */
const neighbours: Record<string, readonly string[]> = {
  'log/cluster': ['kafka'],
  'clients/library': ['client', 'remote'],
  'clients/client': ['remote'],
  'server/api': ['peers'],
  'program/system': ['embedded'],
  'program/demo': ['system', 'embedded'],
  'program/generate': ['system', 'embedded', 'demo'],
  'program/cli': ['system', 'embedded', 'demo', 'generate'],
}
/** Rooms of the ground are small and may know each other, but for the settings; cycles are refused all the same. */
const isOpen = (part: string, room: string): boolean => part === 'ground' && room !== 'config'

/** Packages that one room alone may use, so that each can be replaced there. */
const soleImporters: Record<string, RegExp> = {
  kafkajs: /^src\/log\/kafka\/client\//,
  '@kafkajs/confluent-schema-registry': /^src\/log\/kafka\/avro\//,
  avsc: /^src\/log\/kafka\/avro\//,
  'rocksdb-native': /^src\/log\/store\//,
  'node:sqlite': /^src\/server\/history\//,
  pg: /^src\/server\/history\//,
  croner: /^streams\/schedules\//,
  fastify: /^src\/server\/api\//,
  ajv: /^src\/(server\/api|ground\/config)\//,
  'prom-client': /^src\/ground\/metrics\//,
  '@opentelemetry/api': /^src\/ground\/tracing\//,
  commander: /^src\/program\/cli\//,
  'cli-progress': /^src\/program\/(demo|cli)\//,
  'cli-table3': /^src\/(program|tools\/auditor)\//,
  yaml: /^src\/program\/cli\//,
  preact: /^src\/clients\/dashboard\//,
  '@preact/signals': /^src\/clients\/dashboard\//,
  uplot: /^src\/clients\/dashboard\//,
}

/** Browser code may import these rooms: they need no Node module. */
const forBrowsers = ['streams/text', 'streams/targets', 'src/ground/answers']

/** The only Node modules without side effects. Buffer is also available without an import. */
const pureNodeModules = ['node:buffer']
/** Clock, randomness, environment, sockets and timers. Streams get them as arguments only. */
const impure =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\brandomUUID\b|\bprocess\.\w+|\bperformance\.\w+|\bset(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bfetch\(|\bconsole\.\w+|\bimport\.meta\b|\bglobalThis\b/
/** Doers read time from their Clock only, so that tests can control it. */
const clockBound = /^src\/(scheduler|worker|server|clients\/client|log\/pauses)\//
const wallClock = /\bDate\.now\b|\bnew Date\(\s*\)/

/** One statement of a face. */
const reExport = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+'[^']+'(?:\s+with\s+\{[^}]*\})?;?$/gm

/** Every broken arrow between project files, one sentence each. */
export function brokenArrows(files: readonly HouseFile[]): string[] {
  const rooms = roomsOf(files)
  const arrows = files.flatMap((file) => importsOf(file).map((target) => ({ path: file.path, target })))
  return [...arrows.flatMap(({ path, target }) => broken(path, target, rooms) ?? []), ...roomCycles(files)]
}

/** Arrows between parts of src that its files have, as `scheduler → ground`. */
export function arrowsOfParts(files: readonly HouseFile[]): string[] {
  const arrows = files.flatMap((file) => importsOf(file).map((target) => [partOf(file.path), partOf(target), file.path, target]))
  const between = arrows.filter(
    ([from, to, path, target]) => from !== to && /^src\//.test(path ?? '') && /^src\//.test(target ?? ''),
  )
  return [...new Set(between.map(([from, to]) => `${from} → ${to}`))].sort()
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
  if (path.startsWith('src/clients/dashboard/') && target.startsWith('node:')) return `${arrow}: the dashboard runs in a browser`
  if (!isProjectFile(target)) return undefined
  return brokenBetween(path, target, arrow) ?? (/\.tsx?$/.test(target) ? behindFace(path, target, arrow, rooms) : undefined)
}

function brokenBetween(path: string, target: string, arrow: string): string | undefined {
  const [from = '', to = ''] = [wingOf(path), wingOf(target)]
  if (!isProgram(target)) return `${arrow}: the program does not know its ${to}`
  if (from === 'schemas') return to === 'schemas' ? undefined : `${arrow}: schemas know nobody`
  if (from === 'streams') return to !== 'src' ? undefined : `${arrow}: streams know schemas only`
  const [part, other] = [partOf(path), partOf(target)]
  const allowed = parts[part]
  if (allowed === undefined) return `${path} is in no part that test/house/arrows.ts knows`
  const [room, neighbour] = [roomOf(path), roomOf(target)]
  if (room === 'dashboard' && neighbour !== 'dashboard')
    return forBrowsers.includes(posix.dirname(target)) ? undefined : `${arrow}: the dashboard knows the HTTP API alone`
  if (to !== 'src') return undefined
  if (part !== other) return allowed.includes(other) ? undefined : `${arrow}: ${part} may not know ${other}`
  if (room === neighbour || isOpen(part, neighbour) || !hasRooms(part)) return undefined
  return neighbours[`${part}/${room}`]?.includes(neighbour) ? undefined : `${arrow}: ${room} may not know ${neighbour}`
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

/** Statements of the ports that are more than an interface or a type: code belongs to the part that uses it, or into ground/records. */
export function codeInPorts(files: readonly HouseFile[]): string[] {
  const ports = files.filter(({ path }) => path.startsWith('src/ground/ports/'))
  return ports.flatMap(({ path, text }) => placesOf(path, codeOf(text), beyondTypes))
}
const beyondTypes = /^(?!(?:import|export) type\b|(?:export )?(?:interface|type)\b)\w[^({=]*/

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
const partOf = (path: string): string => (path.split('/').length > 2 ? (path.split('/')[1] ?? '') : '')
const roomOf = (path: string): string => path.split('/')[2] ?? ''
/** Parts that are one room, with a face of their own. */
const hasRooms = (part: string): boolean => part !== 'scheduler' && part !== 'testing'
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
