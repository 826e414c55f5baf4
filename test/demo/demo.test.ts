/** The whole demo on the real broker, with a shorter day. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type DemoOptions, runDemo } from '../../src/program/demo/demo.ts'

// A folder for temporary files of our own, so that what is left in it was left by us.
const temporary = mkdtempSync(join(tmpdir(), 'duelog-test-'))
beforeAll(() => {
  vi.stubEnv('TMPDIR', temporary)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(temporary, { recursive: true, force: true })
})

function demo(name: string, signal = new AbortController().signal) {
  const written: string[] = []
  const listeners: ((text: string) => void)[] = []
  const output = {
    write(text: string) {
      written.push(text)
      for (const listener of listeners) listener(text)
    },
  }
  const options: DemoOptions = {
    ...{ seconds: 5, jobs: 60, output, signal },
    logger: pino({ level: 'silent' }),
    env: {
      KAFKA_BROKERS: process.env.DUELOG_TEST_BROKERS ?? '',
      SCHEMA_REGISTRY_URL: process.env.DUELOG_TEST_REGISTRY ?? '',
      DUELOG_TOPIC_PREFIX: `demo-${name}-${process.pid}-${Date.now()}.`,
    },
  }
  return {
    run: () => runDemo(options),
    text: () => written.join(''),
    onWrite: (listener: (text: string) => void) => listeners.push(listener),
  }
}

describe('the demo', () => {
  it('runs each occurrence exactly once and proves it from the log', async () => {
    const { run, text } = demo('whole')
    expect(await run(), text()).toBe('proved')
    expect(text()).toContain('each of 158 occurrences ran exactly once')
    expect(readdirSync(temporary)).toEqual([])
  })
  it('stops cleanly in the middle of the day', async () => {
    const controller = new AbortController()
    const { run, text, onWrite } = demo('stopped', controller.signal)
    onWrite((line) => line.startsWith('Imported') && controller.abort())
    expect(await run()).toBe('interrupted')
    expect(text()).toContain('Stopping')
    expect(text()).not.toContain('proved')
    expect(readdirSync(temporary)).toEqual([])
  })
})
