/** What the demo prints: texts, the progress, and the closing table with its sentence. */
import { SingleBar } from 'cli-progress'
import Table from 'cli-table3'
import { latenessRows } from '../../tools/auditor/index.ts'
import type { Totals } from './day-plan.ts'
import type { Counts, DayVerdict } from './run-accounts.ts'

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export function numberText(value: number): string {
  return value.toLocaleString('en-US')
}

const barIntervalMs = 100
const lineIntervalMs = 5_000
/** Largest width of the text beside the bar. */
const besideBarChars = 58

interface ProgressOptions {
  output: Output
  counts(): Counts
  /** Share of the day that has passed; below 0 before it begins, above 1 after it. */
  dayShare(): number
}

/** Returns a function that ends the display. */
export function showProgress(options: ProgressOptions): () => void {
  return options.output.isTTY ? showBar(options) : showLines(options)
}

function showBar({ output, counts, dayShare }: ProgressOptions): () => void {
  const bar = new SingleBar({
    stream: output as NodeJS.WriteStream,
    format: '{clock} {bar} {ended} of {expected} ended, {retried} retried, {dead} dead',
    barsize: Math.min(40, Math.max(10, (output.columns ?? 80) - besideBarChars)),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    linewrap: false,
    // A signal and the end of the day both stop the bar here.
    gracefulExit: false,
    clearOnComplete: false,
  })
  const payload = () => {
    const { expected, retried, dead, succeeded } = counts()
    return { clock: clockText(dayShare()), expected: numberText(expected), ended: numberText(succeeded + dead), retried, dead }
  }
  const ended = (): number => counts().succeeded + counts().dead
  bar.start(counts().expected, ended(), payload())
  const timer = setInterval(() => bar.update(ended(), payload()), barIntervalMs)
  return () => {
    clearInterval(timer)
    bar.update(ended(), payload())
    bar.stop()
  }
}

function showLines({ output, counts, dayShare }: ProgressOptions): () => void {
  const print = (): void => {
    const { expected, started, retried, dead, succeeded } = counts()
    const ended = `${numberText(succeeded + dead)} of ${numberText(expected)} ended`
    output.write(`${clockText(dayShare())}  ${numberText(started)} started, ${ended}, ${retried} retried, ${dead} dead\n`)
  }
  const timer = setInterval(print, lineIntervalMs)
  return () => {
    clearInterval(timer)
    print()
  }
}

/** The time of the compressed day, as hours and minutes. */
export function clockText(dayShare: number): string {
  const minutes = Math.floor(Math.min(Math.max(dayShare, 0), 1) * 1_440)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

interface SummaryInput {
  verdict: DayVerdict
  totals: Totals
  /** From the command to the moment at which every job could fire, ms. */
  startMs: number
  /** False if the end of the log was not reached in time. */
  readToEnd: boolean
}

/** Ids named for each kind of fault. */
const namedMax = 3

export function isProved({ verdict, readToEnd }: Pick<SummaryInput, 'verdict' | 'readToEnd'>): boolean {
  return readToEnd && faultsOf(verdict).every(({ ids }) => ids.length === 0)
}

/** At most 80 columns wide; no colors. */
export function summaryText(input: SummaryInput): string {
  const { verdict, totals, startMs } = input
  const table = new Table({
    head: ['occurrences', 'planned', 'in the log'],
    colAligns: ['left', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  })
  table.push(
    ['expected', numberText(totals.occurrences), ''],
    ['started', numberText(totals.occurrences), numberText(verdict.started)],
    ['succeeded', numberText(totals.succeeded), numberText(verdict.succeeded)],
    ['retried', numberText(totals.retried), numberText(verdict.retried)],
    ['dead', numberText(totals.dead), numberText(verdict.dead)],
    ...faultsOf(verdict).map(({ name, ids }) => [name, '0', numberText(ids.length)]),
    ...latenessRows(verdict.lateness).map(([name, value]) => [name, '', value]),
    ['time to start', '', `${(startMs / 1_000).toFixed(1)} s`],
  )
  return `${table.toString()}\n\n${sentencesOf(input).join('\n')}\n`
}

function faultsOf({ lost, duplicate, early, unexpected }: DayVerdict): { name: string; ids: string[] }[] {
  return [
    { name: 'lost', ids: lost },
    { name: 'duplicate', ids: duplicate },
    { name: 'early', ids: early },
    ...(unexpected.length > 0 ? [{ name: 'unexpected', ids: unexpected }] : []),
  ]
}

function sentencesOf({ verdict, readToEnd }: SummaryInput): string[] {
  if (isProved({ verdict, readToEnd })) {
    return [`Proved from the log: each of ${numberText(verdict.expected)} occurrences ran exactly once, and none early.`]
  }
  const faults = faultsOf(verdict).flatMap(({ name, ids }) => {
    if (ids.length === 0) return []
    const more = ids.length > namedMax ? `\n  and ${numberText(ids.length - namedMax)} more` : ''
    return [`${numberText(ids.length)} ${name}:\n  ${ids.slice(0, namedMax).join('\n  ')}${more}`]
  })
  return ['NOT proved.', ...(readToEnd ? [] : ['The end of the log was not reached in time.']), ...faults]
}
