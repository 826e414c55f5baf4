/** The acknowledgement of faults that the auditors found. It shows its outcome as a notice. */
import { counted } from '../../../streams/text/index.ts'
import type { AcknowledgedFaults } from '../../answers/index.ts'
import { say } from './actions.ts'
import { ask, RequestProblem } from './request.ts'

export async function acknowledgeFaults(choice: { ids: string[] } | { upTo: string }, reason: string): Promise<boolean> {
  try {
    const body = { ...choice, reason }
    const { acknowledged } = await ask<AcknowledgedFaults>('/v1/proof/acknowledge', { method: 'POST', body })
    say(`${counted(acknowledged, 'fault')} acknowledged.`)
    return true
  } catch (error) {
    say(error instanceof RequestProblem ? error.message : String(error), true)
    return false
  }
}
