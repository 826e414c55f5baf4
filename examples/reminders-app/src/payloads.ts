/** The payload of each handler, for the compiler: client and worker are checked by the same types. */
export interface Payloads {
  remind: { customer: string; cart: string }
  'nightly-report': { customer: string; timezone: string }
  'sync-contact': { customer: string; contact: number }
  quote: { customer: string; items: { cents: number; count: number }[] }
}
