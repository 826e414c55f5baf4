/** The next times of a definition that is being edited. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type DueTime, type JobDefinition, RequestProblem } from '../model/index.ts'
import { FireList, preview } from './next-fires.tsx'
import { Empty } from './states.tsx'

const previewAfterMs = 300
/** Number of times that are shown. */
const firesMax = 5

export function FirePreview({ definition }: { definition: JobDefinition | undefined }) {
  const shown = useSignal<{ fires: DueTime[]; zone: string | undefined } | undefined>(undefined)
  const problem = useSignal('')
  const schedule = definition?.schedule
  const key = JSON.stringify(schedule)
  // The key stands for the schedule.
  useEffect(() => {
    if (schedule === undefined) return
    const ended = new AbortController()
    const waiting = setTimeout(async () => {
      try {
        shown.value = { fires: await preview(schedule, undefined, ended.signal), zone: schedule.timezone }
        problem.value = ''
      } catch (error) {
        if (!ended.signal.aborted) problem.value = error instanceof RequestProblem ? error.message : String(error)
      }
    }, previewAfterMs)
    return () => {
      clearTimeout(waiting)
      ended.abort()
    }
  }, [key])
  if (schedule === undefined) return <Empty>No preview: the definition has no schedule that can be read.</Empty>
  if (problem.value !== '')
    return (
      <p class="state bad" role="status">
        {problem.value}
      </p>
    )
  if (shown.value === undefined) return <Empty>Loading preview …</Empty>
  if (shown.value.fires.length === 0) return <Empty>Never fires: the schedule has no future time.</Empty>
  return <FireList fires={shown.value.fires.slice(0, firesMax)} zone={shown.value.zone} />
}
