/** What the auditor of a process says of the partitions that it reads; the API of any process asks for it. */

export interface FoundFault {
  /** When it was found, epoch ms. */
  at: number
  kind: string
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
}

export interface PartitionProof {
  partition: number
  /** When the audit of this partition began, epoch ms: what its counts count from. */
  since: number
  /** What was written up to here is judged, but for the grace; epoch ms, null until all topics were read once. */
  judgedUntil: number | null
  /** Records of the log that are still to be read, when they were last counted. */
  behindRecords: number
  /** Records that were read. */
  records: number
  unreadable: number
  /** Runs that were judged, and nominal times that were compared with the calendar. */
  runs: number
  occurrences: number
  /** Found faults by kind. */
  findings: Record<string, number>
  /** What could not be judged, by reason. */
  unjudged: Record<string, number>
  /** The last ones, newest first; at most 100. */
  recent: FoundFault[]
}

export interface ProofQueries {
  proof(): PartitionProof[]
}
