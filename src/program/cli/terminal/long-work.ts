/** Commands that work for seconds to hours: a progress bar, one result as text or JSON, and an end by Ctrl-C. */
import { SingleBar } from 'cli-progress'
import { DuelogError } from '../../../ground/errors/index.ts'
import { watchSignals } from '../../../ground/process/index.ts'
import { jsonText, numberText, severalLines } from './style.ts'
import { exitCodes, type Terminal } from './terminal.ts'

export interface WorkResult {
  json: object
  text: string
  /** The result is a failure: exit code 1. */
  failed?: boolean
}

/** `onProgress` takes counts of what `what` names; without `total` no bar is shown, only the count. `signal` is aborted by the first signal. */
export type Work = (
  onProgress: (done: number, total: number | undefined, what: string) => void,
  signal: AbortSignal,
) => Promise<WorkResult>

/** Does the work and prints its result. Rejects with the error of the work; after a signal it exits with the code of that signal. */
export async function showWork(
  { terminal, exit }: { terminal: Terminal; exit(code: number): void },
  { json: asJson = false }: { json?: boolean },
  work: Work,
): Promise<void> {
  const signals = watchSignals()
  let shown: { what: string; bar: Progress } | undefined
  try {
    const { json, text, failed } = await work((done, total, what) => {
      if (shown?.what !== what) {
        shown?.bar.stop()
        shown = { what, bar: showProgress(terminal, total) }
      }
      shown.bar.update(done, `${numberText(done)}${total === undefined ? '' : ` of ${numberText(total)}`} ${what}`)
    }, signals.stop)
    shown?.bar.stop()
    terminal.stdout.write(asJson ? jsonText(json, terminal.stdout) : `${severalLines(text.trimEnd())}\n`)
    if (failed) exit(exitCodes.failed.code)
  } catch (error) {
    if (signals.exitCode === undefined) throw error
    // The work was in the middle of something, and says what is left of it.
    if (error instanceof DuelogError) terminal.stderr.write(`duelog: ${severalLines(error.message)}\n`)
    exit(signals.exitCode)
  } finally {
    shown?.bar.stop()
    signals.dispose()
  }
}

export interface Progress {
  /** `text` is shown beside the bar. */
  update(done: number, text: string): void
  stop(): void
}

/** Maximum width of the text beside the bar. */
const besideBarChars = 48

/** A bar on standard error; nothing when that is not a terminal. `total` is in the unit of `done`. Without it only the text is shown. */
export function showProgress({ stderr }: Pick<Terminal, 'stderr'>, total: number | undefined): Progress {
  if (stderr.isTTY !== true) return { update: () => {}, stop: () => {} }
  const bar = new SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: total === undefined ? '{text}' : '{bar} {percentage}% {text}',
    barsize: Math.min(40, Math.max(10, (stderr.columns ?? 80) - besideBarChars)),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    linewrap: false,
    gracefulExit: false,
    clearOnComplete: true,
  })
  bar.start(total ?? 1, 0, { text: '' })
  return {
    update: (done, text) => bar.update(total === undefined ? 0 : Math.min(done, total), { text }),
    stop: () => bar.stop(),
  }
}
