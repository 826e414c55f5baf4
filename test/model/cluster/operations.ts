/**
 * Operations of an operator: changes of many jobs at once, which the owners of the partitions are told of and carry out. The driver asks
 * again after each failure, from where it was, as src/server/operations does. It may also stop for ever between two calls.
 */
import type { AnnounceQuery, ChangeQuery, CutOff } from '../../../src/ground/ports/operations.ts'
import { jobIds } from './definitions.ts'
import type { Cluster, Process } from './process.ts'

type Query = Pick<AnnounceQuery, 'action' | 'filter' | 'commandId' | 'createdAt'> & Pick<ChangeQuery, 'action'>

interface Part {
  partition: number
  cutOff: CutOff | undefined
  after: string | undefined
  isRepeat: boolean
  isDone: boolean
}

interface Operation {
  query: Query
  parts: Part[]
}

/** Operations that are under way at once. */
const openMax = 3

export class Operations {
  readonly #cluster: Pick<Cluster, 'log' | 'chance' | 'time'>
  readonly #ids: readonly string[]
  #open: Operation[] = []
  #begun = 0
  /** Jobs that the owners said they had changed. */
  changed = 0

  /** `ids`: of jobs, whose beginnings choose jobs. */
  constructor(cluster: Pick<Cluster, 'log' | 'chance' | 'time'>, ids: readonly string[] = jobIds) {
    this.#cluster = cluster
    this.#ids = ids
  }

  /** One act of the operator, or of the process that drives his operations. Returns its description. */
  act(process: Process): string {
    const { chance } = this.#cluster
    const operation = this.#open.length < openMax && chance.happens(0.3) ? this.#begin() : chance.pick([...this.#open, undefined])
    if (operation === undefined) return 'operation: none'
    const part = chance.pick(operation.parts)
    const { query } = operation
    const name = `operation: ${query.commandId} at ${part.partition} of ${process.machine.name}`
    if (chance.happens(part.cutOff === undefined ? 0.8 : 0.2)) {
      this.#announce(process, query, part)
      return `${name} announced`
    }
    if (part.cutOff === undefined || part.isDone) return `${name} waits`
    this.#change(process, operation, part, part.cutOff)
    return `${name} walks`
  }

  #begin(): Operation {
    const { chance, time, log } = this.#cluster
    const action = chance.pick(['PAUSE', 'RESUME', 'PAUSE', 'RESUME', 'CANCEL'] as const)
    const filter = chance.happens(0.4) ? {} : { idPrefix: chance.pick(this.#ids) }
    const commandId = `operation/${this.#begun++}/${action.toLowerCase()}`
    const parts = Array.from({ length: log.partitions }, (_, partition) => {
      return { partition, cutOff: undefined, after: undefined, isRepeat: false, isDone: false }
    })
    const operation = { query: { action, filter, commandId, createdAt: time.nowMs }, parts }
    this.#open.push(operation)
    return operation
  }

  #announce({ scheduler }: Process, query: Query, part: Part): void {
    const { cutOff, after } = part
    const place = { ...(cutOff !== undefined && { cutOff }), ...(after !== undefined && { after }) }
    void scheduler.queries.announce(part.partition, { ...query, ...place, isOver: part.isDone, waitMs: 0 }).then(
      (answer) => {
        part.cutOff ??= answer.cutOff
      },
      () => undefined,
    )
  }

  #change({ scheduler }: Process, operation: Operation, part: Part, cutOff: CutOff): void {
    const { createdAt: _, ...query } = operation.query
    const { after, isRepeat } = part
    const limit = this.#cluster.chance.pick([1, 2, 100])
    part.isRepeat = true
    void scheduler.queries
      .change(part.partition, { ...query, cutOff, isRepeat, limit, ...(after !== undefined && { after }) })
      .then(
        ({ changed, next }) => {
          if (part.after !== after || part.isDone) return
          this.changed += changed
          part.after = next ?? after
          part.isRepeat = false
          part.isDone = next === undefined
          if (operation.parts.every(({ isDone }) => isDone)) this.#open = this.#open.filter((other) => other !== operation)
        },
        () => undefined,
      )
  }
}
