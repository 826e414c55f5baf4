/** Changes of many jobs by the command line, against a real system. */
import { expect, it } from 'vitest'
import { expectSentence, systemOfThisFile } from './built-program.ts'

let failures = 0
const payloads: unknown[] = []
const bed = systemOfThisFile(
  'operations',
  {},
  {
    failing: () => {
      failures++
      throw new Error('not today')
    },
    keeping: ({ payload }) => {
      payloads.push(payload)
    },
  },
)
const lines = (...jobs: object[]): string => jobs.map((each) => `${JSON.stringify(each)}\n`).join('')
const far = { schedule: { at: '2040-01-01T00:00:00Z' }, target: { handler: 'noop' } }

it('changes all jobs of a filter, shows how many, and lists the operations', async () => {
  const jobs = Array.from({ length: 30 }, (_, index) => ({ id: `eu/${index}`, ...far, tags: ['eu'] }))
  await bed.feed(lines(...jobs, { id: 'us/1', ...far }), 'jobs', 'apply', '-')
  expect(await bed.run('jobs', 'pause', '--tag', 'eu', '--dry-run')).toMatchObject({ code: 0, out: '30 would be paused.\n' })
  expect(await bed.run('jobs', 'pause', '--tag', 'eu')).toMatchObject({ code: 0, out: '30 paused.\n' })
  expect((await bed.run('jobs', 'list', '--status', 'PAUSED', '--json')).json()).toHaveLength(30)
  expect(await bed.run('jobs', 'resume', '--all')).toMatchObject({ code: 0, out: '30 resumed.\n' })
  const [removed] = (await bed.run('jobs', 'rm', '--id-prefix', 'eu/1', '--json')).json()
  expect(removed).toMatchObject({ action: 'DELETE', status: 'DONE', total: 11, applied: 11 })
  expect((await bed.run('jobs', 'list', '--json')).json()).toHaveLength(20)
  const { out } = await bed.run('operations', 'list')
  expect(out).toMatch(/DELETE +where idPrefix=eu\/1 +DONE +11 deleted/)
  expect(out).toMatch(/RESUME +of all +DONE +30 resumed/)
  const shown = await bed.run('operations', 'get', String(removed?.id))
  expect(shown.out).toMatch(/action +DELETE where idPrefix=eu\/1\nstatus +DONE\nprogress +11 deleted/)
  expect((await bed.run('operations', 'cancel', String(removed?.id))).out).toMatch(/ is done: 11 deleted\.\n$/)
  const none = { code: 0, out: 'No job to pause matches the filter; nothing was changed.\n' }
  expect(await bed.run('jobs', 'pause', '--tag', 'asia')).toMatchObject(none)
  expect(await bed.run('jobs', 'pause', '--tag', 'asia', '--dry-run')).toMatchObject(none)
  const ofNone = await bed.run('jobs', 'pause', '--tag', 'asia', '--detach')
  expect((await bed.run('operations', 'get', ofNone.out.trimEnd(), '--follow')).out).toBe(none.out)
  const detached = await bed.run('jobs', 'trigger', '--tag', 'eu', '--detach', '--json')
  const [begun] = detached.json()
  expect((await bed.run('operations', 'get', String(begun?.id), '--follow')).out).toBe('19 triggered.\n')
})

it('runs all jobs of a filter now with another payload', async () => {
  const kept = { schedule: far.schedule, target: { handler: 'keeping' }, tags: ['kept'], payload: { of: 'the definition' } }
  await bed.feed(lines({ id: 'k/1', ...kept }, { id: 'k/2', ...kept }), 'jobs', 'apply', '-')
  const trigger = ['jobs', 'trigger', '--tag', 'kept', '--payload', '{"mode": "trial"}']
  expect(await bed.run(...trigger, '--dry-run')).toMatchObject({ code: 0, out: '2 would be triggered.\n' })
  const [done] = (await bed.run(...trigger, '--json')).json()
  expect(done).toMatchObject({ action: 'TRIGGER', status: 'DONE', applied: 2, payloadBytes: 17 })
  await expect.poll(() => payloads).toEqual([{ mode: 'trial' }, { mode: 'trial' }])
  const large = await bed.run('jobs', 'trigger', '--tag', 'kept', '--payload', JSON.stringify('x'.repeat(65_535)))
  expect([large.code, large.err]).toEqual([1, expect.stringContaining('at most 65536 are taken')])
  expect(JSON.stringify((await bed.run('operations', 'list', '--json')).json())).not.toContain('trial')
})

