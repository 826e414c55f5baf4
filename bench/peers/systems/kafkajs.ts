/** Bare kafkajs: what a program gets that writes the same records without a scheduler. The limit of this client and this log. */
import kafkajs from 'kafkajs'
import { writeBatches } from '../../tools/batches.ts'
import type { PeerJob, System } from './system.ts'

const inFlight = 8

export const bareKafkajs: System = {
  async produce({ url, prefix }) {
    const kafka = new kafkajs.Kafka({ brokers: [url], logLevel: kafkajs.logLevel.NOTHING })
    const topic = `${prefix}bare`
    const admin = kafka.admin()
    await admin.connect()
    await admin.createTopics({ topics: [{ topic, numPartitions: 4 }] })
    const producer = kafka.producer({ idempotent: true })
    await producer.connect()
    const messageOf = ({ id, dueAtMs, payload }: PeerJob) => ({ key: id, value: JSON.stringify({ dueAtMs, payload }) })
    const send = (jobs: PeerJob[]) => producer.send({ topic, acks: -1, messages: jobs.map(messageOf) })
    return {
      async schedule(job) {
        await send([job])
      },
      scheduleMany: (jobs) => writeBatches(jobs, inFlight, send),
      async count() {
        const ends = await admin.fetchTopicOffsets(topic)
        return ends.reduce((sum, { high }) => sum + Number(high), 0)
      },
      async close() {
        await Promise.all([producer.disconnect(), admin.disconnect()])
      },
    }
  },
}
