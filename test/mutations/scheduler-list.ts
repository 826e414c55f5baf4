/** What test/mutations/scheduler.ts changes, one at a time. A to H are those of the findings that no model had seen. */
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
