/** Operations in a copy: none goes on, and none begins. */
import { expect, it } from 'vitest'
import type { OperationProgress, OperationRecord } from '../../schemas/index.ts'
import type { Operation } from '../../src/ground/ports/operations.ts'
import { hasEnded } from '../../src/ground/records/owners.ts'
import { endedOperation, endsOfUnbegun } from '../../src/tools/backup/frame-job.ts'

const empty = { request: null, progress: null, cancel: null }
const request = { action: 'DELETE' } as OperationRecord['request']
const running = { status: 'RUNNING', startedAt: 5, endedAt: null, parts: [{}] } as unknown as OperationProgress

it('ends those that waited for their turn, and no others', () => {
  const records = new Map<string, OperationRecord>([
    ['waits/request', { id: 'waits', at: 7, ...empty, request }],
    ['runs/request', { id: 'runs', at: 4, ...empty, request }],
    ['runs/progress', { id: 'runs', at: 5, ...empty, progress: running }],
    ['gone/cancel', { id: 'gone', at: 3, ...empty, cancel: { actor: null } as OperationRecord['cancel'] }],
  ])
  const ends = endsOfUnbegun(records)
  expect([...ends.keys()]).toEqual(['waits/progress'])
  const [end] = ends.values()
  expect(end).toMatchObject({
    id: 'waits',
    request: null,
    progress: { status: 'FAILED', endedAt: 7, problem: /had not begun/ },
  })
  expect(hasEnded({ request, progress: end?.progress } as unknown as Operation)).toBe(true)
  // A restore leaves it as it is, and ends the one that ran.
  expect(endedOperation(end ?? expect.fail(), 99)).toEqual(end)
  expect(endedOperation(records.get('runs/progress') ?? expect.fail(), 99).progress).toMatchObject({
    status: 'FAILED',
    endedAt: 99,
    parts: [],
  })
})