it('redrives and discards dead runs', async () => {
  const once = { schedule: { delayMs: 0 }, retry: { maxAttempts: 1 }, target: { handler: 'failing' } }
  await bed.feed(lines({ id: 'd/1', ...once }, { id: 'd/2', ...once }), 'jobs', 'apply', '-')
  const count = (): Promise<string> => bed.run('runs', 'redrive', '--dead', '--dry-run').then(({ out }) => out)
  await expect.poll(count).toBe('2 would be redriven.\n')
  expect(await bed.run('runs', 'redrive', '--dead')).toMatchObject({ code: 0, out: '2 redriven.\n' })
  await expect.poll(() => failures).toBe(4)
  await expect.poll(count).toBe('2 would be redriven.\n')
  expect(await bed.run('runs', 'discard', 'd/1/2')).toMatchObject({ code: 0, out: '1 discarded.\n' })
  expect(await bed.run('runs', 'discard', '--dead', '--handler', 'failing')).toMatchObject({ code: 0, out: '1 discarded.\n' })
  expect((await bed.run('runs', 'list', '--dead')).out).toBe('No dead runs.\n')
})

it('refuses what chooses too much or too little', async () => {
  for (const args of [
    ['jobs', 'pause'],
    ['jobs', 'pause', 'a', '--tag', 'eu'],
    ['jobs', 'pause', '--tag', 'eu', '--all'],
    ['jobs', 'pause', 'a', '--dry-run'],
    ['jobs', 'rm', '--tag', 'eu', '--if-match', '"0.1"'],
    ['jobs', 'trigger', '--tag', 'eu', '--payload', '{n: 1}'],
    ['jobs', 'trigger', 'a', '--tag', 'eu', '--payload', '1'],
    ['runs', 'discard'],
  ]) {
    const ended = await bed.run(...args)
    expect(ended.code).toBe(2)
    expectSentence(ended, '')
  }
})

it('apply --prune deletes the jobs of the scope that are not in the file, after plan has shown them', async () => {
  const named = (id: string) => ({ id, ...far, tags: ['pruned'] })
  await bed.feed(lines(named('p/1'), named('p/2'), named('p/3'), { id: 'other/1', ...far }), 'jobs', 'apply', '-')
  const scope = ['--prune', '--tag', 'pruned']
  const planned = await bed.feed(lines(named('p/2')), 'jobs', 'plan', ...scope, '-')
  expect(planned.code).toBe(0)
  expect(planned.out).toMatch(/delete p\/1\ndelete p\/3\n2 to delete\.\n$/)
  // A file with a fault deletes nothing.
  const faulty = await bed.feed(lines(named('p/2'), { id: 'p/9', schedule: { cron: 'x' } }), 'jobs', 'apply', ...scope, '-')
  expect([faulty.code, faulty.err]).toEqual([1, expect.stringContaining('Nothing was deleted')])
  expect((await bed.run('jobs', 'list', '--tag', 'pruned', '--json')).json()).toHaveLength(3)
  const applied = await bed.feed(lines(named('p/2')), 'jobs', 'apply', ...scope, '-')
  expect(applied).toMatchObject({ code: 0, out: '1 job applied\ndeletes p/1\ndeletes p/3\n2 deleted.\n' })
  expect((await bed.run('jobs', 'list', '--tag', 'pruned', '--json')).json()).toMatchObject([{ id: 'p/2' }])
  expect((await bed.run('jobs', 'get', 'other/1')).code).toBe(0)
  for (const wrong of [['--prune'], ['--prune', '--id-prefix', ''], ['--tag', 'pruned']])
    expect((await bed.feed(lines(named('p/2')), 'jobs', 'apply', ...wrong, '-')).code).toBe(2)
})
