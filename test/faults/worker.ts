/** A worker in the test's own process, for the tests whose subject is the owner. */
import { pino } from 'pino'
import { createWorker } from '../../src/clients/library/index.ts'
import type { Test } from '../tools/duelog-process.ts'
import type { Site } from './harness.ts'

export async function openWorker(test: Test, { plan }: Site): Promise<void> {
  const { brokers, registryUrl, prefix: topicPrefix } = plan
  const worker = createWorker({ brokers, registryUrl, topicPrefix, handlers: {}, logger: pino({ level: 'silent' }) })
  test.onTestFinished(() => worker.close())
  await worker.start()
}
