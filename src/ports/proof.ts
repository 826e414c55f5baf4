/** Findings of the auditor of a process for its partitions; the API of any process can query them. */

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
  /** When the audit of this partition and its counts began, epoch ms. */
  since: number
  /** Records up to this time are judged, except for the grace period. Epoch ms; null until all topics were read once. */
  judgedUntil: number | null
  /** Records of the log that are still to be read, by the last count. */
  behindRecords: number
  /** Records that were read. */
  records: number
  unreadable: number
  /** Judged runs, and nominal times that were compared with the calendar. */
  runs: number
  occurrences: number
  /** Found faults by kind. */
  findings: Record<string, number>
  /** Cases that could not be judged, by reason. */
  unjudged: Record<string, number>
  /** The last findings, newest first; at most 100. */
  recent: FoundFault[]
}

export interface ProofQueries {
  proof(): PartitionProof[]
}
