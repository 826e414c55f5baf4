/** Data that a view shows. It is requested once, then repeatedly while the page is visible, at a rate that is cheap for the owners. */
import { type Signal, signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { actionsAwaited } from './actions.ts'
import { nowMs } from './live.ts'
import { charsRead, problemFrom, type RequestProblem } from './request.ts'
import { pauseAfterMs } from './wire.ts'

export interface Resource<Value> {
  value: Signal<Value | undefined>
  /** Set when the last answer was an error; `value` then still has the last known data. */
  problem: Signal<RequestProblem | undefined>
  /** Requests the data again, at once. */
  refresh(): Promise<void>
}

const refreshEachMs = 2_000
/** What is asked once is repeated more and more rarely: a list may have a hundred of these, and the part that answers may never come. */
const onceMsMax = 60_000

/** Requests the data. It may pass partial data to `tell`, which is shown until the first complete answer. */
type Load<Value> = (signal: AbortSignal, tell: (part: Value) => void) => Promise<Value>

/** Another `key` starts a new resource. `live`: false, so that only `refresh` requests again and a failed request is repeated, or the shortest pause in ms, which may change. */
export function useResource<Value>(
  key: string,
  load: Load<Value>,
  live: boolean | number | (() => number) = true,
): Resource<Value> {
  // The key identifies what `load` requests.
  const resource = useMemo(() => new PolledResource(load), [key])
  if (live === false) resource.eachMs = Math.min(onceMsMax, refreshEachMs * 2 ** resource.failures.value)
  else resource.eachMs = typeof live === 'function' ? live() : typeof live === 'number' ? live : refreshEachMs
  useEffect(() => {
    void resource.refresh()
    return () => resource.end()
  }, [resource])
  const current = useSignal(resource)
  current.value = resource
  useSignalEffect(() => {
    void nowMs.value
    const isWanted = live !== false || isTransient(current.value.problem.peek())
    if (isWanted && document.visibilityState === 'visible' && actionsAwaited.peek() === 0) current.value.refreshIfDue()
  })
  return resource
}

/** No answer came, or none of the data. What is asked only once is then asked again. */
const isTransient = (problem: RequestProblem | undefined): boolean =>
  problem !== undefined && (problem.status === 0 || problem.status === 429 || problem.status >= 500)

class PolledResource<Value> implements Resource<Value> {
  readonly value = signal<Value | undefined>(undefined)
  readonly problem = signal<RequestProblem | undefined>(undefined)
  /** Requests in a row without an answer. */
  readonly failures = signal(0)
  /** The shortest pause between two requests. */
  eachMs = refreshEachMs
  readonly #load: Load<Value>
  readonly #end = new AbortController()
  #pending: Promise<void> | undefined
  #endedMs = Number.NEGATIVE_INFINITY
  /** Pause after the last request for its duration and its length. */
  #costMs = 0
  #answered = false

  constructor(load: Load<Value>) {
    this.#load = load
  }

  /** Requests the data again if the pause is over. */
  refreshIfDue(): void {
    if (this.#pending === undefined && performance.now() >= this.#endedMs + Math.max(this.eachMs - 100, this.#costMs))
      void this.refresh()
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
      this.failures.value = 0
    } catch (error) {
      if (this.#end.signal.aborted) return
      this.failures.value++
      this.problem.value = problemFrom(error)
    } finally {
      this.#endedMs = performance.now()
      this.#costMs = pauseAfterMs(this.#endedMs - startedMs, charsRead - charsBefore)
    }
  }
}
