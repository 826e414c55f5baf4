/** Every fault that the oracle finds in a history, in words; empty if there is none. */
import type { MemoryLog } from '../../tools/memory-log.ts'
import { begunProblems } from './begun.ts'
import { commandProblems } from './commands.ts'
import { dispatchProblems } from './dispatches.ts'
import { endingProblems } from './endings.ts'
import type { Facts } from './facts.ts'
import { foreignProblems } from './foreign.ts'
import { latenessProblems } from './lateness.ts'
import { ledgerOf } from './ledger.ts'
import { limitProblems } from './limits.ts'
import { livesOf } from './lives.ts'
import { madeAgainProblems } from './made-again.ts'
import { necessityProblems } from './necessity.ts'
import { pauseProblems } from './pauses.ts'
import { precedenceProblems } from './precedence.ts'
import { receiptProblems } from './receipts.ts'
import { recordProblems } from './records.ts'
import { reportsOf } from './reports.ts'
import { restProblems } from './rest.ts'
import { retryProblems } from './retries.ts'
import { runRecordProblems } from './run-records.ts'
import { attemptProblems, sizeProblems } from './sizes.ts'
import { transactionsOf } from './transactions.ts'
import { vanishingProblems } from './vanishing.ts'

/** The cluster must be at rest. */
export function judgementOf(log: MemoryLog, facts: Facts): string[] {
  const lives = livesOf(log)
  const ledger = ledgerOf(log, lives)
  const transactions = transactionsOf(log)
  const reports = reportsOf(log)
  return [
    ...ledger.problems,
    ...dispatchProblems(log, lives, facts),
    ...endingProblems(log, lives, ledger, facts.exact && facts.whole),
    ...recordProblems(log, lives, ledger, facts),
    ...runRecordProblems(log, lives, ledger, facts),
    ...limitProblems(log, lives),
    ...latenessProblems(log, lives, ledger, facts),
    ...madeAgainProblems(log, lives, ledger, facts),
    ...receiptProblems(log, facts.exact && facts.whole),
    ...restProblems(lives, ledger, facts),
    ...necessityProblems(lives, transactions, reports, facts),
    ...precedenceProblems(lives, transactions),
    ...commandProblems(log, lives, ledger, transactions, facts),
    ...vanishingProblems(log, lives, transactions, facts),
    ...foreignProblems(log),
    ...retryProblems(log, reports, facts),
    ...begunProblems(log, reports, facts),
    ...pauseProblems(log, { lives, ledger, transactions, reports }, facts),
    ...sizeProblems(log, facts),
    ...attemptProblems(log, lives, ledger, reports),
  ]
}
