/** Findings of the auditor of a process for its partitions; the API of any process can query them. */

/** What an operator has said about a fault that was found. */
export interface Acknowledgement {
  by: string
  /** Epoch ms. */
  at: number
  reason: string
}

export interface FoundFault {
  /** Its number in the audit of its partition, from 1. Absent: an earlier version found it. */
  no?: number
  /** When it was found, epoch ms. */
  at: number
  kind: string
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
  acknowledged?: Acknowledgement
}

/** Which faults: those with these ids (`<partition>.<no>`), or all that were found by a time, epoch ms. */
export type FaultChoice = { ids: readonly string[] } | { upTo: number }

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
  /** How many of them are acknowledged. Absent: the auditor is of an earlier version. */
  acknowledged?: Record<string, number>
  /** Cases that could not be judged, by reason. */
  unjudged: Record<string, number>
  /** The last findings, newest first; at most 100. */
  recent: FoundFault[]
}

export interface ProofQueries {
  proof(): PartitionProof[]
  /** Resolves with the number of faults that were not acknowledged before. What it says is kept with the accounts of the auditor. */
  acknowledge(choice: FaultChoice, acknowledgement: Acknowledgement): Promise<number>
}

export const faultIdOf = (partition: number, no: number): string => `${partition}.${no}`
