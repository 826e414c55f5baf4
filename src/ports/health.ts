/** Whether a process lives and can serve. */
export interface Health {
  /** False asks the platform to restart the process. */
  live: boolean
  /** False asks the platform to send no requests. */
  ready: boolean
  /** Why not, one sentence each. */
  reasons: string[]
}
