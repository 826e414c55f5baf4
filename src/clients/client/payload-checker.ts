/** Checks payloads by the schemas of their handlers before the jobs leave the process. */
import { isJsonType } from '../../../streams/definitions/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { checkPayload, type PayloadSchema } from '../../ground/records/index.ts'
import type { Job } from './job.ts'
import { type Rejection, rejectionsListedMax, type ScheduledMany } from './options.ts'

export class PayloadChecker {
  readonly #schemas: Readonly<Record<string, PayloadSchema>>

  constructor(schemas: Readonly<Record<string, PayloadSchema>>) {
    this.#schemas = schemas
  }

  /**
   * The payload is checked as the handler will read it: after a way through JSON, and null if there is none. The job is sent as it is.
   * Rejects with `bad-definition`. Payloads that are not JSON are not checked here.
   */
  async check(job: Job): Promise<void> {
    const { handler } = (job?.target ?? {}) as { handler?: unknown }
    const schema = typeof handler === 'string' && Object.hasOwn(this.#schemas, handler) ? this.#schemas[handler] : undefined
    const { payload = null, payloadBase64, contentType } = job ?? {}
    if (schema === undefined || payloadBase64 !== undefined || (contentType !== undefined && !isJsonType(contentType))) return
    const text = textOf(payload)
    // What JSON cannot hold is refused later, with all other problems of the job.
    if (text === undefined) return
    const checked = await checkPayload(schema, JSON.parse(text))
    if ('issues' in checked)
      throw new DuelogError(
        'bad-definition',
        `The payload of job ${JSON.stringify(job.id)} does not match the schema of the handler ${JSON.stringify(handler)}: ${checked.issues}`,
      )
  }
}

function textOf(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload)
  } catch {
    return undefined
  }
}

type Write = (jobs: AsyncIterable<Job>, options: { onRejected: (rejection: Rejection) => void }) => Promise<ScheduledMany>

/**
 * Writes the jobs that the checker accepts. Rejections, its own and those of the writer, have the index in the iterable of the user; they
 * come in the order in which they are found.
 */
export async function scheduleChecked(
  checker: PayloadChecker,
  jobs: Iterable<Job> | AsyncIterable<Job>,
  onRejected: ((rejection: Rejection) => void) | undefined,
  write: Write,
): Promise<ScheduledMany> {
  const rejections: Rejection[] = []
  let refused = 0
  const reject = (rejection: Rejection): void => {
    if (rejections.length < rejectionsListedMax) rejections.push(rejection)
    onRejected?.(rejection)
  }
  /** For each refused job that the writer may still be behind of: how many jobs were passed on before it. */
  let passedBefore: number[] = []
  let refusedBefore = 0
  const accepted = async function* (): AsyncGenerator<Job> {
    let [index, passed] = [-1, 0]
    for await (const job of jobs) {
      index++
      const error = await checker.check(job).then(() => undefined, asRefusal)
      if (error === undefined) {
        passed++
        yield job
        continue
      }
      refused++
      passedBefore.push(passed)
      reject({ index, id: job?.id, error })
    }
  }
  const written = await write(accepted(), {
    // The writer goes through the jobs in their order.
    onRejected: (rejection) => {
      const gone = passedBefore.filter((passed) => passed <= rejection.index).length
      passedBefore = passedBefore.slice(gone)
      refusedBefore += gone
      reject({ ...rejection, index: rejection.index + refusedBefore })
    },
  })
  return { accepted: written.accepted, rejected: written.rejected + refused, rejections }
}

const asRefusal = (thrown: unknown): DuelogError =>
  thrown instanceof DuelogError ? thrown : new DuelogError('bad-definition', messageOf(thrown), { cause: thrown })
