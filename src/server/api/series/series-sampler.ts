/** Samples the series, and keeps them in a file over restarts. */
import { readFile, stat } from 'node:fs/promises'
import { counted } from '../../../../streams/text/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import { writePrivate } from '../../../ground/process/index.ts'
import { countsOf, type OwnerDirectory, type PartitionOwnerView, type ProcessCounts } from '../../peers/index.ts'
import { seriesDayMs, seriesFileBytesMax, seriesFineStepMs, seriesMarksAtOnceMax, seriesProcessesMax } from '../schemas/index.ts'
import {
  type Happened,
  happenedBetween,
  pointFields,
  SeriesKeeper,
  type SeriesMark,
  type SeriesPoint,
  stoodIn,
} from './series-keeper.ts'

/**
 * Fills the series: asks all owners every 10 s what they have counted, and notes processes that started, partitions that moved, and versions
 * that changed. Only a process with the role api does this, whether or not somebody looks.
 */

/** Other processes say their versions. */
const versionsCharsMax = 500

export interface SeriesSamplerOptions {
  owners: Pick<OwnerDirectory, 'remoteCounts' | 'views'>
  metrics: Metrics
  clock: Pick<Clock, 'nowMs' | 'at'>
  logger: Logger
  /** name@host:pid:boot of this process, and its release. */
  instance: string
  version: string
  /** Absent: the series are in memory only. */
  file?: SeriesFile | undefined
}

export class SeriesSampler {
  readonly keeper = new SeriesKeeper()
  readonly #options: SeriesSamplerOptions
  /** The last counts of each process. */
  readonly #counts = new Map<string, ProcessCounts>()
  readonly #ownerOf = new Map<number, string>()
  #versions = ''
  #sampledAt = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined
  #isStopped = false
  #sampling: Promise<void> | undefined
  #saving: Promise<void> | undefined

  constructor(options: SeriesSamplerOptions) {
    this.#options = options
  }

  /** Reads what an earlier process has saved, and begins. */
  async start(): Promise<void> {
    const { file, clock, instance, version } = this.#options
    const { points, marks } = (await file?.read(clock.nowMs())) ?? { points: [], marks: [] }
    this.keeper.restore(points, marks)
    const known = this.keeper.marks.findLast((mark) => mark.version !== null)?.version
    this.#versions = known ?? version
    this.#mark('start', `${shortOf(instance)} started, version ${version}`, known === undefined ? version : null)
    this.#next()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    await this.#sampling
    await this.#saving
    if (this.#cancel !== undefined) await this.#save()
  }

  /** At the begin of the next step by the wall clock. */
  #next(): void {
    if (this.#isStopped) return
    const { clock } = this.#options
    const at = (Math.floor(clock.nowMs() / seriesFineStepMs) + 1) * seriesFineStepMs
    this.#cancel = clock.at(at, () => {
      this.#sampling = this.#sample().finally(() => this.#next())
    })
  }

  async #sample(): Promise<void> {
    const { owners, metrics, clock, logger, version } = this.#options
    try {
      const [local, remote, views] = await Promise.all([countsOf(metrics), owners.remoteCounts(), owners.views()])
      const at = clock.nowMs()
      this.#compareVersions([version, ...remote.flatMap(({ version: found }) => found ?? [])])
      this.#compareOwners(views)
      const own = this.#since({ ...local, startedAt: Number.POSITIVE_INFINITY })
      const happened = [own ?? [], ...remote.map((counts) => this.#since(counts) ?? [])].flat()
      // Without an owner nothing is known, and a gap says so.
      if (views.some(({ phase }) => phase === 'active')) {
        const isMinuteOver = this.keeper.add(at, happened, stoodIn(views))
        // A slow disk delays no sample.
        if (isMinuteOver) this.#saving ??= this.#save()
      }
      this.#sampledAt = at
    } catch (error) {
      logger.debug({ event: 'series-gap', err: error }, 'The owners did not answer; the series have a gap.')
    }
  }

  /** The first counts of a process that has run for longer say nothing about this interval. */
  #since(counts: ProcessCounts): Happened | undefined {
    const earlier = this.#counts.get(counts.process)
    const isNew = earlier === undefined && (counts.startedAt ?? 0) >= this.#sampledAt
    if (isNew && counts.instance !== undefined) this.#mark('start', `${shortOf(counts.instance)} started`)
    this.#counts.delete(counts.process)
    this.#counts.set(counts.process, counts)
    if (this.#counts.size > seriesProcessesMax) this.#counts.delete([...this.#counts.keys()][0] ?? '')
    return earlier === undefined && !isNew ? undefined : happenedBetween(earlier, counts)
  }

  #compareVersions(found: readonly string[]): void {
    const versions = [...new Set(found)].sort().join(', ').slice(0, versionsCharsMax)
    if (versions === this.#versions) return
    const text = `Version ${this.#versions} was replaced by version ${versions}`.slice(0, versionsCharsMax)
    this.#versions = versions
    this.#mark('deploy', text, versions)
  }

  #compareOwners(views: readonly PartitionOwnerView[]): void {
    const moved = new Map<string, number>()
    for (const { partition, phase, instance } of views) {
      if (phase !== 'active' || instance === null) continue
      const before = this.#ownerOf.get(partition)
      this.#ownerOf.set(partition, instance)
      if (before === undefined || before === instance) continue
      const way = `from ${shortOf(before)} to ${shortOf(instance)}`
      moved.set(way, (moved.get(way) ?? 0) + 1)
    }
    for (const [way, count] of [...moved].slice(0, seriesMarksAtOnceMax))
      this.#mark('takeover', `${counted(count, 'partition')} moved ${way}`)
  }

  #mark(kind: SeriesMark['kind'], text: string, version: string | null = null): void {
    this.keeper.mark({ at: this.#options.clock.nowMs(), kind, text, version })
    // Who looks after a crash wants to see it.
    this.#saving ??= this.#save()
  }

  async #save(): Promise<void> {
    await this.#options.file?.write({ points: this.keeper.minutes, marks: this.keeper.marks })
    this.#saving = undefined
  }
}

