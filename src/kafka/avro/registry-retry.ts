/** Which refusals of a registry are temporary, and how long to retry them. */
import { messageOf } from '../../errors/index.ts'

/** Backoff between tries of a registration that the registry could not perform: 0.2 s, doubled up to about 6 s. */
const registerWaitMsMin = 200
const registerWaitMsMax = 6_400

/**
 * Retries while the registry answers that it is busy or broken, or that another process was faster, which Apicurio calls a
 * conflict. Registering twice has the same effect as registering once.
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

/** Whether the same registration may succeed a moment later. */
export function isPassing(thrown: unknown): boolean {
  const status = Number((thrown as { status?: number }).status)
  return status >= 500 || (status === 409 && /already exists|^status 409$/i.test(messageOf(thrown)))
}
