/** `duelog generate` on a real Duelog. */
import { describe, expect, test } from 'vitest'
import { main } from '../../src/program/cli/program.ts'
import { FakeTerminal } from '../cli/fake-terminal.ts'
import { brokers, openSite, registryUrl, type Site } from '../faults/harness.ts'

async function generate({ prefix }: Site, ...args: string[]): Promise<{ code: number; text: string }> {
  const terminal = new FakeTerminal({
    env: { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl, DUELOG_TOPIC_PREFIX: prefix },
  })
  const code = await main(['generate', '--delay', '300', ...args], terminal)
  return { code, text: [...terminal.out, ...terminal.err].join('') }
}

describe.concurrent('duelog generate', () => {
  test('sends jobs, finds each of their runs in the log, and ends with a table and 0', async (context) => {
    const site = await openSite(context)
    await site.system('all', 'all')
    const one = await generate(site, '--rate', '100', '--duration', '2', '--priority', 'high:1,0:3', '--payload-bytes', '50')
    expect(one.text).toMatch(/runs expected +│ +200 │/)
    expect(one.text).toMatch(/runs succeeded +│ +200 │/)
    expect(one.text).toMatch(/lost +│ +0 │/)
    expect(one.text).toMatch(/start lateness, p99 +│ +[\d,]+ ms │/)
    expect(one.code).toBe(0)
    const levels = new Set(site.checker.executions.map(({ priority }) => priority))
    expect([...levels].toSorted()).toEqual(['HIGH', 'LOW'])
    for (const kind of ['every', 'cron']) {
      const more = await generate(site, '--kind', kind, '--rate', '10', '--duration', '1', '--runs', '2', '--every-ms', '200')
      expect(more.text).toMatch(/runs succeeded +│ +20 │/)
      expect(more.code).toBe(0)
    }
  })

  test('ends with 1 when runs are lost, and says how many', async (context) => {
    const site = await openSite(context)
    // Nobody runs what is dispatched.
    await site.system('scheduler', 'owner')
    const { code, text } = await generate(site, '--rate', '20', '--duration', '1', '--wait', '0')
    expect(text).toMatch(/lost +│ +20 │/)
    expect(text).toContain('NOT whole')
    expect(code).toBe(1)
  })
})

test.each([
  [['--rate', '0'], /--rate.*Allowed: a number from 0.1/],
  [['--kind', 'daily'], /--kind.*at, every, cron/],
  [['--priority', 'URGENT'], /Allowed: HIGH, NORMAL, LOW, or a whole number from 0 to 9/],
  [['--priority', '10'], /Allowed: HIGH, NORMAL, LOW/],
  [['--priority', '7:0'], /with shares from 1 to 100/],
  [['--priority', 'LOW:1,low:2'], /each at most once/],
  [['--payload-bytes', '1.5'], /Allowed: an integer from 0/],
])('refuses %j with a sentence', async (args, message) => {
  const terminal = new FakeTerminal({ env: {} })
  expect(await main(['generate', ...args], terminal)).toBe(2)
  expect([...terminal.out, ...terminal.err].join('')).toMatch(message)
})
