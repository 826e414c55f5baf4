/** Sends a command to the owner of a job and tells what became of it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JobCommandInput, JobCommandType } from '../../../schemas/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { JobView, WhyView } from '../../ports/index.ts'
import { checkedId, runIdOf } from '../http/index.ts'
import type { OwnerDirectory } from '../owners/index.ts'
import { type JobWrites, jobNotFound } from './job-writes.ts'

export class Commands {
  readonly #context: { owners: OwnerDirectory; writes: JobWrites }

  constructor(context: { owners: OwnerDirectory; writes: JobWrites }) {
    this.#context = context
  }

  /** The job of a request's id; `has` as Reading#find says. Rejects with `not-found`. */
  async existing(given: string, has?: (job: JobView) => boolean): Promise<JobView> {
    const id = checkedId(given)
    const job = await this.#context.writes.current(id, undefined, has)
    if (job === undefined) throw jobNotFound(id)
    return job
  }

  /** Resolves with the job as it is once the command is applied; 202 when that takes too long. Rejects with `command-refused`. */
  async carryOut(id: string, type: JobCommandType, more: Partial<JobCommandInput>, reply: FastifyReply, key?: string) {
    const { owners, writes } = this.#context
    const { partition, offset, commandId } = await writes.command(id, type, more, key)
    if (!(await writes.applied(partition, { commands: offset }))) {
      return reply.code(202).send({ commandId, applied: false, ...(await writes.late([partition])) })
    }
    const [after, why] = await owners.ask(partition, (owner) => Promise.all([owner.job(partition, id), owner.why(partition, id)]))
    if (after === undefined) throw jobNotFound(id)
    throwIfRefused(id, type, commandId, why)
    return { commandId, applied: true, reason: after.reason, status: after.status }
  }

  /** Resolves with the run that the command made. Rejects with `command-refused`. */
  async makeRun(id: string, type: 'TRIGGER' | 'REDRIVE', more: Partial<JobCommandInput>, reply: FastifyReply, key?: string) {
    const { owners, writes } = this.#context
    const { partition, offset, commandId } = await writes.command(id, type, more, key)
    void reply.code(202)
    if (!(await writes.applied(partition, { commands: offset })))
      return { commandId, applied: false, ...(await writes.late([partition])) }
    const [after, runs, why] = await owners.ask(partition, (owner) =>
      Promise.all([owner.job(partition, id), owner.runs(partition, id), owner.why(partition, id)]),
    )
    if (after === undefined) throw jobNotFound(id)
    const run = [...after.active, after.lastRun, ...(runs?.active ?? []), ...(runs?.finished ?? [])].find(
      (candidate) => candidate?.commandId === commandId,
    )
    throwIfRefused(id, type, commandId, why)
    // It ran and ended, and so many have ended since that it is not kept any more.
    if (run == null) return { commandId, applied: true, runId: null, reason: after.reason, status: after.status }
    return { commandId, applied: true, runId: runIdOf(id, run.runNo), reason: null, status: after.status }
  }
}

/** What the caller chose so that a repeat is known; the schema of each route checks it. */
export function keyOf({ headers }: FastifyRequest): string | undefined {
  return headers['idempotency-key'] as string | undefined
}

/** The owner notes with the job which of the last commands it has not carried out, and why. */
function throwIfRefused(id: string, type: JobCommandType, commandId: string, why: WhyView | undefined): void {
  const refused = why?.reasons.find((reason) => reason.commandId === commandId)
  if (refused === undefined) return
  const next = refused.code === 'max-concurrent-runs' ? ' Send it again when one of them has ended.' : ''
  throw new DuelogError('command-refused', `${type} of job ${JSON.stringify(id)} was not carried out. ${refused.text}${next}`)
}
