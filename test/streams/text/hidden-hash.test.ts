/** How Duelog knows that a run was made with the headers and the http target of the definition in force. */
import { expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { hiddenHash } from '../../../streams/text/hashes.ts'
import { JobHistory } from '../runs/history.ts'

const base: JobDefinitionInput = { schedule: { everyMs: 1_000 }, target: { handler: 'noop' } }
const hashOf = (more: Partial<JobDefinitionInput> = {}): number => hiddenHash(completeDefinition({ ...base, ...more }))
const secret = { headers: { key: Buffer.from('secret') } }

it('the hash is 0 without headers and http target, and depends only on these', () => {
  expect(hashOf()).toBe(0)
  expect(hashOf({ payload: Buffer.from('1') })).toBe(0)
  expect(hashOf(secret)).toBe(hashOf({ ...secret, priority: 'HIGH' }))
  const http = (url: string) => ({ target: { http: { url } } })
  const all = [hashOf(), hashOf(secret), hashOf({ headers: { key: Buffer.from('other') } }), hashOf(http('https://a/b'))]
  expect(new Set([...all, hashOf(http('https://a/c'))]).size).toBe(5)
})

it('the hash is kept with a run that ends under its own definition, and unknown under another', () => {
  const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define({ ...base, ...secret }).until(1_000)
  expect(job.state.lastRun?.hiddenHash).toBe(hashOf(secret))
  const slow = new JobHistory().define({ ...base, ...secret }).until(1_000)
  slow.define({ ...base, headers: { key: Buffer.from('rotated') } })
  slow.report('SUCCEEDED')
  expect(slow.state.lastRun).toMatchObject({ runNo: 1, hiddenHash: null })
})
