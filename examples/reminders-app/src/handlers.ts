/** What the app does when a job is due. The outside world is given, so that tests give another one. */
import { type HandlersFor, NonRetryableError } from 'duelog/worker'
import type { Payloads } from './payloads.ts'

export interface World {
  sendMail(mail: { to: string; subject: string; key: string }): Promise<void>
  /** Calls the CRM of a customer, which allows few calls at once. */
  pushContact(customer: string, contact: number, signal: AbortSignal): Promise<void>
}

/** The local date and time of a night, such as 2027-03-28 03:00. */
export function nightOf(scheduledFor: number, timezone: string): string {
  return new Date(scheduledFor).toLocaleString('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
}

export function handlersOf(world: World) {
  return {
    remind: async ({ payload: { customer, cart }, executionId }) => {
      // A run may have two attempts. The mail service recognizes the second by the key, and sends one mail.
      await world.sendMail({ to: customer, subject: `Your cart ${cart} is still here`, key: executionId })
    },

    // By the night of the occurrence and not by the clock: a night that was missed or is repeated gives the same report.
    'nightly-report': async ({ payload: { customer, timezone }, scheduledFor, executionId }) => {
      const night = nightOf(scheduledFor, timezone)
      await world.sendMail({ to: customer, subject: `Report of ${night}`, key: executionId })
      return { night }
    },

    'sync-contact': async ({ payload: { customer, contact }, signal }) => world.pushContact(customer, contact, signal),

    quote: ({ payload: { items } }) => {
      if (items.length === 0) throw new NonRetryableError('A quote needs at least one item.')
      return { cents: items.reduce((sum, { cents, count }) => sum + cents * count, 0) }
    },
  } satisfies HandlersFor<Payloads>
}
