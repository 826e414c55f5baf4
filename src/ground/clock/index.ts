/** The clock of the machine as a port, and the judgement whether its time can be trusted. */

export { atInstant, atSteady, type Clock, steadyClock, systemClock, trustedMs, waitFor } from './clock.ts'
export { type AbsenceReason, ClockAbsence } from './clock-absence.ts'
export type { Append } from './clock-trust.ts'
export { GuardedClock } from './guarded-clock.ts'
