/** What an audit finds and counts, and how late handlers start. */
export {
  emptyTally,
  type Finding,
  type FindingKind,
  Findings,
  findingKinds,
  type Scope,
  type Tally,
  unjudgedReasons,
} from './findings.ts'
export { emptyLateness, type Lateness, type LatenessCounts, latenessOf, latenessRows, noteLateness } from './lateness.ts'
