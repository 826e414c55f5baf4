/**
 * How an executor process learns what its parent has decided about the number of processes. It announces it to its groups, where the API
 * reads it. Each change of the number makes the groups share their partitions again, so the members announce the last one.
 *
 *   child ──{ask: processes}──► parent ──{note}──► child        at the start of the child, and the note again after each decision
 */
import type { ProcessesNote } from '../ports/index.ts'
import type { Channel } from './child-metrics.ts'

const question = 'duelog:processes'

export const isNoteQuestion = (message: unknown): boolean => (message as { ask?: unknown } | null)?.ask === question

/** The message of the parent. */
export const noteMessage = (note: ProcessesNote): object => ({ answer: question, note })

/** The child's side: the last note, as the user data of its memberships. */
export function followNote(channel: Channel): () => { processes?: ProcessesNote } {
  let last: { processes?: ProcessesNote } = {}
  channel.on('message', (message) => {
    const { answer, note } = (message ?? {}) as { answer?: unknown; note?: ProcessesNote }
    if (answer === question && note !== undefined) last = { processes: note }
  })
  channel.send?.({ ask: question }, () => {})
  return () => last
}
