/** Ends of a partition's life that are not faults. */

/** Thrown from a wait when the partition closes. */
export class Closed extends Error {}

/** Thrown from a wait when the role changes between owner and standby. The partition then restarts. */
export class RoleChanged extends Error {}

/** A promise that never resolves. It may reject without a listener. */
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
