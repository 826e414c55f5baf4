/** `duelog schemas …` on a real registry in which a client registered incompatible versions. */
import { expect, it } from 'vitest'
import { jobDefinitionSchema } from '../../schemas/generated.ts'
import { schemaTexts } from '../../schemas/texts.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'
import { duelogHere } from './built-program.ts'

const ask = async (path: string, body?: object): Promise<unknown> => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return (await fetch(`${registryUrl}${path}`, body === undefined ? {} : init)).json()
}
const trimmed = (...fields: string[]): { schema: string } => ({
  schema: JSON.stringify({
    ...jobDefinitionSchema,
    fields: jobDefinitionSchema.fields.filter(({ name }) => !fields.includes(name)),
  }),
})

it('shows versions that others registered and removes them; records written with them stay readable', async () => {
  const prefix = uniquePrefix()
  const env = { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl, DUELOG_TOPIC_PREFIX: prefix }
  const schemas = (...args: string[]) => duelogHere(['schemas', ...args], { env })
  expect(await schemas('list')).toMatchObject({ code: 0, out: expect.stringContaining('none foreign') })
  const versions = `/subjects/${prefix}jobs-value/versions`
  await createCodecs({ registryUrl, plans: topicPlans(topicNames(prefix), ['default']) })
  // Both satisfy BACKWARD_TRANSITIVE: one loses fields for use.latest.version=true, the other also blocks the next release.
  await ask(versions, trimmed('jitterMs'))
  const { id } = (await ask(versions, trimmed('jitterMs', 'target'))) as { id: number }

  const list = await schemas('list')
  expect(list.code).toBe(1)
  expect(list.out).toMatch(
    new RegExp(`foreign +${prefix}jobs-value +3 +${id} +it lacks JobDefinition.jitterMs, JobDefinition.target\\n`),
  )
  expect(list.out).toMatch(/ 2 +[0-9]+ +it lacks JobDefinition.jitterMs\n/)
  expect((await schemas('list', '--json')).json().filter(({ subject }) => subject === `${prefix}jobs-value`)).toMatchObject([
    { isRegistered: true, versions: [{ standing: 'ours' }, { standing: 'foreign' }, { standing: 'foreign' }] },
  ])
  expect(await schemas('repair')).toMatchObject({ code: 0, out: expect.stringContaining('2 foreign') })
  expect(await ask(`${versions}/latest`)).toMatchObject({ version: 1, schema: schemaTexts['job-definition'] })
  expect(await ask(`/schemas/ids/${id}`)).toMatchObject(trimmed('jitterMs', 'target'))
  expect((await schemas('list')).code).toBe(0)
  // A later release can be registered.
  const later = {
    ...jobDefinitionSchema,
    fields: [...jobDefinitionSchema.fields, { name: 'x', type: ['null', 'int'], default: null }],
  }
  expect(await ask(versions, { schema: JSON.stringify(later) })).toEqual({ id: expect.any(Number) })
  expect((await schemas('list')).code).toBe(0)
})
