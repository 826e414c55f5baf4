/** What a backup reads of one job: only what still counts, and never less because something did not answer. */
import { expect, it } from 'vitest'
import type { FollowUp, FollowUpQueue } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Codecs } from '../../src/log/kafka/index.ts'
import { PartDecoder } from '../../src/tools/backup/part-decoder.ts'
import { offsetKey, parts } from '../../src/tools/backup/scratch.ts'
import { codecs } from '../model/world.ts'

const queue = { firstPage: 3, lastPage: 4, taken: 1, count: 3, bytes: 0, lookAt: null } as FollowUpQueue
const followUp = (commandId: string): FollowUp => ({
  ...{ commandId, at: 1, chainDepth: 1, chainLeft: 9, cause: null, payload: null },
})
const page = (number: number, ...ids: string[]) => ({
  ...{ part: parts.followUps, rest: offsetKey(number) },
  value: codecs.state.encode({ followUps: { items: ids.map(followUp) } }),
})

it('follow-ups are those that wait: none that has run, and none of a page that was taken as a whole', async () => {
  const decoder = new PartDecoder(codecs as unknown as Codecs)
  const entries = [page(2, 'ran-1'), page(3, 'ran-2', 'a', 'b'), page(4, 'c'), page(5, 'of-later')]
  expect((await decoder.followUps(entries, queue)).map(({ commandId }) => commandId)).toEqual(['a', 'b', 'c'])
  expect(await decoder.followUps(entries, null)).toEqual([])
})

it('what cannot be decoded is counted, and a registry that does not answer ends the backup', async () => {
  const decoder = new PartDecoder(codecs as unknown as Codecs)
  const failing = (code: 'undecodable' | 'registry-unavailable') => () => Promise.reject(new DuelogError(code, 'It failed.'))
  expect(await decoder.decoded(failing('undecodable'))).toBeUndefined()
  await expect(decoder.decoded(failing('registry-unavailable'))).rejects.toMatchObject({ code: 'registry-unavailable' })
  expect(decoder.unreadable).toBe(1)
})
