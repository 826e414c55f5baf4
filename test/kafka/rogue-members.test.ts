/** Members of our groups that are not ours: whatever they say of themselves, the others get their partitions. */
import { type Assigner, AssignerProtocol, type Cluster } from 'kafkajs'
import { expect, it } from 'vitest'
import { createAssigner } from '../../src/kafka/assignors.ts'
import { noteOf } from '../../src/kafka/member-note.ts'

const topics = ['t.jobs', 't.job-state']
const cluster = { findTopicPartitionMetadata: () => Array.from({ length: 4 }) } as unknown as Cluster
const note = () => noteOf({ instance: 'a@host:1:1' } as Parameters<typeof noteOf>[0], new Map(), 0)
const metadata = (userData: Buffer): Buffer => AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData })

it.each([
  ['nothing', Buffer.alloc(0)],
  ['a byte', Buffer.of(1)],
  ['a count without what is counted', Buffer.from('00007fffffff', 'hex')],
  ['noise', Buffer.from('0000000000010005ff', 'hex')],
  ['a note of noise', metadata(Buffer.from('{"owned":[null,{},"x",1e99,-5],"generation":"NaN","standby":{"wanted":1e9}}'))],
  ['a note that is no object', metadata(Buffer.from('null'))],
])('a member whose metadata is %s does not keep the others from theirs', async (_what, rogue) => {
  const kind = createAssigner('co-partitioned', note)({ cluster } as never) as Assigner
  const members = [
    { memberId: 'ours', memberMetadata: kind.protocol({ topics }).metadata },
    { memberId: 'rogue', memberMetadata: rogue },
  ]
  const assignments = await kind.assign({ members, topics } as never)
  const ours = assignments.find(({ memberId }) => memberId === 'ours')
  const decoded = AssignerProtocol.MemberAssignment.decode(ours?.memberAssignment as Buffer)
  // One that reads the topics has its share.
  expect(decoded?.assignment['t.jobs']).toHaveLength(rogue.includes('t.jobs') ? 2 : 4)
})
