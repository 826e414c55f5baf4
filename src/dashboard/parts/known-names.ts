/** Names that a definition may have: time zones, and the handlers and pools of the connected workers. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, type KnownNames, type Worker } from '../model/index.ts'

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export function useKnownNames(): KnownNames {
  const names = useSignal<KnownNames>({ 'schedule.timezone': zones })
  useEffect(() => {
    void ask<{ workers: Worker[] }>('/v1/workers')
      .then(({ workers }) => {
        const pools = workers.flatMap((worker) => worker.pools)
        names.value = {
          ...names.value,
          'target.handler': [...new Set(pools.flatMap(({ handlers }) => handlers ?? []))].toSorted(),
          'target.pool': [...new Set(pools.map(({ pool }) => pool))].toSorted(),
        }
      })
      // Without it only time zones are suggested.
      .catch(() => undefined)
  }, [])
  return names.value
}
