/** Joins a group, reports it, and stays until it is killed. Its session lasts 10 minutes. */

import { newInstance } from '../../src/ground/process/instance.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { succeed } from '../../src/program/system/former-process.ts'

const { brokers, groupId, topic, dataDir } = JSON.parse(process.env.MEMBER ?? '') as {
  brokers: string[]
  groupId: string
  topic: string
  dataDir: string
}
const instance = newInstance()
const log = connectLog({ brokers, clientId: instance, sessionTimeoutMs: 600_000 })
await succeed({ dataDir, instance, groups: [groupId], log, logger: { debug() {}, info() {}, warn() {}, error() {} } })
const reader = log.reader({
  groupId,
  topics: [topic],
  instance,
  onAssigned: () => undefined,
  onBatch: () => undefined,
  onCrash: (error) => {
    throw error
  },
})
await reader.start()
process.stdout.write('joined\n')
