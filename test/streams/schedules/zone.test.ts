import { describe, expect, it } from 'vitest'
import { isSteady, steadyOffset, zoneOf } from '../../../streams/schedules/zone.ts'
import { ms } from './samples.ts'

describe('time zones', () => {
  it('knows UTC under its other names', () => {
    for (const name of ['UTC', 'utc', 'Etc/UTC', 'GMT', 'Etc/GMT', 'Zulu', '+00:00']) expect(zoneOf(name).kind, name).toBe('utc')
  })
  it('keeps one spelling of a name, so users cannot fill the memory with others', () => {
    expect(zoneOf('europe/PARIS')).toMatchObject({ kind: 'zoned', name: 'Europe/Paris' })
  })
  it('does not know names that Intl does not know', () => {
    for (const name of ['', 'Mars/Olympus', 'UTC+3', 'Europe/Paris\n', '__proto__'])
      expect(zoneOf(name).kind, name).toBe('unknown')
  })
  it('uses London as a zone, not as UTC', () => {
    expect(zoneOf('Europe/London').kind).toBe('zoned')
  })
  it('knows the offset away from a change, and none near one', () => {
    expect(steadyOffset('Europe/Paris', ms('2025-07-01T00:00:00Z'))).toBe(7_200_000)
    expect(steadyOffset('Europe/Paris', ms('2025-01-15T00:00:00Z'))).toBe(3_600_000)
    expect(steadyOffset('Asia/Kolkata', ms('2025-01-15T00:00:00Z'))).toBe(19_800_000)
    expect(steadyOffset('Europe/Paris', ms('2025-03-30T01:00:00Z'))).toBeNaN()
    expect(steadyOffset('Europe/Paris', ms('2025-03-30T00:00:00Z'))).toBeNaN()
  })
  it('does not call a range with a change in it steady', () => {
    const winter = 3_600_000
    expect(isSteady('Europe/Paris', winter, ms('2025-01-10T00:00:00Z'), ms('2025-02-01T00:00:00Z'))).toBe(true)
    expect(isSteady('Europe/Paris', winter, ms('2025-03-10T00:00:00Z'), ms('2025-04-10T00:00:00Z'))).toBe(false)
    expect(isSteady('Europe/Paris', winter, ms('2025-01-10T00:00:00Z'), ms('2025-12-01T00:00:00Z'))).toBe(false)
  })
})
