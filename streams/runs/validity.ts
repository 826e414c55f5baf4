/** The end of a job's validity. */
import type { JobDefinition } from '../../schemas/index.ts'

/** Whether expireAt has come: it is exclusive, so a run has to start before it. */
export const isOver = ({ expireAt }: JobDefinition, now: number): boolean => expireAt !== null && now >= expireAt
