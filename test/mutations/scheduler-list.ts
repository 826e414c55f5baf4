/**
 * The mutations that test/mutations/scheduler.ts makes, one at a time. Names that begin with A to H belong to eight defects of a
 * review that no model had found.
 */
import { doerMutations } from './lists/doer.ts'
import { keepingMutations } from './lists/keeping.ts'
import { ruleMutations } from './lists/rule.ts'
import { sinceMutations } from './lists/since.ts'
import { takeoverMutations } from './lists/takeover.ts'
import { turnMutations } from './lists/turn.ts'
import { witnessMutations } from './lists/witness.ts'
import type { Mutation } from './mutation.ts'

export const mutations: readonly Mutation[] = [
  ...turnMutations,
  ...takeoverMutations,
  ...keepingMutations,
  ...doerMutations,
  ...witnessMutations,
  ...ruleMutations,
  ...sinceMutations,
]
