/** Foreign members in our groups: with any metadata of theirs, our members get their partitions. */
import fc from 'fast-check'
import { AssignerProtocol } from 'kafkajs'
import { expect, it } from 'vitest'
import settings from '../../../schemas/config.json' with { type: 'json' }
import { BrokerAdmin } from '../../../src/log/kafka/client/admin.ts'
import { metadataBytesMax, metadataOf } from '../../../src/log/kafka/client/coordinator.ts'
import { protocolOf } from '../../../src/log/kafka/group/assignors.ts'
import { userDataOf } from '../../../src/log/kafka/group/member-user-data.ts'
import { logAdminOf } from '../../../src/log/kafka/log.ts'

const topics = ['t.jobs', 't.job-state']
const note = () => userDataOf({ instance: 'a@host:1:1' } as Parameters<typeof userDataOf>[0], new Map(), 0)
/** Of a topic that no member has. */
const warmth = { topic: 't.none', warm: '' }
const ofStandby = (standby: object): Buffer =>
  Buffer.from(
    JSON.stringify({
      owned: [],
      generation: 1,
      standby: { wanted: 1, topics: [], following: [], copies: [], warmth, ...standby },
    }),
  )
const metadata = (userData: Buffer): Buffer => AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData })

it.each([
  ['nothing', Buffer.alloc(0)],
  ['a byte', Buffer.of(1)],
  ['a count without what is counted', Buffer.from('00007fffffff', 'hex')],
  ['noise', Buffer.from('0000000000010005ff', 'hex')],
  ['a note of noise', metadata(Buffer.from('{"owned":[null,{},"x",1e99,-5],"generation":"NaN","standby":{"wanted":1e9}}'))],
  ['a note that is no object', metadata(Buffer.from('null'))],
  ['a note that follows what is no partition', metadata(ofStandby({ following: [{}, 'x', null], copies: [[1], [2, 3, 4]] }))],
])('a member whose metadata is %s does not take the partitions of others', async (_what, rogue) => {
  const shares = await sharesBeside(rogue)
  // A foreign member that reads the topics gets its share.
  expect(shares['t.jobs']).toHaveLength(rogue.includes('t.jobs') ? 2 : 4)
})

it('a member whose user data is too large for a broker sends none', async () => {
  const long = metadata(ofStandby({ following: Array.from({ length: metadataBytesMax / 2 }, () => 1) }))
  expect(long.length).toBeGreaterThan(metadataBytesMax)
  const shares = await sharesBeside(long)
  expect(shares['t.jobs']).toHaveLength(4)
})

it('a member that names a topic that only owners read does not turn standbys into owners', async () => {
  const standbys = () => ({ wanted: 1, topics: ['t.jobs'], copies: () => [], warmth: { ...warmth, warm: () => [] } })
  const ours = userDataOf(
    { instance: 'a@host:1:1', standbys: standbys() } as unknown as Parameters<typeof userDataOf>[0],
    new Map(),
    0,
  )
  const shares = await sharesBeside(metadata(ofStandby({ topics })), () => ours)
  expect([shares['t.jobs']?.length, shares['t.job-state']?.length]).toEqual([4, 2])
})

it('a member that names unknown topics gets none of them', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `none-${index}`)
  const rogue = AssignerProtocol.MemberMetadata.encode({ version: 0, topics: [...topics, ...names], userData: Buffer.alloc(0) })
  expect(Object.keys(await sharesBeside(rogue, note, 'rogue'))).toEqual(topics)
})

it('an unreadable member does not hide the rest of its group', async () => {
  const garbage = { clientId: 'x', memberMetadata: Buffer.of(1), memberAssignment: Buffer.of(0, 1, 2) }
  const ours = metadata(Buffer.from(JSON.stringify(note())))
  const members = [
    { ...garbage, memberId: 'rogue' },
    { ...garbage, memberId: 'ours', memberMetadata: ours, memberAssignment: Buffer.alloc(0) },
  ]
  const kafka = { admin: () => ({ connect: async () => {}, describeGroups: async () => ({ groups: [{ members }] }) }) }
  const admin = logAdminOf(await BrokerAdmin.open(kafka as never))
  expect(await admin.groupMembers('t.scheduler')).toMatchObject([
    { memberId: 'rogue', assigned: [] },
    { memberId: 'ours', instance: 'a@host:1:1', assigned: [] },
  ])
})

