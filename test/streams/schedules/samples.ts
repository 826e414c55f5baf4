/** Definitions for tests of schedules: nominal times from the few fields that matter, and random definitions. */
import fc from 'fast-check'
import type { Schedule } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/defaults.ts'
import { nextFire, type ScheduleSource } from '../../../streams/schedules/next-fire.ts'

export function source(schedule: Partial<Schedule>, window: { startAt?: number; endAt?: number } = {}): ScheduleSource {
  return {
    schedule: { ...completeDefinition({ schedule: {}, target: { handler: 'noop' } }).schedule, ...schedule },
    startAt: window.startAt ?? null,
    endAt: window.endAt ?? null,
  }
}

export const ms = (iso: string): number => Date.parse(iso)
export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

export const zones = [
  'UTC',
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'Africa/Cairo',
  '+02:00',
]

export const expressions = [
  '0 9 * * MON-FRI',
  '30 2 * * *',
  '15 30 2 * * *',
  '*/5 * * * *',
  '*/20 * * * * *',
  '0 1,2 * * *',
  '45 1 * * *',
  '0 0 1 * *',
  '0 0 L * *',
  '0 0 * * 5#2',
  '0 12 15W * *',
  '59 23 * * SUN',
  '@hourly',
]

export const rules = [
  'FREQ=DAILY',
  'FREQ=DAILY;INTERVAL=3;BYHOUR=1,2,3;BYMINUTE=0,30',
  'FREQ=DAILY;COUNT=40',
  'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU',
  'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1',
  'FREQ=MONTHLY;BYMONTHDAY=-1,13',
  'FREQ=YEARLY;BYWEEKNO=1,53;BYDAY=MO,SU',
  'FREQ=HOURLY;INTERVAL=5',
  'FREQ=MINUTELY;INTERVAL=50;BYDAY=TU,SU',
  'FREQ=HOURLY;BYMINUTE=5,10,15;BYSETPOS=-1',
  'FREQ=SECONDLY;INTERVAL=77;BYMONTH=3,10',
  'FREQ=MONTHLY;BYHOUR=2;UNTIL=20310101T000000Z',
]

const instant = (): fc.Arbitrary<number> => fc.integer({ min: ms('2015-01-01T00:00:00Z'), max: ms('2040-01-01T00:00:00Z') })

/** A repeated schedule, its append time, and an instant up to a month later at which a search starts. */
export function repeated(): fc.Arbitrary<{ definition: ScheduleSource; appendedAt: number; after: number }> {
  const near = fc.integer({ min: -40 * 86_400_000, max: 40 * 86_400_000 })
  const every = fc.record({
    everyMs: fc.oneof(fc.integer({ min: 100, max: 5000 }), fc.integer({ min: 100, max: 90 * 86_400_000 })),
    anchorAway: fc.option(near),
  })
  const cron = fc.record({ cron: fc.constantFrom(...expressions), timezone: fc.constantFrom(...zones) })
  const rule = fc.record({
    rrule: fc.constantFrom(...rules),
    dtstart: fc.option(instant().map((at) => at - (at % 1000))),
    timezone: fc.constantFrom(...zones),
    dstGap: fc.constantFrom('NEXT_VALID' as const, 'SKIP' as const, 'SHIFT' as const),
    dstOverlap: fc.constantFrom('FIRST' as const, 'BOTH' as const),
  })
  return fc
    .record({
      appendedAt: instant(),
      afterAway: near,
      schedule: fc.oneof(every, cron, rule),
      startAway: fc.option(near),
      endAway: fc.option(fc.integer({ min: 0, max: 400 * 86_400_000 })),
    })
    .map(({ appendedAt, afterAway, schedule, startAway, endAway }) => {
      const fields =
        'cron' in schedule || 'rrule' in schedule
          ? schedule
          : { everyMs: schedule.everyMs, anchor: schedule.anchorAway === null ? null : appendedAt + schedule.anchorAway }
      const definition = source(fields, {
        ...(startAway === null ? {} : { startAt: appendedAt + startAway }),
        ...(endAway === null ? {} : { endAt: appendedAt + endAway }),
      })
      return { definition, appendedAt, after: appendedAt + afterAway }
    })
}

/** Nominal times by plain iteration: the slow reference for the fast functions. */
export function iterated(definition: ScheduleSource, appendedAt: number, after: number, max: number): number[] {
  const found: number[] = []
  let at = nextFire(definition, appendedAt, after)
  while (at !== null && found.length < max) {
    found.push(at)
    at = nextFire(definition, appendedAt, at)
  }
  return found
}
