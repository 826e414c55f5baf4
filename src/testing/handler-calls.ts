/**
 * Calls of handlers that have not returned. While a handler works in real time, virtual time waits for it. A handler that sleeps in
 * virtual time, or that works for too long, is not waited for.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout } from 'node:timers'
import { type Handlers, isBatchHandler, type Run } from '../worker/executor/index.ts'
import type { Machine } from './simulation/index.ts'

interface Call {
  readonly name: string
  readonly runs: readonly Run[]
  readonly machine: Machine
  /** Sleeps in virtual time that have not ended. */
  sleeps: number
  /** By the clock of the process: since when it has worked without a sleep, in ms. */
  awakeSinceMs: number
  /** It has worked for longer than is waited for. */
  isGivenUp: boolean
}

export class HandlerCalls {
  readonly #waitMs: number
  readonly #open = new Set<Call>()
  readonly #current = new AsyncLocalStorage<Call>()
  readonly #warned = new Set<string>()
  #changed: (() => void) | undefined

  /** `waitMs`: how long virtual time waits for a handler that works, in real ms. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs
  }

  /** Whether the caller is a handler, or was called by one. */
  get isInside(): boolean {
    return this.#current.getStore() !== undefined
  }

  /** Whether virtual time waits for a handler. */
  get areWorking(): boolean {
    for (const call of this.#open) if (isAwake(call)) return true
    return false
  }

  /** The same handlers, counted while they run on this machine. */
  counted(handlers: Handlers, machine: Machine): Handlers {
    return Object.fromEntries(
      Object.entries(handlers).map(([name, handler]) => {
        if (!isBatchHandler(handler))
          return [name, (run: Run) => this.#during({ name, runs: [run], machine }, () => handler(run))]
        const { run: runBatch } = handler
        const run: typeof runBatch = (runs) => this.#during({ name, runs, machine }, () => runBatch.call(handler, runs))
        return [name, { ...handler, run }]
      }),
    )
  }

  /** Called when something happened that a handler may have waited for, or that waits for the simulator. */
  touch(): void {
    this.#changed?.()
  }

  /** The handler that calls this sleeps until the returned function is called. On a machine that died nothing wakes up. */
  sleeping(): { wake(): boolean } {
    const call = this.#current.getStore()
    if (call === undefined) return { wake: () => true }
    call.sleeps++
    this.touch()
    return {
      wake: () => {
        call.sleeps--
        call.awakeSinceMs = performance.now()
        return call.machine.alive
      },
    }
  }

  /** Resolves when a handler returns, sleeps or asks for something, and when one has worked for too long. */
  async change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#changed = resolve
    const firstMs = Math.min(...[...this.#open].filter(isAwake).map(({ awakeSinceMs }) => awakeSinceMs))
    const timer = setTimeout(resolve, Math.max(0, firstMs + this.#waitMs - performance.now()) + 1)
    await promise
    clearTimeout(timer)
    this.#changed = undefined
    for (const call of this.#open) if (isAwake(call) && performance.now() - call.awakeSinceMs >= this.#waitMs) this.#giveUp(call)
  }

  #during<Result>(of: Pick<Call, 'name' | 'runs' | 'machine'>, handle: () => Result): Result {
    const call: Call = { ...of, sleeps: 0, awakeSinceMs: performance.now(), isGivenUp: false }
    const returned = this.#current.run(call, handle)
    if (!isThenable(returned)) return returned
    this.#open.add(call)
    const ended = (): void => {
      this.#open.delete(call)
      this.touch()
    }
    Promise.resolve(returned).then(ended, ended)
    return returned
  }

  #giveUp(call: Call): void {
    call.isGivenUp = true
    if (this.#warned.has(call.name)) return
    this.#warned.add(call.name)
    const [run] = call.runs
    process.emitWarning(
      `The handler ${JSON.stringify(call.name)} of run ${run?.executionId} has worked for ${this.#waitMs} ms of real time. Virtual time now goes on without it, and its attempt timeout ends the attempt. A handler that waits for time itself must call sleep of the test system; handlerWaitMs sets how long a handler may work.`,
      'DuelogTestWarning',
    )
  }
}

const isAwake = ({ sleeps, isGivenUp, machine }: Call): boolean => sleeps === 0 && !isGivenUp && machine.alive

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
