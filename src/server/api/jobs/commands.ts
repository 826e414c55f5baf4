/** Sends a command to the owner of a job and reports its effect. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JobCommandInput, JobCommandType } from '../../../../schemas/index.ts'
import { commandNoun } from '../../../../streams/text/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { JobView, WhyView } from '../../../ground/ports/index.ts'
import type { OwnerDirectory } from '../../peers/index.ts'
import { checkedId, runIdOf } from '../http/index.ts'
import { type JobWrites, jobNotFound } from './job-writes.ts'
import { type RunEnds, runTimeout } from './run-ends.ts'

/** Query of a request that makes a run. */
export interface RunWait {
  wait?: 'ended'
  timeoutMs: number
}

interface CommandsContext {
  owners: OwnerDirectory
  writes: JobWrites
  runEnds: RunEnds
}

export class Commands {
  readonly #context: CommandsContext

  constructor(context: CommandsContext) {
    this.#context = context
  }

  /** The job of a request's id; `has`: see ReadConsistency#find. Rejects with `not-found`. */
  async existing(given: string, has?: (job: JobView) => boolean): Promise<JobView> {
    const id = checkedId(given)
    const job = await this.#context.writes.current(id, undefined, has)
    if (job === undefined) throw jobNotFound(id)
    return job
  }

  /** Resolves with the job after the command was applied; 202 if that takes too long. Rejects with `command-refused`. */
  async carryOut(id: string, type: JobCommandType, more: Partial<JobCommandInput>, reply: FastifyReply, key?: string) {
    const { owners, writes } = this.#context
    const { partition, offset, commandId } = await writes.command(id, type, more, key)
    if (!(await writes.applied(partition, { commands: offset }))) {
      return reply.code(202).send({ commandId, applied: false, ...(await writes.timeoutOf([partition])) })
    }
    const [after, why] = await owners.ask(partition, (owner) => Promise.all([owner.job(partition, id), owner.why(partition, id)]))
    if (after === undefined) throw jobNotFound(id)
    throwIfRefused(id, { runNo: null, ...more, type }, commandId, why)
    return { commandId, applied: true, reason: after.reason, status: after.status }
  }

  /** Resolves with the run that the command created. Rejects with `command-refused`. */
  async makeRun(
    request: FastifyRequest<{ Querystring: RunWait }>,
    reply: FastifyReply,
    id: string,
    type: 'TRIGGER' | 'REDRIVE',
    more: Partial<JobCommandInput>,
  ) {
    const { owners, writes, runEnds } = this.#context
    const { partition, offset, commandId } = await writes.command(id, type, more, keyOf(request))
    void reply.code(202)
    if (!(await writes.applied(partition, { commands: offset })))
      return { commandId, applied: false, ...(await writes.timeoutOf([partition])) }
    const [after, runs, why] = await owners.ask(partition, (owner) =>
      Promise.all([owner.job(partition, id), owner.runs(partition, id), owner.why(partition, id)]),
    )
    if (after === undefined) throw jobNotFound(id)
    const run = [...after.active, after.lastRun, ...(runs?.active ?? []), ...(runs?.finished ?? [])].find(
      (candidate) => candidate?.commandId === commandId,
    )
    throwIfRefused(id, { type }, commandId, why)
    // It ran and ended, and is no longer kept because many have ended since.
    if (run == null) return { commandId, applied: true, runId: null, reason: after.reason, status: after.status }
    const made = { commandId, applied: true, runId: runIdOf(id, run.runNo), reason: null, status: after.status }
    const { wait, timeoutMs } = request.query
    if (wait === undefined) return made
    const end = await runEnds.wait(request, reply, partition, id, { runNo: run.runNo }, timeoutMs)
    if (!end.ended) return { ...made, ...runTimeout(timeoutMs) }
    void reply.code(200)
    return { ...made, run: end.run, reason: end.reason }
  }
}

/** The caller's key by which a repeat is recognized; the schema of each route checks it. */
export function keyOf({ headers }: FastifyRequest): string | undefined {
  return headers['idempotency-key'] as string | undefined
}

/** The owner stores in the job which of the last commands it refused, and why. */
function throwIfRefused(
  id: string,
  command: Parameters<typeof commandNoun>[0],
  commandId: string,
  why: WhyView | undefined,
): void {
  const refused = why?.reasons.find((reason) => reason.commandId === commandId)
  if (refused === undefined) return
  const next = refused.code === 'max-concurrent-runs' ? ' Send it again when one of them has ended.' : ''
  throw new DuelogError(
    'command-refused',
    `The ${commandNoun(command)} of job ${JSON.stringify(id)} was not carried out. ${refused.text}${next}`,
  )
}
