/** Checks of the topic `runs`: each run that has ended has one record, in the transaction that ended it, and no other run has one. */
import type { EndedRun, FinishedRun } from '../../../schemas/generated.ts'
import type { MemoryLog, Transaction } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { type Life, type Lives, lifeName, runName } from './lives.ts'
import { read, readable, shown, topics } from './reading.ts'

/** Longest result in a record, by the schema file. */
const resultBytesMax = 4_096

interface Found {
  record: EndedRun
  transaction: Transaction | undefined
}

const nameOf = (jobId: string, life: string, runNo: number): string => `${jobId}/${runNo}@${life}`

export function runRecordProblems(log: MemoryLog, lives: Lives, ledger: Ledger, { whole }: Facts): string[] {
  const problems: string[] = []
  const found = new Map<string, Found>()
  /** Occurrences by job and life. */
  const skipped = new Map<string, number>()
  for (const { record, transaction } of shown(log, topics.runs)) {
    const ended = readable(read.endedRun, record?.value)
    if (ended === undefined || record?.key?.toString() !== ended.jobId) {
      problems.push(`A record on runs at ${record?.partition}/${record?.offset} cannot be read, or has another key`)
      continue
    }
    if (ended.outcome === 'SKIPPED') {
      const life = `${ended.jobId}@${ended.life}`
      skipped.set(life, (skipped.get(life) ?? 0) + (ended.note === null ? 1 : Number.parseInt(ended.note, 10)))
      continue
    }
    const name = nameOf(ended.jobId, ended.life, ended.runNo)
    if (found.has(name) && whole) problems.push(`${name} has two records on runs`)
    found.set(name, { record: ended, transaction })
  }
  // After a loss, owners continue from what is left, and the changelog no longer shows every end.
  if (!whole) return problems
  for (const [jobId, { life, skipped: inState }] of ledger.last) {
    const recorded = skipped.get(`${jobId}@${life}`) ?? 0
    if (recorded !== inState)
      problems.push(`${jobId} has skipped ${inState} occurrences, and its records on runs say ${recorded}`)
  }
  for (const [run, { jobId, lifeNo, runNo, end, endedIn, trigger, scheduledFor, commandId }] of ledger.runs) {
    const life = ledger.states.get(lifeName(jobId, lifeNo))?.life
    if (life === undefined) continue
    const last = ledger.last.get(jobId)
    const isActive = last?.life === life && last.active.some((active) => active.runNo === runNo)
    const { record, transaction } = found.get(nameOf(jobId, life, runNo)) ?? {}
    if (record === undefined || isActive) {
      if ((record === undefined) !== isActive)
        problems.push(`${run} ${isActive ? 'is active and has' : 'has ended without'} a record on runs`)
      continue
    }
    const made = { trigger: record.trigger, scheduledFor: record.scheduledFor, commandId: record.commandId }
    if (JSON.stringify(made) !== JSON.stringify({ trigger, scheduledFor, commandId }))
      problems.push(`${run} is another run in its record on runs`)
    problems.push(...definitionProblems(run, record, lives.get(jobId)?.[lifeNo]))
    if (end === undefined) continue
    if (transaction !== endedIn) problems.push(`${run} has its record on runs in another transaction than its end`)
    problems.push(...endProblems(runName(jobId, lifeNo, runNo), record, end))
  }
  return problems
}

function endProblems(run: string, record: EndedRun, end: FinishedRun): string[] {
  const problems: string[] = []
  const said = [record.outcome, record.attempts, record.startedAt, record.finishedAt]
  const known = [end.status, end.attempts - end.unstartedAttempts, end.startedAt, end.finishedAt]
  if (JSON.stringify(said) !== JSON.stringify(known)) problems.push(`${run} ended as ${known}, and its record says ${said}`)
  if (end.status === 'SUCCEEDED' && record.errorType !== null) problems.push(`${run} succeeded, and its record has an error`)
  const error = end.status === 'SUCCEEDED' ? undefined : end.errors.at(-1)
  // A large state loses errors and results. The record keeps what it can.
  if (error !== undefined && record.errorType !== error.type) problems.push(`${run} has another error in its record`)
  if (end.result === null) return problems
  if (record.resultBytes !== end.result.length) problems.push(`${run} has a result of another length in its record`)
  const expected = end.result.length > resultBytesMax ? null : end.result
  if (record.result === null ? expected !== null : expected?.equals(record.result) !== true)
    problems.push(`${run} has another result in its record`)
  return problems
}

/** Handler, topic and tags are those of a definition of the job. A redriven run may have those of an earlier one. */
function definitionProblems(run: string, { handler, topic, tags }: EndedRun, life: Life | undefined): string[] {
  const specs = (life?.definitions ?? []).flatMap(({ spec }) => spec ?? [])
  const handlers = specs.map(({ target }) => target.handler ?? (target.http === null ? null : 'http'))
  const problems: string[] = []
  if (handler !== null && !handlers.includes(handler)) problems.push(`${run} has the handler ${handler} in its record`)
  if (topic !== null && !specs.some(({ target }) => target.topic?.name === topic))
    problems.push(`${run} has the topic ${topic} in its record`)
  if (tags.length > 0 && !specs.some((spec) => JSON.stringify(spec.tags) === JSON.stringify(tags)))
    problems.push(`${run} has the tags ${tags} in its record`)
  return problems
}
