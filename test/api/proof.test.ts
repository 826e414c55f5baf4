/** The acknowledgement of faults: it reaches the auditors of other processes, and says who, when and why. */
import { expect, it } from 'vitest'
import type { Acknowledgement, FaultChoice, FoundFault, ProofQueries } from '../../src/ground/ports/roles.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { createProofDirectory } from '../../src/server/peers/role-directories.ts'
import { apiTokens, operator, viewer } from './attackers.ts'
import { createSystem, nowMs } from './system-in-memory.ts'

/** An auditor of one partition that has found as many faults. */
function auditorOf(partition: number, faults: number) {
  const recent = Array.from({ length: faults }, (_, index): FoundFault => {
    return { no: index + 1, at: nowMs - index, kind: 'lost', what: `j/${index}`, detail: 'x' }
  })
  const heard: [FaultChoice, Acknowledgement][] = []
  let acknowledged = 0
  const proof: ProofQueries = {
    proof: () => [
      {
        ...{ partition, since: 0, judgedUntil: nowMs, behindRecords: 0, records: 1, unreadable: 0, runs: 1, occurrences: 1 },
        ...{ findings: { lost: faults }, unjudged: {}, recent, acknowledged: { lost: acknowledged } },
      },
    ],
    acknowledge: async (choice, acknowledgement) => {
      heard.push([choice, acknowledgement])
      acknowledged = faults
      for (const fault of recent) fault.acknowledged = acknowledgement
      return faults
    },
  }
  return { proof, heard }
}

it('an operator acknowledges faults of all auditors, with a reason; a viewer sees it and may not', async () => {
  const [here, there] = [auditorOf(0, 1), auditorOf(1, 2)]
  await using other = createSystem({ apiTokens, localProof: there.proof })
  const called = async (url: URL | string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(url)
    const request = {
      method: (init.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: init.headers as Record<string, string>,
    }
    const { statusCode, body } = await other.api.instance.inject(request)
    return new Response(body, { status: statusCode })
  }
  const proofs = createProofDirectory({
    admin: {
      groupMembers: async () => [
        { memberId: 'm', instance: 'o@h:1:b', userData: { url: 'http://127.0.0.1:1' }, assigned: [{ topic: 't', partition: 1 }] },
      ],
    },
    remote: (url) => remoteQueries(url, { token: apiTokens[0]?.token, fetch: called as typeof fetch }),
    urlOf: (note) => (note as { url: string }).url,
    ...{ groupId: 'auditor', local: here.proof, instance: 'i', partitions: 2, clock: { steadyMs: () => nowMs } as never },
  })
  await using system = createSystem({ apiTokens, proofs, partitions: 2 })
  const call = async (headers: object, payload: object) => {
    const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/proof/acknowledge', headers, payload } as never)
    return { status: (answer as { statusCode: number }).statusCode, body: (answer as { json(): object }).json() }
  }
  const read = async () => (await system.api.instance.inject({ url: '/v1/proof', headers: viewer })).json()

  expect(await read()).toMatchObject({ found: 3, unacknowledged: 3 })
  expect((await read()).recent.map(({ id }: { id: string }) => id)).toEqual(['0.1', '1.1', '1.2'])
  expect(await call(viewer, { ids: ['0.1'], reason: 'x' })).toMatchObject({ status: 403 })
  for (const wrong of [{ ids: ['0.1'] }, { reason: 'x' }, { ids: [], reason: 'x' }, { ids: ['a'], reason: 'x' }])
    expect(await call(operator, wrong)).toMatchObject({ status: 400 })
  expect(await call(operator, { ids: ['0.1'], upTo: nowMs, reason: 'x' })).toMatchObject({ status: 400 })
  expect([here.heard, there.heard]).toEqual([[], []])

  const done = await call(operator, { ids: ['0.1', '1.2'], reason: 'clock of host b & co' })
  expect(done).toEqual({ status: 200, body: { acknowledged: 3, unacknowledged: 0 } })
  const by = { by: expect.any(String), at: nowMs, reason: 'clock of host b & co' }
  expect([here.heard, there.heard]).toEqual([[[{ ids: ['0.1', '1.2'] }, by]], [[{ ids: ['0.1', '1.2'] }, by]]])
  expect((await read()).recent[0].acknowledged).toMatchObject({
    reason: 'clock of host b & co',
    at: new Date(nowMs).toISOString(),
  })
  expect((await call(operator, { ids: ['1.2', '1.3', '9.9'], reason: 'x' })).body).toMatchObject({ unknown: ['1.3', '9.9'] })
  await call(operator, { upTo: new Date(nowMs).toISOString(), reason: 'all' })
  expect(there.heard.at(-1)).toMatchObject([{ upTo: nowMs }, { reason: 'all' }])
  const trail = system.log.audited.length
  expect(trail).toBeGreaterThan(0)
})
