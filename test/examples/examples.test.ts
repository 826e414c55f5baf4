/** Every example runs to its end against a Duelog of its own, as a newcomer would run it, and says what it should. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { signingKey } from '../../examples/cluster.ts'
import { readHouseFile } from '../house/tree.ts'
import { brokers, registryUrl } from '../kafka/harness.ts'
import { duelogEnvironment } from '../setup/environment.ts'
import { openPlace } from '../targets/harness.ts'

const folder = fileURLToPath(new URL('../../examples/', import.meta.url))
const run = promisify(execFile)
const endMsMax = 100_000

/** Starts Duelog as examples/README.md does, runs the example to its end and resolves with what it wrote. */
async function outputOf(example: string): Promise<string> {
  const place = await openPlace()
  const topic = await place.make('orders')
  const system = await place.start({ DUELOG_HTTP_ALLOW: '127.0.0.1', DUELOG_HTTP_SIGNING_KEY: signingKey })
  const env = duelogEnvironment({
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DUELOG_TOPIC_PREFIX: place.prefix,
    DUELOG_URL: system.url,
    EXAMPLE_TOPIC: topic,
  })
  const { stdout } = await run(process.execPath, [`${folder}${example}`], {
    env,
    timeout: endMsMax,
  }).catch((error: { message: string; stdout?: string }) => {
    throw new Error(`${example} failed: ${error.message}\n${error.stdout ?? ''}`)
  })
  return stdout
}

const examples: Record<string, (output: string) => void> = {
  'reminders.ts': (output) => expect(output).toContain('reminded: ann, carol\n'),
  'nightly-report.ts': (output) => {
    expect(output.match(/^(berlin|new-york|tokyo): the next nights are /gm)).toHaveLength(3)
    expect(output.match(/^(berlin|new-york|tokyo): report of the night of \d{4}-\d\d-\d\d 04:00:00$/gm)).toHaveLength(3)
  },
  'delayed-messages.ts': (output) => {
    const lines = ['order-500', 'order-1000', 'order-1500'].map((key) => `${key}: {"event":"payment-expired"} (on time)`)
    expect(output).toBe(`${[...lines, 'messages: 3'].join('\n')}\n`)
  },
  'webhook.ts': (output) => {
    const attempts = [503, 503, 200].map((status, index) => `attempt ${index + 1} of order-7%2Fpaid/1: ${status}`)
    // All three have one key, which names the life of the job as well.
    const [, life = ''] = /paid\/1(@[\w-]+):/.exec(output) ?? []
    expect(life).not.toBe('')
    expect(output.replaceAll(life, '')).toBe(`${[...attempts, 'delivered: {"order":7,"event":"paid"}'].join('\n')}\n`)
  },
  'fan-out.ts': (output) => {
    expect(output).toContain('scheduled: 10000\n')
    const [, sent, atOnce] = /sent: (\d+), at most (\d+) at once/.exec(output) ?? []
    expect(Number(sent)).toBe(10_000)
    expect(Number(atOnce)).toBeLessThanOrEqual(50)
  },
}

test.each(Object.entries(examples))('%s', async (example, check) => check(await outputOf(example)), 120_000)

test('every example has a test and is in the README', () => {
  const { text } = readHouseFile('examples/README.md')
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  // Not programs: the place they share, and handlers for the workers of Duelog.
  expect(files.filter((name) => !['cluster.ts', 'handlers.ts'].includes(name)).toSorted()).toEqual(
    Object.keys(examples).toSorted(),
  )
  for (const name of files) expect(text).toContain(`\`${name}\``)
})
