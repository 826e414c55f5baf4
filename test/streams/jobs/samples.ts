/** Definitions for tests: a valid one, and random ones that are mostly invalid. */
import fc from 'fast-check'
import { type JobDefinition, type JobDefinitionInput, jobDefinitionSchema } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { limitCases } from './schema-samples.ts'

export function definitionOf(input: Partial<JobDefinitionInput> = {}): JobDefinition {
  return completeDefinition({ schedule: { at: 1_900_000_000_000 }, target: { handler: 'noop' }, ...input })
}

/** Any value that Avro or JSON could decode to. */
export const anything = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.anything({ withBigInt: true, withDate: false, withNullPrototype: true, withTypedArray: true, maxDepth: 3 }),
    fc.constantFrom<unknown>(Number.NaN, -1, 1e300, '', '\u0000', '__proto__', [], {}, Buffer.alloc(3), null, undefined),
  )

/** Random definitions. They are valid except for some fields, whose values are random, at a limit, or beyond one. */
export function wildDefinition(): fc.Arbitrary<unknown> {
  const cases = limitCases(jobDefinitionSchema)
  const change = fc.oneof(
    fc
      .constantFrom(...cases)
      .chain(({ path, passing, failing }) => fc.record({ path: fc.constant(path), value: fc.constantFrom(passing, failing) })),
    fc.record({
      path: fc.constantFrom(
        ...cases.map(({ path }) => path),
        'schedule',
        'target',
        'retry',
        'retry.backoff',
        'headers',
        'priority',
        'schedule.from',
        'paused',
      ),
      value: anything(),
    }),
    fc.record({
      path: fc.constant('schedule.timezone'),
      value: fc.oneof(fc.string(), fc.constantFrom('Europe/Paris', 'Mars/Olympus')),
    }),
    fc.record({
      path: fc.constant('schedule.cron'),
      value: fc.oneof(fc.string(), fc.constantFrom('@daily', '* * * * *', '0 0 31 2 *')),
    }),
  )
  return fc.array(change, { maxLength: 5 }).map((changes) => {
    let definition: unknown = definitionOf()
    for (const { path, value } of changes) definition = replaced(definition, path.split('.'), value)
    return definition
  })
}

function replaced(base: unknown, [first = '', ...rest]: string[], value: unknown): unknown {
  const known = typeof base === 'object' && base !== null ? (base as Record<string, unknown>) : {}
  return { ...known, [first]: rest.length === 0 ? value : replaced(known[first], rest, value) }
}
