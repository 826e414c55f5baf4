/** A world outside for tests, which remembers what was sent. */
import type { World } from '../src/handlers.ts'

type Mail = Parameters<World['sendMail']>[0]

export function world(): World & { mails: Mail[]; contacts: string[] } {
  const mails: Mail[] = []
  const contacts: string[] = []
  return {
    mails,
    contacts,
    sendMail: async (mail) => void mails.push(mail),
    pushContact: async (customer, contact) => void contacts.push(`${customer}/${contact}`),
  }
}
