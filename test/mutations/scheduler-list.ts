/**
 * The mutations that test/mutations/scheduler.ts makes, one at a time. Names that begin with A to H belong to eight defects of a
 * review that no model had found.
 */

import { backupMutations } from './lists/backup.ts'
import { burstMutations } from './lists/bursts.ts'
import { clockAndAuditorMutations } from './lists/clock-and-auditor.ts'
import { commitCycleMutations } from './lists/commit-cycle.ts'
import { definitionMutations } from './lists/definitions.ts'
import { embeddedRegistryMutations } from './lists/embedded-registry.ts'
import { handOverMutations } from './lists/hand-over.ts'
import { historyMutations } from './lists/history.ts'
import { operationMutations } from './lists/operations.ts'
import { otherRoleMutations } from './lists/other-roles.ts'
import { pauseMutations } from './lists/pauses.ts'
import { peerMutations } from './lists/peers.ts'
import { positionMutations } from './lists/positions.ts'
import { rulesMutations } from './lists/rules.ts'
import { storageMutations } from './lists/storage.ts'
import { takeoverMutations } from './lists/takeover.ts'
import { transactionMutations } from './lists/transactions.ts'
import type { Mutation } from './mutation.ts'

export const mutations: readonly Mutation[] = [
  ...commitCycleMutations,
  ...burstMutations,
  ...takeoverMutations,
  ...storageMutations,
  ...otherRoleMutations,
  ...historyMutations,
  ...clockAndAuditorMutations,
  ...rulesMutations,
  ...pauseMutations,
  ...positionMutations,
  ...definitionMutations,
  ...operationMutations,
  ...backupMutations,
  ...handOverMutations,
  ...peerMutations,
  ...embeddedRegistryMutations,
  ...transactionMutations,
]
