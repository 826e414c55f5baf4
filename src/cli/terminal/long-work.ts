/** A command that works for seconds to hours: a progress bar, one result as text or JSON, and an end by Ctrl-C. */
import { DuelogError } from '../../errors/index.ts'
import { watchSignals } from '../../process/index.ts'
import { exitCodes } from './exit-codes.ts'
import { type Progress, showProgress } from './progress.ts'
import { jsonText, numberText, severalLines } from './style.ts'
import type { Terminal } from './terminal.ts'

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
