/** The demo on a cluster that asks who its clients are, as the settings say. */
import { pino } from 'pino'
import type { AclEntry } from '../../schemas/access.ts'
import { runDemo } from '../../src/program/demo/demo.ts'

/** What the demo needs, which makes its own topics and groups: everything. */
export const everything: AclEntry[] = (
  [
    ['topic', ['Read', 'Write', 'Create', 'Describe', 'DescribeConfigs', 'AlterConfigs']],
    ['group', ['Read', 'Describe']],
    ['transactional-id', ['Write', 'Describe']],
  ] as const
).map(([resource, operations]) => ({ resource, operations, name: '*', pattern: 'literal', why: '' }))

/** Resolves with the outcome of a short day, and what the demo has written. */
export async function shortDemo(env: Record<string, string>): Promise<{ outcome: string; written: string }> {
  let written = ''
  const outcome = await runDemo({
    ...{ seconds: 1, jobs: 2, logger: pino({ level: 'silent' }), signal: new AbortController().signal },
    output: { write: (text: string) => (written += text) },
    env: env as Parameters<typeof runDemo>[0]['env'] & object,
  })
  return { outcome, written }
}
