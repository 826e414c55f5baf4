/**
 * The output of the demo: its stream, its number format, and the progress of the day. The progress is a bar on a terminal, and
 * else a line every 5 s.
 */
import { SingleBar } from 'cli-progress'
import type { Counts } from './run-accounts.ts'

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

export interface ProgressOptions {
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
