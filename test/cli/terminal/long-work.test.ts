/** What a long command shows when a signal ends it: nothing if nothing is left of it, and else what is left and what to do. */
import { expect, test } from 'vitest'
import { DuelogError } from '../../../src/ground/errors/index.ts'
import { showWork } from '../../../src/program/cli/terminal/long-work.ts'

/** A work that a signal ends with this error. */
async function ended(errorOf: (signal: AbortSignal) => unknown): Promise<{ shown: string[]; codes: number[] }> {
  const seen = { shown: [] as string[], codes: [] as number[] }
  const stream = { write: (text: string) => void seen.shown.push(text) }
  const terminal = { stdout: stream, stderr: stream } as never
  await showWork({ terminal, exit: (code) => void seen.codes.push(code) }, {}, async (_, signal) => {
    process.emit('SIGINT', 'SIGINT')
    throw errorOf(signal)
  })
  return seen
}

test('a signal ends a command with its exit code, and the command says what it leaves half done', async () => {
  expect(await ended((signal) => signal.reason)).toEqual({ shown: [], codes: [130] })
  const half = new DuelogError('internal', 'The restore was stopped. Delete the topics, and begin again.')
  expect(await ended(() => half)).toEqual({ shown: [`duelog: ${half.message}\n`], codes: [130] })
})
