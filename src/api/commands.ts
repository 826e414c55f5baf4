/** Sends a command to the owner of a job and tells what became of it. */
import type { FastifyReply } from 'fastify'
import type { JobCommandInput, JobCommandType } from '../../schemas/generated.ts'
import type { JobView } from '../ports.ts'
import type { ApiContext } from './context.ts'
import { checkedId } from './definition-body.ts'
import { waitTimeout } from './job-routes.ts'
import { jobNotFound } from './job-writes.ts'
import { runIdOf } from './views.ts'

export class Commands {
  readonly #context: Pick<ApiContext, 'owners' | 'writes'>

  constructor(context: Pick<ApiContext, 'owners' | 'writes'>) {
    this.#context = context
  }

  /** The job of a request's id. Rejects with `not-found`. */
  async existing(given: string): Promise<JobView> {
    const id = checkedId(given)
    const job = await this.#context.writes.current(id)
    if (job === undefined) throw jobNotFound(id)
    return job
  }

  /** Resolves with the job as it is once the command is applied; 202 when that takes too long. */
  async carryOut(id: string, type: JobCommandType, more: Partial<JobCommandInput>, reply: FastifyReply) {
    const { owners, writes } = this.#context
    const { partition, offset, commandId } = await writes.command(id, type, more)
    if (!(await writes.applied(partition, { commands: offset }))) {
      return reply.code(202).send({ commandId, applied: false, ...waitTimeout })
    }
    const after = await owners.ask(partition, (owner) => owner.job(partition, id))
    if (after === undefined) throw jobNotFound(id)
    return { commandId, applied: true, reason: after.reason, status: after.status }
  }

  /** Resolves with the run that the command made. */
  async makeRun(id: string, type: 'TRIGGER' | 'REDRIVE', more: Partial<JobCommandInput>, reply: FastifyReply) {
    const { owners, writes } = this.#context
    const { partition, offset, commandId } = await writes.command(id, type, more)
    void reply.code(202)
    if (!(await writes.applied(partition, { commands: offset }))) return { commandId, applied: false, ...waitTimeout }
    const [after, runs] = await owners.ask(partition, (owner) =>
      Promise.all([owner.job(partition, id), owner.runs(partition, id)]),
    )
    if (after === undefined) throw jobNotFound(id)
    const run = [...after.active, after.lastRun, ...(runs?.active ?? []), ...(runs?.finished ?? [])].find(
      (candidate) => candidate?.commandId === commandId,
    )
    // Without a run the owner has refused it, for example because the definition cannot be used.
    if (run == null) return { commandId, applied: true, runId: null, reason: after.reason, status: after.status }
    return { commandId, applied: true, runId: runIdOf(id, run.runNo), reason: null, status: after.status }
  }
}
