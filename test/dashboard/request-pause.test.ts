import { describe, expect, it } from 'vitest'
import { pauseAfterMs } from '../../src/dashboard/model/request-pause.ts'

describe('the pause of the dashboard after a request', () => {
  it('is ten times its duration, so that a slow owner is asked rarely', () => {
    expect(pauseAfterMs(40, 0)).toBe(400)
    expect(pauseAfterMs(5_000, 0)).toBe(50_000)
  })

  it('is at most a minute, also when the machine slept for a night during the request', () => {
    expect(pauseAfterMs(8 * 3_600_000, 0)).toBe(60_000)
  })

  it('grows with the length of the answer up to 15 s', () => {
    expect(pauseAfterMs(10, 40_000)).toBe(2_000)
    expect(pauseAfterMs(10, 5_000_000)).toBe(15_000)
    expect(pauseAfterMs(3_000, 5_000_000)).toBe(30_000)
  })
})
