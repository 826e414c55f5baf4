/** The type that users write jobs by. What it lacks does not compile here. */
import { expect, it } from 'vitest'
import type { Backoff, HttpTarget, JobDefinition, Retry, Schedule, Target, TopicTarget } from '../../schemas/generated.ts'
import type { Job } from '../../src/clients/library/index.ts'

/** Fields of a record that the type does not name. */
type Lacking<Record, Type> = Exclude<keyof Record, Keys<Type>>
/** Of all members of a union. */
type Keys<Type> = Type extends unknown ? keyof Type : never
type Given<Name extends keyof Job> = NonNullable<Job[Name]>
type GivenBackoff = NonNullable<Given<'retry'>['backoff']>
type Of<Type, Name extends string> = Type extends { [Key in Name]: infer Value } ? NonNullable<Value> : never

it('names every field of the schema', () => {
  const lacking: [
    // In JSON, the number of a priority is a value of `priority`.
    Exclude<Lacking<JobDefinition, Job>, 'priorityLevel'>,
    Lacking<Schedule, Given<'schedule'>>,
    Lacking<Target, Given<'target'>>,
    Lacking<TopicTarget, Of<Given<'target'>, 'topic'>>,
    Lacking<HttpTarget, Of<Given<'target'>, 'http'>>,
    Lacking<Retry, Given<'retry'>>,
    Lacking<Backoff, GivenBackoff>,
  ][] = []
  expect(lacking satisfies [never, never, never, never, never, never, never][]).toEqual([])
})