it('a member that wants too many standbys gets the maximum setting', async () => {
  const rogue = metadata(ofStandby({ wanted: 1e9, topics: ['t.jobs'] }))
  const shares = await sharesOf(['a', 'b', 'c', 'd', 'e'], rogue, () => noteOfStandby('a'))
  const readers = shares.flatMap((share) => share['t.jobs'] ?? [])
  for (const partition of partitions) expect(readers.filter((each) => each === partition)).toHaveLength(1 + standbysMax)
})

it('whatever user data a member sends, each partition has one owner and a bounded number of standbys', async () => {
  const number = fc.oneof(fc.integer({ min: -1, max: 6 }), fc.constantFrom(1e9, -1e9, 2 ** 53, 1e99))
  const some = fc.array(fc.oneof(number, number, number, fc.jsonValue()), { maxLength: 8 })
  const topic = fc.constantFrom('t.jobs', 't.job-state', 'none')
  const orAny = <Value>(usual: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 5, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: fc.jsonValue() })
  const standby = fc.record(
    {
      wanted: orAny(number),
      topics: orAny(fc.array(topic)),
      following: orAny(some),
      copies: orAny(fc.array(fc.tuple(number, number))),
      warmth: orAny(fc.record({ topic, warm: fc.base64String({ maxLength: 8 }) })),
    },
    { requiredKeys: ['wanted', 'topics', 'following', 'copies', 'warmth'] },
  )
  const said = fc.record(
    {
      instance: orAny(fc.constantFrom('a@host:1:1', '@', 'b@other:1:1')),
      owned: orAny(some),
      generation: orAny(number),
      leaving: orAny(fc.boolean()),
      yields: orAny(fc.boolean()),
      standby: orAny(standby),
    },
    { requiredKeys: [] },
  )
  const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'x', 'y'), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(ids, fc.array(orAny(said), { minLength: 1, maxLength: 2 }), async (ours, rogues) => {
      const made = rogues.map((rogue) => metadata(Buffer.from(JSON.stringify(rogue))))
      const shares = await sharesOf(ours, made, () => noteOfStandby('a'))
      const own = shares.slice(0, ours.length)
      for (const partition of partitions) {
        const of = (some: typeof shares, topic: string) => some.filter((share) => share[topic]?.includes(partition)).length
        expect(of(shares, 't.job-state')).toBeGreaterThanOrEqual(1)
        expect(of(own, 't.job-state')).toBeLessThanOrEqual(1)
        expect(of(shares, 't.jobs')).toBeLessThanOrEqual(1 + standbysMax + rogues.length)
      }
      for (const share of own) for (const topic of topics) expect(new Set(share[topic]).size).toBe(share[topic]?.length ?? 0)
    }),
    { numRuns: 500 },
  )
})

const partitions = [0, 1, 2, 3]
const standbysMax = settings.properties.DUELOG_STANDBYS.maximum

/** A member of ours that knows standbys. */
function noteOfStandby(name: string): ReturnType<typeof userDataOf> {
  const standbys = { wanted: 1, topics: ['t.jobs'], copies: () => [], warmth: { ...warmth, warm: () => [] } }
  return userDataOf({ instance: `${name}@host:1:1`, standbys } as unknown as Parameters<typeof userDataOf>[0], new Map(), 0)
}

/** The assignments of members by topic: ours, then foreign ones with arbitrary metadata. */
async function sharesOf(ids: readonly string[], rogues: Buffer | Buffer[], ours: () => ReturnType<typeof userDataOf>) {
  const rule = protocolOf('co-partitioned', ours)
  const members = [
    ...ids.map((memberId) => ({ memberId, topics, userData: rule.userData() })),
    ...[rogues].flat().map((bytes, index) => {
      const metadata = metadataOf(bytes)
      return { memberId: `rogue-${index}`, topics: metadata?.topics ?? [], userData: metadata?.userData }
    }),
  ]
  const shares = rule.assign(members, new Map(topics.map((topic) => [topic, partitions.length])))
  return members.map(({ memberId }) => shares.get(memberId) ?? {})
}

/** The assignment of one of two members, by topic. Default: of ours. */
async function sharesBeside(rogue: Buffer, ours: () => ReturnType<typeof userDataOf> = note, of: 'ours' | 'rogue' = 'ours') {
  const [own = {}, foreign = {}] = await sharesOf(['ours'], rogue, ours)
  return of === 'ours' ? own : foreign
}
