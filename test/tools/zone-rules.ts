/** Time zone rules that a test makes up, and functions to put them in force. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { onTestFinished } from 'vitest'
import { intlRules, putZoneRules, type ZoneRules } from '../../streams/schedules/zone.ts'

/** The rules of this Node, with some zones replaced by others: before 2026 Vancouver had the rules of Los Angeles. */
export function rulesAs(others: Record<string, string>): ZoneRules {
  return {
    zone(name) {
      const found = intlRules.zone(others[name] ?? name)
      return found.kind === 'zoned' && others[name] !== undefined ? { ...found, name } : found
    },
  }
}

/** One zone whose offset is `beforeMs` until an instant and `afterMs` from then on. All other zones are as in this Node. */
export function rulesWithChange(name: string, beforeMs: number, at: number, afterMs: number): ZoneRules {
  const offsetAt = (ms: number): number => (ms < at ? beforeMs : afterMs)
  return { zone: (asked) => (asked === name ? { kind: 'zoned', name, offsetAt } : intlRules.zone(asked)) }
}

/** Puts rules in force until the test ends or other rules are put. */
export function putRules(rules: ZoneRules): void {
  putZoneRules(() => rules)
  onTestFinished(() => putZoneRules(undefined))
}

const ofProcess = new AsyncLocalStorage<ZoneRules>()

/** Until the test ends, each process that runs `under` rules has its own rules. */
export function rulesByProcess(): <T>(rules: ZoneRules, run: () => T) => T {
  putZoneRules(() => ofProcess.getStore() ?? intlRules)
  onTestFinished(() => putZoneRules(undefined))
  return (rules, run) => ofProcess.run(rules, run)
}
