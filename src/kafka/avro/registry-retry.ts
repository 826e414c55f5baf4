/** Which refusals of a registry pass by themselves, and how long they are waited for. */
import { messageOf } from '../../errors/index.ts'

/** Waits between tries of a registration that the registry could not carry out: 0.2 s, doubled up to some 6 s. */
const registerWaitMsMin = 200
const registerWaitMsMax = 6_400

/**
 * Tries again while the registry answers that something in it is busy or broken, or that somebody else was just a moment faster, which
 * Apicurio calls a conflict: registering twice is registering once.
 */
export async function patiently<Value>(request: () => Promise<Value>): Promise<Value> {
  for (let waitMs = registerWaitMsMin; ; waitMs *= 2) {
    try {
      return await request()
    } catch (thrown) {
      if (!isPassing(thrown) || waitMs > registerWaitMsMax) throw thrown
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

/** Whether the same registration may well succeed a moment later. */
export function isPassing(thrown: unknown): boolean {
  const status = Number((thrown as { status?: number }).status)
  return status >= 500 || (status === 409 && /already exists|^status 409$/i.test(messageOf(thrown)))
}
