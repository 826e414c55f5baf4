/** A program that uses the library gets no warnings about kafkajs's timers. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { brokers } from '../harness.ts'

test('a program that talks to a broker and ends prints nothing', async () => {
  const log = fileURLToPath(new URL('../../../src/kafka/log.ts', import.meta.url))
  const program = `
    const { connectLog } = await import(${JSON.stringify(log)})
    const log = connectLog({ brokers: ${JSON.stringify(brokers)}, clientId: 'quiet' })
    const admin = await log.admin()
    for (let n = 0; n < 5; n++) await admin.groups('none')
    await admin.close()
    console.log('done')`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect({ stdout, stderr }).toEqual({ stdout: 'done\n', stderr: '' })
})
