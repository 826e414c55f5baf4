/** How a life of a partition ends without a fault. */

/** Thrown out of a wait when the partition closes. */
export class Closed extends Error {}

/** Thrown out of a wait when a standby became owner, or an owner standby, and has to begin anew. */
export class RoleChanged extends Error {}

/** A promise that is only ever rejected, and that nobody has to listen to. */
export class Interruption {
  readonly promise: Promise<never>
  readonly reject: (error: Error) => void

  constructor() {
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => undefined)
    this.promise = promise
    this.reject = reject
  }
}
