/** Follow-ups of follow-ups. Every chain has an end, however jobs are connected, and the last job states why it ended. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { completeCommand, completeDefinition } from '../../../streams/definitions/defaults.ts'
import { definitionFromJson } from '../../../streams/definitions/definition-json.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { chainDepthMax, chainRunsMax, linksAfter } from '../../../streams/runs/chain.ts'
import type { Job, Output } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { type Input, step } from './chain-steps.ts'
import { JobHistory } from './history.ts'

type Trigger = Extract<Output, { kind: 'trigger' }>

/** Runs each job as soon as it is triggered. Returns the number of runs, and the jobs after them. */
function runAll(definitions: Record<string, string[]>, first: string, outcome: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED') {
  const jobs = new Map<string, Job>()
  for (const [id, followers] of Object.entries(definitions)) {
    const input: JobDefinitionInput = {
      schedule: { at: 8_000_000_000_000_000 },
      target: { handler: 'x' },
      retry: { maxAttempts: 1 },
      ...(outcome === 'SUCCEEDED' ? { onSuccess: followers } : { onFailure: followers }),
    }
    jobs.set(id, { id, definition: { offset: 0, appendedAt: 0, bytes: Buffer.alloc(0), spec: completeDefinition(input) } })
  }
  const runs: Record<string, number> = {}
  const refused: Record<string, number> = {}
  const begin = completeCommand({ type: 'TRIGGER', commandId: 'by-hand', at: 0 })
  const queue: { jobId: string; input: Input }[] = [{ jobId: first, input: { kind: 'command', command: begin } }]
  for (let at = 0; at < queue.length; at++) {
    const { jobId, input } = queue[at] as (typeof queue)[number]
    const job = jobs.get(jobId)
    if (job === undefined) continue
    const { job: after, out, notes } = step(job, input)
    jobs.set(jobId, after)
    for (const note of notes) if (note.kind === 'refused') refused[note.reason] = (refused[note.reason] ?? 0) + note.count
    const look = timersOf(after).find(({ kind }) => kind === timerKind.followUps)
    if (look !== undefined) queue.push({ jobId, input: { kind: 'timer', timer: look } })
    for (const output of out) {
      if (output.kind === 'dispatch') {
        runs[jobId] = (runs[jobId] ?? 0) + 1
        const { runNo, attempt, specOffset } = output.execution
        const times = { at: 0, startedAt: 0, worker: 'w', result: null, error: null, progress: null, message: null }
        queue.push({ jobId, input: { kind: 'event', event: { type: outcome, jobId, runNo, attempt, specOffset, ...times } } })
      }
      if (output.kind === 'trigger') queue.push({ jobId: output.jobId, input: followUp(output) })
    }
  }
  const total = Object.values(runs).reduce((sum, count) => sum + count, 0)
  return { runs, refused, total, jobs }
}

function followUp({ kind: _, jobId: __, ...link }: Trigger): Input {
  return { kind: 'command', command: completeCommand({ type: 'TRIGGER', trigger: 'FOLLOW_UP', ...link }) }
}

describe('a chain of follow-ups', () => {
  it('in a cycle ends at its maximum depth, and the next job shows why', () => {
    const { total, jobs, refused } = runAll({ a: ['b'], b: ['a'] }, 'a')
    expect(total).toBe(1 + chainDepthMax)
    expect(refused).toEqual({ 'chain-depth': 1 })
    const last = chainDepthMax % 2 === 0 ? 'a' : 'b'
    const job = jobs.get(last) as Job
    expect(whyOf(job, 0).map(({ code }) => code)).toContain('chain-depth')
  })

  it.each([
    ['that doubles with each generation', { a: ['b', 'b2'], b: ['a'], b2: ['a'] }],
    ['of sixteen that all trigger one another', everyOther(16)],
  ])('%s has at most the maximum number of runs from one', (_, definitions) => {
    const { total, refused } = runAll(definitions as Record<string, string[]>, Object.keys(definitions)[0] as string)
    expect(total).toBeLessThanOrEqual(1 + chainRunsMax)
    expect(Object.keys(refused)).toContain('chain-runs')
  })

  it('without room omits the last followers, and the job says how many and why', () => {
    const job = new JobHistory().define({ schedule: { at: 900_000 }, onSuccess: ['b', 'c', 'd'] })
    job.command('TRIGGER', { trigger: 'FOLLOW_UP', chainDepth: 2, chainLeft: 2 }).report('SUCCEEDED')
    expect(job.last.out).toMatchObject([
      { kind: 'trigger', jobId: 'b', chainDepth: 3, chainLeft: 0 },
      { kind: 'trigger', jobId: 'c', chainDepth: 3, chainLeft: 0 },
    ])
    expect(job.state.decisions).toMatchObject([{ what: 'DROPPED', reason: 'chain-runs', count: 1 }])
    expect(job.last.notes).toContainEqual({ kind: 'refused', what: 'FOLLOW_UP', reason: 'chain-runs', count: 1 })
  })

  it('on failure has the same limit as on success', () => {
    expect(runAll({ a: ['b'], b: ['a'] }, 'a', 'FAILED').total).toBe(1 + chainDepthMax)
  })

  it('of three generations of sixteen has room for all of them', () => {
    const links = linksAfter({ chainDepth: 0, chainLeft: chainRunsMax }, 16)
    const second = links.flatMap((link) => linksAfter(link, 16))
    const third = second.flatMap((link) => linksAfter(link, 16))
    expect([links.length, second.length, third.length]).toEqual([16, 256, 4_096])
  })

  it('divides the room without increasing it', () => {
    for (let wanted = 1; wanted <= 16; wanted++) {
      for (const chainLeft of [0, 1, wanted - 1, wanted, wanted + 1, 100, chainRunsMax]) {
        const links = linksAfter({ chainDepth: 3, chainLeft }, wanted)
        const left = links.reduce((sum, link) => sum + link.chainLeft, 0)
        expect(links.length + left).toBe(links.length === 0 ? 0 : chainLeft)
      }
    }
  })

  it('of a job with itself is refused in the definition', () => {
    const read = definitionFromJson(
      { id: 'a', schedule: { at: 1 }, target: { handler: 'x' }, onSuccess: ['a'] },
      { idRequired: true },
    )
    expect(read).toMatchObject({ ok: false, problems: [{ field: 'onSuccess' }] })
  })
})

function everyOther(count: number): Record<string, string[]> {
  const ids = Array.from({ length: count }, (_, index) => `j${index}`)
  return Object.fromEntries(ids.map((id) => [id, ids.filter((other) => other !== id)]))
}
