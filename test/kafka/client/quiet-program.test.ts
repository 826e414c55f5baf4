/** A program that uses the library gets no warnings about kafkajs's timers, from whatever it opens. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { brokers, makeTopics } from '../harness.ts'

test('a program that writes, reads and asks, and ends, prints nothing', async () => {
  const { jobs } = await makeTopics(['jobs'])
  const log = fileURLToPath(new URL('../../../src/log/kafka/log.ts', import.meta.url))
  const program = `
    const { connectLog } = await import(${JSON.stringify(log)})
    const log = connectLog({ brokers: ${JSON.stringify(brokers)}, clientId: 'quiet' })
    const topic = ${JSON.stringify(jobs)}
    const record = { topic, key: 'k', value: Buffer.from('v') }
    const admin = await log.admin()
    for (let n = 0; n < 5; n++) await admin.groups('none')
    const [writer, fenced] = [await log.writer(), await log.transactionalWriter(topic + '.id')]
    await Promise.all([writer.write([record]), fenced.commit([record])])
    const read = Promise.withResolvers()
    const reader = log.reader({
      groupId: topic + '.group', topics: [topic], instance: 'i',
      onAssigned: () => undefined, onBatch: () => read.resolve(), onCrash: read.reject,
    })
    await reader.start()
    await read.promise
    await reader.stop()
    await log.readToEnd({ topics: [topic], onRecord() {}, onProgress() {}, signal: new AbortController().signal })
    await Promise.all([writer.close(), fenced.close(), admin.close()])
    console.log('done')`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect({ stdout, stderr }).toEqual({ stdout: 'done\n', stderr: '' })
})
