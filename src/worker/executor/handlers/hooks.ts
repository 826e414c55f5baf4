/** Hooks around runs: the place for logs, metrics, traces and the context of a request. */
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { BatchHandler, Handler, Run } from './handler.ts'
import { partialBatch } from './partial-batch.ts'

/**
 * What a worker does around each attempt. With several hooks the first one is the outermost. Their time is part of the attempt: its timeout
 * and `run.signal` apply. Runs without a handler in this worker have no hooks.
 */
export interface Hook {
  /**
   * Around everything else, for AsyncLocalStorage and spans. `next` runs the inner hooks and the handler, and resolves with the result; call
   * it once. What `around` returns is the run's result, and what it throws is its error. Not called for batches.
   */
  around?(run: Run, next: () => Promise<unknown>): unknown | Promise<unknown>
  /** Before the handler. If it throws, the handler is not called and the attempt fails with this error. */
  before?(run: Run): unknown | Promise<unknown>
  /** After the handler has returned. If it throws, the worker logs that; the result stays. */
  after?(run: Run, result: unknown): unknown | Promise<unknown>
  /** After the handler or a `before` has thrown. If it throws itself, the worker logs that; the first error stays. */
  error?(run: Run, error: unknown): unknown | Promise<unknown>
}

const hookNames = ['around', 'before', 'after', 'error'] as const satisfies (keyof Hook)[]

/** The problem of hooks as a sentence; undefined if they have none. */
export function hooksProblem(hooks: unknown): string | undefined {
  if (!Array.isArray(hooks)) return 'hooks of the worker is no list; give objects with around, before, after or error'
  for (const [index, hook] of hooks.entries()) {
    if (typeof hook !== 'object' || hook === null)
      return `hook ${index} of the worker is no object with around, before, after or error`
    for (const [name, value] of Object.entries(hook)) {
      if (!hookNames.includes(name as keyof Hook))
        return `hook ${index} of the worker has no "${name}"; known are ${hookNames.join(', ')}`
      if (typeof value !== 'function') return `${name} of hook ${index} of the worker is no function`
    }
  }
  return undefined
}

/** A handler with these hooks around it. */
export function hookedHandler(handler: Handler, hooks: readonly Hook[], logger: Pick<Logger, 'warn'>): Handler {
  const inner = async (run: Run): Promise<unknown> => {
    let result: unknown
    try {
      await before(run, hooks)
      result = await handler(run)
    } catch (error) {
      await told(run, hooks, logger, 'error', error)
      throw error
    }
    await told(run, hooks, logger, 'after', result)
    return result
  }
  return hooks.reduceRight<(run: Run) => Promise<unknown>>((next, { around }) => {
    if (around === undefined) return next
    return async (run) =>
      around(
        run,
        once(run, () => next(run)),
      )
  }, inner)
}

/** The hooks of each run of a batch, except `around`. A run whose `before` throws is not in the batch. */
export function hookedBatchHandler(handler: BatchHandler, hooks: readonly Hook[], logger: Pick<Logger, 'warn'>): BatchHandler {
  return {
    batch: handler.batch,
    async run(runs) {
      const outcomes = await partialBatch(handler, runs, async (run) => {
        await before(run, hooks)
        return run
      })
      for (const [index, run] of runs.entries()) {
        const outcome = outcomes[index] ?? {}
        if ('error' in outcome) await told(run, hooks, logger, 'error', outcome.error)
        else await told(run, hooks, logger, 'after', outcome.result)
      }
      return outcomes
    },
  }
}

async function before(run: Run, hooks: readonly Hook[]): Promise<void> {
  for (const hook of hooks) await hook.before?.(run)
}

/** From the innermost to the outermost. */
async function told(
  run: Run,
  hooks: readonly Hook[],
  logger: Pick<Logger, 'warn'>,
  what: 'after' | 'error',
  value: unknown,
): Promise<void> {
  for (const hook of hooks.toReversed()) {
    try {
      await hook[what]?.(run, value)
    } catch (error) {
      logger.warn(
        { event: 'hook-failed', err: error, executionId: run.executionId, attempt: run.attempt },
        `A hook "${what}" failed; the outcome of the run stays.`,
      )
    }
  }
}

/** A hook that calls `next` twice would run the handler twice. */
function once(run: Run, next: () => Promise<unknown>): () => Promise<unknown> {
  let called = false
  return () => {
    if (called) return Promise.reject(new DuelogError('bad-request', `a hook called next twice for run ${run.executionId}`))
    called = true
    return next()
  }
}
