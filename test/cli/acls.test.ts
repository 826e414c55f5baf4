/** `duelog acls`, which contacts no broker. */
import { expect, it } from 'vitest'
import { accessRoles } from '../../schemas/access.ts'
import { duelogHere } from './built-program.ts'

it('prints the commands that grant a role what it needs, for this prefix and these topics', async () => {
  const env = { DUELOG_TOPIC_PREFIX: 'p.', DUELOG_TARGET_TOPICS: 'orders,mail.*' }
  const { code, out } = await duelogHere(['acls', '--role', 'scheduler', '--principal', "User:CN=o'brien"], { env })
  expect(code).toBe(0)
  const lines = out.trimEnd().split('\n')
  expect(
    lines.every((line) => line.startsWith('kafka-acls.sh --bootstrap-server localhost:9092 --add --force --allow-principal ')),
  ).toBe(true)
  expect(lines.every((line) => line.includes("'User:CN=o'\\''brien'"))).toBe(true)
  expect(out).toContain('--operation Write --transactional-id p.scheduler- --resource-pattern-type prefixed')
  expect(out).toContain('--operation Write --operation DescribeConfigs --topic mail. --resource-pattern-type prefixed')
  expect(out).toContain('--topic orders --resource-pattern-type literal')
})

it('signs in with a properties file, and refuses a principal that Kafka would not accept', async () => {
  const { out } = await duelogHere(['acls', '--role', 'api', '--principal', 'User:d', '--command-config', 'my admin.properties'])
  const program = "kafka-acls.sh --bootstrap-server localhost:9092 --command-config 'my admin.properties' --add "
  expect(
    out
      .trimEnd()
      .split('\n')
      .every((line) => line.startsWith(program)),
  ).toBe(true)
  const wrong = await duelogHere(['acls', '--principal', 'duelog'])
  expect(wrong).toMatchObject({ code: 2, out: '' })
  expect(wrong.err).toContain('User:duelog')
})

it('merges the needs of several roles for one resource, and names the existing roles', async () => {
  const entries = (await duelogHere(['acls', '--role', 'scheduler,api,executor', '--json'])).json()
  const places = entries.map(({ resource, pattern, name }) => `${resource} ${pattern} ${name}`)
  expect(new Set(places).size).toBe(places.length)
  expect(entries.find(({ name }) => name === 'duelog.jobs')).toMatchObject({ operations: ['Read', 'Write'] })
  const wrong = await duelogHere(['acls', '--role', 'owner'])
  expect(wrong.code).toBe(2)
  for (const role of Object.keys(accessRoles)) expect(wrong.err).toContain(role)
})
