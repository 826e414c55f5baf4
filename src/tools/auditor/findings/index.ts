/** What an audit finds and counts. */
export {
  emptyLateness,
  emptyTally,
  type Finding,
  type FindingKind,
  Findings,
  findingKinds,
  type Lateness,
  latenessOf,
  latenessRows,
  noteLateness,
  type Scope,
  type Tally,
  unjudgedReasons,
} from './findings.ts'
