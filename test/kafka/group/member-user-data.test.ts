import { expect, test } from 'vitest'
import { instanceParts } from '../../../src/ground/process/index.ts'
import { handlersOf, slotsOf, versionOf } from '../../../src/ground/records/worker-data.ts'
import { readUserData } from '../../../src/log/kafka/group/member-user-data.ts'

const read = (note: unknown) => readUserData('member-1', Buffer.from(JSON.stringify(note)))

test('what a foreign member announces is limited in length and value', () => {
  expect(read({ instance: '@:'.repeat(200_000) }).instance).toBe('member-1')
  expect(readUserData('m'.repeat(100_000), undefined).instance.length).toBe(512)
  expect(read({ instance: 'w', owned: [0, -1, 1e300, 2.5, '3', 4], generation: 1e308 })).toMatchObject({
    ...{ instance: 'w', owned: [0, 4], generation: 0 },
  })
  expect(readUserData('member-1', Buffer.from('{"generation":"Infinity"}')).generation).toBe(0)
  const standby = { wanted: 1, topics: ['t'], following: [], copies: [], warmth: { topic: 'u', warm: '' } }
  expect(read({ standby }).standby).toEqual(standby)
  for (const bad of [
    { wanted: -1 },
    { following: [-1] },
    { copies: [[0]] },
    { copies: [[0, 1e300]] },
    { topics: ['t'.repeat(1_001)] },
    { warmth: undefined },
    { warmth: { topic: 'u', warm: 1 } },
  ])
    expect(read({ standby: { ...standby, ...bad } }).standby).toBeUndefined()
})

test('slots, version and handlers that no worker can have count as not announced', () => {
  expect([1, 10_000].map((concurrency) => slotsOf({ concurrency }))).toEqual([1, 10_000])
  expect([0, -1, 1.5, 10_001, 1e308, '5', null].map((concurrency) => slotsOf({ concurrency }))).toEqual(new Array(7).fill(null))
  expect(versionOf({ version: '1'.repeat(65) })).toBeNull()
  expect(handlersOf({ handlers: ['a', 'b'.repeat(129)] })).toBeNull()
})

test('the parts of an instance are read of ours alone, and of a text of any length at once', () => {
  expect(instanceParts('w@host:1:abc')).toEqual({ name: 'w', host: 'host', pid: 1 })
  expect(instanceParts('w@::1:12:abc')).toEqual({ name: 'w', host: '::1', pid: 12 })
  for (const foreign of ['w', 'w@h', 'w@h:x:y', '@h:1:b', `w@${':1'.repeat(500_000)}`])
    expect(instanceParts(foreign)).toBeUndefined()
})
