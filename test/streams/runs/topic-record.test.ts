/** The record that a consumer of a target topic gets. */
import { expect, it } from 'vitest'
import { JobHistory } from './history.ts'

const recordOf = (target: object, more: object = {}) => {
  const job = new JobHistory().define({ target: { topic: { name: 'orders', ...target } }, ...more }).until(1_000)
  const [output] = job.out
  return output?.kind === 'record' ? { record: output.record } : expect.fail()
}

it('the record has the payload unchanged, the key of the job, and headers that name the run', () => {
  const { record } = recordOf({}, { payload: Buffer.from('p'), headers: { trace: Buffer.from('1') } })
  expect(record).toEqual({
    topic: 'orders',
    partition: null,
    key: 'job',
    value: Buffer.from('p'),
    headers: {
      trace: Buffer.from('1'),
      'duelog-job-id': 'job',
      'duelog-run-no': '1',
      'duelog-scheduled-for': '1000',
      'duelog-execution-id': 'job/1@0-0',
    },
  })
})

it('it may have a key and a partition of its own, and no value', () => {
  expect(recordOf({ key: Buffer.from('k'), partition: 3 }).record).toMatchObject({
    key: Buffer.from('k'),
    partition: 3,
    value: null,
  })
})

it('headers with reserved names are ours, whatever the job defines', () => {
  const { record } = recordOf({}, { headers: { 'duelog-job-id': Buffer.from('another') } })
  expect(record.headers['duelog-job-id']).toBe('job')
})
