/**
 * Handlers that record their starts: one line each, written at once, so the line of a killed worker survives. The workers of the
 * drill load this file; CHAOS_STARTS names the folder.
 */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Handlers, Run } from '../../../src/clients/library/index.ts'

const processName = `${process.pid}-${Date.now()}`
const file = openSync(join(process.env.CHAOS_STARTS ?? '.', `${processName}.tsv`), 'a')

function note(run: Run): void {
  const nominal = new Date(run.scheduledFor).getTime()
  writeSync(file, `${[run.jobId, run.runNo, run.attempt, nominal, Date.now(), processName].join('\t')}\n`)
}

const handlers: Handlers = {
  'chaos-tick': note,
  /** Fails once: the second attempt comes through a delay topic. */
  'chaos-flaky'(run) {
    note(run)
    if (run.attempt === 1) throw new Error('as planned')
  },
  'chaos-fail'(run) {
    note(run)
    throw new Error('as planned')
  },
  /** Blocks the event loop, once. */
  'chaos-block'(run) {
    note(run)
    const until = Date.now() + (run.payload as { ms: number }).ms
    while (run.attempt === 1 && Date.now() < until);
  },
}

export default handlers
