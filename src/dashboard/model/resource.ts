/** What a view shows: asked once, then again and again while the page is looked at, never more often than is cheap for the owners. */
import { type Signal, signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { nowMs } from './live.ts'
import { RequestProblem } from './request.ts'

export interface Resource<Value> {
  value: Signal<Value | undefined>
  /** The last answer was an error; `value` still has what was known before. */
  problem: Signal<RequestProblem | undefined>
  /** Asks anew, at once. */
  refresh(): Promise<void>
}

const refreshEachMs = 2_000
/** Asking takes at most so much of the time: an answer that took long is not asked for again soon. */
const restFactor = 10

/** Asks; what is known before all is there may be told, and is shown when nothing else is yet. */
export type Load<Value> = (signal: AbortSignal, tell: (part: Value) => void) => Promise<Value>

/** `key` names what is asked: another one begins anew. `live` false: only when told to. */
export function useResource<Value>(key: string, load: Load<Value>, live = true): Resource<Value> {
  // The key stands for what `load` asks.
  const asked = useMemo(() => new Asking(load), [key])
  useEffect(() => {
    void asked.refresh()
    return () => asked.end()
  }, [asked])
  const current = useSignal(asked)
  current.value = asked
  useSignalEffect(() => {
    void nowMs.value
    if (live && document.visibilityState === 'visible') current.value.maybe()
  })
  return asked
}

class Asking<Value> implements Resource<Value> {
  readonly value = signal<Value | undefined>(undefined)
  readonly problem = signal<RequestProblem | undefined>(undefined)
  readonly #load: Load<Value>
  readonly #end = new AbortController()
  #asking: Promise<void> | undefined
  #notBeforeMs = 0
  #answered = false

  constructor(load: Load<Value>) {
    this.#load = load
  }

  /** Asks if it is time. */
  maybe(): void {
    if (this.#asking === undefined && performance.now() >= this.#notBeforeMs) void this.refresh()
  }

  async refresh(): Promise<void> {
    // What is on its way may have been answered before whatever the caller has just done.
    await this.#asking
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    await this.#asking
  }

  end(): void {
    this.#end.abort()
  }

  async #ask(): Promise<void> {
    const startedMs = performance.now()
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
      this.#notBeforeMs = endedMs + Math.max(refreshEachMs - 100, (endedMs - startedMs) * restFactor)
    }
  }
}
