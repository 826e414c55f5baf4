/** What the API shows of executor processes, from what their members announce. */
import { expect, it } from 'vitest'
import { processesNoteOf } from '../../../src/ground/records/worker-data.ts'
import { listExecutors } from '../../../src/server/api/owners/workers.ts'
import { topicNames } from '../../../streams/topics/index.ts'

const names = topicNames('t.')
const note = {
  ...{ parent: 'w@host:7:a', wanted: 3, min: 1, max: 4, reason: 'backlog', pool: 'mail', at: 5_000, coolDownMs: 60_000 },
}
const member = (instance: string, processes: unknown) => ({ instance, userData: { processes }, assigned: [] })

const listed = (groups: Record<string, ReturnType<typeof member>[]>) =>
  listExecutors({
    names,
    admin: {
      groups: async (prefix) => Object.keys(groups).filter((id) => id.startsWith(prefix)),
      groupMembers: async (id) => (groups[id] ?? []) as never,
    },
  })

it('executor processes are listed by parent, each once, by the last decision', async () => {
  const found = await listed({
    't.exec.mail': [
      member('w@host:8:a', note),
      member('w@host:9:a', { ...note, wanted: 1, reason: 'start', pool: null, at: 1_000 }),
    ],
    't.exec.other': [member('w@host:8:a', note), member('w@b:1:a', { ...note, parent: 'w@b:2:a' }), member('worker@c:1:a', null)],
  })
  expect(found).toMatchObject([
    { parent: 'w@b:2:a', host: 'b', pid: 2, running: 1, pools: ['other'] },
    {
      parent: 'w@host:7:a',
      running: 2,
      wanted: 3,
      min: 1,
      max: 4,
      pools: ['mail', 'other'],
      reason: 'backlog',
      reasonPool: 'mail',
    },
  ])
  expect(found[1]?.since).toBe('1970-01-01T00:00:05.000Z')
})

it.each([
  [null],
  [{}],
  [{ ...note, parent: 7 }],
  [{ ...note, parent: 'x'.repeat(513) }],
  [{ ...note, wanted: -1 }],
  [{ ...note, max: 1.5 }],
  [{ ...note, at: 9e15 }],
  [{ ...note, pool: 1 }],
  [{ ...note, reason: null }],
])('what no executor process says is not read: %#', (processes) => {
  expect(processesNoteOf({ processes })).toBeUndefined()
})
