/** The jobs of the app, as data. Each function returns definitions; nothing is sent here. */
import type { JobFor } from 'duelog/client'
import type { Payloads } from './payloads.ts'

type AppJob = JobFor<Payloads>

/** One job for each cart, so that writing it again postpones the reminder, and deleting it takes the reminder back. */
export function reminder(customer: string, cart: string, delayMs: number): AppJob {
  return {
    id: reminderId(cart),
    schedule: { delayMs },
    target: { handler: 'remind' },
    payload: { customer, cart },
    tags: ['reminder'],
  }
}

export const reminderId = (cart: string): string => `reminder/${cart}`

/** At 03:00 of the customer's zone, in summer and winter. Of nights that were missed, only the latest is reported. */
export function nightlyReport(customer: string, timezone: string): AppJob {
  return {
    id: `report/${customer}`,
    schedule: { cron: '0 3 * * *', timezone },
    target: { handler: 'nightly-report' },
    payload: { customer, timezone },
    catchUp: 'LATEST',
    tags: ['report'],
  }
}

/** A signed HTTP request that needs no code here. `tags` find the dead ones when the receiver is back. */
export function webhook(hookUrl: string, event: { id: string; type: string }): AppJob {
  return {
    id: `webhook/${event.id}`,
    schedule: { delayMs: 0 },
    target: { http: { url: hookUrl } },
    payload: event,
    retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 200 } } },
    tags: ['webhook'],
  }
}

/** The part in braces puts all jobs of a customer into one partition, where their common limit is exact. */
export function contactSync(customer: string, contact: number): AppJob {
  return {
    id: `{${customer}}/contact/${contact}`,
    schedule: { delayMs: 0 },
    target: { handler: 'sync-contact' },
    payload: { customer, contact },
    concurrencyKey: `crm/${customer}`,
    concurrencyLimit: 2,
  }
}

export function quote(customer: string, items: Payloads['quote']['items']): AppJob {
  return { id: `quote/${customer}`, schedule: { delayMs: 0 }, target: { handler: 'quote' }, payload: { customer, items } }
}