/** name@host:pid, without the boot part. */
const shortOf = (instance: string): string => instance.replace(/:[^:]*$/, '').slice(0, 200)

const fileTextCharsMax = 1_000
const kinds: readonly SeriesMark['kind'][] = ['start', 'takeover', 'deploy']

export interface SeriesContent {
  points: readonly SeriesPoint[]
  marks: readonly SeriesMark[]
}

export class SeriesFile {
  readonly #path: string
  readonly #logger: Logger
  #isFailing = false

  constructor(path: string, logger: Logger) {
    this.#path = path
    this.#logger = logger
  }

  /** The samples of the last 24 h; none, if the file cannot be read. */
  async read(nowMs: number): Promise<SeriesContent> {
    const isRecent = ({ at }: { at: number }): boolean => at > nowMs - seriesDayMs && at <= nowMs
    try {
      const { size } = await stat(this.#path)
      if (size > seriesFileBytesMax) throw new Error(`It has ${size} bytes, so it is not ours.`)
      const { points, marks } = JSON.parse(await readFile(this.#path, 'utf8')) as Record<string, unknown[]>
      return {
        points: (points ?? []).flatMap((point) => pointOf(point) ?? []).filter(isRecent),
        marks: (marks ?? []).flatMap((mark) => markOf(mark) ?? []).filter(isRecent),
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#logger.warn(
          { event: 'series-not-read', err: error, path: this.#path },
          'The series of the last 24 h cannot be read; the charts begin empty.',
        )
      return { points: [], marks: [] }
    }
  }

  /** Never rejects. One line in the log for a disk that stays full. */
  async write(content: SeriesContent): Promise<void> {
    try {
      await writePrivate(this.#path, JSON.stringify(content))
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing)
        this.#logger.warn(
          { event: 'series-not-saved', err: error, path: this.#path },
          'The series cannot be saved; a restart of this process loses them.',
        )
      this.#isFailing = true
    }
  }
}

const isText = (found: unknown): found is string => typeof found === 'string' && found.length <= fileTextCharsMax
const isNumber = (found: unknown): boolean => typeof found === 'number' && Number.isFinite(found) && found >= 0
const mayLack: readonly string[] = ['deadLetters', 'p50Ms', 'p99Ms', 'maxMs']

/** Anybody may have changed the file. */
function markOf(value: unknown): SeriesMark | undefined {
  const { at, kind, text, version = null } = (value ?? {}) as Record<string, unknown>
  const known = kinds.find((each) => each === kind)
  if (!isNumber(at) || known === undefined || !isText(text) || !(version === null || isText(version))) return undefined
  return { at: at as number, kind: known, text, version }
}

function pointOf(value: unknown): SeriesPoint | undefined {
  const { at, ...rest } = (value ?? {}) as Record<string, unknown>
  const entries = pointFields.map((field) => [field, rest[field]] as const)
  if (!isNumber(at) || !entries.every(([field, found]) => isNumber(found) || (found === null && mayLack.includes(field))))
    return undefined
  return { at, ...Object.fromEntries(entries) } as unknown as SeriesPoint
}
