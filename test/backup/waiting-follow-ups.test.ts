/** Partitions are copied one after another: a follow-up may wait in the copy of its job, whose cause has not ended in the copy of another. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { JobState } from '../../schemas/generated.ts'
import { codecsOfSchemas, ownSchemas } from '../../src/log/kafka/index.ts'
import { type BackupWriter, kinds } from '../../src/tools/backup/backup-file.ts'
import type { LoggedSystem } from '../../src/tools/backup/logged-system.ts'
import { packed, parts, Scratch } from '../../src/tools/backup/scratch.ts'
import { Writing } from '../../src/tools/backup/writing.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { followUpsKey } from '../../streams/state/index.ts'
import { JobHistory } from '../streams/runs/history.ts'

const codecs = codecsOfSchemas(ownSchemas())

it('it is sent again after the restore, and then is not taken for a repeated one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-waiting-'))
  const scratch = await Scratch.open(folder)
  onTestFinished(async () => {
    await scratch.close()
    await rm(folder, { recursive: true, force: true })
  })
  const definition = { schedule: { at: 1_000 }, target: { handler: 'h' }, maxConcurrentRuns: 1 }
  const source = new JobHistory().define(definition).until(1_000)
  const sent = `after:source/1@${source.state.life}`
  const follow = (job: JobHistory, commandId: string): JobHistory => job.command('TRIGGER', { trigger: 'FOLLOW_UP', commandId })
  const alarm = new JobHistory().define(definition).until(1_000)
  follow(follow(alarm, 'after:ended/1@0-0'), sent)
  for (const [id, job] of Object.entries({ source, alarm })) {
    const value = codecs.definition.encode(completeDefinition(definition))
    const record = packed({ timestampMs: 0, decided: true, value, headers: {} })
    await scratch.putPart(0, id, parts.record, Buffer.alloc(8), record)
    await scratch.putPart(0, id, parts.state, Buffer.alloc(0), codecs.state.encode({ state: job.state }))
    for (const [page, items] of job.pages) {
      const entry = codecs.state.encode({ followUps: { items: [...items] } })
      await scratch.putPart(0, id, parts.followUps, followUpsKey(id, page).subarray(-8), entry)
    }
  }
  const states = new Map<string, JobState>()
  let of = ''
  const writer = {
    put: async (kind: number, { id }: { id?: string }, body: Buffer) => {
      of = id ?? of
      const state = kind === kinds.state ? (await codecs.state.decode(body)).state : null
      if (state !== null) states.set(of, state)
    },
  } as unknown as BackupWriter
  const logged = { partitions: 1, jobsEnds: new Map([[0, 1]]), sinceMs: 0 }
  const system = { ...logged, pauses: new Map(), operations: new Map(), unreadable: 0 } as unknown as LoggedSystem
  await new Writing(writer, codecs, scratch, system).all(() => undefined, new AbortController().signal)

  expect(alarm.state.followUps?.count).toBe(2)
  alarm.job = { ...alarm.job, state: states.get('alarm') as JobState }
  alarm.pages.set(0, alarm.pages.get(0)?.slice(0, 1) ?? [])
  expect(alarm.state.followUps?.count).toBe(1)
  follow(follow(alarm, sent), sent)
  expect(alarm.last.refusal).toBe('repeated')
  expect(alarm.state.followUps?.count).toBe(2)
})
