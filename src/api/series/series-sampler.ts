/**
 * Fills the series: asks all owners every 10 s what they have counted, and notes processes that started, partitions that moved, and versions
 * that changed. Only a process with the role api does this, whether or not somebody looks.
 */
import { counted } from '../../../streams/text/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { Logger } from '../../logging/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import { countsOf, type OwnerDirectory, type PartitionOwnerView, type ProcessCounts } from '../owners/index.ts'
import { seriesFineStepMs, seriesMarksAtOnceMax, seriesProcessesMax } from '../schemas/index.ts'
import type { SeriesFile } from './series-file.ts'
import { SeriesKeeper, type SeriesMark } from './series-keeper.ts'
import { type Happened, happenedBetween, stoodIn } from './series-point.ts'

/** Other processes say their versions. */
const textCharsMax = 500

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
    await this.#options.file?.settled()
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
    const { owners, metrics, clock, file, logger, version } = this.#options
    try {
      const [local, remote, views] = await Promise.all([countsOf(metrics), owners.remoteCounts(), owners.views()])
      const at = clock.nowMs()
      this.#compareVersions([version, ...remote.flatMap(({ version: found }) => found ?? [])])
      this.#compareOwners(views)
      const own = this.#since({ ...local, startedAt: Number.POSITIVE_INFINITY })
      const happened = [own ?? [], ...remote.map((counts) => this.#since(counts) ?? [])].flat()
      // Without an owner nothing is known, and a gap says so.
      if (views.some(({ phase }) => phase === 'active')) {
        const minute = this.keeper.add(at, happened, stoodIn(views))
        if (minute !== undefined) file?.append(minute, () => this.#content())
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
    const versions = [...new Set(found)].sort().join(', ').slice(0, textCharsMax)
    if (versions === this.#versions) return
    const text = `Version ${this.#versions} was replaced by version ${versions}`.slice(0, textCharsMax)
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
    const { clock, file } = this.#options
    const mark = { at: clock.nowMs(), kind, text, version }
    this.keeper.mark(mark)
    file?.append(mark, () => this.#content())
  }

  #content() {
    return { points: [...this.keeper.minutes], marks: [...this.keeper.marks] }
  }
}

/** name@host:pid, without the boot part. */
const shortOf = (instance: string): string => instance.replace(/:[^:]*$/, '').slice(0, 200)
