/** Pause, drain and resume of pools and workers. Each shows its outcome as a notice. */
import { stateWords } from '../../../streams/text/index.ts'
import type { Pool, Worker } from '../../answers/index.ts'
import { confirmed, say } from './actions.ts'
import { ask, path, RequestProblem } from './request.ts'

export type PauseWord = 'pause' | 'drain' | 'resume'

export async function changePool(pool: string, word: PauseWord): Promise<boolean> {
  if (word !== 'resume') {
    const wanted = await confirmed({
      title: word === 'pause' ? `Pause the pool ${pool}?` : `Drain the pool ${pool}?`,
      consequence:
        word === 'pause'
          ? 'Nothing starts in it until it is resumed. Jobs fire as before, and their runs wait and lose no attempt. Running handlers go on.'
          : 'Its workers do what was dispatched. Further runs wait until it is resumed, and lose no attempt.',
      yes: word === 'pause' ? 'Pause pool' : 'Drain pool',
      safe: true,
    })
    if (!wanted) return false
  }
  return change<Pool>(path(['pools', pool, word]), ({ state }) => `The pool ${pool} ${stateWords(state)}.`)
}

export const changeWorker = (worker: string, word: PauseWord): Promise<boolean> =>
  change<Worker>(path(['workers', worker, word]), ({ state }) => `The worker ${worker} ${stateWords(state)}.`)

async function change<Answer>(route: string, done: (answer: Answer) => string): Promise<boolean> {
  try {
    say(done(await ask<Answer>(route, { method: 'POST', body: {} })))
    return true
  } catch (error) {
    say(error instanceof RequestProblem ? error.message : String(error), true)
    return false
  }
}
