import { describe, expect, it } from 'vitest'
import type { FinishedRun } from '../../../schemas/generated.ts'
import { runInputOf } from '../../../streams/runs/dispatch.ts'
import { JobHistory } from './history.ts'

/** Fires each second from 1000 on, with the payload "of definition". */
const fired = (more: object = {}): JobHistory =>
  new JobHistory().define({ schedule: { everyMs: 1_000 }, payload: Buffer.from('of definition'), ...more }).until(1_000)
const endsOf = ({ state }: JobHistory): FinishedRun[] => (state.lastRun === null ? [] : [state.lastRun])
/** The payload of a run, as far as it is known. */
const payloadOf = (history: JobHistory, runNo: number, ends = endsOf(history)): string | undefined =>
  runInputOf({ ...history.job, snapshots: history.snapshots }, ends, runNo)?.payload?.toString()

describe('the input of a run', () => {
  it('is that of its definition, while it is active and after its end', () => {
    const history = fired().report('STARTED')
    expect(payloadOf(history, 1)).toBe('of definition')
    expect(runInputOf(history.job, [], 1)).toEqual(history.dispatched[0])
    history.report('SUCCEEDED')
    expect(payloadOf(history, 1)).toBe('of definition')
    expect(runInputOf(history.job, endsOf(history), 1)).toMatchObject({ runNo: 1, attempt: 1, dueAt: 1_000, dispatchedAt: 1_000 })
  })

  it('is that of the definition that made it while it is active, and unknown after its end if the definition was replaced', () => {
    const history = fired().define({ schedule: { everyMs: 1_000 }, payload: Buffer.from('of another') })
    expect(payloadOf(history, 1)).toBe('of definition')
    history.report('SUCCEEDED')
    expect(payloadOf(history, 1)).toBeUndefined()
  })

  it('is the payload of its command while it is active, and unknown after its end', () => {
    const history = fired()
      .report('SUCCEEDED')
      .command('TRIGGER', { payload: Buffer.from('of command') })
    expect(payloadOf(history, 2)).toBe('of command')
    history.report('SUCCEEDED')
    expect(history.state.lastRun).toMatchObject({ runNo: 2, hasOwnInput: true })
    expect(payloadOf(history, 2)).toBeUndefined()
  })

  it('of a triggered run without a payload is that of the definition', () => {
    const history = fired().report('SUCCEEDED').command('TRIGGER').report('SUCCEEDED')
    expect(payloadOf(history, 2)).toBe('of definition')
  })

  it('of a dead run is kept, and its redrive has the same', () => {
    const history = fired({ retry: { maxAttempts: 1 } })
      .fail()
      .define({ schedule: { everyMs: 1_000 } })
    expect(payloadOf(history, 1)).toBe('of definition')
    history.command('REDRIVE', { runNo: 1 })
    expect(payloadOf(history, 2)).toBe('of definition')
    history.report('SUCCEEDED')
    expect(payloadOf(history, 2)).toBeUndefined()
  })

  it('of a run that does not exist is unknown', () => {
    expect(payloadOf(fired(), 2)).toBeUndefined()
  })
})
