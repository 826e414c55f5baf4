/** Data that a view shows. It is requested once, then repeatedly while the page is visible, at a rate that is cheap for the owners. */
import { type Signal, signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { actionsAwaited } from './actions.ts'
import { nowMs } from './live.ts'
import { charsRead, RequestProblem } from './request.ts'

export interface Resource<Value> {
  value: Signal<Value | undefined>
  /** Set when the last answer was an error; `value` then still has the last known data. */
  problem: Signal<RequestProblem | undefined>
  /** Requests the data again, at once. */
  refresh(): Promise<void>
}

const refreshEachMs = 2_000
/** After a request, the pause is this many times its duration: a slow answer is not requested again soon. */
const pauseFactor = 10
/** A long answer is requested less often: this many characters a millisecond on average, but every 15 s at least. */
const charsPerMs = 20
const pauseMsMax = 15_000

/** Requests the data. It may pass partial data to `tell`, which is shown until the first complete answer. */
export type Load<Value> = (signal: AbortSignal, tell: (part: Value) => void) => Promise<Value>

/** Another `key` starts a new resource. `live`: false, so that only `refresh` requests again, or the shortest pause in ms. */
export function useResource<Value>(key: string, load: Load<Value>, live: boolean | number = true): Resource<Value> {
  // The key identifies what `load` requests.
  const resource = useMemo(() => new PolledResource(load, typeof live === 'number' ? live : refreshEachMs), [key])
  useEffect(() => {
    void resource.refresh()
    return () => resource.end()
  }, [resource])
  const current = useSignal(resource)
  current.value = resource
  useSignalEffect(() => {
    void nowMs.value
    if (live !== false && document.visibilityState === 'visible' && actionsAwaited.peek() === 0) current.value.refreshIfDue()
  })
  return resource
}

class PolledResource<Value> implements Resource<Value> {
  readonly value = signal<Value | undefined>(undefined)
  readonly problem = signal<RequestProblem | undefined>(undefined)
  readonly #load: Load<Value>
  readonly #eachMs: number
  readonly #end = new AbortController()
  #pending: Promise<void> | undefined
  #nextRequestMs = 0
  #answered = false

  constructor(load: Load<Value>, eachMs: number) {
    this.#load = load
    this.#eachMs = eachMs
  }

  /** Requests the data again if the pause is over. */
  refreshIfDue(): void {
    if (this.#pending === undefined && performance.now() >= this.#nextRequestMs) void this.refresh()
  }

  /** What is shown after an action must not wait for the pause. */
  async refresh(): Promise<void> {
    // A request in flight may have been answered before the caller's last action.
    await this.#pending
    this.#pending ??= this.#request().finally(() => {
      this.#pending = undefined
    })
    await this.#pending
  }

  end(): void {
    this.#end.abort()
  }

  async #request(): Promise<void> {
    const startedMs = performance.now()
    const charsBefore = charsRead
    try {
      this.value.value = await this.#load(this.#end.signal, (part) => {
        if (!this.#answered && !this.#end.signal.aborted) this.value.value = part
      })
      this.#answered = true
      this.problem.value = undefined
    } catch (error) {
      if (this.#end.signal.aborted) return
      this.problem.value = error instanceof RequestProblem ? error : new RequestProblem(0, 'internal', String(error))
    } finally {
      const endedMs = performance.now()
      const longMs = Math.min(pauseMsMax, (charsRead - charsBefore) / charsPerMs)
      this.#nextRequestMs = endedMs + Math.max(this.#eachMs - 100, (endedMs - startedMs) * pauseFactor, longMs)
    }
  }
}
